import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import chebyshev

from robustfourier.errors import InputError
from robustfourier.network.embedding import embed
from robustfourier.synthetic import LINKS, paper_example, random_mixture
from robustfourier.theory import (
    alpha,
    chebyshev_coefficients,
    fourier_series,
    relu_coefficients,
    sine_link_coefficients,
)


def test_the_closed_form_of_relu_is_what_quadrature_gives():
    numeric = chebyshev_coefficients(LINKS["relu"], 40, n_points=2**16)
    np.testing.assert_allclose(relu_coefficients(40), numeric, atol=1e-8)


def test_relu_has_no_odd_coefficient_beyond_the_first():
    np.testing.assert_array_equal(relu_coefficients(50)[3::2], 0.0)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_relu_coefficients_can_be_asked_for(n):
    np.testing.assert_array_equal(relu_coefficients(n), relu_coefficients(9)[:n])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-2, 2), min_size=1, max_size=8))
def test_chebyshev_coefficients_of_a_chebyshev_sum_are_its_own(coefficients):
    found = chebyshev_coefficients(lambda x: chebyshev.chebval(x, coefficients), len(coefficients))
    np.testing.assert_allclose(found, coefficients, atol=1e-12)


@pytest.mark.parametrize("link", ["cube", "tanh", "identity"])
def test_sine_coefficients_of_odd_links_rebuild_them(link):
    b = sine_link_coefficients(LINKS[link], 400, n_points=2**14)
    t = np.linspace(0, 2 * np.pi, 101)
    rebuilt = b @ np.sin(np.outer(np.arange(400), t))
    np.testing.assert_allclose(rebuilt, LINKS[link](np.sin(t)), atol=1e-9)


def test_a_link_of_a_cosine_is_the_harmonic_family_of_its_chebyshev_coefficients():
    problem = paper_example(3)
    series = fourier_series(problem.components[1].function, 29 * 5)
    found = series.cosine[29 * np.arange(6)]
    np.testing.assert_allclose(found, chebyshev_coefficients(LINKS["tanh"], 6), atol=1e-6)
    assert np.abs(np.delete(series.cosine, 29 * np.arange(6))).max() < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_alpha_is_the_mean_of_f_times_each_feature(seed):
    f = random_mixture(3, links=("relu", "exp"), max_mode=12, random_state=seed).function
    theta = -1 + 2 * (np.arange(20_000) + 0.5) / 20_000
    by_hand = f(theta) @ embed(theta[:, None], 20, "symmetrised") / theta.size
    np.testing.assert_allclose(alpha(f, 20), by_hand, atol=2e-6)


def test_alpha_changes_sign_under_reflection_of_the_index():
    a = alpha(paper_example(2).function, 70)
    np.testing.assert_allclose(a[::-1][:140], -a[:140], atol=1e-15)


def test_bad_numbers_of_coefficients_are_named():
    with pytest.raises(InputError, match=re.escape("at least 1, not 0")):
        chebyshev_coefficients(LINKS["cube"], 0)
    with pytest.raises(InputError, match=re.escape("n_points=10")):
        fourier_series(LINKS["cube"], 5, n_points=10)
