"""Families: families, missing fundamentals, combination tones, and coincidences left alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.mixture.components.component import label
from robustfourier.mixture.model import shares
from robustfourier.periodic.harmonic_families import Families, tied

ERROR = 0.02


def grouped(mode, *, error=ERROR, power=None, highest=1000.0, **options):
    mode = np.asarray(mode, float)
    power = np.ones(len(mode)) if power is None else np.asarray(power, float)
    return tied(mode, error**2 * np.eye(len(mode)), power, highest=highest, **options)


def test_harmonics_within_their_errors_form_one_component():
    rng = np.random.default_rng(0)
    orders = np.array([1, 3, 5, 7, 9])
    found = grouped(29.02 * orders + ERROR * rng.normal(size=5))
    assert len(found.bases) == 1
    assert found.bases[0] == pytest.approx(29.02, abs=0.01)
    assert found.order.tolist() == orders.tolist()
    assert found.component.tolist() == [0] * 5


def test_a_line_that_misses_the_multiple_by_many_errors_stays_free():
    found = grouped([29.0, 58.3])
    assert len(found.bases) == 2


def test_a_tie_that_contradicts_the_errors_is_refused_although_a_free_line_is_unlikely_there():
    # 0.05 modes off, more than four times the error that is allowed for.
    assert len(grouped([300.0, 600.05], error=0.001).bases) == 2
    assert len(grouped([300.0, 600.02], error=0.001).bases) == 1


def test_a_line_on_a_high_multiple_of_a_low_mode_stays_free():
    # With an error of 0.02 in mode 5, multiples near 150 are a few modes wide: no evidence.
    found = grouped([5.0, 150.0], highest=300.0)
    assert len(found.bases) == 2


def test_a_long_series_is_followed_to_orders_that_would_not_be_believed_alone():
    series = grouped(29.0 * np.arange(1, 24, 2), error=0.15)
    alone = grouped([29.0, 29.0 * 23], error=0.15)
    assert series.order.max() == 23
    assert len(alone.bases) == 2


def test_where_two_families_meet_the_lower_order_has_the_line():
    # 145 is the 29th multiple of 5 and the 5th of 29.
    found = grouped([5.0, 29.0, 87.0, 145.0], error=0.002, highest=5000.0)
    assert found.harmonics[3].tolist() in ([5, 0], [0, 5])
    assert found.component[3] == found.component[1]


def test_a_second_harmonic_alone_is_read_as_one_component_with_fewest_parameters():
    assert len(grouped([12.5, 25.0]).bases) == 1


def test_a_missing_fundamental_is_found_where_it_saves_parameters():
    found = grouped([20.8, 31.2, 52.0], error=0.004, highest=5000.0)
    assert found.bases == pytest.approx([10.4], abs=0.01)
    assert found.order.tolist() == [2, 3, 5]


def test_a_missing_fundamental_is_not_invented_from_poorly_known_modes():
    assert len(grouped([20.8, 31.2], error=0.2, highest=200.0).bases) == 2


def test_integer_modes_are_tied_only_exactly_and_have_no_missing_fundamental():
    found = grouped([100.0, 150.0, 200.0, 310.0], error=0.0, highest=5000.0, integer=True)
    assert found.harmonics.tolist() == [[1, 0, 0], [0, 1, 0], [2, 0, 0], [0, 0, 1]]


def test_sums_and_differences_of_strong_lines_are_combination_tones():
    f1, f2 = 74.11, 54.33
    mode = [f1, f2, 2 * f1, f1 + f2, f1 - f2, 2 * f1 - f2]
    found = grouped(mode, power=[100, 50, 5, 4, 3, 2], error=0.005)
    assert found.bases == pytest.approx([f1, f2], abs=0.01)
    assert [label(row) for row in found.harmonics] == [
        "A",
        "B",
        "2A",
        "A+B",
        "A-B",
        "2A-B",
    ]


def test_the_strong_lines_are_the_bases_not_their_weak_difference():
    found = grouped([19.78, 54.33, 74.11], power=[1, 50, 100], error=0.005)
    assert found.bases == pytest.approx([74.11, 54.33], abs=0.01)
    assert label(found.harmonics[0]) == "A-B"


def test_random_lines_are_rarely_tied():
    rng = np.random.default_rng(1)
    ties = 0
    for _ in range(200):
        mode = rng.uniform(3, 1000, 8)
        ties += 8 - len(grouped(mode, error=0.03).bases)
    # 1600 lines, each near some multiple or sum of others by chance: a per cent or two are tied.
    assert ties <= 40


def test_the_order_in_which_lines_are_given_does_not_matter():
    rng = np.random.default_rng(2)
    mode = np.array([29.0, 87.0, 145.0, 61.0, 122.0, 5.05])
    power = np.array([9.0, 3, 2, 6, 1, 1])
    shuffle = rng.permutation(6)
    one, other = grouped(mode, power=power), grouped(mode[shuffle], power=power[shuffle])
    assert np.array_equal(one.harmonics[shuffle], other.harmonics)
    assert np.allclose(one.bases, other.bases)


def test_a_known_mode_keeps_its_value_and_its_family_is_fixed():
    found = tied(
        np.array([24.0, 48.01]),
        np.diag([0.0, 0.02**2]),
        np.ones(2),
        highest=500.0,
        known=np.array([True, False]),
    )
    assert found.bases.tolist() == [24.0]
    assert found.fixed.tolist() == [True]


def test_no_lines_give_an_empty_grouping():
    found = grouped([])
    assert isinstance(found, Families)
    assert found.harmonics.shape == (0, 0)
    assert found.rows == []


def test_many_lines_are_grouped_in_reasonable_memory_and_all_have_a_row():
    rng = np.random.default_rng(3)
    mode = np.sort(rng.uniform(2, 4000, 120))
    found = grouped(mode, highest=5000.0)
    assert np.all(found.harmonics.any(axis=1))
    assert np.allclose(found.harmonics @ found.bases, mode, atol=0.2)


def test_shares_are_never_negative_and_add_up_to_what_all_explain():
    """A day that takes back a part of a week's day has no share, and the week no more than all."""
    power = np.array([[1.0132], [-0.0264], [0.006]])
    model = SimpleNamespace(power=power, variation=np.ones(1), n_components=3)
    (share,) = shares([model])
    assert share[1] == 0.0
    assert share.sum() == pytest.approx(power.sum())
    fair = SimpleNamespace(power=np.array([[0.7], [0.2]]), variation=np.ones(1), n_components=2)
    np.testing.assert_array_equal(shares([fair])[0], fair.power)


