"""What the app keeps: files, fits and their history, in one folder that outlives the server.

::

    records.jsonl            one line for each thing that happened; it only grows
    open.html                leads the first browser in, and is gone then
    files/<id>/data.csv      a file as it was dropped (or data.parquet)
    fits/<id>/result/        the result folder of `robustfourier fit`
    fits/<id>/story.jsonl    what was shown while it ran
    fits/<id>/policy.txt     which scripts its report may run: those of the version that made it

All state is read from the records at the start; lines that are not what we write are left out.
Names of folders are random ids made here; no text of a request or a record is ever part of a path
unless it has the form of such an id. The folder is the user's alone (0700).
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from robustfourier.app.request_checks import checked_fit
from robustfourier.atomic_files import append_line, reason
from robustfourier.errors import InputError, OutputError
from robustfourier.untrusted_files import open_regular, parse_json

#: States from which a fit does not move on.
FINISHED = ("done", "failed", "cancelled")
_STATES = ("queued", "running", *FINISHED)
_ID = re.compile(r"[A-Za-z0-9_-]{16}")
_RECORDS = 1 << 28  # bytes of all records: a million fits
_LINE = 1 << 20
_NAME = 120  # characters of a file's name that are kept


def private_folder(folder: Path) -> None:
    """Make a folder that only the user can read; one that is ours already becomes so."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not any(folder.iterdir()) or (folder / "records.jsonl").exists():
            folder.chmod(0o700)
        for name in ("files", "fits"):
            (folder / name).mkdir(mode=0o700, exist_ok=True)
            if (folder / name).is_symlink():
                raise OSError(None, f"{name!r} is a symbolic link")
            (folder / name).chmod(0o700)
    except OSError as error:
        raise OutputError(
            f"cannot keep results in {str(folder)!r} ({reason(error)}); choose another place with "
            "--folder"
        ) from None


def way_in(folder: Path, address: str) -> Path:
    """Write a page that leads to an address, for the eyes of the user alone."""
    page = folder / "open.html"
    page.unlink(missing_ok=True)
    with os.fdopen(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0;url={escape(address)}">'
        )
    return page


@dataclass(frozen=True)
class File:
    """A file that was dropped, or a series that comes with the package."""

    id: str
    name: str  # the user's
    size: int  # bytes
    path: Path
    at: float  # seconds since 1970
    current: str | None = None  # the fit that is shown; undo goes back to an earlier one


@dataclass(frozen=True)
class Fit:
    """One entry of a file's history."""

    id: str
    file: str
    settings: dict[str, Any]  # as `checked_fit` returns them
    at: float  # seconds since 1970
    state: str = "queued"  # one of `_STATES`
    words: str = ""  # why it failed
    starts: int = 0  # how often it was begun


