"""Proposals: modes where a line might be. They need not be right, only near; tests decide later.

The diagonal flow proposes first: neighbouring active modes belong to one line. What the residual
still holds is proposed from its periodogram, strongest first, each with its sidelobes subtracted
(a matching pursuit on a quarter-mode grid), so that gaps in the sampling propose no ghosts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray
from robustfourier.mixture.noise import NoiseFloor
from robustfourier.spectral.flow import DiagonalFlow
from robustfourier.spectral.periodogram import PeriodogramGrid

APART = 0.9  # modes; two lines closer than this the record does not resolve


# One round of the pursuit goes down to this share of its strongest peak: a line that is an eighth
# of a mode off the grid leaves sidelobes of a few per cent of its power.
_DYNAMIC_RANGE = 0.03


@dataclass(frozen=True)
class Pursued:
    """Peaks taken out of a residual one after the other, strongest first.

    Parameters
    ----------
    modes : ndarray of shape (K,)
    power : ndarray of shape (K, q)
        Of each peak when it was taken out.
    sums : ndarray of complex, shape (J, q)
        What is left on the grid without them.
    """

    modes: FloatArray
    power: FloatArray
    sums: ComplexArray


def flow_proposals(flow: DiagonalFlow, floor: FloatArray, total: float) -> FloatArray:
    """Return one mode per peak of the diagonal flow, strongest first.

    Parameters
    ----------
    flow : DiagonalFlow
    floor : ndarray of shape (M + 1,)
        Noise variance at each mode, summed over outputs.
    total : float
        Total weight of the samples.
    """
    amplitude = flow.amplitude.copy()
    amplitude[0] = 0.0
    # A line of amplitude A has a power of total·A²/4; below a few floors no test would pass it.
    strong = total * amplitude**2 / 4.0 > 4.0 * floor
    padded = np.concatenate([amplitude, [0.0]])
    peak = strong & (amplitude >= padded[1:]) & (amplitude > np.roll(padded, 1)[:-1])
    modes = np.flatnonzero(peak)
    modes = modes[np.argsort(-amplitude[modes], kind="stable")]
    kept: list[int] = []
    for mode in modes:
        rivals = [other for other in kept if abs(other - mode) <= 4]
        if all(amplitude[mode] > 0.35 * amplitude[other] for other in rivals):
            kept.append(int(mode))
    return np.array([_centroid(padded, mode) for mode in kept])


def _centroid(amplitude: FloatArray, mode: int) -> float:
    """Place a line between a peak and its larger neighbour, by their amplitudes."""
    other = mode + 1 if amplitude[mode + 1] > amplitude[mode - 1] else mode - 1
    share = amplitude[other] / max(amplitude[mode] + amplitude[other], np.finfo(float).tiny)
    return mode + (other - mode) * float(share)


def pursued(
    grid: PeriodogramGrid,
    data_sums: ComplexArray,
    floor: FloatArray,
    passes: Callable[[FloatArray, FloatArray], BoolArray],
    taken: FloatArray,
    *,
    lowest: float,
    apart: float = APART,
    at_most: int = 64,
    faintest: float = _DYNAMIC_RANGE,
    between: bool = True,
) -> Pursued:
    """Take peaks out of the residual as long as it holds more than noise.

    Parameters
    ----------
    grid : PeriodogramGrid
    data_sums : ndarray of complex, shape (J, q)
        Sums of the residual on the grid.
    floor : ndarray of shape (J, q)
        Noise power on the grid.
    passes : callable
        ``(ratio, mode) -> bool``: whether a peak of that power over floor is worth a test.
    taken : ndarray of shape (K,)
        Lines already there; nothing closer than `apart` to them is proposed.
    lowest : float
        Lowest mode to propose.
    apart : float
        Smallest distance of two lines.
    at_most : int
        Largest number of peaks.
    faintest : float
        Peaks below this share of the strongest, in power over floor, are left.
    between : bool
        Whether a peak may lie between modes of the grid.
    """
    modes, sums, allowed = grid.modes, data_sums, apart_from(taken, grid, lowest, apart)
    found: list[float] = []
    strength: list[FloatArray] = []
    top = 0.0
    while len(found) < at_most:
        best, ratio = grid.highest_over(sums, floor, allowed)
        here = ratio[1:2]
        top = max(top, here[0])
        if here[0] < faintest * top or not passes(here, modes[best : best + 1])[0]:
            break
        found.append((best + (_peak_position(*ratio) if between else 0.0)) * grid.spacing)
        strength.append(grid.power_at(sums, np.array([best]))[0])
        sums = data_sums.copy() if sums is data_sums else sums
        grid.take_out(sums, best)
        _forbid(allowed, modes[best], apart, grid.spacing)
    return Pursued(np.array(found), np.array(strength).reshape(-1, sums.shape[1]), sums)


def apart_from(taken: FloatArray, grid: PeriodogramGrid, lowest: float, apart: float) -> BoolArray:
    """Mark the grid modes from the lowest on that are `apart` from those taken, shape (J,)."""
    allowed = np.ones(grid.size, bool)
    allowed[: max(math.ceil(lowest / grid.spacing), 0)] = False
    for line in taken:
        _forbid(allowed, float(line), apart, grid.spacing)
    return allowed


def _forbid(allowed: BoolArray, line: float, apart: float, spacing: float) -> None:
    """Mark all grid modes closer than `apart` to a line."""
    low = math.floor((line - apart) / spacing) + 1
    high = math.ceil((line + apart) / spacing) - 1
    allowed[max(low, 0) : max(high + 1, 0)] = False


def _peak_position(left: float, top: float, right: float) -> float:
    """Top of the parabola through a peak and its neighbours, in grid steps from the peak."""
    bend = left - 2.0 * top + right
    if min(left, right) == 0.0 or bend >= 0.0:
        return 0.0
    return min(max(0.5 * (left - right) / bend, -0.5), 0.5)


def allowed(
    proposed: FloatArray, taken: FloatArray, lowest: float, highest: float, integer: bool
) -> FloatArray:
    """Keep proposals in range that are apart from each other and from lines already there."""
    apart = 0.5 if integer else APART
    kept: list[float] = []
    for mode in proposed:
        others = np.concatenate([taken, kept])
        if lowest <= mode <= highest and np.all(np.abs(others - mode) >= apart):
            kept.append(float(mode))
    return np.array(kept)


def from_above(floor: NoiseFloor, modes: FloatArray) -> FloatArray:
    """Return the smallest floor at these or any higher modes, shape (len(modes), q)."""
    lowest = np.minimum.accumulate(floor.level[::-1], axis=0)[::-1]
    return replace(floor, level=lowest).at(modes)


def clear_of_continuum(floor: NoiseFloor, modes: FloatArray) -> BoolArray:
    """Mark the lines that no falling continuum explains: the floor under them hardly rises."""
    rise = np.log(floor.at(modes) / from_above(floor, modes)).max(axis=1, initial=0.0)
    # Each line alone, or all together: the floor under one line may rest on few ordinates.
    clear = rise <= np.log(2.5)
    if len(modes) and np.average(rise, weights=floor.dof_at(modes)) <= np.log(1.5):
        clear[:] = True
    return clear


def held_out(theta: FloatArray, random_state: int) -> BoolArray:
    """Mark a fifth of the distinct positions; rows at one position stay together."""
    place = np.concatenate([[0], np.cumsum(np.diff(theta) != 0)])
    count = int(place[-1]) + 1
    chosen = np.random.default_rng(random_state).permutation(count) < count // 5
    return chosen[place]
