"""The noise floor: power of the noise as a function of the mode, from the residual spectrum.

White noise is a special case. Around each mode a window, narrow at low modes and a tenth of the
mode at high ones, is fitted by a level (the median, which lines cannot lift) or, where the
spectrum clearly falls, by a power law. Slow drifts and autoregressive noise are thereby continuum
and not lines. The floor says how well it knows itself: `dof`, the number of independent
exponential ordinates whose mean would be as certain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NoiseFloor", "noise_floor"]

FloatArray = NDArray[np.float64]

_LOG_MEAN = -np.euler_gamma  # mean of the logarithm of a unit exponential
_LOG_VARIANCE = np.pi**2 / 6.0  # and its variance
_MEDIAN_EFFICIENCY = np.log(2.0) ** 2  # of the median against the mean of exponentials


@dataclass(frozen=True)
class NoiseFloor:
    """Noise power per output as a function of the mode.

    Parameters
    ----------
    mode : ndarray of shape (C,)
        Window centres, ascending.
    level : ndarray of shape (C, q)
        Noise power there: the variance of white noise that would have the same spectrum.
    dof : ndarray of shape (C,)
        How many exponential ordinates each level is worth.
    """

    mode: FloatArray
    level: FloatArray
    dof: FloatArray

    def at(self, modes: FloatArray) -> FloatArray:
        """Return the level at any modes, shape (len(modes), q); geometric between centres."""
        logs = np.log(self.level)
        columns = [np.interp(modes, self.mode, logs[:, o]) for o in range(logs.shape[1])]
        return np.exp(np.stack(columns, axis=1)) if columns else np.ones((len(modes), 0))

    def dof_at(self, modes: FloatArray) -> FloatArray:
        """Return the degrees of freedom at any modes, shape (len(modes),)."""
        return np.interp(modes, self.mode, self.dof)


def noise_floor(
    power: FloatArray, lines: FloatArray, *, share: float = 1.0, smallest: float = 0.0
) -> NoiseFloor:
    """Estimate the floor from the residual power at the modes 1, 2, …, M.

    Parameters
    ----------
    power : ndarray of shape (M, q)
        Residual power at integer modes, already divided by the share of variance that the fit has
        not absorbed.
    lines : ndarray of shape (K,)
        Modes of fitted lines; ordinates within one mode of them are left out, for the fit has
        emptied them.
    share : float
        Independent ordinates per integer mode: min(1, n / 2M).
    smallest : float
        A level below which the floor does not go (rounding errors).
    """
    modes = np.arange(1.0, len(power) + 1.0)
    usable = np.ones(len(modes), bool)
    for line in lines:
        near = slice(max(int(np.ceil(line - 1.0)) - 1, 0), max(int(np.floor(line + 1.0)), 0))
        usable[near] = False
    centres = _centres(len(modes))
    levels, dofs = np.empty((len(centres), power.shape[1])), np.empty(len(centres))
    index = np.flatnonzero(usable) if usable.sum() >= 8 else np.arange(len(modes))
    for i, centre in enumerate(centres):
        window = _window(index, centre)
        levels[i], dofs[i] = _local_level(modes[window], power[window], centre, share)
    return NoiseFloor(centres, np.maximum(levels, max(smallest, 1e-300)), dofs)


def _half_width(mode: float) -> float:
    """Half the width of the window: at least 12 modes, 0.6 of the mode, from 640 on a tenth."""
    return max(12.0, min(0.6 * mode, 64.0), 0.1 * mode)


def _centres(n_modes: int) -> FloatArray:
    """Window centres, a quarter of the half width apart."""
    centres = [1.0]
    while centres[-1] < n_modes:
        centres.append(centres[-1] + max(1.0, 0.25 * _half_width(centres[-1])))
    centres[-1] = float(max(n_modes, 1))
    return np.array(centres)


def _window(index: NDArray[np.intp], centre: float) -> NDArray[np.intp]:
    """Return the usable ordinates around a centre, at least 8 of them if there are as many."""
    half = _half_width(centre)
    low = int(np.searchsorted(index + 1, centre - half))
    high = int(np.searchsorted(index + 1, centre + half, side="right"))
    missing = 8 - (high - low)
    if missing > 0:
        low, high = max(low - missing, 0), min(high + missing, len(index))
    return index[low:high]


def _local_level(
    modes: FloatArray, power: FloatArray, centre: float, share: float
) -> tuple[FloatArray, float]:
    """Return level per output and degrees of freedom from one window."""
    count = max(len(modes) * share, 1.0)
    flat = np.median(power, axis=0) / (np.log(2.0) + 0.5 / count)
    if len(modes) < 4:
        return flat, _MEDIAN_EFFICIENCY * count
    # Power law: a straight line of log power over log mode, least squares.
    x = np.log(modes) - np.log(modes).mean()
    logs = np.log(np.maximum(power, 1e-3 * flat + 1e-300))
    slope = x @ logs / (x @ x)
    error = np.sqrt(_LOG_VARIANCE / (share * (x @ x)))
    distance = np.log(centre) - np.log(modes).mean()
    leverage = 1.0 / count + distance**2 / (share * (x @ x))
    falls = slope / error < -1.0
    line = np.exp(logs.mean(0) - _LOG_MEAN + slope * distance)
    level = np.where(falls, np.maximum(line, flat * (distance > 0)), flat)
    sloped = 1.0 / (_LOG_VARIANCE * leverage)
    return level, float(sloped if np.any(falls) else _MEDIAN_EFFICIENCY * count)
