"""Climbing a likelihood: steps as long as the spectrum says, by slopes that are exact.

Fisher's information says how far the top is; the spectrum of the samples has it for nothing. What
it has wrong, the slopes on the way mend (the update of Broyden, Fletcher, Goldfarb and Shanno).
Some six likelihoods are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.compiling import compiled

_STEPS = 40  # at most; a ridge that bends takes some twenty
_SHORTER = 0.1  # of a step that led down: no next one is shorter
_SHORTEST = 1e-4  # of any parameter, a ten-thousandth of its value: less is no step
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
    low, high = np.ascontiguousarray(np.array(bounds, dtype=np.float64).T)
    at = np.clip(start, low, high)
    value, slope = height(at)
    curve, reach = information + _FLOOR * np.eye(len(at)), _LONGEST
    for _ in range(_STEPS if np.isfinite(value) else 0):
        step, rise, longest = _step(at, slope, curve, low, high)
        if not rise >= 2.0 * enough:
            break
        if reach < longest:
            step, rise, longest = step * (reach / longest), rise * (reach / longest), reach
        higher, other = height(at + step)
        if np.isfinite(higher):  # slopes beyond the top tell as much as those below it
            curve = _updated(curve, step, slope - other)
        if higher > value + _RISE * rise:
            at, value, slope = at + step, higher, other
            reach = min(2.0 * reach, _LONGEST)
        else:
            # Where a parabola through both heights has its top.
            top = rise / (2.0 * (rise - (higher - value))) if np.isfinite(higher) else 0.0
            reach = max(top, _SHORTER) * longest
        if reach < _SHORTEST:
            break
    return at, value


@compiled
def _step(at: Any, slope: Any, curve: Any, low: Any, high: Any) -> Any:
    """Newton's step among the parameters that no bound holds, what it promises, and its length."""
    held = ((at <= low) & (slope <= 0.0)) | ((at >= high) & (slope >= 0.0))
    step = np.zeros(len(at))
    while not held.all():
        step = _solved(curve, slope, held)
        pushed = ~held & (((at <= low) & (step < 0.0)) | ((at >= high) & (step > 0.0)))
        if not pushed.any():
            break
        held |= pushed
    longest = 1e-300
    for j in range(len(at)):
        longest = max(longest, abs(step[j]))
    rise, shorter, longest = 0.0, min(1.0, _LONGEST / longest), 0.0
    for j in range(len(at)):
        step[j] = min(max(at[j] + step[j] * shorter, low[j]), high[j]) - at[j]
        rise, longest = rise + slope[j] * step[j], max(longest, abs(step[j]))
    return step, rise, longest


@compiled
def _solved(matrix: Any, right: Any, held: Any) -> Any:
    """Divide by a positive matrix, by Gauss's elimination; parameters that are held stay put."""
    left, result = matrix.copy(), right.copy()
    for j in range(len(right)):
        if held[j]:
            left[j], left[:, j], left[j, j], result[j] = 0.0, 0.0, 1.0, 0.0
    for j in range(len(right)):
        for i in range(j + 1, len(right)):
            part = left[i, j] / left[j, j]
            for k in range(j, len(right)):
                left[i, k] -= part * left[j, k]
            result[i] -= part * result[j]
    for j in range(len(right) - 1, -1, -1):
        for k in range(j + 1, len(right)):
            result[j] -= left[j, k] * result[k]
        result[j] /= left[j, j]
    return result


@compiled
def _updated(curve: Any, moved: Any, bent: Any) -> Any:
    """Return the curvature that explains how the slopes changed; as it was if they bend upwards."""
    size, along = len(moved), np.zeros(len(moved))
    new, old = 0.0, 0.0
    for j in range(size):
        for k in range(size):
            along[j] += curve[j, k] * moved[k]
        new += moved[j] * bent[j]
        old += moved[j] * along[j]
    if not new > 1e-8 * old:  # rounding, or a hollow
        return curve
    result = curve.copy()
    for j in range(size):
        for k in range(size):
            result[j, k] += bent[j] * bent[k] / new - along[j] * along[k] / old
    return result
