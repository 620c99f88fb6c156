"""The noise floor: power of the noise as a function of the mode, from the residual spectrum.

White noise is a special case. Around each mode a window, narrow at low modes and a tenth of the
mode at high ones, is fitted by a level (a mean of ordinates clipped at three levels, which lines
cannot lift) or, where the spectrum falls, by a power law. Slow drifts and autoregressive noise are
thereby continuum and not lines. Where the spectrum is flat the window grows, twice as wide each
time, until a wider one disagrees with what it contains. The floor says how well it knows itself:
`dof`, the number of independent exponential ordinates whose mean would be as certain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.compiling import compiled

__all__ = ["NoiseFloor", "noise_floor"]


_LOG_MEAN = -np.euler_gamma  # mean of the logarithm of a unit exponential
_LOG_VARIANCE = np.pi**2 / 6.0  # and its variance
# Ordinates are clipped at this many levels. For a unit exponential u: mean and variance of
# min(u, c), and the mean of u below c, the slope of the estimating equation.
_CLIP = 3.0
_CLIPPED_MEAN = 1.0 - np.exp(-_CLIP)
_CLIPPED_SLOPE = 1.0 - np.exp(-_CLIP) * (1.0 + _CLIP)
_EFFICIENCY = _CLIPPED_SLOPE**2 / (2.0 * _CLIPPED_SLOPE - _CLIPPED_MEAN**2)
# A window stops growing where a narrower one stands above it by one standard error, for the floor
# must not be too low, or lies below it by two, or where its halves differ by two.
_ABOVE, _BELOW, _TILT = 1.0, 2.0, 2.0
# Noise is often red at its lowest modes, where few ordinates could tell: half the width of a window
# never grows beyond this many times its mode.
_REACH = 4.0


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
    distance, height : ndarray of shape (J,)
        Side peaks of the spectral window: power at a mode k shows again at k ± distance, by the
        square of the height. Slow drift seen once a night is seen at one cycle per day too.
    """

    mode: FloatArray
    level: FloatArray
    dof: FloatArray
    distance: FloatArray = field(default_factory=lambda: np.zeros(0))
    height: FloatArray = field(default_factory=lambda: np.zeros(0))

    def at(self, modes: FloatArray) -> FloatArray:
        """Return the level at any modes, shape (len(modes), q); geometric between centres."""
        modes, logs = np.asarray(modes, np.float64), np.log(self.level)
        level = np.empty((len(modes), logs.shape[1]))
        for c, column in enumerate(logs.T):
            level[:, c] = np.interp(modes, self.mode, column)
        for distance, height in zip(self.distance, self.height, strict=True):
            for image in (np.abs(modes - distance), modes + distance):
                for c, column in enumerate(logs.T):
                    seen = np.interp(image, self.mode, column) + 2.0 * np.log(height)
                    np.maximum(level[:, c], seen, out=level[:, c])
        return np.exp(level, out=level)

    def dof_at(self, modes: FloatArray) -> FloatArray:
        """Return the degrees of freedom at any modes, shape (len(modes),)."""
        return np.interp(modes, self.mode, self.dof)


