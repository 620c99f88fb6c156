"""Harmonics that are too weak to be found alone, but are expected at n times a known base.

A search over thousands of frequencies must set its threshold high. Within a family only a handful
of places are looked at, so the threshold is far lower. Each family may have a false harmonic with
probability `level`, spent on the orders by their prior (`priors.harmonic_share`). After a find the
count starts again from it, so that a long series of harmonics is followed to its end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, BoolVector, ComplexArray, FloatArray, IntArray, Vector
from robustfourier.compiling import compiled
from robustfourier.mixture.components.fit_context import Ground
from robustfourier.mixture.line_wings import CLEAR, wing_ratio
from robustfourier.mixture.significance import false_alarm
from robustfourier.periodic.harmonic_families import HIGHEST_ORDER, Families
from robustfourier.periodic.priors import harmonic_share

SumsAt = Callable[[FloatArray], ComplexArray]
SAME = 0.02  # in modes: nearer to another line, a harmonic cannot be told from that line at all


@dataclass(frozen=True)
class Further:
    """Harmonics found within families.

    Parameters
    ----------
    rows : ndarray of int of shape (m, F)
        Their integer combinations of the bases.
    false_alarm : ndarray of shape (m,)
        Probability that noise would have produced such a harmonic in the search of its family.
    """

    rows: IntArray
    false_alarm: FloatArray


def further_harmonics(ground: Ground, grouping: Families, left: SumsAt) -> Further:
    """Search the residuals at the harmonics of every base.

    Parameters
    ----------
    ground : Ground
    grouping : Families
        Families so far.
    left : callable
        ``modes -> Σ w r e^{-iπkθ}`` of what the known lines leave over, shape (m, q).
    """
    rows = _candidates(grouping, ground.highest, CLEAR)
    rows = rows[ground.series.is_open(rows @ grouping.bases)]
    modes = rows @ grouping.bases
    lines = grouping.harmonics @ grouping.bases
    p_value = _p_values(ground, left, modes, lines)
    found: list[int] = []
    alarm: list[float] = []
    worth = p_value <= ground.level * harmonic_share(1)  # no share is larger
    for j in range(len(grouping.bases)):
        lower = 1
        known = grouping.harmonics[_pure(grouping.harmonics, j), j]
        for i in np.flatnonzero((rows[:, j] > 0) & worth):
            order = int(rows[i, j])
            lower = max(lower, int(known[known < order].max(initial=1)))
            chance = min(1.0, float(p_value[i]) / harmonic_share(order - lower))
            if chance <= ground.level:
                found.append(int(i))
                alarm.append(chance)
                lower = order
    return Further(rows[found], np.array(alarm))


def waveform_rows(grouping: Families, highest: float, limit: int) -> IntArray:
    """Rows of the harmonics that a smoothed waveform may have beyond those found.

    A family may go to twice the highest order found: beyond, its decaying prior leaves nothing. A
    harmonic so close to another line that it cannot be searched for is among them: left out it
    would bend that line, and the prior of its family says how large it can be. Beyond the highest
    mode there are none: on an even grid they would be seen folded onto others.

    Parameters
    ----------
    grouping : Families
    highest : float
        Highest mode allowed.
    limit : int
        Largest number of rows that the data can bear; low orders come first, and families of which
        more than one line was found.
    """
    rows = _candidates(grouping, highest, SAME)
    wanted, doubtful = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    for j in range(len(grouping.bases)):
        orders = grouping.harmonics[_pure(grouping.harmonics, j), j]
        if len(orders):
            wanted |= (rows[:, j] > 0) & (rows[:, j] <= 2 * orders.max() + 4)
        if len(orders) == 1:
            doubtful |= rows[:, j] > 0
    rows, doubtful = rows[wanted], doubtful[wanted]
    return rows[np.lexsort((rows.sum(1), doubtful))[: max(limit, 0)]]


def _pure(harmonics: IntArray, base: int) -> BoolArray:
    """Lines that are harmonics of one base."""
    return (harmonics[:, base] > 0) & (np.count_nonzero(harmonics, axis=1) == 1)


def _candidates(grouping: Families, highest: float, distance: float) -> IntArray:
    """Rows n·f of all orders not yet there, clear of every line and of each other.

    Where two families meet at one place the lower order has it: 5 · 29 = 29 · 5 is read as the
    fifth harmonic of 29.
    """
    orders, count = np.arange(1, HIGHEST_ORDER + 1), len(grouping.bases)
    modes = np.multiply.outer(orders, grouping.bases).ravel()
    within = np.flatnonzero(modes <= highest + 0.01)
    taken = np.concatenate([grouping.harmonics @ grouping.bases, np.empty(len(within))])
    clear = np.zeros(len(within), np.bool_)
    _clear(modes[within], taken, len(grouping.harmonics), distance, clear)
    kept = within[clear]
    rows = np.zeros((len(kept), count), np.int64)
    rows[np.arange(len(kept)), kept % count] = orders[kept // count]
    return rows


@compiled
def _clear(modes: Vector, taken: Vector, count: int, distance: float, clear: BoolVector) -> None:
    """Mark modes that are clear of the first few that are taken; those marked are taken too."""
    for i in range(len(modes)):
        near = False
        for j in range(count):
            near |= abs(modes[i] - taken[j]) < distance
        if not near:
            clear[i], taken[count] = True, modes[i]
            count += 1


def _p_values(ground: Ground, left: SumsAt, modes: FloatArray, lines: FloatArray) -> FloatArray:
    """Probability of as much power from noise alone, shape (m,).

    The strongest output counts, as one of q: outputs may share their noise. A cusp is more noise,
    so that it is looked for only where a harmonic would be found without one.
    """
    if not len(modes):
        return np.zeros(0)
    series, floor = ground.series, ground.floor
    power = _power(left(modes), series.window_sums(2.0 * modes), series.total)
    ratio, dof = np.max(power / floor.at(modes), axis=1), floor.dof_at(modes)
    single = false_alarm(ratio, width=1.0, dof=dof, continuous=False)
    some = np.flatnonzero(len(ground.noise) * single <= ground.level * harmonic_share(1))
    ratio = ratio[some] / wing_ratio(left, series.total, modes[some], lines, floor)
    single[some] = false_alarm(ratio, width=1.0, dof=dof[some], continuous=False)
    return np.minimum(1.0, len(ground.noise) * single)


def _power(sums: ComplexArray, window: ComplexArray, total: float) -> FloatArray:
    """Half the sum of squares that a sinusoid explains, shape (m, q).

    Cosine and sine have the moments (total ± |window|)/2 along the axes given by the phase of the
    window at twice the mode. Where one of them vanishes (the Nyquist mode of an even grid) only
    the other one counts.
    """
    turned = sums * np.exp(-0.5j * np.angle(window))[:, None]
    major = 0.5 * (total + np.abs(window))[:, None]
    minor = 0.5 * (total - np.abs(window))[:, None]
    seen = minor > 0.01 * total
    rest = np.where(seen, turned.imag**2 / np.where(seen, minor, 1.0), 0.0)
    return np.asarray(0.5 * (turned.real**2 / major + rest))
