"""The places where the paper's formulas need a correction; docs/theory.md lists them."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from scipy.stats import binom

from robustfourier.network.embedding import embed
from robustfourier.synthetic import LINKS, Component, Mixture
from robustfourier.theory import (
    alignment_orders,
    alpha,
    chebyshev_coefficients,
    feature_learning_bound,
    first_layer_box,
    fourier_series,
    gradient_bound,
    hoeffding_constant,
    link_variation,
    relu_coefficients,
    second_layer_bound,
    second_layer_box,
    second_layer_existence_bound,
    success_probability,
    theory_output_weights,
    truncation_error,
)

M = 10
F = Mixture((Component(3, amplitude=0.6), Component(7, kind="sin", amplitude=-0.8)))
THETA = -1 + 2 * (np.arange(2**14) + 0.5) / 2**14
X = embed(THETA[:, None], M, "symmetrised")


@pytest.mark.parametrize("side", [1, -1])
def test_lemma_one_holds_with_alpha_the_mean_of_f_times_the_feature(side):
    # The lemma prints α̃/2 with the series coefficient α̃, because it takes E[cos²] for 1.
    left = F(THETA) @ np.maximum(side * X, 0) / THETA.size
    np.testing.assert_allclose(left, side * alpha(F, M) / 2, atol=1e-8)
    series_coefficient = fourier_series(F, M).cosine[3]
    j = 2 * M + 5  # index 5 is cos 3πθ
    assert left[j] == pytest.approx(side * series_coefficient / 4)
    assert left[j] != pytest.approx(side * series_coefficient / 2)


def test_the_mean_of_a_link_times_its_cosine_is_half_the_chebyshev_coefficient():
    # Section 2 prints E[g(cos)·cos] = λ₁.
    g = LINKS["tanh"]
    cosine = np.cos(np.pi * THETA)
    lambda_1 = chebyshev_coefficients(g, 2)[1]
    assert np.mean(g(cosine) * cosine) == pytest.approx(lambda_1 / 2, rel=1e-6)


def test_x_is_the_difference_of_its_rectified_halves_not_their_sum():
    # Section 3 prints x = σ(x) + σ(−x), which is |x|.
    x = np.linspace(-1, 1, 11)
    relu = LINKS["relu"]
    np.testing.assert_array_equal(relu(x) - relu(-x), x)
    np.testing.assert_array_equal(relu(x) + relu(-x), np.abs(x))


@pytest.mark.parametrize("n", range(6))
def test_odd_chebyshev_polynomials_of_a_sine_alternate_in_sign(n):
    # Section 2 prints −sin((2n+1)t) for every n.
    t = np.linspace(0, 2 * np.pi, 41)
    value = chebyshev.chebval(np.sin(t), np.eye(2 * n + 2)[2 * n + 1])
    np.testing.assert_allclose(value, (-1) ** n * np.sin((2 * n + 1) * t), atol=1e-12)


def test_the_sign_of_the_learnt_weight_is_its_mirrors_but_not_alphas():
    # The second corollary prints sign((c⁰⊙α)_j) = sign(α̃_j); c⁰_j is a random sign.
    a = alpha(F, M)
    active = np.flatnonzero(np.abs(a[2 * M + 1 :]) > 1e-9) + 1
    equal_to_alpha = []
    for seed in range(40):
        product = theory_output_weights(M, 0.1, random_state=seed) * a
        for j in active:
            assert np.sign(product[2 * M + j]) == np.sign(product[2 * M - j])
            equal_to_alpha.append(np.sign(product[2 * M + j]) == np.sign(a[2 * M + j]))
    assert 0.2 < np.mean(equal_to_alpha) < 0.8


def test_the_theorem_holds_with_probability_one_minus_t_delta():
    # The theorem prints Tδ. One step's noise Γ stays below Hoeffding's bound in all but δ of the
    # draws, not in δ of them; each further step can only fail more often.
    m, delta, batch, r_c, draws = 4, 0.05, 50, 0.1, 400
    rng = np.random.default_rng(0)
    c = theory_output_weights(m, r_c, random_state=0)
    w = np.full(c.size, 0.01)
    limit = gradient_bound(m, r_c, 0.01, f_max=1.4, noise_max=0.3)
    limit *= hoeffding_constant(m, delta) * np.sqrt(np.log(m)) * np.log(1 / delta) / np.sqrt(batch)

    def gradients(theta, y):
        x = embed(theta[:, None], m, "symmetrised")
        return (np.maximum(w * x, 0) @ c - y)[:, None] * (c * (w * x > 0) * x)

    f = Mixture((Component(3, amplitude=0.6), Component(1, kind="sin", amplitude=-0.8)))
    mean = gradients(THETA, f(THETA)).mean(axis=0)
    kept = 0
    for _ in range(draws):
        theta = rng.uniform(-1, 1, batch)
        y = f(theta) + rng.uniform(-0.3, 0.3, batch)
        kept += np.abs(gradients(theta, y).mean(axis=0) - mean).max() <= limit
    assert kept / draws >= 1 - delta
    assert success_probability(400, 1e-4) == pytest.approx(0.96)
    assert success_probability(800, 1e-4) < success_probability(400, 1e-4)


def test_the_two_norm_of_the_start_is_about_twice_what_is_printed():
    # Section 2.4 prints ‖c⁰‖₂ ≤ r_c; there are 4m+1 entries of size r_c/√m.
    c = theory_output_weights(100, 0.3, random_state=0)
    assert np.linalg.norm(c) == pytest.approx(0.3 * np.sqrt(4.01))
    assert 0.3 < np.linalg.norm(c) <= np.sqrt(5) * 0.3


def test_projection_on_a_box_is_not_linear_but_does_not_stretch():
    # The theorem's proof calls it linear; that it does not stretch is what is needed.
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 50, 9))
    box = np.clip
    assert not np.allclose(box(a, -1, 1) + box(b, -1, 1), box(a + b, -1, 1))
    stretched = np.abs(box(a, -1, 1) - box(b, -1, 1)).max(axis=1) > np.abs(a - b).max(axis=1)
    assert not stretched.any()


def test_the_product_of_the_boxes_grows_like_one_over_the_size_of_the_start():
    # Section 4 takes Q₁ ∝ r_c² and concludes that the complexity does not depend on r_c; by the
    # theorem's own rule Q₁ ∝ r_c.
    products = []
    for r_c in (0.1, 0.01):
        c = theory_output_weights(M, r_c, random_state=0)
        box = first_layer_box(alpha(F, M), c, decay=0.5)
        products.append(box * second_layer_box(M, r_c, decay=0.5))
    assert products[1] / products[0] == pytest.approx(10)


def test_hoeffdings_exponent_is_a_quarter_of_what_is_printed():
    # The proof prints exp(−2Bε²) for variables within ±M; signs ±1 are such variables.
    batch, epsilon = 40, 0.3
    heads = np.arange(batch + 1)
    far = np.abs(2 * heads - batch) > epsilon * batch
    exact = binom.pmf(heads, batch, 0.5)[far].sum()
    assert exact > 10 * np.exp(-2 * batch * epsilon**2)
    assert exact <= 2 * np.exp(-batch * epsilon**2 / 2)
    # the constant C is the one of the right exponent: (4m+1) times it is δ
    m, delta = 10, 0.01
    factor = hoeffding_constant(m, delta) * np.sqrt(np.log(m)) * np.log(1 / delta)
    assert (4 * m + 1) * 2 * np.exp(-(factor**2) / 2) == pytest.approx(delta)


def test_the_step_of_the_second_layer_lacks_the_number_of_modes():
    # Section 4 prints 1/(10 Q₁²); gradient descent needs a step below 2/λ_max.
    def curvature(m):
        units = np.maximum(embed(THETA[::4, None], m, "symmetrised"), 0)  # all w at Q₁ = 1
        return np.linalg.eigvalsh(units.T @ units / len(units))[-1]

    assert curvature(64) == pytest.approx(26.9, abs=0.05)
    assert curvature(64) > 2 * 10
    assert curvature(32) < 2 * 10
    assert curvature(64) / curvature(32) == pytest.approx(2, rel=0.05)
    assert curvature(64) == pytest.approx(4 * 64 / np.pi**2, rel=0.05)


def test_the_bound_on_the_second_layer_does_not_scale_like_a_risk():
    # y in a unit 100 times smaller: f, κ, Q₂ and c grow with it, w and Q₁ stay; a risk grows by
    # 10⁴, the printed terms M′d²/T′ and √(M′d²)/√T′ by 10⁶ and 10³.
    unit, m, box, n_steps = 100.0, 8, 0.1, 10**4
    noise, distance = 3.0, 2.0

    def printed(scale, n_steps):
        return second_layer_bound(
            n_steps=n_steps,
            distance_squared=(scale * distance) ** 2,
            gradient_noise=scale * noise,
            delta=0.1,
        )

    def mended(scale):
        slow = scale * noise * scale * distance * np.sqrt(np.log(10) * np.log(n_steps) / n_steps)
        return 5 * m * box**2 * (scale * distance) ** 2 / n_steps + slow

    assert mended(unit) / mended(1.0) == pytest.approx(unit**2)
    assert printed(unit, 10**12) / printed(1.0, 10**12) == pytest.approx(unit**1.5, rel=0.2)
    assert printed(unit, 10**12) / printed(1.0, 10**12) < 0.2 * unit**2


def test_the_constant_of_the_fourier_sum_is_the_variation_of_the_derivative():
    # Section 3 prints sup|f − S_m f| ≲ C(g)/m^r with C(g) = |a| max|g′| for g(cos πaθ) = cos πaθ,
    # which is smooth, so that any r will do. Just below mode a the sum is empty.
    def printed(a, r):
        return link_variation(1, a, 1.0) / (a - 1) ** r

    def mended(a, r):  # the variation of the r-th derivative is 4a over a period, times (πa)^r
        return 4 * a * (np.pi * a) ** r / (np.pi * r * (np.pi * (a - 1)) ** r)

    for a in (61, 610):
        error = truncation_error(lambda t: np.cos(np.pi * a * t), a - 1)  # noqa: B023
        assert error == pytest.approx(1.0, rel=1e-3)
        assert error < mended(a, 2)
    assert printed(61, 2) < 0.02
    assert printed(610, 2) < 0.002


def test_relu_of_a_sine_has_cosines_at_even_harmonics():
    # Why assumption 2 forbids even modes: σ(sin πrθ) is correlated with cos 2πrθ.
    sine = np.maximum(np.sin(3 * np.pi * THETA), 0)
    assert np.mean(sine * np.cos(6 * np.pi * THETA)) == pytest.approx(-relu_coefficients(3)[2] / 2)


def test_the_sampling_term_of_lemma_two_does_not_scale_like_a_risk():
    # ν is the size of ε², in units of y²; a risk is in units of y², √(ν/L) in units of y.
    def sampling(size):
        return second_layer_existence_bound(
            variation=0.0,
            n_modes=10,
            smoothness=1,
            n_samples=100,
            noise_variance=0.0,
            sub_exponential_norm=0.3 * size**2,
        )

    assert sampling(10.0) == pytest.approx(10.0 * sampling(1.0))


def test_the_first_corollary_needs_a_start_smaller_than_the_decay():
    # The term 5 r_c² Q₁/λ of Theorem 1 with Q₁ ∝ r_c/λ is of order r_c³/λ², not r_c²/λ.
    def shares(r_c, decay):
        size = r_c * 0.4 / (2 * decay * np.sqrt(M))
        bound = feature_learning_bound(
            n_modes=M,
            r_c=r_c,
            box=size,
            decay=decay,
            step_size=0.1,
            n_steps=10**4,
            batch_size=10**9,
            f_max=1.4,
            noise_max=1.0,
            delta=1e-6,
            start=0.0,
        )
        error, _ = alignment_orders(n_modes=M, r_c=r_c, decay=decay, alpha_max=0.4, f_max=1.4)
        return bound.total / error

    assert shares(0.5, 0.005) > 10 * shares(0.005, 0.5)


def test_a_rademacher_complexity_bounds_the_mean_gap_and_not_every_gap():
    # One function has complexity zero, and yet its risk exceeds its empirical risk half the time.
    rng = np.random.default_rng(0)
    losses = rng.normal(size=(4000, 50)) ** 2
    gap = 1.0 - losses.mean(axis=1)
    assert abs(gap.mean()) < 0.01
    assert (gap > 0.05).mean() > 0.3


def test_the_truncation_level_grows_with_the_number_of_modes():
    # 5 m Q₁ Q₂ is printed as ‖α‖; with Q₁ = r_c²‖α‖/(λ√m) and Q₂ = 8λ√m/r_c² it is 40 m ‖α‖.
    r_c, decay, size = 0.1, 0.5, 0.4
    for m in (10, 100):
        first = r_c**2 * size / (decay * np.sqrt(m))
        whole = 5 * m * first * second_layer_box(m, r_c, decay=decay)
        assert whole == pytest.approx(40 * m * size)


def test_the_bound_on_h_needs_the_sizes_of_the_output_weights():
    # h_j ≤ Σ c_k |w_k| is printed; with all c negative that is negative, and h_j is not below it.
    rng = np.random.default_rng(0)
    w = rng.normal(size=X.shape[1])
    c = -np.abs(rng.normal(size=X.shape[1]))
    units = np.maximum(np.sign(w) * X, 0.0)
    h = (units.T @ units / len(X)) @ (c * np.abs(w))
    assert (h > c @ np.abs(w)).all()
    assert (np.abs(h) <= np.abs(c) @ np.abs(w)).all()
