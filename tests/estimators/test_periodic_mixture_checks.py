"""scikit-learn's estimator checks, and the invariances that every fit must have."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustfourier.estimators.mixture import PeriodicMixture

EXPECTED = {
    "check_fit1d": "times may be given as one plain array; scikit-learn wants them refused",
}

quick = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@parametrize_with_checks([PeriodicMixture()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def draw(seed, n=120):
    """Irregular samples of a sharp pattern and a sinusoid on a slope."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 30, n)
    wave = np.tanh(4 * np.cos(2 * np.pi * t / 3.7)) + 0.5 * np.cos(2 * np.pi * t / 1.3 + 1)
    return t, 0.05 * t + wave + 0.2 * rng.normal(size=n)


def assert_alike(one, other, rel=1e-6):
    assert len(one.modes_) == len(other.modes_)
    assert other.modes_.mode == pytest.approx(one.modes_.mode, rel=rel)
    assert other.modes_.harmonic.tolist() == one.modes_.harmonic.tolist()
    assert other.modes_.label.tolist() == one.modes_.label.tolist()


@quick
@given(seed=st.integers(0, 10_000))
def test_the_order_of_samples_changes_no_bit(seed):
    t, y = draw(seed)
    order = np.random.default_rng(seed + 1).permutation(len(t))
    one, other = PeriodicMixture().fit(t, y), PeriodicMixture().fit(t[order], y[order])
    assert np.array_equal(one.predict(t), other.predict(t))
    assert np.array_equal(one.modes_.amplitude, other.modes_.amplitude)


@quick
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-9, 0.125, 3.0, 1e6]),
    shift=st.floats(-1e3, 1e3),
)
def test_periods_scale_with_time_and_nothing_else_changes(seed, scale, shift):
    t, y = draw(seed)
    moved = scale * (t + shift)
    one, other = PeriodicMixture().fit(t, y), PeriodicMixture().fit(moved, y)
    assert_alike(one, other)
    assert other.modes_.period == pytest.approx(scale * one.modes_.period, rel=1e-6)
    assert other.predict(moved) == pytest.approx(one.predict(t), abs=1e-6)


@quick
@given(
    seed=st.integers(0, 10_000),
    factor=st.sampled_from([-1.0, 1e-12, 7.3, 1e9]),
    shift=st.floats(-10, 10),
)
def test_amplitudes_scale_with_the_values_and_nothing_else_changes(seed, factor, shift):
    t, y = draw(seed)
    one, other = PeriodicMixture().fit(t, y), PeriodicMixture().fit(t, factor * (y + shift))
    assert_alike(one, other)
    assert other.modes_.amplitude == pytest.approx(abs(factor) * one.modes_.amplitude, rel=1e-5)
    assert other.noise_ == pytest.approx(abs(factor) * one.noise_, rel=1e-6)
    expected = factor * (one.predict(t) + shift)
    assert other.predict(t) == pytest.approx(expected, rel=1e-5, abs=1e-5 * abs(factor))


@quick
@given(seed=st.integers(0, 10_000))
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(seed):
    t, y = draw(seed)
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 3, len(t))
    one = PeriodicMixture().fit(t, y, sample_weight=count.astype(float))
    other = PeriodicMixture().fit(np.repeat(t, count), np.repeat(y, count))
    assert np.array_equal(one.predict(t), other.predict(t))


@quick
@given(seed=st.integers(0, 10_000))
def test_components_and_trend_add_up_and_the_same_seed_gives_the_same_bits(seed):
    t, y = draw(seed)
    one, other = PeriodicMixture().fit(t, y), PeriodicMixture().fit(t, y)
    late = np.linspace(-10, 60, 200)
    assert one.decompose(late).total == pytest.approx(one.predict(late), abs=1e-9)
    assert np.array_equal(one.predict(late), other.predict(late))
    assert np.array_equal(
        one.predict(late, return_std=True)[1], other.predict(late, return_std=True)[1]
    )
