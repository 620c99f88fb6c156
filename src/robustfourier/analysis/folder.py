"""The result folder: a fixed layout, and at any moment one whole result.

::

    report.html  modes.csv  components.csv  fit.csv (or .parquet)  model.rfm  figures/  run.json

A result is made beside its place, in ``.<name>.part``, and then changes places with the earlier
one in one step. What we did not write is kept: it is linked into the new folder before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import copystat
from typing import Any

from robustfourier.errors import OutputError
from robustfourier.writing import exchange, locked, results_in, write_text

_RUN = "run.json"
_REMEDY = "choose another place with --out"
#: What version 0.1 wrote, whose run.json has no list of files.
_EARLIER = ["report.html", "modes.csv", "components.csv", "fit.csv", "model.rfm", _RUN] + [
    f"figures/{name}.{ending}"
    for name in ("fit", "spectrum", "residuals", "diagonal", "components")
    for ending in ("png", "svg", "pdf")
]


@contextmanager
def claimed(
    folder: Path, identity: dict[str, Any], source: str | Path, *, overwrite: bool = False
) -> Iterator[None]:
    """Hold a folder for one run, or refuse before the work begins.

    A run may replace itself: the same input with the same parameters, its `identity`. Another run
    is replaced if `overwrite`; a folder that holds something else, or the input (`source`), or the
    user, never is.

    Raises
    ------
    OutputError
        If the folder holds something else or cannot be made.
    RunLockedError
        If another run is at work on it.
    """
    busy = f"another run is writing {str(folder)!r}; wait for it, or choose another with --out"
    with ExitStack() as stack:
        with results_in(folder, _REMEDY):
            folder.absolute().parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(_beside(folder, "lock"), busy))
            _refuse(folder, identity, Path(source).resolve(), overwrite)
        yield


@contextmanager
def exchanged(folder: Path) -> Iterator[Path]:
    """Give a folder to write to, which takes the place of `folder` unless an error occurs.

    It holds an empty folder ``figures``; `write_run` must come last.
    """
    draft = _beside(folder, "part")
    with results_in(folder, _REMEDY):
        _clear(draft, folder)  # what a run that was killed has left
        if os.path.lexists(draft):
            raise OutputError(f"{str(draft)!r} holds files that are not of ours; move it away")
        (draft / "figures").mkdir(parents=True)
        replaced = None
        try:
            yield draft
            own = _own(folder) or []
            _keep_foreign(folder, draft, own)
            exchange(draft, folder)
            replaced = own
        finally:
            _clear(draft, folder, replaced)


def read_run(folder: Path) -> dict[str, Any] | None:
    """The record of the run that owns a folder, or None."""
    try:
        content = json.loads((folder / _RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def write_run(draft: Path, content: dict[str, Any]) -> None:
    """Write the record of a finished run, with the list of its files."""
    record = {"finished": True, **content, "files": [*_files(draft), _RUN]}
    write_text(draft / _RUN, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def _beside(folder: Path, ending: str) -> Path:
    place = folder.absolute()
    return place.with_name(f".{place.name}.{ending}")


def _refuse(folder: Path, identity: dict[str, Any], source: Path, overwrite: bool) -> None:
    held, place, here = read_run(folder), folder.resolve(), Path.cwd()
    problem = None
    if folder.is_symlink():
        problem = "is a symbolic link; give the folder itself, or"
    elif place in (source, *source.parents):
        problem = "holds the input, which results must not replace;"
    elif place in (here, *here.parents):
        problem = "is the folder you are in;"
    elif held is None and folder.exists() and any(folder.iterdir()):
        problem = "is not empty and holds no run of ours;"
    elif held is not None and held.get("identity") != identity and not overwrite:
        given = held.get("input")
        of = given.get("file") if isinstance(given, dict) else None
        problem = f"holds another run (of {of!r}); say --overwrite, or"
    if problem is not None:
        raise OutputError(f"{str(folder)!r} {problem} choose another folder with --out")


def _files(folder: Path, within: str = "") -> Iterator[str]:
    """Names within a folder of all that is no folder; links are not followed."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from _files(path, f"{within}{path.name}/")
        else:
            yield f"{within}{path.name}"


def _own(folder: Path) -> list[str] | None:
    """Names of what a run has written into a folder; None if no run has finished there."""
    held = read_run(folder)
    if held is None:
        return None
    listed = held.get("files", _EARLIER)
    return listed if isinstance(listed, list) else []


def _keep_foreign(folder: Path, draft: Path, own: list[str]) -> None:
    """Link into the draft what others have put into the folder."""
    places = [(Path(at), draft / os.path.relpath(at, folder)) for at, _, _ in os.walk(folder)]
    for _, place in places:
        place.mkdir(exist_ok=True)
    for name in _files(folder) if places else ():
        if name in own and not (folder / name).is_symlink():
            continue
        try:
            os.link(folder / name, draft / name, follow_symlinks=False)
        except FileExistsError:
            raise OutputError(
                f"{str(folder / name)!r} is not of ours and would be overwritten; move it away"
            ) from None
    for at, place in places:
        copystat(at, place)


def _clear(draft: Path, folder: Path, own: list[str] | None = None) -> None:
    """Remove a draft, or the earlier result that changed places with it; nothing that is foreign.

    Without a list of what is ours the folder's own counts. If it has none, it is a draft that was
    never finished, and all of it is ours.
    """
    if draft.is_symlink() or not draft.exists():
        return
    own = _own(draft) if own is None else own
    for name in list(_files(draft)):
        path, twin = draft / name, folder / name
        with suppress(OSError):
            if own is not None and name not in own and not os.path.lexists(twin):
                os.link(path, twin, follow_symlinks=False)  # it came during the exchange
            if own is None or name in own or os.path.samestat(path.lstat(), twin.lstat()):
                path.unlink()
    for at, _, _ in os.walk(draft, topdown=False):
        with suppress(OSError):
            os.rmdir(at)
