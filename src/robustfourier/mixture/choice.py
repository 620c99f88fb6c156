"""Choices of the search: which samples to hold out, which proposals to try, which lines to drop."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from robustfourier.mixture.search import Fit

__all__ = ["APART", "SLOWEST", "allowed", "held_out", "resolved", "weakest_apart"]

FloatArray = NDArray[np.float64]

SLOWEST = 1.5  # cycles over the record; anything slower is trend
APART = 0.9  # modes; what the record can resolve


def held_out(theta: FloatArray, random_state: int) -> NDArray[np.bool_]:
    """Mark a fifth of the distinct positions; rows at one position stay together."""
    place = np.concatenate([[0], np.cumsum(np.diff(theta) != 0)])
    count = int(place[-1]) + 1
    chosen = np.random.default_rng(random_state).permutation(count) < count // 5
    return chosen[place]


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


def resolved(fit: Fit, lowest: float, highest: float, integer: bool) -> NDArray[np.bool_]:
    """Mark lines to keep: in range, and the stronger one of any two that are too close."""
    modes, strength = fit.modes, np.sum(fit.refined.lines.amplitude**2, axis=1)
    keep = fit.known | ((modes >= lowest) & (modes <= highest))
    order = np.argsort(modes, kind="stable")
    for i, j in pairwise(order):
        too_close = not integer and modes[j] - modes[i] < APART and keep[i] and keep[j]
        if too_close and not (fit.known[i] and fit.known[j]):
            weaker = j if fit.known[i] or (strength[j] <= strength[i] and not fit.known[j]) else i
            keep[weaker] = False
    return keep


def weakest_apart(
    modes: FloatArray, strength: FloatArray, bad: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Choose lines to drop at once: the weakest of the bad, and others far from those chosen.

    Two bad lines next to each other may be one good one, so only the weaker is dropped now.
    """
    candidates = np.flatnonzero(bad)
    candidates = candidates[np.argsort(strength[candidates], kind="stable")]
    chosen: list[int] = []
    for i in candidates:
        if all(abs(modes[i] - modes[j]) > 4.0 for j in chosen):
            chosen.append(int(i))
    return np.array(chosen, dtype=np.intp)
