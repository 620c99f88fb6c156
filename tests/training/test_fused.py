"""The fused engine is the torch engine, faster: same batches, same arithmetic, same weights."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.embedding import fourier_features
from robustfourier.network.initial_weights import draw_weights
from robustfourier.network.weights import Weights
from robustfourier.training import InverseDecay, Loss, fixed_sample, train_jointly, train_layerwise
from robustfourier.training import engine_fused as features_module
from robustfourier.training.batches import ReshuffledPasses
from robustfourier.training.diagonal_kernels import embed_rows
from robustfourier.training.engine import Phase, make_engine
from robustfourier.training.engine_fused import feature_rows, unit_places

M, N, BATCH = 4, 60, 13
TOLERANCE = {"float64": 1e-10, "float32": 1e-4}

ACTIVATIONS = ("relu", "identity")
EMBEDDINGS = ("signed", "symmetrised")
COLUMNS = ((1, 1), (1, 2), (2, 1), (2, 3))
LOSSES = (Loss("mean_squared"), Loss("half_squared"), Loss("huber", delta=0.5))
DATA = ("rows", "weighted rows", "draws")
RULES = ("plain", "ridge and boxes", "layer by layer", "layer by layer with ridge and boxes")
HIDDEN = ((), (5,), (6, 4))


def crossing():
    """Every combination of the options; layer by layer is defined for u0_diag only."""
    axes = (HIDDEN, (True, False), ACTIVATIONS, EMBEDDINGS, COLUMNS, LOSSES, DATA, RULES, TOLERANCE)
    for case in itertools.product(*axes):
        hidden, diagonal, rule = case[0], case[1], case[7]
        if rule.startswith("layer") and (hidden or not diagonal):
            continue
        yield case


def truth(theta, n_outputs):
    wave = np.cos(2 * np.pi * theta).sum(axis=1) + 0.5 * np.sin(np.pi * theta[:, 0])
    return wave[:, None] * np.linspace(1.0, -0.5, n_outputs)


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("data", DATA)
def test_mixed_modes_train_alike_in_both_engines(hidden, data):
    shape = Architecture(M, 2, 1, hidden, mixed_modes=2)
    start = draw_weights(shape, "glorot", random_state=3)
    ends = [
        train_jointly(
            start,
            make_data(data, 2, 1),
            n_steps=40,
            batch_size=BATCH,
            schedule=InverseDecay(0.05),
            engine=engine,
            random_state=5,
        )
        for engine in ("fused", "torch")
    ]
    for name in start.arrays:
        np.testing.assert_allclose(*(end.weights.arrays[name] for end in ends), atol=1e-10)


def draw(rng, size, n_columns, n_outputs):
    theta = rng.uniform(-1, 1, (size, n_columns))
    return theta, truth(theta, n_outputs) + 0.3 * rng.normal(size=(size, n_outputs))


def make_data(kind, n_columns, n_outputs):
    if kind == "draws":
        return lambda rng, size: draw(rng, size, n_columns, n_outputs)
    rng = np.random.default_rng(7)
    theta, y = draw(rng, N, n_columns, n_outputs)
    return fixed_sample(theta, y, rng.uniform(0.2, 3.0, N) if kind == "weighted rows" else None)


def train(engine, case, n_steps):
    hidden, diagonal, activation, embedding, (d, q), loss, data, rule, dtype = case
    shape = Architecture(M, d, q, hidden, diagonal, activation, embedding)
    start = draw_weights(shape, "glorot", random_state=3, dtype=dtype)
    boxes = {"ridge": 0.05, "diagonal_box": 0.5, "output_box": 0.4} if "boxes" in rule else {}
    options = {
        "n_steps": n_steps,
        "batch_size": BATCH,
        "schedule": InverseDecay(0.05, 0.9, 300),
        "loss": loss,
        "engine": engine,
        "random_state": 5,
        **boxes,
    }
    run = train_layerwise if rule.startswith("layer") else train_jointly
    if run is train_layerwise:
        options["n_steps"] = (n_steps + 1) // 2
    end = run(start, make_data(data, d, q), **options)
    assert end.history.engine == engine
    return start, end


def distance(a, b):
    """Largest difference relative to the largest entry, over the arrays of two networks.

    Behind units that are all switched off an array may stay zero; there every difference counts.
    """
    smallest = np.finfo(float).tiny
    return max(
        np.abs(a.arrays[name] - b.arrays[name]).max() / max(np.abs(b.arrays[name]).max(), smallest)
        for name in a.arrays
    )


def assert_same_training(case, n_steps):
    (_, fused), (start, torch) = (train(engine, case, n_steps) for engine in ("fused", "torch"))
    tolerance = TOLERANCE[case[-1]]
    assert distance(fused.weights, torch.weights) < tolerance, case
    losses = torch.history.batch_loss
    np.testing.assert_allclose(
        fused.history.batch_loss, losses, rtol=tolerance, atol=tolerance * losses.max()
    )
    assert distance(start, torch.weights) > 1e-3, "nothing was trained"


@pytest.mark.statistical
def test_the_fused_engine_agrees_with_torch_for_every_combination_of_options():
    for case in crossing():
        if case[0] == ():
            assert_same_training(case, n_steps=8)


@pytest.mark.parametrize("hidden", HIDDEN, ids=str)
def test_the_fused_engine_agrees_with_torch_for_every_pair_of_options(hidden):
    cases = [case for case in crossing() if case[0] == hidden]
    # thirteen shares no factor with the sizes of the axes, so every pair of values still meets
    for case in cases[::13]:
        assert_same_training(case, n_steps=8)


# every value of every option several times over; the whole crossing above takes fewer steps
LONG = np.random.default_rng(0).permutation(len(list(crossing())))[:16]


@pytest.mark.parametrize("which", LONG)
@pytest.mark.statistical
def test_the_engines_agree_after_a_thousand_steps(which):
    assert_same_training(list(crossing())[which], n_steps=1000)


@settings(max_examples=25, deadline=None)
@given(
    n_modes=st.integers(1, 9),
    batch_size=st.integers(1, 9),
    hidden=st.sampled_from(HIDDEN),
    seed=st.integers(0, 2**32 - 1),
)
@example(n_modes=8, batch_size=1, hidden=(6, 4), seed=215)  # every unit switched off
def test_the_engines_agree_for_any_size_and_start(n_modes, batch_size, hidden, seed):
    shape = Architecture(n_modes, hidden_layer_sizes=hidden)
    start = draw_weights(shape, "glorot", random_state=seed)
    data = make_data("weighted rows", 1, 1)
    phase = Phase("joint", 4, InverseDecay(0.02), tuple(start.arrays))
    block = ReshuffledPasses(data, batch_size, np.random.default_rng(seed)).next(4)
    ends = []
    for name in ("fused", "torch"):
        engine = make_engine(name, start, data, Loss())
        engine.run(phase, phase.schedule.rates(0, 4), block)
        ends.append(Weights(shape, engine.arrays()))
    assert distance(*ends) < 1e-12


@pytest.mark.parametrize("hidden", [(), (5,)], ids=str)
def test_a_diagonal_weight_of_zero_stays_zero_as_the_derivative_of_relu_at_zero_does(hidden):
    shape = Architecture(M, hidden_layer_sizes=hidden)
    start = draw_weights(shape, "glorot", random_state=0)
    w = start.diagonal.copy()
    w[[1, 12]] = 0.0
    start = Weights(shape, {**start.arrays, DIAGONAL: w})
    end = train_jointly(start, make_data("rows", 1, 1), n_steps=20, engine="fused", random_state=0)
    np.testing.assert_array_equal(end.weights.diagonal[[1, 12]], 0.0)
    assert (end.weights.diagonal != start.diagonal).sum() == len(w) - 2


@pytest.mark.parametrize("hidden", [(), (5,)], ids=str)
def test_features_that_do_not_fit_are_computed_row_by_row_with_the_same_outcome(
    hidden, monkeypatch
):
    start = draw_weights(Architecture(50, 2, hidden_layer_sizes=hidden), random_state=0)
    data, ends = make_data("rows", 2, 1), []
    for bound in (features_module.TABLE_BYTES, 0):
        monkeypatch.setattr(features_module, "TABLE_BYTES", bound)
        table = feature_rows(data, start.architecture, start.dtype).table
        assert len(table) == (len(data) if bound else 0)
        ends.append(train_jointly(start, data, n_steps=30, engine="fused", random_state=0).weights)
    assert distance(*ends) < 1e-13


def test_a_table_beyond_its_bound_is_never_allocated():
    # 10⁶ rows × 1000 modes would take 16 GB
    sample = fixed_sample(np.linspace(-1, 1, 1_000_000), np.zeros(1_000_000))
    rows = feature_rows(sample, Architecture(1000), np.dtype(np.float64))
    assert rows.table.nbytes == 0


@pytest.mark.parametrize("n_modes", [1, 2, 3, 100, 5000])
def test_features_are_the_embeddings_to_rounding(n_modes):
    shape = Architecture(n_modes, n_columns=2)
    theta = np.random.default_rng(0).uniform(-3, 3, (5, 2))
    theta[0] = 0.5, -1.0
    table = np.zeros((5, shape.n_features))
    embed_rows(theta, n_modes, table)
    side, place = unit_places(shape)
    expected = fourier_features(theta, n_modes).reshape(5, -1)[:, shape.layout().feature]
    # the phase kθ itself is rounded: kθ·2⁻⁵³ turns
    np.testing.assert_allclose(table[:, place], expected, rtol=0, atol=1e-15 * (10 + n_modes))
    np.testing.assert_array_equal(side, shape.layout().sign < 0)


def test_one_output_of_several_is_trained_like_the_network_with_that_output_alone():
    # c of another output does not matter to a diagonal that does not move
    shape, data = Architecture(M, n_outputs=2), make_data("rows", 1, 2)
    start = draw_weights(shape, random_state=0)
    both = train_layerwise(start, data, n_steps=0, n_output_steps=40, random_state=0)
    alone = train_layerwise(
        Weights(Architecture(M), {**start.arrays, OUTPUT: start.arrays[OUTPUT][:1]}),
        (data.theta, data.y[:, 0]),
        n_steps=0,
        n_output_steps=40,
        # the loss is a mean over outputs
        schedule=InverseDecay(1e-3),
        random_state=0,
    )
    np.testing.assert_allclose(
        both.weights.arrays[OUTPUT][0], alone.weights.arrays[OUTPUT][0], rtol=1e-12
    )
