"""Extrapolation of level and slope by a mixture of processes, and its back-test."""

from dataclasses import replace

import numpy as np
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.periodic import forecast
from robustfourier.periodic.basis import trend_columns
from robustfourier.periodic.forecast import Continuation, Extrapolation
from robustfourier.periodic.kernels import Kernel, integrated_ornstein_uhlenbeck, sho
from robustfourier.periodic.semiseparable import ConditionedProcess, FilteredState, Observations

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


def way_of(sampled, weight=1.0, slope=1.0):
    kernel, theta, noise, values, covariance = sampled
    columns = trend_columns(theta, 2)
    errors = np.linalg.inv(columns.T @ np.linalg.solve(covariance, columns))
    line = slope * errors @ columns.T @ np.linalg.solve(covariance, values)
    both = np.column_stack([values - columns @ line, columns])
    told, known, _ = FilteredState.at_ends(kernel, theta, noise, both)
    numbers = (told[:, :, 0], known, told[:, :, 1:], line, np.linalg.cholesky(errors))
    return Continuation(weight, kernel, theta[[0, -1]], *numbers)


def told_by(*ways):
    """Mean and variance that ways tell beyond the ends."""
    beyond = Extrapolation((), np.zeros(1), (ways,))
    return beyond.mean(BEYOND)[:, 0], beyond.variance(BEYOND)[:, 0]


def test_the_numbers_at_the_ends_tell_what_all_samples_tell(sampled):
    kernel, theta, _, values, covariance = sampled
    way = way_of(sampled)
    across = kernel(BEYOND[:, None] - theta)
    columns, here = trend_columns(theta, 2), trend_columns(BEYOND, 2)
    mean = here @ way.line + across @ np.linalg.solve(covariance, values - columns @ way.line)
    off = here - across @ np.linalg.solve(covariance, columns)
    known = np.einsum("ij,ji->i", across, np.linalg.solve(covariance, across.T))
    variance = kernel.variance - known + np.sum((off @ way.line_factor) ** 2, axis=1)
    told, spread = told_by(way)
    assert told == pytest.approx(mean, rel=1e-8)
    assert spread == pytest.approx(variance, rel=1e-8)


def test_ways_that_differ_widen_the_error_by_how_much_they_do(sampled):
    ways = way_of(sampled, 0.25), way_of(sampled, 0.75, slope=0.5)
    single = (told_by(replace(way, weight=1.0)) for way in ways)
    (one, alone), (other, _) = single  # a line moves no variance
    apart, mean = one - other, 0.25 * one + 0.75 * other
    told, spread = told_by(*ways)
    assert told == pytest.approx(mean)
    assert spread == pytest.approx(alone + 0.25 * 0.75 * apart**2)


def test_a_drift_that_is_no_covariance_is_none(sampled):
    _, theta, noise, values, _ = sampled
    good = integrated_ornstein_uhlenbeck(1.0, 0.2, 2.0, 0.03)
    samples = Observations(theta, values, noise)
    for factor in (-0.5 * noise[0] / good.variance, -1.0):  # fails on the way, and at once
        drifts = [good.scaled(factor), good]
        cases = list(forecast._compared(samples, 1.0, 0.0, Kernel.zero(), drifts))
        assert [case.kernel.variance for case in cases] == [good.variance, good.variance]


def test_a_walk_and_a_bend_are_told_apart_by_their_weights():
    rng, t = np.random.default_rng(3), np.arange(300.0)
    walk = np.cumsum(rng.normal(size=300)) + 0.5 * rng.normal(size=300) + 0.3 * t
    bend = np.cumsum(np.cumsum(0.02 * rng.normal(size=300))) + 0.5 * rng.normal(size=300)
    shares = []
    for y in (walk, bend):
        (ways,) = PeriodicMixture(scale="linear").fit(t, y).models_[0].extrapolation.ways
        assert sum(way.weight for way in ways) == pytest.approx(1.0)
        fastest = [way.kernel.c.max() for way in ways]  # the drift's rate, about
        shares.append(sum(w.weight for w, c in zip(ways, fastest, strict=True) if c > 20.0))
    assert shares[0] > 0.9
    assert shares[1] < 0.1


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
