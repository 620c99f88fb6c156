"""Weights: only their ratios matter, and a few heavy rows cannot fake precision."""

import numpy as np
import pytest

from robustfourier.estimators.mixture import PeriodicMixture
from robustfourier.weighted_rows import effective_rows, limited_weights

RNG = np.random.default_rng(1)
T = np.sort(RNG.uniform(0, 100, 400))
Y = np.sin(2 * np.pi * T / 7) + 0.5 * RNG.normal(size=400)


def assert_honest(model):
    """The one period is found, with the error and the noise of ordinary rows."""
    (component,) = model.components_
    assert abs(component.period - 7.0) < 4 * component.period_error
    assert 0.008 < component.period_error < 0.03  # 0.009 for equal weights
    assert model.noise_ == pytest.approx(0.5, rel=0.15)


@pytest.mark.parametrize("factor", [1e-300, 1e-6, 1 / 400, 3.0, 1e300])
@pytest.mark.parametrize("kind", ["equal", "whole", "any"])
def test_the_scale_of_weights_changes_nothing(kind, factor):
    rng = np.random.default_rng(2)
    draws = {"equal": np.ones(400), "whole": rng.integers(0, 4, 400), "any": rng.uniform(1, 3, 400)}
    one = PeriodicMixture().fit(T, Y, sample_weight=draws[kind])
    other = PeriodicMixture().fit(T, Y, sample_weight=factor * draws[kind])
    assert len(one.components_) == 1
    assert other.modes_.period == pytest.approx(one.modes_.period, rel=1e-9)
    assert other.modes_.period_error == pytest.approx(one.modes_.period_error, rel=1e-6)
    assert other.noise_ == pytest.approx(one.noise_, rel=1e-9)


def test_equal_weights_give_the_bits_of_no_weights():
    weighted = PeriodicMixture().fit(T, Y, sample_weight=np.full(400, 1e-6))
    assert np.array_equal(weighted.predict(T), PeriodicMixture().fit(T, Y).predict(T))


@pytest.mark.parametrize("count", [1, 10])
@pytest.mark.parametrize("shorter", [20.0, 30.0, 1e9])
def test_a_few_short_error_bars_are_told_and_cannot_fake_precision(count, shorter):
    errors = np.ones(400)
    errors[RNG.permutation(400)[:count]] /= shorter
    model = PeriodicMixture().fit(T, Y, y_err=errors)
    assert_honest(model)
    assert model.notes_[0].startswith(f"{count} of 400 different rows had ")
    assert "count as" in model.notes_[0]


def test_a_row_repeated_a_thousand_times_is_told_and_cannot_fake_precision():
    again = np.full(1000, 50)
    model = PeriodicMixture().fit(np.append(T, T[again]), np.append(Y, Y[again]))
    assert_honest(model)
    assert model.notes_[0].startswith("1 of 400 different rows had 72% of the weight: it was ")


def test_error_bars_of_two_instruments_are_taken_as_they_are():
    errors = np.where(np.arange(400) % 2, 1.0, 0.5)
    model = PeriodicMixture().fit(T, Y, y_err=errors)
    assert_honest(model)
    assert not any("of the weight" in note for note in model.notes_)


@pytest.mark.parametrize("heavy", [1, 7, 30, 99])
@pytest.mark.parametrize("n", [12, 150, 1000])
def test_lowered_weights_are_the_stated_part_of_their_own_total(heavy, n):
    weights = np.append(np.random.default_rng(3).uniform(1, 2, n), np.full(heavy, 1e6))
    limited, lowered = limited_weights(weights)
    part = max(0.01, 4 / len(weights))
    assert limited.max() <= part * limited.sum() * (1 + 1e-12)
    assert lowered == np.count_nonzero(limited < weights)
    if lowered:
        assert limited.max() == pytest.approx(part * limited.sum())
        assert effective_rows(limited) > effective_rows(weights)
