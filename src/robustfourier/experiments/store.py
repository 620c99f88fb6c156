"""A folder of results: one row per finished task, its curves beside it, one run at a time.

Rows are lines of a CSV file, appended with their newline in one write and flushed to disk, after
the row's curves are in place. A run that is killed leaves at most one torn last line, which the
next run cuts off; whatever has a whole line is never run again. A lock on the folder, held by the
operating system, refuses a second run and dies with its holder.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import DataError, OutputError
from robustfourier.writing import locked, replacing

__all__ = ["ResultStore"]

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
    """

    def __init__(self, folder: Path, name: str, columns: Sequence[str]) -> None:
        self.folder = Path(folder)
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

    def rows(self) -> list[dict[str, str]]:
        """Return all whole rows, in the order in which they were written."""
        if not self.rows_file.exists():
            return []
        text = self._whole_lines()
        found = list(csv.DictReader(io.StringIO(text)))
        header = text.split("\n", 1)[0]
        if text and header != _line(self.columns).rstrip("\n"):
            raise DataError(
                f"{self.rows_file}: its columns are not those of this version; "
                "choose another folder or remove it."
            )
        return found

    def keys(self) -> set[str]:
        """Return the keys of all whole rows."""
        return {row[self.columns[0]] for row in self.rows()}

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row whose curves are already saved."""
        missing = set(self.columns) ^ set(row)
        if missing:
            raise DataError(f"row has the wrong columns; missing or unknown: {sorted(missing)}.")
        text = _line([row[column] for column in self.columns])
        if not self.rows_file.exists() or self.rows_file.stat().st_size == 0:
            text = _line(self.columns) + text
        with self.rows_file.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())

    def save_curves(self, key: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write the curves of a row; a reader sees the whole file or none."""
        with replacing(self._curves_file(key)) as file:
            np.savez_compressed(file, **dict(arrays))  # type: ignore[arg-type]

    def curves(self, key: str) -> dict[str, NDArray[Any]]:
        """Read the curves of a row."""
        with np.load(self._curves_file(key), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def _curves_file(self, key: str) -> Path:
        return self.curves_folder / f"{key}.npz"

    def _make_folders(self) -> None:
        try:
            self.curves_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.folder}: cannot be made ({error.strerror}).") from error

    def _whole_lines(self) -> str:
        data = self.rows_file.read_bytes()
        return data[: data.rfind(b"\n") + 1].decode()

    def _cut_torn_line(self) -> None:
        if self.rows_file.exists():
            whole = len(self._whole_lines().encode())
            if whole < self.rows_file.stat().st_size:
                os.truncate(self.rows_file, whole)


def _line(cells: Sequence[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()
