"""Breakpoints: times at which the level of the trend shifts or its slope changes.

A sensor that was moved, a price that was raised, growth that ended: one break is power at all slow
modes, where it looks like a slow cycle and hides others. Breaks are proposed one after the other,
each where it lowers the sum of squares most,

    gain(τ) = (h_τ'r)² / (h_τ'h_τ − |Q'h_τ|²),   h_τ = (θ − τ)₊^d,   d = 0 (level) or 1 (slope),

with r what the columns so far leave over and Q an orthonormal basis of these; all places at once by
cumulated sums [1]_. Of many rows the means of groups are taken: a place is then known to a group.
Which of the proposed sets is right, if any, the evidence tells: a random walk
breaks nowhere and drifts everywhere, and red noise explains it at a lower price.

References
----------
.. [1] J. Bai and P. Perron, Econometrica 66 (1998) 47.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.basis import Breaks, trend_columns
from robustfourier.periodic.priors import breaks_price

AT_MOST = 8  # breaks; more are a drift
FEWEST = 8  # distinct samples between two breaks: fewer are a cluster of outliers
_DEPENDENT = 1e-9  # part of a column that the others leave over, below which it is theirs
_GROUPS = 4096  # of rows: as many as are gone through in a millisecond


class _Groups(NamedTuple):
    """Means of groups of rows, with their weights and the squares within them."""

    theta: FloatArray
    y: FloatArray
    weights: FloatArray
    within: FloatArray

    @classmethod
    def of(cls, series: Series, y: FloatArray) -> _Groups:
        """Rows in groups of equal number; each alone if there are few."""
        weights = series.weights
        if len(y) <= _GROUPS:
            return cls(series.theta, y, weights, np.zeros(y.shape[1]))
        starts = np.linspace(0, len(y), _GROUPS, endpoint=False).astype(np.int64)
        whole = np.add.reduceat(weights, starts)
        theta = np.add.reduceat(weights * series.theta, starts) / whole
        means = np.add.reduceat(weights[:, None] * y, starts) / whole[:, None]
        return cls(theta, means, whole, np.maximum(weights @ y**2 - whole @ means**2, 0.0))


def proposed_breaks(series: Series, y: FloatArray, trend_size: int) -> Iterator[Breaks]:
    """Yield one breakpoint, two, and so on, each set with those that lower the squares most.

    `y` (n, q): the values without what is to stay beside the trend. `trend_size`: columns of that,
    the breaks not counted.
    """
    breaks, price = Breaks(), breaks_price(1, series.distinct)
    rows = _Groups.of(series, y)
    while len(breaks) < AT_MOST:
        place, order, gain = _best_break(rows, trend_size, breaks)
        if gain < price:  # white noise explains it
            return
        breaks = _settled(rows, trend_size, _with(breaks, place, order))
        yield breaks


def _with(breaks: Breaks, place: float, order: int) -> Breaks:
    places, orders = np.append(breaks.place, place), np.append(breaks.order, order)
    sort = np.argsort(places, kind="stable")
    return Breaks(places[sort], orders[sort])


def _settled(rows: _Groups, trend_size: int, breaks: Breaks) -> Breaks:
    """Place each break anew beside the others."""
    for i in range(len(breaks) if len(breaks) > 1 else 0):
        others = Breaks(np.delete(breaks.place, i), np.delete(breaks.order, i))
        place, order, _ = _best_break(rows, trend_size, others)
        breaks = _with(others, place, order)
    return breaks


def _best_break(rows: _Groups, trend_size: int, breaks: Breaks) -> tuple[float, int, float]:
    """Return place and order of the best break more, and its gain in white noise, in nats."""
    theta, y, root = rows.theta, rows.y, np.sqrt(rows.weights)
    columns = root[:, None] * trend_columns(theta, trend_size, breaks)
    basis = np.linalg.qr(columns)[0]
    values = root[:, None] * y
    left = values - basis @ (basis.T @ values)
    squares = np.maximum(np.sum(left**2, axis=0) + rows.within, 1e-300)
    after, places = _places(theta, breaks)
    if not len(places):
        return 0.0, 0, 0.0
    both = root[:, None] * np.hstack([left, basis, root[:, None]])
    level = _cumulated(both)[after]
    rise = _cumulated(theta[:, None] * both)[after] - places[:, None] * level
    lift = _cumulated(theta[:, None] ** 2 * both[:, -1:])[after, 0]
    lift = lift - places * (level[:, -1] * places + 2.0 * rise[:, -1])
    best = (0.0, 0, 0.0)
    for order, (sums, own) in enumerate(((level, level[:, -1]), (rise, lift))):
        part = own - np.sum(sums[:, left.shape[1] : -1] ** 2, axis=1)
        free = part > _DEPENDENT * own
        taken = np.where(free[:, None], sums[:, : left.shape[1]] ** 2, 0.0)
        taken = np.minimum(taken / np.where(free, part, 1.0)[:, None] / squares, 1.0 - 1e-12)
        gain = -0.5 * rows.weights.sum() * np.sum(np.log1p(-taken), axis=1)
        at = int(np.argmax(gain))
        if gain[at] > best[2]:
            best = float(places[at]), order, float(gain[at])
    return best


def _cumulated(rows: FloatArray) -> FloatArray:
    """Return the sum of the rows from each on."""
    return np.asarray(np.cumsum(rows[::-1], axis=0)[::-1])


def _places(theta: FloatArray, breaks: Breaks) -> tuple[FloatArray, FloatArray]:
    """Return the first rows after each place where a break may stand, and these places.

    They are half way between neighbours, and so far from each other break and from the ends.
    """
    after = np.flatnonzero(np.diff(theta)) + 1
    places = 0.5 * (theta[after - 1] + theta[after])
    count = np.arange(1, len(places) + 1)
    ends = [0, *np.searchsorted(places, breaks.place) + 1, len(places) + 1]
    free = np.min([np.abs(count - end) for end in ends], axis=0) >= FEWEST
    return after[free], places[free]
