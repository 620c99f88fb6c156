"""Forecast: what comes next, how sure that is, and where a new measurement will lie.

Patterns go on, quasi-periodic ones lose their phase at the rate at which they lost it in the
record, a trend goes on as a drift, and what the last samples show of the remainder fades. Where
samples of the record lie farther from what follows from those before them than they should, errors
are wider by that.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from robustfourier.arrays import FloatArray
from robustfourier.domain import DATE_UNITS, Domain
from robustfourier.errors import InputError
from robustfourier.estimators.calendar_steps import CalendarStep
from robustfourier.estimators.times import known_periods, time_index
from robustfourier.mixture.model import ColumnModel
from robustfourier.modes import by_output
from robustfourier.periodic.forecast import HORIZONS

_STEPS_AT_MOST = 10_000_000
_NEARLY = 0.1  # of a calendar step: a year of days is twelve months
_LEAST_FREEDOM = 3.0  # the fewest degrees with which Student's t has a variance by a margin


@dataclass(frozen=True, eq=False)
class Forecast:
    """A forecast with its errors.

    Parameters
    ----------
    times : array-like of shape (n,)
    mean : ndarray of shape (n,) or (n, q)
        Trend, patterns and what the samples tell about the rest; on the scale "log" the median.
    std : ndarray of shape (n,) or (n, q)
        Its standard error, that of `predict` widened by what the record showed.
    lower, upper : ndarray of shape (n,) or (n, q)
        A new measurement lies between them with probability `coverage`: the error of the mean
        and the scatter of a measurement together.
    coverage : float
    """

    times: Any
    mean: FloatArray
    std: FloatArray
    lower: FloatArray
    upper: FloatArray
    coverage: float

    def to_frame(self) -> pd.DataFrame:
        """Return a table by time with columns mean, std, lower and upper, for each output."""
        frame: dict[str, FloatArray] = {}
        for name in ("mean", "std", "lower", "upper"):
            frame |= by_output(name, getattr(self, name))
        periods = isinstance(self.times, pd.PeriodIndex)
        return pd.DataFrame(frame, index=self.times if periods else time_index(self.times))


def forecast_of(
    model: Any,
    horizon: Any,
    times: Any,
    coverage: float,
    bounds: Any = "auto",
    regressors: Any = None,
) -> Forecast:
    """Return the forecast of a fitted `PeriodicMixture`; parameters as of its `forecast`."""
    if (horizon is None) == (times is None):
        raise InputError("give either horizon, such as horizon=30, or times=…")
    if times is None:
        if model.n_features_in_ > 1:
            raise InputError("horizon is for one column of times; give times=… of all columns")
        times = times_ahead(horizon, model)
    if isinstance(coverage, bool) or not 0.0 < coverage < 1.0:
        raise InputError(f"coverage={coverage!r} must lie between 0 and 1; the default is 0.9")
    mean, std = model.predict(times, return_std=True, regressors=regressors)
    left = next(
        (m.extrapolation for m in model.models_ if m.extrapolation is not None), model.remainder_
    )
    scatter = np.asarray(model.noise_ if left is None else model._every_output(left.white))
    scatter = np.maximum(scatter, _least_scatter(model, scatter))
    reach = ndtri(0.5 + 0.5 * coverage)
    tails: Any = reach
    if model.n_features_in_ == 1 and model.models_[0].inflation is not None:
        wider, freedom = _unknown(model.models_[0], model.domains_[0].to_theta(times))
        std = std * model._every_output(wider, 1.0).reshape(std.shape)
        tails = stdtrit(freedom.reshape(-1, *[1] * (std.ndim - 1)), 0.5 + 0.5 * coverage)
    ends = _new_measurements(
        mean, tails * std, reach * scatter, getattr(model, "scale_", "linear") == "log"
    )
    low, high = bounds_of(model, bounds)
    mean, lower, upper = (np.clip(values, low, high) for values in (mean, *ends))
    return Forecast(times, mean, std, lower, upper, coverage)


def forecast_quantile(model: Any, level: float, **when: Any) -> FloatArray:
    """Return the value below which new measurements lie with probability `level`."""
    coverage = abs(2.0 * level - 1.0)
    if coverage == 0.0:
        return np.asarray(model.forecast(**when).mean)
    ahead = model.forecast(**when, coverage=coverage)
    return np.asarray(ahead.lower if level < 0.5 else ahead.upper)


def _least_scatter(model: Any, scatter: FloatArray) -> FloatArray:
    """Return the least scatter of new measurements: intervals have a width.

    Where more than half of the values are equal, the core of the noise is zero, and all of it
    counts; whole numbers are rounded; and without any noise rounding of the computer is left.
    """
    whole = np.where(scatter > 0, 0.0, getattr(model, "scatter_", 0.0))
    rounded = getattr(model, "rounding_", 0.0)
    if getattr(model, "scale_", "linear") == "log":
        return np.asarray(whole)
    return np.asarray(np.maximum(whole, rounded / np.sqrt(12.0)))


def value_kind(values: FloatArray) -> tuple[float, float, float]:
    """Return the least and the largest possible value, and the unit that values are rounded to.

    Whole numbers from zero on are counts: never below zero. Values from zero to one are shares.

    >>> value_kind(np.array([3.0, 0.0, 7.0])), value_kind(np.array([0.2, 0.9]))
    ((0.0, inf, 1.0), (0.0, 1.0, 0.0))
    """
    low, high = float(np.min(values)), float(np.max(values))
    whole = bool(np.all(values == np.round(values)))
    share = low >= 0.0 and high <= 1.0
    counts = whole and low >= 0.0
    return (
        0.0 if counts or share else -np.inf,
        1.0 if share and not whole else np.inf,
        1.0 if whole and low < high else 0.0,
    )


def bounds_of(model: Any, bounds: Any) -> tuple[Any, Any]:
    """Return the ends of what is possible: asked for, or what the record shows."""
    if isinstance(bounds, str) and bounds == "auto":
        return getattr(model, "bounds_", None) or (-np.inf, np.inf)
    try:
        low, high = (None, None) if bounds is None else bounds
        low, high = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low < high:
        raise InputError(f'bounds={bounds!r} must be "auto", None or a pair such as (0, None)')
    return low, high


def _unknown(model: ColumnModel, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return by how much errors are wider than the process says, (n, q), and their freedom, (n,).

    The record shows what happens over some time as often as that time fits into it; two of these
    tell one change of it.
    """
    process = model.process
    first, last = (-1.0, model.last) if process is None else process.parts[0].theta[[0, -1]]
    beyond = np.maximum(np.maximum(theta - last, first - theta), 0.0) / (last - first)
    factors = [np.interp(beyond, HORIZONS, row) for row in np.asarray(model.inflation)]
    freedom = np.maximum(0.5 / np.maximum(beyond, 1e-9), _LEAST_FREEDOM)
    return np.stack(factors, axis=1), freedom


