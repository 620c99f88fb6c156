"""Detection recovers what is there, finds nothing in noise, and does not care about form."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustfourier.errors import InputError
from robustfourier.estimators.mixture import PeriodicMixture
from robustfourier.mixture.search.detection import LineSearch, detect
from robustfourier.mixture.search.line_fit import fit_lines
from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.periodic.uncertainty import amplitude_errors
from robustfourier.synthetic import paper_example, random_mixture


def tones(seed=0, n=600, modes=(7.3, 31.8), amplitudes=(1.0, 0.6), noise=0.4, slope=0.0):
    """Irregular samples of a few tones in white noise."""
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.uniform(-1, 1, n))
    theta[[0, -1]] = -1.0, 1.0
    phase = rng.uniform(0, 2 * np.pi, len(modes))
    pure = np.cos(np.pi * np.outer(theta, modes) - phase) @ np.array(amplitudes)
    return theta, (pure + slope * theta + noise * rng.normal(size=n))[:, None]


def find(theta, y, weights=None, **options):
    """Detect up to mode 150, which is quicker than all that these samples would bear."""
    return detect(theta, y, weights, max_mode=150.0, **options)


def amplitude_error(found):
    refined = found.fit.refined
    errors = amplitude_errors(refined.lines, refined.factor, len(refined.trend))
    return errors * found.series.scale


@pytest.fixture(scope="module")
def found():
    return find(*tones())


def test_tones_off_the_grid_are_found_within_their_errors(found):
    assert len(found.lines) == 2
    assert np.all(np.abs(found.lines.mode - [7.3, 31.8]) < 4 * found.mode_error)
    error = np.abs(found.lines.amplitude[:, 0] - [1.0, 0.6])
    assert np.all(error < 4 * amplitude_error(found)[:, 0])
    assert np.all(found.false_alarm < 1e-6)
    assert found.noise[0] == pytest.approx(0.4, rel=0.1)
    assert found.trend.kind == "level"
    assert not found.huber


def test_paper_example_gives_exactly_its_three_modes():
    problem = paper_example(2, random_state=0)
    found = detect(problem.theta, problem.y[:, None])
    np.testing.assert_allclose(found.lines.mode, [5, 29, 61], atol=0.05)
    integer = detect(problem.theta, problem.y[:, None], frequencies="integer")
    np.testing.assert_array_equal(integer.lines.mode, [5, 29, 61])
    assert not integer.mode_error.any()


@pytest.mark.parametrize("seed", range(3))
def test_two_tones_a_mode_and_a_half_apart_are_both_found(seed):
    theta, y = tones(seed, 2000, modes=(40.2, 41.7), amplitudes=(1.0, 1.0), noise=1.0)
    np.testing.assert_allclose(find(theta, y).lines.mode, [40.2, 41.7], atol=0.3)


@pytest.mark.parametrize("seed", [3, 33, 34])
def test_many_tones_do_not_hide_each_other(seed):
    """Twelve tones with gaps look like outliers, like a continuum, and like each other's flanks."""
    problem = random_mixture(
        12, n_samples=1500, sampling="gappy", integer_modes=False, noise=0.5, random_state=seed
    )
    found = detect(problem.theta, problem.y[:, None], max_mode=1500.0)
    distance = np.abs(problem.modes[:, None] - found.lines.mode).min(axis=1, initial=9.0)
    assert np.mean(distance < 0.5) >= 0.9
    assert len(found.lines) <= 12
    assert not found.huber


def test_five_tones_in_twice_their_noise_are_found_together():
    """None passes alone: each lifts the floor of the others."""
    options = {"n_samples": 1500, "sampling": "gappy", "integer_modes": False, "random_state": 30}
    noise = 2.0 * random_mixture(5, noise=0.0, **options).truth.std()
    problem = random_mixture(5, noise=noise, **options)
    found = detect(problem.theta, problem.y[:, None])
    np.testing.assert_allclose(found.lines.mode, problem.modes, atol=0.4)


