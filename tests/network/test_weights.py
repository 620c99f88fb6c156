"""Descriptions, initial draws, numpy forward pass and Fourier series of networks."""

import copy
import pickle
import re

import numpy as np
import pytest

from robustfourier.errors import InputError
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.embedding import embed
from robustfourier.network.fourier_coefficients import network_series
from robustfourier.network.initial_weights import draw_weights
from robustfourier.network.weights import GridError, Weights
from robustfourier.synthetic import paper_example, relative_error

KINDS = ("signed", "symmetrised")


def test_u0_diag_is_the_sum_of_equation_2():
    shape = Architecture(3, embedding="symmetrised")
    net = draw_weights(shape, "glorot", random_state=0)
    theta = np.linspace(-1, 1, 11)
    w, c = net.arrays[DIAGONAL], net.arrays[OUTPUT][0]
    x = embed(theta[:, None], 3, "symmetrised")
    literal = [sum(c[i] * max(w[i] * row[i], 0.0) for i in range(13)) for row in x]
    np.testing.assert_allclose(net.predict(theta)[:, 0], literal, rtol=1e-13)


def test_prediction_does_not_depend_on_how_rows_are_chunked(monkeypatch):
    net = draw_weights(Architecture(4, n_columns=2, hidden_layer_sizes=(5,)), random_state=0)
    theta = np.random.default_rng(0).uniform(-1, 1, (17, 2))
    whole = net.predict(theta)
    monkeypatch.setattr("robustfourier.network.weights._CHUNK_BYTES", 1000)
    np.testing.assert_allclose(net.predict(theta), whole, rtol=1e-13)


def test_glorot_draws_have_the_stated_spread_and_no_bias():
    shape = Architecture(2000, hidden_layer_sizes=(300,))
    net = draw_weights(shape, "glorot", random_state=0)
    size = shape.embedding_size
    assert net.arrays[DIAGONAL].std() == pytest.approx(1 / np.sqrt(size), rel=0.05)
    dense = net.arrays["dense.0.weight"]
    assert dense.std() == pytest.approx(np.sqrt(2 / (300 + size)), rel=0.01)
    assert not net.arrays["dense.0.bias"].any()
    assert not net.arrays["output.bias"].any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hidden", [(), (4,)])
