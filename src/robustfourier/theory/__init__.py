"""The paper's theory as functions: series, assumptions, predictions and bounds.

Vectors α, c⁰ and w have 4m+1 entries with the paper's index j at position j + 2m (section 2.1).
Wherever the paper's α could mean two things, α_j = E[f(θ) x_j] here, which is half the series
coefficient for j ≠ 0; with that reading Lemma 1 and Theorem 1 hold as printed.
"""

from robustfourier.theory.assumptions import Finding, check_assumption_1, check_assumption_2
from robustfourier.theory.bounds import (
    FeatureLearningBound,
    MainBound,
    alignment_orders,
    feature_learning_bound,
    gradient_bound,
    hoeffding_constant,
    link_variation,
    main_bound,
    rademacher_bound,
    second_layer_bound,
    second_layer_distance,
    second_layer_existence_bound,
    second_phase_step_size,
    step_size_for,
    success_probability,
)
from robustfourier.theory.chebyshev import (
    FourierSeries,
    alpha,
    chebyshev_coefficients,
    even_and_odd_parts,
    fourier_series,
    relu_coefficients,
    sine_link_coefficients,
    truncation_error,
    two_norm,
)
from robustfourier.theory.diagonal_growth import grown_amplitude, stopping_time
from robustfourier.theory.predicted_weights import (
    existing_output_weights,
    first_layer_box,
    largest_start,
    leakage,
    least_alpha,
    mirrored_signs_agree,
    predicted_diagonal,
    second_layer_box,
    theory_output_weights,
)

__all__ = [
    "FeatureLearningBound",
    "Finding",
    "FourierSeries",
    "MainBound",
    "alignment_orders",
    "alpha",
    "chebyshev_coefficients",
    "check_assumption_1",
    "check_assumption_2",
    "even_and_odd_parts",
    "existing_output_weights",
    "feature_learning_bound",
    "first_layer_box",
    "fourier_series",
    "gradient_bound",
    "grown_amplitude",
    "hoeffding_constant",
    "largest_start",
    "leakage",
    "least_alpha",
    "link_variation",
    "main_bound",
    "mirrored_signs_agree",
    "predicted_diagonal",
    "rademacher_bound",
    "relu_coefficients",
    "second_layer_bound",
    "second_layer_box",
    "second_layer_distance",
    "second_layer_existence_bound",
    "second_phase_step_size",
    "sine_link_coefficients",
    "step_size_for",
    "stopping_time",
    "success_probability",
    "theory_output_weights",
    "truncation_error",
    "two_norm",
]
