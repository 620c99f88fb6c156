"""History, observers, divergence and the pinning of threads."""

import re

import numpy as np
import pytest
import torch

from robustfourier.errors import DivergenceError, InputError
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.initial_weights import draw_weights
from robustfourier.network.weights import Weights
from robustfourier.nn import FourierNetwork
from robustfourier.training import InverseDecay, StopWhenStalled, train_jointly, train_layerwise
from robustfourier.training.engine_torch import TorchEngine

THETA = np.linspace(-1, 1, 60)
Y = np.cos(2 * np.pi * THETA)
RATE = InverseDecay(0.05)
ENGINES = ("torch", "fused")
HIDDEN = ((), (8,))


def start(hidden=()):
    return draw_weights(Architecture(3, hidden_layer_sizes=hidden), random_state=0)


def train(network=None, **options):
    options = {"n_steps": 100, "schedule": RATE, "random_state": 0, "engine": "torch", **options}
    return train_jointly(network or start(), (THETA, Y), batch_size=20, **options)


def test_the_history_records_the_start_every_so_many_steps_and_the_end():
    history = train(n_steps=25, record_every=10).history
    assert history.step.tolist() == [0, 10, 20, 25]
    assert history.n_steps == 25
    assert np.isnan(history.loss[0])
    assert history.loss[1] == pytest.approx(history.batch_loss[:10].mean())
    assert history.loss[3] == pytest.approx(history.batch_loss[20:].mean())
    assert history.engine == "torch"
    assert history.diagonal.shape == (4, 14)


def test_the_steps_to_record_at_can_be_chosen():
    chosen, every = train(record_every=[1, 7, 30]), train(record_every=1)
    assert chosen.history.step.tolist() == [0, 1, 7, 30, 100]
    at = chosen.history.step
    np.testing.assert_array_equal(chosen.history.diagonal, every.history.diagonal[at])
    assert chosen.history.loss[3] == pytest.approx(every.history.batch_loss[7:30].mean())


def test_the_history_starts_at_the_start_and_ends_at_the_end():
    begin = start()
    training = train(begin, record_every=10)
    np.testing.assert_array_equal(training.history.diagonal[0], begin.diagonal)
    np.testing.assert_array_equal(training.history.diagonal[-1], training.weights.diagonal)


def test_metrics_are_computed_from_the_weights_at_each_record():
    def error(weights):
        return np.square(weights.predict(THETA)[:, 0] - Y).mean()

    training = train(record_every=50, metrics={"error": error})
    assert training.history.metrics["error"].shape == (3,)
    assert training.history.metrics["error"][-1] == pytest.approx(error(training.weights))
    assert training.history.metrics["error"][-1] < training.history.metrics["error"][0]


def test_a_network_without_diagonal_has_no_diagonal_history():
    shape = Architecture(3, hidden_layer_sizes=(4,), diagonal=False)
    assert train(draw_weights(shape, random_state=0)).history.diagonal is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("hidden", HIDDEN, ids=str)
def test_neither_the_start_nor_what_is_trained_is_changed_by_watching(engine, hidden):
    begin = start(hidden)
    kept = {name: array.copy() for name, array in begin.arrays.items()}
    plain = train(begin, engine=engine)
    looks = {"record_every": 7, "observers": [lambda _: None], "observe_every": 3}
    watched = train(begin, engine=engine, **looks)
    for name, array in kept.items():
        np.testing.assert_array_equal(begin.arrays[name], array)
        np.testing.assert_array_equal(plain.weights.arrays[name], watched.weights.arrays[name])
    np.testing.assert_array_equal(plain.history.batch_loss, watched.history.batch_loss)


def test_observers_see_step_loss_rate_and_phase():
    seen = []
    training = train_layerwise(
        start(),
        (THETA, Y),
        n_steps=20,
        n_output_steps=15,
        schedule=RATE,
        engine="torch",
        random_state=0,
        observers=[seen.append],
        observe_every=10,
    )
    assert [p.step for p in seen] == [10, 20, 30, 35]
    assert [p.phase for p in seen] == ["diagonal", "diagonal", "output", "output"]
    assert {p.n_steps for p in seen} == {35}
    assert seen[1].loss == pytest.approx(training.history.batch_loss[10:20].mean())
    # rates start anew with the second phase
    assert seen[2].rate == pytest.approx(RATE.rates(9, 1)[0])
    assert {p.engine for p in seen} == {"torch"}


def test_an_observer_that_returns_true_ends_the_training():
    asked = []
    training = train(
        observers=[lambda p: p.step >= 30, lambda p: asked.append(p.step)], observe_every=15
    )
    assert not training.completed
    assert training.history.n_steps == 30
    assert asked == [15, 30]
    assert training.history.step[-1] == 30


