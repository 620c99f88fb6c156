"""The trainings equal plain transcriptions of what the paper writes, step by step."""

import numpy as np
import pytest
import torch

from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.embedding import embed
from robustfourier.network.initial_weights import draw_weights
from robustfourier.network.weights import Weights
from robustfourier.nn import FourierNetwork
from robustfourier.training import InverseDecay, Loss, fixed_sample, train_jointly, train_layerwise
from robustfourier.training.batches import ReshuffledPasses
from robustfourier.training.engine import Phase, make_engine

T = 50
B = 16
RATES = InverseDecay(0.5, 0.95, 20)


def f(theta):
    return 0.5 * np.cos(np.pi * theta) + 0.8 * np.sin(3 * np.pi * theta)


def sampler(rng, size):
    theta = rng.uniform(-1, 1, size)
    return theta, f(theta) + 0.1 * rng.normal(size=size)


def rows(n=40, n_columns=1, n_outputs=1, weighted=False):
    rng = np.random.default_rng(7)
    theta = rng.uniform(-1, 1, (n, n_columns))
    y = f(theta).sum(axis=1, keepdims=True) * np.arange(1, n_outputs + 1)
    weight = rng.integers(1, 5, n) if weighted else None
    return fixed_sample(theta, y + 0.1 * rng.normal(size=y.shape), weight)


def algorithm_1(x, y, w, c, *, activation, ridge, q_1, q_2):
    """Algorithm 1 as printed, sums written out; x (2T, B, D), y (2T, B). All w and c."""
    slope = (lambda z: float(z > 0)) if activation == "relu" else (lambda _: 1.0)
    sigma = (lambda z: max(z, 0.0)) if activation == "relu" else (lambda z: z)
    w, c, all_w, all_c = w.copy(), c.copy(), [w], [c]
    for k in range(2 * T):
        eta = 0.5 / (1 + 0.95 * (k % T) / 20)
        g = np.zeros(len(w))
        for b in range(B):
            f_hat = sum(c[j] * sigma(w[j] * x[k, b, j]) for j in range(len(w)))
            for j in range(len(w)):
                if k < T:
                    inner = slope(w[j] * x[k, b, j]) * x[k, b, j]
                    g[j] += (f_hat - y[k, b]) * c[j] * inner / B
                else:
                    g[j] += (f_hat - y[k, b]) * sigma(w[j] * x[k, b, j]) / B
        if k < T:
            w = np.clip(w - eta * (g + ridge * w), -q_1, q_1)
        else:
            c = np.clip(c - eta * g, -q_2, q_2)
        all_w.append(w)
        all_c.append(c)
    return np.array(all_w), np.array(all_c)


