"""How well a coherence can be known at all: the likelihood of the true kind of process.

The referee is told the period, the waveform, the noise and which of amplitude, phase and shape
wanders, and is asked for the coherence alone (beside mean and strength where these wander). What it
misses nobody finds: a record of 60 cycles holds little more than one coherence of 45.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import celerite2
import numpy as np
from celerite2 import terms
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

FloatArray = NDArray[np.float64]

_STARTS = ((0.1, 0.02), (0.1, 0.2), (1.0, 0.02), (1.0, 0.2))  # variance, rate
_BOUNDS = ((1e-6, 1e3), (1e-4, 10.0))
_UNKNOWN = 1e-9  # rate of what never changes


def known_coherence(
    kind: str, t: FloatArray, y: FloatArray, phases: FloatArray, heights: Sequence[float],
    noise: float,
) -> float:  # fmt: skip
    """The likeliest coherence in cycles; t counts cycles."""
    angle = 2.0 * np.pi * t
    orders = np.arange(1, len(heights) + 1)
    if kind == "phase":
        return _walk(angle, y, np.diff(t, prepend=t[0]), orders, phases, np.array(heights), noise)
    if kind == "amplitude":
        wave = np.array(heights) @ np.cos(np.multiply.outer(orders, angle) - phases[:, None])
        seen = np.abs(wave) > 0.05  # near its zeros an amplitude is not seen
        t, y = t[seen], y[seen] / wave[seen]
        return _longest(t, y, (noise / wave[seen]) ** 2, _level)
    return _longest(t, y, np.full(len(t), noise**2), lambda *p: _shape(heights, *p))


def _level(variance: float, rate: float) -> terms.Term:
    """A number that wanders about an unknown mean."""
    return terms.RealTerm(a=variance, c=rate) + terms.RealTerm(a=100.0, c=_UNKNOWN)


def _shape(heights: Sequence[float], variance: float, rate: float) -> terms.Term:
    """Harmonics that wander each about an unknown wave."""
    parts = [
        terms.ComplexTerm(a=a * height**2, b=0.0, c=c, d=2.0 * np.pi * n)
        for n, height in enumerate(heights, start=1)
        for a, c in ((variance, rate), (10.0, _UNKNOWN))
    ]
    return terms.TermSum(*parts)


def _longest(
    t: FloatArray, y: FloatArray, noise: FloatArray, kernel: Callable[[float, float], terms.Term]
) -> float:
    """Coherence of the likeliest variance and rate."""

    def height(logs: FloatArray) -> float:
        given = np.exp(logs)
        if not all(low < one < high for one, (low, high) in zip(given, _BOUNDS, strict=True)):
            return 1e12
        process = celerite2.GaussianProcess(kernel(*given), mean=0.0)
        process.compute(t, diag=noise, quiet=True)
        return -float(process.log_likelihood(y))

    fine = {"xatol": 0.02, "fatol": 0.02}
    runs = [minimize(height, np.log(s), method="Nelder-Mead", options=fine) for s in _STARTS]
    return float(np.exp(-min(runs, key=lambda run: float(run.fun)).x[1]))


def _walk(
    angle: FloatArray, y: FloatArray, steps: FloatArray, orders: FloatArray, phases: FloatArray,
    heights: FloatArray, noise: float,
) -> float:  # fmt: skip
    """Coherence of the likeliest random walk of the phase, by the extended Kalman filter."""

    def height(log: float) -> float:
        late, spread, value = 0.0, 1e-6, 0.0
        for at, seen, more in zip(angle, y, 2.0 * steps * np.exp(-log), strict=True):
            spread += more
            inside = orders * (at - late) - phases
            slope = float((heights * orders) @ np.sin(inside))
            variance = slope**2 * spread + noise**2
            off = seen - float(heights @ np.cos(inside))
            value += 0.5 * (np.log(variance) + off**2 / variance)
            late += spread * slope / variance * off
            spread -= (spread * slope) ** 2 / variance
        return value

    found = minimize_scalar(
        height, bounds=np.log([1.0, 500.0]), method="bounded", options={"xatol": 0.05}
    )
    return float(np.exp(found.x))
