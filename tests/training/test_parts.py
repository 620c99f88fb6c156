"""Schedules, losses, batches and boxes, each alone."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustfourier.errors import InputError
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial_weights import draw_weights
from robustfourier.training import InverseDecay, Loss, fixed_sample, train_layerwise
from robustfourier.training.batches import FreshDraws, ReshuffledPasses
from robustfourier.training.sgd import (
    theorem_diagonal_box,
    theorem_output_box,
)

LOSSES = [Loss("mean_squared"), Loss("half_squared"), Loss("huber", 0.7)]


@given(step=st.integers(0, 10**6))
def test_rates_decay_as_the_paper_writes(step):
    rates = InverseDecay(2e-3, 0.95, 5e4).rates(step, 2)
    assert rates[0] == pytest.approx(2e-3 / (1 + 0.95 * step / 5e4), rel=1e-14)
    assert rates[1] < rates[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0,), "learning_rate=0.0 must be a positive number"),
        ((float("nan"),), "learning_rate=nan"),
        ((1.0, -1.0), "decay_rate=-1.0"),
        ((1.0, 1.0, 0), "decay_steps=0"),
    ],
)
def test_an_impossible_schedule_is_refused(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        InverseDecay(*arguments)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_slope_is_the_derivative_of_the_loss(loss):
    r = np.linspace(-2, 2, 41) + 0.013
    numeric = (loss.value(r + 1e-6) - loss.value(r - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.slope(r), numeric, rtol=1e-7, atol=1e-8)
    assert loss.value(np.zeros(1)) == 0


def test_huber_is_half_the_square_inside_and_linear_outside():
    loss = Loss("huber", 2.0)
    np.testing.assert_allclose(loss.value(np.array([1.0, -2.0])), [0.5, 2.0])
    np.testing.assert_allclose(np.diff(loss.value(np.array([3.0, 4.0, 5.0]))), 2.0)


def test_unknown_losses_and_negative_deltas_are_refused():
    with pytest.raises(InputError, match=re.escape("loss='l1' is unknown; use one of")):
        Loss("l1")
    with pytest.raises(InputError, match=re.escape("delta=-1.0 of the Huber loss")):
        Loss("huber", -1.0)


@given(n=st.integers(1, 30), batch=st.integers(1, 12), steps=st.integers(1, 20))
def test_every_row_comes_once_per_pass(n, batch, steps):
    sample = fixed_sample(np.linspace(-1, 1, n), np.zeros(n))
    rows = ReshuffledPasses(sample, batch, np.random.default_rng(0)).next(steps).rows
    assert rows.shape == (steps, min(batch, n))
    stream = rows.ravel()
    for start in range(0, len(stream) - n + 1, n):
        assert sorted(stream[start : start + n]) == list(range(n))


@given(cuts=st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_batches_do_not_depend_on_how_steps_are_cut_into_blocks(cuts):
    def sampler(rng, size):
        return rng.uniform(-1, 1, size), rng.normal(size=size)

    sample = fixed_sample(np.linspace(-1, 1, 11), np.zeros(11))
    for make in (
        lambda: ReshuffledPasses(sample, 4, np.random.default_rng(1)),
        lambda: FreshDraws(sampler, 4, np.random.default_rng(1)),
    ):
        whole, source = make().next(sum(cuts)), make()
        parts = [source.next(cut) for cut in cuts]
        for name, array in vars(whole).items():
            joined = np.concatenate([getattr(part, name) for part in parts])
            np.testing.assert_array_equal(joined, array)


def test_weights_are_scaled_to_mean_one_and_rows_of_weight_zero_dropped():
    sample = fixed_sample([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 0.0, 6.0])
    assert sample.theta.ravel().tolist() == [1.0, 3.0]
    assert sample.weight.tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 1.0], [1.0]), "y has 1 rows but theta has 2"),
        (([0.0, np.nan], [1.0, 1.0]), "theta contains NaN or infinite values"),
        (([0.0, 1.0], [1.0, np.inf]), "y contains NaN or infinite values"),
        (([0.0, 1.0], ["a", "b"]), "y has dtype <U1; give real numbers"),
        (([0.0], [1.0], [-1.0]), "weight contains negative"),
        (([0.0], [1.0], [0.0]), "weight is zero for every row"),
        (([0.0], [1.0], [[1.0]]), "weight has shape (1, 1)"),
        (([], []), "theta has shape (0,)"),
    ],
)
def test_rows_that_cannot_be_trained_on_are_refused(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        fixed_sample(*arguments)


def test_a_sampler_that_returns_too_few_rows_is_refused():
    source = FreshDraws(
        lambda rng, _: (rng.uniform(size=2), np.zeros(2)), 4, np.random.default_rng()
    )
    with pytest.raises(InputError, match=re.escape("when asked for 4 rows")):
        source.next(1)


def test_the_theorems_boxes_follow_its_rule():
    start = draw_weights(
        Architecture(64, embedding="symmetrised"), "theory", r_c=0.2, random_state=0
    )
    # ‖c⁰‖_∞ = r_c/√m, and |α_j| ≤ E|y|
    assert theorem_diagonal_box(start, 3.0, 0.5) == pytest.approx(0.2 / 8 * 3.0 / (2 * 0.5))
    assert theorem_output_box(start, 0.5) == pytest.approx(8 * 0.5 * 8 / 0.2**2)


@pytest.mark.parametrize("fresh", [True, False])
def test_layerwise_training_keeps_to_the_theorems_boxes(fresh):
    rng = np.random.default_rng(0)
    theta = rng.uniform(-1, 1, 300)

    def sampler(rng, size):
        theta = rng.uniform(-1, 1, size)
        return theta, np.sign(np.cos(np.pi * theta))

    start = draw_weights(Architecture(4), "theory", r_c=0.5, random_state=0)
    training = train_layerwise(
        start,
        sampler if fresh else (theta, np.sign(np.cos(np.pi * theta))),
        n_steps=100,
        n_output_steps=5,
        schedule=InverseDecay(0.5, 0),
        ridge=0.5,
        diagonal_box="theorem",
        output_box="theorem",
        engine="torch",
        random_state=0,
    )
    box = training.checkpoint.training["phases"][0]["boxes"]["diagonal.weight"]
    assert box == pytest.approx(0.5 / 2 * 1.0 / (2 * 0.5))  # E|y| = 1
    assert np.abs(training.weights.diagonal).max() <= box
    assert training.history.n_steps == 105


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ridge": -0.1}, "ridge=-0.1 (λ) must be 0 or positive"),
        ({"diagonal_box": -1.0}, "diagonal_box=-1.0 is not usable; give a positive half-width"),
        ({"output_box": 0.0}, "output_box=0.0 is not usable"),
        ({"output_box": "wide"}, "output_box='wide' is not usable"),
        ({"diagonal_box": "theorem"}, "ridge=0.0: the theorem's boxes need 0 < λ < 1"),
        ({"n_steps": -1}, "n_steps=-1 must be a whole number"),
        ({"batch_size": 0}, "batch_size=0 must be a whole number"),
        ({"engine": "gpu"}, "engine='gpu' is unknown; use one of auto, torch, fused"),
        ({"loss": "l1"}, "loss='l1' is unknown"),
        ({"record_every": 0}, "record_every=0 must be at least 1"),
    ],
)
def test_impossible_options_of_a_training_are_refused(options, message):
    start = draw_weights(Architecture(2), random_state=0)
    with pytest.raises(InputError, match=re.escape(message)):
        train_layerwise(start, ([0.0, 0.5], [1.0, 2.0]), **{"n_steps": 2, **options})


def test_layerwise_training_of_a_deep_network_is_refused():
    start = draw_weights(Architecture(2, hidden_layer_sizes=(3,)), random_state=0)
    with pytest.raises(InputError, match=re.escape("defined for u0_diag, not for u1_diag")):
        train_layerwise(start, ([0.0, 0.5], [1.0, 2.0]), n_steps=2)


def test_data_of_the_wrong_width_are_refused():
    start = draw_weights(Architecture(2, n_columns=2), random_state=0)
    with pytest.raises(InputError, match=re.escape("data has 1 input and 1 output columns")):
        train_layerwise(start, ([0.0, 0.5], [1.0, 2.0]), n_steps=2)
