"""Buckets: a long table of any size, sorted so that each file holds whole series.

A series is fitted as a whole, but its rows may lie anywhere in a table that does not fit into
memory. One pass sends each row to the bucket that the digest of its label names. Buckets are plain
Parquet files; a worker reads the one it needs. By hand: pyarrow's partitioned writing would make a
folder of each, among which files of others could not be told from ours.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.atomic_files import plain, write_text
from robustfourier.errors import DataError
from robustfourier.many.item import digest
from robustfourier.samples.partitions import LABEL, Layout, Part
from robustfourier.samples.typed_tables import arrow
from robustfourier.untrusted_files import file_digest, read_json

BUCKETS = 64  # a table of a hundred million rows is then read in pieces of 1.6 million
_NAME = re.compile(r"[0-9]{3}\.parquet")
_RECORD = 1 << 28  # bytes of the record, and labels in it: ten million series of twenty characters
_LABELS = 10_000_000
_ROWS = 1 << 16  # held for a bucket before they are written: 64 buckets of them take 0.2 GB


@dataclass
class Buckets:
    """The buckets of a table."""

    #: file to the labels in it, in the order of their first rows, and to the digest of its bytes
    labels: dict[str, list[str]] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    unread: list[tuple[str, str]] = field(default_factory=list)  # parts not read, and why


def fill_buckets(
    parts: Sequence[Part], layout: Layout, folder: Path, source: str | None
) -> Buckets:
    """Sort all rows of a table into buckets in a folder.

    `source` is the digest of what the table is made from; if it is that of the buckets that are
    there, and they are whole, they are taken as they are.
    """
    record = folder / "buckets.json"
    if source is not None and (held := _held(record, source)) is not None:
        return held
    folder.mkdir(parents=True, exist_ok=True)
    record.unlink(missing_ok=True)
    for old in folder.glob("*.parquet"):
        old.unlink()
    filled = Buckets()
    with ExitStack() as stack:
        buckets = [_Bucket(folder / f"{i:03d}.parquet") for i in range(BUCKETS)]
        for bucket in buckets:
            stack.callback(bucket.close)
        for part in parts:
            try:
                for piece in part.pieces(layout):
                    _send(piece, buckets)
            except DataError as error:  # what came before the damage is kept
                filled.unread.append((part.name, str(error)))
    for bucket in (bucket for bucket in buckets if bucket.labels):
        filled.labels[bucket.path.name] = list(bucket.labels)
        filled.digests[bucket.path.name] = file_digest(bucket.path)[:32]
    content = plain({"source": source, **vars(filled)})
    write_text(record, json.dumps({**content, "seal": _seal(content)}, ensure_ascii=True))
    return filled


def _seal(content: dict[str, Any]) -> str:
    return digest(json.dumps(content, sort_keys=True))


def _held(record: Path, source: str) -> Buckets | None:
    """The buckets that are there, if they are those of a source and as they were written."""
    content = read_json(record, n_bytes=_RECORD, n_values=_LABELS)
    if content is None or content.get("source") != source:
        return None
    if content.pop("seal", None) != _seal(content):
        return None
    try:
        unread = [(str(name), str(why)) for name, why in content["unread"]]
        held = Buckets(content["labels"], content["digests"], unread)
        right = set(held.labels) == set(held.digests) and all(map(_NAME.fullmatch, held.labels))
        right &= all(isinstance(label, str) for each in held.labels.values() for label in each)
        at = record.parent
        if right and all(file_digest(at / n)[:32] == each for n, each in held.digests.items()):
            return held
    except (OSError, KeyError, TypeError, ValueError, AttributeError):  # not what we write
        return None
    return None


def _send(piece: pd.DataFrame, buckets: list[_Bucket]) -> None:
    if LABEL not in piece:
        piece = piece.assign(**{LABEL: ""})
    codes, names = pd.factorize(piece[LABEL].to_numpy(object))
    homes = [zlib.crc32(name.encode("utf-8", "replace")) % BUCKETS for name in names]
    place = np.array(homes, np.intp)[codes]
    for i in np.unique(place):
        buckets[i].add(piece[place == i])


class _Bucket:
    """A Parquet file to which rows are added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.labels: dict[str, None] = {}
        self.waiting: list[Any] = []
        self.rows = 0
        self.writer: Any = None

    def add(self, piece: pd.DataFrame) -> None:
        self.labels.update(dict.fromkeys(piece[LABEL]))
        self.waiting.append(piece)
        self.rows += len(piece)
        if self.rows >= _ROWS:
            self._write()

    def close(self) -> None:
        self._write()
        if self.writer is not None:
            self.writer.close()

    def _write(self) -> None:
        if not self.waiting:
            return
        pa = arrow()
        rows = pd.concat(self.waiting, ignore_index=True)
        table = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata()
        if self.writer is None:
            self.writer = pa.parquet.ParquetWriter(self.path, table.schema)
        self.writer.write_table(table.cast(self.writer.schema))
        self.waiting, self.rows = [], 0
