"""`python -m paper`: the paper's experiments again; an interrupted run goes on where it was."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from paper.reproduction import NAMES, reproduce
from robustfourier.errors import RobustFourierError

HERE = Path(__file__).parent


def main(arguments: list[str] | None = None) -> int:
    """Run, print progress, and return an exit code."""
    parser = argparse.ArgumentParser("python -m paper", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(NAMES)}; all but trends if none")
    parser.add_argument("--out", type=Path, default=Path("out/paper"), help="folder of the results")
    parser.add_argument("--quick", action="store_true", help="two seeds and few steps: minutes")
    parser.add_argument("--csv", type=Path, help="your own Google Trends export, for trends")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--rows", type=Path, default=HERE / "rows", help="finished rows to go on from and to add to"
    )
    options = parser.parse_args(arguments)
    try:
        print("Written:", reproduce(**vars(options), report=print))
    except RobustFourierError as error:
        print(f"paper: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("paper: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
