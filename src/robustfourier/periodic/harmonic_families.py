r"""Harmonic families: which lines are harmonics of one period, and which are combination tones.

Each line's mode is an integer combination of a few free *bases*, ``modes = harmonics @ bases``. A
row with one entry n is the n-th harmonic of a base; a row such as [1, 1] or [2, −1] is a
combination tone. All lines whose rows are multiples of one row form one component, which repeats
with the period of that row.

**Evidence of a family.** Lines at modes k, known with the covariance Σ, are free, or harmonics of
the orders n of a base b. A free line is anywhere in the range searched, or where other lines are
(`density`), and so is a base. With the likelihood N(k; ·, Σ) integrated over what is free (Laplace,
exact here), a family of K lines has the log odds

.. math::

    -\tfrac12 \min_b \chi^2(b) + \tfrac12 \log 2\pi v_b + \log q(b) + \log p(n)
    - \Big[\tfrac12 \log\det 2\pi\Sigma + \sum_i \log q(k_i)\Big]

over free lines, v_b being the variance of the base, q the density and p(n) the prior of the orders
(`priors.harmonic_share`). So a line near some high multiple of a low mode stays free, since such
multiples are everywhere, while several lines at multiples of one base are no coincidence.

The ambiguity. cos 2x = 2cos²x − 1: a line at 2f can always be read as part of the family of f, and
two independent patterns with periods P and P/2 cannot be told from one pattern with period P.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import gcd, log, pi

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import expit

from robustfourier.arrays import (
    BoolArray,
    BoolVector,
    FloatArray,
    IndexArray,
    IntArray,
    IntVector,
    Vector,
)
from robustfourier.compiling import compiled
from robustfourier.periodic.aliases import folded_lines
from robustfourier.periodic.priors import (
    COMBINATION,
    FAMILY,
    SMALLEST_MODE_ERROR,
    combination_share,
    harmonic_share,
    lowest_order_share,
)

#: Orders up to which families are looked for.
HIGHEST_ORDER = 64
#: Largest |n₁| + |n₂| of a combination tone.
HIGHEST_COMBINATION = 4
#: Largest order of a line in a family without its fundamental: of a week often only the day (the
#: seventh) and the half week are strong enough to be lines.
HIGHEST_MISSING = 7
_FOUNDERS = 8  # lowest and strongest lines that are tried as fundamentals
_WITHIN = 4.0  # standard errors: farther from a multiple of a base no line is tried as a harmonic
_CELL = 1.0 / 12.0  # variance of a place within one mode, the resolution (Rayleigh)
_LOWEST = 1.5  # mode; what is slower is trend
#: Priors of the lowest order 1 or 2, and of gaps between orders, at their index.
_FIRST = np.array([0.0, lowest_order_share(1), lowest_order_share(2)])
_SHARES = np.array([0.0, *map(harmonic_share, range(1, HIGHEST_ORDER + 1))])
_MISSING = tuple(
    (p, q) for q in range(3, HIGHEST_MISSING + 1) for p in range(2, q) if gcd(p, q) == 1
)
_COMBINATIONS = tuple(
    (a, b)
    for a in range(-HIGHEST_COMBINATION, HIGHEST_COMBINATION + 1)
    for b in range(-HIGHEST_COMBINATION, HIGHEST_COMBINATION + 1)
    if a and b and (a > 0 or b > 0) and abs(a) + abs(b) <= HIGHEST_COMBINATION
)


@dataclass(frozen=True)
class Families:
    """Lines as integer combinations of bases.

    Parameters
    ----------
    bases : ndarray of shape (F,)
        The free modes.
    harmonics : ndarray of int of shape (K, F)
        ``modes = harmonics @ bases``.
    fixed : ndarray of bool of shape (F,)
        Bases that are known, and not to be refined.
    doubt : ndarray of shape (F,), optional
        By how much the bases would be off if their lines were not tied, times the root of the
        probability of that.

    Examples
    --------
    >>> both = Families(np.array([7.3, 2.1]), np.array([[1, 0], [2, 0], [0, 1]]), np.zeros(2, bool))
    >>> both.modes, both.order, both.component
    (array([ 7.3, 14.6,  2.1]), array([1, 2, 1]), array([0, 0, 1]))
    >>> both.kept(np.array([False, True, True])).bases  # of one line the base is itself
    array([14.6,  2.1])
    """

    bases: FloatArray
    harmonics: IntArray
    fixed: BoolArray
    doubt: FloatArray | None = None

    @classmethod
    def free(cls, modes: FloatArray, fixed: BoolArray | None = None) -> Families:
        """Return lines that are no harmonics of each other."""
        fixed = np.zeros(len(modes), bool) if fixed is None else fixed
        return cls(np.array(modes, np.float64), np.eye(len(modes), dtype=np.int64), fixed)

    @property
    def modes(self) -> FloatArray:
        """Modes of the lines, shape (K,)."""
        return np.asarray(self.harmonics @ self.bases, np.float64)

    @cached_property
    def component(self) -> IntArray:
        """Index of each line's component; bases come first, in their order, shape (K,)."""
        number = {row: c for c, row in enumerate(self.rows)}
        return np.array([number[row] for row in self._primitive], dtype=np.int64)

    @cached_property
    def order(self) -> IntArray:
        """Number of each line within its component, 1 for the fundamental, shape (K,)."""
        return np.asarray(np.gcd.reduce(self.harmonics, axis=1), dtype=np.int64)

    @cached_property
    def rows(self) -> list[tuple[int, ...]]:
        """One primitive row per component: ``row @ bases`` is its fundamental mode."""
        bases = map(tuple, np.eye(len(self.bases), dtype=np.int64).tolist())
        return list(dict.fromkeys([*bases, *self._primitive]))

    @cached_property
    def _primitive(self) -> list[tuple[int, ...]]:
        """Each line's row, divided by its order."""
        rows = self.harmonics // np.where(self.order == 0, 1, self.order)[:, None]
        return [tuple(row) for row in rows.tolist()]

    @cached_property
    def pure(self) -> BoolArray:
        """Lines that are harmonics of one base, shape (K,)."""
        return np.asarray(np.count_nonzero(self.harmonics, axis=1) == 1)

    def of_base(self, base: int) -> IndexArray:
        """Return the lines that are harmonics of a base alone, by ascending order."""
        lines = np.flatnonzero(self.pure & (self.harmonics[:, base] > 0))
        return lines[np.argsort(self.harmonics[lines, base], kind="stable")]

    def kept(self, lines: BoolArray) -> Families:
        """Return some of the lines.

        A base without harmonics goes. A combination tone of such a base is free, and a family
        whose orders have a common divisor has a faster base.
        """
        left = replace(self, harmonics=self.harmonics[lines])
        based = left.harmonics[left.pure].any(axis=0)
        left = left.apart(np.asarray(left.harmonics[:, ~based].any(axis=1)))
        divisor = np.maximum(np.gcd.reduce(left.harmonics, axis=0), 1)
        divisor = np.where(left.fixed, 1, divisor)
        return Families(
            left.bases * divisor,
            left.harmonics // divisor,
            left.fixed,
            None if left.doubt is None else left.doubt * divisor,
        )

    def apart(self, lines: BoolArray, fixed: bool = False) -> Families:
        """Give some lines bases of their own; bases without harmonics go."""
        rest = np.where(lines[:, None], 0, self.harmonics)
        stay, count = rest.any(axis=0), int(lines.sum())
        return Families(
            np.append(self.bases[stay], self.modes[lines]),
            np.hstack([rest[:, stay], np.eye(len(rest), dtype=np.int64)[:, lines]]),
            np.append(self.fixed[stay], np.full(count, fixed)),
            None if self.doubt is None else np.append(self.doubt[stay], np.zeros(count)),
        )


