"""A training that is interrupted and resumed is the training that was not."""

import re

import numpy as np
import pytest

from robustfourier.errors import CheckpointError, OutputError
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial_weights import draw_weights
from robustfourier.training import (
    Checkpoint,
    InverseDecay,
    SaveCheckpoint,
    load_checkpoint,
    save_checkpoint,
    train_jointly,
    train_layerwise,
)

RNG = np.random.default_rng(0)
THETA = RNG.uniform(-1, 1, 50)
Y = np.cos(2 * np.pi * THETA) + 0.1 * RNG.normal(size=50)


def sampler(rng, size):
    theta = rng.uniform(-1, 1, size)
    return theta, np.cos(np.pi * theta)


def train(way="joint", data=(THETA, Y), hidden=(), seed=1, **options):
    start = draw_weights(Architecture(3, hidden_layer_sizes=hidden), random_state=0)
    options = {
        "n_steps": 60,
        "batch_size": 8,
        "schedule": InverseDecay(0.05),
        "engine": "torch",
        "random_state": seed,
        "record_every": 7,
        "metrics": {"norm": lambda w: float(np.abs(w.diagonal).sum())},
        **options,
    }
    return {"joint": train_jointly, "layerwise": train_layerwise}[way](start, data, **options)


def assert_same(one, other):
    for name, array in one.weights.arrays.items():
        np.testing.assert_array_equal(other.weights.arrays[name], array)
    for name in ("step", "loss", "phase", "batch_loss", "diagonal"):
        np.testing.assert_array_equal(getattr(other.history, name), getattr(one.history, name))
    np.testing.assert_array_equal(other.history.metrics["norm"], one.history.metrics["norm"])


@pytest.mark.parametrize("way", ["joint", "layerwise"])
@pytest.mark.parametrize("data", [(THETA, Y), sampler], ids=["passes", "draws"])
@pytest.mark.parametrize("stop", [1, 7, 40, 59, 60])
def test_a_resumed_training_equals_the_uninterrupted_one_bit_for_bit(way, data, stop, tmp_path):
    path = tmp_path / "state.npz"
    stopped = train(way, data, observers=[lambda p: p.step >= stop], observe_every=1)
    assert stopped.history.n_steps == stop
    save_checkpoint(path, stopped.checkpoint)
    resumed = train(way, data, seed=99, resume=load_checkpoint(path))
    assert_same(train(way, data), resumed)


def test_a_deep_network_resumes_bit_for_bit(tmp_path):
    path = tmp_path / "state.npz"
    train(hidden=(5,), observers=[SaveCheckpoint(path), lambda p: p.step == 33], observe_every=11)
    resumed = train(hidden=(5,), resume=load_checkpoint(path))
    assert_same(train(hidden=(5,)), resumed)


def test_a_crash_between_checkpoints_costs_only_the_steps_since_the_last(tmp_path):
    path = tmp_path / "state.npz"

    def crash(progress):
        if progress.step == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(observers=[crash, SaveCheckpoint(path)], observe_every=10)
    checkpoint = load_checkpoint(path)
    assert checkpoint.step == 20
    assert_same(train(), train(resume=checkpoint))


def test_chosen_records_survive_an_interruption():
    steps = [3, 20, 50]
    short = train(n_steps=25, record_every=steps)
    assert_same(train(record_every=steps), train(record_every=steps, resume=short.checkpoint))


def test_a_finished_training_can_be_prolonged():
    short = train(n_steps=25)
    assert_same(train(), train(resume=short.checkpoint))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"batch_size": 9}, "batches"),
        ({"data": (THETA, Y + 1)}, "batches"),
        ({"schedule": InverseDecay(0.06)}, "phases"),
        ({"loss": "huber"}, "loss"),
        ({"hidden": (4,)}, "architecture"),
        ({"way": "layerwise"}, "earlier_steps"),
        ({"metrics": {}}, "metrics"),
    ],
)
def test_another_training_cannot_be_resumed(change, named):
    checkpoint = train(n_steps=10).checkpoint
    with pytest.raises(CheckpointError, match=re.escape(f"another training: {named} was")):
        train(**change, resume=checkpoint)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x03\x04 broken"])
def test_a_damaged_file_is_refused(tmp_path, content):
    path = tmp_path / "state.npz"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=re.escape("is not a readable checkpoint")):
        load_checkpoint(path)


def test_a_foreign_file_is_refused(tmp_path):
    path = tmp_path / "state.npz"
    np.savez(path, a=np.zeros(3))
    with pytest.raises(
        CheckpointError, match=re.escape("another zip archive (perhaps a torch or numpy")
    ):
        load_checkpoint(path)


def test_a_missing_file_and_a_missing_folder_are_named(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_checkpoint(tmp_path / "none.npz")
    with pytest.raises(
        OutputError, match=re.escape("no folder/a.npz' (No such file or directory)")
    ):
        save_checkpoint(tmp_path / "no folder" / "a.npz", Checkpoint(0, {}, {}, {}))
