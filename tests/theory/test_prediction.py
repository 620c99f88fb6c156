import re

import numpy as np
import pytest

from robustfourier.errors import InputError
from robustfourier.network.embedding import embed
from robustfourier.synthetic import PAPER_COMPONENTS, Component, Mixture
from robustfourier.theory import (
    alpha,
    even_and_odd_parts,
    existing_output_weights,
    feature_learning_bound,
    first_layer_box,
    largest_start,
    leakage,
    least_alpha,
    mirrored_signs_agree,
    predicted_diagonal,
    second_layer_box,
    theory_output_weights,
    two_norm,
)

M = 12
ODD = Mixture((Component(3, amplitude=0.6), Component(7, kind="sin", amplitude=0.9)))
NOISE = 0.3


def first_phase(f, c, *, decay, step_size, n_steps, batch_size, box, seed, start=1e-4):
    """Algorithm 1's first loop, literally, with fresh batches and noise uniform in ±NOISE."""
    rng = np.random.default_rng(seed)
    w = np.full(c.size, start)
    for _ in range(n_steps):
        theta = rng.uniform(-1, 1, batch_size)
        y = f(theta) + rng.uniform(-NOISE, NOISE, batch_size)
        x = embed(theta[:, None], M, "symmetrised")
        residual = np.maximum(w * x, 0) @ c - y
        gradient = residual @ (c * (w * x > 0) * x) / batch_size + decay * w
        w = np.clip(w - step_size * gradient, -box, box)
    return w


@pytest.mark.parametrize("r_c", [0.02, 0.1])
def test_algorithm_one_ends_at_the_predicted_weights_and_within_the_bound(r_c):
    rates = {"decay": 0.5, "step_size": 0.2, "n_steps": 100}
    a, c = alpha(ODD, M), theory_output_weights(M, r_c, random_state=1)
    box = 4 * first_layer_box(a, c, decay=0.5)
    w = first_phase(ODD, c, batch_size=1000, box=box, seed=0, **rates)
    predicted = predicted_diagonal(a, c, **rates)
    assert np.abs(w - predicted).max() < 0.1 * np.abs(predicted).max()
    bound = feature_learning_bound(
        n_modes=M,
        r_c=r_c,
        box=box,
        batch_size=1000,
        f_max=1.5,
        noise_max=NOISE,
        delta=1e-4,
        start=1e-4,
        **rates,
    )
    assert np.abs(w - predicted).max() < bound.total
    assert mirrored_signs_agree(w, where=np.abs(a) > 1e-9).all()


def test_an_even_mode_raises_the_half_mode_as_the_leakage_predicts():
    f = Mixture((Component(6),))
    rates = {"decay": 0.5, "step_size": 0.2, "n_steps": 100}
    a, c = alpha(f, M), theory_output_weights(M, 0.02, random_state=1)
    w = first_phase(f, c, batch_size=1000, box=1.0, seed=0, start=1e-3, **rates)
    leak = leakage(f, M)
    predicted = predicted_diagonal(a, c, leak=leak, signs=np.sign(w), **rates)
    j = np.array([1, -1]) * 5 + 2 * M  # ±5 is cos 3πθ, which f does not contain
    grown = np.argmax(np.abs(w[j]))
    assert w[j][grown] == pytest.approx(predicted[j][grown], rel=0.1)
    assert np.abs(w[j]).max() > 0.3 * np.abs(w).max()
    assert np.abs(w[j]).min() < 0.1 * np.abs(w[j]).max()  # only one of the pair: signs disagree


def test_the_output_weights_of_section_three_rebuild_the_fourier_sum():
    rng = np.random.default_rng(0)
    a = alpha(ODD, M)
    half = rng.uniform(0.5, 2, 2 * M) * rng.choice([-1, 1], 2 * M)
    w = np.concatenate([half[::-1] * 1.3, [1.0], half])  # one sign at ±j, sizes may differ
    theta = np.linspace(-1, 1, 50)
    network = np.maximum(w * embed(theta[:, None], M, "symmetrised"), 0) @ existing_output_weights(
        a, w
    )
    np.testing.assert_allclose(network, ODD(theta), atol=1e-12)


