"""What is left over: white noise stays white, memory is found and used, outliers draw no bumps."""

import numpy as np
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.periodic import residual_process as room
from robustfourier.periodic.kernels import sho
from robustfourier.periodic.residual_process import remainder_of
from robustfourier.periodic.uncertainty import prediction_errors

ONE = np.ones(1)


def memory(theta, rng, frequency=30.0, quality=0.3, variance=1.0):
    covariance = sho([[frequency, quality, variance]])(theta[:, None] - theta)
    return np.linalg.cholesky(covariance + 1e-9 * np.eye(len(theta))) @ rng.normal(size=len(theta))


def drifting(n=500, seed=0):
    """A tone of seven days on a drift, seen with white noise."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 100, n))
    truth = 2 * np.cos(2 * np.pi * t / 7) + memory(t / 50 - 1, rng)
    return t, truth, truth + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("sampling", ["even", "irregular"])
def test_white_noise_stays_white(sampling):
    false = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        theta = np.linspace(-1, 1, 300)
        if sampling == "irregular":
            theta = np.sort(rng.uniform(-1, 1, 300))
        left = rng.standard_t(4, size=(300, 1)) if seed % 2 else rng.normal(size=(300, 1))
        false += remainder_of(theta, left, np.ones(300), ONE, robust=True) is not None
    assert false <= 1


def test_a_strict_mixture_in_white_noise_is_predicted_as_before():
    rng = np.random.default_rng(5)
    t = np.sort(rng.uniform(0, 100, 400))
    model = PeriodicMixture().fit(t, np.cos(2 * np.pi * t / 7) + 0.5 * rng.normal(size=400))
    column = model.models_[0]
    theta = model.domains_[0].to_theta(t)
    assert model.remainder_ is None
    value, std = model.predict(t, return_std=True)
    assert np.array_equal(value, column.evaluate(theta)[:, 0])
    trend = column._trend.columns(theta)
    formal = prediction_errors(theta, trend, column.lines.mode, column.factor)[:, 0]
    assert np.array_equal(std, formal)
    assert model.decompose(t).remainder is None
    assert "remainder" not in model.decompose(t).to_frame()


def test_a_drift_is_told_by_its_neighbours_with_a_true_error():
    z_in, z_gap, ratio = [], [], []
    for seed in range(6):
        t, truth, y = drifting(seed=seed)
        seen = t % 10 < 8
        model = PeriodicMixture().fit(t[seen], y[seen])
        value, std = model.predict(t, return_std=True)
        alone = model.predict(t, remainder=False)
        z_in.append(np.mean(((value - truth) / std)[seen] ** 2))
        z_gap.append(np.mean(((value - truth) / std)[~seen] ** 2))
        ratio.append(np.std((value - truth)[seen]) / np.std((alone - truth)[seen]))
    assert np.median(ratio) < 0.3
    assert 0.6 < np.median(z_in) < 1.6
    assert 0.5 < np.median(z_gap) < 2.0


def test_far_from_any_sample_the_error_is_that_of_the_whole_process():
    t, _, y = drifting(seed=1)  # around a level
    model = PeriodicMixture().fit(t, y)
    far = np.array([150.0])
    value, std = model.predict(far, return_std=True)
    alone, formal = model.predict(far, return_std=True, remainder=False)
    assert value == pytest.approx(alone, abs=1e-6)
    assert std == pytest.approx(np.hypot(formal, model.remainder_.deviation), rel=1e-6)


def test_errors_join_without_a_jump():
    t, _, y = drifting()
    model = PeriodicMixture().fit(t, y)
    std = model.predict(np.linspace(-20, 120, 20001), return_std=True)[1]
    assert np.abs(np.diff(std)).max() < 0.02 * std.max()


def test_an_outlier_draws_no_bump():
    t, _, y = drifting()
    spoiled = y.copy()
    spoiled[250] += 30.0
    without = PeriodicMixture().fit(np.delete(t, 250), np.delete(y, 250))
    dirty, squared = (PeriodicMixture(loss=loss).fit(t, spoiled) for loss in ("auto", "squared"))
    near = np.linspace(t[250] - 2, t[250] + 2, 50)
    value, std = without.predict(near, return_std=True)
    moved = np.abs(dirty.predict(near) - value).max()
    assert moved < 0.3 * std.max()
    assert np.abs(squared.predict(near) - value).max() > 5 * moved


def test_parts_add_up_and_a_file_keeps_them(tmp_path):
    t, _, y = drifting()
    model = PeriodicMixture().fit(t, y)
    parts = model.decompose(t)
    assert parts.total == pytest.approx(model.predict(t))
    assert parts.to_frame()["remainder"].to_numpy() == pytest.approx(
        model.predict(t) - model.predict(t, remainder=False)
    )
    model.save(tmp_path / "model.rfm")
    again = load(tmp_path / "model.rfm")
    for one, other in zip(
        model.predict(t, return_std=True), again.predict(t, return_std=True), strict=True
    ):
        assert np.array_equal(one, other)


def test_logarithms_have_a_remainder_that_multiplies():
    t, truth, y = drifting()
    model = PeriodicMixture(scale="log").fit(t, np.exp(0.2 * y))
    parts = model.decompose(t)
    assert parts.total == pytest.approx(model.predict(t))
    error = np.std(np.log(model.predict(t)) - 0.2 * truth)
    assert error < 0.4 * np.std(np.log(model.predict(t, remainder=False)) - 0.2 * truth)


def test_outputs_have_memories_of_their_own():
    t, _, y = drifting()
    white = np.cos(2 * np.pi * t / 7) + np.random.default_rng(9).normal(size=len(t))
    model = PeriodicMixture().fit(t, np.stack([y, white], axis=1))
    rest = model.predict(t) - model.predict(t, remainder=False)
    assert np.std(model.decompose(t).trend[:, 0] + rest[:, 0]) > 0.7  # a slope may have part of it
    assert np.array_equal(rest[:, 1], np.zeros(len(t)))
    assert model.predict(t, return_std=True)[1].shape == (len(t), 2)


def test_of_several_columns_the_one_with_memory_has_it():
    t, truth, y = drifting()
    other = np.random.default_rng(4).uniform(0, 10, len(t))
    wave = np.sin(2 * np.pi * other / 3)
    model = PeriodicMixture().fit(np.stack([other, t], axis=1), y + wave)
    assert model.models_[0].remainder is None
    table = np.stack([other, t], axis=1)
    assert np.std(model.predict(table) - truth - wave) < 0.5 * np.std(
        model.predict(table, remainder=False) - truth - wave
    )


def test_noiseless_data_has_no_memory_of_rounding():
    t = np.linspace(0, 100, 500)
    assert PeriodicMixture().fit(t, np.cos(2 * np.pi * t / 7)).remainder_ is None


def test_many_rows_give_nearly_the_parameters_of_all(monkeypatch):
    rng = np.random.default_rng(2)
    n = 6000
    theta = np.linspace(-1, 1, n)
    left = np.zeros(n)
    shocks = rng.normal(size=n)
    for i in range(1, n):
        left[i] = 0.98 * left[i - 1] + 0.2 * shocks[i]
    left = (left + 0.5 * rng.normal(size=n))[:, None]
    every = remainder_of(theta, left, np.ones(n), ONE, robust=True)
    monkeypatch.setattr(room, "ROWS", 3000)
    some = remainder_of(theta, left, np.ones(n), ONE, robust=True)
    assert some.white == pytest.approx(every.white, rel=0.05)
    off = np.std(some.mean(theta) - every.mean(theta))
    assert off < 0.15 * np.sqrt(np.mean(every.variance(theta)))