@pytest.mark.parametrize("kind", ["white", "red", "heavy"])
@pytest.mark.parametrize("even", [True, False])
def test_noise_alone_has_no_lines(kind, even):
    alarms = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        theta = np.linspace(-1, 1, 300) if even else np.sort(rng.uniform(-1, 1, 300))
        noise = rng.standard_t(3, size=500) if kind == "heavy" else rng.normal(size=500)
        if kind == "red":
            noise = np.convolve(noise, 0.7 ** np.arange(60))[:500]
        alarms += len(detect(theta, noise[200:, None]).lines) > 0
    assert alarms <= 1


def test_a_slow_drift_is_trend_or_continuum_and_not_a_line():
    rng = np.random.default_rng(1)
    theta = np.linspace(-1, 1, 800)
    walk = np.cumsum(rng.normal(size=800))[:, None]
    assert len(detect(theta, walk).lines) == 0


def test_what_a_level_leaves_on_the_grid_follows_from_sums_that_are_there():
    rng = np.random.default_rng(4)
    theta, y = np.sort(rng.uniform(-1, 1, 400)), 5.0 + rng.normal(size=(400, 2))
    series = Series.of(theta, y, rng.uniform(0.5, 2.0, 400), Settings(max_mode=300.0))
    for modes, trend_size in (([], 1), ([], 2), ([7.3], 1)):
        refined = fit_lines(series, np.array(modes), np.zeros(len(modes), bool), trend_size).refined
        sums = series.grid_sums(refined)
        direct = series.grid.data_sums(refined.residuals)
        np.testing.assert_allclose(sums, direct, atol=1e-9)
        assert np.array_equal(sums, direct) == (
            trend_size + len(modes) > 1
        )  # else not summed again


def test_a_slope_is_asked_for_only_where_it_is():
    theta, y = tones(slope=1.0)
    sloped = find(theta, y)
    assert sloped.trend.kind == "slope"
    assert sloped.trend.coefficients[1, 0] == pytest.approx(1.0, abs=0.15)
    assert len(sloped.lines) == 2


def test_a_bend_is_followed_and_leaves_the_lines_alone():
    theta, y = tones(slope=1.0)
    bent = find(theta, y + 2 * theta[:, None] ** 2)
    assert bent.trend.kind == "smooth"
    np.testing.assert_allclose(bent.lines.mode, [7.3, 31.8], atol=0.1)


def test_known_modes_are_kept_as_given_and_the_rest_is_searched():
    theta, y = tones()
    given_mode = find(theta, y, modes=np.array([31.8, 55.0]))
    np.testing.assert_allclose(given_mode.lines.mode, [7.3, 31.8, 55.0], atol=0.05)
    np.testing.assert_array_equal(given_mode.lines.mode[1:], [31.8, 55.0])
    np.testing.assert_array_equal(given_mode.known, [False, True, True])
    assert given_mode.mode_error[1] == 0
    assert given_mode.false_alarm[2] > 0.05  # that of one place


def test_outputs_share_modes_and_have_their_own_amplitudes():
    theta, y = tones()
    rng = np.random.default_rng(9)
    second = 0.3 * np.sin(np.pi * 7.3 * theta) + 0.4 * rng.normal(size=len(theta))
    both = find(theta, np.column_stack([y, 100 * second]))
    np.testing.assert_allclose(both.lines.mode, [7.3, 31.8], atol=0.05)
    assert both.lines.amplitude[0, 1] == pytest.approx(30, rel=0.3)
    assert both.lines.amplitude[1, 1] < 10


def test_an_output_given_twice_is_no_more_significant():
    theta, y = tones(amplitudes=(0.25, 0.0))
    once, twice = find(theta, y), find(theta, np.hstack([y, y]))
    np.testing.assert_allclose(once.lines.mode, twice.lines.mode, atol=1e-6)
    np.testing.assert_allclose(once.strength, twice.strength, rtol=0.01)


@pytest.mark.parametrize("one_sided", [True, False])
def test_outliers_hardly_move_anything(one_sided):
    theta, y = tones(n=1500)
    rng = np.random.default_rng(3)
    bad = rng.random(1500) < 0.05
    spoiled = y.copy()
    spoiled[bad, 0] += 10 * (1.0 if one_sided else rng.choice([-1, 1], bad.sum()))
    clean, robust = find(theta, y, level=1e-4), find(theta, spoiled, level=1e-4)
    assert robust.huber
    assert not clean.huber
    np.testing.assert_allclose(robust.lines.mode, clean.lines.mode, atol=0.03)
    change = np.std(robust.evaluate(theta) - clean.evaluate(theta))
    assert change < 2 * np.sqrt(7 / 1500) * 0.4


