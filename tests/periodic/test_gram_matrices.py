"""Moments read from Fourier sums are those added up over the samples."""

from __future__ import annotations

import numpy as np
import pytest

from robustfourier.periodic.basis import TREND_POLYNOMIALS, Breaks, Lines, trend_columns
from robustfourier.periodic.gram_matrices import SpectralMoments, direct_moments
from robustfourier.periodic.nufft import FARTHER, RealModePlan, direct_sums


def test_moments_from_sums_equal_those_added_up_directly():
    rng = np.random.default_rng(4)
    theta = np.sort(rng.uniform(-1, 1, 400))
    trend = np.column_stack([np.ones(400), theta, theta**2])
    y, weights = rng.normal(size=(400, 2)), rng.uniform(0.5, 2, 400)
    modes = np.array([3.3, 3.9, 50.0, 119.7])
    fast = SpectralMoments.of(theta, y, weights, trend, 120.0)
    for values, at in ((y, fast), (2 * y + 1, fast.with_values(2 * y + 1))):
        slow = direct_moments(theta, values, weights, trend, modes)
        np.testing.assert_allclose(at(modes).gram, slow.gram, atol=1e-9)
        np.testing.assert_allclose(at(modes).cross, slow.cross, atol=1e-9)
        np.testing.assert_allclose(at(modes).second, slow.second, atol=1e-9)


BREAKS = Breaks(np.array([0.2, 0.3]), np.array([0, 1]))


@pytest.mark.parametrize("breaks", [Breaks(), BREAKS], ids=["smooth", "broken"])
@pytest.mark.parametrize("top", [1.0, 200.0])
def test_the_moments_of_a_smooth_trend_follow_from_the_sums_of_the_weights(
    breaks, top, monkeypatch
):
    rng = np.random.default_rng(5)
    theta = np.sort(rng.uniform(-1, 1, 400))
    theta[[0, -1]] = -1.0, 1.0
    y, weights = rng.normal(size=(400, 1)), rng.uniform(0.5, 2, 400)
    trend, plan = trend_columns(theta, 5, breaks), RealModePlan(theta, top + 2.0)
    window = RealModePlan(theta, max(2.0 * plan.max_mode, plan.max_mode + FARTHER))(
        weights[:, None]
    )
    modes = np.array([0.0, 0.3, 0.9 * top, top])
    slow = direct_moments(theta, y, weights, trend, modes)
    monkeypatch.setattr("robustfourier.periodic.gram_matrices._CHUNK", 150)
    moments = SpectralMoments(plan, y, weights, trend.__getitem__, window, TREND_POLYNOMIALS)
    np.testing.assert_allclose(moments(modes).gram, slow.gram, atol=1e-9)
    np.testing.assert_allclose(moments(modes).cross, slow.cross, atol=1e-9)
    np.testing.assert_allclose(moments(modes).second, slow.second, atol=1e-9)
    with pytest.raises(ValueError, match="do not reach"):
        SpectralMoments(
            plan, y, weights, trend.__getitem__, plan(weights[:, None]), TREND_POLYNOMIALS
        )


def test_sums_of_a_residual_are_those_of_the_samples():
    rng = np.random.default_rng(6)
    theta, grid = np.sort(rng.uniform(-1, 1, 400)), np.arange(20.0)
    y, weights = rng.normal(size=(400, 1)), rng.uniform(0.5, 2, 400)
    trend, plan = trend_columns(theta, 5, BREAKS), RealModePlan(theta, 52.0)
    window = RealModePlan(theta, 104.0)(weights[:, None])
    moments = SpectralMoments(plan, y, weights, trend.__getitem__, window, TREND_POLYNOMIALS)
    lines = Lines(np.array([0.4, 3.0, 11.7, 19.25, 48.9]), *rng.normal(size=(2, 5, 1)))
    for values, sums in ((y, moments), (y**2, moments.with_values(y**2))):
        for chosen in (np.array([0, 1, 5]), np.arange(6), np.array([0, 1, 5])):
            level = rng.normal(size=(len(chosen), 1))
            left = values - trend[:, chosen] @ level - lines.evaluate(theta)
            direct = direct_sums(theta, weights[:, None] * left, grid)
            found = sums.residual_sums(grid, lines, level, chosen)
            np.testing.assert_allclose(found, direct, atol=1e-9)


def test_moments_of_a_hundred_lines_are_symmetric_and_right():
    rng = np.random.default_rng(14)
    theta = np.sort(rng.uniform(-1, 1, 300))
    data = theta, rng.normal(size=(300, 1)), np.ones(300), np.ones((300, 1))
    modes = rng.uniform(1, 140, 100)
    fast, slow = SpectralMoments.of(*data, max_mode=140.0)(modes), direct_moments(*data, modes)
    np.testing.assert_allclose(fast.gram, slow.gram, atol=1e-9)
    np.testing.assert_array_equal(fast.gram, fast.gram.T)
