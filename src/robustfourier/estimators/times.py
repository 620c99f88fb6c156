"""Times as people hold them: an index of a Series, dates as text, periods such as "7D"."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain, timezone_of, to_array
from robustfourier.errors import DataError, InputError
from robustfourier.fit_config import duration


def as_table(X: Any) -> Any:
    """Return one column of times as a table of one column; anything else as it is."""
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OSU":  # numbers or dates
        return X.reshape(-1, 1) if X.ndim == 1 else X
    if isinstance(X, pd.MultiIndex):
        raise InputError(f"X has an index of {X.nlevels} levels; choose one series of one level")
    if isinstance(X, pd.Index):
        X = X.to_series()
    if isinstance(X, (list, tuple)) and len(X) and not np.ndim(X[0]):
        X = np.asarray(X)
    if is_flat(X) and _is_text(X):
        X = _dates_from_text(X)
    if isinstance(X, pd.Series):
        return X.to_frame()
    if hasattr(X, "to_frame") and not hasattr(X, "columns"):  # a polars series
        return X.to_frame()
    return X.reshape(-1, 1) if isinstance(X, np.ndarray) and X.ndim == 1 else X


def first_column(X: Any) -> Any:
    """Return one column of times, of whatever `as_table` takes."""
    table = as_table(X)
    return table.iloc[:, 0] if hasattr(table, "iloc") else np.asarray(table)[:, 0]


def is_flat(X: Any) -> bool:
    """Whether X is one column without a name that matters: no table, and not two-dimensional."""
    return not hasattr(X, "columns") and np.asarray(X).ndim < 2


def time_index(column: Any) -> pd.Index[Any]:
    """Return a column of times as an index, dates with their zone."""
    index, zone = pd.Index(to_array(column), name="time"), timezone_of(column)
    if zone is None or not isinstance(index, pd.DatetimeIndex):
        return index
    return index.tz_localize("UTC").tz_convert(zone)


def known_periods(periods: Any, domain: Domain) -> FloatArray:
    """Return periods in the domain's unit: numbers, text such as "7D", or durations.

    >>> known_periods(["12h", timedelta(days=7), 30.0], Domain(0.0, 100.0, "day"))
    array([ 0.5,  7. , 30. ])
    """
    if periods is None:
        return np.zeros(0)
    single = isinstance(periods, str | timedelta | np.timedelta64) or np.ndim(periods) == 0
    given = [periods] if single else list(periods)
    try:
        return np.array([_length(period, domain.unit) for period in given], np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"periods={periods!r} must all be positive finite numbers") from None


def _length(period: Any, unit: str) -> float:
    if isinstance(period, timedelta | np.timedelta64):
        period = f"{pd.Timedelta(period).total_seconds()!r} s"
    return duration(period, unit, "periods") if isinstance(period, str) else float(period)


def _is_text(X: Any) -> bool:
    dtype = getattr(X, "dtype", None)
    if dtype is None or str(dtype).lower() in ("str", "string") or np.asarray(X).dtype.kind == "U":
        return dtype is not None
    if str(dtype) != "object":
        return False
    cells = np.asarray(X, dtype=object)
    return len(cells) > 0 and all(isinstance(cell, str) for cell in cells)


def _dates_from_text(X: Any) -> Any:
    """Read dates as files are read; text of numbers stays what it is."""
    from robustfourier.samples.column_choice import Choice
    from robustfourier.samples.daylight_saving import on_clock
    from robustfourier.samples.time_columns import TimeReader

    cells = [str(cell) for cell in X]
    try:
        reader = TimeReader(Choice(0, None, None), column="X", source="times")
        reader.add_block(pd.DataFrame({0: cells}))
        if reader.numeric:
            return X
        times = on_clock(reader.times(), None)
    except DataError as error:
        reason = str(error).split("; ")[0].removeprefix("times, column 'X': ")
        raise InputError(
            f"X is text that is not read as dates ({reason}); give pandas.to_datetime(X, format=…)"
        ) from None
    if times.timezone is None:
        return times.values
    return pd.Series(pd.DatetimeIndex(times.values).tz_localize("UTC").tz_convert(times.timezone))