def test_the_output_weights_need_a_living_unit():
    with pytest.raises(InputError, match=re.escape("diagonal is zero")):
        existing_output_weights([-1.0, 0.0, 1.0], [0.0, 1.0, 1.0])


def test_prediction_grows_towards_its_limit():
    a, c = alpha(ODD, M), theory_output_weights(M, 0.1, random_state=0)
    limit = c * a / 2 / 0.5
    few, many = (predicted_diagonal(a, c, decay=0.5, step_size=0.1, n_steps=n) for n in (1, 1000))
    np.testing.assert_allclose(few, 0.1 * c * a / 2, atol=1e-15)
    np.testing.assert_allclose(many, limit, rtol=1e-12, atol=1e-15)
    assert first_layer_box(a, c, decay=0.5) == pytest.approx(np.abs(limit).max())


def test_the_theorys_start_is_antisymmetric():
    c = theory_output_weights(5, 0.3, random_state=3)
    np.testing.assert_array_equal(c[:10], -c[:10:-1])
    np.testing.assert_allclose(np.abs(c), 0.3 / np.sqrt(5))


def test_boxes_scale_as_stated():
    assert second_layer_box(400, 0.1, decay=0.5) == 2 * second_layer_box(100, 0.1, decay=0.5)


@pytest.mark.parametrize("rates", [(0.0, 0.1), (0.5, 2.0), (0.5, 0.0), (-1.0, 0.1)])
def test_rates_outside_the_theorem_are_refused(rates):
    decay, step_size = rates
    with pytest.raises(InputError, match=re.escape(f"decay={decay!r}, step_size={step_size!r}")):
        predicted_diagonal([0.0], [0.0], decay=decay, step_size=step_size, n_steps=3)


def test_the_theorys_start_needs_positive_sizes():
    with pytest.raises(InputError, match=re.escape("r_c=0.0")):
        theory_output_weights(5, 0.0)


def test_the_prediction_with_steps_that_vary_is_the_sum_of_the_proof():
    rates, decay = 0.3 / (1 + 0.1 * np.arange(30)), 0.4
    total = sum(rate * np.prod(1 - rates[p + 1 :] * decay) for p, rate in enumerate(rates))
    found = predicted_diagonal([0.8], [0.5], decay=decay, step_size=rates, n_steps=30)
    np.testing.assert_allclose(found, total * 0.5 * 0.4)
    even = predicted_diagonal([0.8], [0.5], decay=decay, step_size=np.full(30, 0.1), n_steps=30)
    np.testing.assert_allclose(
        even, predicted_diagonal([0.8], [0.5], decay=decay, step_size=0.1, n_steps=30)
    )
    with pytest.raises(InputError, match=re.escape("give one number, or n_steps=7")):
        predicted_diagonal([0.8], [0.5], decay=decay, step_size=rates, n_steps=7)


def test_the_papers_first_example_needs_a_start_of_one_hundredth():
    f = Mixture(PAPER_COMPONENTS[1])
    vector, f_max = alpha(f, 100), 1.6
    start = largest_start(vector, f_max)
    assert start == pytest.approx(0.0094, abs=2e-4)
    present = np.abs(vector[np.abs(vector) > 1e-9]).min()
    assert least_alpha(vector, f_max, start) == pytest.approx(present)


def test_alpha_is_bounded_by_the_norm_of_f_and_reaches_it_with_all_modes():
    f = Mixture(PAPER_COMPONENTS[3])
    few, many = (np.linalg.norm(alpha(f, m)) for m in (50, 2000))
    assert few < many <= two_norm(f) * (1 + 1e-6)
    assert many == pytest.approx(two_norm(f), rel=1e-3)


def test_the_even_part_is_what_cosines_make_and_the_odd_part_what_sines_make():
    f = Mixture(PAPER_COMPONENTS[1])
    even, odd = even_and_odd_parts(f)
    theta = np.linspace(-1, 1, 101)
    np.testing.assert_allclose(even(theta) + odd(theta), f(theta), atol=1e-12)
    np.testing.assert_allclose(odd(theta), f.components[2].function(theta), atol=1e-12)
    np.testing.assert_allclose(even(-theta), even(theta), atol=1e-12)
