"""Forecast: what comes next, how sure that is, and where a new measurement will lie.

Patterns go on, living ones lose their phase at the rate at which they lost it in the record, the
trend goes on with its recent slope, and what the last samples tell about the remainder fades.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.estimators.times import known_periods, time_index

__all__ = ["Forecast", "forecast_of", "times_ahead"]

_STEPS_AT_MOST = 10_000_000


@dataclass(frozen=True, eq=False)
class Forecast:
    """A forecast with its errors.

    Parameters
    ----------
    times : array-like of shape (n,)
    mean : ndarray of shape (n,) or (n, q)
        Trend, patterns and what the samples tell about the rest; on the scale "log" the median.
    std : ndarray of shape (n,) or (n, q)
        Its standard error.
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
        outputs = [""] if self.mean.ndim == 1 else [f"_{o}" for o in range(self.mean.shape[1])]
        frame: dict[str, FloatArray] = {}
        for name in ("mean", "std", "lower", "upper"):
            columns = getattr(self, name).reshape(len(self.mean), -1)
            frame |= {f"{name}{o}": columns[:, i] for i, o in enumerate(outputs)}
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
    mean, std = model.predict(times, return_std=True)
    left = next((m.onward for m in model.models_ if m.onward is not None), model.remainder_)
    scatter = np.asarray(model.noise_ if left is None else left.white)
    ends = _new_measurements(mean, std, scatter, level, getattr(model, "scale_", "linear") == "log")
    return Forecast(times, mean, std, *ends, level)


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
    mean: FloatArray, std: FloatArray, scatter: FloatArray, level: float, multiplies: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval in which a new measurement lies with probability `level`.

    Parameters
    ----------
    mean, std : ndarray of shape (n,) or (n, q)
    scatter : ndarray of shape (q,)
        Standard deviation of a measurement around the function; of its logarithm if `multiplies`.
    level : float
    multiplies : bool
        Whether the ends are factors of the mean.
    """
    if isinstance(level, bool) or not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} must lie between 0 and 1; the default is 0.9")
    reach = norm.ppf(0.5 + 0.5 * level)
    if multiplies:
        around = np.exp(reach * np.hypot(std / mean, scatter))
        return mean / around, mean * around
    around = reach * np.hypot(std, scatter)
    return mean - around, mean + around
