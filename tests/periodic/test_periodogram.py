"""The fast periodogram equals a least-squares fit at each mode and has the law it claims."""

from __future__ import annotations

import numpy as np
import pytest

from robustfourier.periodic.periodogram import PeriodogramGrid


def direct_power(theta, y, weights, modes):
    """Half the decrease of the sum of squares by a least-squares fit at each mode."""
    root, power = np.sqrt(weights)[:, None], []
    for mode in modes:
        design = root * np.column_stack(
            [np.cos(np.pi * mode * theta), np.sin(np.pi * mode * theta)]
        )
        fitted = design @ np.linalg.lstsq(design, root * y, rcond=None)[0]
        power.append(0.5 * np.sum(fitted**2, axis=0))
    return np.array(power)


@pytest.mark.parametrize("even", [True, False])
def test_power_equals_a_least_squares_fit_at_each_mode(even):
    rng = np.random.default_rng(0)
    theta = np.linspace(-1, 1, 61) if even else np.sort(rng.uniform(-1, 1, 61))
    y, weights = rng.normal(size=(61, 2)), rng.uniform(0.5, 2, 61)
    grid = PeriodogramGrid.of(theta, weights, 28.0)
    fast = grid.power(grid.data_sums(y))
    slow = direct_power(theta, y, weights, grid.modes)
    np.testing.assert_allclose(fast[4:], slow[4:], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(grid.power(grid.data_sums(y), 4), fast[::4], rtol=1e-12)


def test_power_of_white_noise_is_exponential_with_mean_its_variance():
    rng = np.random.default_rng(2)
    theta = np.sort(rng.uniform(-1, 1, 3000))
    grid = PeriodogramGrid.of(theta, np.ones(3000), 1000.0, 1.0)
    power = grid.power(grid.data_sums(2.0 * rng.normal(size=(3000, 1))))[2:, 0]
    assert power.mean() == pytest.approx(4.0, rel=0.1)
    assert np.mean(power > 4.0) == pytest.approx(np.exp(-1), abs=0.05)


def test_power_at_the_nyquist_mode_is_finite():
    theta = np.linspace(-1, 1, 41)
    y = np.cos(np.pi * np.arange(41))[:, None]
    grid = PeriodogramGrid.of(theta, np.ones(41), 20.0)
    power = grid.power(grid.data_sums(y))
    assert np.isfinite(power).all()
    assert power[-1, 0] == pytest.approx(41.0, rel=1e-6)
