"""Line wings: power beside a line that is not quite steady.

A pulse whose rate wanders, or demand that breathes with the seasons, is surrounded by power above
the noise: a Lorentzian if amplitude and phase are Ornstein-Uhlenbeck processes. Whatever the
modulation, it falls as one over the squared distance once that is larger than its own width, as the
record begins and ends abruptly. What stands on such wings must be judged against them, or one
quasi-periodic pattern would be thirty lines; and its errors are larger than noise alone gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import bdtrc, gammaincc, gammaincinv

from robustfourier.arrays import ComplexArray, FloatArray, IndexArray
from robustfourier.compiling import compiled
from robustfourier.mixture.judge import wing_p_value
from robustfourier.mixture.noise import NoiseFloor
from robustfourier.mixture.series import Series
from robustfourier.periodic.variable_projection import Refined

LeftAt = Callable[[IndexArray], FloatArray]

BESIDE = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])  # modes from a line at which its wings show
CLEAR = 0.75  # modes; nearer to a line the fit has emptied the residual
LEVEL = 0.01  # how often noise alone looks like wings


OFFSETS = np.concatenate([np.arange(-6.0, 0.0), np.arange(1.0, 7.0)])  # modes around a line
REACH = 12.0  # modes from a line to which its wings are continued
FEWEST = 6  # ordinates that can show wings
CERTAIN = 0.001  # how often flat noise may look like wings; strict lines must stay strict
EFFICIENCY = 0.48  # of the median of exponentials: (log 2)², against their mean
# Few lines of real series are steadier than this: wings of a thousandth of a line's power one mode
# away (an amplitude or phase that changes by some 3 % over the record) is expected of any.
EXPECTED = 0.001
_SIZES = np.concatenate([[0.0], np.geomspace(0.1, 1e12, 131)])  # steps of a quarter in amplitude


@dataclass(frozen=True, eq=False)
class LineWings:
    """Noise beside each line: 1 + size / distance² times the floor, as far as that shows.

    Parameters
    ----------
    mode, strength : ndarray of shape (K,)
        The lines, and their power over the floor.
    size : ndarray of shape (K,)
        Zero for a steady line.
    dof : ndarray of shape (K,)
        How many exponential ordinates the size is worth.
    """

    mode: FloatArray
    strength: FloatArray
    size: FloatArray
    dof: FloatArray

    @classmethod
    def of(
        cls,
        mode: FloatArray,
        strength: FloatArray,
        grid: FloatArray,
        left: LeftAt,
        n_outputs: int,
        lowest: float,
    ) -> LineWings:
        """Measure the wings of each line from what stands beside it.

        Parameters
        ----------
        mode, strength : ndarray of shape (K,)
            Fitted lines, and their power over the floor, summed over outputs.
        grid : ndarray of shape (J,)
            Evenly spaced modes from zero on.
        left : callable
            ``index -> ndarray``: residual power over the floor at some of them, summed over
            outputs.
        n_outputs : int
        lowest : float
            Below this mode the trend has emptied the residual.

        Notes
        -----
        At a place where a weaker line was fitted, that line's power counts: it may be part of the
        wings. Places next to other lines are left out. The size is read off the median, so that a
        strong line of its own beside a steady one does not make that one's wings.
        """
        place = mode[:, None] + OFFSETS
        power = _beside(place, mode, strength, grid, left, lowest)
        median, size = np.ones(len(mode)), np.zeros(len(mode))
        count = np.isfinite(power).sum(axis=1)
        for i in np.flatnonzero(count >= FEWEST):
            median[i] = _median(power[i], 0.0)
        middle = float(gammaincinv(n_outputs, 0.5))
        chance = bdtrc(np.ceil(0.5 * count) - 1, count, gammaincc(n_outputs, median))
        for i in np.flatnonzero((count >= FEWEST) & (chance < CERTAIN)):
            size[i] = _size_of(power[i], middle)
        return cls(mode, strength, size, EFFICIENCY * n_outputs * np.maximum(count, 1))

    def beside_stronger(self) -> tuple[FloatArray, FloatArray]:
        """Return the noise over the floor at each line from wings of stronger ones, and its dof."""
        distance = np.abs(self.mode[:, None] - self.mode)
        counts = (self.strength > self.strength[:, None]) & (distance <= REACH)
        size = np.maximum(self.size, EXPECTED * self.strength)
        lift = np.where(counts, 1.0 + size / np.maximum(distance, 1.0) ** 2, 1.0)
        worst = np.argmax(lift, axis=1) if len(self.mode) else np.zeros(0, np.intp)
        highest = lift.max(axis=1, initial=1.0)
        return highest, np.where(self.size[worst] > 0.0, self.dof[worst], np.inf)


@compiled
def _median(power: Any, size: float) -> float:
    """Median of the power around a line, but for NaNs, over the noise that its wings would be."""
    ordered, count = np.empty(len(power)), 0
    for p in range(len(power)):
        if np.isnan(power[p]):
            continue
        value, at = power[p] / (1.0 + size / OFFSETS[p] ** 2), count
        while at > 0 and ordered[at - 1] > value:
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at], count = value, count + 1
    return 0.5 * (ordered[(count - 1) // 2] + ordered[count // 2])


@compiled
def _size_of(power: Any, middle: float) -> float:
    """Size of the wings over which the median is `middle`: halvings of the table, then between."""
    low, high = 0, len(_SIZES) - 1
    above, below = _median(power, _SIZES[low]) / middle, _median(power, _SIZES[high]) / middle
    while high - low > 1:
        at = (low + high) // 2
        value = _median(power, _SIZES[at]) / middle
        if value > 1.0:
            low, above = at, value
        else:
            high, below = at, value
    part = min(np.log(above) / np.log(above / below), 1.0)  # there is no larger size
    return _SIZES[low] + part * (_SIZES[high] - _SIZES[low])


def _beside(
    place: FloatArray,
    mode: FloatArray,
    strength: FloatArray,
    grid: FloatArray,
    left: LeftAt,
    lowest: float,
) -> FloatArray:
    """Power over the floor at places around each line, NaN where it cannot be told, (K, P)."""
    near = np.clip(np.round(place / grid[1]).astype(np.intp), 0, len(grid) - 1)
    power = left(near.ravel()).reshape(near.shape)
    order = np.argsort(mode, kind="stable")
    _mark(place, mode, mode[order], order, strength, lowest, grid[-1], power)
    return power


@compiled
def _mark(
    place: Any, mode: Any, ordered: Any, order: Any, strength: Any, lowest: float, highest: float,
    power: Any,
) -> None:  # fmt: skip
    """Write NaN where the power cannot be told, and that of a weaker line where one was fitted."""
    for i in range(len(mode)):
        for p in range(place.shape[1]):
            x = place[i, p]
            if x < lowest or x > highest:
                power[i, p] = np.nan
            after, nearest, other = np.searchsorted(ordered, x), np.inf, i
            for at in range(max(after - 1, 0), min(after + 1, len(mode))):
                distance = abs(ordered[at] - x)
                if order[at] != i and distance < nearest:
                    nearest, other = distance, order[at]
            if nearest < 1.0:
                power[i, p] = np.nan
            if nearest < 0.5 and strength[other] < strength[i]:
                power[i, p] = strength[other]


def wing_ratio(
    sums_at: Callable[[FloatArray], ComplexArray],
    total: float,
    modes: FloatArray,
    lines: FloatArray,
    floor: NoiseFloor,
) -> FloatArray:
    """Return the noise power around each mode over the floor; 1 where there are no wings.

    Parameters
    ----------
    sums_at : callable
        ``modes -> Σ w r e^{-iπkθ}`` of the residual, shape (m, q).
    total : float
        Total weight.
    modes : ndarray of shape (m,)
        Where to look.
    lines : ndarray of shape (K,)
        Modes that were fitted; places next to them are left out.
    floor : NoiseFloor
    """
    if not len(modes):
        return np.ones(0)
    beside = modes[:, None] + BESIDE
    nearest = np.abs(beside[:, :, None] - lines).min(axis=2, initial=np.inf)
    free = (nearest > CLEAR) & (beside > 0) & (beside <= floor.mode[-1])
    sums = sums_at(np.where(free, beside, 1.0).ravel())
    power = np.abs(sums).reshape(*beside.shape, -1) ** 2 / total
    ratio = (power / floor.at(modes)[:, None]).mean(axis=2)
    count = np.maximum(free.sum(axis=1), 1)
    local = np.where(free, ratio, 0.0).sum(axis=1) / count
    return np.where(wing_p_value(local, count) < LEVEL, np.maximum(local, 1.0), 1.0)


def local_noise(
    series: Series,
    refined: Refined,
    modes: FloatArray,
    floor: NoiseFloor,
    variance: FloatArray,
) -> FloatArray:
    """Return the noise power at each line over the variance of the noise, shape (K,).

    The local floor is worth a dozen ordinates or two, and low where the fit of many lines has
    emptied them. Where it does not clearly differ from white noise, it is white noise: its
    logarithm is shrunk to zero by the James-Stein factor. A line that is not quite steady stands
    on wings of its own, which are its noise.

    Parameters
    ----------
    series : Series
    refined : Refined
        A fit of the series, whose residual shows the wings.
    modes : ndarray of shape (K,)
        The lines.
    floor : NoiseFloor
    variance : ndarray of shape (q,)
        Of the noise.
    """
    left = partial(series.residual_sums, refined)
    wings = wing_ratio(left, series.total, modes, modes, floor)
    # The floor goes no lower than rounding does, so neither does what it is compared with.
    white = np.maximum(variance, np.maximum(series.smallest_noise, np.finfo(float).tiny))
    local = np.log((floor.at(modes) / white).mean(axis=1))
    chance = 1.0 / np.maximum(floor.dof_at(modes), 1.0)
    kept = 1.0 - chance / np.maximum(local**2, chance)
    return np.asarray(wings * np.exp(kept * local))
