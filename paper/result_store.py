"""Tasks that are run once: worker processes compute, and a folder keeps a row and curves of each.

A task is anything with a `key` that a worker can pickle; `work(task)` returns its row and curves.
Rows are lines of a CSV file, appended and flushed to disk after the row's curves are in place. A
run that is killed leaves at most one torn last line, which the next run cuts off; whatever has a
whole line is never run again. A lock on the folder, held by the operating system, refuses a second
run and dies with its holder.

Finished results can be kept in two small files, ``<name>.csv`` and ``<name>.curves.gz``, that go
with the source. A store that is given their folder has their rows, too, without running them.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from robustfourier.atomic_files import append_line, locked, replacing, write_text
from robustfourier.concurrency import follow_parent, single_threads
from robustfourier.errors import DataError, InputError, OutputError, WorkerError

LOCK = "run.lock"

Outcome: TypeAlias = tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]
"""A row and its curves."""

Report: TypeAlias = Callable[[str], None]
"""Called with progress, one line at a time."""


class Task(Protocol):
    """Something to run once."""

    @property
    def key(self) -> str:
        """The name of its row."""


T = TypeVar("T", bound=Task)


def digest(task: Any) -> str:
    """Return ten digits that differ for tasks that differ in any field."""
    text = json.dumps(asdict(task), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


class ResultStore:
    """Rows and curves of one kind of task in a folder.

    Rows go to ``<name>.csv``, of whose `columns` the first is the key; curves to
    ``<name>/<key>.npz``. In the folder `kept` are results that `keep` wrote; they count as done.
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
        """Hold the folder for one run; RunLockedError if another process does."""
        try:
            self.curves_folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{self.folder}: cannot be made ({error.strerror}).") from error
        busy = f"{self.folder}: another run is using this folder; wait for it or choose another."
        with locked(self.folder / LOCK, busy):
            if self.rows_file.exists():
                os.truncate(self.rows_file, len(_whole_lines(self.rows_file).encode()))
            yield

    def rows(self) -> dict[str, dict[str, str]]:
        """Return all whole rows by key, in the order of their writing, kept ones first."""
        files = [self.rows_file] if self.kept is None else [self._kept_file("csv"), self.rows_file]
        return {row[self.columns[0]]: row for file in files for row in self._rows_of(file)}

    def _rows_of(self, file: Path) -> list[dict[str, str]]:
        if not file.exists():
            return []
        text = _whole_lines(file)
        if text and text.split("\n", 1)[0] != _line(self.columns).rstrip("\n"):
            raise DataError(
                f"{file}: its columns are not those of this version; "
                "choose another folder or remove it."
            )
        return list(csv.DictReader(io.StringIO(text)))

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row whose curves are already saved."""
        if wrong := set(self.columns) ^ set(row):
            raise DataError(f"row has the wrong columns; missing or unknown: {sorted(wrong)}.")
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


def _whole_lines(file: Path) -> str:
    data = file.read_bytes()
    return data[: data.rfind(b"\n") + 1].decode()


def _line(cells: Sequence[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    return buffer.getvalue()


def run_tasks(
    tasks: Sequence[T],
    work: Callable[[T], Outcome],
    store: ResultStore,
    *,
    jobs: int = 2,
    report: Report | None = None,
) -> None:
    """Run all tasks that have no row yet, in their order, and report a line after each.

    `work` is a function of a module's top level, so that `jobs` worker processes, of one thread
    each, can import it; one job works in this process.
    """
    if jobs < 1:
        raise InputError(f"jobs={jobs!r}: at least one worker is needed.")
    report = report or (lambda _: None)
    with store.locked():
        done = store.rows()
        todo = [task for task in tasks if task.key not in done]
        report(f"{len(tasks) - len(todo)} of {len(tasks)} tasks are done already.")
        started = time.monotonic()
        for number, (row, curves) in enumerate(_outcomes(todo, work, jobs), start=1):
            key = str(row[store.columns[0]])
            store.save_curves(key, curves)
            store.add(row)
            minutes = (time.monotonic() - started) / 60.0
            left = minutes / number * (len(todo) - number)
            report(f"[{number}/{len(todo)}] {key}  {minutes:.1f} min, about {left:.0f} min left")


def _outcomes(todo: Sequence[T], work: Callable[[T], Outcome], jobs: int) -> Iterator[Outcome]:
    if jobs == 1 or len(todo) < 2:
        yield from map(work, todo)
        return
    context = multiprocessing.get_context("spawn")
    with (
        single_threads(),
        ProcessPoolExecutor(jobs, context, follow_parent, (os.getpid(),)) as pool,
    ):
        futures = [pool.submit(work, task) for task in todo]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process was ended from outside, perhaps for lack of memory; start again "
                "with fewer --jobs, finished tasks are kept"
            ) from None
        except BaseException:
            # After a failure or Ctrl-C, do not start what is still waiting.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
