"""Methods that are given the periods, the astronomy, or every true line.

MSTL needs the periods in whole samples. A day of Prophet's calendar is a unit of t. UTide has 59 or
more tidal constituents by name and is given the gauge's latitude. The yardstick is nonlinear least
squares started at the true frequencies of every line.
"""

from __future__ import annotations

import logging
import warnings

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, Method, NotApplicableError
from benchmarks.peers.sinusoids import fitted, linear_trend, refined

SPAN = 3000.0  # days: Prophet rounds dates to nanoseconds and wants a long calendar


def yardstick(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    if hints.lines is None:
        raise NotApplicableError("the truth is not known")
    trend = linear_trend(t, y)
    slope = bool(trend(t[-1:]) != trend(t[:1]))
    lines = refined(t, y, np.sort(1.0 / hints.lines), slope=slope)
    return Fit(fitted(t, y, lines, slope=slope), 1.0 / lines)


def mstl(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from statsmodels.tsa.seasonal import MSTL

    if hints.periods.size == 0:
        raise NotApplicableError("there is no period to give it")
    step = (t[-1] - t[0]) / (t.size - 1)
    periods = np.unique(np.round(hints.periods / step).astype(int))
    periods = periods[(periods >= 2) & (periods < t.size // 2)]
    # Interpolating the smooths between every tenth point is its documented way to speed.
    jumps = {"seasonal_jump": 10, "trend_jump": 10, "low_pass_jump": 10}
    result = MSTL(y, periods=tuple(int(p) for p in periods), stl_kwargs=jumps).fit()
    seasonal = result.seasonal if result.seasonal.ndim == 1 else result.seasonal.sum(axis=1)
    function = result.trend + seasonal
    return Fit(lambda times: np.interp(times, t, function), None)


def prophet(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    import pandas as pd
    from prophet import Prophet

    if hints.periods.size == 0:
        raise NotApplicableError("there is no period to give it")
    for talker in ("cmdstanpy", "prophet"):
        logging.getLogger(talker).disabled = True
    origin, stretch = t[0], SPAN / np.ptp(t)

    def dates(times: FloatArray) -> pd.Series:
        days = pd.to_timedelta((times - origin) * stretch, unit="D")
        return pd.Series(pd.Timestamp("2000-01-01") + days)

    model = Prophet(
        yearly_seasonality=False, weekly_seasonality=False, daily_seasonality=False,
        uncertainty_samples=0,
    )  # fmt: skip
    for i, period in enumerate(hints.periods):
        model.add_seasonality(f"p{i}", period=period * stretch, fourier_order=hints.harmonics)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own use of pandas
        model.fit(pd.DataFrame({"ds": dates(t), "y": y}))

    def predict(times: FloatArray) -> FloatArray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.predict(pd.DataFrame({"ds": dates(times)}))["yhat"].to_numpy()

    return Fit(predict, None)


def import_prophet() -> None:
    """Import only: what its driver leaves behind after a fit hangs in a forked process."""
    import prophet  # noqa: F401


def utide(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from utide import reconstruct, solve

    if hints.latitude is None:
        raise NotApplicableError("not a tide")
    options = {"verbose": False}
    epoch = np.datetime64(hints.epoch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own use of numpy
        tide = solve(
            t, y, lat=hints.latitude, epoch=epoch, conf_int="none", method="ols",
            **options,
        )  # fmt: skip

    def predict(times: FloatArray) -> FloatArray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(reconstruct(times, tide, epoch=epoch, **options).h)

    return Fit(predict, None, note=f"{len(tide.name)} constituents")


METHODS = {
    "limit": Method(
        "limit: least squares from the truth", ("numpy",), yardstick, "every true line"
    ),
    "mstl": Method(
        "MSTL (statsmodels)", ("statsmodels",), mstl, "the true periods", even_only=True
    ),
    "prophet": Method("Prophet", ("prophet",), prophet, "the true periods", warm_up=import_prophet),
    "utide": Method("UTide", ("utide",), utide, "the astronomy"),
}
