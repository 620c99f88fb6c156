"""Values without noise, rounded ones and sharp edges: one pattern, with an error that is true."""

import numpy as np
import pytest

from robustfourier.estimators.mixture import PeriodicMixture

EVEN = np.arange(400.0)


def irregular(seed):
    return np.sort(np.random.default_rng(seed).uniform(0, 100, 400))


SHAPES = {
    "square": lambda phase: np.sign(np.sin(2 * np.pi * phase)),
    "sawtooth": lambda phase: phase % 1.0,
    "gate": lambda phase: (phase % 1.0 < 0.3).astype(float),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [1, 3])
def test_the_error_of_a_period_counts_what_a_finite_waveform_leaves_over(shape, seed):
    t = irregular(seed)
    model = PeriodicMixture().fit(t, SHAPES[shape](t / 7.0))
    (pattern,) = model.components_
    assert abs(pattern.period - 7.0) < 4 * pattern.period_error
    assert 2e-4 < pattern.period_error < 0.02  # jumps are known to a quarter of a time unit


@pytest.mark.parametrize("times", [EVEN, irregular(0)], ids=["even", "irregular"])
@pytest.mark.parametrize(
    "rounded", [lambda s: np.round(100 * s), lambda s: (s > 0).astype(float)], ids=["100", "sign"]
)
def test_rounded_values_are_one_pattern(times, rounded):
    model = PeriodicMixture().fit(times, rounded(np.sin(2 * np.pi * times / 7.3)))
    (pattern,) = model.components_
    assert abs(pattern.period - 7.3) < 4 * pattern.period_error
    assert pattern.period_error < 0.01


def test_outliers_at_random_are_still_pulled_in():
    rng = np.random.default_rng(5)
    t = irregular(5)
    y = np.sin(2 * np.pi * t / 7) + np.sin(2 * np.pi * t / 3.3) + 0.3 * rng.normal(size=400)
    far = rng.random(400) < 0.1
    y[far] += 5.0 * rng.normal(size=int(far.sum()))
    model = PeriodicMixture().fit(t, y)
    assert sorted(round(c.period, 1) for c in model.components_) == [3.3, 7.0]
    assert model.noise_ < 0.5


def test_residuals_are_pulled_in_by_their_own_errors():
    """Rows with error bars ten times as long are no outliers."""
    rng = np.random.default_rng(2)
    t = irregular(2)
    errors = np.where(rng.random(400) < 0.3, 3.0, 0.3)
    y = np.sin(2 * np.pi * t / 7) + errors * rng.normal(size=400)
    model = PeriodicMixture().fit(t, y, y_err=errors)
    assert len(model.components_) == 1
    assert not model.models_[0].evidence.robust


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_eclipses_are_no_outliers(noise):
    """A tenth of the samples lie in eclipses, at two phases of each cycle; two are outliers."""
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(0, 200, 1500))
    beside = np.abs((t / 2.7183) % 0.5 - 0.25)  # cycles from the middle of an eclipse
    y = 12.0 + np.sqrt(np.clip(1.0 - beside / 0.025, 0.0, 1.0)) + noise * rng.normal(size=1500)
    y[rng.choice(1500, 2, replace=False)] += [2.0, -2.0]
    model = PeriodicMixture().fit(t, y)
    cycles = [round(2.7183 / c.period, 3) for c in model.components_ if c.share > 0.01]
    assert cycles in ([1.0], [2.0])
    cycle = model.predict(np.linspace(100.0, 102.7183, 500))
    assert 0.9 < np.ptp(cycle) < 1.1
