"""Run the suites: ``python -m benchmarks [--quick] [SUITE ...]``."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from benchmarks.verdicts import Verdict, print_verdicts

SUITES = {
    "paper_training": "the paper's networks at the limit by training",
    "false_alarms": "noise that has no period",
    "times": "seconds beside the periodogram's, and on records of every day",
    "rhythm": "known periods tested in a million series",
    "bands": "one period in several bands",
    "app": "the local page: first picture, cost of watching, many jobs, memory",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the named suites, all by default; the exit code is 0 when no bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", choices=[[], *SUITES], metavar="SUITE")
    parser.add_argument("--quick", action="store_true", help="few seeds, small sizes")
    options = parser.parse_args(arguments)
    verdicts: list[Verdict] = []
    for name in options.suites or SUITES:
        print(f"\n# {name}: {SUITES[name]}", flush=True)
        start = processor_seconds()
        verdicts += import_module(f"benchmarks.{name}").main(quick=options.quick)
        print(f"({name}: {processor_seconds() - start:.0f} s of the processor)", flush=True)
    code = print_verdicts("Verdicts", verdicts)
    if options.quick:
        print("Quick: this shows that all runs; shares over so few seeds decide nothing.")
    return code


def processor_seconds() -> float:
    """Seconds on the processor so far, those of ended child processes included."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    sys.exit(main())