@pytest.mark.parametrize("kind", ["signed", "symmetrised"])
@pytest.mark.parametrize("activation", ["relu", "identity"])
@pytest.mark.parametrize("fresh", [True, False])
def test_layerwise_training_equals_algorithm_1_step_by_step(kind, activation, fresh):
    shape = Architecture(4, activation=activation, embedding=kind)
    start = draw_weights(shape, "theory", r_c=0.8, random_state=0)
    outputs = []
    training = train_layerwise(
        start,
        sampler if fresh else rows(),
        n_steps=T,
        batch_size=B,
        schedule=RATES,
        ridge=0.3,
        diagonal_box=0.15,
        output_box=0.45,
        engine="torch",
        random_state=3,
        record_every=1,
        observers=[lambda p: outputs.append(p.weights().arrays[OUTPUT][0])],
        observe_every=1,
    )
    rng = np.random.default_rng(3)
    if fresh:
        drawn = [sampler(rng, B) for _ in range(2 * T)]
        theta, y = (np.array(part) for part in zip(*drawn, strict=True))
    else:
        batches = ReshuffledPasses(rows(), B, rng).next(2 * T).rows
        theta, y = rows().theta[batches, 0], rows().y[batches, 0]
    x = embed(theta[..., None], 4, kind)
    all_w, all_c = algorithm_1(
        x,
        y,
        start.arrays[DIAGONAL],
        start.arrays[OUTPUT][0],
        activation=activation,
        ridge=0.3,
        q_1=0.15,
        q_2=0.45,
    )
    np.testing.assert_allclose(training.history.diagonal, all_w, rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(outputs, all_c[1:], rtol=1e-11, atol=1e-15)
    # both boxes were really met, and both phases moved
    assert (np.abs(all_w[T]) == 0.15).any()
    assert (np.abs(all_c[-1]) == 0.45).any()
    assert (np.abs(all_c[-1]) < 0.45).any()
    assert training.history.phase[[1, T, T + 1, 2 * T]].tolist() == [
        "diagonal",
        "diagonal",
        "output",
        "output",
    ]


@pytest.mark.parametrize("loss", [Loss("mean_squared"), Loss("half_squared"), Loss("huber", 0.3)])
@pytest.mark.parametrize("kind", ["signed", "symmetrised"])
def test_joint_training_of_u0_diag_equals_its_arithmetic(loss, kind):
    sample = rows(n_columns=2, n_outputs=2, weighted=True)
    shape = Architecture(3, n_columns=2, n_outputs=2, embedding=kind)
    start = draw_weights(shape, "glorot", random_state=0)
    training = train_jointly(
        start,
        sample,
        n_steps=T,
        batch_size=B,
        schedule=RATES,
        loss=loss,
        ridge=0.1,
        diagonal_box=0.4,
        output_box=0.5,
        engine="torch",
        random_state=5,
    )
    batches = ReshuffledPasses(sample, B, np.random.default_rng(5)).next(T).rows
    w, c = start.arrays[DIAGONAL].copy(), start.arrays[OUTPUT].copy()
    x_all, losses = embed(sample.theta, 3, kind), []
    for k, batch in enumerate(batches):
        x, y, omega = x_all[batch], sample.y[batch], sample.weight[batch, None]
        hidden = np.maximum(w * x, 0)
        residual = hidden @ c.T - y
        losses.append((omega * loss.value(residual)).sum() / (B * 2))
        g = omega * loss.slope(residual) / (B * 2)
        grad_c = g.T @ hidden
        grad_w = ((g @ c) * (w * x > 0) * x).sum(axis=0) + 0.1 * w
        eta = RATES.rates(k, 1)[0]
        w, c = np.clip(w - eta * grad_w, -0.4, 0.4), np.clip(c - eta * grad_c, -0.5, 0.5)
    np.testing.assert_allclose(training.weights.arrays[DIAGONAL], w, rtol=1e-10)
    np.testing.assert_allclose(training.weights.arrays[OUTPUT], c, rtol=1e-10)
    np.testing.assert_allclose(training.history.batch_loss, losses, rtol=1e-10)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("hidden", [(), (6,), (6, 5)])
def test_joint_training_equals_an_eager_loop_with_torchs_own_optimiser(diagonal, hidden):
    sample = rows()
    network = FourierNetwork(4, hidden, diagonal, random_state=1, dtype=torch.float64)
    eager = FourierNetwork.from_weights(network.to_weights())
    training = train_jointly(
        network,
        sample,
        n_steps=T,
        batch_size=B,
        schedule=InverseDecay(0.1, decay=0),
        engine="torch",
        random_state=2,
    )
    optimiser = torch.optim.SGD(eager.parameters(), lr=0.1)
    theta, y = torch.from_numpy(sample.theta), torch.from_numpy(sample.y)
    for batch in ReshuffledPasses(sample, B, np.random.default_rng(2)).next(T).rows:
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(eager(theta[batch]), y[batch]).backward()
        optimiser.step()
    for name, array in eager.to_weights().arrays.items():
        np.testing.assert_allclose(training.weights.arrays[name], array, rtol=1e-9, atol=1e-13)
        # the torch module that was passed has been trained, too
        np.testing.assert_array_equal(
            network.to_weights().arrays[name], array * 0 + (training.weights.arrays[name])
        )


@pytest.mark.parametrize("hidden", [(), (4,), (4, 3)])
@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("activation", ["relu", "identity"])
@pytest.mark.parametrize("kind", ["signed", "symmetrised"])
@pytest.mark.parametrize("loss", [Loss("mean_squared"), Loss("half_squared"), Loss("huber", 0.5)])
def test_a_step_follows_the_finite_differences_of_the_loss(
    hidden, diagonal, activation, kind, loss
):
    sample = rows(n=9, n_columns=2, n_outputs=2, weighted=True)
    shape = Architecture(2, 2, 2, hidden, diagonal, activation, kind)
    rng = np.random.default_rng(4)
    arrays = {k: v + 0.1 * rng.normal(size=v.shape) for k, v in _glorot(shape).items()}
    source = ReshuffledPasses(sample, 9, rng)
    phase = Phase("joint", 1, RATES, tuple(arrays))
    engine = make_engine("torch", Weights(shape, arrays), sample, loss)
    value = engine.run(phase, np.array([1e-3]), source.next(1))

    def batch_loss(changed):
        residual = Weights(shape, changed).predict(sample.theta) - sample.y
        return float((sample.weight[:, None] * loss.value(residual)).mean())

    assert value[0] == pytest.approx(batch_loss(arrays), rel=1e-12)
    for name, after in engine.arrays().items():
        direction = rng.normal(size=after.shape)
        up, down = (
            batch_loss({**arrays, name: arrays[name] + h * direction}) for h in (1e-6, -1e-6)
        )
        gradient = (arrays[name] - after) / 1e-3
        assert (gradient * direction).sum() == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-8)


def _glorot(shape):
    return draw_weights(shape, "glorot", random_state=3).arrays
