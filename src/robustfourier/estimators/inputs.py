"""What people hand to `fit`: tables and arrays of many libraries, as times, values and errors.

Columns are chosen by name as in files, units are taken off and remembered, and rows that lack
something are left out with a note.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import BoolArray
from robustfourier.errors import DataError, InputError
from robustfourier.estimators.validation import has_rows, selected_rows, without_masked_rows
from robustfourier.quantities import is_quantity, plain_times, plain_values, unit_text
from robustfourier.samples import Samples
from robustfourier.samples.column_choice import Choice, is_error, speaks_of_time

#: What tables of other libraries are known by.
_TABLES = ("colnames", "data_vars", "dims", "lazy", "schema", "fetchall", "__arrow_c_stream__")


@dataclass(frozen=True, eq=False)
class Given:
    """Data of a fit, of plain numbers and dates."""

    times: Any  # of as many rows each
    values: Any
    errors: Any
    weights: Any
    unit: str  # unit of the times, and what instants are counted on; empty if unknown
    clock: str
    value_unit: str  # unit of the values, as their library writes it
    value_name: str  # name of the values; empty if they have none
    notes: tuple[str, ...]  # what was left out


def given_data(X: Any, y: Any, sample_weight: Any, y_err: Any, unit: str | None) -> Given:
    """Take apart what was handed to `fit`, whose parameters these are."""
    apart = y is not None
    _refuse_other_things(X, apart)
    if isinstance(X, Samples) and not apart:
        unit = unit or X.unit or None
    if not apart:
        X, y, own_errors = taken_apart(X)
        y_err = own_errors if y_err is None else y_err
    plain = plain_times(X, unit)
    value_unit, name = unit_text(y), getattr(y, "name", None)
    errors = plain_values(y_err, value_unit if is_quantity(y) and is_quantity(y_err) else "")
    rows = without_masked_rows(plain.values, plain_values(y), sample_weight, errors)
    (times, values, weights, errors), notes = without_missing_rows(*rows, strict=apart)
    called = name if isinstance(name, str) else value_unit if value_unit == "mag" else ""
    of_times = (plain.unit or unit or "", plain.clock)
    return Given(times, values, errors, weights, *of_times, value_unit, called, notes)


def _refuse_other_things(X: Any, apart: bool) -> None:
    """Refuse what holds no times, by its name."""
    if isinstance(X, str | bytes | os.PathLike):
        name = os.fsdecode(X)
        raise InputError(
            f"X is the text {name!r}; if it is a file, give "
            f"fit(robustfourier.read_samples({name!r}))"
        )
    known = ("__len__", "__array__", "shape", *_TABLES)
    if not any(hasattr(X, each) for each in known) or (apart and _is_columns(X)):
        raise InputError(
            f"X is a {type(X).__name__}, which holds no times; give a list, an array or a table"
        )


def _is_columns(X: Any) -> bool:
    """Whether this is a dict of columns; some sparse matrices are dicts, too."""
    return isinstance(X, dict) and not hasattr(X, "shape")


def taken_apart(X: Any) -> tuple[Any, Any, Any]:
    """Times, values and errors of what holds all of them."""
    if isinstance(X, Samples):
        return X.axis, pd.Series(X.values, name=X.value_name), X.errors
    if _is_columns(X):
        try:
            return _by_name(pd.DataFrame(X))
        except ValueError as error:
            names = ", ".join(map(repr, X))
            raise InputError(f"X holds {names}, which are no table ({error})") from None
    if isinstance(X, pd.DataFrame):
        return _by_name(X)
    if isinstance(X, pd.Series):
        return X.index, X, None
    if type(X).__module__.startswith("polars") and hasattr(X, "to_frame"):
        raise InputError(
            "y is None and X is a polars Series, which has no index that could be the time; give "
            "fit(frame['time'], frame['value']), or a table of both columns"
        )
    table = None
    if not isinstance(X, (pd.Index, np.ndarray)) and any(hasattr(X, name) for name in _TABLES):
        from robustfourier.samples.library_tables import frame_of

        table = frame_of(X)
    if table is None:
        return X, None, None
    if not hasattr(X, "colnames") and not hasattr(X, "dims"):
        return _by_name(table.frame)
    return _chosen(X, table)


def _by_name(X: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Of a table: an index of times, or the column that speaks of time, or the first one.

    The one column that is named like an error is the error; of several such columns none is, and
    none is a value.
    """
    dated = isinstance(X.index, pd.DatetimeIndex | pd.PeriodIndex | pd.TimedeltaIndex)
    names = [str(name) for name in X.columns]
    if len(names) < 2 and not dated:
        return X, None, None
    spoken = [i for i, name in enumerate(names) if speaks_of_time(name)]
    at = None if dated else spoken[0] if len(spoken) == 1 else 0
    others = [i for i in range(len(names)) if i != at]
    errors = [i for i in others if is_error(names[i])]
    values = [i for i in others if i not in errors]
    if not values:
        values, errors = others, []
    for i in values:
        if any(isinstance(cell, str) for cell in X.iloc[:50, i]):
            raise InputError(
                f"X has the column {names[i]!r} of text; if it tells series apart, choose one of "
                f"them, or fit all with fit_many(X, by={names[i]!r}, out=…); else leave it out"
            )
    times = X.index if at is None else X.iloc[:, at]
    y = X.iloc[:, values[0]] if len(values) == 1 else X.iloc[:, values]
    return times, y, X.iloc[:, errors[0]] if len(errors) == 1 else None


