"""`Samples`: times, values and, where known, errors, with a record of how they were read.

What everything else in the package takes as data from a file. Times are plain numbers or dates
(as datetime64 in UTC); nothing is scaled here. `notes` says in words what was assumed, `counts`
how many rows were left out and why.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.errors import DataError, InputError
from robustfourier.formatting import quoted
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.time_columns import Times, stamps_of
from robustfourier.weighted_rows import rounding_step


@dataclass(frozen=True)
class Counts:
    """What became of the rows of a table.

    Parameters
    ----------
    rows : int
        Rows of data in the table.
    used : int
        Samples that are left.
    missing : int
        Rows left out because the time, the value or its error is missing or not finite.
    duplicates : int
        Rows whose time occurred before.
    out_of_order : int
        Rows that came before an earlier time and were moved.
    """

    rows: int
    used: int
    missing: int = 0
    duplicates: int = 0
    out_of_order: int = 0

    def words(self) -> list[str]:
        """What was done about rows, a sentence for each kind; none for a clean table.

        Examples
        --------
        >>> Counts(rows=2000, used=1999, missing=1).words()
        ['1 of 2,000 rows lacks a value: left out']
        """
        kinds = (
            (self.missing, "lacks", "lack", "a value: left out"),
            (self.duplicates, "repeats", "repeat", "a time (see --duplicates)"),
            (self.out_of_order, "is", "are", "out of order: sorted"),
        )
        rows = f"of {self.rows:,} rows"
        return [f"{n:,} {rows} {one if n == 1 else many} {end}" for n, one, many, end in kinds if n]


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one quantity, sorted by time.

    Parameters
    ----------
    times : ndarray of shape (n,)
        float64 or int64 numbers, or datetime64 (UTC if `timezone` is set).
    values : ndarray of shape (n,)
        float64, finite.
    errors : ndarray of shape (n,) or None
        Standard errors of the values, positive.
    counts : Counts
        Rows read and left out.
    time_name, value_name, error_name : str
        Names of the columns as the file has them.
    value_unit : str
        Unit of the values, as the file writes it; empty if it does not.
    unit : str
        Unit of the times: "day" for dates and Julian dates, what the column's name says for
        other numbers, empty if unknown.
    timezone : str or None
        Time zone of the dates, None for a clock without one.
    source : str
        The file's name.
    sha256 : str or None
        Digest of the file's bytes.
    notes : tuple of str
        What was assumed while reading, in words.

    Examples
    --------
    >>> from robustfourier.samples import from_arrays
    >>> samples = from_arrays([2.0, 1.0, 3.0], [5.0, 4.0, float("nan")])
    >>> samples.times, samples.counts.missing, samples.counts.out_of_order
    (array([1., 2.]), 1, 1)
    """

    times: NDArray[Any]
    values: FloatArray
    errors: FloatArray | None
    counts: Counts
    time_name: str = "time"
    value_name: str = "value"
    error_name: str | None = None
    unit: str = ""
    timezone: str | None = None
    source: str = ""
    sha256: str | None = None
    notes: tuple[str, ...] = field(default=())
    value_unit: str = ""

    @property
    def dates(self) -> bool:
        """Whether the times are dates."""
        return self.times.dtype.kind == "M"

    @property
    def axis(self) -> Any:
        """The times as an estimator takes them: an array, or a DatetimeIndex with its zone."""
        if self.timezone is None:
            return self.times
        return pd.DatetimeIndex(self.times).tz_localize("UTC").tz_convert(self.timezone)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return (
            f"<Samples: {len(self)} of {self.counts.rows} rows, {self.value_name!r} "
            f"against {self.time_name!r}>"
        )


# Marks of missing values, numbers such as -999.9, 99.999 or 1e20, are known by what they do, not by
# a list: one value, repeated exactly, farther from all others than these are from one another. Zero
# is never a mark: no rain, no demand and a machine that is off are measurements.
_MOST = 0.5  # of the values: what is there more often than not is the signal
_LEVELS = 10  # different values of the rest: with fewer, values are states or small counts
_CHANCE = 0.01  # that measurements as far away would all be equal
_ENDS = 2  # marks at either end of the values


