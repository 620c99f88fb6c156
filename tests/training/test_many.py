"""Training several networks at once is training them one by one."""

import gc
import re

import numpy as np
import pytest

from robustfourier.errors import DivergenceError, InputError
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial_weights import draw_weights
from robustfourier.training import InverseDecay, fixed_sample, train_jointly
from robustfourier.training import engine_fused as features_module
from robustfourier.training.engine_fused import feature_rows
from robustfourier.training.many_networks import train_many

THETA = np.random.default_rng(0).uniform(-1, 1, 80)
Y = np.cos(3 * np.pi * THETA) + 0.1 * np.random.default_rng(1).normal(size=80)
OPTIONS = {"n_steps": 60, "batch_size": 17}
HIDDEN = [(), (6,)]


def assert_same_bits(one, other):
    for name, array in one.weights.arrays.items():
        np.testing.assert_array_equal(array, other.weights.arrays[name])
    np.testing.assert_array_equal(one.history.batch_loss, other.history.batch_loss)


@pytest.mark.parametrize("hidden", HIDDEN, ids=str)
@pytest.mark.parametrize("engine", ["fused", "torch"])
def test_several_seeds_at_once_are_the_seeds_one_by_one_to_the_bit(hidden, engine):
    shape = Architecture(5, hidden_layer_sizes=hidden)
    starts = [draw_weights(shape, random_state=seed) for seed in range(5)]
    together = train_many(starts, (THETA, Y), random_states=range(5), engine=engine, **OPTIONS)
    for seed, end in enumerate(together):
        alone = train_jointly(starts[seed], (THETA, Y), random_state=seed, engine=engine, **OPTIONS)
        assert end.history.engine == engine
        assert_same_bits(end, alone)
    assert not np.array_equal(together[0].weights.diagonal, together[1].weights.diagonal)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_several_rates_share_start_and_batches(n_jobs):
    start = draw_weights(Architecture(5), random_state=0)
    rates = [InverseDecay(rate) for rate in (0.001, 0.01, 0.1)]
    together = train_many(
        start, (THETA, Y), schedules=rates, random_states=7, n_jobs=n_jobs, **OPTIONS
    )
    for rate, end in zip(rates, together, strict=True):
        assert_same_bits(
            end, train_jointly(start, (THETA, Y), schedule=rate, random_state=7, **OPTIONS)
        )
    losses = [end.history.batch_loss for end in together]
    assert losses[0][0] == losses[1][0] == losses[2][0]
    assert losses[0][-1] > losses[1][-1] > losses[2][-1]


def test_a_training_that_diverges_does_not_take_the_others_with_it():
    start = draw_weights(Architecture(5), random_state=0)
    rates = [InverseDecay(0.01), InverseDecay(1e4)]
    with np.errstate(all="ignore"):
        good, bad = train_many(start, (THETA, Y), schedules=rates, random_states=0, **OPTIONS)
    assert good.completed
    assert isinstance(bad, DivergenceError)
    assert np.isfinite(bad.last_good["diagonal.weight"]).all()


def test_trainings_of_one_sample_share_its_features_while_they_live(monkeypatch):
    sample, made = fixed_sample(THETA, Y), []
    embed = features_module.embed_rows
    monkeypatch.setattr(
        features_module, "embed_rows", lambda *given: (made.append(1), embed(*given))
    )
    start = draw_weights(Architecture(5), random_state=0)
    train_many(start, sample, random_states=[0, 1, 2], **OPTIONS)
    assert len(made) == 1
    gc.collect()
    train_many(start, sample, random_states=[0, 1, 2], **OPTIONS)
    assert len(made) == 2
    kept = feature_rows(sample, Architecture(5), np.dtype(np.float32))
    assert kept.table.dtype == np.float32
    assert feature_rows(sample, Architecture(5), np.dtype(np.float32)) is kept
    assert len(made) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"random_states": [0, 1], "schedules": [InverseDecay()] * 3}, "schedules has 3"),
        ({"random_states": []}, "random_states has 0"),
        (
            {
                "random_states": np.random.default_rng(0),
                "schedules": [InverseDecay(), InverseDecay()],
            },
            "one Generator for several trainings",
        ),
        (
            {"random_states": [0, 1], "observers": [print]},
            "'observers' cannot be given for several trainings",
        ),
        ({"random_states": [0, 1], "n_jobs": 0}, "n_jobs=0 must be at least 1"),
        (
            {
                "networks": [draw_weights(Architecture(m), random_state=0) for m in (5, 6)],
                "random_states": 0,
            },
            "networks differ in architecture or dtype",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(given, message):
    networks = given.pop("networks", draw_weights(Architecture(5), random_state=0))
    with pytest.raises(InputError, match=re.escape(message)):
        train_many(networks, (THETA, Y), **OPTIONS, **given)


def test_overlapping_trainings_leave_blas_as_it_was():
    from threading import Barrier, Thread

    from threadpoolctl import threadpool_info

    from robustfourier.concurrency import one_blas_thread

    def threads():
        return [library["num_threads"] for library in threadpool_info()]

    before, together, apart = threads(), Barrier(2), Barrier(2)

    def first():
        with one_blas_thread():
            together.wait()
        apart.wait()

    def second():
        with one_blas_thread():
            together.wait()
            apart.wait()

    workers = [Thread(target=first), Thread(target=second)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert threads() == before
