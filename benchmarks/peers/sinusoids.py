"""Sums of sinusoids by least squares: what several rivals need after they found their periods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.peers.face import FloatArray

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
    t: FloatArray, y: FloatArray, frequencies: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Least squares on a constant and the given frequencies."""
    frequencies = np.asarray(frequencies, np.float64)
    design = np.hstack([np.ones((t.size, 1)), waves(t, frequencies)])
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]

    def predict(times: FloatArray) -> FloatArray:
        return coefficients[0] + waves(times, frequencies) @ coefficients[1:]

    return predict


def refined(t: FloatArray, y: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Frequencies that minimise the squared error jointly, by Gauss-Newton from a near start.

    Frequencies may move by at most half a Rayleigh width from where they started.
    """
    start = np.asarray(frequencies, np.float64)
    reach = 0.5 / np.ptp(t)
    centred = t - t.mean()
    current, best = start.copy(), _misfit(centred, y, start)
    for _ in range(20):
        step = _gauss_newton_step(centred, y, current)
        for halving in range(6):
            trial = np.clip(current + step * 0.5**halving, start - reach, start + reach)
            misfit = _misfit(centred, y, trial)
            if misfit < best:
                break
        else:
            return current
        gain, current, best = best - misfit, trial, misfit
        if gain < 1e-10 * best:
            return current
    return current


def _design(t: FloatArray, frequencies: FloatArray) -> FloatArray:
    return np.hstack([np.ones((t.size, 1)), waves(t, frequencies)])


def _misfit(t: FloatArray, y: FloatArray, frequencies: FloatArray) -> float:
    design = _design(t, frequencies)
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    return float(np.sum((y - design @ coefficients) ** 2))


def _gauss_newton_step(t: FloatArray, y: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Change of the frequencies in one Gauss-Newton step on frequencies and coefficients."""
    design = _design(t, frequencies)
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    count = frequencies.size
    cosine, sine = coefficients[1 : count + 1], coefficients[count + 1 :]
    slope = (
        2.0
        * np.pi
        * t[:, None]
        * (sine * design[:, 1 : count + 1] - cosine * design[:, count + 1 :])
    )
    jacobian = np.hstack([design, slope])
    return np.linalg.lstsq(jacobian, y - design @ coefficients, rcond=None)[0][-count:]
