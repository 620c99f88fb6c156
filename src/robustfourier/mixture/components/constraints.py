"""Wishes: families that the user wants taken apart or joined, whatever the odds say.

A pattern with harmonics may be several patterns whose periods happen to be in whole ratios, and two
patterns may be one with a longer period. `periodic.harmonic_families` weighs that by evidence; who
knows more may decide.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from robustfourier.errors import InputError
from robustfourier.mixture.search.detection import SAME_LINE
from robustfourier.mixture.timeseries import Settings
from robustfourier.periodic.harmonic_families import Families

_LARGEST = 12  # whole number in the ratio of two families; beyond, every ratio is near to one


def as_wished(grouping: Families, settings: Settings) -> Families:
    """Return the grouping after the wishes of the settings; those that match nothing do nothing."""
    for mode in settings.split:
        grouping = _split(grouping, float(mode))
    for pair in settings.merge:
        grouping = _merged(grouping, *map(float, pair))
    return grouping


def _base(grouping: Families, mode: float) -> int | None:
    """Index of the base that is meant by a mode."""
    if not len(grouping.bases):
        return None
    nearest = int(np.argmin(np.abs(grouping.bases - mode)))
    return nearest if abs(grouping.bases[nearest] - mode) < SAME_LINE else None


def _split(grouping: Families, mode: float) -> Families:
    """Give every line that a base has part in a base of its own."""
    base = _base(grouping, mode)
    if base is None:
        return grouping
    return grouping.apart(grouping.harmonics[:, base] != 0, fixed=bool(grouping.fixed[base]))


def _merged(grouping: Families, first: float, second: float) -> Families:
    """Make two bases p and q times a common one."""
    i, j = _base(grouping, first), _base(grouping, second)
    if i is None or j is None or i == j:
        return grouping
    ratio = Fraction(float(grouping.bases[i] / grouping.bases[j])).limit_denominator(_LARGEST)
    p, q = ratio.numerator, ratio.denominator
    apart = abs(grouping.bases[i] * q - grouping.bases[j] * p)
    if not 1 <= p <= _LARGEST or apart >= min(p, q):  # a mode or more from one of the two
        raise InputError(
            f"merge: patterns of {first:g} and {second:g} cycles over the record are in no ratio "
            f"of whole numbers up to {_LARGEST}; merge others"
        )
    harmonics, bases = grouping.harmonics.copy(), grouping.bases.copy()
    harmonics[:, i] = p * harmonics[:, i] + q * harmonics[:, j]
    # The one that is known, or else the mean: the refinement that follows finds the best place.
    places = [bases[i] / p, bases[j] / q]
    known = [place for place, k in zip(places, (i, j), strict=True) if grouping.fixed[k]]
    bases[i] = np.mean(known or places)
    fixed = grouping.fixed.copy()
    fixed[i] |= fixed[j]
    keep = np.arange(len(bases)) != j
    doubt = None if grouping.doubt is None else grouping.doubt[keep]
    return Families(bases[keep], harmonics[:, keep], fixed[keep], doubt)
