"""Choices of the search: which samples to hold out, which proposals to try, which lines to drop."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.errors import InputError
from robustfourier.mixture.search.noise import NoiseFloor
from robustfourier.mixture.search.workbench import Fit, Workbench
from robustfourier.mixture.trend import TREND_RUNGS

__all__ = [
    "APART",
    "SLOWEST",
    "allowed",
    "bearable_lines",
    "check_settings",
    "from_above",
    "held_out",
    "resolved",
    "rungs_of",
    "weakest_apart",
]


SLOWEST = 1.5  # cycles over the record; anything slower is trend
APART = 0.9  # modes; what the record can resolve


def held_out(theta: FloatArray, random_state: int) -> BoolArray:
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


def resolved(fit: Fit, lowest: float, highest: float, integer: bool) -> BoolArray:
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


def weakest_apart(modes: FloatArray, strength: FloatArray, bad: BoolArray) -> IndexArray:
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


def rungs_of(trend: str, integer: bool) -> tuple[int, ...]:
    """Return the trends to choose from; data periodic over the span has a level alone."""
    if trend == "auto":
        trend = "level" if integer else "smooth"
    return TREND_RUNGS[: {"level": 1, "slope": 2, "smooth": len(TREND_RUNGS)}[trend]]


def bearable_lines(bench: Workbench, max_lines: int | None) -> int:
    """Return how many lines the data can bear: nine samples for the three numbers of each."""
    bearable = min(int((min(bench.distinct, bench.total) - 2) // 9), 500)
    return bearable if max_lines is None else min(int(max_lines), bearable)


def from_above(floor: NoiseFloor, modes: FloatArray) -> FloatArray:
    """Return the smallest floor at these or any higher modes, shape (len(modes), q)."""
    lowest = np.minimum.accumulate(floor.level[::-1], axis=0)[::-1]
    return replace(floor, level=lowest).at(modes)


def check_settings(level: float, frequencies: str, loss: str, trend: str) -> None:
    """Raise for settings that cannot be used."""
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} must lie between 0 and 1; the default is 0.01")
    for name, value, choices in (
        ("frequencies", frequencies, ("real", "integer")),
        ("loss", loss, ("auto", "squared", "huber")),
        ("trend", trend, ("auto", "level", "slope", "smooth")),
    ):
        if value not in choices:
            raise InputError(f"{name}={value!r} is not one of {', '.join(choices)}")
