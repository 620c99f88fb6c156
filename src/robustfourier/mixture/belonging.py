"""What belongs to a pattern: lines near its own, power around its harmonics, ringing at them.

And so in which ways it may live.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray, IntArray
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.nufft import RealModeSums

HARMONICS = 8  # of a pattern that may live, the strongest
FEWEST_CYCLES = 4.0  # in the record; with fewer a pattern cannot show that it wanders
_SHOWN = 7.0  # times the noise at a mode: noise alone has as much once in e⁷, a thousand
# Deviations of the noise in a band: m modes of it have the variance m, and m times the floor, which
# is told by a median of 2m, has as much again. White noise passes once in sixty.
_CLEAR = 3.0
REACH = 12.0  # modes; farther from a pattern's lines another line is not part of it
_NEAR = 0.25  # of the distance of two harmonics: what is nearer to one belongs to it


@dataclass(frozen=True, eq=False)
class Candidate:
    """A way in which a pattern may live.

    Parameters
    ----------
    component : int
    mode : float
        Of its fundamental.
    order : ndarray of int of shape (H,)
    power : ndarray of shape (H,)
        Half the squared amplitudes of these harmonics, shared as what is around them.
    values, held, whole : ndarray of shape (n,)
        What the processes have to explain if it lives: the residual, and lines taken in; the same
        with its own lines at the harmonics that live; and with all of its own lines.
    taken : ndarray of int
        Lines that become part of it.
    strict : bool
        Whether its own lines stay; if not, they are taken in too, and the phase is forgotten.
    n_lines : int
        Lines that are no more lines, which saves the penalty of their parameters.
    still, own, near : ndarray of shape (2, ·)
        Modes and powers of its lines at the harmonics that live, of all its own, and of those that
        become part of it.
    clock : bool
        Whether its clock wanders, not its shape: harmonic n then forgets n² times as fast.
    """

    component: int
    mode: float
    order: IntArray
    power: FloatArray
    values: FloatArray
    held: FloatArray
    whole: FloatArray
    taken: IndexArray
    strict: bool
    n_lines: int
    still: FloatArray
    own: FloatArray
    near: FloatArray
    clock: bool = False


def taken_in(
    mode: FloatArray,
    component: IntArray,
    order: IntArray,
    power: FloatArray,
    own: IndexArray,
    c: int,
) -> IndexArray:
    """Return side lines of a pattern, and lines of weaker patterns that all lie near its lines."""
    distance = np.abs(mode[:, None] - mode[own]).min(axis=1)
    far = distance > min(REACH, _NEAR * mode[own].min())
    whole = np.bincount(component, power)
    inside = (np.bincount(component, far) == 0) & (whole < whole[c])
    return np.flatnonzero(((component == c) & (order == 0)) | inside[component])


def power_around(
    modes: FloatArray, mode: float, values: FloatArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray, int]:
    """Return the power of samples in bands around modes, the noise between them taken off.

    And the power that this noise has at one mode, and at how many modes of a band it was counted.

    Parameters
    ----------
    modes : ndarray of shape (H,)
    mode : float
        Distance of the harmonics.
    values, theta : ndarray of shape (n,)
    """
    reach = min(REACH, _NEAR * mode)
    inside = np.arange(-np.floor(reach), np.floor(reach) + 1.0)
    between = np.concatenate([inside - 0.5 * mode, inside + 0.5 * mode])

    # Samples are real: the sums at a mode and at its negative have the same size.
    at = np.abs(modes[:, None] + np.concatenate([inside, between]))
    sums = RealModeSums.of(theta, values[:, None], float(at.max())).at(at.ravel())
    power = 2.0 * np.abs(sums.reshape(at.shape) / len(theta)) ** 2
    floor = np.median(power[:, len(inside) :], axis=1) / np.log(2.0)  # of an exponential
    around = power[:, : len(inside)].sum(axis=1) - len(inside) * floor
    return np.maximum(around, 0.0), floor, len(inside)


def foreign(oscillators: FloatArray, mode: float, order: IntArray) -> FloatArray:
    """Return the oscillators, three logarithms each, that do not ring at harmonics of a mode.

    They are those far from the harmonics `order`, and those as wide as the distance of two.
    """
    threes = oscillators.reshape(-1, 3)
    frequency, quality = np.exp(threes[:, :2]).T / np.array([[np.pi * mode], [1.0]])
    off = np.abs(frequency[:, None] - order).min(axis=1)
    own = (off < _NEAR) & (0.5 * frequency / quality < _NEAR)
    return np.asarray(threes[~own].ravel())


def ways_to_live(
    c: int,
    lines: Lines,
    component: IntArray,
    order: IntArray,
    mode: float,
    left: FloatArray,
    theta: FloatArray,
    steady: bool,
) -> list[Candidate]:
    """Return the ways in which a pattern may live; none if it has too few cycles or is strict.

    Parameters
    ----------
    c : int
        The pattern.
    lines : Lines
        All lines, of one output.
    component, order : ndarray of int of shape (K,)
        As in `ColumnModel`.
    mode : float
        Of its fundamental.
    left, theta : ndarray of shape (n,)
        Residual, and where.
    steady : bool
        Whether it keeps phase and height; only lines near its own could then be signs of life.
    """
    power = 0.5 * lines.amplitude[:, 0] ** 2
    own = np.flatnonzero((component == c) & (order > 0))
    if mode < FEWEST_CYCLES or not len(own):
        return []
    near = taken_in(lines.mode, component, order, power, own, c)
    if steady and not len(near):
        return []
    values = left + lines.select(near).evaluate(theta)[:, 0]
    whole = values + lines.select(own).evaluate(theta)[:, 0]
    strongest = own[np.argsort(-power[own], kind="stable")[:HARMONICS]]
    strength = power[strongest]
    modes = mode * order[strongest].astype(np.float64)
    around, floor, count = power_around(modes, mode, values, theta)
    # What neither a line nor the band around it shows tells nothing of how the pattern lives.
    shown = (strength > _SHOWN * floor) | (around > _CLEAR * np.sqrt(2.0 * count) * floor)
    shown[0] = True
    # A line holds little of a pattern that wanders: what is around tells harmonics' shares.
    wide = (strength + around)[shown]
    alive = strongest[shown]
    breathing = Candidate(
        component=c,
        mode=mode,
        order=order[alive],
        power=wide * (strength[shown].sum() / wide.sum()),
        values=values,
        held=values + lines.select(alive).evaluate(theta)[:, 0],
        whole=whole,
        taken=near,
        strict=True,
        n_lines=len(near),
        still=np.stack([lines.mode[alive], power[alive]]),
        own=np.stack([lines.mode[own], power[own]]),
        near=np.stack([lines.mode[near], power[near]]),
    )
    lines_less = len(near) + len(own)
    forgetting = replace(breathing, values=whole, strict=False, n_lines=lines_less)
    many = len(breathing.order) > 1
    return [breathing, forgetting, *([replace(forgetting, clock=True)] if many else [])]