@pytest.mark.parametrize("seed", [0, 22, 50])
def test_six_outliers_are_not_missed_among_few_rows(seed):
    """Least squares bends towards them, and around the bent fit they are none."""
    rng = np.random.default_rng(seed)
    t, outliers = np.arange(30.0), np.zeros(30)
    outliers[rng.choice(30, 6, replace=False)] = 0.96
    y = np.sin(2 * np.pi * t / 7.3 + rng.uniform(0, 6)) + 0.02 * rng.normal(size=30) + outliers
    auto, huber = (PeriodicMixture(loss=loss).fit(t, y) for loss in ("auto", "huber"))
    assert auto.noise_ == pytest.approx(huber.noise_, rel=0.1)
    assert auto.noise_ < 0.06


def test_one_huge_outlier_is_no_line():
    theta, y = tones()
    y[100] = 1e9
    np.testing.assert_allclose(find(theta, y).lines.mode, [7.3, 31.8], atol=0.05)


def test_an_alternating_series_is_the_nyquist_mode():
    rng = np.random.default_rng(4)
    y = (-1.0) ** np.arange(200) + 0.3 * rng.normal(size=200)
    found = detect(np.linspace(-1, 1, 200), y[:, None])
    np.testing.assert_allclose(found.lines.mode, [99.5])
    assert found.lines.amplitude[0, 0] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("n", [21, 60, 99, 400, 401])
def test_a_pure_alternation_has_a_period_of_two_with_finite_errors(n):
    t = np.arange(float(n))
    model = PeriodicMixture().fit(t, t % 2)
    (mode,) = model.modes_.to_frame().itertuples()
    assert mode.period == pytest.approx(2.0, abs=1e-6)
    assert mode.amplitude == pytest.approx(0.5)
    assert 0 <= mode.period_error < 1e-3
    assert 0 <= mode.amplitude_error < 1e-3


@pytest.mark.parametrize(("sampling", "seed"), [("gappy", 1), ("gappy", 7), ("irregular", 3)])
def test_whole_numbers_are_asked_for_and_told(sampling, seed):
    options = {"n_samples": 1500, "noise": 0.5, "random_state": seed}
    problem = random_mixture(14, sampling=sampling, **options)
    found = detect(problem.theta, problem.y[:, None], frequencies="integer")
    np.testing.assert_array_equal(found.lines.mode, np.round(found.lines.mode))
    assert np.isin(problem.modes, found.lines.mode).sum() >= 13


@pytest.mark.parametrize("endpoint", ["included", "excluded"])
def test_an_alternation_between_two_whole_numbers_is_told_as_one_of_them(endpoint):
    t = np.arange(100.0 if endpoint == "included" else 101.0)  # 49.5 or 50.5 cycles
    model = PeriodicMixture(frequencies="integer", endpoint=endpoint).fit(t, t % 2)
    mode = model.modes_.mode
    assert len(mode) == len(np.unique(mode)) > 0
    np.testing.assert_array_equal(mode, np.round(mode))


def test_the_first_round_is_the_same_whether_it_is_asked_for_first_or_last():
    theta, y = tones(modes=(7.3, 31.8, 60.1, 77.7), amplitudes=(1.0, 0.6, 0.5, 0.15))
    series = Series.of(theta, y, None, Settings(max_mode=150.0))
    early, late = LineSearch(series), LineSearch(series)
    before, _ = early.first, late.whole
    np.testing.assert_array_equal(late.first.lines.mode, before.lines.mode)


# -- form does not matter ------------------------------------------------------------------------


def same(one, other, scale=1.0, shift=0.0):
    np.testing.assert_allclose(other.lines.mode, one.lines.mode, rtol=1e-7)
    np.testing.assert_allclose(other.lines.amplitude, abs(scale) * one.lines.amplitude, rtol=1e-6)
    np.testing.assert_allclose(other.mode_error, one.mode_error, rtol=1e-5)
    np.testing.assert_allclose(other.noise, abs(scale) * one.noise, rtol=1e-6)
    np.testing.assert_allclose(
        other.trend.coefficients[0], scale * one.trend.coefficients[0] + shift, rtol=1e-6
    )


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=5, deadline=None)
def test_the_order_of_samples_does_not_matter(found, seed):
    theta, y = tones()
    order = np.random.default_rng(seed).permutation(len(theta))
    shuffled = find(theta[order], y[order])
    assert shuffled.lines.mode.tobytes() == found.lines.mode.tobytes()
    assert shuffled.lines.cosine.tobytes() == found.lines.cosine.tobytes()


