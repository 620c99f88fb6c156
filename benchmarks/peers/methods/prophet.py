"""Prophet, given the true periods as custom seasonalities; a day of its calendar is a unit of t."""

from __future__ import annotations

import logging
import warnings

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, NotApplicableError

NAME = "Prophet"
PACKAGES = ("prophet",)
HINTS = "the true periods"
SPAN = 3000.0  # days: Prophet rounds dates to nanoseconds and wants a long calendar


def warm_up() -> None:
    """Import only: what its driver leaves behind after a fit hangs in a forked process."""
    import prophet  # noqa: F401


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
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
