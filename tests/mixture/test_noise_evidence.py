"""The evidence decides between explanations of one and the same record."""

import numpy as np
import pytest
from scipy.signal import lfilter

from robustfourier import PeriodicMixture
from robustfourier.mixture.search import noise_evidence
from robustfourier.mixture.search.detection import detect
from robustfourier.mixture.search.line_fit import fit_lines
from robustfourier.mixture.search.moves import Search
from robustfourier.mixture.search.noise_evidence import NoiseEvidence, NoiseModel
from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.periodic.kernels import sho
from robustfourier.synthetic import random_mixture

NO = np.zeros(0), np.zeros(0, bool)


def series_of(y, theta=None):
    theta = np.linspace(-1, 1, len(y)) if theta is None else theta
    return Series.of(theta, y[:, None], None, Settings())


def autoregressive(seed, n=400, rho=0.9):
    noise = np.random.default_rng(seed).normal(size=n + 300)
    return lfilter([1.0], [1.0, -rho], noise)[300:]


def remembering(seed, n, memory):
    """Noise of variance one that is forgotten in so many samples."""
    rho = np.exp(-1.0 / memory)
    return np.sqrt(1.0 - rho**2) * autoregressive(seed, n, rho)


def test_white_noise_has_the_evidence_of_a_normal_law_with_its_trend_marginalised():
    rng = np.random.default_rng(0)
    series = series_of(rng.normal(size=60))
    fit = fit_lines(series, *NO, 2)
    score = NoiseEvidence(series, fit).best(None, fresh=False)[1]
    columns = series.trend(2)
    values = series.values[:, 0]
    left = values - columns @ np.linalg.lstsq(columns, values, rcond=None)[0]
    wide = values.std() / left.std() * columns
    covariance = np.eye(60) + wide @ wide.T
    scale = values @ np.linalg.solve(covariance, values) / 60
    expected = -0.5 * (60 * np.log(scale) + np.linalg.slogdet(covariance)[1])
    assert score == pytest.approx(expected, rel=1e-6)


def test_red_noise_is_always_found_and_white_noise_is_mostly_white():
    """A little colour is cheap, for it costs no line: two nats and a half for a resonance."""
    coloured = {0.0: 0, 0.9: 0}
    for rho in coloured:
        for seed in range(20):
            series = series_of(autoregressive(seed, 200, rho))
            evidence = NoiseEvidence(series, fit_lines(series, *NO, 1))
            noise, score = evidence.best(None, fresh=True)
            coloured[rho] += noise.coloured
            assert score >= evidence.best(None, fresh=False)[1]
    assert coloured[0.9] == 20
    assert coloured[0.0] <= 10


def test_the_spectrum_of_a_noise_model_is_the_mean_power_of_such_noise():
    series = series_of(autoregressive(0, 1000))
    fit = fit_lines(series, *NO, 1)
    noise = NoiseEvidence(series, fit).best(None, fresh=True)[0]
    modes = np.array([3.0, 10.0, 40.0, 160.0])
    mean = np.zeros(4)
    for seed in range(200):
        one = series_of(autoregressive(seed, 1000))
        power = (
            one.grid.power(one.grid.data_sums(one.values))[:, 0] * (one.scale / series.scale) ** 2
        )
        mean += power[np.round(modes / one.grid.spacing).astype(int)] / 200
    np.testing.assert_allclose(noise.spectrum(series, modes)[:, 0], mean, rtol=0.5)


def test_dense_tones_are_lines_and_a_continuum_is_not():
    problem = random_mixture(
        12, n_samples=1500, sampling="gappy", integer_modes=False, noise=0.5, random_state=707
    )
    tones = detect(problem.theta, problem.y[:, None])
    np.testing.assert_allclose(tones.lines.mode, np.sort(problem.modes), atol=0.3)
    assert not tones.noise_model.coloured
    continuum = detect(np.linspace(-1, 1, 1500), autoregressive(3, 1500, 0.97)[:, None])
    assert not len(continuum.lines)
    assert continuum.noise_model.coloured


def test_without_the_diagonal_layer_nothing_is_found(monkeypatch):
    theta = np.linspace(-1, 1, 500)
    y = np.cos(np.pi * 20.3 * theta) + 0.5 * np.random.default_rng(0).normal(size=500)
    assert len(detect(theta, y[:, None]).lines) == 1
    monkeypatch.setattr(Search, "_proposed", lambda *_: np.zeros(0))
    assert not len(detect(theta, y[:, None]).lines)


