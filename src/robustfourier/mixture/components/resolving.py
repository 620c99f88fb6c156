"""Resolving: of two families with fundamentals too close to tell apart, the weaker is taken apart.

A day that is higher in summer has lines beside each harmonic. Those beside its third, fifth and
sixth may be multiples of one number, a day and a minute, which then looks like a second pattern.
But the record does not tell two fundamentals closer than `APART`: their lowest harmonics would grow
against each other without bound. The lines of the weaker family are then free, and may turn out to
be side lines of the stronger one.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import BoolArray
from robustfourier.mixture.components.grouping import Grouping
from robustfourier.mixture.search.line_fit import APART


def resolved_families(grouping: Grouping) -> Grouping:
    """Free the lines of families whose fundamental is that of a stronger one.

    Parameters
    ----------
    grouping : Grouping
        The strongest family first.

    Examples
    --------
    >>> harmonics = np.array([[1, 0], [2, 0], [0, 3], [0, 5]])
    >>> mixed = Grouping(np.array([365.0, 364.7]), harmonics, np.zeros(2, bool))
    >>> resolved_families(mixed).bases
    array([ 365. , 1094.1, 1823.5])
    """
    rows, bases = grouping.harmonics, grouping.bases
    pure = np.count_nonzero(rows, axis=1) == 1
    size = np.count_nonzero(rows[pure], axis=0)
    stay = np.ones(len(bases), bool)
    for j in range(1, len(bases)):
        near = np.abs(bases[:j][stay[:j]] - bases[j]) < APART
        stay[j] = size[j] < 2 or bool(grouping.fixed[j]) or not near.any()
    return grouping if stay.all() else without_bases(grouping, stay)


def without_bases(grouping: Grouping, stay: BoolArray) -> Grouping:
    """Return the grouping of some of its bases; every line that needs another one is free."""
    rows, bases = grouping.harmonics, grouping.bases
    freed = np.flatnonzero(rows[:, ~stay].any(axis=1))
    own = np.zeros((len(rows), len(freed)), dtype=rows.dtype)
    own[freed, np.arange(len(freed))] = 1
    kept = rows[:, stay]
    kept[freed] = 0
    return Grouping(
        np.concatenate([bases[stay], rows[freed] @ bases]),
        np.hstack([kept, own]),
        np.concatenate([grouping.fixed[stay], np.zeros(len(freed), bool)]),
    )
