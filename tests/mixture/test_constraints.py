"""What the user wishes of lines and families is done, and wishes of nothing change nothing."""

import re

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.errors import InputError


@pytest.fixture(scope="module")
def record():
    """A sawtooth of 7 and a sinusoid of 3.1."""
    rng = np.random.default_rng(2)
    t = np.sort(rng.uniform(0.0, 100.0, 400))
    y = 2.0 * (t / 7.0 % 1.0) + np.cos(2 * np.pi * t / 3.1) + 0.2 * rng.normal(size=len(t))
    return t, y


def periods(model):
    return sorted(component.period for component in model.components_)


@pytest.fixture(scope="module")
def plain(record):
    return PeriodicMixture().fit(*record)


def test_the_record_has_two_patterns(plain):
    assert periods(plain) == pytest.approx([3.1, 7.0], rel=0.01)
    assert len(plain.components_[0].harmonics) > 2 or len(plain.components_[1].harmonics) > 2


def test_a_period_that_is_closed_is_not_taken(record):
    model = PeriodicMixture(without=[3.1]).fit(*record)
    span = record[0].max() - record[0].min()
    assert np.all(np.abs(model.modes_.mode - span / 3.1) >= 2.0)
    assert min(np.abs(np.array(periods(model)) - 7.0)) < 0.1


def test_a_pattern_that_is_split_has_no_harmonics(record, plain):
    model = PeriodicMixture(split=[7.0]).fit(*record)
    sawtooth = next(c for c in plain.components_ if abs(c.period - 7.0) < 0.1)
    found = np.array(periods(model))
    for order in sawtooth.harmonics[:2]:
        assert np.min(np.abs(found - 7.0 / order)) < 0.05
    assert len(model.components_) > len(plain.components_)


def test_patterns_that_are_merged_are_one_with_a_common_period(record):
    t = record[0]
    rng = np.random.default_rng(3)
    y = np.cos(2 * np.pi * t / 9.0) + np.cos(2 * np.pi * t / 6.0 + 1.0) + 0.1 * rng.normal(size=400)
    apart = PeriodicMixture(split=[18.0]).fit(t, y)
    assert periods(apart) == pytest.approx([6.0, 9.0], rel=0.01)
    together = PeriodicMixture(merge=[(9.0, 6.0)]).fit(t, y)
    assert periods(together) == pytest.approx([18.0], rel=0.01)
    assert together.components_[0].harmonics.tolist() == [2, 3]


def test_nothing_slower_than_the_longest_period_is_found(record):
    assert max(PeriodicMixture(min_frequency=1 / 5).fit(*record).modes_.period) <= 5.0


def test_wishes_that_match_nothing_change_no_bit(record, plain):
    model = PeriodicMixture(split=[50.0], merge=[(50.0, 20.0)], min_frequency=1e-9).fit(*record)
    assert np.array_equal(model.modes_.mode, plain.modes_.mode)
    assert np.array_equal(model.predict(record[0]), plain.predict(record[0]))


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"without": [-1.0]}, "without=[-1.0] must all be positive"),
        ({"merge": [(3.0,)]}, "merge has (3.0,); give pairs of two periods"),
        (
            {"periods": [2.5, 2.4], "merge": [(2.5, 2.4)]},
            "are in no ratio of whole numbers up to 12",
        ),
        ({"min_frequency": 0.0}, "min_frequency=0.0 must be a positive finite number"),
    ],
)
def test_wishes_that_make_no_sense_are_refused_by_name(record, wish, words):
    with pytest.raises(InputError, match=re.escape(words)):
        PeriodicMixture(**wish).fit(*record)
