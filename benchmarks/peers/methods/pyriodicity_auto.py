"""pyriodicity's Autoperiod; it gives periods in whole samples, least squares the function."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints
from benchmarks.peers.sinusoids import fitted, linear_trend

NAME = "Autoperiod (pyriodicity)"
PACKAGES = ("pyriodicity",)
EVEN_ONLY = True


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:  # noqa: ARG001
    from pyriodicity import Autoperiod

    step = (t[-1] - t[0]) / (t.size - 1)
    periods = np.unique(np.asarray(Autoperiod.detect(y, seed=0), np.float64)) * step
    trend = linear_trend(t, y)
    model = fitted(t, y - trend(t), 1.0 / periods)
    return Fit(lambda times: trend(times) + model(times), periods)