def test_oscillators_taken_out_leave_the_others():
    rows = np.arange(6.0)
    noise = NoiseModel(np.ones(1), (rows,))
    np.testing.assert_array_equal(noise.without(0).oscillators[0], rows[3:])
    assert not NoiseModel.white_noise(np.ones(2)).coloured


def test_a_pulse_whose_rate_wanders_is_one_pattern_though_of_some_lines_wings_alone_are_left():
    rng, t = np.random.default_rng(9), np.arange(2000) / 50.0
    memory = np.exp(-1.0 / 400.0)
    slow = np.sqrt(1.0 - memory**2) * lfilter([1.0], [1.0, -memory], rng.normal(size=4000))[2000:]
    phase = np.cumsum(1.3 * (1.0 + 0.02 * np.sin(1.4 * t) + 0.02 * slow)) / 50.0
    y = np.exp(-0.5 * ((phase % 1.0 - 0.3) / 0.03) ** 2) + 0.05 * rng.normal(size=2000)
    pattern = PeriodicMixture().fit(t, y).components_[0]
    assert pattern.period == pytest.approx(40.0 / (phase[-1] - phase[0]), rel=0.02)
    assert pattern.share > 0.6


@pytest.mark.parametrize("seed", [0, 1])
def test_means_and_stretches_of_a_long_record_say_of_a_slow_line_what_all_rows_do(
    seed, monkeypatch
):
    theta, rng = np.linspace(-1, 1, 12_000), np.random.default_rng(seed)
    slow = np.cos(3 * np.pi * theta) + 2 * remembering(seed, 12_000, 80)
    series = series_of(slow + rng.normal(size=12_000), theta)
    kernel, gains = sho([[150.0, 0.5, 4.0]]), []
    for most in (20_000, 5_000):
        monkeypatch.setattr(noise_evidence, "ROWS", most)
        heights = []
        for modes in (np.zeros(0), np.array([3.0])):
            fit = fit_lines(series, modes, np.zeros(len(modes), bool), 1)
            evidence = NoiseEvidence(series, fit)
            heights.append(evidence._likelihood(0, 1.0 / series.scale[0] ** 2)[0].value(kernel)[0])
        gains.append(heights[1] - heights[0])
    assert gains[1] == pytest.approx(gains[0], abs=3.0)


def test_the_likelihood_of_a_long_record_has_the_gradient_of_its_value():
    theta = np.linspace(-1, 1, 6_000)
    series = series_of(autoregressive(0, 6_000), theta)
    evidence = NoiseEvidence(series, fit_lines(series, np.zeros(0), np.zeros(0, bool), 1))
    likelihood, kernel = evidence._likelihood(0)[0], sho([[900.0, 2.0, 3.0]])
    value, gradient = likelihood.gradient(kernel)
    assert value == pytest.approx(likelihood.value(kernel)[0])
    for more in ([900.0, 2.0, 3.0 * 1.00001], [900.01, 2.0, 3.0], [900.0, 2.00002, 3.0]):
        change = sho([more]).coefficients - kernel.coefficients
        rise = likelihood.value(sho([more]))[0] - value
        assert rise == pytest.approx(np.sum(gradient * change), rel=1e-2)


@pytest.mark.parametrize("frequency", [1.0, 300.0, 30_000.0])
def test_means_of_samples_have_the_variance_that_the_kernel_says(frequency):
    kernel, within = sho([[frequency, 2.0, 3.0]]), 0.001 * np.arange(7)
    variance = np.mean(kernel(within[:, None] - within))
    assert noise_evidence._averaged(kernel, within)[0].variance == pytest.approx(variance)


def test_a_week_seen_three_times_is_found_at_two_minutes_as_at_an_hour():
    """Weekends are lower by a third; what people do is forgotten in three hours."""
    rng, days = np.random.default_rng(9), np.arange(21 * 720) / 720
    working = 0.4 + np.exp(-0.5 * ((days % 1 - 0.6) / 0.15) ** 2)
    working[days % 7 >= 5] *= 0.5
    room = 400 * working + 25 * remembering(0, len(days), 90)
    room += 10 * rng.normal(size=len(days))
    for every in (30, 1):
        found = detect(np.linspace(-1, 1, len(days) // every), room[::every, None])
        assert np.abs(found.lines.mode - 3.0).min() < 0.15
