"""Tables to series on one time base: wide ones, long ones, several value columns.

Rows are told apart by time, group, subject and the number of the replicate. Values are kept by
series and made dense a few series at a time, so series may have times of their own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.errors import DataError
from robustfourier.samples import ReadOptions
from robustfourier.samples.partitions import Layout, Piece, parts_of
from robustfourier.samples.text_tables import wide_table

_TAGS = ("group", "subject")


class SparseMatrix:
    """Values by row of the time base and series; sliced by series it is dense, NaN where empty.

    Parameters
    ----------
    row, series : ndarray of int, shape (N,)
        Place of each value.
    values : ndarray of shape (N,)
    shape : (int, int)

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
        order = np.argsort(series, kind="stable")
        self.row, self.values, self.shape = row[order], values[order], shape
        self.starts = np.searchsorted(series[order], np.arange(shape[1] + 1))

    def __getitem__(self, at: tuple[slice, Any]) -> FloatArray:
        series = at[1]
        wanted = np.arange(self.shape[1])[series] if isinstance(series, slice) else series
        found = np.full((self.shape[0], len(wanted)), np.nan)
        for j, one in enumerate(wanted):
            own = slice(self.starts[one], self.starts[one + 1])
            found[self.row[own], j] = self.values[own]
        return found[at[0]]


@dataclass(frozen=True, eq=False)
class Table:
    """Series on one time base.

    Parameters
    ----------
    times : ndarray or DatetimeIndex, shape (n,)
    matrix : SparseMatrix of shape (n, m)
    names : list of str
        Of the series, in the order of the file.
    groups, subjects : ndarray of str, shape (n,), or None
    unit : str
        Of numeric times; empty if unknown.
    source : str
        For messages.
    notes : tuple of str
        How the table was read.
    """

    times: Any
    matrix: SparseMatrix
    names: list[str]
    groups: Any
    subjects: Any
    unit: str
    source: str
    notes: tuple[str, ...]


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

    Parameters
    ----------
    source : path or table
        A wide table (rows are series, columns are times) is recognised by its header.
    by, group, subject : str, optional
        Columns of a long table: which series, group and subject a row belongs to.
    value : sequence of str, "all" or None
        Value columns; each is a series of its own.
    reading : dict
        Of `read_samples`.
    """
    asked = ReadOptions(**{k: v for k, v in (reading or {}).items() if k != "duplicates"})
    notes: tuple[str, ...] = ()
    wide = wide_table(source, asked) if isinstance(source, (str, os.PathLike)) else None
    if wide is not None and by is None:
        by, value, notes = wide.labels[0], ["value"], (wide.words,)
        group = group or ("group" if any(wide.groups) else None)
    tags = [name for name in (group, subject) if name is not None]
    parts = parts_of(source)
    layout = Layout.of(parts[0], asked, value, by, tags)
    pieces = [piece for part in parts for piece in part.pieces(layout)]
    whole = _frame(pieces, layout, [t for t, n in zip(_TAGS, (group, subject), strict=True) if n])
    names = pd.unique(whole["id"])  # of series without a value, too
    frame = whole[np.isfinite(whole["value"]) & whole["time"].notna()]
    if not len(frame):
        raise DataError(f"{parts[0].name}: no row has a time and a value; nothing to test")
    base, matrix = _indexed(frame, names)
    times: Any = base["time"].to_numpy()
    dates = times.dtype.kind == "M"
    if layout.zone is not None:
        times = pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(layout.zone)
    return Table(
        times,
        matrix,
        [str(name) for name in names],
        base["group"].to_numpy() if "group" in base else None,
        base["subject"].to_numpy() if "subject" in base else None,
        asked.unit or ("" if dates else layout.unit),
        parts[0].name,
        notes,
    )


def _frame(pieces: list[Piece], layout: Layout, tags: list[str]) -> pd.DataFrame:
    """One row for each time, series and value column."""
    times = np.concatenate([piece.times for piece in pieces])
    values = np.concatenate([piece.values for piece in pieces])
    labels = [piece.labels for piece in pieces if piece.labels is not None]
    label = np.concatenate(labels) if labels else None
    marks = {t: np.concatenate([p.tags[i] for p in pieces]) for i, t in enumerate(tags)}
    parts = []
    for j, name in enumerate(layout.values):
        alone = label if len(layout.values) == 1 else None
        named = name if label is None else [f"{one}:{name}" for one in label]
        id_ = named if alone is None else alone
        parts.append(pd.DataFrame({"time": times, "id": id_, **marks, "value": values[:, j]}))
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]


def _indexed(frame: pd.DataFrame, names: Any) -> tuple[pd.DataFrame, SparseMatrix]:
    """Rows of the time base, and values by row and series."""
    keys = [name for name in ("time", *_TAGS) if name in frame]
    series = pd.Index(names).get_indexer(pd.Index(frame["id"]))
    copy = frame.assign(series=series).groupby(["series", *keys], sort=False).cumcount()
    grouped = frame.assign(copy=copy.to_numpy()).groupby([*keys, "copy"], sort=True)
    row = grouped.ngroup().to_numpy().astype(np.intp)
    base = grouped["value"].size().reset_index()
    shape = (len(base), len(names))
    values = frame["value"].to_numpy(np.float64)
    return base, SparseMatrix(row, series.astype(np.intp), values, shape)
