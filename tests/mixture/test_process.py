"""The Gaussian process in linear time against dense matrices."""

import numpy as np
import pytest

from robustfourier.mixture.process import Conditioned, Waves, log_likelihood, oscillator


def living_wave(variance, rate, frequency):
    return Waves(
        np.array([variance]), np.zeros(1), np.array([rate]), np.array([frequency]), np.zeros(1, int)
    )


@pytest.fixture
def waves():
    return Waves.joined(
        [oscillator(20.0, 0.3, 1.5), oscillator(60.0, 4.0, 0.7), living_wave(0.4, 3.0, 200.0)]
    )


@pytest.fixture
def samples():
    rng = np.random.default_rng(3)
    theta = np.sort(np.concatenate([rng.uniform(-1, 0.2, 300), rng.uniform(0.5, 1.0, 98)]))
    theta = np.concatenate([theta, theta[-2:]])  # equal times too
    theta.sort()
    return theta, rng.normal(size=400), rng.uniform(0.1, 0.3, 400)


def dense(waves, theta, noise):
    return waves(theta[:, None] - theta) + np.diag(noise)


def test_the_process_equals_its_dense_twin(waves, samples):
    theta, values, noise = samples
    covariance = dense(waves, theta, noise)
    at = np.concatenate([np.linspace(-1.5, 1.5, 101)[::-1], theta[::50]])
    across = waves(at[:, None] - theta)
    solved = np.linalg.solve(covariance, values)
    process = Conditioned.on(waves, theta, noise, values)
    assert process.solved == pytest.approx(solved, abs=1e-8)
    assert process.mean(at) == pytest.approx(across @ solved, abs=1e-8)
    known = np.einsum("ij,ji->i", across, np.linalg.solve(covariance, across.T))
    assert process.variance(at) == pytest.approx(waves.variance - known, abs=1e-8)


def test_the_likelihood_equals_its_dense_twin_at_the_best_factor(waves, samples):
    theta, values, noise = samples
    covariance = dense(waves, theta, noise)
    likelihood, factor = log_likelihood(waves, theta, values, noise)
    best = values @ np.linalg.solve(covariance, values) / 400
    assert factor == pytest.approx(best, rel=1e-8)
    expected = -0.5 * (400 * np.log(best) + np.linalg.slogdet(covariance)[1])
    assert likelihood == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("beside", [True, False])
def test_strict_waves_beside_the_process_equal_the_dense_twin(waves, samples, beside):
    theta, values, noise = samples
    zero = np.zeros(3)
    still = Waves(np.array([0.3, 5.0, 90.0]), zero, zero, np.array([9.0, 70.0, 71.0]), zero)
    process = waves if beside else Waves.none()
    covariance = dense(Waves.joined([process, still]), theta, noise)
    likelihood, factor = log_likelihood(process, theta, values, noise, still.columns(theta))
    best = values @ np.linalg.solve(covariance, values) / 400
    assert factor == pytest.approx(best, rel=1e-8)
    expected = -0.5 * (400 * np.log(best) + np.linalg.slogdet(covariance)[1])
    assert likelihood == pytest.approx(expected, abs=1e-6)


def test_samples_left_out_equal_the_dense_twin(waves, samples):
    theta, values, noise = samples
    covariance = dense(waves, theta, noise)
    distance, variance = Conditioned.on(waves, theta, noise, values).left_out()
    for i in (0, 17, 399):
        rest = np.arange(400) != i
        told = np.linalg.solve(covariance[np.ix_(rest, rest)], covariance[rest, i])
        assert distance[i] == pytest.approx(values[i] - told @ values[rest], abs=1e-8)
        assert variance[i] == pytest.approx(covariance[i, i] - told @ covariance[rest, i], abs=1e-8)


def test_terms_add_up_to_the_process(waves, samples):
    theta, values, noise = samples
    process = Conditioned.on(waves, theta, noise, values)
    at = np.linspace(-1.2, 1.2, 50)
    own = waves.owner == 0
    assert process.mean(at, own) + process.mean(at, ~own) == pytest.approx(
        process.mean(at), abs=1e-10
    )


def test_a_wave_a_quarter_later_is_the_sine_of_its_cosine(samples):
    theta, values, noise = samples
    process = Conditioned.on(living_wave(0.4, 3.0, 40.0), theta, noise, values)
    at = np.linspace(-1.2, 1.2, 50)
    far = at[:, None] - theta
    expected = (0.4 * np.exp(-3.0 * np.abs(far)) * np.sin(40.0 * far)) @ process.solved
    quarter = process.across(at, process.solved[:, None], quarter=True)[:, 0]
    assert quarter == pytest.approx(expected, abs=1e-8)


def test_what_is_no_covariance_has_no_likelihood(samples):
    theta, values, noise = samples
    assert log_likelihood(living_wave(-5.0, 3.0, 10.0), theta, values, noise)[0] == -np.inf


@pytest.mark.parametrize("quality", [0.05, 0.5, 0.5 + 1e-9, 6.0])
def test_an_oscillator_is_continuous_in_its_quality(quality):
    tau = np.linspace(0.0, 1.0, 20)
    near = oscillator(10.0, quality + 1e-6, 1.0)(tau)
    assert oscillator(10.0, quality, 1.0)(tau) == pytest.approx(near, abs=1e-3)
