"""What the app keeps: files, fits and their history, in one folder that outlives the server.

::

    records.jsonl            one line for each thing that happened; it only grows
    files/<id>/data.csv      a file as it was dropped (or data.parquet)
    fits/<id>/result/        the result folder of `robustfourier fit`
    fits/<id>/story.jsonl    what was shown while it ran
    fits/<id>/policy.txt     which scripts its report may run: those of the version that made it

All state is read from the records at the start. Names of folders are random ids made here; no text
of a request is ever part of a path.
"""

from __future__ import annotations

import json
import secrets
import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from robustfourier.errors import OutputError
from robustfourier.writing import append_line, reason

#: States from which a fit does not move on.
FINISHED = ("done", "failed", "cancelled")


@dataclass(frozen=True)
class File:
    """A file that was dropped, or a series that comes with the package.

    Parameters
    ----------
    id, name : str
        Ours, and the user's.
    size : int
        Bytes.
    path : Path
        Where it lies.
    at : float
        Seconds since 1970.
    current : str, optional
        The fit that is shown; undo goes back to an earlier one.
    """

    id: str
    name: str
    size: int
    path: Path
    at: float
    current: str | None = None


@dataclass(frozen=True)
class Fit:
    """One entry of a file's history.

    Parameters
    ----------
    id, file : str
    settings : dict
        ``reading``: options of `read_samples`; ``asked``: fields of `Asked`.
    at : float
        Seconds since 1970.
    state : {"queued", "running", "done", "failed", "cancelled"}
    words : str
        Why it failed.
    starts : int
        How often it was begun.
    """

    id: str
    file: str
    settings: dict[str, Any]
    at: float
    state: str = "queued"
    words: str = ""
    starts: int = 0


@dataclass
class Folder:
    """The folder and what its records say."""

    path: Path
    files: dict[str, File] = field(default_factory=dict)
    fits: dict[str, Fit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            for name in ("files", "fits"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"cannot keep results in {str(self.path)!r} ({reason(error)}); choose another "
                "place with --folder"
            ) from None
        if self._records.exists():
            for line in self._records.read_bytes().decode("utf-8", errors="replace").splitlines():
                try:
                    record = json.loads(line)
                except (ValueError, RecursionError):
                    continue  # torn when the server was killed
                if isinstance(record, dict):
                    self._apply(record)

    def add_file(self, name: str, source: Path | None = None) -> File:
        """Make room for a file; without a `source` the caller writes to its path."""
        one = secrets.token_urlsafe(12)
        place = self.path / "files" / one
        place.mkdir()
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
        self._tell("file", id=file.id, name=file.name, size=path.stat().st_size, ending=ending)
        return self.files[file.id]

    def discard(self, file: File) -> None:
        """Remove what was written of a file, or all that is kept of it."""
        if file.id in self.files:
            for fit in self.fits_of(file.id):
                shutil.rmtree(self.path / "fits" / fit.id, ignore_errors=True)
            self._tell("forgotten", id=file.id)
        shutil.rmtree(self.path / "files" / file.id, ignore_errors=True)

    def add_fit(self, file: File, settings: dict[str, Any]) -> Fit:
        """Record a new entry of a file's history."""
        one = secrets.token_urlsafe(12)
        (self.path / "fits" / one).mkdir()
        self._tell("fit", id=one, file=file.id, settings=settings)
        return self.fits[one]

    def set_state(self, fit: str, state: str, words: str = "") -> None:
        """Record that a fit moved on."""
        if fit in self.fits:  # else its file was forgotten meanwhile
            self._tell("state", id=fit, state=state, words=words)

    def show(self, file: str, fit: str) -> None:
        """Record which fit of a file is shown."""
        self._tell("current", id=file, fit=fit)

    def fits_of(self, file: str) -> list[Fit]:
        """Return the history of a file, the oldest first."""
        return [fit for fit in self.fits.values() if fit.file == file]

    def place(self, fit: str) -> Path:
        """Return the folder of a fit."""
        return self.path / "fits" / self.fits[fit].id

    @property
    def _records(self) -> Path:
        return self.path / "records.jsonl"

    def _tell(self, kind: str, **content: Any) -> None:
        record = {"record": kind, "at": time.time(), **content}
        self._apply(record)
        append_line(self._records, json.dumps(record, ensure_ascii=False))

    def _apply(self, record: dict[str, Any]) -> None:
        """Bring the state to what a record says; what it does not know is left alone."""
        kind, one, at = record.get("record"), record.get("id"), record.get("at")
        if kind == "file" and isinstance(one, str):
            path = self.path / "files" / one / f"data{record['ending']}"
            self.files[one] = File(one, record["name"], record["size"], path, at or 0.0)
        elif kind == "fit" and isinstance(one, str) and record["file"] in self.files:
            self.fits[one] = Fit(one, record["file"], record["settings"], at or 0.0)
            self.files[record["file"]] = replace(self.files[record["file"]], current=one)
        elif kind == "state" and one in self.fits:
            fit = self.fits[one]
            starts = fit.starts + (record["state"] == "running")
            self.fits[one] = replace(
                fit, state=record["state"], words=record["words"], starts=starts
            )
        elif kind == "current" and one in self.files:
            self.files[one] = replace(self.files[one], current=record["fit"])
        elif kind == "forgotten" and one in self.files:
            del self.files[one]
            self.fits = {key: fit for key, fit in self.fits.items() if fit.file != one}
