"""Growing: families of harmonics, each from a line that is its fundamental or a low order of it.

The odds are those that `grouping` tells of.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.compiling import compiled
from robustfourier.mixture.components.folding import is_folded

Real = float | FloatArray

ODDS = 10.0  # a harmonic must be this much more likely than a free line
STRONGEST = 3  # lines that are tried as second to seventh harmonics of a missing fundamental
FOUNDERS = 8  # lowest and strongest lines that are tried as fundamentals of whole families
CONTRADICTION = 10.83  # χ² with one degree of freedom at p = 0.001
LOWEST = 1.5  # mode; what is slower is trend
MISSING_PRIOR = 0.2  # few patterns lack their fundamental


@dataclass(frozen=True)
class LineList:
    """What `group` knows of the lines."""

    mode: FloatArray
    error: FloatArray
    power: FloatArray
    fixed: BoolArray
    highest: float
    exact: bool
    nyquist: float

    def odds(self, mode: Real, distance: Real, variance: Real, prior: Real) -> FloatArray:
        """Odds of ties of lines at `mode` against free lines; zero where the errors contradict."""
        room = mode * np.log(self.highest / LOWEST)
        if self.exact:
            return np.where(np.asarray(distance) == 0.0, room * prior, 0.0)
        square = np.square(distance) / variance
        density = np.exp(-0.5 * square) / np.sqrt(2 * np.pi * variance)
        return np.where(square > CONTRADICTION, 0.0, room * prior * density)


@dataclass(frozen=True)
class Family:
    """Lines (by index) and their orders; the base is their weighted mean of mode / order."""

    members: tuple[int, ...]
    orders: tuple[int, ...]
    base: float
    variance: float

    @classmethod
    def of(cls, lines: LineList, members: tuple[int, ...], orders: tuple[int, ...]) -> Family:
        """Return the family of lines of given orders."""
        index, n = list(members), np.array(orders, np.float64)
        if lines.exact:
            return cls(members, orders, float(lines.mode[index[0]] / n[0]), 0.0)
        precision = n**2 / lines.error[index] ** 2
        known = lines.fixed[index]
        if known.any():
            precision = np.where(known, precision, 0.0)
        base = float(precision @ (lines.mode[index] / n) / precision.sum())
        return cls(members, orders, base, float(1.0 / precision.sum()))

    def power(self, lines: LineList) -> float:
        """Return the strength of all its lines."""
        return float(lines.power[list(self.members)].sum())


def harmonic_families(lines: LineList, which: IndexArray) -> list[Family]:
    """Take the families that are likeliest as a whole; then each other line joins or founds one.

    `which` are the lines to be put into families.
    """
    rest = [int(i) for i in which[np.argsort(lines.mode[which], kind="stable")]]
    families: list[Family] = []
    while not lines.exact and (family := _likeliest_family(lines, rest)) is not None:
        families.append(family)
        rest = [i for i in rest if i not in family.members]
    for i in rest:
        families = join(lines, families, Family.of(lines, (i,), (1,)))
    return families


def _likeliest_family(lines: LineList, rest: list[int]) -> Family | None:
    """Return the family of three lines or more with the largest evidence, None if there is none.

    One tie alone may be doubtful where the fundamental is badly known (few cycles), while all
    together are certain. So the ties of a family need their odds on the average.
    """
    sorted_rest = np.array(rest, np.int64)
    strongest = sorted(rest, key=lambda i: -lines.power[i])
    founders = [(i, 1) for i in dict.fromkeys(rest[:FOUNDERS] + strongest[:FOUNDERS])]
    founders += [(i, order) for i in strongest[:STRONGEST] for order in range(2, 8)]
    # Folded harmonics of a line are no sign of a slower fundamental.
    seen = {
        i: sorted_rest[~is_folded(lines.mode[sorted_rest], float(lines.mode[i]), lines.nyquist)]
        for i in strongest[:STRONGEST]
    }
    best, evidence = None, 0.0
    for first, order in founders:
        members, orders, total = _grown(
            lines, seen[first] if order > 1 else sorted_rest, first, order
        )
        size = len(members)
        total += log(MISSING_PRIOR / order**2) if order > 1 else 0.0
        if size < 3 or total <= max(evidence, (size - 1) * log(ODDS)):
            continue
        # A missing fundamental has its price, and must explain more than families without it.
        if order == 1 or total > _plain_evidence(lines, members) + log(ODDS):
            best, evidence = (members, orders), total
    return None if best is None else Family.of(lines, *best)


def _plain_evidence(lines: LineList, members: tuple[int, ...]) -> float:
    """Log odds of the same lines in families whose fundamentals are lines."""
    rest, total = sorted(members, key=lambda i: lines.mode[i]), 0.0
    while len(rest) > 1:
        sorted_rest = np.array(rest, np.int64)
        offers = [_grown(lines, sorted_rest, first, 1) for first in rest[:FOUNDERS]]
        family, _, evidence = max(offers, key=lambda offer: offer[2])
        total += evidence
        rest = [i for i in rest if i not in family]
    return total


def _grown(
    lines: LineList, rest: IndexArray, first: int, order: int
) -> tuple[tuple[int, ...], tuple[int, ...], float]:
    """Let all higher lines join a founder of given order that are likelier to.

    Their numbers, their orders and their log odds; `rest` is sorted by modes.
    """
    members, orders = np.empty((2, len(rest) + 1), np.int64)
    room = log(lines.highest / LOWEST)
    known = (lines.mode, lines.error, lines.fixed)
    size, total = _joining(*known, rest, first, order, room, members, orders)
    return tuple(members[:size].tolist()), tuple(orders[:size].tolist()), total


@compiled
def _joining(
    mode: Any, error: Any, fixed: Any, rest: Any, first: int, order: int, room: float,
    members: Any, orders: Any,
) -> tuple[int, float]:  # fmt: skip
    """Fill in members and orders, and return how many there are, and their log odds.

    The odds are those of `_harmonic_odds`, compiled: they are asked thousands of times.
    """
    members[0], orders[0], size, total, count = first, order, 1, 0.0, 0
    # Σ n²/s² and Σ n k/s², whose ratio is the base; only known lines count where there are any.
    known, precision = fixed[first], order**2 / error[first] ** 2
    weighted = precision * mode[first] / order
    for i in rest:
        if not mode[i] > mode[first]:
            continue
        count += 1
        base = weighted / precision
        n = int(np.rint(mode[i] / base))
        variance = error[i] ** 2 + n**2 / precision
        square = (mode[i] - n * base) ** 2 / variance
        if n < 2 or square > CONTRADICTION:
            continue
        lower = 0
        for m in orders[:size]:
            lower = max(lower, m if m <= n else 0)
        if lower == n:
            continue
        gap = n - lower
        prior = 0.5 * size / count / (gap * (gap + 1))
        odds = mode[i] * room * prior * np.exp(-0.5 * square) / np.sqrt(2.0 * np.pi * variance)
        if odds > 1.0:
            members[size], orders[size] = i, n
            size, total = size + 1, total + np.log(odds)
            if fixed[i] and not known:
                known, precision, weighted = True, 0.0, 0.0
            if fixed[i] or not known:
                precision += n**2 / error[i] ** 2
                weighted += n * mode[i] / error[i] ** 2
    return size, total


def join(lines: LineList, families: list[Family], single: Family) -> list[Family]:
    """Append a line to the family it is most likely a harmonic of, or as a family of its own."""
    lower = [int(np.sum(lines.mode[list(f.members)] < single.base)) for f in families]
    count = max(sum(lower), 1)
    offers = [
        _harmonic_odds(lines, family, single, below / count)
        for family, below in zip(families, lower, strict=True)
    ]
    best = int(np.argmax([odds for odds, _ in offers])) if offers else -1
    if best < 0 or offers[best][0] < ODDS:
        return [*families, single]
    family, order = families[best], offers[best][1]
    grown = Family.of(lines, family.members + single.members, (*family.orders, order))
    return [*families[:best], grown, *families[best + 1 :]]


def _harmonic_odds(
    lines: LineList, family: Family, single: Family, share: float
) -> tuple[float, int]:
    """Odds that a single line is the next harmonic of a family, and its order."""
    order = round(single.base / family.base)
    if order < 2 or order in family.orders:
        return 0.0, 0
    lower = max((n for n in family.orders if n < order), default=0)
    gap = order - lower
    prior = 0.5 * share / (gap * (gap + 1))
    variance = single.variance + order**2 * family.variance
    return float(lines.odds(single.base, single.base - order * family.base, variance, prior)), order