def nested_orders(order: IntArray, amplitude: FloatArray) -> IntArray:
    """Return the orders that stand out of their family: periods that repeat within its period.

    The amplitudes of one pattern fall as 1/n, as those of a jump do, or faster: order m is expected
    to be at most the largest a = A_n n/m of lower orders. A pattern of its own has a size of its
    own. Of an exponential power x = (A_m/a)² the log odds are x − 1 − log x, and must pay the price
    log 3 of an order (`priors.harmonic_share`). The week in a year, or 20 and 50 in 100.

    Parameters
    ----------
    order : ndarray of int of shape (H,)
    amplitude : ndarray of shape (H,)

    Examples
    --------
    >>> nested_orders(np.array([1, 2, 5, 10]), np.array([1.0, 0.9, 1.1, 0.3])).tolist()
    [5]
    >>> nested_orders(np.array([1, 3, 5]), np.array([1.0, 0.33, 0.2])).tolist()
    []
    """
    ascending = np.argsort(order, kind="stable")
    reach = order[ascending] * amplitude[ascending]
    expected = np.maximum.accumulate(reach)[:-1]
    power = (reach[1:] / np.maximum(expected, np.finfo(float).tiny)) ** 2
    odds = power - 1.0 - np.log(np.maximum(power, np.finfo(float).tiny))
    stands_out = (power > 1.0) & (odds > -log(harmonic_share(1)))
    return np.asarray(order[ascending][1:][stands_out])


