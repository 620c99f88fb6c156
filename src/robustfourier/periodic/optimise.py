"""Maximum likelihood of a few parameters within bounds: Fisher scoring, then quasi-Newton.

Fisher's information says how far the maximum is, and `noise_model` has it for nothing; what it has
wrong, the gradients on the way mend (the update of Broyden, Fletcher, Goldfarb, Shanno). L-BFGS-B
of scipy, which knows no curvature at the start, ends at the same maxima with 1.5–1.8 times as many
likelihoods: on four records of coloured noise and quasi-periodic waves whole fits took 1.05–1.4
times as long.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robustfourier.arrays import FloatArray

_STEPS = 40  # at most; a ridge that bends takes some twenty
_SHORTER = 0.1  # of a step that led down: no next one is shorter
_SHORTEST = 1e-4  # of any parameter, a ten-thousandth of its value: less is no step
_RISE = 1e-3  # of what the gradient promises: what a step must bring to be taken
_LONGEST = 2.0  # a factor of seven in a rate or a variance: beyond, a gradient says nothing
_HOPE = 5.0  # times that: of 1,800 searches for noise 5 % gained more than it from their starts
_FLOOR = 1e-2  # information on a parameter, below which the record says nothing of it


def maximise(
    function: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    bounds: list[tuple[float, float]],
    information: FloatArray,
    tolerance: float,
    beat: float = -np.inf,
) -> tuple[FloatArray, float]:
    """Return where a log-likelihood is highest near a start, and how high.

    `function`: gives the log-likelihood and its gradient; −∞ where there is none. `information` (k,
    k): Fisher's, about, near the start. `tolerance`: it ends where so little is left to be gained.
    `beat`: it ends where several times what the gradient promises does not reach that.

    Examples
    --------
    >>> def parabola(x):
    ...     return -float((x - 1.0) @ (x - 1.0)), -2.0 * (x - 1.0)
    >>> bounds = [(0.0, 9.0), (2.0, 9.0)]
    >>> end, top = maximise(parabola, np.array([3.0, 0.0]), bounds, np.eye(2), 1e-9)
    >>> end.round(6).tolist(), round(top, 6)
    ([1.0, 2.0], -1.0)
    """
    low, high = np.array(bounds, dtype=np.float64).T.copy()
    at = np.minimum(np.maximum(start, low), high)
    value, gradient = function(at)
    curvature, reach = information + _FLOOR * np.eye(len(at)), _LONGEST
    for _ in range(_STEPS if np.isfinite(value) else 0):
        step = _newton_step(at, gradient, curvature, low, high)
        rise, longest = float(gradient @ step), float(np.abs(step).max())
        if not rise >= 2.0 * tolerance or value + _HOPE * rise < beat:
            break
        if reach < longest:
            step, rise, longest = step * (reach / longest), rise * (reach / longest), reach
        higher, other = function(at + step)
        if np.isfinite(higher):  # gradients beyond the top tell as much as those below it
            _add_bfgs(curvature, step, gradient - other)
        if higher > value + _RISE * rise:
            at, value, gradient = at + step, higher, other
            reach = min(2.0 * reach, _LONGEST)
        else:
            # Where a parabola through both heights has its top.
            top = rise / (2.0 * (rise - (higher - value))) if np.isfinite(higher) else 0.0
            reach = max(top, _SHORTER) * longest
        if reach < _SHORTEST:
            break
    return at, value


def _newton_step(
    at: FloatArray, gradient: FloatArray, curvature: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Newton's step among the parameters that no bound holds."""
    below, above = at <= low, at >= high
    held = (below & (gradient <= 0.0)) | (above & (gradient >= 0.0))
    while True:
        step, free = np.zeros(len(at)), np.flatnonzero(~held)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        pushed = (below & (step < 0.0)) | (above & (step > 0.0))
        if not pushed.any():
            break
        held |= pushed
    step *= _LONGEST / max(_LONGEST, float(np.abs(step).max()))
    return np.clip(at + step, low, high) - at


def _add_bfgs(curvature: FloatArray, step: FloatArray, fall: FloatArray) -> None:
    """Make the curvature explain how the gradient fell; it stays as it was if it rose."""
    along = curvature @ step
    new, old = step @ fall, step @ along
    if new > 1e-8 * old:  # else rounding, or a hollow
        curvature += np.outer(fall, fall) / new - np.outer(along, along) / old
