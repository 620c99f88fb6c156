"""Methods for even grids that find their periods: a thresholded FFT, and Autoperiod.

The threshold is Donoho and Johnstone's universal one, σ from the median. Autoperiod gives periods
in whole samples; least squares gives the function.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers.dictionary import merged
from benchmarks.peers.method_interface import Fit, FloatArray, Hints, Method
from benchmarks.peers.sinusoids import fitted, linear_trend, waves


def fft_threshold(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    trend = linear_trend(t, y)
    n, step = t.size, (t[-1] - t[0]) / (t.size - 1)
    # The paper's grid has both ends of the span: as a period it is one sample too long.
    n -= hints.periodic
    coefficients = np.fft.rfft((y - trend(t))[:n]) / n
    # |c|² of white noise is exponential with mean σ²/n and median σ² log 2 / n.
    level = np.sqrt(np.median(np.abs(coefficients) ** 2) / np.log(2.0))
    active = np.flatnonzero(np.abs(coefficients) > level * np.sqrt(np.log(n)))
    active = active[active > 0]
    frequencies = active / (n * step)
    weights = 2.0 * coefficients[active]

    def predict(times: FloatArray) -> FloatArray:
        return trend(times) + waves(times - t[0], frequencies) @ np.r_[weights.real, -weights.imag]

    lines = merged(frequencies, np.abs(weights), 1.5 / (n * step))
    return Fit(predict, 1.0 / lines)


def autoperiod(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:  # noqa: ARG001
    from pyriodicity import Autoperiod

    step = (t[-1] - t[0]) / (t.size - 1)
    periods = np.unique(np.asarray(Autoperiod.detect(y, seed=0), np.float64)) * step
    trend = linear_trend(t, y)
    model = fitted(t, y - trend(t), 1.0 / periods)
    return Fit(lambda times: trend(times) + model(times), periods)


METHODS = {
    "fft_threshold": Method(
        "FFT hard threshold (numpy)", ("numpy",), fft_threshold, even_only=True
    ),
    "pyriodicity_auto": Method(
        "Autoperiod (pyriodicity)", ("pyriodicity",), autoperiod, even_only=True
    ),
}
