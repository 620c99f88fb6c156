"""What a user hands to `fit` and `predict`, checked and brought into columns of times.

scikit-learn would turn dates silently into floats of whatever unit the column has; here each
column goes to `Domain` as it is. Errors name the argument, the value and the remedy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.domain import Domain
from robustfourier.errors import InputError, InputKindError
from robustfourier.weighted_rows import canonical_rows, effective_rows, limited_weights

_LARGEST = 1e305  # of y: a thousand such values can still be added


def without_masked_rows(*arrays: Any) -> tuple[Any, ...]:
    """Return what belongs to the rows of a fit without the rows that numpy masks in any of it.

    >>> y = np.ma.array([1.0, 999.0, 3.0], mask=[False, True, False])
    >>> [a.tolist() for a in without_masked_rows(np.arange(3), y)]
    [[0, 2], [1.0, 3.0]]
    """
    masked = [a for a in arrays if isinstance(a, np.ma.MaskedArray) and a.ndim]
    bare = [np.ma.getdata(a) if isinstance(a, np.ma.MaskedArray) else a for a in arrays]
    with_rows = [has_rows(a) for a in bare]
    lengths = {len(a) for a, has in zip(bare, with_rows, strict=True) if has}
    if not masked or len(lengths) > 1:  # different lengths are complained about later
        return tuple(bare)
    hidden = [np.ma.getmaskarray(a).reshape(len(a), -1).any(axis=1) for a in masked]
    kept = np.flatnonzero(~np.any(hidden, axis=0))
    return tuple(
        selected_rows(a, kept) if has else a for a, has in zip(bare, with_rows, strict=True)
    )


def has_rows(values: Any) -> bool:
    """Whether something has rows; what is no array and cannot be made one is refused."""
    known = isinstance(values, (np.ndarray, list, tuple, str)) or hasattr(values, "dtype")
    if values is not None and not known and not hasattr(values, "columns"):
        try:
            np.asarray(values)
        except Exception as error:  # whatever an object of another does when it is asked
            raise InputKindError(
                f"a {type(values).__name__} cannot be read as an array "
                f"({type(error).__name__}: {error}); give numbers or dates"
            ) from None
    try:
        return hasattr(values, "__getitem__") and not isinstance(values, str) and len(values) >= 0
    except TypeError:  # an array without dimensions, or a sparse one
        return False


def time_columns(X: Any, estimator: BaseEstimator) -> list[Any]:
    """Return the columns of X, numbers or dates, each as it is; X has the shape (n, d)."""
    if np.ma.is_masked(X):
        row = int(np.argwhere(np.ma.getmaskarray(X))[0][0])
        raise InputError(f"X is masked in row {row}; leave out the masked rows first")
    frame = _frame_columns(X)
    if frame is not None and any(_is_date(column) for column in frame):
        return frame
    if frame is None and _is_date(X):
        array = np.asarray(X)
        if array.ndim != 2:
            raise InputError(
                f"X has shape {array.shape}; give a 2D array of shape (n_samples, n_columns). "
                "Reshape your data with X.reshape(-1, 1) if it is one column of times"
            )
        return list(array.T)
    array = _check_array("X", X, estimator)
    _require_finite("X", array)
    return list(array.T)


def span_columns(
    columns: Sequence[Any], kept: BoolArray, period: Any, endpoint: Any, unit: str | None = None
) -> list[Domain]:
    """Return the domain of each column, spanned by the rows that count (`kept`).

    `period` holds known lengths of the domains, one for all columns or one for each.
    """
    if kept.sum() < 2:
        raise InputError(
            f"X has {len(kept)} sample(s) of which {kept.sum()} count (n_samples={kept.sum()}); "
            "at least two samples at different times are needed"
        )
    given = isinstance(period, list | tuple | np.ndarray)
    periods = list(period) if given else [period] * len(columns)
    if len(periods) != len(columns):
        raise InputError(
            f"period has {len(periods)} entries but X has {len(columns)} columns; give one number, "
            "or one for each column"
        )
    rows = np.flatnonzero(kept)
    return [
        Domain.from_times(selected_rows(column, rows), period=length, endpoint=endpoint, unit=unit)
        for column, length in zip(columns, periods, strict=True)
    ]


def theta_columns(columns: Sequence[Any], domains: Sequence[Domain]) -> FloatArray:
    """Return θ of all columns, shape (n, d)."""
    pairs = zip(columns, domains, strict=True)
    return np.column_stack([domain.to_theta(column) for column, domain in pairs])


def check_targets(y: Any, n_rows: int, estimator: BaseEstimator) -> FloatArray:
    """Return y as float64, shape (n,) or (n, q), or raise."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; "
            "give fit(times, values), or a table with a column of times and one of values"
        )
    array = _check_array("y", y, estimator, ensure_2d=False, allow_nd=True)
    if array.ndim > 2:
        raise InputError(f"y has shape {array.shape}; give (n_samples,) or (n_samples, n_outputs)")
    if len(array) != n_rows:
        raise InputError(
            f"y has {len(array)} rows but X has {n_rows}: inconsistent numbers of samples; give "
            "one y for each row of X"
        )
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputKindError(f"y cannot be used, give numbers: {error}") from None
    _require_finite("y", array)
    largest = float(np.max(np.abs(array), initial=0.0))
    if largest > _LARGEST:
        raise InputError(
            f"y reaches {largest:.3g} in size; above {_LARGEST:g} sums of values overflow, "
            "so divide y by a constant"
        )
    return array


