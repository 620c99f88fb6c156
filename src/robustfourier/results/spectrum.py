"""Amplitude spectra of data and residual, with the noise floor and the false-alarm line.

All four are amplitudes: what a sinusoid of that frequency would have, fitted alone. Noise of
deviation σ shows amplitudes of about 2σ/√n; the false-alarm line is what noise exceeds somewhere in
the whole search with the given probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.mixture.judge import false_alarm, search_widths
from robustfourier.mixture.noise import noise_floor
from robustfourier.spectral.periodogram import PeriodogramGrid

__all__ = ["Spectrum", "amplitude_spectrum", "peak_bins"]


_LOWEST = 0.5  # modes; slower is trend
_POINTS_AT_MOST = 400_000


@dataclass(frozen=True)
class Spectrum:
    """Amplitudes against mode.

    Parameters
    ----------
    mode : ndarray of shape (K,)
        Ascending.
    data, residual : ndarray of shape (K,)
        Amplitude of the data without its trend, and of what the fit leaves over.
    floor : ndarray of shape (K,)
        Amplitude that the noise has on the whole.
    line : ndarray of shape (K,)
        Amplitude that noise exceeds anywhere with probability `level`.
    level : float
        False-alarm probability of the line.
    """

    mode: FloatArray
    data: FloatArray
    residual: FloatArray
    floor: FloatArray
    line: FloatArray
    level: float


def amplitude_spectrum(
    theta: FloatArray,
    values: FloatArray,
    residual: FloatArray,
    *,
    max_mode: float,
    lines: FloatArray,
    weights: FloatArray | None = None,
    level: float = 0.01,
) -> Spectrum:
    """Compute the spectra of one record.

    Parameters
    ----------
    theta, values, residual : ndarray of shape (n,)
        Positions, data without their trend, and residual.
    max_mode : float
        Highest mode searched.
    lines : ndarray of shape (K,)
        Modes that were fitted.
    weights : ndarray of shape (n,), optional
        Weights of the samples.
    level : float
        False-alarm probability.
    """
    n = len(theta)
    weights = np.ones(n) if weights is None else weights * (n / weights.sum())
    max_mode = max(float(max_mode), 2.0)
    spacing = min(max(0.25, max_mode / _POINTS_AT_MOST), 1.0)
    grid = PeriodogramGrid.of(theta, weights, max_mode, spacing)
    # Powers are squares: values of size one neither overflow nor vanish.
    size = float(max(np.abs(values).max(initial=0.0), np.abs(residual).max(initial=0.0))) or 1.0
    powers = [grid.power(grid.data_sums(y[:, None] / size))[:, 0] for y in (values, residual)]
    integer = np.arange(1, int(max_mode) + 1)
    at_integer = np.interp(integer, grid.modes, powers[1])[:, None]
    absorbed = max(1.0 - 3.0 * len(lines) / n, 0.1)
    floor = noise_floor(at_integer / absorbed, lines, share=min(1.0, n / (2.0 * max_mode)))
    keep = grid.modes >= _LOWEST
    level_there = floor.at(grid.modes[keep])[:, 0]
    width = search_widths(theta, weights, _LOWEST, max_mode, grid.modes[keep])
    paid, place = np.unique(width, return_inverse=True)
    dof = float(np.median(floor.dof))
    ratio = np.array([_ratio_at(level, float(w), dof) for w in paid])[place]
    data, left = (size * _amplitude(power[keep], n) for power in powers)
    return Spectrum(
        mode=grid.modes[keep],
        data=data,
        residual=left,
        floor=size * _amplitude(level_there, n),
        line=size * _amplitude(level_there * ratio, n),
        level=level,
    )


def _amplitude(power: FloatArray, n: int) -> FloatArray:
    """Amplitude of a sinusoid whose fit lowers the sum of squares by twice the power: n a²/4."""
    return np.asarray(2.0 * np.sqrt(np.maximum(power, 0.0) / n), np.float64)


def _ratio_at(level: float, width: float, dof: float) -> float:
    """Power over floor that noise exceeds anywhere with the given probability."""

    def excess(log_ratio: float) -> float:
        ratio = np.array([np.exp(log_ratio)])
        return float(np.log(max(false_alarm(ratio, width=width, dof=dof)[0], 1e-300) / level))

    low, high = np.log(0.5), np.log(1e4)
    return float(np.exp(brentq(excess, low, high))) if excess(high) < 0 < excess(low) else 15.0


def peak_bins(x: FloatArray, y: FloatArray, count: int) -> IndexArray:
    """Indices of at most `count` points that keep every peak: the largest y of each bin of x.

    Examples
    --------
    >>> peak_bins(np.arange(6.0), np.array([0.0, 5.0, 1.0, 0.0, 0.0, 7.0]), 2)
    array([1, 5])
    """
    if len(x) <= count:
        return np.arange(len(x))
    edges = np.linspace(0, len(x), count + 1).astype(np.intp)
    return np.array([a + np.argmax(y[a:b]) for a, b in pairwise(edges)])
