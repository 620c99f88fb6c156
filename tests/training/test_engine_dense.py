import re

import numpy as np
import pytest

from robustfourier.errors import InputError
from robustfourier.network.architecture import DIAGONAL, Architecture
from robustfourier.network.initial import draw_weights
from robustfourier.network.weights import Weights
from robustfourier.training import InverseDecay, fixed_sample, train_jointly
from robustfourier.training.batches import RowBlock
from robustfourier.training.engine import Phase, choose_engine, make_engine
from robustfourier.training.losses import Loss

DENSE = [
    Architecture(7, hidden_layer_sizes=sizes, diagonal=diagonal, n_outputs=outputs)
    for sizes, diagonal, outputs in (
        ((5,), True, 1),
        ((6, 4), True, 2),
        ((5,), False, 1),
        ((6, 4, 3), False, 2),
    )
]


def sample_for(architecture, rng):
    theta = rng.uniform(-1, 1, 60)
    y = np.cos(3 * np.pi * theta)[:, None] + rng.normal(size=(60, architecture.n_outputs))
    return fixed_sample(theta, y, weight=rng.uniform(0.5, 2, 60))


@pytest.mark.parametrize("loss", ["mean_squared", "half_squared", "huber"])
@pytest.mark.parametrize("architecture", DENSE, ids=lambda a: a.name)
def test_the_lean_engine_takes_the_plain_engines_steps(architecture, loss):
    rng = np.random.default_rng(0)
    data, start = (
        sample_for(architecture, rng),
        draw_weights(architecture, "glorot", random_state=1),
    )
    boxes = {DIAGONAL: 0.3} if architecture.diagonal else {}
    phase = Phase("joint", 40, InverseDecay(), tuple(start.arrays), ridge=0.1, boxes=boxes)
    block = RowBlock(rng.integers(0, 60, (40, 13)))
    ends, losses = [], []
    for name in ("torch", "dense"):
        engine = make_engine(name, start, data, Loss(loss, delta=0.5))
        losses.append(engine.run(phase, np.full(40, 0.05), block))
        ends.append(engine.arrays())
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-12)
    for name, plain in ends[0].items():
        assert not np.array_equal(plain, start.arrays[name])
        np.testing.assert_allclose(ends[1][name], plain, rtol=1e-9, atol=1e-13)


def test_a_silent_unit_stays_silent_and_makes_no_nan():
    architecture = Architecture(3, hidden_layer_sizes=(4,))
    start = draw_weights(architecture, "glorot", random_state=0)
    w = start.arrays[DIAGONAL].copy()
    w[[0, 9]] = 0.0
    start = Weights(architecture, {**start.arrays, DIAGONAL: w})
    data = sample_for(architecture, np.random.default_rng(0))
    ends = [
        train_jointly(start, data, n_steps=20, batch_size=10, random_state=0, engine=engine)
        for engine in ("torch", "dense")
    ]
    np.testing.assert_array_equal(ends[1].weights.diagonal[[0, 9]], 0.0)
    np.testing.assert_allclose(ends[1].weights.diagonal, ends[0].weights.diagonal, rtol=1e-10)


@pytest.mark.parametrize("architecture", DENSE, ids=lambda a: a.name)
def test_the_lean_engine_is_the_one_that_runs(architecture):
    data = sample_for(architecture, np.random.default_rng(0))
    start = draw_weights(architecture, random_state=0)
    end = train_jointly(start, data, n_steps=3, batch_size=5, engine="dense")
    assert end.history.engine == "dense"


@pytest.mark.parametrize(
    ("architecture", "reason"),
    [
        (Architecture(3), "is for networks with dense layers"),
        (Architecture(3, hidden_layer_sizes=(4,), activation="identity"), "rectified networks"),
        (Architecture(3, hidden_layer_sizes=(4,), n_columns=2), "one column"),
        (Architecture(3, hidden_layer_sizes=(4,), embedding="symmetrised"), "signed embedding"),
    ],
)
def test_other_networks_are_refused_with_the_reason_and_trained_by_the_plain_engine(
    architecture, reason
):
    with pytest.raises(InputError, match=re.escape(reason)):
        choose_engine("dense", architecture)
    assert choose_engine("auto", architecture) != "dense"