def density(mode: FloatArray, others: FloatArray, highest: float) -> FloatArray:
    """Return the density of free lines at modes, beside J other lines.

    A line is as likely in every octave of the range searched, 1/(kR) with R = log(highest/lowest);
    or one of J + 1 is, and each of the others stands within an octave of one that is there, as
    likely at every ratio (Pólya's urn [1]_). The doubt is the free line's: the larger of the two
    counts. Where lines are dense, that one of them is near a multiple of another is no surprise.

    References
    ----------
    .. [1] D. Blackwell, J. B. MacQueen, "Ferguson distributions via Pólya urn schemes", Ann. Stat.
       1, 353 (1973).

    Examples
    --------
    >>> density(np.array([40.0]), np.array([25.0, 30.0, 50.0]), 1500.0).round(4)
    array([0.0144])
    >>> density(np.array([40.0]), np.array([400.0, 3.0, 500.0]), 1500.0).round(4)
    array([0.0036])
    """
    anywhere = 1.0 / log(max(highest, 2.0 * _LOWEST) / _LOWEST)
    near = np.sum(np.abs(np.log2(mode[:, None] / others)) <= 1.0, axis=1)
    return np.maximum(anywhere, (anywhere + near / log(4.0)) / (1 + len(others))) / mode


def harmonic_places(
    mode: FloatArray, gain: FloatArray, free: BoolArray, highest: float
) -> tuple[FloatArray, FloatArray]:
    """Return the prior p(n) of each line that is a harmonic of a stronger one, and its odds.

    The modes of lines of gain z are known to √6/(2π√z) (Cramér and Rao). A line is a harmonic of
    order n of a stronger one, or of that one's double period, with the odds p(n) N(k; nb, v) · kR
    over a line anywhere, R = log(highest/lowest). Both are zero for lines that are no harmonics.

    Parameters
    ----------
    mode, gain : ndarray of shape (K,)
    free : ndarray of bool of shape (K,)
        Lines that may be harmonics; the others are given.
    highest : float
        The highest mode that was searched.

    Examples
    --------
    >>> mode, gain = np.array([73.0, 146.0, 310.0]), np.array([90.0, 50.0, 40.0])
    >>> harmonic_places(mode, gain, np.ones(3, bool), 500.0)[0].round(3)
    array([0.   , 0.333, 0.   ])
    """
    share, odds = np.zeros((2, len(mode)))
    variance = 6.0 / (2.0 * pi) ** 2 / np.maximum(gain, 1.0) + SMALLEST_MODE_ERROR**2
    room = mode * log(max(highest, 2.0 * _LOWEST) / _LOWEST)
    strongest = np.argsort(-gain, kind="stable")[:-1]
    facts = mode, variance, room, strongest, free
    _harmonic_places(*facts, _CELL, _FIRST, _SHARES, share, odds)
    return share, odds


@compiled
def _harmonic_places(
    mode: Vector, variance: Vector, room: Vector, strongest: IntVector, free: BoolVector,
    cell: float, first: Vector, shares: Vector, share: Vector, odds: Vector,
) -> None:  # fmt: skip
    """Write priors and odds of the lines that are harmonics of one of the strongest.

    `cell` is the variance of a place; `first` are the priors of the lowest order, and `shares`
    those of gaps between orders.
    """
    count, highest = len(mode), len(shares) - 1
    taken, near = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    order, away, square = np.zeros(count, np.int64), np.zeros(count), np.zeros(count)
    for k in range(len(strongest)):
        j = strongest[k]
        if taken[j]:
            continue
        taken[j] = True
        for missing in range(1, len(first)):
            base, there = mode[j] / missing, np.zeros(highest + 1, np.bool_)
            there[missing] = True
            for i in range(count):
                ratio = np.rint(mode[i] / base)
                square[i] = variance[i] + (ratio / missing) ** 2 * variance[j] + cell
                away[i] = (mode[i] - ratio * base) ** 2 / square[i]
                near[i] = away[i] <= _WITHIN**2 and free[i] and not taken[i]
                near[i] = near[i] and ratio >= 1.0 and ratio <= highest
                order[i] = int(ratio) if near[i] else 0
                if near[i]:
                    there[order[i]] = True
            for i in range(count):
                if near[i]:
                    gap = 1
                    while order[i] > gap and not there[order[i] - gap]:
                        gap += 1
                    mine = first[missing] * shares[gap]
                    own = mine * room[i] * np.exp(-0.5 * away[i]) / np.sqrt(2.0 * pi * square[i])
                    if own > odds[i]:
                        share[i], odds[i] = mine, own
        for i in range(count):
            taken[i] = taken[i] or odds[i] > 1.0


