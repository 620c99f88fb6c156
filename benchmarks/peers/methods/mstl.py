"""statsmodels' MSTL, given the true periods (rounded to whole samples, as it needs them)."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, NotApplicableError

NAME = "MSTL (statsmodels)"
PACKAGES = ("statsmodels",)
HINTS = "the true periods"
EVEN_ONLY = True


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
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