def _chosen(X: Any, table: Any) -> tuple[Any, Any, Any]:
    """Columns of a table of astropy or xarray that are meant, with their units."""
    from robustfourier.samples.read_options import ReadOptions
    from robustfourier.samples.typed_tables import TypedTable

    try:
        choice = TypedTable.of(table, "X", ReadOptions()).choose(ReadOptions())
    except DataError as error:
        reason = str(error).split("; choose")[0]
        raise InputError(f"{reason}; give fit(X['time'], X['value'], y_err=X['error'])") from None
    names = [str(name) for name in table.frame.columns]
    if hasattr(X, "colnames"):
        return _columns(X, names, choice)
    frame = table.frame
    if len(set(frame.iloc[:, choice.time])) < len(frame) and table.labels:
        raise InputError(
            f"X holds several series, distinguished by {', '.join(table.labels)}; choose one with "
            "X.sel(…) or X.isel(…), or fit all with robustfourier.fit_cells(X[name])"
        )
    data = X if hasattr(X, "data_vars") else X.to_dataset(name=names[choice.value or 0])
    return _columns(data, names, choice)


def _columns(table: Any, names: list[str], choice: Choice) -> tuple[Any, Any, Any]:
    time, value, error = (
        None if i is None else table[names[i]] for i in (choice.time, choice.value, choice.error)
    )
    return time, value, error


def without_missing_rows(
    times: Any, values: Any, weights: Any, errors: Any, *, strict: bool = False
) -> tuple[tuple[Any, Any, Any, Any], tuple[str, ...]]:
    """Leave out rows whose time, value or error is missing, with a note.

    Infinite numbers are not missing, and are refused later; so are times that are NaN if `strict`,
    as scikit-learn asks.

    >>> rows, notes = without_missing_rows(np.arange(3.0), np.array([1.0, np.nan, 2.0]), None, None)
    >>> rows[0], notes
    (array([0., 2.]), ('1 of 3 rows lacks a time, value or error: left out',))
    """
    given = (times, values, weights, errors)
    masks = [_missing(times, strict), _missing(values), _missing(errors)]
    found = [mask for mask in masks if mask is not None]
    same = len({len(mask) for mask in found}) == 1
    if not same or not any(mask.any() for mask in found):
        return given, ()
    bad = np.any(found, axis=0)
    if bad.all():
        raise InputError(
            f"y contains NaN, or X or y_err do: none of the {len(bad)} rows has a time and a value"
        )
    kept = np.flatnonzero(~bad)
    count = int(bad.sum())
    lacks = "lacks" if count == 1 else "lack"
    note = f"{count:,} of {len(bad):,} rows {lacks} a time, value or error: left out"
    return tuple(kept_rows(each, kept, len(bad)) for each in given), (note,)


def _missing(given: Any, dates_alone: bool = False) -> BoolArray | None:
    """Which rows hold something missing; None for what has no rows."""
    if given is None or hasattr(given, "levels"):  # several levels are refused later
        return None
    try:
        array = given.to_numpy() if hasattr(given, "to_numpy") else np.asarray(given)
    except Exception:  # whatever it is, the checks of the estimator refuse it by name
        return None
    if array.ndim == 0 or array.dtype.kind == "V" or (dates_alone and array.dtype.kind in "iuf"):
        return None
    # Numbers do without pandas, which takes long to load.
    missing = np.asarray(np.isnan(array) if array.dtype.kind in "iuf" else pd.isna(array))
    return np.asarray(missing.reshape(len(missing), -1).any(axis=1)) if missing.size else None


def kept_rows(given: Any, kept: Any, count: int) -> Any:
    """Return some rows of what has so many of them; what has not stays as it is."""
    return selected_rows(given, kept) if has_rows(given) and len(given) == count else given