def test_an_alternation_from_sample_to_sample_stands_beside_a_pattern():
    """It lies at the Nyquist mode itself, where samples tell nothing of its frequency."""
    rng, n = np.random.default_rng(0), np.arange(300)
    angle = 2 * np.pi * n / 24.3
    pattern = 3 * np.cos(angle) + np.cos(2 * angle + 1)
    model = PeriodicMixture(scale="linear").fit(
        n.astype(float), pattern + 0.8 * (-1.0) ** n + 0.5 * rng.normal(size=300)
    )
    assert [round(one.period, 1) for one in model.components_] == [24.3, 2.0]
    assert model.noise_ == pytest.approx(0.5, rel=0.1)


def test_shares_of_shrunk_waveforms_add_up_to_what_they_explain():
    t, rng = np.arange(240.0), np.random.default_rng(2)
    y = np.exp(-0.5 * ((t % 12.3 - 6.0) / 0.8) ** 2) + 0.4 * rng.normal(size=240)
    model = PeriodicMixture(scale="linear", loss="squared").fit(t, y)
    parts = model.decompose(t)
    around = y - np.asarray(parts.trend)
    left = around - np.asarray(parts.components).reshape(240, -1).sum(axis=1)
    explained = 1.0 - np.var(left) / np.var(around)
    assert sum(c.share for c in model.components_) == pytest.approx(explained, rel=1e-9)
