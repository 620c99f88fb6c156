"""Run: ``python -m benchmarks.many {survey,record,deaths} --out FOLDER``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.verdicts import print_verdicts


def main(arguments: list[str] | None = None) -> int:
    """Run one of the three; the exit code is 1 if a bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many", description=__doc__)
    parser.add_argument("what", choices=["survey", "record", "deaths"])
    parser.add_argument("--out", type=Path, default=Path("out/many"))
    parser.add_argument("--series", type=int, default=None)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument("--loss", default="squared")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=10_000)
    options = parser.parse_args(arguments)
    folder = options.out.absolute() / options.what
    if options.what == "survey":
        from benchmarks.many.survey import survey

        verdicts = survey(folder, options.series or 10_000, options.seed, options.jobs)
    elif options.what == "record":
        from benchmarks.many.record import record

        verdicts = record(folder, [int(n) for n in options.rows], options.seed, options.loss)
    else:
        from benchmarks.many.deaths import deaths

        verdicts = deaths(folder, options.series or 300, options.kills, options.seed)
    print_verdicts(options.what, verdicts)
    return int(any(verdict.passed is False for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
