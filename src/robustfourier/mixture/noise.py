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

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.compiling import compiled

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
        modes = np.ascontiguousarray(modes, np.float64)
        level = np.full((len(modes), self.level.shape[1]), -np.inf)
        side = self.distance, 2.0 * np.log(self.height)
        _log_levels(modes, self.mode, np.log(self.level), *side, level)
        return np.exp(level, out=level)

    def dof_at(self, modes: FloatArray) -> FloatArray:
        """Return the degrees of freedom at any modes, shape (len(modes),)."""
        return np.interp(modes, self.mode, self.dof)


@compiled
def _log_levels(modes: Any, centres: Any, logs: Any, distance: Any, lift: Any, level: Any) -> None:
    """Raise log levels to those at modes: straight between centres, and beyond the ends the same.

    Side peaks show what is elsewhere, too. Most modes lie on the straight piece of the one before.
    """
    for image in range(1 + 2 * len(distance)):
        side = 0.0 if image == 0 else distance[(image - 1) // 2] * (1.0 if image % 2 else -1.0)
        up = 0.0 if image == 0 else lift[(image - 1) // 2]
        for o in range(level.shape[1]):
            begin, end, centre, value, slope = np.inf, -np.inf, 0.0, 0.0, 0.0
            for m in range(len(modes)):
                mode = abs(modes[m] + side)
                if mode < begin or mode >= end:
                    after = np.searchsorted(centres, mode, side="right")
                    i = max(after - 1, 0)
                    begin = centres[i] if after else -np.inf
                    end = centres[after] if after < len(centres) else np.inf
                    centre, value, slope = centres[i], logs[i, o] + up, 0.0
                    if 0 < after < len(centres):
                        slope = (logs[after, o] - logs[i, o]) / (end - centre)
                level[m, o] = max(level[m, o], value + slope * (mode - centre))


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
    ordinates = np.ascontiguousarray(power.T[:, usable])
    count = np.maximum(np.minimum((high - low) * share, at_most), 1.0)
    means = np.empty((len(centres), 2 * len(ordinates) + 2))
    _window_means(np.log(_lifted(ordinates)), np.log(modes), low, high, means)
    flat = np.exp(means[:, : len(ordinates)] - _LOG_MEAN)
    _clip(ordinates, low, high, flat)
    level, dof = _widened(modes, centres, half, flat, count, share, at_most)
    _fall(centres, means, count, level, dof)
    return NoiseFloor(centres, np.maximum(level, np.maximum(smallest, 1e-300)), dof)


def _usable(n_modes: int, lines: FloatArray, slowest: float) -> tuple[FloatArray, IndexArray]:
    """Return the modes that neither a line nor the trend has emptied, and their indices."""
    usable = np.ones(n_modes, bool)
    _empty(usable, np.ascontiguousarray(lines, np.float64), slowest)
    index = np.flatnonzero(usable)
    index = index if len(index) >= 8 else np.arange(n_modes)
    return index.astype(np.float64) + 1.0, index


@compiled
def _empty(usable: Any, lines: Any, slowest: float) -> None:
    """Mark the modes 1, 2, … up to the slowest and within one mode of each line."""
    for k in range(min(int(max(slowest, 0.0)), len(usable))):
        usable[k] = False
    for line in lines:
        first, last = max(np.ceil(line - 1.0), 1.0), min(np.floor(line + 1.0), len(usable))
        for k in range(int(first), int(last) + 1):
            usable[k - 1] = False


def _lifted(ordinates: FloatArray) -> FloatArray:
    """Lift ordinates (q, n) that vanish to a millionth of the median: logarithms are harmless."""
    if np.all(ordinates.min(axis=1) > 2e-6 * ordinates.mean(axis=1)):
        return ordinates  # no median is above two means
    return np.maximum(ordinates, 1e-6 * np.median(ordinates, axis=1)[:, None] + 1e-300)


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


@compiled
def _window_means(y: Any, x: Any, low: Any, high: Any, means: Any) -> None:
    """Write the mean over each window of each row y, of x times each, of x and of x², (C, 2q + 2).

    Windows overlap eightfold at most.
    """
    q = len(y)
    for j in range(len(low)):
        size = max(high[j] - low[j], 1)
        inside = x[low[j] : high[j]]
        first = second = 0.0
        for i in range(len(inside)):
            first += inside[i]
            second += inside[i] * inside[i]
        means[j, 2 * q], means[j, 2 * q + 1] = first / size, second / size
        for o in range(q):
            row = y[o, low[j] : high[j]]
            first = second = 0.0
            for i in range(len(row)):
                first += row[i]
                second += inside[i] * row[i]
            means[j, o], means[j, q + o] = first / size, second / size


@compiled
def _clip(power: Any, low: Any, high: Any, level: Any) -> None:
    """Turn each window's first guess into the level s with mean min(P/s, c) as for exponentials."""
    for j in range(len(low)):
        size = max(high[j] - low[j], 1)
        for o in range(level.shape[1]):
            inside = power[o, low[j] : high[j]]
            for _ in range(12):
                most, total = _CLIP * level[j, o], 0.0
                for i in range(len(inside)):
                    total += min(inside[i], most)
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
        for o in range(q):
            lowest[o], highest[o] = 0.0, np.inf
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
            dof[j] = worth
            for o in range(q):  # a row at once would compile a check of its shape for a second
                level[j, o] = wide[o]


@compiled
def _area_at(place: float, centres: Any, area: Any, output: int) -> float:
    """Interpolate the area of one output."""
    i = max(min(int(np.searchsorted(centres, place)) - 1, len(centres) - 2), 0)
    part = (place - centres[i]) / (centres[i + 1] - centres[i])
    return float(area[i, output] + part * (area[i + 1, output] - area[i, output]))


@compiled
def _fall(centres: Any, means: Any, count: Any, level: Any, dof: Any) -> None:
    """Write the power law at the centre of windows where the spectrum falls, and what it is worth.

    `means` are those of y = log power of each output, x y, x = log mode and x²: a straight line of
    log power over log mode. It falls where its slope is negative by more than one standard error
    if the line then lies above the level, which is the safe side, or by more than three if below.
    """
    q = level.shape[1]
    for j in range(len(centres)):
        x = means[j, 2 * q]
        spread = max(means[j, 2 * q + 1] - x * x, 1e-12)
        distance = np.log(centres[j]) - x
        error = np.sqrt(_LOG_VARIANCE / (spread * count[j]))
        for o in range(q):
            slope = (means[j, q + o] - x * means[j, o]) / spread
            if slope < -(1.0 if distance < 0.0 else 3.0) * error:
                level[j, o] = np.exp(means[j, o] - _LOG_MEAN + slope * distance)
                dof[j] = count[j] / (_LOG_VARIANCE * (1.0 + distance * distance / spread))
