"""Shards: what a batch found, in one Parquet file that is there whole or not at all.

Shards are the memory of a survey. Whoever is killed, client, worker or scheduler, what has a shard
is done; the tables are gathered from them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from robustfourier.many.item import Batch, load
from robustfourier.many.rows import failed_row, rows_of
from robustfourier.samples.parquet import arrow
from robustfourier.writing import replacing

#: Failures that are no property of the data: a second run tries such series again.
AGAIN = ("WorkerError", "OutOfMemoryError", "MemoryError", "OutputError", "OSError")


@dataclass(frozen=True)
class Done:
    """What became of a batch.

    Parameters
    ----------
    failed : int
        Series that could not be fitted.
    seconds, fitting : float
        Processor time that the batch took its worker, and the part of it spent on fits.
    """

    failed: int
    seconds: float
    fitting: float


def fit_batch(batch: Batch) -> Done:
    """Fit all items of a batch and write its shard; runs wherever the engine says."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    start, rows, read = time.thread_time(), [], load(batch.task)
    with threadpool_limits(limits=1):
        for item in batch.items:
            began = time.thread_time()
            try:
                rows += rows_of(item, batch.task, read(item))
            except Exception as error:  # one bad series must not cost the others
                rows.append(failed_row(item, batch.task, error, time.thread_time() - began))
    fitting = sum(row["seconds"] for row in rows)
    write_shard(Path(batch.task.folder), batch.name, rows)
    failed = sum(row["status"] != "ok" for row in rows)
    return Done(failed, time.thread_time() - start, fitting)


def write_shard(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    """Write rows as one shard."""
    pa = arrow()
    table = pa.Table.from_pylist(rows, schema=schema())
    with replacing(folder / "shards" / f"{name}.parquet") as file:
        pa.parquet.write_table(table, file)


def read_shards(folder: Path, columns: list[str] | None = None) -> Iterator[Any]:
    """The Arrow tables of all shards; a damaged one counts as not written."""
    pa = arrow()
    for path in sorted((folder / "shards").glob("*.parquet")):
        try:
            yield pa.parquet.read_table(path, columns=columns)
        except (OSError, pa.ArrowException):
            continue


@cache
def schema() -> Any:
    """Types of a shard's columns."""
    pa = arrow()
    text, real, whole = pa.string(), pa.float64(), pa.int64()
    pattern = pa.struct(
        [
            *[("pattern", text), ("label", text), ("combination", pa.bool_()), ("period", real)],
            *[("period_error", real), ("frequency", real), ("frequency_error", real)],
            *[("amplitude", real), ("share", real), ("harmonics", pa.list_(pa.int32()))],
            *[("false_alarm", real), ("calendar", text), ("shape", pa.list_(real))],
        ]
    )
    return pa.schema(
        [
            *[("key", text), ("id", text), ("status", text), ("message", text)],
            *[("headline", text), ("rows", whole), ("used", whole), ("missing", whole)],
            *[("duplicates", whole), ("first", text), ("last", text), ("span", real)],
            *[("unit", text), ("value", text), ("noise", real), ("trend", text), ("scale", text)],
            *[("explained", real), ("notes", pa.list_(text)), ("report", text), ("model", text)],
            *[("seconds", real), ("spark", pa.list_(real)), ("patterns", pa.list_(pattern))],
        ]
    )
