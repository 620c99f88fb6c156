"""Windows of the noise floor: the compiled loop widens them as all of them at once would."""

from __future__ import annotations

import numpy as np
import pytest

from robustfourier.mixture import cusps, noise


def widened_at_once(modes, centres, half, flat, count, share, at_most):
    """Return level and dof, all centres in step; slow, the reference for `noise._widened`."""
    level, dof = flat.copy(), noise._EFFICIENCY * count
    pieces = 0.5 * np.diff(centres)[:, None] * (flat[1:] + flat[:-1])
    area = np.vstack([np.zeros((1, flat.shape[1])), np.cumsum(pieces, axis=0)])
    lowest, highest = np.zeros(flat.shape), np.full(flat.shape, np.inf)
    grows = np.full(len(centres), len(centres) > 1)
    while grows.any():
        error = 1.0 / np.sqrt(dof)[:, None]
        lowest = np.maximum(lowest, level * np.exp(-noise._ABOVE * error))
        highest = np.minimum(highest, level * np.exp(noise._BELOW * error))
        half = 2.0 * half
        first, last = np.clip([centres - half, centres + half], centres[0], centres[-1])
        places = first, 0.5 * (first + last), last
        start, middle, end = (
            np.stack([np.interp(at, centres, column) for column in area.T], axis=1) for at in places
        )
        wide = (end - start) / (last - first)[:, None]
        inside = np.searchsorted(modes, last, side="right") - np.searchsorted(modes, first)
        worth = noise._EFFICIENCY * np.clip(inside * share, 1.0, at_most)
        tilt = np.abs(end - 2.0 * middle + start) / (end - start)
        aside = np.abs(2.0 * centres - first - last) / (last - first)
        level_sides = tilt <= (noise._TILT / (1.0 + 2.0 * aside) / np.sqrt(worth))[:, None]
        fits = (wide >= lowest) & (wide <= highest) & level_sides
        grows &= (half <= noise._REACH * centres) & fits.all(axis=1)
        level = np.where(grows[:, None], wide, level)
        dof = np.where(grows, worth, dof)
        grows &= (first > centres[0]) | (last < centres[-1])
    return level, dof


@pytest.mark.parametrize("n_modes", [1, 3, 40, 3000])
@pytest.mark.parametrize("exponent", [0.0, -0.7])
def test_windows_widen_one_by_one_as_all_at_once(n_modes, exponent):
    rng = np.random.default_rng(n_modes)
    modes = np.arange(1.0, n_modes + 1)
    centres, half = noise._centres(n_modes)
    flat = centres[:, None] ** exponent * rng.gamma(20.0, 0.05, (len(centres), 2))
    given = modes, centres, half, flat, rng.uniform(10, 40, len(centres)), 0.8, 0.4 * n_modes + 1
    level, dof = noise._widened(*given)
    expected_level, expected_dof = widened_at_once(*given)
    np.testing.assert_allclose(level, expected_level, rtol=1e-9)
    np.testing.assert_allclose(dof, expected_dof)
    if n_modes == 3000:
        assert np.any(level != flat)


def test_means_over_windows_are_those_of_their_rows():
    rng = np.random.default_rng(3)
    y, x = rng.normal(size=(2, 300)), rng.normal(size=300)
    low = np.sort(rng.integers(0, 290, 40))
    high = np.minimum(low + rng.integers(1, 60, 40), 300)
    means = np.empty((40, 6))
    noise._window_means(y, x, low, high, means)
    columns = [*y, *(x * y), x, x * x]
    direct = [[column[a:b].mean() for column in columns] for a, b in zip(low, high, strict=True)]
    np.testing.assert_allclose(means, direct, atol=1e-13)


@pytest.mark.parametrize("exponent", [0.0, -1.0])
def test_a_falling_spectrum_is_a_power_law_by_least_squares(exponent):
    rng = np.random.default_rng(4)
    power = rng.exponential(size=(400, 1)) * np.arange(1.0, 401.0)[:, None] ** exponent
    floor, modes = noise.noise_floor(power, np.zeros(0)), np.arange(1.0, 401.0)
    centres, half = noise._centres(400)
    low, high = noise._windows(modes, centres, half)
    fell = 0
    for j in range(len(centres)):
        x, y = np.log(modes[low[j] : high[j]]), np.log(power[low[j] : high[j], 0])
        (slope, level), x0 = np.polyfit(x, y, 1), np.log(centres[j])
        error = np.sqrt(noise._LOG_VARIANCE / np.sum((x - x.mean()) ** 2))
        if slope < -(1.0 if x0 < x.mean() else 3.0) * error:
            expected = np.exp(level + slope * x0 + np.euler_gamma)
            leverage = 1.0 / len(x) + (x0 - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2)
            assert floor.level[j, 0] == pytest.approx(expected, rel=1e-9)
            assert floor.dof[j] == pytest.approx(1.0 / (noise._LOG_VARIANCE * leverage))
            fell += 1
    assert (fell >= 10) == (exponent < 0.0)


@pytest.mark.parametrize("centres", [[3.0], [1.0, 4.0, 9.0, 30.0]])
def test_between_centres_the_level_is_geometric_and_side_peaks_lift_it(centres):
    rng = np.random.default_rng(5)
    centres, modes = np.array(centres), rng.uniform(0.0, 40.0, 60)
    level = rng.uniform(0.1, 10.0, (len(centres), 2))
    for side in (np.zeros((0, 2)), np.array([[7.0, 0.9], [11.0, 0.6]])):
        floor = noise.NoiseFloor(centres, level, np.ones(len(centres)), *side.T)
        for at in (modes, np.sort(modes), centres):
            for o, column in enumerate(np.log(level).T):
                expected = np.exp(np.interp(at, centres, column))
                for distance, height in side:
                    for image in (np.abs(at - distance), at + distance):
                        seen = height**2 * np.exp(np.interp(image, centres, column))
                        expected = np.maximum(expected, seen)
                np.testing.assert_allclose(floor.at(at)[:, o], expected, rtol=1e-12)


@pytest.mark.parametrize("n_lines", [1, 2, 30])
def test_beside_a_line_stands_what_is_left_or_a_weaker_line(n_lines):
    rng = np.random.default_rng(n_lines)
    mode, strength = rng.uniform(1.0, 60.0, n_lines), rng.exponential(50.0, n_lines)
    grid, power = np.arange(0.0, 60.1, 0.25), rng.exponential(size=241)
    place = mode[:, None] + cusps.OFFSETS
    told = cusps._beside(place, mode, strength, grid, lambda at: power[at].copy(), 1.5)
    for i in range(n_lines):
        for x, found in zip(place[i], told[i], strict=True):
            distance = np.where(np.arange(n_lines) == i, np.inf, np.abs(mode - x))
            other = np.argmin(distance)
            expected = power[np.clip(round(4.0 * x), 0, 240)] if 1.5 <= x <= grid[-1] else np.nan
            expected = np.nan if distance[other] < 1.0 else expected
            if distance[other] < 0.5 and strength[other] < strength[i]:
                expected = strength[other]
            np.testing.assert_equal(found, expected)