def test_a_symmetric_start_is_linear_in_the_features(kind, hidden):
    shape = Architecture(3, n_columns=2, n_outputs=2, hidden_layer_sizes=hidden, embedding=kind)
    net = draw_weights(shape, "symmetric", random_state=1)
    layout, w = shape.layout(), net.arrays[DIAGONAL]
    behind = net.arrays["dense.0.weight" if hidden else OUTPUT]
    paired = layout.mirror >= 0
    assert (w > 0).all()
    np.testing.assert_array_equal(w[paired], w[layout.mirror[paired]])
    np.testing.assert_array_equal(behind[:, paired], -behind[:, layout.mirror[paired]])
    # σ(x) − σ(−x) = x, so what reaches the layer behind is odd in the features
    x = embed(np.random.default_rng(0).uniform(-1, 1, (8, 2)), 3, kind)[:, paired]
    passed = np.maximum(x * w[paired], 0) @ behind[:, paired].T
    np.testing.assert_allclose(passed, 0.5 * (x * w[paired]) @ behind[:, paired].T, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hidden", [(), (4,)])
def test_an_antisymmetric_start_has_glorots_diagonal_and_opposite_weights_behind(kind, hidden):
    shape = Architecture(3, n_columns=2, hidden_layer_sizes=hidden, embedding=kind)
    net, glorot = (draw_weights(shape, i, random_state=1) for i in ("antisymmetric", "glorot"))
    behind = net.arrays["dense.0.weight" if hidden else OUTPUT]
    mirror = shape.layout().mirror
    paired = mirror >= 0
    np.testing.assert_array_equal(behind[:, paired], -behind[:, mirror[paired]])
    np.testing.assert_array_equal(net.diagonal, glorot.diagonal)


def test_a_symmetric_start_without_diagonal_is_the_glorot_draw():
    shape = Architecture(3, hidden_layer_sizes=(4,), diagonal=False)
    one, other = (draw_weights(shape, init, random_state=3) for init in ("symmetric", "glorot"))
    for name in one.arrays:
        np.testing.assert_array_equal(one.arrays[name], other.arrays[name])


@pytest.mark.parametrize("kind", KINDS)
def test_the_theorys_start_is_antisymmetric_with_one_size(kind):
    net = draw_weights(Architecture(16, embedding=kind), "theory", r_c=0.2, random_state=0)
    c, layout = net.arrays[OUTPUT][0], net.architecture.layout()
    np.testing.assert_allclose(np.abs(c), 0.2 / 4)
    paired = layout.mirror >= 0
    np.testing.assert_array_equal(c[paired], -c[layout.mirror[paired]])
    assert 0 < (c > 0).sum() < len(c)
    assert (net.arrays[DIAGONAL] > 0).all()
    assert net.arrays[DIAGONAL].max() <= 1e-3 * np.abs(c).max()


def test_the_theorys_start_is_for_u0_diag_only():
    with pytest.raises(InputError, match=re.escape("not for u1_diag; use init='symmetric'")):
        draw_weights(Architecture(3, hidden_layer_sizes=(4,)), "theory")


def test_the_same_seed_draws_the_same_weights_and_another_seed_others():
    shape = Architecture(5)
    first, again, other = (draw_weights(shape, random_state=s).diagonal for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"activation": "tanh"}, "activation='tanh' is unknown; use one of relu, identity"),
        ({"embedding": "x"}, "embedding='x' is unknown"),
        ({"hidden_layer_sizes": (3, 0)}, "hidden_layer_sizes=0 must be a whole number"),
        ({"n_outputs": 0}, "n_outputs=0 must be a whole number"),
        ({"n_columns": 1.5}, "n_columns=1.5 must be a whole number"),
    ],
)
def test_an_impossible_architecture_is_refused(change, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Architecture(**{"n_modes": 3, **change})


def test_unknown_inits_and_sizes_are_refused():
    with pytest.raises(InputError, match=re.escape("init='zeros' is unknown; use one of")):
        draw_weights(Architecture(3), "zeros")
    with pytest.raises(InputError, match=re.escape("r_c=-1 must be positive")):
        draw_weights(Architecture(3), "theory", r_c=-1)


def test_weights_of_the_wrong_name_or_shape_are_refused():
    shape = Architecture(1)
    with pytest.raises(InputError, match=re.escape("needs ['diagonal.weight', 'output.weight']")):
        Weights(shape, {"w": np.zeros(6)})
    with pytest.raises(InputError, match=re.escape("has shape (6,); it must be (1, 6)")):
        Weights(shape, {DIAGONAL: np.zeros(6), OUTPUT: np.zeros(6)})


def test_weights_can_be_copied_and_survive_a_round_trip():
    net = draw_weights(Architecture(2), random_state=0)
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        np.testing.assert_array_equal(twin.predict([0.3]), net.predict([0.3]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("activation", ["relu", "identity"])
@pytest.mark.parametrize(("diagonal", "hidden"), [(True, ()), (False, ()), (True, (6,))])
def test_the_series_is_the_fourier_series_of_the_prediction(kind, activation, diagonal, hidden):
    m = 6
    shape = Architecture(m, 2, 2, hidden, diagonal, activation, kind)
    net = draw_weights(shape, "glorot", random_state=2)
    series = network_series(net)
    theta = -1 + 2 * np.arange(20_000) / 20_000
    for column in range(2):
        grid = np.zeros((len(theta), 2))
        grid[:, column] = theta
        f = net.predict(grid)
        for k in range(1, m + 1):
            cosine = 2 * (f * np.cos(np.pi * k * theta)[:, None]).mean(axis=0)
            sine = 2 * (f * np.sin(np.pi * k * theta)[:, None]).mean(axis=0)
            # kinks of a deep network alias a little; without dense layers the series is exact
            tolerance = 2e-3 if hidden else 1e-7
            np.testing.assert_allclose(series.cosine[column, k - 1], cosine, atol=tolerance)
            np.testing.assert_allclose(series.sine[column, k - 1], sine, atol=tolerance)


@pytest.mark.parametrize(("sizes", "diagonal"), [((), True), ((5,), True), ((5, 4), False)])
def test_the_followed_error_is_the_relative_error_of_the_prediction(sizes, diagonal):
    problem = paper_example(1, random_state=0)
    weights = draw_weights(
        Architecture(9, hidden_layer_sizes=sizes, diagonal=diagonal), "glorot", random_state=0
    )
    slow = relative_error(weights.predict(problem.theta)[:, 0], problem.truth)
    fast = GridError(problem.theta, problem.truth, 9, "float64")(weights)
    assert fast == pytest.approx(slow, rel=1e-12)
