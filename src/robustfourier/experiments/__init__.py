"""The paper's experiments as data, a runner that resumes, claims with verdicts, pages.

`reproduce` runs them all; ``python -m robustfourier.experiments`` does the same from a shell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["reproduce"]


def reproduce(
    names: Sequence[str] | None = None,
    *,
    out: Path,
    quick: bool = False,
    csv: Path | None = None,
    jobs: int = 2,
    progress: Callable[[str], None] | bool | None = None,
) -> Path:
    """Run the paper's experiments; see `robustfourier.experiments.reproduction.reproduce`."""
    # Late, so that the command line can offer this without loading what it needs.
    from robustfourier.experiments.reproduction import reproduce as run

    return run(names, out=out, quick=quick, csv=csv, jobs=jobs, progress=progress)
