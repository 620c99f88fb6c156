"""Tables to series on one time base: wide ones, long ones, several value columns.

Rows are distinguished by time, group, subject and the number of the replicate. Values are kept by
series and made dense a few series at a time, so series may have times of their own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csc_array

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.errors import DataError
from robustfourier.samples import ReadOptions
from robustfourier.samples.partitions import LABEL, TAG, TIME, VALUE, Layout, parts_of, read_parts
from robustfourier.samples.text_tables import wide_table


class SparseMatrix:
    """Values by row of the time base and series; sliced by series it is dense, NaN where empty.

    Examples
    --------
    >>> matrix = SparseMatrix(np.array([0, 1]), np.array([1, 0]), np.array([5.0, 6.0]), (2, 2))
    >>> matrix[:, 0:2]
    array([[nan,  5.],
           [ 6., nan]])
    """

    def __init__(
        self, row: IndexArray, series: IndexArray, values: FloatArray, shape: tuple[int, int]
    ) -> None:
        self.shape, self.stored = shape, csc_array((values, (row, series)), shape)

    def __getitem__(self, at: tuple[slice, Any]) -> FloatArray:
        held = self.stored[:, at[1]].tocoo()
        found = np.full(held.shape, np.nan)
        found[held.coords] = held.data
        return found[at[0]]


@dataclass(frozen=True, eq=False)
class Table:
    """Series on one time base."""

    times: Any  # ndarray or DatetimeIndex of shape (n,)
    matrix: SparseMatrix  # of shape (n, m)
    names: list[str]  # of the series, in the order of the file
    groups: Any  # str of each row, or None
    subjects: Any
    unit: str  # of numeric times; empty if unknown
    source: str  # for messages
    notes: tuple[str, ...]  # how the table was read


def read_table(
    source: Any,
    *,
    by: str | None = None,
    group: str | None = None,
    subject: str | None = None,
    value: Sequence[str] | str | None = None,
    reading: dict[str, Any] | None = None,
) -> Table:
    """Read the series of a file or of a table in memory.

    A wide table (rows are series, columns are times) is recognised by its header. In a long table,
    `by`, `group` and `subject` are the columns that say which series, group and subject a row
    belongs to; each of the columns `value`, or "all", is a series of its own. `reading` is that of
    `read_samples`.
    """
    options = ReadOptions(**{k: v for k, v in (reading or {}).items() if k != "duplicates"})
    notes: tuple[str, ...] = ()
    wide = wide_table(source, options) if isinstance(source, (str, os.PathLike)) else None
    if wide is not None and by is None:
        by, value, notes = wide.labels[0], ["value"], (wide.words,)
        group = group or ("group" if any(wide.groups) else None)
    tags = {tag: name for tag, name in (("group", group), ("subject", subject)) if name is not None}
    parts = parts_of(source)
    layout = Layout.of(parts[0], options, value, by, list(tags.values()))
    whole = _frame(read_parts(parts, layout), layout, list(tags))
    names = pd.unique(whole["id"])  # of series without a value, too
    frame = whole[np.isfinite(whole["value"]) & whole["time"].notna()]
    if not len(frame):
        raise DataError(f"{parts[0].name}: no row has a time and a value; nothing to test")
    base, matrix = _indexed(frame, names, list(tags))
    times: Any = base["time"].to_numpy()
    dates = times.dtype.kind == "M"
    if layout.zone is not None:
        times = pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(layout.zone)
    return Table(
        times,
        matrix,
        [str(name) for name in names],
        base["group"].to_numpy() if "group" in tags else None,
        base["subject"].to_numpy() if "subject" in tags else None,
        options.unit or ("" if dates else layout.unit),
        parts[0].name,
        notes,
    )


def _frame(rows: pd.DataFrame, layout: Layout, tags: list[str]) -> pd.DataFrame:
    """One row for each time, series and value column."""
    marks = {tag: rows[f"{TAG}{i}"] for i, tag in enumerate(tags)}
    parts = []
    for j, name in enumerate(layout.values):
        named: Any = rows.get(LABEL, name)
        if LABEL in rows and len(layout.values) > 1:
            named = [f"{one}:{name}" for one in rows[LABEL]]
        series = {"time": rows[TIME], "id": named, **marks, "value": rows[f"{VALUE}{j}"]}
        parts.append(pd.DataFrame(series))
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def _indexed(frame: pd.DataFrame, names: Any, tags: list[str]) -> tuple[pd.DataFrame, SparseMatrix]:
    """Rows of the time base, and values by row and series."""
    keys = ["time", *tags]
    series = pd.Index(names).get_indexer(pd.Index(frame["id"]))
    copy = frame.assign(series=series).groupby(["series", *keys], sort=False).cumcount()
    grouped = frame.assign(copy=copy.to_numpy()).groupby([*keys, "copy"], sort=True)
    row = grouped.ngroup().to_numpy().astype(np.intp)
    base = grouped["value"].size().reset_index()
    shape = (len(base), len(names))
    values = frame["value"].to_numpy(np.float64)
    return base, SparseMatrix(row, series.astype(np.intp), values, shape)