@dataclass
class Folder:
    """The folder and what its records say."""

    path: Path
    files: dict[str, File] = field(default_factory=dict)
    fits: dict[str, Fit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        private_folder(self.path)
        for line in self._lines():
            try:
                record = parse_json(line, n_bytes=_LINE)
            except InputError:
                continue  # torn when the server was killed, or of another
            if isinstance(record, dict):
                self._apply(record)

    def _lines(self) -> list[bytes]:
        if not os.path.lexists(self._records):
            return []
        try:
            with open_regular(self._records, follow=False) as file:
                return file.read(_RECORDS).splitlines()
        except OSError as error:
            raise OutputError(
                f"{str(self._records)!r} cannot be read ({reason(error)}); move it away, or choose "
                "another place with --folder"
            ) from None

    def add_file(self, name: str, source: Path | None = None) -> File:
        """Make room for a file; without a `source` the caller writes to its path."""
        one = secrets.token_urlsafe(12)
        place = self.path / "files" / one
        place.mkdir(mode=0o700)
        file = File(one, name, 0, place / "data.csv", time.time())
        if source is None:
            return file
        shutil.copyfile(source, file.path)
        return self.keep_file(file)

    def keep_file(self, file: File) -> File:
        """Record a file that has been written to its path."""
        with file.path.open("rb") as opened:
            ending = ".parquet" if opened.read(4) == b"PAR1" else ".csv"
        path = file.path.with_suffix(ending)
        file.path.rename(path)
        self._append("file", id=file.id, name=file.name, size=path.stat().st_size, ending=ending)
        return self.files[file.id]

    def discard(self, file: File) -> None:
        """Remove what was written of a file, or all that is kept of it."""
        if file.id in self.files:
            for fit in self.fits_of(file.id):
                shutil.rmtree(self.path / "fits" / fit.id, ignore_errors=True)
            self._append("forgotten", id=file.id)
        shutil.rmtree(self.path / "files" / file.id, ignore_errors=True)

    def add_fit(self, file: File, settings: dict[str, Any]) -> Fit:
        """Record a new entry of a file's history."""
        one = secrets.token_urlsafe(12)
        (self.path / "fits" / one).mkdir()
        self._append("fit", id=one, file=file.id, settings=settings)
        return self.fits[one]

    def set_state(self, fit: str, state: str, words: str = "") -> None:
        """Record that a fit moved on."""
        if fit in self.fits:  # else its file was forgotten meanwhile
            self._append("state", id=fit, state=state, words=words)

    def show(self, file: str, fit: str) -> None:
        """Record which fit of a file is shown."""
        self._append("current", id=file, fit=fit)

    def fits_of(self, file: str) -> list[Fit]:
        """Return the history of a file, the oldest first."""
        return [fit for fit in self.fits.values() if fit.file == file]

    def place(self, fit: str) -> Path:
        """Return the folder of a fit."""
        return self.path / "fits" / self.fits[fit].id

    @property
    def _records(self) -> Path:
        return self.path / "records.jsonl"

    def _append(self, kind: str, **content: Any) -> None:
        record = {"record": kind, "at": time.time(), **content}
        self._apply(record)
        append_line(self._records, json.dumps(record, ensure_ascii=False))

    def _apply(self, record: dict[str, Any]) -> None:
        """Bring the state to what a record says; what it does not know is left alone."""
        text = {key: value for key, value in record.items() if isinstance(value, str)}
        kind, one, file = text.get("record"), text.get("id", ""), text.get("file")
        if not _ID.fullmatch(one):
            return
        at, size = record.get("at"), record.get("size")
        at = float(at) if isinstance(at, (int, float)) else 0.0
        if kind == "file" and (ending := text.get("ending")) in (".csv", ".parquet"):
            path = self.path / "files" / one / f"data{ending}"
            name = tidy_name(text.get("name", ""))
            self.files[one] = File(one, name, size if isinstance(size, int) else 0, path, at)
        elif kind == "fit" and file in self.files and one not in self.fits:
            settings = checked_or_none(record.get("settings"))
            if settings is not None:
                self.fits[one] = Fit(one, file, settings, at)
                self.files[file] = replace(self.files[file], current=one)
        elif kind == "state" and one in self.fits and (state := text.get("state")) in _STATES:
            fit, words = self.fits[one], text.get("words", "")
            starts = fit.starts + (state == "running")
            self.fits[one] = replace(fit, state=state, words=words, starts=starts)
        elif kind == "current" and one in self.files and text.get("fit") in self.fits:
            self.files[one] = replace(self.files[one], current=text["fit"])
        elif kind == "forgotten" and one in self.files:
            del self.files[one]
            self.fits = {key: fit for key, fit in self.fits.items() if fit.file != one}


def tidy_name(name: str) -> str:
    """A file's name to be shown: one line, not too long, never empty, and no path."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in last if c.isprintable())[-_NAME:].strip() or "data.csv"


def checked_or_none(settings: Any) -> dict[str, Any] | None:
    """Settings of a fit as a record holds them, or None if no request could have asked for them."""
    try:
        return checked_fit(settings) if isinstance(settings, dict) else None
    except InputError:
        return None
