"""Sums of sinusoids by least squares: what several rivals need after they found their periods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.peers.method_interface import FloatArray

CLEAR_SLOPE = 4.0  # standard errors


def waves(t: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Columns cos 2πft and sin 2πft for every frequency, shape (n, 2 n_frequencies)."""
    angle = 2.0 * np.pi * np.outer(t, frequencies)
    return np.hstack([np.cos(angle), np.sin(angle)])


def linear_trend(t: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The mean, or the straight line where its slope is clear beyond doubt.

    Rivals without a trend of their own get it removed first, as their users would do.
    """
    centre, level = t.mean(), y.mean()
    slope = ((t - centre) @ y) / ((t - centre) @ (t - centre))
    rest = y - level - slope * (t - centre)
    error = rest.std() / (np.sqrt(t.size) * t.std())
    slope = slope if abs(slope) > CLEAR_SLOPE * error else 0.0
    return lambda times: level + slope * (times - centre)


def fitted(
    t: FloatArray, y: FloatArray, frequencies: FloatArray, *, slope: bool = False
) -> Callable[[FloatArray], FloatArray]:
    """Least squares on a constant (and a slope) and the given frequencies."""
    frequencies = np.asarray(frequencies, np.float64)
    centre = t.mean()
    coefficients = np.linalg.lstsq(_design(t - centre, frequencies, slope), y, rcond=None)[0]
    return lambda times: _design(times - centre, frequencies, slope) @ coefficients


def refined(
    t: FloatArray, y: FloatArray, frequencies: FloatArray, *, slope: bool = False
) -> FloatArray:
    """Frequencies that minimise the squared error jointly, by Gauss-Newton from a near start.

    Frequencies may move by at most half a Rayleigh width from where they started.
    """
    start = np.asarray(frequencies, np.float64)
    reach = 0.5 / np.ptp(t)
    centred = t - t.mean()
    current, best = start.copy(), _misfit(centred, y, start, slope)
    for _ in range(20):
        step = _gauss_newton_step(centred, y, current, slope)
        for halving in range(6):
            trial = np.clip(current + step * 0.5**halving, start - reach, start + reach)
            misfit = _misfit(centred, y, trial, slope)
            if misfit < best:
                break
        else:
            return current
        gain, current, best = best - misfit, trial, misfit
        if gain < 1e-10 * best:
            return current
    return current


def _design(t: FloatArray, frequencies: FloatArray, slope: bool) -> FloatArray:
    base = [np.ones_like(t), t] if slope else [np.ones_like(t)]
    return np.hstack([waves(t, frequencies), np.column_stack(base)])


def _misfit(t: FloatArray, y: FloatArray, frequencies: FloatArray, slope: bool) -> float:
    design = _design(t, frequencies, slope)
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    return float(np.sum((y - design @ coefficients) ** 2))


def _gauss_newton_step(
    t: FloatArray, y: FloatArray, frequencies: FloatArray, slope: bool
) -> FloatArray:
    """Change of the frequencies in one Gauss-Newton step on frequencies and coefficients."""
    design = _design(t, frequencies, slope)
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    count = frequencies.size
    cosines, sines = design[:, :count], design[:, count : 2 * count]
    a, b = coefficients[:count], coefficients[count : 2 * count]
    by_frequency = 2.0 * np.pi * t[:, None] * (b * cosines - a * sines)
    jacobian = np.hstack([by_frequency, design])
    return np.linalg.lstsq(jacobian, y - design @ coefficients, rcond=None)[0][:count]
