"""``python -m benchmarks.peers [--quick] [--out DIR] [--data DIR] [--page-only] [METHOD ...]``."""

from __future__ import annotations

import os
import sys

# One thread for everybody, before any library starts its own: seconds are then comparable.
for _variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
):
    os.environ.setdefault(_variable, "1")

from benchmarks.peers.command import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
