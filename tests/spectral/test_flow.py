"""The diagonal flow follows plain gradient descent and finds sparse modes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from robustfourier.periodic.normal_operator import NormalOperator, dense_operator
from robustfourier.periodic.nufft import fourier_sums
from robustfourier.spectral.flow import _Curvature, _HeldOut, diagonal_flow

# All modes take the same steps: gradient descent as it stands in the book.
plain_flow = partial(diagonal_flow, settled=np.inf)


def descend(theta, y, n_modes, duration, steps):
    """Gradient descent on the plain parameters w, Re c, Im c with tiny steps; the reference."""
    phase = np.pi * np.outer(theta, np.arange(n_modes))
    cos, sin = np.cos(phase), np.sin(phase)
    largest = np.hypot(cos.T @ y, sin.T @ y).max() * 2 / len(theta)
    w, a, b = np.full(n_modes, 0.01 * np.sqrt(largest)), np.zeros(n_modes), np.zeros(n_modes)
    for _ in range(steps):
        residual = cos @ (w * a) - sin @ (w * b) - y
        on_cos, on_sin = 2 / len(theta) * cos.T @ residual, -2 / len(theta) * sin.T @ residual
        rate = duration / largest / steps
        w, a, b = (
            w - rate * (a * on_cos + b * on_sin),
            a - rate * w * on_cos,
            b - rate * w * on_sin,
        )
    return w, a + 1j * b


@pytest.mark.parametrize("duration", [3.0, 6.0, 12.0])
def test_path_equals_gradient_descent_with_tiny_steps(duration):
    rng = np.random.default_rng(0)
    theta = rng.uniform(-1, 1, 80)
    y = np.cos(np.pi * 3 * theta - 1) + 0.5 * np.cos(np.pi * 5 * theta) + 0.1 * rng.normal(size=80)
    sums = fourier_sums(theta, y[:, None], np.ones(80), 7)
    flow = plain_flow(sums, step=0.002, duration=duration, max_steps=10**6)
    w, c = descend(theta, y, 8, duration, 20_000)
    np.testing.assert_allclose(flow.value[:, 0], w * c, atol=2e-3)
    np.testing.assert_allclose(flow.weight, w, atol=2e-3)
    assert flow.reason == "duration reached"


def test_modes_that_are_small_have_grown_in_one_step_as_in_tiny_ones():
    rng = np.random.default_rng(1)
    theta = rng.uniform(-1, 1, 80)
    y = np.cos(np.pi * 3 * theta - 1) + 0.1 * rng.normal(size=80)
    flow = plain_flow(fourier_sums(theta, y[:, None], np.ones(80), 7), duration=2.5)
    w, c = descend(theta, y, 8, 2.5, 20_000)
    assert flow.steps == 1
    np.testing.assert_allclose(flow.value[:, 0], w * c, rtol=0.01)


def test_on_cosines_alone_it_is_the_papers_diagonal_network():
    """For an even function on symmetric samples sines stay silent: f = Σ c_k w_k cos(πkθ)."""
    theta = np.linspace(-1, 1, 41)[:-1] + 0.025
    y = np.cos(np.pi * 2 * theta) - 0.6 * np.cos(np.pi * 4 * theta)
    features = np.cos(np.pi * np.outer(theta, np.arange(6)))
    largest = np.abs(features.T @ y).max() * 2 / len(theta)
    duration, steps = 8.0, 20_000
    rate = duration / largest / steps
    w, c = np.full(6, 0.01 * np.sqrt(largest)), np.zeros(6)
    for _ in range(steps):
        g = 2 / len(theta) * features.T @ (features @ (w * c) - y)
        w, c = w - rate * c * g, c - rate * w * g
    sums = fourier_sums(theta, y[:, None], np.ones(40), 5)
    flow = plain_flow(sums, step=0.002, duration=duration, max_steps=10**6)
    np.testing.assert_allclose(flow.value[:, 0], w * c, atol=2e-3)
    assert np.abs(flow.value[[1, 3, 5]]).max() < 1e-3


def test_large_steps_end_where_small_steps_end():
    rng = np.random.default_rng(5)
    theta = np.sort(rng.uniform(-1, 1, 300))
    y = (np.cos(np.pi * 9 * theta) + 0.3 * rng.normal(size=300))[:, None]
    sums = fourier_sums(theta, y, np.ones(300), 30)
    coarse, fine = (plain_flow(sums, step=s, duration=15.0, max_steps=10**5) for s in (0.4, 0.02))
    assert coarse.steps < fine.steps / 10
    np.testing.assert_allclose(coarse.value, fine.value, atol=0.02)


def test_it_stops_by_held_out_data_with_the_true_modes_alone():
    rng = np.random.default_rng(0)
    theta = np.linspace(-1, 1, 2001)
    y = np.cos(np.pi * 5 * theta) + 0.5 * np.sin(np.pi * 29 * theta)
    y = (y + 0.4 * rng.normal(size=2001))[:, None]
    held = rng.permutation(2001) < 400
    train, test = (fourier_sums(theta[p], y[p], np.ones(p.sum()), 200) for p in (~held, held))
    flow = diagonal_flow(train, test)
    assert flow.reason == "held-out error stopped improving"
    assert set(np.argsort(flow.amplitude)[-2:]) == {5, 29}
    assert np.sort(flow.amplitude)[-3] < 0.05
    assert flow.held_out.min() < 0.3


def test_error_from_sums_is_the_error_on_the_samples():
    rng = np.random.default_rng(6)
    theta, y, weights = rng.uniform(-1, 1, 50), rng.normal(size=(50, 2)), rng.uniform(1, 2, 50)
    z = rng.normal(size=(6, 2)) + 1j * rng.normal(size=(6, 2))
    sums = fourier_sums(theta, y, weights, 5)
    values = (np.exp(1j * np.pi * np.outer(theta, np.arange(6))) @ z).real
    expected = np.sum(weights @ (y - values) ** 2) / np.sum(weights @ y**2)
    operator = NormalOperator.of(fourier_sums(theta[:20], y[:20], weights[:20], 5))
    error = _HeldOut(sums, 3.0).error(z / 3.0, operator.values(operator.halves(z / 3.0)))
    np.testing.assert_allclose(error, expected)


def test_the_flow_stops_at_once_where_the_held_out_error_rises():
    rng = np.random.default_rng(8)
    theta, ones = np.sort(rng.uniform(-1, 1, 200)), np.ones(100)
    y = np.cos(np.pi * 7 * theta)[:, None] + rng.normal(size=(200, 1))
    seen, held = (fourier_sums(theta[i::2], y[i::2], ones, 100) for i in (0, 1))
    flow = diagonal_flow(seen, held)
    rise = flow.held_out[1:] / np.minimum.accumulate(flow.held_out)[:-1]
    assert rise[-1] > 1.02 > rise[:-1].max()


def test_scaling_the_values_scales_the_flow():
    rng = np.random.default_rng(7)
    theta, y = rng.uniform(-1, 1, 100), rng.normal(size=(100, 1))
    one = diagonal_flow(fourier_sums(theta, y, np.ones(100), 10), max_steps=200)
    many = diagonal_flow(fourier_sums(theta, 1024.0 * y, np.ones(100), 10), max_steps=200)
    np.testing.assert_allclose(many.value, 1024.0 * one.value, rtol=1e-9)


def test_nothing_grows_where_there_is_nothing():
    flow = diagonal_flow(fourier_sums(np.linspace(-1, 1, 20), np.zeros((20, 1)), np.ones(20), 5))
    assert flow.steps == 0
    assert not flow.amplitude.any()


def test_curvature_is_the_largest_eigenvalue_where_the_flow_is():
    rng = np.random.default_rng(8)
    theta = np.sort(np.concatenate([rng.uniform(-1, -0.7, 60), rng.uniform(0.5, 1, 60)]))
    sums = fourier_sums(theta, rng.normal(size=(120, 1)), np.ones(120), 30)
    curvature = _Curvature(NormalOperator.of(sums), np.zeros((31, 1), complex))
    # First all modes are equally small, then three neighbours have grown in a gappy record.
    for large in ([], [7, 8, 9], [7, 8, 9, 20]):
        size = np.full(31, 1e-4)
        size[large] = [2.0, 1.5, 1.0, 1.9][: len(large)]
        root = np.sqrt(np.tile(size, 2))
        exact = np.linalg.eigvals(root[:, None] * dense_operator(sums) * root).real.max()
        assert 0.8 * exact < curvature(size) < 1.001 * exact  # a step of 0.8 may take 2.5 times it


def two_tones(gaps, seed):
    rng = np.random.default_rng(seed)
    theta = np.sort(rng.uniform(-1, 1, 900))
    theta = theta[(theta < -0.6) | (theta > 0.1)] if gaps else theta
    y = np.cos(np.pi * 9.3 * theta) + 0.6 * np.cos(np.pi * 70.8 * theta - 1)
    y = (y + 0.4 * rng.normal(size=len(theta)))[:, None]
    held = rng.random(len(theta)) < 0.2
    return [fourier_sums(theta[p], y[p], np.ones(p.sum()), 450) for p in (~held, held)]


@pytest.mark.parametrize("duration", [20.0, 40.0])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_hastened_it_is_where_plain_descent_is(gaps, seed, duration):
    train, _ = two_tones(gaps, seed)
    fast = diagonal_flow(train, duration=duration)
    slow = plain_flow(train, step=0.05, duration=duration, max_steps=10**4)
    assert fast.steps < slow.steps / 20
    np.testing.assert_allclose(fast.value, slow.value, atol=0.05)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_hastened_it_stops_where_plain_descent_stops(gaps, seed):
    train, test = two_tones(gaps, seed)
    fast = diagonal_flow(train, test)
    slow = plain_flow(train, test, step=0.05, max_steps=10**4, check_every=160)
    assert fast.steps < slow.steps / 20
    assert fast.held_out.min() == pytest.approx(slow.held_out.min(), rel=0.02)
    np.testing.assert_array_equal(*(np.sort(np.argsort(f.amplitude)[-2:]) for f in (fast, slow)))


def test_many_modes_cost_no_more_steps():
    """Steps follow the modes that have grown, not all that might."""
    rng = np.random.default_rng(10)
    theta = np.sort(rng.uniform(-1, 1, 400))
    y = (np.cos(np.pi * 9 * theta) + 0.3 * rng.normal(size=400))[:, None]
    few, many = (
        diagonal_flow(fourier_sums(theta, y, np.ones(400), m), duration=12.0) for m in (50, 1000)
    )
    assert many.steps <= 1.5 * few.steps
