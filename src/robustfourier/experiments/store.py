"""A folder of results: one row per finished task, its curves beside it, one run at a time.

Rows are lines of a CSV file, appended with their newline in one write and flushed to disk, after
the row's curves are in place. A run that is killed leaves at most one torn last line, which the
next run cuts off; whatever has a whole line is never run again. A lock on the folder, held by the
operating system, refuses a second run and dies with its holder.

Finished results can be kept in two small files, ``<name>.csv`` and ``<name>.curves.gz``, that go
with the source. A store that is given their folder has their rows, too, without running them.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import DataError, OutputError
from robustfourier.writing import append_line, locked, replacing, write_text

LOCK = "run.lock"


class ResultStore:
    """Rows and curves of one kind of task in a folder.

    Parameters
    ----------
    folder : path
        Made if it is not there.
    name : str
        Rows go to ``<name>.csv``, curves to ``<name>/<key>.npz``.
    columns : sequence of str
        Columns of the rows; the first is the key.
    kept : path, optional
        Folder of results that `keep` wrote; its rows count as done.
    """

    def __init__(
        self, folder: Path, name: str, columns: Sequence[str], kept: Path | None = None
    ) -> None:
        self.folder = Path(folder)
        self.name = name
        self.kept = kept
        self.columns = tuple(columns)
        self.rows_file = self.folder / f"{name}.csv"
        self.curves_folder = self.folder / name

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one run.

        Raises
        ------
        RunLockedError
            If another process holds it.
        """
        self._make_folders()
        busy = f"{self.folder}: another run is using this folder; wait for it or choose another."
        with locked(self.folder / LOCK, busy):
            self._cut_torn_line()
            yield

    def rows(self) -> dict[str, dict[str, str]]:
        """Return all whole rows by key, in the order of their writing, kept ones first."""
        files = [self.rows_file] if self.kept is None else [self._kept_file("csv"), self.rows_file]
        return {row[self.columns[0]]: row for file in files for row in self._rows_of(file)}

    def _rows_of(self, file: Path) -> list[dict[str, str]]:
        if not file.exists():
            return []
        text = _whole_lines(file)
        header = text.split("\n", 1)[0]
        if text and header != _line(self.columns).rstrip("\n"):
            raise DataError(
                f"{file}: its columns are not those of this version; "
                "choose another folder or remove it."
            )
        return list(csv.DictReader(io.StringIO(text)))

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row whose curves are already saved."""
        missing = set(self.columns) ^ set(row)
        if missing:
            raise DataError(f"row has the wrong columns; missing or unknown: {sorted(missing)}.")
        text = _line([row[column] for column in self.columns])
        if not self.rows_file.exists() or self.rows_file.stat().st_size == 0:
            text = _line(self.columns) + text
        append_line(self.rows_file, text.removesuffix("\n"))

    def save_curves(self, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write the curves of a row; a reader sees the whole file or none."""
        with replacing(self._curves_file(key)) as file:
            np.savez_compressed(file, **dict(arrays))  # type: ignore[arg-type]

    def curves(self, key: str) -> dict[str, NDArray[Any]]:
        """Read the curves of a row."""
        if key in self._kept_curves and not self._curves_file(key).exists():
            return self._kept_curves[key]
        with np.load(self._curves_file(key), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def keep(self, folder: Path, order: Sequence[str]) -> None:
        """Write the finished rows among `order`, and their curves, as two small files."""
        rows = self.rows()
        done = [key for key in order if key in rows]
        lines = [self.columns, *([rows[key][name] for name in self.columns] for key in done)]
        curves = {key: self.curves(key) for key in done}
        names = {key: list(arrays) for key, arrays in curves.items()}
        folder.mkdir(parents=True, exist_ok=True)
        with (
            replacing(folder / f"{self.name}.curves.gz") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file,
        ):
            # all names first, then all arrays: thousands of small ones share one compression
            file.write(json.dumps(names).encode() + b"\n")
            for key in done:
                for array in curves[key].values():
                    np.save(cast(Any, file), array, allow_pickle=False)
        write_text(folder / f"{self.name}.csv", "".join(map(_line, lines)))

    def _kept_file(self, kind: str) -> Path:
        assert self.kept is not None
        return self.kept / f"{self.name}.{kind}"

    @cached_property
    def _kept_curves(self) -> dict[str, dict[str, NDArray[Any]]]:
        if self.kept is None or not self._kept_file("curves.gz").exists():
            return {}
        with gzip.open(self._kept_file("curves.gz")) as file:
            names = json.loads(file.readline())
            return {
                key: {name: np.load(file, allow_pickle=False) for name in each}
                for key, each in names.items()
            }

    def _curves_file(self, key: str) -> Path:
        return self.curves_folder / f"{key}.npz"

    def _make_folders(self) -> None:
        try:
            self.curves_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.folder}: cannot be made ({error.strerror}).") from error

    def _cut_torn_line(self) -> None:
        if self.rows_file.exists():
            whole = len(_whole_lines(self.rows_file).encode())
            if whole < self.rows_file.stat().st_size:
                os.truncate(self.rows_file, whole)


def _whole_lines(file: Path) -> str:
    data = file.read_bytes()
    return data[: data.rfind(b"\n") + 1].decode()


def _line(cells: Sequence[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()
