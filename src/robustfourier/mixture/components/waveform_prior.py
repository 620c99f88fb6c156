"""What is assumed of families before their last fit: which harmonics they have, how far believed.

`links` says whether harmonics are in phase, `waveform` how much of each to believe.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray, IndexArray, IntArray
from robustfourier.mixture.components.links import phase_lock
from robustfourier.mixture.components.waveform import prior_precision, shrinkage
from robustfourier.periodic.harmonic_families import HIGHEST_ORDER, Families

SAME = 0.02  # in modes: nearer to another line, a harmonic cannot be told from that line at all


def waveform_rows(grouping: Families, highest: float, limit: int) -> IntArray:
    """Rows of the harmonics that a smoothed waveform may have beyond those found.

    A family may go to twice the highest order found: beyond, its decaying prior leaves nothing. A
    harmonic so close to another line that it cannot be searched for is among them: left out it
    would bend that line, and the prior of its family says how large it can be. Where two families
    meet at one place the lower order has it: 5 · 29 = 29 · 5 is read as the fifth harmonic of 29.
    Beyond the highest mode there are none: on an even grid they would be seen folded onto others.

    Parameters
    ----------
    grouping : Families
    highest : float
        Highest mode allowed.
    limit : int
        Largest number of rows that the data can bear; low orders come first, and families of which
        more than one line was found.
    """
    found = [grouping.harmonics[grouping.of_base(j), j] for j in range(len(grouping.bases))]
    most = np.array([2 * own[-1] + 4 if len(own) else 0 for own in found], dtype=np.int64)
    order, base = (each.ravel() for each in np.indices((HIGHEST_ORDER + 1, len(grouping.bases))))
    mode, lines = order * grouping.bases[base], np.sort(grouping.modes)
    # Candidates within that distance of each other are one place, of the lowest order.
    by_mode = np.argsort(mode, kind="stable")
    place = np.empty(len(mode), np.int64)
    place[by_mode] = np.cumsum(np.diff(mode[by_mode], prepend=-np.inf) >= SAME)
    first = np.zeros(len(mode), bool)
    allowed = np.flatnonzero((order > 0) & (mode <= highest + 0.01))
    first[allowed[np.unique(place[allowed], return_index=True)[1]]] = True
    after = np.searchsorted(lines, mode)
    beside = np.concatenate([[-np.inf], lines, [np.inf]])
    clear = np.minimum(mode - beside[after], beside[after + 1] - mode) >= SAME
    kept = np.flatnonzero(first & clear & (order <= most[base]))
    rows = np.zeros((len(kept), len(grouping.bases)), np.int64)
    rows[np.arange(len(kept)), base[kept]] = order[kept]
    alone = np.array([len(own) == 1 for own in found])[base[kept]]
    return rows[np.lexsort((order[kept], alone))[: max(limit, 0)]]


@dataclass(frozen=True)
class Prior:
    """What is assumed of the lines before the fit.

    Parameters
    ----------
    precision : ndarray of shape (q, K, K)
        Inverse prior covariance of the coefficients along the common phase, for components in
        phase; of the cosines and of the sines, for others. Zero rows for lines not shrunk.
    spread : ndarray of shape (K, K)
        Covariance of the coefficients along the common phase because the prior itself is unknown.
    colour : ndarray of shape (K,)
        Noise power at each line over the mean noise variance.
    shift : ndarray of shape (K,)
        Shift φ of the component the line belongs to if that is in phase, NaN otherwise. Only with
        a single output.
    component, order : ndarray of int of shape (K,)
        The component of each line, and its order there.
    ridge : ndarray of shape (q, K) or float
        Part of `precision` that all lines have: a family is no wider than the values.
    """

    precision: FloatArray
    spread: FloatArray
    colour: FloatArray
    shift: FloatArray
    component: IntArray
    order: IntArray
    ridge: FloatArray | float = 0.0

    @cached_property
    def kept(self) -> BoolArray:
        """Lines that are not shrunk: they decide how far a shift may turn."""
        own = np.diagonal(self.precision, axis1=1, axis2=2)
        return np.asarray((own <= self.ridge).all(axis=0))

    @cached_property
    def locked(self) -> BoolArray:
        """Lines whose component is in phase."""
        return np.isfinite(self.shift)


def likely_harmonics(
    grouping: Families, coefficient: ComplexArray, variance: FloatArray, found: BoolArray
) -> BoolArray:
    """Mark lines that are there: those found, and harmonics that the samples make likely.

    Of a component with one line found it is not known whether it has harmonics at all: as likely as
    not, before the data speak. Those of a component with more lines are shrunk, but stay.

    Parameters
    ----------
    grouping : Families
        All lines, found and extra.
    coefficient, variance, found
        See `prior_of`.
    """
    likely = found.copy()
    for members in _families(grouping.component, grouping.order, found, np.ones_like(found)):
        rest, order = members[1:], grouping.order[members[1:]]
        squares = np.abs(coefficient[rest].T) ** 2
        pairs = zip(squares, variance[rest].T, strict=True)
        likely[rest] |= found[members].sum() > 1 or any(
            shrinkage(order, own, spread, parts=2)[1] > 0.0 for own, spread in pairs
        )
    return likely


def prior_of(
    grouping: Families,
    coefficient: ComplexArray,
    variance: FloatArray,
    colour: FloatArray,
    found: BoolArray,
    deficient: BoolArray,
) -> tuple[Prior, FloatArray]:
    """Return the prior, component by component, and p-values.

    Parameters
    ----------
    grouping : Families
        All lines, found and extra.
    coefficient : ndarray of complex of shape (K, q)
        a + ib for the line a cos + b sin, by least squares.
    variance : ndarray of shape (K, q)
        Sampling variance of a and of b.
    colour : ndarray of shape (K,)
        See `Prior`.
    found, deficient : ndarray of bool of shape (K,)
        Lines that are significant; lines of which the samples show one direction only.
    """
    component, order = grouping.component, grouping.order
    n_outputs, count = variance.shape[1], len(order)
    precision, between = np.zeros((n_outputs, count, count)), np.zeros((count, count))
    tiny = 1e-24 * np.abs(coefficient).max(initial=0.0) ** 2 + np.finfo(float).tiny
    precision[:, deficient, deficient] = 1.0 / (np.abs(coefficient[deficient].T) ** 2 + tiny)
    shift, p_value = np.full(count, np.nan), np.full(count, np.nan)
    for members in _families(component, order, found & ~deficient, ~deficient):
        rest = members[1:]
        for o in range(n_outputs):
            value, spread = coefficient[members, o], variance[members, o]
            if n_outputs == 1:
                lock = phase_lock(order[members], value, spread, found[members])
                matrix, p_value[members] = lock.smoothing.matrix, lock.p_value
                root = np.sqrt(spread[1:])
                between[rest[:, None], rest] = root[:, None] * lock.smoothing.spread * root
                shift[members] = lock.phase if lock.accepted else np.nan
            else:
                squares = np.abs(value[1:]) ** 2
                matrix = np.diag(shrinkage(order[rest], squares, spread[1:], parts=2)[0])
            precision[o, rest[:, None], rest] = prior_precision(matrix, spread[1:])
    return Prior(precision, between, colour, shift, component, order), p_value


def _families(
    component: IntArray, order: IntArray, found: BoolArray, whole: BoolArray
) -> list[IndexArray]:
    """Lines of components with several; the lowest order found leads and is not shrunk."""
    families = []
    for c in np.unique(component[found]):
        members = np.flatnonzero((component == c) & whole)
        ours = members[found[members]]
        leader = ours[np.argmin(order[ours])]
        if len(members) > 1:
            families.append(np.concatenate([[leader], members[members != leader]]))
    return families