def constant_outputs(
    y: Any, values: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray | None, tuple[str, ...]]:
    """Return the outputs that change, shape (n, q), the values of the others, and notes.

    A constant has no noise, and beside one that has none no other output would count. The values
    are NaN for the outputs that change, and None if all do. If all are constant, all are returned.
    The columns of y, as it was given, may have names.
    """
    columns = values.reshape(len(values), -1)
    rows = columns[weights > 0]
    still = np.all(rows == rows[:1], axis=0)
    if not still.any() or still.all():
        return columns, None, ()
    names = list(getattr(y, "columns", range(1, len(still) + 1)))
    left = ", ".join(f"{names[i]} (always {rows[0, i]:g})" for i in np.flatnonzero(still))
    note = f"constant outputs are left out of the fit: {left}"
    return columns[:, ~still], np.where(still, rows[0], np.nan), (note,)


def every_output(constant: FloatArray | None, values: Any, fill: Any) -> FloatArray:
    """Return values of shape (…, q) from those of the outputs that vary, shape (…, p).

    `constant` of shape (q,) is NaN for these; the others get `fill`, or their own values if it is
    None.
    """
    if constant is None:
        return np.asarray(values)
    whole = np.empty((*np.shape(values)[:-1], len(constant)))
    whole[...] = constant if fill is None else fill
    whole[..., np.isnan(constant)] = values
    return whole