def times_ahead(horizon: Any, model: Any) -> Any:
    """Return times after the last sample: so many steps of the record, or as far as "30D"."""
    domain, column, step = model.domains_[0], model.models_[0], calendar_step_of(model)
    spacing = 0.5 * column.spacing * domain.span
    count = np.nan
    if isinstance(horizon, str | timedelta | np.timedelta64):
        count = _steps_in(horizon, domain, spacing, step)
    elif not isinstance(horizon, bool) and np.ndim(horizon) == 0:
        try:
            count = float(horizon)
        except (TypeError, ValueError):
            count = np.nan
    if not (count >= 1 and count == np.floor(count)):
        raise InputError(
            f"horizon={horizon!r} must be a number of steps, such as 24, or a positive length of "
            'time as text, such as "30D"'
        )
    if count > _STEPS_AT_MOST:
        raise InputError(f"horizon={horizon!r} makes {count:,.0f} times; give fewer by times=…")
    if step is None:
        return domain.from_theta(column.last + column.spacing * np.arange(1, int(count) + 1))
    dates = step.after(pd.Timestamp(domain.from_theta(np.array([column.last]))[0]), int(count))
    if frequency := getattr(model, "period_frequency_", ""):
        return dates.to_period(frequency)
    return dates if domain.timezone else dates.as_unit("us").to_numpy()


def calendar_step_of(model: Any) -> CalendarStep | None:
    """Return the step of a model's record on the calendar; None if it is a fixed length."""
    known = getattr(model, "calendar_step_", None)
    return CalendarStep(*known) if known else None


def _steps_in(horizon: Any, domain: Domain, spacing: float, step: CalendarStep | None) -> float:
    """Steps within a length of time, at least one; NaN if it is none."""
    try:
        length = float(known_periods(horizon, domain)[0])
    except (InputError, IndexError, TypeError):
        return np.nan
    if not (np.isfinite(length) and length > 0):
        return np.nan
    if step is None:
        return max(float(np.floor(length / spacing * (1.0 + 1e-9))), 1.0)
    days = length * DATE_UNITS[domain.unit] / DATE_UNITS["day"]
    return max(float(np.floor(days / step.mean_days + _NEARLY)), 1.0)


def _new_measurements(
    mean: FloatArray, error: FloatArray, scatter: FloatArray, multiplies: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval in which new measurements lie.

    `error` is how far off the function may be, `scatter` how far measurements are from it: of
    logarithms if `multiplies`, and then the ends are factors of the mean.
    """
    if multiplies:
        around = np.exp(np.hypot(error / mean, scatter))
        return mean / around, mean * around
    around = np.hypot(error, scatter)
    return mean - around, mean + around
