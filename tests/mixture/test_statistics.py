"""Noise floor, false alarms, trend, robustness and proposals: each part keeps its promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gamma, gammaln
from scipy.stats import median_abs_deviation

from robustfourier.mixture.search.robust import (
    HUBER,
    huber_pays,
    outliers_pay,
    pays,
    pseudo_values,
    robust_scale,
)
from robustfourier.mixture.significance import (
    Judge,
    false_alarm,
    line_power,
    search_width,
)
from robustfourier.periodic.aliases import alias_notes, sampling_aliases
from robustfourier.periodic.basis import Lines, Trend, trend_columns
from robustfourier.periodic.gram_matrices import direct_moments
from robustfourier.periodic.periodogram import PeriodogramGrid
from robustfourier.weighted_rows import canonical_rows, weighted_median

# -- noise floor ---------------------------------------------------------------------------------


# -- significance --------------------------------------------------------------------------------


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_false_alarm_is_the_law_of_the_largest_peak(n_outputs):
    rng = np.random.default_rng(3)
    theta = np.sort(rng.uniform(-1, 1, 400))
    grid = PeriodogramGrid.of(theta, np.ones(400), 100.0, 0.125)
    sums = grid.data_sums(rng.normal(size=(400, 600 * n_outputs)))
    power = grid.power(sums).reshape(len(grid.modes), 600, n_outputs).sum(axis=2)
    largest = power[grid.modes >= 2].max(axis=0)
    width = search_width(theta, np.ones(400), 2.0, 100.0)
    alarm = false_alarm(largest, width=width, n_outputs=n_outputs)
    for level in (0.05, 0.2):
        assert np.mean(alarm < level) == pytest.approx(level, abs=3 * np.sqrt(level / 600))


def test_false_alarm_of_integers_is_that_of_independent_trials():
    z = np.array([3.0, 8.0])
    expected = 1 - (1 - np.exp(-z)) ** 200
    np.testing.assert_allclose(false_alarm(z, width=200, continuous=False), expected)


def averaged(power, nu, z):
    """Return E[(zs)^a e^{−zs}] for s ~ Gamma(ν)/ν; z^a e^{−z} for ν = ∞."""
    if np.isinf(nu):
        return z**power * np.exp(-z)
    constant = gammaln(nu + power) - gammaln(nu) - power * np.log(nu)
    return np.exp(constant + power * np.log(z) - (nu + power) * np.log1p(z / nu))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("continuous", [True, False])
def test_false_alarms_are_those_of_the_formula(outputs, continuous):
    z, nu = np.array([0.3, 4.0, 15.0, 30.0]), np.array([0.2, 6.0, np.inf, 500.0])
    alarm = false_alarm(z, width=20.0, n_outputs=outputs, dof=nu, continuous=continuous)
    for one, ratio, worth in zip(alarm, z, np.maximum(nu, 0.5), strict=True):
        single = sum(averaged(j, worth, ratio) / gamma(j + 1) for j in range(outputs))
        crossed = 20.0 * averaged(outputs - 0.5, worth, ratio) / gamma(outputs)
        quiet = (1 - single) * np.exp(-crossed) if continuous else (1 - single) ** 20
        assert one == pytest.approx(1.0 - quiet, rel=1e-6, abs=1e-14)


def test_a_search_far_beyond_the_samples_keeps_its_level_and_spares_the_low_modes():
    rng = np.random.default_rng(7)
    theta, ones = np.sort(rng.uniform(-1, 1, 80)), np.ones(80)
    grid = PeriodogramGrid.of(theta, ones, 800.0, 0.125)
    searched = grid.modes >= 2
    modes = grid.modes[searched]
    widths = Judge(theta, ones, 2.0, 800.0).widths(modes)
    power = grid.power(grid.data_sums(rng.normal(size=(80, 400))))[searched]
    alarm = np.stack([false_alarm(column, width=widths) for column in power.T])
    assert 0.03 < np.mean(alarm.min(axis=1) < 0.1) < 0.14, "four deviations around 0.1, or careful"
    assert np.sum(0.125 / widths) == pytest.approx(1.0 / search_width(theta, ones, 0, 1), rel=0.03)
    farther = Judge(theta, ones, 2.0, 80_000.0).widths(modes)
    np.testing.assert_allclose(farther, 2.09 * widths, rtol=1e-2, err_msg="not 100 times")


def test_an_uncertain_floor_makes_alarms_more_likely():
    z = np.array([15.0])
    sure, unsure = (false_alarm(z, width=100.0, dof=dof) for dof in (np.inf, 10.0))
    assert unsure > 10 * sure
    np.testing.assert_allclose(false_alarm(z, width=100.0, dof=1e7), sure, rtol=1e-3)


def test_with_an_estimated_floor_the_law_holds_too():
    rng = np.random.default_rng(4)
    ordinates, floor = rng.exponential(size=40_000), rng.gamma(8, 1 / 8, size=40_000)
    alarm = false_alarm(ordinates / floor, width=1, dof=8.0, continuous=False)
    assert np.mean(alarm < 0.01) == pytest.approx(0.01, abs=0.002)


def test_power_of_a_line_is_half_the_increase_of_squares_without_it():
    rng = np.random.default_rng(5)
    theta, y = np.sort(rng.uniform(-1, 1, 120)), rng.normal(size=(120, 1))
    modes, ones = np.array([3.0, 4.1, 9.0]), np.ones((120, 1))

    def fit(at):
        gram = direct_moments(theta, y, np.ones(120), ones, at)
        size = 1 + 2 * len(at)
        solution = np.linalg.solve(gram.gram[:size, :size], gram.cross[:size])
        phase = np.pi * np.outer(theta, at)
        design = np.column_stack([ones, np.cos(phase), np.sin(phase)])
        return gram.gram[:size, :size], solution, np.sum((y - design @ solution) ** 2)

    gram, solution, full = fit(modes)
    expected = [0.5 * (fit(np.delete(modes, i))[2] - full) for i in range(3)]
    found = line_power(gram, solution[1:4], solution[4:])
    np.testing.assert_allclose(found[:, 0], expected)


# -- trend ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("trend_size", [1, 2, 3, 4, 5])
def test_trend_is_continuous_and_goes_on_as_a_line_beyond_the_ends(trend_size):
    coefficients = np.random.default_rng(6).normal(size=(trend_size, 1))
    trend = Trend(coefficients)
    inside, outside = (
        trend.evaluate(np.array([1.0, -1.0])),
        trend.evaluate(np.array([1.001, -1.001])),
    )
    np.testing.assert_allclose(inside, outside, atol=0.01)
    far = np.array([5.0, 6.0, 7.0])
    for side in (1.0, -1.0):  # the mean slope of the last 30 % goes on
        end, before = trend.evaluate(side * np.array([1.0, 0.4]))[:, 0]
        expected = end + (end - before) / 0.6 * (far - 1.0)
        np.testing.assert_allclose(trend.evaluate(side * far)[:, 0], expected, atol=1e-9)
    assert trend.kind == ["level", "slope", "smooth", "smooth", "smooth"][trend_size - 1]


def test_trend_columns_are_independent():
    columns = trend_columns(np.linspace(-1, 1, 200), 5)
    assert np.linalg.cond(columns) < 20


# -- robustness ----------------------------------------------------------------------------------


def test_pseudo_values_pull_in_outliers_and_keep_the_rest():
    rng = np.random.default_rng(7)
    residuals = rng.normal(size=(1000, 1))
    residuals[3] = 50.0
    values = pseudo_values(np.zeros((1000, 1)), residuals, np.ones(1000))
    scale = robust_scale(residuals, np.ones(1000))[0]
    gamma = np.mean(np.abs(residuals) <= HUBER * scale)
    assert values[3, 0] == pytest.approx(HUBER * scale / gamma)
    small = np.abs(residuals) < HUBER * scale
    np.testing.assert_allclose(values[small], residuals[small] / gamma)
    gone = pseudo_values(np.zeros((1000, 1)), residuals, np.ones(1000), redescend=True)
    assert gone[3, 0] == 0


@pytest.mark.parametrize("part", [0.0, 0.02, 0.2])
def test_outliers_are_known_by_evidence_and_have_no_pull(part):
    """A fifth of all values, at seven deviations, hardly shows in the median of their sizes."""
    rng = np.random.default_rng(8)
    wild = rng.random(1000) < part
    residuals = rng.normal(size=(1000, 1)) + 7.0 * wild[:, None] * rng.choice([-1, 1], (1000, 1))
    assert outliers_pay(residuals, np.ones(1000)) == (part > 0.0)
    values = pseudo_values(np.zeros((1000, 1)), residuals, np.ones(1000), redescend=part > 0.0)
    assert np.abs(values[wild]).max(initial=0.0) < 1.5
    assert np.std(values) == pytest.approx(1.0 / np.sqrt(1.0 - part), rel=0.15)


def test_bounded_noise_has_no_outliers():
    residuals = np.random.default_rng(9).uniform(-1, 1, (300, 1))
    assert not outliers_pay(residuals, np.ones(300))


@pytest.mark.parametrize(
    ("draw", "pays"),
    [
        (lambda rng: rng.normal(size=(2000, 1)), False),
        (lambda rng: rng.uniform(-1, 1, size=(2000, 1)), False),
        (lambda rng: rng.standard_t(3, size=(2000, 1)), True),
        (lambda rng: rng.normal(size=(2000, 1)) * (1 + 20 * (rng.random((2000, 1)) < 0.05)), True),
    ],
    ids=["Gaussian", "uniform", "Student", "outliers"],
)
def test_huber_pays_for_heavy_tails_alone(draw, pays):
    decisions = [huber_pays(draw(np.random.default_rng(s)), np.ones(2000)) for s in range(20)]
    assert np.mean(decisions) == pytest.approx(float(pays), abs=0.05)


def test_scale_is_that_of_the_median_and_weights_repeat_rows():
    values = np.random.default_rng(8).normal(size=301)
    weights = np.random.default_rng(9).integers(1, 4, 301).astype(float)
    assert weighted_median(values, weights) == np.median(np.repeat(values, weights.astype(int)))
    scale = robust_scale(values[:, None] - np.median(values), np.ones(301))[0]
    assert scale == pytest.approx(median_abs_deviation(values, scale="normal"))


def test_rows_are_canonical():
    rng = np.random.default_rng(10)
    theta, y = rng.integers(0, 5, 40) / 5.0, rng.integers(0, 2, (40, 2)).astype(float)
    weights = rng.integers(0, 3, 40).astype(float)
    order, twice = rng.permutation(40), np.repeat(np.arange(40), weights.astype(int))
    expected = canonical_rows(theta, y, weights)
    for rows in (
        canonical_rows(theta[order], y[order], weights[order]),
        canonical_rows(theta[twice], y[twice], np.ones(len(twice))),
    ):
        for found, wanted in zip(rows, expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


# -- proposals and aliases -----------------------------------------------------------------------


def test_even_samples_name_the_mirror_image():
    theta = np.linspace(-1, 1, 101)
    grid = PeriodogramGrid.of(theta, np.ones(101), 50.0)
    (alias,) = sampling_aliases(np.array([12.0]), np.ones(1), 50.0, grid)
    assert alias.other == 88.0
    line, image = (
        Lines(np.array([k]), np.ones((1, 1)), np.zeros((1, 1))).evaluate(theta)
        for k in (alias.mode, alias.other)
    )
    np.testing.assert_allclose(line, image, atol=1e-9)
    assert "gives the same samples as mode 88" in str(alias)


def test_a_rhythm_of_sampling_names_its_aliases():
    rng = np.random.default_rng(12)
    nights = np.repeat(np.arange(100), 3) + rng.uniform(0, 0.2, 300)
    theta = 2 * (nights - nights.min()) / np.ptp(nights) - 1
    day = np.ptp(nights)
    grid = PeriodogramGrid.of(theta, np.ones(300), 400.0)
    assert grid.side_peaks[0][0] == pytest.approx(day, abs=0.5)
    aliases = sampling_aliases(np.array([30.0]), np.ones(1), None, grid)
    assert any(abs(alias.other - (30 + day)) < 0.5 for alias in aliases)
    assert all(alias.likeness < 1 for alias in aliases)
    assert alias_notes(aliases[:3]) == [str(alias) for alias in aliases[:3]]
    many = sampling_aliases(np.arange(5.0, 45.0, 4.0), np.ones(10), None, grid)
    assert len(many) > 10
    assert len(alias_notes(many)) == len({alias.distance for alias in many}) <= 3


@pytest.mark.parametrize("equal", [True, False])
def test_huber_pays_where_its_pseudo_values_have_smaller_squares(equal):
    rng = np.random.default_rng(8)
    answers = []
    for tail in np.geomspace(2.0, 60.0, 40):
        left = rng.standard_t(tail, size=(400, 2))
        weights = np.full(400, 2.0) if equal else rng.uniform(0.2, 3.0, 400)
        pulled = pseudo_values(np.zeros_like(left), left, weights)
        answers.append(pays(weights @ left**2, weights @ pulled**2))
        assert huber_pays(left, weights) == answers[-1]
    assert 0 < sum(answers) < len(answers)
