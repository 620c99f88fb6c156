"""Folders of results: at any moment one whole result, and nothing lost that is not ours.

A result is made beside its place, in ``.<name>.part``, and then changes places with the earlier one
in one step. Its record lists the files that it has written, and only those are ever removed or
replaced. What others have put there is kept: it is linked into the new folder before. An input is
never written to. A folder under work has a record too, which says that it is not finished; without
one of ours, nothing in it is touched.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robustfourier.atomic_files import exchange, locked, results_in, write_text
from robustfourier.errors import OutputError
from robustfourier.untrusted_files import read_json

_REMEDY = "choose another place with --out"
_BYTES = 1 << 27  # of a record: a million files of a survey, with names of a hundred characters
_NAMES = 2_000_000
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


@dataclass(frozen=True)
class Kind:
    """A kind of folder."""

    noun: str  # what it holds, in messages and as the mark of its record
    record: str  # file name of the record

    def read(self, folder: Path) -> dict[str, Any] | None:
        """The record of what owns a folder, finished or not; None if it is none of ours."""
        held = read_json(folder / self.record, n_bytes=_BYTES, n_values=_NAMES)
        if held is None or not isinstance(held.get("identity"), dict):
            return None
        finished = held.get("finished")
        known = finished is False or (finished is True and isinstance(held.get("files"), list))
        return held if known and held.get("holds") == self.noun else None

    def is_same(self, held: dict[str, Any], identity: dict[str, Any]) -> bool:
        """Whether a record is that of a run with this identity, as a file can hold it."""
        text = json.dumps(identity, ensure_ascii=False)
        return bool(held["identity"] == json.loads(text.encode("utf-8", errors="replace")))

    def begin(self, draft: Path, identity: dict[str, Any]) -> None:
        """Make a folder to work in, which is known as ours from its first file on."""
        draft.mkdir(exist_ok=True)
        record = {"holds": self.noun, "finished": False, "identity": identity}
        write_text(draft / self.record, json.dumps(record, ensure_ascii=False) + "\n")

    def finish(self, draft: Path, content: dict[str, Any]) -> None:
        """Write the record of a finished result, with the list of its files; this comes last."""
        files = sorted({*names_within(draft), self.record} - {f".{self.record}.part"})
        record = {"holds": self.noun, "finished": True, **content, "files": files}
        write_text(draft / self.record, json.dumps(record, indent=2, ensure_ascii=False) + "\n")

    def own(self, folder: Path) -> list[str] | None:
        """Names of what a finished result has written into a folder; None if there is none."""
        held = self.read(folder)
        if held is None or not held["finished"]:
            return None
        return [name for name in held["files"] if isinstance(name, str)]


RUN = Kind("run", "run.json")
SURVEY = Kind("survey", "survey.json")
RHYTHM = Kind("rhythm", "rhythm.json")
BANDS = Kind("bands", "bands.json")


def is_result(folder: Path) -> bool:
    """Whether a folder is one of ours: its tables are results, and no samples."""
    return any(kind.read(folder) is not None for kind in (RUN, SURVEY, RHYTHM, BANDS))


@contextmanager
def claimed(
    kind: Kind,
    folder: Path | None,
    identity: dict[str, Any],
    sources: Iterable[Path],
    *,
    overwrite: bool = False,
) -> Iterator[None]:
    """Hold a folder for one run, or refuse before the work begins; None where none is wanted.

    A run may replace itself: the same `identity`. Another one is replaced if `overwrite`; a folder
    that holds something else, or an input (`sources`), or the user, never is: `OutputError`. If
    another run is at work on it: `RunLockedError`.
    """
    if folder is None:
        yield
        return
    busy = f"another run is writing {str(folder)!r}; wait for it, or choose another with --out"
    with ExitStack() as stack:
        with results_in(folder, _REMEDY):
            folder.absolute().parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locked(beside(folder, "lock"), busy))
            _refuse(kind, folder, identity, [source.resolve() for source in sources], overwrite)
        yield


@contextmanager
def exchanged(kind: Kind, folder: Path, record: dict[str, Any]) -> Iterator[Path]:
    """Give a folder to write to, which takes the place of `folder` unless an error occurs.

    `record` is written last, as it is at the end.
    """
    draft = beside(folder, "part")
    with results_in(folder, _REMEDY):
        clear(kind, draft, folder)  # what a run that was killed has left
        try:
            kind.begin(draft, {})
            yield draft
            kind.finish(draft, record)
            take_place(kind, draft, folder)
        finally:
            with suppress(OutputError):  # files of others that came meanwhile stay where they are
                clear(kind, draft, folder)


def take_place(kind: Kind, draft: Path, folder: Path) -> None:
    """Let a finished draft change places with a folder; what others have put there is kept."""
    own = kind.own(folder) or []
    _keep_foreign(folder, draft, own)
    exchange(draft, folder)
    _remove(kind, draft, folder, own)


def beside(folder: Path, ending: str) -> Path:
    """Place of what belongs to a folder and is no part of it."""
    place = folder.absolute()
    return place.with_name(f".{place.name}.{ending}")


def names_within(folder: Path, within: str = "") -> Iterator[str]:
    """Names within a folder of all that is no folder; links are not followed."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            yield from names_within(path, f"{within}{path.name}/")
        else:
            yield f"{within}{path.name}"


