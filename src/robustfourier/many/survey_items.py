"""Items: the series of a survey, each with a name, where it lies, and what it must be fitted as.

An item is all that a worker needs to know, whatever machine it is on: the folder has to be one that
all of them see. Its key is a digest of name, data, parameters and version: a row with that key in a
shard is a series that is done.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import DataError, OutputError
from robustfourier.formatting import quoted
from robustfourier.samples import Samples, read_samples
from robustfourier.samples.partitions import ERROR, LABEL, VALUE, Layout
from robustfourier.samples.samples import clean
from robustfourier.samples.typed_tables import arrow
from robustfourier.untrusted_files import open_regular

_STEM = 60  # characters of a name in the name of a file: 120 bytes at most, where 255 are allowed


@dataclass(frozen=True)
class Item:
    """One series, or several that are fitted together."""

    id: str  # its name in all tables
    data: str  # digest of the file or bucket that holds it
    path: str  # that file or bucket
    values: tuple[str, ...] = ()  # value columns; empty where the reader finds the one meant
    label: str | None = None  # which rows of a bucket are meant; None for a file of its own


@dataclass(frozen=True)
class Task:
    """What is done with each item."""

    folder: str  # the survey's folder, as all workers see it
    parameters: dict[str, Any] = field(default_factory=dict)  # of `PeriodicMixture`
    reading: dict[str, Any] = field(default_factory=dict)  # of `read_samples`
    layout: Layout | None = None  # how the long table was read that the buckets hold
    seed: int = 0
    models: bool = False  # whether model files are written
    reports: str = "none"  # series with a page of their own: "all", "found" or "none"
    forecast: str | int | None = None  # how far each series is forecast; not at all if None

    def key(self, item: Item) -> str:
        """Digest of all that the result depends on."""
        from robustfourier import __version__

        what: list[Any] = [__version__, item.id, item.data, item.values]
        what += [self.parameters, self.reading, self.seed, self.models, self.reports, self.forecast]
        return digest(json.dumps(what, default=str))

    def random_state(self, item: Item) -> int:
        """Seed of a series: from its name, whoever fits it and when."""
        return int(digest(f"{self.seed}:{item.id}")[:15], 16)


@dataclass(frozen=True)
class Batch:
    """Items that one worker fits one after the other, and how often that was tried."""

    items: tuple[Item, ...]
    task: Task
    attempt: int = 0

    @property
    def name(self) -> str:
        """Name of its shard: a digest of all keys."""
        return digest("\n".join(sorted(self.task.key(item) for item in self.items)))

    def again(self) -> Batch:
        """The same batch, tried once more."""
        return replace(self, attempt=self.attempt + 1)

    def alone(self) -> list[Batch]:
        """One batch for each item."""
        return [Batch((item,), self.task) for item in self.items]


def files_of(name: str, key: str) -> dict[str, str]:
    """Files of a series within the folder, by the columns of the tables that name them.

    They are called by what can be read of its own name, and a mark that no other has.

    >>> files_of("../shop 7/größe", "0123456789abcdef")["model"]
    'models/shop_7_größe-01234567.rfm'
    """
    shown = re.sub(r"[^\w.-]+", "_", name).strip("._")[-_STEM:].lstrip("._-")
    stem = f"{shown}-{key[:8]}" if shown else key[:8]
    kinds = {"report": "reports/{}.html", "model": "models/{}.rfm", "picture": "forecasts/{}.png"}
    return {column: place.format(stem) for column, place in kinds.items()}


def digest(text: str | bytes) -> str:
    """Return the first 32 hexadecimal digits of SHA-256."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()[:32]


class ItemReader:
    """Samples of items, one record for each value column; it remembers the last bucket."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.bucket: tuple[str, dict[str, pd.DataFrame]] = ("", {})

    def __call__(self, item: Item) -> list[Samples]:
        """Read them."""
        if item.label is not None:
            frame = self._rows(item)
            return [self._samples(item, frame, name) for name in item.values]
        path = Path(item.path)
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe may never end
            raise DataError(f"{quoted(item.id)}: is no regular file; give files, or a table")
        reading = self.task.reading
        options = [{**reading, "value": value} for value in item.values] or [reading]
        found = [read_samples(item.path, **each) for each in options]
        if any((each.sha256 or "")[: len(item.data)] != item.data for each in found):
            raise DataError(
                f"{quoted(item.id)}: the file has changed since the survey began; run the same "
                "command again"
            )
        return found

    def _rows(self, item: Item) -> pd.DataFrame:
        if self.bucket[0] != item.path:
            with open_regular(item.path, follow=False) as file:
                content = file.read()
            if digest(content) != item.data:
                raise OutputError(
                    f"{Path(item.path).name!r}, which holds sorted rows, is damaged; run the same "
                    "command again"
                )
            pa = arrow()
            table = pa.parquet.ParquetFile(pa.BufferReader(content)).read()
            frame = table.to_pandas(ignore_metadata=True)
            self.bucket = item.path, dict(iter(frame.groupby(LABEL, sort=False)))
        if item.label not in self.bucket[1]:
            raise DataError(f"{quoted(item.id)}: its rows are gone from {item.path!r}")
        return self.bucket[1][item.label]

    def _samples(self, item: Item, frame: pd.DataFrame, name: str) -> Samples:
        layout = self.task.layout
        assert layout is not None
        options = layout.options
        samples = clean(
            layout.stamps(frame),
            frame[f"{VALUE}{layout.values.index(name)}"].to_numpy(np.float64),
            frame[ERROR].to_numpy(np.float64) if layout.error is not None else None,
            np.arange(1, len(frame) + 1),
            missing=options.missing,
            duplicates=options.duplicates or "mean",
            time_name=layout.time,
            value_name=name,
            error_name=layout.error,
            source=item.id,
        )
        return replace(samples, unit=options.unit or samples.unit)
