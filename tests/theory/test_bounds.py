import re

import numpy as np
import pytest

from robustfourier.errors import InputError
from robustfourier.theory import (
    alignment_orders,
    feature_learning_bound,
    gradient_bound,
    hoeffding_constant,
    main_bound,
    rademacher_bound,
    second_layer_bound,
    second_layer_existence_bound,
    step_size_for,
)

THEOREM_1 = {
    "n_modes": 64, "r_c": 0.1, "box": 0.01, "decay": 0.5, "step_size": 0.1, "n_steps": 400,
    "batch_size": 400, "f_max": 1.5, "noise_max": 0.5, "delta": 1e-5, "start": 0.02,
}  # fmt: skip


def test_the_default_constant_makes_the_papers_form_equal_to_hoeffdings():
    terms = feature_learning_bound(**THEOREM_1)
    M = gradient_bound(64, 0.1, 0.01, f_max=1.5, noise_max=0.5)
    hoeffding = M * np.sqrt(2 * np.log(2 * 257 / 1e-5) / 400) / 0.5
    assert terms.noise_network + terms.noise_data == pytest.approx(hoeffding, rel=1e-12)


def test_the_constant_can_be_given():
    default = feature_learning_bound(**THEOREM_1)
    C = hoeffding_constant(64, 1e-5)
    doubled = feature_learning_bound(**THEOREM_1, constant=2 * C)
    assert doubled.noise_data == pytest.approx(2 * default.noise_data)
    assert doubled.drift == default.drift


@pytest.mark.parametrize(
    ("change", "term", "factor"),
    [
        ({"r_c": 0.2}, "drift", 4.0),
        ({"box": 0.02}, "drift", 2.0),
        ({"batch_size": 1600}, "noise_data", 0.5),
        ({"batch_size": 1600}, "noise_network", 0.5),
        ({"r_c": 0.2}, "noise_data", 2.0),
        ({"decay": 0.25}, "drift", 2.0),
        ({"start": 0.04}, "start", 2.0),
    ],
)
def test_each_term_scales_as_the_theorem_says(change, term, factor):
    before = getattr(feature_learning_bound(**THEOREM_1), term)
    after = getattr(feature_learning_bound(**(THEOREM_1 | change)), term)
    assert after == pytest.approx(factor * before)


def test_the_corollarys_step_size_leaves_at_most_one_over_t_squared_of_the_start():
    for n_steps in (20, 400, 10_000):
        remaining = (1 - 0.5 * step_size_for(n_steps, 0.5)) ** n_steps
        assert remaining <= 1 / n_steps**2


def test_the_signal_wins_over_the_error_as_the_start_shrinks():
    ratios = []
    for r_c in (0.1, 0.01):
        error, signal = alignment_orders(n_modes=100, r_c=r_c, decay=0.5, alpha_max=0.4, f_max=1.6)
        ratios.append(error / signal)
    assert ratios[0] / ratios[1] == pytest.approx(10)


def test_the_second_phase_falls_like_one_over_the_root_of_its_steps():
    kwargs = {"distance_squared": 1.0, "gradient_noise": 1.0, "delta": 0.1}
    slow = [second_layer_bound(n_steps=n, **kwargs) / np.sqrt(np.log(n)) for n in (10**8, 10**10)]
    assert slow[0] / slow[1] == pytest.approx(10, rel=1e-3)


def test_complexity_falls_like_one_over_the_root_of_the_samples():
    kwargs = {"n_modes": 10, "first_box": 0.1, "second_box": 9.0, "truncation": 2.0}
    few, many = (rademacher_bound(n_samples=n, **kwargs) for n in (100, 10_000))
    assert few / many == pytest.approx(10)


def test_the_main_bound_is_the_sum_of_its_terms_and_never_below_twice_the_noise():
    bound = main_bound(
        n_modes=10, n_samples=10**6, second_phase=0.01, variation=3.0, smoothness=1,
        noise_variance=0.16, sub_exponential_norm=0.3, alpha_max=0.4, f_max=1.6, noise_max=1.0,
    )  # fmt: skip
    lemma = second_layer_existence_bound(
        variation=3.0, n_modes=10, smoothness=1, n_samples=10**6, noise_variance=0.16,
        sub_exponential_norm=0.3,
    )  # fmt: skip
    assert bound.approximation + bound.sampling + bound.noise == pytest.approx(lemma)
    assert bound.total == pytest.approx(lemma + bound.optimisation + bound.complexity)
    assert bound.total > 0.32


def test_arguments_outside_the_theorems_are_refused():
    with pytest.raises(InputError, match=re.escape("delta=1.0")):
        second_layer_bound(n_steps=5, distance_squared=1, gradient_noise=1, delta=1.0)
    with pytest.raises(InputError, match=re.escape("n_modes=1")):
        hoeffding_constant(1, 0.1)
    with pytest.raises(InputError, match=re.escape("step_size=2.0")):
        feature_learning_bound(**(THEOREM_1 | {"step_size": 2.0}))
    with pytest.raises(InputError, match=re.escape("n_steps=1")):
        step_size_for(1, 0.5)