def test_a_training_that_has_stalled_is_stopped():
    stop = StopWhenStalled(patience=3, improvement=0.5)
    training = train(n_steps=2000, record_every=20, observe_every=20, observers=[stop])
    assert 80 < training.history.n_steps < 2000
    losses = training.history.loss[1:]
    assert losses[-3:].min() >= 0.5 * losses[:-3].min()
    assert losses[-4:-1].min() < 0.5 * losses[:-4].min()  # and not before


def test_a_metric_can_be_what_stalls():
    stop = StopWhenStalled(patience=2, metric="constant")
    training = train(
        metrics={"constant": lambda _: 1.0}, record_every=10, observe_every=10, observers=[stop]
    )
    assert training.history.n_steps == 20


def test_no_patience_is_refused():
    with pytest.raises(InputError, match=re.escape("patience=0 must be at least 1")):
        StopWhenStalled(0)


@pytest.mark.parametrize("rate", [1e3, 5.0])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("hidden", HIDDEN, ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_divergence_stops_and_keeps_the_last_good_weights(rate, engine, hidden):
    network = FourierNetwork(3, hidden, random_state=0, dtype=torch.float64)
    before = network.to_weights().diagonal
    rates = InverseDecay(rate, 0)
    with pytest.raises(DivergenceError, match="use a smaller learning_rate") as caught:
        train(network, n_steps=2000, schedule=rates, record_every=1, engine=engine)
    good = caught.value.last_good
    assert (good[DIAGONAL] != before).any()
    assert set(good) == set(network.state_dict())
    assert all(np.isfinite(array).all() for array in good.values())
    assert 0 <= caught.value.step < 2000
    for name, array in network.to_weights().arrays.items():
        np.testing.assert_array_equal(array, good[name])


def test_a_loss_grown_a_thousandfold_is_divergence_though_it_is_finite():
    # boxes keep the weights, and so the loss, from growing to infinity
    boxes = {"diagonal_box": 30.0, "output_box": 30.0}
    with pytest.raises(DivergenceError, match=r"went from 0\.\d+ to \d\.\d+e\+0\d;"):
        train(n_steps=200, schedule=InverseDecay(20.0, 0), **boxes)


def test_a_start_at_the_solution_is_no_divergence():
    pair = np.array([0.0, 0, 1, 0, 0, 1])  # cos πθ = σ(cos πθ) − σ(−cos πθ)
    exact = Weights(Architecture(1), {DIAGONAL: pair, OUTPUT: pair[None] * [1, 1, 1, -1, -1, -1]})
    y = np.cos(np.pi * THETA)
    y[17] += 1e-3  # the only row that costs anything
    training = train_jointly(exact, (THETA, y), n_steps=12, batch_size=5, random_state=0)
    losses = training.history.batch_loss
    assert losses[0] < 1e-30
    assert losses.max() > 1e-8


def test_the_same_seed_gives_the_same_bits_whatever_threads_torch_has():
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append(train(start((30,))).weights.arrays["dense.0.weight"])
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*results)


def test_torch_keeps_to_one_thread_while_it_trains(monkeypatch):
    seen, step = set(), TorchEngine._step

    def watched(*arguments):
        seen.add(torch.get_num_threads())
        return step(*arguments)

    monkeypatch.setattr(TorchEngine, "_step", watched)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        train(n_steps=3)
    finally:
        torch.set_num_threads(before)
    assert seen == {1}


def test_nothing_is_taken_from_the_global_random_state():
    np.random.seed(0)  # noqa: NPY002
    torch.manual_seed(0)
    before = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    train()
    np.testing.assert_array_equal(np.random.get_state()[1], before[0])  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), before[1])


def test_float32_training_stays_in_float32_and_close_to_float64():
    single = train(start().astype("float32"))
    double = train()
    assert single.weights.dtype == np.float32
    np.testing.assert_allclose(single.weights.diagonal, double.weights.diagonal, rtol=1e-4)


def test_no_steps_return_the_start():
    training = train(n_steps=0)
    np.testing.assert_array_equal(training.weights.diagonal, start().diagonal)
    assert training.history.step.tolist() == [0]


def test_a_first_batch_that_is_easy_by_chance_makes_no_divergence_of_the_next():
    silent = Weights(
        Architecture(3), {**start().arrays, OUTPUT: np.zeros_like(start().arrays[OUTPUT])}
    )
    y = np.full(len(THETA), 2.0)
    y[np.random.default_rng(0).permutation(len(THETA))[0]] = 1e-3
    end = train_jointly(
        silent, (THETA, y), n_steps=40, batch_size=1, engine="torch", random_state=0
    )
    assert end.history.batch_loss[0] < 1e-5
    assert end.completed
