"""FFT with hard thresholding: Donoho and Johnstone's universal threshold, σ from the median."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.dictionary import merged
from benchmarks.peers.method_interface import Fit, FloatArray, Hints
from benchmarks.peers.sinusoids import linear_trend, waves

NAME = "FFT hard threshold (numpy)"
PACKAGES = ("numpy",)
EVEN_ONLY = True


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
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