@given(st.floats(0.01, 100), st.floats(-100, 100), st.booleans())
@settings(max_examples=5, deadline=None)
def test_values_may_be_scaled_and_shifted(found, scale, shift, flip):
    theta, y = tones()
    scale = -scale if flip else scale
    same(found, find(theta, scale * y + shift), scale, shift)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
def test_any_magnitude_of_values_works(found, scale):
    theta, y = tones()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = find(theta, y * scale)
    np.testing.assert_allclose(other.lines.mode, found.lines.mode, rtol=1e-7)
    np.testing.assert_allclose(other.lines.amplitude / scale, found.lines.amplitude, rtol=1e-6)


@pytest.mark.parametrize("outliers", [False, True])
def test_weight_two_is_the_row_twice(outliers):
    theta, y = tones(n=400)
    y[::40] += 8.0 * outliers
    weights = np.random.default_rng(0).integers(0, 4, 400).astype(float)
    repeated = np.repeat(np.arange(400), weights.astype(int))
    one, other = find(theta, y, weights), find(theta[repeated], y[repeated])
    assert one.lines.mode.tobytes() == other.lines.mode.tobytes()
    assert amplitude_error(one).tobytes() == amplitude_error(other).tobytes()


def test_the_same_seed_gives_the_same_bits(found):
    again = find(*tones())
    for name in ("mode_error", "false_alarm", "noise", "strength"):
        assert getattr(again, name).tobytes() == getattr(found, name).tobytes()


# -- little or strange data ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theta", "y"),
    [
        ([0.0], [1.0]),
        ([-1.0, 1.0], [1.0, 2.0]),
        ([0.0, 0.0, 0.0], [1.0, 2.0, 4.0]),
        (np.linspace(-1, 1, 100), np.full(100, 3.7)),
        (np.repeat(np.linspace(-1, 1, 5), 20), np.arange(100.0) % 7),
        (np.linspace(-1, 1, 12), np.arange(12.0) ** 2),
    ],
    ids=["one sample", "two samples", "equal times", "constant", "duplicate times", "dozen"],
)
def test_data_that_bears_no_mode_gives_none_and_no_warning(theta, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = detect(np.array(theta), np.array(y)[:, None])
    assert len(found.lines) == 0
    assert np.isfinite(found.evaluate(np.linspace(-2, 2, 9))).all()


def test_duplicate_times_are_fine():
    theta, y = tones()
    rng = np.random.default_rng(5)
    double = find(np.tile(theta, 2), np.vstack([y, y + 0.3 * rng.normal(size=y.shape)]))
    np.testing.assert_allclose(double.lines.mode, [7.3, 31.8], atol=0.05)


def test_without_noise_it_ends_with_the_lines_and_nothing_else():
    theta, y = tones(noise=0.0)
    found = find(theta, y)
    np.testing.assert_allclose(found.lines.mode, [7.3, 31.8], atol=1e-6)


def test_it_takes_no_more_lines_than_it_may():
    theta, y = tones(modes=(7.3, 31.8, 50.1, 77.7), amplitudes=(1, 1, 1, 1), noise=0.2)
    assert len(find(theta, y, max_lines=2).lines) == 2


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"level": 0.0}, "level=0.0 must lie between 0 and 1"),
        ({"loss": "cubic"}, "loss='cubic' is unknown; use one of auto, squared, huber"),
        ({"frequencies": "odd"}, "frequencies='odd' is unknown; use one of real, integer"),
        ({"trend": "wild"}, "trend='wild' is unknown; use one of auto, level, slope, smooth"),
    ],
)
def test_settings_that_cannot_be_used_are_named(option, message):
    with pytest.raises(InputError, match=re.escape(message)):
        detect(*tones(n=50), **option)
