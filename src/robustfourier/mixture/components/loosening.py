"""Ties, tested again once all lines are there.

Grouping must be generous: lines not yet found bias their neighbours, so errors count 1.5 times, and
now and then two unrelated tones pass as fundamental and harmonic. With all lines in the fit the
errors are what they are. Here the ties of families that rest on a single coincidence are tested:
the higher line is refined with a mode of its own, and its tie is given up where the same odds as in
`grouping`, now at the plain errors, speak for a free line. A family of three lines or more that
agree is no coincidence.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.components.completing import Found
from robustfourier.mixture.components.ground import AT_THE_END, Ground
from robustfourier.mixture.components.grouping import SMALLEST_ERROR, Grouping
from robustfourier.mixture.components.growing import LOWEST
from robustfourier.periodic.variable_projection import Refined

NEAR = 0.5  # in modes: a free line that went farther has found something else
CLEAR = 0.75  # in modes from any harmonic of another family, which would bias a line
DOUBTFUL = 6.63  # χ² with one degree of freedom at p = 0.01: below, no tie is questioned


def loosened(ground: Ground, found: Found, refined: Refined) -> tuple[Found, Refined]:
    """Give up ties that the modes contradict, the worst first, until all that are left stand.

    Parameters
    ----------
    ground : Ground
    found : Found
        Lines and their ties.
    refined : Refined
        Their fit.
    """
    for _ in range(len(refined.lines) if not ground.series.integer else 0):
        questioned = _questioned(ground, found, refined)
        if not questioned.size:
            break
        free, rows = _freed(ground, found, refined, questioned)
        near = np.abs(free.lines.mode - refined.lines.mode) <= NEAR
        worst = _worst(ground, found, questioned[near[questioned]], rows, free)
        if worst < 0:
            break
        grouping = _released(found.grouping, questioned, free, worst)
        found = replace(found, grouping=grouping)
        refined = _refine(ground, grouping, refined)
        found = replace(found, grouping=replace(grouping, bases=refined.bases))
    return found, refined


def _questioned(ground: Ground, found: Found, refined: Refined) -> IntArray:
    """Lines that a family rests on and that are strong enough to stand alone.

    Lines where another family may have a harmonic are not among them: it would bias their modes.
    """
    grouping = found.grouping
    single = np.count_nonzero(grouping.harmonics, axis=1) == 1
    base = np.argmax(grouping.harmonics, axis=1)
    tied = single & ~found.known & ~grouping.fixed[base]
    for j in np.unique(base[tied]):
        family = np.flatnonzero(single & (base == j))
        orders = grouping.harmonics[family, j]
        lowest = orders == orders.min()
        # Without the line and its multiples the lowest must be left alone.
        alone = [bool(np.all(lowest | (orders % n == 0))) for n in orders]
        tied[family] &= ~lowest & np.array(alone)
    for j, mode in enumerate(refined.bases):
        highest = grouping.harmonics[single & (base == j), j].max(initial=1)
        places = mode * np.arange(1, 2 * highest + 5)
        distance = np.abs(refined.lines.mode[:, None] - places).min(axis=1)
        tied &= (base == j) | (distance >= CLEAR)
    if not tied.any():
        return np.zeros(0, np.int64)
    return np.flatnonzero(tied & (ground.judge.lines(refined, ground.floor)[1] <= ground.level))


def _freed(
    ground: Ground, found: Found, refined: Refined, questioned: IntArray
) -> tuple[Refined, IntArray]:
    """Refine with a base of its own for each questioned line; rows that give the modes."""
    grouping = found.grouping
    rows = grouping.harmonics.copy()
    rows[questioned] = 0
    own = np.zeros((len(rows), len(questioned)), np.int64)
    own[questioned, np.arange(len(questioned))] = 1
    bases = np.concatenate([refined.bases, refined.lines.mode[questioned]])
    fixed = np.concatenate([grouping.fixed, np.zeros(len(questioned), bool)])
    free = Grouping(bases, np.hstack([rows, own]), fixed)
    return _refine(ground, free, refined), free.harmonics


def _worst(
    ground: Ground, found: Found, questioned: IntArray, rows: IntArray, free: Refined
) -> int:
    """Return the line whose tie has the smallest odds below one, −1 if there is none."""
    grouping = found.grouping
    base = np.argmax(grouping.harmonics, axis=1)
    single = np.count_nonzero(grouping.harmonics, axis=1) == 1
    worst, smallest = -1, 1.0
    for line in questioned:
        j = int(base[line])
        family = np.flatnonzero(single & (base == j))
        orders = grouping.harmonics[family, j]
        rest = family != line
        contrast = _contrast(rows[family], orders, rest, free)
        distance = float(contrast @ free.bases)
        variance = float(contrast @ free.base_covariance @ contrast) + SMALLEST_ERROR**2
        variance += ground.blur(float(free.lines.mode[line])) ** 2
        square = distance**2 / variance
        order = int(grouping.harmonics[line, j])
        gap = order - max((int(n) for n in orders if n < order), default=0)
        prior = 0.5 * rest.sum() / len(rows) / (gap * (gap + 1))
        room = free.lines.mode[line] * np.log(max(ground.highest, 2.0 * LOWEST) / LOWEST)
        odds = room * prior * np.exp(-0.5 * square) / np.sqrt(2 * np.pi * variance)
        if square > DOUBTFUL and odds < smallest:
            worst, smallest = int(line), odds
    return worst


def _contrast(rows: IntArray, orders: IntArray, rest: BoolArray, free: Refined) -> FloatArray:
    """Weights of the bases in: mode of one line − order × fundamental of the rest of its family."""
    per_order = rows[rest] / orders[rest, None]
    covariance = per_order @ free.base_covariance @ per_order.T
    covariance = covariance + np.diag((SMALLEST_ERROR / orders[rest]) ** 2)
    weight = np.linalg.solve(covariance, np.ones(len(covariance)))
    weight = weight / weight.sum()
    line = int(np.flatnonzero(~rest)[0])
    return np.asarray(rows[line] - orders[line] * (weight @ per_order))


def _released(grouping: Grouping, questioned: IntArray, free: Refined, worst: int) -> Grouping:
    """Give a line a base of its own, and those of its multiples that are nearer to it."""
    harmonics, modes = grouping.harmonics, free.lines.mode
    j = int(np.argmax(harmonics[worst]))
    order = harmonics[worst, j]
    leader = min(
        (
            i
            for i in range(len(harmonics))
            if np.count_nonzero(harmonics[i]) == 1 and harmonics[i, j]
        ),
        key=lambda i: int(harmonics[i, j]),
    )
    base = modes[leader] / harmonics[leader, j]
    column = np.zeros((len(harmonics), 1), np.int64)
    harmonics = harmonics.copy()
    for i in questioned:
        multiple, remainder = divmod(int(harmonics[i, j]), int(order))
        if i != worst and (remainder or not multiple):
            continue
        own, old = modes[i] - multiple * modes[worst], modes[i] - harmonics[i, j] * base
        if i == worst or abs(own) < abs(old):
            harmonics[i, j], column[i] = 0, multiple
    bases = np.append(grouping.bases, modes[worst])
    bases[j] = base
    harmonics = np.hstack([harmonics, column])
    divisor = int(np.gcd.reduce(harmonics[:, j]))
    if divisor > 1:  # the base was that of the released line and the rest together
        bases[j], harmonics[:, j] = bases[j] * divisor, harmonics[:, j] // divisor
    return Grouping(bases, harmonics, np.append(grouping.fixed, False))


def _refine(ground: Ground, grouping: Grouping, before: Refined) -> Refined:
    """Refine with ties; the covariance is that for the noise around each line."""
    colour = ground.colour(before.lines.mode, before)
    return ground.refine(grouping, colour, AT_THE_END)
