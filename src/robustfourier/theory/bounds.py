"""Right-hand sides of the paper's theorems, with every constant an argument.

Where the paper writes O(·) or ≲ there is a `constant` (1 by default): those functions give the
order of the bound, not a number that must hold. `feature_learning_bound` (Theorem 1) is the
exception: its only unspecified constant C can be computed from Hoeffding's inequality, so there
the right-hand side is a number that w^T must respect.

The arguments are the paper's symbols: `n_modes` m, `r_c`, `box` or `first_box` Q₁, `second_box` Q₂,
`decay` λ, `step_size` η, `batch_size` B, `n_samples` L = TB, `f_max` ‖f‖_∞, `alpha_max` ‖α‖_∞,
`noise_max` κ (the largest size of the bounded noise), `noise_variance` E[ε²],
`sub_exponential_norm` ν, `smoothness` r (continuous derivatives), `variation` Σ C(g) + Σ C(h),
`delta` δ. `n_steps` is T, or T′ ≥ 2 for the second layer, where `distance_squared` is ‖ĉ − c⁰‖₂²
and `gradient_noise` M′ = 2(5m Q₁Q₂ + ‖f‖_∞ + κ)·√(5m) Q₁.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from robustfourier.errors import InputError


@dataclass(frozen=True)
class FeatureLearningBound:
    """The terms of Theorem 1's right-hand side.

    Attributes
    ----------
    start : float
        (1−ηλ)^{T−1} ‖w¹ − η c⁰⊙α/2‖_∞, what is left of the initial weights.
    drift : float
        √5·(‖c⁰‖₂/r_c)·r_c² Q₁/λ, the network's own output in the gradient.
    noise_network : float
        The batch's scatter of the network's output.
    noise_data : float
        The batch's scatter of f and the noise.
    """

    start: float
    drift: float
    noise_network: float
    noise_data: float

    @property
    def total(self) -> float:
        """The bound on ‖w^T − prediction‖_∞."""
        return float(sum(astuple(self)))


@dataclass(frozen=True)
class MainBound:
    """The terms of the main theorem's right-hand side (up to constants).

    Attributes
    ----------
    optimisation, approximation, sampling, noise, complexity : float
        Second-layer SGD after T′ steps; truncated Fourier series; fluctuation of the noise's mean
        square; twice its expectation; Rademacher complexity.
    """

    optimisation: float
    approximation: float
    sampling: float
    noise: float
    complexity: float

    @property
    def total(self) -> float:
        """The order of the bound on the population risk."""
        return float(sum(astuple(self)))


def hoeffding_constant(n_modes: int, delta: float) -> float:
    """Return the C with which C·√(log m)·log(1/δ) is Hoeffding's factor √(2 log(2(4m+1)/δ)).

    Examples
    --------
    >>> hoeffding_constant(64, 0.001)
    0.364
    """
    _check_delta(delta)
    if n_modes < 2:
        raise InputError(f"n_modes={n_modes!r}: the bound has log m, so m must be at least 2.")
    exact = np.sqrt(2.0 * np.log(2.0 * (4 * n_modes + 1) / delta))
    return float(exact / (np.sqrt(np.log(n_modes)) * np.log(1.0 / delta)))


def gradient_bound(
    n_modes: int, r_c: float, box: float, *, f_max: float, noise_max: float
) -> float:
    """Return M with ‖Γ^{(i)}‖_∞ ≤ M: the largest deviation of one sample's gradient.

    The paper's M = 2(√(5m) r_c Q₁ + ‖f‖_∞ + κ) r_c/√m, with ‖c⁰‖₂ = r_c√(4+1/m) ≤ √5 r_c in place
    of its r_c.

    Examples
    --------
    >>> gradient_bound(100, 0.1, 0.01, f_max=1.0, noise_max=1.0)
    0.041
    """
    norm = np.sqrt(5.0) * r_c
    return float(
        2.0 * (np.sqrt(5.0 * n_modes) * norm * box + f_max + noise_max) * r_c / np.sqrt(n_modes)
    )


def feature_learning_bound(
    *,
    n_modes: int,
    r_c: float,
    box: float,
    decay: float,
    step_size: float,
    n_steps: int,
    batch_size: int,
    f_max: float,
    noise_max: float,
    delta: float,
    start: float,
    constant: float | None = None,
) -> FeatureLearningBound:
    """Theorem 1: bound on ‖w^T − (1−(1−ηλ)^T)/λ · c⁰⊙α/2‖_∞, with probability ≥ 1 − Tδ.

    `start` is ‖w¹ − η c⁰⊙α/2‖_∞ after the first step, `constant` the C of the noise terms; by
    default the one that Hoeffding's inequality gives.

    Examples
    --------
    >>> terms = feature_learning_bound(n_modes=64, r_c=0.1, box=0.01, decay=0.5, step_size=0.1,
    ...     n_steps=400, batch_size=4000, f_max=1.0, noise_max=0.5, delta=1e-5, start=0.0)
    >>> terms.drift, terms.noise_data
    (0.001, 0.00707)
    """
    _check_delta(delta)
    if not (decay > 0.0 and 0.0 < step_size * decay < 1.0):
        raise InputError(f"decay={decay!r}, step_size={step_size!r}: need 0 < ηλ < 1.")
    C = hoeffding_constant(n_modes, delta) if constant is None else constant
    scatter = C * np.sqrt(np.log(n_modes)) * np.log(1.0 / delta) / np.sqrt(batch_size)
    drift = np.sqrt(5.0) * (np.sqrt(5.0) * r_c) * r_c * box / decay
    return FeatureLearningBound(
        start=float((1.0 - step_size * decay) ** (n_steps - 1) * start),
        drift=float(drift),
        noise_network=float(2.0 * scatter * drift),
        noise_data=float(2.0 * scatter * (f_max + noise_max) * r_c / (np.sqrt(n_modes) * decay)),
    )


def success_probability(n_steps: int, delta: float) -> float:
    """Probability with which Theorem 1 holds: 1 − Tδ (the paper prints Tδ).

    Examples
    --------
    >>> success_probability(400, 1e-4)
    0.96
    """
    _check_delta(delta)
    return max(0.0, 1.0 - n_steps * delta)


def alignment_orders(
    *, n_modes: int, r_c: float, decay: float, alpha_max: float, f_max: float
) -> tuple[float, float]:
    """First corollary of Theorem 1: orders of the error and of the learnt feature.

    These are r_c²(‖α‖_∞ + ‖f‖_∞)/(λ√m), up to a constant, and r_c‖α‖_∞/(2λ√m): the signal wins as
    r_c → 0.

    Examples
    --------
    >>> alignment_orders(n_modes=100, r_c=0.1, decay=0.5, alpha_max=0.4, f_max=1.6)
    (0.004, 0.004)
    """
    scale = r_c / (decay * np.sqrt(n_modes))
    return float(scale * r_c * (alpha_max + f_max)), float(scale * alpha_max / 2.0)


def step_size_for(n_steps: int, decay: float) -> float:
    """Third corollary of Theorem 1: η = 2 log T/(λT), with which (1−ηλ)^T ≤ 1/T².

    Examples
    --------
    >>> step_size_for(400, 0.5)
    0.0599
    """
    step_size = 2.0 * np.log(n_steps) / (decay * n_steps) if n_steps > 1 else 0.0
    if not 0.0 < step_size * decay < 1.0:
        raise InputError(f"n_steps={n_steps!r}: η = 2 log T/(λT) must satisfy 0 < ηλ < 1.")
    return float(step_size)


def link_variation(degree: int, mode: float, slope_max: float) -> float:
    """Return C(g) ≤ |a|·max|g′|·(1 + 2 + … + p) for a polynomial link of degree p (section 3).

    Examples
    --------
    >>> link_variation(3, 5, 3.0)
    90.0
    """
    return float(abs(mode) * slope_max * degree * (degree + 1) / 2)


def second_layer_existence_bound(
    *,
    variation: float,
    n_modes: int,
    smoothness: int,
    n_samples: int,
    noise_variance: float,
    sub_exponential_norm: float,
    constant: float = 1.0,
) -> float:
    """Lemma 2: order of the empirical risk at the c̃ that exists.

    (Σ C(g) + Σ C(h))²/m^{2r} + √(ν/L) + 2E[ε²].

    Examples
    --------
    >>> second_layer_existence_bound(variation=90.0, n_modes=100, smoothness=2, n_samples=10**6,
    ...     noise_variance=0.16, sub_exponential_norm=0.3)
    0.3206
    """
    approximation = variation**2 / n_modes ** (2 * smoothness)
    sampling = np.sqrt(sub_exponential_norm / n_samples)
    return float(constant * (approximation + sampling) + 2.0 * noise_variance)


def second_layer_bound(
    *,
    n_steps: int,
    distance_squared: float,
    gradient_noise: float,
    delta: float,
    constant: float = 1.0,
) -> float:
    """Order of R̂(c^{T′+1}) − R̂(ĉ), the theorem on the second layer.

    M′‖ĉ−c⁰‖²/T′ + √(M′ log(1/δ) ‖ĉ−c⁰‖² log T′)/√T′.

    Examples
    --------
    >>> second_layer_bound(n_steps=10**4, distance_squared=1.0, gradient_noise=1.0, delta=0.1)
    0.0462
    """
    _check_delta(delta)
    fast = gradient_noise * distance_squared / n_steps
    slow = np.sqrt(
        gradient_noise * np.log(1.0 / delta) * distance_squared * np.log(n_steps) / n_steps
    )
    return float(constant * (fast + slow))


def second_phase_step_size(
    *,
    n_steps: int,
    distance_squared: float,
    gradient_noise: float,
    delta: float,
    first_box: float,
    constant: float = 1.0,
) -> float:
    """Return η′_t = min(1/(10 Q₁²), η′/√T′), η′ = √(‖ĉ−c⁰‖² / (M′ log(1/δ) log T′)), as printed.

    `constant` stands in front of η′, which the paper gives up to Θ(·).

    Examples
    --------
    >>> second_phase_step_size(n_steps=10**4, distance_squared=1.0, gradient_noise=1.0, delta=0.1,
    ...     first_box=0.1)
    0.00217
    """
    _check_delta(delta)
    scale = gradient_noise * np.log(1.0 / delta) * np.log(n_steps)
    free = constant * np.sqrt(distance_squared / scale) / np.sqrt(n_steps)
    return float(min(1.0 / (10.0 * first_box**2), free))


def second_layer_distance(
    n_modes: int, r_c: float, *, decay: float, constant: float = 1.0
) -> float:
    """Order of ‖ĉ − c⁰‖₂² ≤ λ²m²/r_c⁴ + r_c² (corollary on the second layer).

    Examples
    --------
    >>> second_layer_distance(10, 0.1, decay=0.5)
    250000.01
    """
    return float(constant * (decay**2 * n_modes**2 / r_c**4 + r_c**2))


def rademacher_bound(
    *,
    n_modes: int,
    first_box: float,
    second_box: float,
    n_samples: int,
    truncation: float,
    constant: float = 1.0,
) -> float:
    """Order of the Rademacher complexity of the losses, √(2τ)·Q₁Q₂m/√L (section 4.1).

    Examples
    --------
    >>> rademacher_bound(n_modes=10, first_box=0.1, second_box=10.0, n_samples=10**4,
    ...     truncation=2.0)
    0.2
    """
    width = first_box * second_box * n_modes
    return float(constant * np.sqrt(2.0 * truncation) * width / np.sqrt(n_samples))


def main_bound(
    *,
    n_modes: int,
    n_samples: int,
    second_phase: float,
    variation: float,
    smoothness: int,
    noise_variance: float,
    sub_exponential_norm: float,
    alpha_max: float,
    f_max: float,
    noise_max: float,
    constant: float = 1.0,
) -> MainBound:
    """Main theorem: order of the population risk R(w^T, c^{T′}), with probability 1 − (T+1)δ.

    `second_phase` is the value of `second_layer_bound`; `constant` stands in front of the terms
    that the paper gives up to O(·).

    Examples
    --------
    >>> main_bound(n_modes=10, n_samples=10**8, second_phase=0.01, variation=0.0, smoothness=1,
    ...     noise_variance=0.16, sub_exponential_norm=0.3, alpha_max=0.4, f_max=1.6,
    ...     noise_max=1.0).complexity
    0.00264
    """
    size = n_modes * alpha_max + f_max + noise_max
    return MainBound(
        optimisation=second_phase,
        approximation=float(constant * variation**2 / n_modes ** (2 * smoothness)),
        sampling=float(constant * np.sqrt(sub_exponential_norm / n_samples)),
        noise=2.0 * noise_variance,
        complexity=float(constant * size * alpha_max * n_modes / np.sqrt(n_samples)),
    )


def _check_delta(delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta={delta!r}: a probability between 0 and 1 is needed.")
