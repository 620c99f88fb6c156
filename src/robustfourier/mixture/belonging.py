"""What belongs to a pattern: lines near its own, power around its harmonics, ringing at them."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray, IntArray
from robustfourier.spectral.realmodes import RealModeSums

__all__ = ["foreign", "power_around", "taken_in"]

REACH = 12.0  # modes; farther from a pattern's lines another line is not part of it
_NEAR = 0.25  # of the distance of two harmonics: what is nearer to one belongs to it


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