def clear(kind: Kind, draft: Path, folder: Path) -> None:
    """Remove a draft, or the earlier result that changed places with it; nothing that is foreign.

    All of a draft that was never finished is ours. Of an earlier result the files are that its
    record lists; what others put there moves to `folder`, if it is not there yet. If something of
    others is left, `OutputError` says so.
    """
    if draft.is_symlink() or (draft.exists() and not draft.is_dir()):
        raise OutputError(f"{str(draft)!r} was not made by robustfourier; move it away")
    if not draft.exists():
        return
    own = [] if kind.read(draft) is None else kind.own(draft)  # None: it was never finished
    _remove(kind, draft, folder, own)
    if draft.exists():
        raise OutputError(
            f"{str(draft)!r} holds files that robustfourier did not write; move it away"
        )


def _remove(kind: Kind, draft: Path, folder: Path, own: list[str] | None) -> None:
    """Remove those files of a draft that are ours, all of them if None; the record comes last."""
    ours = None if own is None else set(own)
    for name in list(names_within(draft)) if draft.exists() else ():
        path, twin = draft / name, folder / name
        if name in (kind.record, f".{kind.record}.part"):
            continue
        with suppress(OSError):
            if ours is not None and name not in ours and not os.path.lexists(twin):
                link(path, twin)  # it came during the exchange
            if ours is None or name in ours or os.path.samestat(path.lstat(), twin.lstat()):
                path.unlink()
    with suppress(OSError):
        if not {*names_within(draft)} - {kind.record, f".{kind.record}.part"}:
            (draft / f".{kind.record}.part").unlink(missing_ok=True)
            (draft / kind.record).unlink(missing_ok=True)
        for at, _, _ in os.walk(draft, topdown=False):
            os.rmdir(at)


def link(source: Path, target: Path) -> None:
    """Give a file a second name; where the system has no such thing, copy it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(source, target, follow_symlinks=False)


def _refuse(
    kind: Kind, folder: Path, identity: dict[str, Any], sources: list[Path], overwrite: bool
) -> None:
    held, place, here = kind.read(folder), folder.resolve(), Path.cwd()
    problem = None
    if folder.is_symlink():
        problem = "is a symbolic link; give the folder itself, or"
    elif any(place in (source, *source.parents) for source in sources):
        problem = "holds the input, which results must not replace;"
    elif place in (here, *here.parents):
        problem = "is the folder you are in;"
    elif held is None and folder.exists() and any(folder.iterdir()):
        problem = f"is not empty and holds no {kind.noun} of robustfourier;"
    elif held is not None and not kind.is_same(held, identity) and not overwrite:
        given = held.get("input")
        of = given.get("file") if isinstance(given, dict) else None
        which = "" if of is None else f" (of {of!r})"
        problem = f"holds another {kind.noun}{which}; say --overwrite, or"
    if problem is not None:
        raise OutputError(f"{str(folder)!r} {problem} choose another folder with --out")


def _keep_foreign(folder: Path, draft: Path, own: list[str]) -> None:
    """Link into the draft what others have put into the folder."""
    places = [(Path(at), draft / os.path.relpath(at, folder)) for at, _, _ in os.walk(folder)]
    for _, place in places:
        place.mkdir(exist_ok=True)
    ours = set(own)
    for name in names_within(folder) if places else ():
        if name in ours and not (folder / name).is_symlink():
            continue
        try:
            link(folder / name, draft / name)
        except FileExistsError:
            raise OutputError(
                f"{str(folder / name)!r} was not written by robustfourier and would be "
                "overwritten; move it away"
            ) from None
    for at, place in places:
        shutil.copystat(at, place)
