"""The result folder of one fit: a fixed layout, and at any moment one whole result.

::

    report.html  modes.csv  components.csv (and .parquet)  fit.csv (or .parquet)  model.rfm
    figures/  run.json  and the tables of `robustfourier.analysis.further_tables`
    forecast.csv (if a horizon was asked for)

How it changes as a whole is in `robustfourier.result_folders`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robustfourier import result_folders as folders
from robustfourier.result_folders import RUN


@contextmanager
def claimed(
    folder: Path, identity: dict[str, Any], source: str | Path, *, overwrite: bool = False
) -> Iterator[None]:
    """Hold a folder for one run, or refuse before the work begins; see `folders.claimed`."""
    with folders.claimed(RUN, folder, identity, [Path(source)], overwrite=overwrite):
        yield


@contextmanager
def exchanged(folder: Path) -> Iterator[Path]:
    """Give a folder to write to, which takes the place of `folder` unless an error occurs.

    It holds an empty folder ``figures``; `write_run` must come last.
    """
    with folders.exchanged(RUN, folder) as draft:
        (draft / "figures").mkdir()
        yield draft


def read_run(folder: Path) -> dict[str, Any] | None:
    """The record of the run that owns a folder, or None."""
    held = RUN.read(folder)
    return held if held is not None and held["finished"] else None


def write_run(draft: Path, content: dict[str, Any]) -> None:
    """Write the record of a finished run, with the list of its files."""
    RUN.finish(draft, content)
