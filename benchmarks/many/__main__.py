"""Run: ``python -m benchmarks.many {survey,record} --out FOLDER``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.verdicts import print_verdicts


def main(arguments: list[str] | None = None) -> int:
    """Run one of the two; the exit code is 1 if a bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many", description=__doc__)
    parser.add_argument("what", choices=["survey", "record"])
    parser.add_argument("--out", type=Path, default=Path("out/many"))
    parser.add_argument("--series", type=int, default=None)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7, 1e8])
    parser.add_argument("--loss", default="squared")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=10_000)
    options = parser.parse_args(arguments)
    folder = options.out.absolute() / options.what
    if options.what == "survey":
        from benchmarks.many.survey import survey

        verdicts = survey(folder, options.series or 10_000, options.seed, options.jobs)
    else:
        from benchmarks.many.record import record

        verdicts = record(folder, [int(n) for n in options.rows], options.seed, options.loss)
    return print_verdicts(options.what, verdicts)


if __name__ == "__main__":
    sys.exit(main())
