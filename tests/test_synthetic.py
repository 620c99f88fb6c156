import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustfourier.errors import InputError
from robustfourier.synthetic import (
    LINKS,
    Component,
    Mixture,
    paper_example,
    random_mixture,
    relative_error,
)

THETA = -1.0 + 2e-4 * np.arange(10_001)

# The formulas of section 5, written out once more by hand.
FORMULAS = {
    1: 0.5 * np.cos(5 * np.pi * THETA)
    + 0.8 * np.cos(29 * np.pi * THETA)
    + 0.3 * np.sin(61 * np.pi * THETA),
    2: 0.5 * np.cos(5 * np.pi * (THETA - 0.2))
    + 0.8 * np.cos(29 * np.pi * (THETA + 0.1))
    + 0.3 * np.sin(61 * np.pi * (THETA - 0.3)),
    3: (0.5 * np.cos(5 * np.pi * THETA)) ** 3
    + np.tanh(10 * np.cos(29 * np.pi * THETA))
    + np.maximum(np.sin(61 * np.pi * THETA), 0),
}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_papers_examples_are_the_papers_formulas_on_the_papers_grid(number):
    problem = paper_example(number, random_state=0)
    np.testing.assert_allclose(problem.theta, THETA, rtol=0, atol=1e-15)
    np.testing.assert_allclose(problem.truth, FORMULAS[number], rtol=0, atol=1e-11)
    np.testing.assert_array_equal(problem.modes, [5, 29, 61])


def test_the_noise_of_the_examples_is_gaussian_with_deviation_two_fifths():
    residual = paper_example(1, random_state=0)
    noise = residual.y - residual.truth
    # Standard error of the deviation of 10 001 normals is 0.4/√20002 = 0.0028.
    assert abs(noise.std() - 0.4) < 4 * 0.0028
    assert abs(noise.mean()) < 4 * 0.004


def test_the_signal_to_noise_ratio_of_example_one_is_the_papers():
    problem = paper_example(1)
    assert np.mean(problem.truth**2) / 0.4**2 == pytest.approx(3.06, abs=0.01)


def test_the_same_seed_gives_the_same_samples_and_another_seed_others():
    first, again, other = (paper_example(1, random_state=seed).y for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_no_noise_leaves_the_truth():
    problem = paper_example(3, noise=0.0, random_state=0)
    np.testing.assert_array_equal(problem.y, problem.truth)


def test_the_components_of_a_mixture_add_up_to_its_function():
    problem = random_mixture(4, links=tuple(LINKS), max_mode=40, random_state=0)
    total = sum(component.function(problem.theta) for component in problem.components)
    np.testing.assert_allclose(total, problem.truth, rtol=0, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sampling=st.sampled_from(["even", "irregular", "gappy"]),
    noise_kind=st.sampled_from(["white", "ar1", "heavy-tailed", "outliers"]),
    integer_modes=st.booleans(),
)
def test_every_mixture_has_ascending_points_in_the_span_and_modes_apart(
    seed, sampling, noise_kind, integer_modes
):
    problem = random_mixture(
        5,
        sampling=sampling,
        noise_kind=noise_kind,
        integer_modes=integer_modes,
        n_samples=50,
        random_state=seed,
    )
    assert problem.theta.min() >= -1
    assert problem.theta.max() <= 1
    assert np.all(np.diff(problem.theta) > 0)
    assert np.all(np.diff(problem.modes) >= 1.5)
    assert np.all(np.isfinite(problem.y))
    assert np.all(problem.modes == np.round(problem.modes)) or not integer_modes


def test_gappy_sampling_leaves_two_gaps_of_fifteen_percent_each():
    steps = np.diff(random_mixture(1, sampling="gappy", n_samples=4000, random_state=2).theta)
    widest = np.sort(steps)[-2:]
    assert np.all(widest > 0.3)
    assert np.all(widest < 0.31)


@pytest.mark.parametrize("kind", ["white", "ar1"])
def test_the_noise_has_the_stated_deviation(kind):
    problem = random_mixture(
        1, noise=0.7, noise_kind=kind, correlation=0.5, n_samples=20_000, random_state=0
    )
    assert (problem.y - problem.truth).std() == pytest.approx(0.7, rel=0.03)


def test_correlated_noise_is_correlated_as_asked():
    problem = random_mixture(1, noise_kind="ar1", correlation=0.9, n_samples=20_000, random_state=0)
    noise = problem.y - problem.truth
    assert np.corrcoef(noise[1:], noise[:-1])[0, 1] == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(("kind", "share"), [("white", 0.0), ("outliers", 0.02)])
def test_outliers_are_far_and_two_in_a_hundred(kind, share):
    problem = random_mixture(1, noise_kind=kind, n_samples=20_000, random_state=0)
    far = np.abs(problem.y - problem.truth) > 4.5 * problem.noise
    assert far.mean() == pytest.approx(share, abs=0.004)


def test_heavy_tails_are_heavier_than_gaussian_ones():
    problem = random_mixture(1, noise_kind="heavy-tailed", n_samples=20_000, random_state=0)
    far = np.abs(problem.y - problem.truth) > 4 * problem.noise
    assert far.mean() > 0.003  # a Gaussian leaves 0.00006 there


def test_given_modes_and_links_are_used():
    problem = random_mixture(modes=[3.5, 7.25], links=("relu", "cube"), random_state=0)
    assert [c.mode for c in problem.components] == [3.5, 7.25]
    assert [c.link for c in problem.components] == ["relu", "cube"]


def test_a_problem_survives_pickling_so_that_worker_processes_can_have_it():
    problem = paper_example(3, random_state=0)
    copy = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(copy.function(THETA), problem.function(THETA))


def test_the_arrays_of_a_problem_cannot_be_written_to():
    problem = paper_example(1)
    with pytest.raises(ValueError, match=re.escape("read-only")):
        problem.y[0] = 0.0


def test_an_empty_mixture_is_zero():
    np.testing.assert_array_equal(Mixture(())([0.0, 1.0]), [0.0, 0.0])


def test_a_shift_moves_the_component_to_the_right():
    moved, plain = Component(5, shift=0.1), Component(5)
    np.testing.assert_allclose(moved.function(THETA + 0.1), plain.function(THETA), atol=1e-12)


def test_relative_error_is_one_for_the_zero_prediction_and_does_not_see_the_scale():
    problem = paper_example(1, random_state=0)
    assert relative_error(np.zeros_like(problem.truth), problem.truth) == 1.0
    assert relative_error(3 * problem.y, 3 * problem.truth) == pytest.approx(
        relative_error(problem.y, problem.truth)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paper_example(4), "number=4"),
        (lambda: paper_example(1, noise=-1), "noise=-1"),
        (lambda: random_mixture(links=("sine",)), "links=('sine',)"),
        (lambda: random_mixture(sampling="odd"), "sampling='odd'"),
        (lambda: random_mixture(noise_kind="pink"), "noise_kind='pink'"),
        (lambda: random_mixture(correlation=1.0), "correlation=1.0"),
        (lambda: random_mixture(n_samples=1), "n_samples=1"),
        (lambda: random_mixture(30, max_mode=20), "n_components=30"),
        (lambda: relative_error([1.0], [1.0, 2.0]), "shape (1,)"),
        (lambda: relative_error([1.0], [0.0]), "truth is zero"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(InputError, match=re.escape(message)):
        call()
