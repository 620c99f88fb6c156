"""Extrapolation of level and slope by the likeliest process, and its back-test."""

import numpy as np
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.periodic import forecast
from robustfourier.periodic.basis import trend_columns
from robustfourier.periodic.forecast import Extrapolation
from robustfourier.periodic.kernels import Kernel, integrated_ornstein_uhlenbeck, sho
from robustfourier.periodic.semiseparable import ConditionedProcess, Observations

BEYOND = np.array([-1.3, -1.001, 1.002, 1.05, 1.4])


@pytest.fixture
def sampled():
    rng = np.random.default_rng(0)
    theta = np.sort(rng.uniform(-1, 1, 200))
    kernel = Kernel.sum([sho([[0.5, 0.1, 40.0]]), sho([[30.0, 4.0, 1.0]])])
    noise = rng.uniform(0.1, 0.3, 200)
    covariance = kernel(theta[:, None] - theta) + np.diag(noise)
    values = 3.0 + 2.0 * theta + np.linalg.cholesky(covariance) @ rng.normal(size=200)
    return kernel, theta, noise, values, covariance


def test_beyond_the_ends_line_and_process_are_those_of_all_samples(sampled):
    kernel, theta, noise, values, covariance = sampled
    columns, here = trend_columns(theta, 2), trend_columns(BEYOND, 2)
    errors = np.linalg.inv(columns.T @ np.linalg.solve(covariance, columns))
    line = errors @ columns.T @ np.linalg.solve(covariance, values)
    part = ConditionedProcess.on(kernel, theta, noise, values - columns @ line)
    factor = np.linalg.cholesky(errors)[None]
    beyond = Extrapolation((part,), np.zeros(1), line[:, None], factor)
    across = kernel(BEYOND[:, None] - theta)
    mean = here @ line + across @ np.linalg.solve(covariance, values - columns @ line)
    off = here - across @ np.linalg.solve(covariance, columns)
    known = np.einsum("ij,ji->i", across, np.linalg.solve(covariance, across.T))
    variance = kernel.variance - known + np.einsum("ni,ij,nj->n", off, errors, off)
    assert beyond.mean(BEYOND)[:, 0] == pytest.approx(mean, rel=1e-8)
    assert beyond.variance(BEYOND)[:, 0] == pytest.approx(variance, rel=1e-8)


def test_a_line_is_that_of_generalised_least_squares(sampled):
    kernel, theta, noise, values, covariance = sampled
    samples = Observations(theta, values, noise)
    columns = trend_columns(theta, 2)
    prior = np.diag([0.0, 1.0 / forecast._slope_variance(samples)])
    errors = np.linalg.inv(columns.T @ np.linalg.solve(covariance, columns) + prior)
    expected = errors @ columns.T @ np.linalg.solve(covariance, values)
    line, factor = forecast._line(forecast._Case(0.0, 1.0, kernel, 2), samples)
    assert line == pytest.approx(expected, rel=1e-8)
    assert factor @ factor.T == pytest.approx(errors, rel=1e-8)
    level, factor = forecast._line(forecast._Case(0.0, 1.0, kernel, 1), samples)
    assert level[1] == 0.0
    assert not factor[1].any()
    assert not factor[:, 1].any()


def test_a_drift_that_is_no_covariance_is_none(sampled):
    _, theta, noise, values, _ = sampled
    good = integrated_ornstein_uhlenbeck(1.0, 0.2, 2.0, 0.03)
    samples = Observations(theta, values, noise)
    for factor in (-0.5 * noise[0] / good.variance, -1.0):  # fails on the way, and at once
        drifts = [good.scaled(factor), good]
        cases = list(forecast._compared(samples, 1.0, 0.0, Kernel.zero(), drifts))
        assert [case.kernel.variance for case in cases] == [good.variance, good.variance]


def test_a_walk_goes_on_as_a_walk_and_a_bend_as_a_bend():
    rng, t = np.random.default_rng(3), np.arange(300.0)
    walk = np.cumsum(rng.normal(size=300)) + 0.5 * rng.normal(size=300) + 0.3 * t
    bend = np.cumsum(np.cumsum(0.02 * rng.normal(size=300))) + 0.5 * rng.normal(size=300)
    fastest = []
    for y in (walk, bend):
        (part,) = PeriodicMixture(scale="linear").fit(t, y).models_[0].extrapolation.parts
        fastest.append(part.kernel.c.max())  # the rate at which changes of the slope are forgotten
    assert fastest[0] > 20.0 > fastest[1]


def test_a_model_that_drifts_comes_back_from_its_file(tmp_path):
    t = np.arange(200.0)
    y = np.cumsum(np.random.default_rng(1).normal(size=200)) + 0.5 * t
    model = PeriodicMixture(scale="linear").fit(t, y)
    assert model.models_[0].extrapolation is not None
    model.save(tmp_path / "model.rfm")
    again = load(tmp_path / "model.rfm").forecast(20).to_frame()
    assert again.equals(model.forecast(20).to_frame())


@pytest.fixture
def process():
    rng = np.random.default_rng(0)
    theta = np.sort(rng.uniform(-1, 1, 300))
    kernel = Kernel.sum([sho([[3.0, 0.3, 4.0]]), sho([[40.0, 5.0, 1.0]])])
    covariance = kernel(theta[:, None] - theta) + 0.1 * np.eye(300)
    values = np.linalg.cholesky(covariance) @ rng.normal(size=300)
    return ConditionedProcess.on(kernel, theta, np.full(300, 0.1), values), values


def test_a_back_test_from_all_origins_at_once_equals_each_alone(process, monkeypatch):
    whole, values = process
    theta = whole.theta
    monkeypatch.setattr(forecast, "_ORIGINS", np.array([0.3, 0.6]))
    told = forecast._standardised(whole, values)
    for bin_, squares in enumerate(told):
        slow = []
        for origin in (90, 180):
            past = slice(0, origin)
            known = ConditionedProcess.on(
                whole.kernel, theta[past], whole.noise[past], values[past]
            )
            rows, counts = forecast._ahead(theta, np.array([origin]))
            rows = rows.reshape(4, -1)[bin_, counts[0, bin_]]
            spread = known.variance(theta[rows]) + whole.noise[rows]
            slow.append((values[rows] - known.mean(theta[rows])) ** 2 / spread)
        assert squares == pytest.approx(np.concatenate(slow), rel=1e-6)


def test_errors_of_a_true_process_are_hardly_inflated_and_of_a_quiet_one_much(process):
    whole, values = process
    assert (forecast.backtest_inflation(whole, values) < 1.4).all()
    quiet = ConditionedProcess.on(whole.kernel.scaled(0.05), whole.theta, whole.noise, values)
    assert (forecast.backtest_inflation(quiet, values) > 1.5).all()


def test_rows_ahead_are_spread_over_each_bin_and_count_once():
    theta = np.concatenate([np.linspace(-1.0, 0.2, 40), np.linspace(0.7, 1.0, 400)])
    origins = np.array([20, 40, 200, 430])
    rows, counts = forecast._ahead(theta, origins)
    for origin, some, which in zip(origins, rows.reshape(4, 4, -1), counts, strict=True):
        ends = theta[origin - 1] + 2.0 * np.array((0.0, *forecast.HORIZONS))
        edges = np.maximum(np.searchsorted(theta, ends, side="right"), origin)
        for bin_ in range(4):
            low, high = edges[bin_ : bin_ + 2]
            slow = np.unique(np.linspace(low, high - 1, 15).astype(int)) if high > low else []
            assert some[bin_][which[bin_]].tolist() == list(slow)
