"""The evidence decides between explanations of one and the same record."""

import numpy as np
import pytest
from scipy.signal import lfilter

from robustfourier import PeriodicMixture
from robustfourier.mixture.search.detection import detect
from robustfourier.mixture.search.line_fit import fit_lines
from robustfourier.mixture.search.moves import Search
from robustfourier.mixture.search.noise_evidence import NoiseEvidence, NoiseModel
from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.synthetic import random_mixture

NO = np.zeros(0), np.zeros(0, bool)


def series_of(y, theta=None):
    theta = np.linspace(-1, 1, len(y)) if theta is None else theta
    return Series.of(theta, y[:, None], None, Settings())


def autoregressive(seed, n=400, rho=0.9):
    noise = np.random.default_rng(seed).normal(size=n + 300)
    return lfilter([1.0], [1.0, -rho], noise)[300:]


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
