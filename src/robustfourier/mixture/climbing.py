"""Climbing a likelihood: steps as long as the spectrum says, by slopes that are exact.

Fisher's information says how far the top is; the spectrum of the samples has it for nothing. What
it has wrong, the slopes on the way mend (the update of Broyden, Fletcher, Goldfarb and Shanno).
Some six likelihoods are enough.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robustfourier.arrays import FloatArray

__all__ = ["climb"]

_STEPS = 40  # at most; a ridge that bends takes some twenty
_SHORTER = 12  # times that a step may be shortened, to a ten-thousandth
_RISE = 1e-3  # of what the slope promises: what a step must bring to be taken
_LONGEST = 2.0  # a factor of seven in a rate or a variance: beyond, slopes tell nothing
_FLOOR = 1e-2  # information on a parameter, below which the record says nothing of it


def climb(
    height: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    bounds: list[tuple[float, float]],
    information: FloatArray,
    enough: float,
) -> tuple[FloatArray, float]:
    """Return where a likelihood is highest near a start, and how high.

    Parameters
    ----------
    height : callable
        Gives the log-likelihood and its slopes; −∞ where there is none.
    start : ndarray of shape (k,)
    bounds : list of pairs
    information : ndarray of shape (k, k)
        Fisher's, about, near the start.
    enough : float
        Climbing ends where so little is left to be gained.

    Examples
    --------
    >>> def hill(x):
    ...     return -float((x - 1.0) @ (x - 1.0)), -2.0 * (x - 1.0)
    >>> end, top = climb(hill, np.array([3.0, 0.0]), [(0.0, 9.0), (2.0, 9.0)], np.eye(2), 1e-9)
    >>> end.round(6).tolist(), round(top, 6)
    ([1.0, 2.0], -1.0)
    """
    low, high = np.array(bounds).T
    at = np.clip(start, low, high)
    value, slope = height(at)
    curve = information + _FLOOR * np.eye(len(at))
    for _ in range(_STEPS):
        step = _step(at, slope, curve, low, high)
        promise = float(slope @ step)
        if not np.isfinite(value) or promise < 2.0 * enough:
            break
        for _ in range(_SHORTER):
            new = np.clip(at + step, low, high)
            higher, other = height(new)
            if higher > value + _RISE * promise:
                break
            step, promise = 0.5 * step, 0.5 * promise
        else:
            break
        curve = _updated(curve, new - at, slope - other)
        at, value, slope = new, higher, other
    return at, value


def _step(
    at: FloatArray, slope: FloatArray, curve: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Newton's step among the parameters that no bound holds."""
    held = ((at <= low) & (slope <= 0.0)) | ((at >= high) & (slope >= 0.0))
    step = np.zeros(len(at))
    while not held.all():
        free = np.flatnonzero(~held)
        step[:] = 0.0
        step[free] = np.linalg.solve(curve[np.ix_(free, free)], slope[free])
        step *= min(1.0, _LONGEST / float(np.abs(step).max(initial=1e-300)))
        pushed = ~held & (((at <= low) & (step < 0.0)) | ((at >= high) & (step > 0.0)))
        if not pushed.any():
            break
        held |= pushed
    inside = np.clip(at + step, low, high) - at
    return inside if float(slope @ inside) > 0.0 else np.zeros(len(at))


def _updated(curve: FloatArray, moved: FloatArray, bent: FloatArray) -> FloatArray:
    """Return the curvature that explains how the slopes changed; as it was if they bend upwards."""
    along = curve @ moved
    if not float(moved @ bent) > 1e-8 * float(moved @ along):  # rounding, or a hollow
        return curve
    outer = np.outer(bent, bent) / float(moved @ bent)
    return np.asarray(curve + outer - np.outer(along, along) / float(moved @ along))
