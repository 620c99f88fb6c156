"""Run the truth set: ``python -m benchmarks.ordinary --help``."""

import sys

from benchmarks.ordinary.command import main

if __name__ == "__main__":
    sys.exit(main())
