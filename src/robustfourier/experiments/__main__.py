"""``python -m robustfourier.experiments [NAME ...] --out FOLDER [--quick]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from robustfourier.errors import RobustFourierError
from robustfourier.experiments import reproduce


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(prog="python -m robustfourier.experiments")
    parser.add_argument("names", nargs="*", help="1 2 3 4 simulated trends theory all")
    parser.add_argument("--out", type=Path, default=Path("out/reproduction"))
    parser.add_argument("--csv", type=Path, help="Google Trends export, for 'trends'")
    parser.add_argument("--quick", action="store_true", help="minutes instead of an hour")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    try:
        page = reproduce(
            given.names,
            out=given.out,
            quick=given.quick,
            csv=given.csv,
            jobs=given.jobs,
            progress=True,
        )
    except RobustFourierError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
