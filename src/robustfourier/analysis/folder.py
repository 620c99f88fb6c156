"""The result folder: a fixed layout; `run.json` says whether the run that owns it has finished.

::

    report.html  modes.csv  components.csv  fit.csv  model.rfm  figures/  run.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from robustfourier.errors import OutputError
from robustfourier.writing import write_text

__all__ = ["FILES", "claim_folder", "read_run", "write_run"]

#: Names in a result folder.
FILES = (
    "report.html",
    "modes.csv",
    "components.csv",
    "fit.csv",
    "model.rfm",
    "figures",
    "run.json",
)


def claim_folder(folder: Path, identity: dict[str, Any], *, overwrite: bool = False) -> None:
    """Make the folder ready for a run, or refuse.

    A run may replace itself: the same input with the same parameters. Anything else in the folder
    is left alone unless `overwrite`; even then only our own names are touched.

    Parameters
    ----------
    folder : Path
        The result folder.
    identity : dict
        What makes this run the one it is; compared with that of the folder's run.
    overwrite : bool
        Whether another run may be replaced.

    Raises
    ------
    OutputError
        If the folder holds something else or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "figures").mkdir(exist_ok=True)
        others = [p.name for p in folder.iterdir() if p.name != "figures"]
        others += [p.name for p in (folder / "figures").iterdir()]
    except OSError as error:
        raise OutputError(
            f"cannot write results to {str(folder)!r} ({error.strerror or error}); "
            "choose another place with --out"
        ) from None
    if others and not overwrite:
        held = read_run(folder)
        if held is None:
            raise OutputError(
                f"{str(folder)!r} is not empty and holds no run of ours; choose another folder "
                "with --out, or say --overwrite"
            )
        if held.get("identity") != identity:
            raise OutputError(
                f"{str(folder)!r} holds another run (of {held.get('input', {}).get('file')!r}); "
                "choose another folder with --out, or say --overwrite"
            )
    # Whoever is interrupted from here on may start again.
    _write_record(folder, {"finished": False, "identity": identity})


def read_run(folder: Path) -> dict[str, Any] | None:
    """The record of the run that owns a folder, or None."""
    try:
        content = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def write_run(folder: Path, content: dict[str, Any]) -> None:
    """Write the record of a finished run, last."""
    _write_record(folder, {"finished": True, **content})


def _write_record(folder: Path, content: dict[str, Any]) -> None:
    write_text(folder / "run.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")
