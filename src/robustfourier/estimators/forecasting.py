"""Forecast: what comes next, how sure that is, and where a new measurement will lie.

Patterns go on, living ones lose their phase at the rate at which they lost it in the record, a
trend goes on as a drift, by several ways, and what the last samples tell about the remainder fades.
Where samples of the record lie farther from what those before them tell than they should, errors
are wider by that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.estimators.times import known_periods, time_index
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.remainder import Remainder
from robustfourier.mixture.surprise import HORIZONS
from robustfourier.modes import by_output

_STEPS_AT_MOST = 10_000_000
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
        A new measurement lies between them with probability `level`: the error of the mean and the
        scatter of a measurement together.
    level : float
    """

    times: Any
    mean: FloatArray
    std: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float

    def to_frame(self) -> pd.DataFrame:
        """Return a table by time with columns mean, std, lower and upper, for each output."""
        frame: dict[str, FloatArray] = {}
        for name in ("mean", "std", "lower", "upper"):
            frame |= by_output(name, getattr(self, name))
        return pd.DataFrame(frame, index=time_index(self.times))


def forecast_of(model: Any, horizon: Any, times: Any, level: float) -> Forecast:
    """Return the forecast of a fitted `PeriodicMixture`; parameters as of its `forecast`."""
    if (horizon is None) == (times is None):
        raise InputError("give either horizon, such as horizon=30, or times=…")
    if times is None:
        if model.n_features_in_ > 1:
            raise InputError("horizon is for one column of times; give times=… of all columns")
        first = model.models_[0]
        times = times_ahead(horizon, model.domains_[0], first.last, first.spacing)
    if isinstance(level, bool) or not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} must lie between 0 and 1; the default is 0.9")
    mean, std = model.predict(times, return_std=True)
    left = next((m.onward for m in model.models_ if m.onward is not None), model.remainder_)
    scatter = np.asarray(model.noise_ if left is None else model._every_output(left.white))
    reach = ndtri(0.5 + 0.5 * level)
    tails: Any = reach
    if model.n_features_in_ == 1 and model.models_[0].surprise is not None:
        wider, freedom = _unknown(model.models_[0], left, model.domains_[0].to_theta(times))
        std = std * model._every_output(wider, 1.0).reshape(std.shape)
        tails = stdtrit(freedom.reshape(-1, *[1] * (std.ndim - 1)), 0.5 + 0.5 * level)
    ends = _new_measurements(
        mean, tails * std, reach * scatter, getattr(model, "scale_", "linear") == "log"
    )
    return Forecast(times, mean, std, *ends, level)


def _unknown(
    model: ColumnModel, memory: Remainder, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return by how much errors are wider than the process says, (n, q), and their freedom, (n,).

    The record shows what happens over some time as often as that time fits into it; two of these
    tell one change of it.
    """
    first, last = memory.parts[0].theta[[0, -1]]
    beyond = np.maximum(np.maximum(theta - last, first - theta), 0.0) / (last - first)
    factors = [np.interp(beyond, HORIZONS, row) for row in np.asarray(model.surprise)]
    freedom = np.maximum(0.5 / np.maximum(beyond, 1e-9), _LEAST_FREEDOM)
    return np.stack(factors, axis=1), freedom


def times_ahead(horizon: Any, domain: Domain, last: float, spacing: float) -> Any:
    """Return times after the last sample, as far apart as samples are, up to a horizon.

    Parameters
    ----------
    horizon : float, str or timedelta
        How far, in the unit of time or as text such as "30D".
    domain : Domain
    last, spacing : float
        θ of the last sample, and the median distance between samples.
    """
    try:
        length = float(known_periods(horizon, domain)[0])
    except (InputError, IndexError, TypeError):
        length = np.nan
    if not (np.isfinite(length) and length > 0):
        raise InputError(
            f"horizon={horizon!r} must be a positive length of time: a number in the unit of time, "
            'or text such as "30D" where times are dates'
        )
    steps = np.floor(length / (0.5 * spacing * domain.span) * (1.0 + 1e-9))
    if steps > _STEPS_AT_MOST:
        raise InputError(f"horizon={horizon!r} makes {steps:,.0f} times; give fewer by times=…")
    return domain.from_theta(last + spacing * np.arange(1, max(int(steps), 1) + 1))


def _new_measurements(
    mean: FloatArray, error: FloatArray, scatter: FloatArray, multiplies: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval in which new measurements lie.

    Parameters
    ----------
    mean, error : ndarray of shape (n,) or (n, q)
        The function, and how far off it may be.
    scatter : ndarray of shape (q,)
        How far measurements are from the function; their logarithms if `multiplies`.
    multiplies : bool
        Whether the ends are factors of the mean.
    """
    if multiplies:
        around = np.exp(np.hypot(error / mean, scatter))
        return mean / around, mean * around
    around = np.hypot(error, scatter)
    return mean - around, mean + around
