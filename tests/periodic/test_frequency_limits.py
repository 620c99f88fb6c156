"""The highest mode: Nyquist for even samples, a stated rule for all others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.periodic.frequency_limits import calendar_step, even_spacing, highest_mode
from robustfourier.periodic.nufft import direct_sums


def test_even_samples_are_searched_up_to_the_nyquist_mode():
    limit = highest_mode(np.linspace(-1, 1, 1001))
    assert limit.max_mode == pytest.approx(500)
    assert limit.nyquist == pytest.approx(500)
    assert "Nyquist" in limit.rule


def test_missing_and_repeated_samples_leave_the_grid_even():
    theta = np.linspace(-1, 1, 101)
    kept = np.delete(theta, [3, 4, 50, 77])
    assert highest_mode(np.repeat(kept, 2)).nyquist == pytest.approx(50)


def test_irregular_samples_have_no_nyquist_mode_but_a_cap_and_a_word():
    theta = np.random.default_rng(0).uniform(-1, 1, 200)
    limit = highest_mode(theta)
    assert limit.nyquist is None
    assert limit.max_mode == 12_000
    many = np.random.default_rng(0).uniform(-1, 1, 2000)
    assert highest_mode(many).max_mode == 10 * 2000
    assert "irregular" in limit.rule


def test_a_given_limit_is_taken_as_it_is():
    limit = highest_mode(np.linspace(-1, 1, 101), limit=17)
    assert limit.max_mode == 17
    assert "given" in limit.rule


@pytest.mark.parametrize("theta", [[0.0], [-1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, 0.0, 1.0]])
def test_too_few_distinct_samples_bear_no_mode(theta):
    assert highest_mode(np.array(theta)).max_mode == 0


def test_a_jitter_below_a_thousandth_of_the_spacing_is_even_and_above_is_not():
    theta = np.linspace(-1, 1, 101)
    rng = np.random.default_rng(0)
    jitter = rng.uniform(-1, 1, 101) * np.diff(theta)[0]
    jitter[[0, -1]] = 0
    assert even_spacing(theta + 2e-4 * jitter) == pytest.approx(0.02)
    assert even_spacing(theta + 5e-2 * jitter) is None


def positions(days):
    """Days as positions in [-1, 1]."""
    days = np.asarray(days, float)
    return 2.0 * (days - days[0]) / (days[-1] - days[0]) - 1.0


@pytest.mark.parametrize(
    ("frequency", "count", "length"),
    [("MS", 144, 30.437), ("ME", 30, 30.437), ("QS", 40, 91.31), ("QE", 30, 91.31),
     ("2QS", 20, 182.62), ("YS", 60, 365.25), ("YE", 40, 365.25)],
)  # fmt: skip
def test_steps_of_the_calendar_are_a_grid_that_nothing_is_searched_beyond(frequency, count, length):
    dates = pd.date_range("1949-01-01", periods=count, freq=frequency)
    limit = highest_mode(positions((dates - dates[0]).days))
    span = (dates[-1] - dates[0]).days
    assert span / limit.max_mode == pytest.approx(2.0 * length, rel=2e-3)
    assert limit.beyond is None
    assert "calendar" in limit.rule


def test_months_may_be_missing_and_summer_time_may_move_them_by_an_hour():
    dates = pd.date_range("1990-01-15", periods=200, freq="MS", tz="Europe/Berlin")
    hours = (dates - dates[0]).total_seconds() / 86_400.0
    kept = np.sort(np.random.default_rng(0).choice(200, 150, replace=False))
    step = calendar_step(np.asarray(hours)[kept])
    assert step == pytest.approx(30.437, rel=2e-3)


@pytest.mark.parametrize("seed", range(20))
def test_other_samples_are_no_calendar(seed):
    rng = np.random.default_rng(seed)
    days = np.unique(rng.integers(0, 900, 30)).astype(float)
    assert calendar_step(days) is None  # some days
    assert calendar_step(np.cumsum(29.5 + rng.normal(size=40))) is None  # each new moon, about


@pytest.mark.parametrize("jitter", [0.05, 0.5])
def test_the_limit_is_the_same_from_sums_that_are_needed_later(jitter):
    rng = np.random.default_rng(1)
    theta = np.sort(np.linspace(-1, 1, 300) + jitter * rng.uniform(-1, 1, 300) / 150.0)
    theta = np.clip(theta, -1.0, 1.0)
    series = Series.of(theta, rng.normal(size=(300, 1)), None, Settings())
    assert series.limit == highest_mode(theta)
    assert ("_window" in vars(series)) == (series.limit.beyond is None), "sums that do not reach"
    at = rng.uniform(0.0, 2.0 * series.max_mode, 20)
    expected = direct_sums(theta, np.ones((300, 1)), at)[:, 0]
    np.testing.assert_allclose(series.window_sums(at), expected, atol=1e-9)
    weights = rng.uniform(0.5, 2.0, 300)
    weighted = Series.of(theta, series.values, weights, Settings())
    assert weighted.limit == series.limit
    assert "_window" not in vars(weighted), "the limit looks at positions alone"
