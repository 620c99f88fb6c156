"""The yardstick: nonlinear least squares started at the true frequencies of every line."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.face import Fit, FloatArray, NotApplicableError, Told
from benchmarks.peers.sinusoids import fitted, linear_trend, refined

NAME = "limit: least squares from the truth"
PACKAGES = ("numpy",)
TOLD = "every true line"
EVEN_ONLY = False
BUDGET = "all"


def fit(t: FloatArray, y: FloatArray, told: Told) -> Fit:
    if told.lines is None:
        raise NotApplicableError("the truth is not known")
    trend = linear_trend(t, y)
    rest = y - trend(t)
    lines = np.sort(1.0 / told.lines)
    lines = refined(t, rest, lines)
    model = fitted(t, rest, lines)
    return Fit(lambda times: trend(times) + model(times), 1.0 / lines)
