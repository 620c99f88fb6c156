"""Shards: what a batch found, in one Parquet file that is there whole or not at all.

Shards are the memory of a survey. Whoever is killed, client, worker or scheduler, what has a shard
is done; the tables are gathered from them.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from robustfourier.atomic_files import replacing
from robustfourier.concurrency import one_blas_thread
from robustfourier.many.series_rows import failed_row, rows_of
from robustfourier.many.survey_items import Batch, ItemReader, digest, files_of
from robustfourier.result_folders import names_within
from robustfourier.samples.typed_tables import arrow
from robustfourier.untrusted_files import open_regular

#: Failures that are no property of the data: a second run tries such series again.
AGAIN = ("WorkerError", "OutOfMemoryError", "MemoryError", "OutputError", "OSError")


@dataclass(frozen=True)
class Done:
    """What became of a batch."""

    failed: int  # series that could not be fitted
    seconds: float  # of its worker's processor
    fitting: float  # the part of it spent on fits


def fit_batch(batch: Batch) -> Done:
    """Fit all items of a batch and write its shard; runs wherever the engine says."""
    start, rows, read = time.thread_time(), [], ItemReader(batch.task)
    with one_blas_thread():
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
    """Write rows as one shard, whose file name ends with the digest of its content."""
    pa = arrow()
    content = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist(rows, schema=schema()), content)
    seal = digest(content.getvalue())
    with replacing(folder / "shards" / f"{name}-{seal}.parquet") as file:
        file.write(content.getvalue())


def read_shards(folder: Path) -> Iterator[list[dict[str, Any]]]:
    """The rows of all shards; one that is damaged, altered or of another counts as not written."""
    pa = arrow()
    there = {*names_within(folder)}
    for path in sorted((folder / "shards").glob("*.parquet")):
        try:
            with open_regular(path, follow=False) as file:
                content = file.read()
            if path.stem.rpartition("-")[2] != digest(content):
                continue
            table = pa.parquet.read_table(pa.BufferReader(content))
            if table.schema.remove_metadata() != schema():
                continue
            rows = table.to_pylist()
        except (OSError, ValueError, pa.ArrowException):
            continue
        yield [row for row in rows if _is_sound(row, there)]


def _is_sound(row: dict[str, Any], there: set[str]) -> bool:
    """Whether a row is one that we write, and the files that it names are there."""
    if None in (row["key"], row["id"], row["status"]) or None in (row["patterns"] or ()):
        return False
    own = files_of(row["id"], row["key"])
    named = [(row[column], name) for column, name in own.items() if row[column] is not None]
    return all(given == name and name in there for given, name in named)


@cache
def schema() -> Any:
    """Types of a shard's columns."""
    pa = arrow()
    text, real, whole = pa.string(), pa.float64(), pa.int64()
    pattern = pa.struct(
        [
            *[("label", text), ("combination", pa.bool_()), ("period", real)],
            *[("period_error", real), ("frequency", real), ("frequency_error", real)],
            *[("amplitude", real), ("share", real), ("harmonics", pa.list_(pa.int32()))],
            *[("false_alarm", real), ("calendar", text), ("shape", pa.list_(real))],
        ]
    )
    ahead = pa.struct([("time", text), ("mean", real), ("low", real), ("high", real)])
    return pa.schema(
        [
            *[("key", text), ("id", text), ("status", text), ("message", text)],
            *[("headline", text), ("rows", whole), ("used", whole), ("missing", whole)],
            *[("duplicates", whole), ("first", text), ("last", text), ("span", real)],
            *[("unit", text), ("value", text), ("noise", real), ("trend", text), ("scale", text)],
            *[("explained", real), ("notes", pa.list_(text)), ("report", text), ("model", text)],
            *[("picture", text), ("forecast", pa.list_(ahead))],
            *[("seconds", real), ("spark", pa.list_(real)), ("patterns", pa.list_(pattern))],
        ]
    )