def clean(
    times: Times,
    values: FloatArray,
    errors: FloatArray | None,
    lines: NDArray[Any],
    *,
    missing: str = "drop",
    duplicates: str = "mean",
    marks: bool = True,
    **record: Any,
) -> Samples:
    """Turn columns as read, NaN where missing, into sorted samples without gaps in them.

    `missing` and `duplicates` are rules of `ReadOptions`; `lines` holds the line
    number of each row, for errors; `marks` says whether values that are marks of missing ones are
    looked for; `record` holds further fields of `Samples`.
    """
    source = record.get("source", "") or "data"
    notes = [*record.get("notes", ()), *times.notes]
    if marks:
        values, errors = (_without_marks(column, notes) for column in (values, errors))
    stamps = times.values
    timed = ~np.isnat(stamps) if stamps.dtype.kind == "M" else np.isfinite(stamps)
    good = timed & np.isfinite(values)
    if errors is not None:
        good &= np.isfinite(errors)
        _check_errors(errors, lines, source, record.get("error_name"))
    n_missing = int((~good).sum())
    if n_missing and missing == "error":
        raise DataError(
            f"{source}, line {lines[np.argmin(good)]}: a value is missing (in {n_missing} rows in "
            "all); fill it in or say --missing drop"
        )
    if n_missing == len(good):
        raise DataError(
            f"{source}: none of the {len(good):,} rows has both a time and a value; "
            "check the columns with --time and --value"
        )
    columns = (stamps, values, errors, lines)
    if n_missing:  # long records without gaps are not copied
        columns = _rows(columns, good)
    out_of_order = int((columns[0][1:] < columns[0][:-1]).sum())
    if out_of_order:
        columns = _rows(columns, np.argsort(columns[0], kind="stable"))
    stamps, values, errors, lines = columns
    repeated = np.concatenate([[False], stamps[1:] == stamps[:-1]])
    n_repeated = int(repeated.sum())
    if n_repeated:
        at = int(np.argmax(repeated))
        if duplicates == "error":
            raise DataError(
                f"{source}, line {lines[at]}: time {stamps[at]} occurs again ({n_repeated} rows "
                "repeat a time); remove it or choose --duplicates mean, first, last or keep"
            )
        stamps, values, errors = _merged(stamps, values, errors, repeated, duplicates)
    return Samples(
        times=stamps,
        values=values,
        errors=errors,
        counts=Counts(len(good), len(values), n_missing, n_repeated, out_of_order),
        unit=times.unit,
        timezone=times.timezone,
        **{**record, "notes": tuple(notes)},
    )


def from_arrays(
    times: ArrayLike,
    values: ArrayLike,
    errors: ArrayLike | None = None,
    *,
    missing: str = "drop",
    duplicates: str = "mean",
    marks: bool = True,
    unit: str = "",
    **record: Any,
) -> Samples:
    """Samples from arrays or columns of pandas or polars.

    Parameters
    ----------
    times : array-like of shape (n,)
        Numbers or dates; dates with a zone keep it.
    values, errors : array-like of shape (n,)
        Numbers; NaN where missing.
    missing, duplicates, marks
        As in `clean`.
    unit : str
        Unit of numeric times.
    **record
        Further fields of `Samples`, such as ``value_name``.
    """
    ReadOptions(missing=missing, duplicates=duplicates)  # checks them
    stamps, zone = stamps_of(times)
    numbers = numbers_of(values, "values", stamps.shape)
    spread = None if errors is None else numbers_of(errors, "errors", stamps.shape)
    read = Times(stamps, "day" if stamps.dtype.kind == "M" else unit, zone, ())
    rows = np.arange(1, len(stamps) + 1)
    rules: dict[str, Any] = {"missing": missing, "duplicates": duplicates, "marks": marks}
    return clean(read, numbers, spread, rows, **rules, **record)


