"""Odd spacings of all kinds: a fit ends with an answer, no foreign error and no foreign warning."""

import numpy as np
import pytest

from robustfourier.estimators.mixture import PeriodicMixture
from robustfourier.periodic.exponential_smoothing import BackTest

N = 200
ROW = np.arange(N)
RNG = np.random.default_rng(0)
PAIRS = np.repeat(np.arange(N / 2), 2)
TIMES = {
    "even": ROW * 1.0,
    "one beside a gap": np.r_[ROW[:-1], 208.0],
    "one far": np.r_[ROW[:-1], 1e6],
    "one before": np.r_[-1e5, ROW[1:]],
    "one of 1970": np.r_[0.0, 1.7e9 + 3600.0 * ROW[1:]],
    "two clusters": np.r_[1e-6 * ROW[:100], 1e6 + 1e-6 * ROW[:100]],
    "finer and finer": np.logspace(-12.0, 3.0, N),
    "coarser and coarser": np.cumsum(1.1**ROW),
    "pairs": PAIRS + np.tile([0.0, 1e-6], N // 2),
    "bursts": (1e5 * np.arange(20.0)[:, None] + 1e-3 * np.arange(10)).ravel(),
    "a Cantor set": np.array(
        [sum(2 * int(b) / 3**k for k, b in enumerate(f"{j:08b}")) for j in ROW]
    ),
}
VALUES = {
    "noise": RNG.normal(size=N),
    "alternating": (-1.0) ** ROW,
    "a step": (ROW > 100) * 1.0,
    "exponential": np.exp(ROW / 3.0),
    "one of 1e9": (ROW == 50) * 1e9,
}


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("values", VALUES)
def test_a_fit_of_odd_spacings_ends_with_finite_numbers(times, values):
    t, y = TIMES[times], VALUES[values]
    model = PeriodicMixture().fit(t, y)
    assert np.isfinite(model.predict(t)).all()
    assert all(0.0 < one.period < np.inf for one in model.components_)


@pytest.mark.parametrize("n", [68, 74, 200])
@pytest.mark.parametrize("pattern", [(1.0, -1.0), (0.0, 1.0), (0.0, 1.0, 2.0, 3.0)])
def test_values_that_repeat_to_the_last_digit_are_forecast(n, pattern):
    model = PeriodicMixture().fit(np.arange(float(n)), np.resize(pattern, n))
    mean, std = model.predict(np.arange(n, n + 8.0), return_std=True)
    np.testing.assert_allclose(mean, np.resize(np.roll(pattern, -(n % len(pattern))), 8), atol=1e-6)
    assert np.isfinite(std).all()


def test_a_back_test_of_huge_values_has_finite_squares():
    test = BackTest.of(1e200 * np.random.default_rng(0).normal(size=200))
    squares = test.squares(test.values[test.rows], np.ones(test.rows.shape))
    assert (squares[test.counts] == 0.0).all()