def noise_floor(
    power: FloatArray,
    lines: FloatArray,
    *,
    share: float = 1.0,
    at_most: float = np.inf,
    smallest: FloatArray | float = 0.0,
    slowest: float = 0.0,
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
        Independent ordinates per integer mode, 1 for samples without gaps.
    at_most : float
        Largest number of independent ordinates in any window: half the number of samples.
    smallest : ndarray of shape (q,) or float
        A level below which the floor does not go (rounding errors).
    slowest : float
        Modes up to this one are left out too, for the trend has emptied them.
    """
    modes, usable = _usable(len(power), lines, slowest)
    centres, half = _centres(len(power))
    low, high = _windows(modes, centres, half)
    ordinates = np.ascontiguousarray(power[usable])
    count = np.maximum(np.minimum((high - low) * share, at_most), 1.0)
    # Ordinates that vanish are lifted, so that their logarithms are harmless.
    logs = np.log(np.maximum(ordinates, 1e-6 * np.median(ordinates, axis=0) + 1e-300))
    x = np.log(modes)
    columns = [*logs.T, *(x * log for log in logs.T), x, x * x]
    means = _window_means(columns, low, high)
    flat = np.exp(means[:, : logs.shape[1]] - _LOG_MEAN)
    _clip(ordinates, low, high, flat)
    line, leverage, falls = _power_law(centres, means, count)
    sloped = 1.0 / (_LOG_VARIANCE * leverage)
    flat, worth = _widened(modes, centres, half, flat, count, share, at_most)
    level = np.where(falls, line, flat)
    dof = np.where(falls.any(axis=1), sloped, worth)
    return NoiseFloor(centres, np.maximum(level, np.maximum(smallest, 1e-300)), dof)


def _usable(n_modes: int, lines: FloatArray, slowest: float) -> tuple[FloatArray, IndexArray]:
    """Return the modes that neither a line nor the trend has emptied, and their indices."""
    usable = np.arange(1, n_modes + 1) > slowest
    for line in lines:
        near = slice(max(int(np.ceil(line - 1.0)) - 1, 0), max(int(np.floor(line + 1.0)), 0))
        usable[near] = False
    index = np.flatnonzero(usable) if usable.sum() >= 8 else np.arange(n_modes)
    return index.astype(np.float64) + 1.0, index


def _half_width(mode: float) -> float:
    """Half the width of the window: at least 12 modes, 0.6 of the mode, from 640 on a tenth."""
    return max(12.0, min(0.6 * mode, 64.0), 0.1 * mode)


@lru_cache(maxsize=4)
def _centres(n_modes: int) -> tuple[FloatArray, FloatArray]:
    """Window centres, a quarter of the half width apart, and half widths."""
    centres = [1.0]
    while centres[-1] < n_modes:
        centres.append(centres[-1] + max(1.0, 0.25 * _half_width(centres[-1])))
    centres[-1] = min(centres[-1], float(max(n_modes, 1)))
    return np.array(centres), np.array([_half_width(centre) for centre in centres])


def _windows(
    modes: FloatArray, centres: FloatArray, half: FloatArray
) -> tuple[IndexArray, IndexArray]:
    """Return first and one past the last ordinate around each centre, at least 8 if possible."""
    low = np.searchsorted(modes, centres - half)
    high = np.searchsorted(modes, centres + half, side="right")
    missing = np.maximum(8 - (high - low), 0)
    return np.maximum(low - missing, 0), np.minimum(high + missing, len(modes))


def _window_means(columns: list[FloatArray], low: IndexArray, high: IndexArray) -> FloatArray:
    """Return the mean of each column over each window, (C, c), by sums between their ends."""
    ends = np.unique(np.concatenate([[0], low, high]))
    at_low, at_high = np.searchsorted(ends, low), np.searchsorted(ends, high)
    starts = ends[ends < len(columns[0])]
    means = np.empty((len(low), len(columns)))
    for c, column in enumerate(columns):
        running = np.append(0.0, np.cumsum(np.add.reduceat(column, starts)))
        means[:, c] = running[at_high] - running[at_low]
    return means / np.maximum(high - low, 1)[:, None]


@compiled
def _clip(power: Any, low: Any, high: Any, level: Any) -> None:
    """Turn each window's first guess into the level s with mean min(P/s, c) as for exponentials."""
    for j in range(len(low)):
        size = max(high[j] - low[j], 1)
        for o in range(level.shape[1]):
            for _ in range(12):
                most, total = _CLIP * level[j, o], 0.0
                for i in range(low[j], high[j]):
                    total += min(power[i, o], most)
                excess = (total / size / level[j, o] - _CLIPPED_MEAN) / _CLIPPED_SLOPE
                level[j, o] *= np.exp(min(max(excess, -1.0), 1.0))
                if abs(excess) < 1e-9:
                    break


def _widened(
    modes: FloatArray,
    centres: FloatArray,
    half: FloatArray,
    flat: FloatArray,
    count: FloatArray,
    share: float,
    at_most: float,
) -> tuple[FloatArray, FloatArray]:
    """Let the window around each centre grow while it agrees with all that it contains.

    The level of a wide window is the mean of the narrow ones' levels.

    Returns
    -------
    level : ndarray of shape (C, q)
    dof : ndarray of shape (C,)
    """
    level, dof = flat.copy(), _EFFICIENCY * count
    pieces = 0.5 * np.diff(centres)[:, None] * (flat[1:] + flat[:-1])
    area = np.vstack([np.zeros((1, flat.shape[1])), np.cumsum(pieces, axis=0)])
    if len(centres) > 1:
        _widen(modes, centres, half, area, share, at_most, level, dof)
    return level, dof


@compiled
def _widen(
    modes: Any,
    centres: Any,
    half: Any,
    area: Any,
    share: float,
    at_most: float,
    level: Any,
    dof: Any,
) -> None:
    """Write `level` and `dof` of the widest window around each centre; `area` is under `level`."""
    q, left, right = level.shape[1], centres[0], centres[-1]
    lowest, highest, wide = np.empty(q), np.empty(q), np.empty(q)
    for j in range(len(centres)):
        lowest[:], highest[:] = 0.0, np.inf
        reach, first, last = half[j], right, left
        while first > left or last < right:
            error = 1.0 / np.sqrt(dof[j])
            reach *= 2.0
            first, last = max(centres[j] - reach, left), min(centres[j] + reach, right)
            inside = np.searchsorted(modes, last, side="right") - np.searchsorted(modes, first)
            worth = _EFFICIENCY * min(max(inside * share, 1.0), at_most)
            # A tilt hardly moves the level at the middle of a window, but does so at its ends.
            aside = abs(2.0 * centres[j] - first - last) / (last - first)
            tilted = _TILT / (1.0 + 2.0 * aside) / np.sqrt(worth)
            fits = reach <= _REACH * centres[j]
            for o in range(q):
                lowest[o] = max(lowest[o], level[j, o] * np.exp(-_ABOVE * error))
                highest[o] = min(highest[o], level[j, o] * np.exp(_BELOW * error))
                start, end = _area_at(first, centres, area, o), _area_at(last, centres, area, o)
                middle = _area_at(0.5 * (first + last), centres, area, o)
                wide[o] = (end - start) / (last - first)
                fits &= lowest[o] <= wide[o] <= highest[o]
                fits &= abs(end - 2.0 * middle + start) <= tilted * (end - start)
            if not fits:
                break
            level[j], dof[j] = wide, worth


@compiled
def _area_at(place: float, centres: Any, area: Any, output: int) -> float:
    """Interpolate the area of one output."""
    i = max(min(int(np.searchsorted(centres, place)) - 1, len(centres) - 2), 0)
    part = (place - centres[i]) / (centres[i + 1] - centres[i])
    return float(area[i, output] + part * (area[i + 1, output] - area[i, output]))


def _power_law(
    centres: FloatArray, means: FloatArray, count: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Fit log power over log mode by a straight line in each window.

    Parameters
    ----------
    centres : ndarray of shape (C,)
    means : ndarray of shape (C, 2q + 2)
        Over each window: y = log power of each output, x y, x = log mode, and x².
    count : ndarray of shape (C,)
        Independent ordinates in each window.

    Returns
    -------
    level : ndarray of shape (C, q)
        The line at the centre.
    leverage : ndarray of shape (C,)
        Variance of its logarithm there, in units of that of one ordinate.
    falls : ndarray of bool, shape (C, q)
        Where the slope is negative: by more than one standard error where the line then lies
        above the level, which is the safe side, by more than three where below.
    """
    y_mean, xy_mean = np.split(means[:, :-2], 2, axis=1)
    x_mean = means[:, -2:-1]
    spread = np.maximum(means[:, -1:] - x_mean**2, 1e-12)
    slope = (xy_mean - x_mean * y_mean) / spread
    distance = np.log(centres)[:, None] - x_mean
    leverage = (1.0 + distance**2 / spread)[:, 0] / count
    error = np.sqrt(_LOG_VARIANCE / (spread[:, 0] * count))[:, None]
    level = np.exp(y_mean - _LOG_MEAN + slope * distance)
    needed = np.where(distance < 0.0, 1.0, 3.0)
    return level, leverage, slope < -needed * error