@dataclass(frozen=True)
class _Family:
    """Lines, by their indices, and their orders; the evidence over that of free lines."""

    members: tuple[int, ...]
    orders: tuple[int, ...]
    base: float
    variance: float
    evidence: float


class _Ties:
    """Finds the families of lines that have the highest evidence."""

    def __init__(
        self,
        mode: FloatArray,
        covariance: FloatArray,
        strength: FloatArray,
        highest: float,
        known: BoolArray,
        integer: bool,
    ) -> None:
        self.mode, self.strength, self.known, self.integer = mode, strength, known, integer
        self.highest = highest
        smallest = np.where(known, 0.01, 1.0) * SMALLEST_MODE_ERROR
        self.covariance = covariance + np.diag(smallest**2)
        if integer:  # as if uniform over one mode
            self.covariance = np.eye(len(mode)) / (2.0 * pi)
        self.error = np.sqrt(np.diag(self.covariance))

    def log_density(self, mode: FloatArray, own: list[int]) -> FloatArray:
        """Logarithm of `density` at modes, beside all lines but some."""
        return np.log(density(mode, np.delete(self.mode, own), self.highest))

    def single(self, line: int) -> _Family:
        """A free line."""
        return _Family((line,), (1,), float(self.mode[line]), float(self.error[line] ** 2), 0.0)

    def family(self, members: tuple[int, ...], orders: tuple[int, ...]) -> _Family:
        """Return a family with its evidence (see the module)."""
        if len(members) == 1 and orders[0] == 1:
            return self.single(members[0])
        index, n = list(members), np.array(orders, np.float64)
        k, covariance = self.mode[index], self.covariance[np.ix_(index, index)]
        try:
            root = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:  # modes that are not known apart
            root = np.diag(np.sqrt(np.diag(covariance)))
        white_k, white_n = solve_triangular(root, np.column_stack([k, n]), lower=True).T
        variance = 1.0 / float(white_n @ white_n)
        base = variance * float(white_n @ white_k)
        square = max(float(white_k @ white_k) - base**2 / variance, 0.0)
        if self.integer:
            base, square = float(k[0] / n[0]), 0.0
        if base <= 0.0 or (self.integer and np.any(k * n[0] != n * k[0])):
            return _Family(members, orders, base, variance, -np.inf)
        free = 0.5 * len(k) * log(2.0 * pi) + float(np.sum(np.log(np.diag(root))))
        *lines, place = self.log_density(np.append(k, base), index)
        free += float(np.sum(lines))
        tied = place - 0.5 * square
        tied += 0.0 if self.integer else 0.5 * log(2.0 * pi * variance)
        ascending = sorted(orders)
        prior = sum(log(harmonic_share(m - n)) for n, m in pairwise(ascending))
        prior += log(lowest_order_share(ascending[0]))
        # Each further line belongs to one of the others' families, the likelier the larger it is.
        others = max(len(self.mode) - 1, 1)
        prior -= sum(FAMILY + log(others / size) for size in range(1, len(k)))
        return _Family(members, orders, base, variance, tied + prior - free)

    def run(self, lines: list[int]) -> list[_Family]:
        """Merge until the evidence rises no more: whole families first, then pairs."""
        families = [self.single(line) for line in lines]
        while True:
            rest = [f.members[0] for f in families if len(f.members) == 1]
            best = max(self._gathered(rest), key=lambda f: f.evidence, default=None)
            if best is None or best.evidence <= 0.0:
                break
            families = [f for f in families if f.members[0] not in best.members] + [best]
        while (merged := self._merged(families)) is not None:
            families = merged
        return families

    def _gathered(self, rest: list[int]) -> Iterator[_Family]:
        """Yield families of three lines or more, each grown from a line of a low order."""
        by_mode = sorted(rest, key=lambda i: self.mode[i])
        strongest = sorted(rest, key=lambda i: -self.strength[i])[:_FOUNDERS]
        founders = [(i, 1) for i in dict.fromkeys(by_mode[:_FOUNDERS] + strongest)]
        if not self.integer:
            founders += [(i, m) for i in strongest[:3] for m in range(2, HIGHEST_MISSING + 1)]
        for first, order in founders:
            members, orders = [first], [order]
            base, variance = self.mode[first] / order, (self.error[first] / order) ** 2
            for i in by_mode:
                n = round(float(self.mode[i] / base))
                away = self.mode[i] - n * base
                if i == first or not 1 <= n <= HIGHEST_ORDER or n in orders:
                    continue
                if away**2 > _WITHIN**2 * (self.error[i] ** 2 + n**2 * variance):
                    continue
                members.append(i)
                orders.append(n)
                precision = 1.0 / variance + n**2 / self.error[i] ** 2
                base += n * away / self.error[i] ** 2 / precision
                variance = 1.0 / precision
            if len(members) > 2:
                divisor = int(np.gcd.reduce(orders))
                yield self._best_part(members, [n // divisor for n in orders])

    def _best_part(self, members: list[int], orders: list[int]) -> _Family:
        """Leave lines out of a family while that raises its evidence."""
        best = self.family(tuple(members), tuple(orders))
        while len(best.members) > 2:
            trials = []
            for j in range(len(best.members)):
                less = best.orders[:j] + best.orders[j + 1 :]
                divisor = int(np.gcd.reduce(less))
                less = tuple(n // divisor for n in less)
                others = best.members[:j] + best.members[j + 1 :]
                trials.append(self.family(others, less))
            top = max(trials, key=lambda f: f.evidence, default=best)
            if top.evidence <= best.evidence:
                break
            best = top
        return best

    def doubt(self, family: _Family) -> float:
        """Return the deviation of a base in those readings in which a line is not tied to it.

        A line that stays free has the odds of the evidence without it. The pattern is that of the
        strongest line.
        """
        if self.integer:
            return 0.0
        square, count = 0.0, len(family.members)
        strongest = int(np.argmax(self.strength[list(family.members)]))
        for j in range(count):
            if count == 1 or (count == 2 and j == strongest):  # as without the other
                continue
            less = family.orders[:j] + family.orders[j + 1 :]
            divisor = int(np.gcd.reduce(less))
            others = family.members[:j] + family.members[j + 1 :]
            rest = self.family(others, tuple(n // divisor for n in less))
            chance = expit(rest.evidence - family.evidence)
            if j == strongest:
                rest, divisor = self.single(family.members[j]), family.orders[j]
            off = rest.base / divisor - family.base
            square += chance * (off**2 + rest.variance / divisor**2)
        return float(np.sqrt(square))

    def _merged(self, families: list[_Family]) -> list[_Family] | None:
        """Return the families after the best merger of two; None if there is none that pays."""
        best, gain = None, 0.0
        base = np.array([f.base for f in families])
        error = np.sqrt([f.variance for f in families])
        for i, low in enumerate(families):
            for p, q in ((1, 0), *(_MISSING if not self.integer else ())):
                ratio = np.round(base / base[i]) if p == 1 else np.full(len(base), q / p)
                away = np.abs(base - ratio * base[i])
                near = away <= _WITHIN * np.hypot(error, ratio * error[i])
                near &= (ratio > 1.0) & (ratio <= HIGHEST_ORDER)
                for j in np.flatnonzero(near):
                    high, up = families[j], int(ratio[j]) if p == 1 else q
                    orders = (*(p * n for n in low.orders), *(up * n for n in high.orders))
                    if len(set(orders)) < len(orders) or max(orders) > HIGHEST_ORDER:
                        continue
                    family = self.family(low.members + high.members, orders)
                    more = family.evidence - low.evidence - high.evidence
                    if more > gain:
                        best, gain = (i, int(j), family), more
        if best is None:
            return None
        return [f for k, f in enumerate(families) if k not in best[:2]] + [best[2]]

    def combination(self, bases: list[_Family], tone: _Family) -> dict[int, int] | None:
        """Return {base: factor} of the likeliest n₁f₁ + n₂f₂, None if a free line is likelier."""
        first, second = np.tril_indices(len(bases), -1)
        if not first.size or self.integer:
            return None
        base = np.array([f.base for f in bases])
        variance = np.array([f.variance for f in bases])
        a, b = np.array(_COMBINATIONS).T[:, :, None]  # axes: combination, pair
        square = tone.variance + a**2 * variance[first] + b**2 * variance[second]
        away = tone.base - a * base[first] - b * base[second]
        # A tone is free beside lines other than those that it may be made of.
        apart = [[*tone.members, *f.members] for f in bases]
        free = np.array([self.log_density(np.array([tone.base]), own)[0] for own in apart])
        odds = -np.minimum(free[first], free[second]) - 0.5 * np.log(2.0 * pi * square)
        odds += np.log(combination_share(a, b) / first.size) - COMBINATION - 0.5 * away**2 / square
        which, pair = np.unravel_index(np.argmax(odds), odds.shape)
        if odds[which, pair] <= 0.0:
            return None
        return {int(first[pair]): int(a[which, 0]), int(second[pair]): int(b[which, 0])}


def tied(
    mode: FloatArray,
    covariance: FloatArray,
    strength: FloatArray,
    *,
    highest: float,
    known: BoolArray | None = None,
    integer: bool = False,
    nyquist: float = np.inf,
) -> Families:
    """Return the families of free lines that have the highest evidence (see the module).

    Parameters
    ----------
    mode : ndarray of shape (K,)
    covariance : ndarray of shape (K, K)
        Of the modes.
    strength : ndarray of shape (K,)
        Any measure by which lines can be ranked.
    highest : float
        The highest mode that was searched.
    known : ndarray of bool of shape (K,), optional
        Lines whose modes are known.
    integer : bool
        Modes are exact integers. Ties then save no parameter, so no missing fundamental is looked
        for.
    nyquist : float
        Nyquist mode of an even grid, beyond which harmonics are seen aliased.

    Examples
    --------
    Harmonics of 7.3, one of which looks like a high multiple of 2.1 too, and a sum of two bases:

    >>> mode = np.array([2.1, 7.3, 14.602, 21.9, 9.401])
    >>> found = tied(mode, 4e-6 * np.eye(5), np.array([4.0, 9, 2, 1, 1]), highest=500.0)
    >>> found.bases.round(2)
    array([7.3, 2.1])
    >>> found.harmonics.tolist()
    [[0, 1], [1, 0], [2, 0], [3, 0], [1, 1]]
    """
    known = np.zeros(len(mode), bool) if known is None else np.asarray(known, bool)
    ties = _Ties(mode, covariance, strength, highest, known, integer)
    # Aliased harmonics are no sign of a slower fundamental: each is a family of its own.
    folded = folded_lines(mode, strength, nyquist) & ~known
    families = ties.run([int(i) for i in np.flatnonzero(~folded)])
    families += [ties.single(int(i)) for i in np.flatnonzero(folded)]
    ranked = sorted(families, key=lambda f: -float(strength[list(f.members)].sum()))
    bases: list[_Family] = []
    tones: list[tuple[int, dict[int, int]]] = []
    for family in ranked:
        alone = len(family.members) == 1 and not known[family.members[0]]
        row = ties.combination(bases, family) if alone else None
        if row is None:
            bases.append(family)
        else:
            tones.append((family.members[0], row))
    harmonics = np.zeros((len(mode), len(bases)), np.int64)
    for j, family in enumerate(bases):
        harmonics[list(family.members), j] = family.orders
    for line, factors in tones:
        for base_index, factor in factors.items():
            harmonics[line, base_index] = factor
    fixed = np.array([known[list(f.members)].any() for f in bases], bool)
    places = np.array([_place(f, mode, known) for f in bases])
    doubt = np.array([0.0 if held else ties.doubt(f) for f, held in zip(bases, fixed, strict=True)])
    return Families(places, harmonics, fixed, doubt)


def _place(family: _Family, mode: FloatArray, known: BoolArray) -> float:
    """The base of a family: that of a line that is known, if one is."""
    for i, n in zip(family.members, family.orders, strict=True):
        if known[i]:
            return float(mode[i] / n)
    return family.base