def check_row_weights(sample_weight: Any, n_rows: int) -> FloatArray:
    """Return the row weights, shape (n,): ones if None, one number for all if scalar."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        given = np.asarray(sample_weight)
        if np.iscomplexobj(given):
            raise TypeError
        weight = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"sample_weight={sample_weight!r:.60} must be numbers, one for each row of X"
        ) from None
    weight = np.full(n_rows, float(weight)) if weight.ndim == 0 else weight
    if weight.ndim != 1:
        raise InputError(f"sample_weight has shape {weight.shape}; sample weights must be 1D")
    if weight.shape != (n_rows,):
        raise InputError(
            f"sample_weight has shape {weight.shape}, expected ({n_rows},): one for each row of X"
        )
    _require_finite("sample_weight", weight)
    if (weight < 0).any():
        raise InputError(
            f"sample_weight has the negative value {weight.min()}; weights must be 0 or positive"
        )
    if not weight.any():
        raise InputError("sample_weight is zero for every row; at least two rows must count")
    return weight


def counted_rows(
    theta: FloatArray, y: FloatArray, weights: FloatArray, precision: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
    """Return canonical rows, weights whose sum is the number of rows they are worth, and notes.

    Only ratios of weights matter. Noise is averaged by `effective_rows` rows, so that many they
    count for. A precision (`error_precision`) says that the noise of its row is smaller, and
    changes no count. Where a few rows dominate, their weights are lowered and the count is that of
    the lowered weights.
    """
    weights = weights / weights.max()
    rows = canonical_rows(theta, y, weights)
    limited, lowered = limited_weights(rows[2])
    count = effective_rows(limited)
    if precision is not None:
        rows = canonical_rows(theta, y, weights * precision)
        limited, lowered = limited_weights(rows[2])
        count = min(count, effective_rows(limited)) if lowered else count
    notes: tuple[str, ...] = ()
    if lowered:
        part = rows[2][rows[2] > limited].sum() / rows[2].sum()
        notes = (
            f"{lowered} of {len(limited)} different rows had {part:.0%} of the weight: it was "
            f"lowered to {limited.max() / limited.sum():.1%} for each, and all rows together "
            f"count as {count:.0f} rows of equal weight",
        )
    return rows[0], rows[1], limited * (count / limited.sum()), notes


def error_precision(
    weights: FloatArray, y_err: Any, relative_to: FloatArray | None = None
) -> FloatArray | None:
    """Return squared reciprocal errors, the largest 1; None without errors.

    With `relative_to` of shape (n,) or (n, q) the errors are first divided by those values: they
    are errors of logarithms.
    """
    if y_err is None:
        return None
    try:
        errors = np.asarray(y_err, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"y_err={y_err!r:.60} must be numbers, one per row") from None
    if errors.shape != weights.shape:
        raise InputError(f"y_err has shape {errors.shape}, expected {weights.shape}: one per row")
    if not (np.isfinite(errors).all() and (errors > 0).all()):
        bad = int(np.argmin(np.isfinite(errors) & (errors > 0)))
        raise InputError(f"y_err[{bad}] is {errors[bad]}; errors must be positive and finite")
    if relative_to is not None:
        rows = relative_to.reshape(len(errors), -1)
        logs = np.log(np.where(rows > 0, rows, 1.0))  # the rest is refused, or has no weight
        errors = errors / np.exp(logs.mean(axis=1))
    return np.asarray((errors.min() / errors) ** 2)


def seed_sequence(random_state: Any, n_seeds: int) -> list[int]:
    """Return independent seeds from whatever scikit-learn users call a random state.

    A generator is advanced; a number or None is not touched.
    """
    if isinstance(random_state, np.random.RandomState):
        return [int(seed) for seed in random_state.randint(2**31, size=n_seeds)]
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"random_state={random_state!r} is not usable; give a non-negative whole number, a "
            "numpy Generator or RandomState, or None"
        ) from error
    return [int(seed) for seed in rng.integers(2**63, size=n_seeds)]


def _check_array(name: str, values: Any, estimator: BaseEstimator, **options: Any) -> NDArray[Any]:
    """Return numbers, of any size; scikit-learn's words, but our kind of error."""
    plain = type(values) is np.ndarray and values.dtype == np.float64
    if plain and values.ndim == 2 and values.size:
        return values  # nothing that scikit-learn would say
    options |= {"dtype": "numeric", "ensure_all_finite": False}
    try:
        return check_array(values, input_name=name, estimator=estimator, **options)
    except (TypeError, ValueError) as error:
        kind = InputKindError if isinstance(error, TypeError) else InputError
        raise kind(f"{name} cannot be used, give numbers or dates: {error}") from error


def _frame_columns(X: Any) -> list[Any] | None:
    """Columns of a pandas or polars table; None for anything else."""
    if hasattr(X, "iloc") and np.ndim(X) == 2:
        return [X.iloc[:, j] for j in range(X.shape[1])]
    return list(X.get_columns()) if hasattr(X, "get_columns") else None


def _is_date(values: Any) -> bool:
    """Whether values are dates, periods or durations, which `Domain` reads itself."""
    dtype = getattr(values, "dtype", None)
    if dtype is None:
        values = np.asarray(values, dtype=object)
        dtype = values.dtype
    if str(dtype).lower().startswith(("date", "period", "timedelta", "duration")):
        return True
    if dtype != np.dtype(object):
        return False
    first = next(iter(np.asarray(values, dtype=object).ravel()), None)
    return isinstance(first, date | np.datetime64 | timedelta)


def selected_rows(given: Any, rows: IndexArray) -> Any:
    """Return some rows of an array, a table, or whatever numpy makes an array of."""
    if hasattr(given, "iloc"):
        return given.iloc[rows]
    table = hasattr(given, "dtype") or hasattr(given, "columns")
    return given[rows] if table else np.asarray(given)[rows]


def _require_finite(name: str, array: NDArray[Any]) -> None:
    if array.dtype.kind != "f":
        return
    bad = ~np.isfinite(array)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(
            f"{name} contains NaN or infinity (inf): {name}[{', '.join(map(str, at))}] is "
            f"{array[at]}; remove or fill such values first"
        )


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn scikit-learn's complaints about arrays into `InputError`, which they already are."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None