def _without_marks(column: Any, notes: list[str]) -> Any:
    """Return a column, if there is one, with NaN for its marks of missing values; notes them."""
    found = marks_of(column) if column is not None else ()
    for mark in found:
        times = int(np.count_nonzero(column == mark))
        notes.append(
            f"{mark:.7g} occurs {times} times, far from all other values: taken for a mark of "
            "missing values and left out"
        )
    return np.where(np.isin(column, found), np.nan, column) if len(found) else column


def marks_of(values: FloatArray) -> FloatArray:
    """Return the values that are marks of missing ones, ascending; mostly none.

    k measurements that scatter as the others do, over a range of L steps of rounding, are all equal
    with a probability of 1/L^(k-1) or so. This asks for at least two repetitions of numbers that
    are hardly rounded, and for more where they are rounded to few steps.

    >>> magnitudes = np.r_[15.0 + np.random.default_rng(0).normal(0, 0.3, 50), 99.999, 99.999]
    >>> marks_of(magnitudes)
    array([99.999])
    >>> marks_of(np.r_[np.zeros(9), 20.0 + np.arange(30.0)])  # days without demand
    array([], dtype=float64)
    """
    distinct, count = np.unique(values[np.isfinite(values)], return_counts=True)
    ends, total = range(_ENDS + 1), int(count.sum())
    for peeled in range(2 * _ENDS, 0, -1):
        for low in ends:
            high = len(distinct) - (peeled - low)
            if 0 <= peeled - low <= _ENDS and high - low >= _LEVELS:
                marks = np.r_[distinct[:low], distinct[high:]]
                if _are_marks(marks, np.r_[count[:low], count[high:]], distinct[low:high], total):
                    return marks
    return np.zeros(0)


def _are_marks(marks: FloatArray, times: FloatArray, rest: FloatArray, total: int) -> bool:
    """Whether some values are marks, beside the others."""
    spread = float(rest[-1] - rest[0])
    away = np.minimum(np.abs(marks - rest[0]), np.abs(marks - rest[-1]))
    if times.min() < 2 or times.sum() > _MOST * total or np.any(marks == 0):
        return False
    if np.any(away <= spread):
        return False
    step = rounding_step(rest)
    levels = spread / step if step > 0 else np.inf
    return bool(np.all(levels ** (1.0 - times) <= _CHANCE))


def numbers_of(column: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    """A column as float64, NaN where it is missing or not finite."""
    try:
        if isinstance(column, pd.Series):
            numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            numbers = np.asarray(column, dtype=np.float64)
    except (ValueError, TypeError):
        raise DataError(f"{name}: not all are numbers; choose another column") from None
    if numbers.shape != shape:
        raise InputError(f"{name} has shape {numbers.shape}; the times ask for {shape}")
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _check_errors(errors: FloatArray, lines: NDArray[Any], source: str, name: str | None) -> None:
    wrong = errors <= 0
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"{source}, line {lines[i]}, column {quoted(name or 'error')}: the error "
            f"{errors[i]:g} must be positive; correct it, or choose another column with --error"
        )


def _rows(columns: tuple[Any, ...], kept: Any) -> tuple[Any, ...]:
    """Some rows of columns, of which one may be missing."""
    return tuple(None if column is None else column[kept] for column in columns)


def _merged(
    stamps: NDArray[Any],
    values: FloatArray,
    errors: FloatArray | None,
    repeated: BoolArray,
    rule: str,
) -> tuple[NDArray[Any], FloatArray, FloatArray | None]:
    """One sample per time, by the given rule."""
    if rule == "keep":
        return stamps, values, errors
    first = np.flatnonzero(~repeated)
    if rule == "mean":
        weights = np.ones_like(values) if errors is None else errors**-2.0
        total = np.add.reduceat(weights, first)
        # Means of differences to the first value of each group: equal values stay what they are.
        group = np.cumsum(~repeated) - 1
        shift = np.add.reduceat(weights * (values - values[first][group]), first) / total
        return stamps[first], values[first] + shift, None if errors is None else total**-0.5
    keep = first if rule == "first" else np.append(first[1:], len(values)) - 1
    return stamps[keep], values[keep], None if errors is None else errors[keep]
