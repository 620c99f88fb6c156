"""Families that the record cannot tell apart."""

import numpy as np
import pytest

from robustfourier.mixture.components.grouping import Grouping
from robustfourier.mixture.components.resolving import resolved_families

DAY = 365.0  # modes, in a year


def families(*other, orders=(3, 5), fixed=False):
    """A day with two harmonics, and other bases with lines of given orders."""
    bases = np.array([DAY, *other])
    rows = [[n] + [0] * len(other) for n in (1, 2)]
    for j in range(len(other)):
        rows += [[0] * (j + 1) + [n] + [0] * (len(other) - j - 1) for n in orders]
    return Grouping(bases, np.array(rows), np.array([False] + [fixed] * len(other)))


@pytest.mark.parametrize("other", [364.7, 365.3, 365.89])
def test_a_base_beside_a_stronger_one_is_taken_apart(other):
    before = families(other)
    after = resolved_families(before)
    assert after.bases.tolist() == pytest.approx([DAY, 3 * other, 5 * other])
    np.testing.assert_allclose(after.harmonics @ after.bases, before.harmonics @ before.bases)
    assert len(np.unique(after.component)) == 3


@pytest.mark.parametrize(
    "grouping",
    [
        families(366.0),  # a fundamental that the record tells
        families(182.5),  # the strongest family could be part of it, not it of the strongest
        families(364.7, orders=(3,)),  # one line is its own base whatever it is called
        families(364.7, fixed=True),  # the user said so
        families(730.4),  # a day beside the day of a week: told apart they predict worse
    ],
)
def test_other_families_stay_as_they_are(grouping):
    assert resolved_families(grouping) is grouping


def test_combinations_with_a_base_that_is_gone_are_free():
    rows = np.array([[1, 0], [2, 0], [0, 3], [0, 5], [1, 1]])
    grouping = Grouping(np.array([DAY, 364.7]), rows, np.zeros(2, bool))
    after = resolved_families(grouping)
    np.testing.assert_allclose(after.harmonics @ after.bases, rows @ grouping.bases)
    assert np.count_nonzero(after.harmonics, axis=1).tolist() == [1] * 5
