"""The diagonal layer with its calibrated time."""

import numpy as np
import pytest

from robustfourier.mixture.significance import Judge
from robustfourier.periodic.diagonal_flow import (
    DYNAMIC_RANGE,
    START,
    _train,
    calibrated_time,
    diagonal_flow,
)
from robustfourier.periodic.nufft import direct_sums

SPACING, TOP = 0.5, 60.0


def sampled(n, seed):
    return np.sort(np.random.default_rng(seed).uniform(-1, 1, n))


def flow_of(theta, y, noise, x=4.0):
    modes = np.arange(1.5, TOP, SPACING)
    beta = direct_sums(theta, y[:, None], modes) / (noise * np.sqrt(len(theta)))
    far = SPACING * np.arange(int(2 * TOP / SPACING) + 2)
    window = direct_sums(theta, np.ones((len(theta), 1)), far)[:, 0] / len(theta)
    return diagonal_flow(modes, beta, window, x)


@pytest.mark.parametrize("x", [2.0, 4.0, 8.0])
def test_a_mode_as_strong_as_the_strongest_of_noise_grows_to_its_own_size(x):
    """(α²/2) sinh(2xT) = x, by a plain integration of the flow of one mode."""
    w, c = np.full(1, np.sqrt(START * x)), np.zeros((1, 1), complex)
    steps = 20_000
    for _ in range(steps):
        dt = calibrated_time(x) / steps
        w, c = w + dt * (c.conj() * x).real[:, 0], c + dt * w[:, None] * x
    assert w[0] * c[0, 0].real == pytest.approx(x, rel=0.01)


def test_the_trained_layer_follows_the_exact_flow():
    """Compared with ten thousand plain gradient steps on the same matrices."""
    rng = np.random.default_rng(0)
    theta, count = sampled(300, 0), 6
    modes = np.array([10.0, 10.5, 11.0, 25.0, 25.5, 40.0])
    near = direct_sums(theta, np.ones((300, 1)), (modes[:, None] - modes).ravel())[:, 0] / 300
    toeplitz = near.reshape(count, count)
    far = direct_sums(theta, np.ones((300, 1)), (modes[:, None] + modes).ravel())[:, 0] / 300
    hankel = far.reshape(count, count)
    y = np.cos(np.pi * 10.2 * theta) + 0.7 * np.sin(np.pi * 25.1 * theta)
    beta = direct_sums(theta, (y + 0.3 * rng.normal(size=300))[:, None], modes) / np.sqrt(300) / 0.3
    x = 4.0
    w, c = np.full(count, np.sqrt(START * x)), np.zeros((count, 1), complex)
    _train(toeplitz, hankel, beta, calibrated_time(x), w, c)
    v, d = np.full(count, np.sqrt(START * x)), np.zeros((count, 1), complex)
    steps = 10_000
    for _ in range(steps):
        z = v[:, None] * d
        g = beta - toeplitz @ z - hankel @ z.conj()
        dt = calibrated_time(x) / steps
        v, d = v + dt * (d.conj() * g).real[:, 0], d + dt * v[:, None] * g
    largest = np.abs(v[:, None] * d).max()
    np.testing.assert_allclose(w[:, None] * c, v[:, None] * d, atol=0.1 * largest)


def test_dense_tones_awake_and_their_sidelobes_do_not():
    theta = sampled(1500, 3)
    truth = np.array([7.0, 11.3, 15.7, 24.7, 27.1, 32.0, 44.6, 57.5])
    rng = np.random.default_rng(1)
    y = np.cos(np.pi * np.outer(theta, truth) + rng.uniform(0, 6, 8)).sum(axis=1)
    peaks = flow_of(theta, y + 0.5 * rng.normal(size=1500), 0.5).peaks()
    assert np.abs(truth[:, None] - peaks).min(axis=1).max() < 0.5
    assert len(peaks) <= len(truth) + 1


def test_noise_alone_proposes_no_more_often_than_its_level():
    """At a level of 5 % in 300 draws of white noise; 28 or more have odds of 1 in 1,000."""
    theta, proposed = sampled(200, 5), 0
    judge = Judge(theta, np.ones(200), 1.5, TOP)
    z = judge.price(0.05, np.array([30.0]))[0]
    for seed in range(300):
        noise = np.random.default_rng(seed).normal(size=200)
        proposed += len(flow_of(theta, noise - noise.mean(), 1.0, np.sqrt(z)).peaks()) > 0
    assert proposed < 28


def test_a_flow_with_a_far_stronger_mode_ends_early_and_says_so():
    theta = sampled(800, 7)
    y = 50.0 * np.cos(np.pi * 20.0 * theta) + 0.3 * np.random.default_rng(0).normal(size=800)
    flow = flow_of(theta, y, 0.3)
    assert not flow.complete
    part = DYNAMIC_RANGE * 4.0 / flow.gradient.max()
    assert flow.time == pytest.approx(part * flow.duration, rel=0.8)
    assert flow.peaks()[0] == pytest.approx(20.0, abs=0.2)
    assert flow_of(theta, y - 50.0 * np.cos(np.pi * 20.0 * theta), 0.3).complete
