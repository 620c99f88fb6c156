"""Grouping: which lines are harmonics of one repeating pattern, and which are combination tones.

Each line's mode is written as an integer combination of a few free *bases*,
``modes = harmonics @ bases``. A row with one entry n is the n-th harmonic of a base; a row such as
[1, 1] or [2, -1] is a combination tone. All lines whose rows are multiples of one row form one
component, a pattern that repeats with the period of that row.

The rule. A line that is free costs one parameter, a line that is tied costs none, so the
explanation with the fewest bases is wanted, unless a coincidence is the better explanation. For a
line at k with standard error s and a predicted mode κ with standard error σ, the odds of a tie are

    prior(relation) × N(k − κ; 0, s² + σ²) × k log(highest / lowest mode searched),

a free line being as likely in every octave of the search. Half of the prior goes to harmonics,
shared by the families in proportion to their lines; in a family whose next lower order is m, order
n gets 1/(d(d + 1)) with d = n − m, which sums to one and lets a long series continue. The other
half goes to combination tones n₁f₁ + n₂f₂, shared by the pairs of bases, 4^(1 − |n₁| − |n₂|) each
for |n₁| + |n₂| ≤ 4. A tie needs odds of 10 : 1 (100 : 1 for combination tones, which few signals
have) and must not contradict the errors (p ≥ 0.001); they are taken as 1.5 standard errors, since
lines not yet found bias their neighbours. So a line that lies near some high multiple of a low mode
stays free: such multiples are everywhere.

The ambiguity. cos 2x = 2cos²x − 1: a line at 2f can always be read as part of the family of f, and
two independent patterns with periods P and P/2 cannot be told from one pattern with period P.
Whenever the errors allow it the second reading is taken, since it needs fewer parameters. In the
same spirit families at pf and qf (p < q ≤ 7, coprime) are given a *missing fundamental* f if the
odds, with prior 1/(2F(F − 1)(pq)²), are 10 : 1, or if all lines together say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.components.folding import folded_lines
from robustfourier.mixture.components.growing import (
    LOWEST,
    ODDS,
    Family,
    LineList,
    harmonic_families,
    join,
)

RARE_ODDS = 100.0  # and so a combination tone, which few signals have
SMALLEST_ERROR = 0.005  # in modes: a drift of one degree at the ends, less than any model is worth
SLACK = 1.5  # errors are those of noise alone; lines not yet found bias their neighbours
HIGHEST_ORDER = 4  # of a combination tone, |n1| + |n2|
# Up to 7: of a week often only the day (seventh) and the half week are strong enough to be lines.
MISSING = tuple((p, q) for q in range(3, 8) for p in range(2, q) if gcd(p, q) == 1)
COMBINATIONS = tuple(
    (a, b)
    for a in range(1, HIGHEST_ORDER)
    for b in range(-HIGHEST_ORDER, HIGHEST_ORDER)
    if b != 0 and a + abs(b) <= HIGHEST_ORDER
) + tuple((-a, b) for a in range(1, HIGHEST_ORDER) for b in range(1, HIGHEST_ORDER + 1 - a))


@dataclass(frozen=True)
class Grouping:
    """Lines as integer combinations of bases.

    Parameters
    ----------
    bases : ndarray of shape (F,)
        The free modes, the strongest family first.
    harmonics : ndarray of int of shape (K, F)
        ``modes ≈ harmonics @ bases``.
    fixed : ndarray of bool of shape (F,)
        Bases that are known, and not to be refined.
    """

    bases: FloatArray
    harmonics: IntArray
    fixed: BoolArray

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


def group(
    mode: FloatArray,
    error: FloatArray,
    power: FloatArray,
    *,
    highest: float,
    fixed: BoolArray | None = None,
    integer: bool = False,
    nyquist: float = np.inf,
) -> Grouping:
    """Group lines into harmonic families and combination tones (rule: see the module).

    Parameters
    ----------
    mode, error, power : ndarray of shape (K,)
        Modes, their standard errors, and strengths (any scale; used to rank families).
    highest : float
        The highest mode that was searched.
    fixed : ndarray of bool of shape (K,), optional
        Lines whose modes are known.
    integer : bool
        Modes are exact integers. Ties then save no parameter, so no missing fundamental is looked
        for.
    nyquist : float
        Nyquist mode of an even grid, beyond which harmonics are seen folded.

    Examples
    --------
    Harmonics of 7.3, one of which looks like a high multiple of 2.1 too, and a sum of two bases:

    >>> import numpy as np
    >>> mode = np.array([2.1, 7.3, 14.602, 21.9, 9.401])
    >>> found = group(mode, np.full(5, 0.002), np.array([4.0, 9, 2, 1, 1]), highest=500.0)
    >>> found.bases.round(2)
    array([7.3, 2.1])
    >>> found.harmonics.tolist()
    [[0, 1], [1, 0], [2, 0], [3, 0], [1, 1]]
    """
    known = np.zeros(len(mode), bool) if fixed is None else np.asarray(fixed, bool)
    floor = 0.0 if integer else SMALLEST_ERROR
    lines = LineList(
        mode=np.asarray(mode, np.float64),
        error=np.where(known | integer, floor, np.maximum(SLACK * np.asarray(error), floor)),
        power=np.asarray(power, np.float64),
        fixed=known,
        highest=max(float(highest), 2.0 * LOWEST),
        exact=integer,
        nyquist=float(nyquist),
    )
    # Folded harmonics are no sign of a slower fundamental: each is a family of its own.
    folded = folded_lines(lines.mode, lines.power, nyquist) & ~known
    families = harmonic_families(lines, np.flatnonzero(~folded))
    if not integer:
        families = _missing_fundamentals(lines, families)
    families += [Family.of(lines, (int(i),), (1,)) for i in np.flatnonzero(folded)]
    return _combination_tones(lines, families)


def _missing_fundamentals(lines: LineList, families: list[Family]) -> list[Family]:
    """Merge pairs of families at p : q into one with a base that is not itself a line."""
    p, q = np.array(MISSING).T
    while (count := len(families)) > 1:
        base, variance = _bases(families)
        ratio = (q / p)[:, None, None]  # axes: ratio, low family, high family
        odds = lines.odds(
            base,
            base - ratio * base[:, None],
            variance + ratio**2 * variance[:, None],
            0.5 / (count * (count - 1) * (p * q)[:, None, None] ** 2.0),
        )
        which, low, high = np.unravel_index(np.argmax(odds), odds.shape)
        if low == high or odds[which, low, high] < ODDS:
            break
        families = _merge(lines, families, int(low), int(high), int(p[which]), int(q[which]))
    return families


def _merge(lines: LineList, families: list[Family], i: int, j: int, p: int, q: int) -> list[Family]:
    """Put family i at orders ×p and family j at ×q of one base; then let single lines join it."""
    low, high = families[i], families[j]
    orders = tuple(p * n for n in low.orders) + tuple(q * n for n in high.orders)
    merged = Family.of(lines, low.members + high.members, orders)
    others = [family for k, family in enumerate(families) if k not in (i, j)]
    result = [merged] + [family for family in others if len(family.members) > 1]
    for family in others:
        if len(family.members) == 1:
            result = join(lines, result, family)
    return result


def _combination_tones(lines: LineList, families: list[Family]) -> Grouping:
    """Let weak single lines be combinations of stronger bases; write down the matrix."""
    ranked = sorted(families, key=lambda family: -family.power(lines))
    bases: list[Family] = []
    tones: list[tuple[int, dict[int, int]]] = []
    for family in ranked:
        single = len(family.members) == 1 and not lines.fixed[family.members[0]]
        row = _likeliest_combination(lines, bases, family) if single else None
        if row is None:
            bases.append(family)
        else:
            tones.append((family.members[0], row))
    harmonics = np.zeros((len(lines.mode), len(bases)), dtype=np.int64)
    for j, family in enumerate(bases):
        harmonics[list(family.members), j] = family.orders
    for line, row in tones:
        for j, n in row.items():
            harmonics[line, j] = n
    return Grouping(
        bases=np.array([family.base for family in bases]),
        harmonics=harmonics,
        fixed=np.array([lines.fixed[list(f.members)].any() for f in bases], dtype=bool),
    )


def _likeliest_combination(
    lines: LineList, bases: list[Family], tone: Family
) -> dict[int, int] | None:
    """Return {base: factor} of the best n1·f1 + n2·f2, or None if a free line is likelier."""
    first, second = np.tril_indices(len(bases), -1)
    if not first.size:
        return None
    base, variance = _bases(bases)
    a, b = np.array(COMBINATIONS).T[:, :, None]  # axes: combination, pair
    odds = lines.odds(
        tone.base,
        tone.base - a * base[first] - b * base[second],
        tone.variance + a**2 * variance[first] + b**2 * variance[second],
        0.5 / first.size * 4.0 ** (1.0 - np.abs(a) - np.abs(b)),
    )
    which, pair = np.unravel_index(np.argmax(odds), odds.shape)
    if odds[which, pair] < RARE_ODDS:
        return None
    return {int(first[pair]): int(a[which, 0]), int(second[pair]): int(b[which, 0])}


def _bases(families: list[Family]) -> tuple[FloatArray, FloatArray]:
    """Modes and variances of the families' bases."""
    base = np.array([family.base for family in families])
    return base, np.array([family.variance for family in families])
