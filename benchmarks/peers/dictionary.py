"""Fourier dictionaries for the sparse regressions, and periods read off their coefficients.

The dictionary holds sines and cosines up to the band the method is given: at whole modes where the
data repeats over its span, else at whole and half modes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints
from benchmarks.peers.sinusoids import linear_trend, waves

LARGEST = 2e9  # bytes of the design matrix; fits take four times as much


@dataclass(frozen=True)
class Dictionary:
    """Sines and cosines at `frequencies`; columns scaled to norm √n, y without its trend."""

    frequencies: FloatArray
    columns: FloatArray
    norms: FloatArray
    target: FloatArray
    trend: Callable[[FloatArray], FloatArray]
    span: float

    @classmethod
    def build(cls, t: FloatArray, y: FloatArray, hints: Hints) -> Dictionary:
        """Build the dictionary for samples (t, y)."""
        step = 1.0 if hints.periodic else 0.5
        modes = np.arange(step, hints.highest_mode + step / 2, step)
        if t.size * modes.size * 16.0 > LARGEST:
            raise MemoryError(f"a dictionary of {2 * modes.size} columns × {t.size} samples")
        span = hints.span if hints.periodic and hints.span else float(np.ptp(t))
        frequencies = modes / span
        columns = waves(t, frequencies)
        norms = np.sqrt(np.mean(columns**2, axis=0))
        # On an even grid the sine at the Nyquist frequency vanishes at every sample.
        norms = np.where(norms > 1e-6, norms, np.inf)
        trend = linear_trend(t, y)
        scaled = np.asfortranarray(columns / norms)
        return cls(frequencies, scaled, norms, y - trend(t), trend, span)

    def fit(self, coefficients: FloatArray, intercept: float, note: str = "") -> Fit:
        """Return the fit with the given coefficients of the scaled columns."""
        weights = coefficients / self.norms
        cosine, sine = weights[: self.frequencies.size], weights[self.frequencies.size :]
        active = np.flatnonzero((cosine != 0) | (sine != 0))
        kept = np.concatenate([cosine[active], sine[active]])

        def predict(times: FloatArray) -> FloatArray:
            return self.trend(times) + intercept + waves(times, self.frequencies[active]) @ kept

        amplitudes = np.hypot(cosine, sine)[active]
        lines = merged(self.frequencies[active], amplitudes, 1.0 / self.span)
        return Fit(predict, 1.0 / lines, note=note)


def merged(frequencies: FloatArray, amplitudes: FloatArray, reach: float) -> FloatArray:
    """Amplitude-weighted centres of runs of active frequencies less than `reach` apart.

    A line between grid points lights up several of them; a user would read them as one.
    """
    if frequencies.size == 0:
        return frequencies
    groups = np.split(
        np.arange(frequencies.size), np.flatnonzero(np.diff(frequencies) > 0.99 * reach) + 1
    )
    return np.array([np.average(frequencies[g], weights=amplitudes[g] ** 2) for g in groups])
