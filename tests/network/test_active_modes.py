"""The rule for active modes: a level, a scatter, and a bound for the largest of m."""

import numpy as np
import pytest

from robustfourier.network.active_modes import active_modes, diagonal_sizes, mode_strengths
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial_weights import draw_weights
from robustfourier.network.weights import Weights


def nothing(rng, m):
    """Strengths of modes that carry nothing: products of random weights."""
    products = rng.normal(size=(m, 2)) * rng.normal(size=(m, 2))
    return 0.01 * np.sqrt((products**2).sum(axis=1))


def test_modes_that_carry_nothing_are_seldom_called_active():
    rng = np.random.default_rng(0)
    false = [active_modes(nothing(rng, 100)).any() for _ in range(400)]
    assert np.mean(false) <= 0.09  # 0.05 if the level were known; it is estimated


@pytest.mark.parametrize("n_active", [1, 5, 20, 33])
def test_modes_that_stand_out_are_found_and_no_others(n_active):
    rng = np.random.default_rng(1)
    truth = np.zeros(100, bool)
    truth[rng.choice(100, n_active, replace=False)] = True
    strengths = nothing(rng, 100)
    strengths[truth] = rng.uniform(0.4, 1.0, n_active)
    np.testing.assert_array_equal(active_modes(strengths), truth)


def test_weak_modes_are_found_once_strong_ones_are_out_of_the_way():
    # 35 strong modes push the median up so far that, at first sight, the 5 weak ones are nothing
    strengths = nothing(np.random.default_rng(3), 100)
    strengths[:35] = 0.5
    strengths[35:40] = 0.13
    tau = np.median(strengths) / 0.876
    assert strengths[35] < tau * np.log(1.17 * 100 / 0.05)
    assert np.flatnonzero(active_modes(strengths)).tolist() == list(range(40))


def test_the_rule_does_not_depend_on_the_scale():
    strengths = nothing(np.random.default_rng(2), 60)
    strengths[[3, 9]] = 0.3, 0.5
    for scale in (1e-9, 1.0, 1e12):
        assert np.flatnonzero(active_modes(scale * strengths)).tolist() == [3, 9]


def test_exactly_sparse_weights_are_separated_exactly():
    strengths = np.zeros(50)
    strengths[[2, 7]] = 1e-3, 5.0
    assert np.flatnonzero(active_modes(strengths)).tolist() == [2, 7]
    strengths[4] = 1e-17  # rounding
    assert np.flatnonzero(active_modes(strengths)).tolist() == [2, 7]


def test_weights_that_are_all_equal_or_all_zero_have_no_active_mode():
    assert not active_modes(np.full(20, 0.3)).any()
    assert not active_modes(np.zeros(20)).any()


def test_the_strength_of_a_mode_is_the_size_of_what_its_units_pass_on():
    shape = Architecture(2, n_columns=2, n_outputs=3)
    weights = draw_weights(shape, "glorot", random_state=0)
    layout, w, c = shape.layout(), weights.diagonal, weights.arrays["output.weight"]
    for column in range(2):
        for k in (1, 2):
            mine = (layout.mode == k) & (layout.column == column)
            expected = np.sqrt(((c[:, mine] * w[mine]) ** 2).sum())
            assert mode_strengths(weights)[column, k - 1] == pytest.approx(expected)


def test_without_diagonal_only_the_difference_of_both_signs_counts():
    shape = Architecture(1, hidden_layer_sizes=(2,), diagonal=False)
    arrays = {k: v.copy() for k, v in draw_weights(shape, random_state=0).arrays.items()}
    arrays["dense.0.weight"][:, 3:] = arrays["dense.0.weight"][:, :3]
    assert mode_strengths(Weights(shape, arrays)) == pytest.approx(0.0)


def test_diagonal_sizes_join_sine_cosine_and_both_signs():
    w = np.array([9.0, 3.0, 0.0, 0.0, 1.0, 9.0, 0.0, 4.0, 0.0, 0.0])
    np.testing.assert_allclose(diagonal_sizes(w, 2), [5.0, 1.0])
    np.testing.assert_allclose(diagonal_sizes(np.stack([w, 2 * w]), 2), [[5, 1], [10, 2]])
