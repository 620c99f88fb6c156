"""The boxes of Algorithm 1: after each step, w ∈ [−Q_1, Q_1] and c ∈ [−Q_2, Q_2].

Boxes are given as numbers, or follow from the theorem: Q_1 ≥ ‖c⁰⊙α‖_∞ / (2λ) (Theorem 1) and
Q_2 = 8λ√m / r_c² (section 4), with r_c = √m·‖c⁰‖_∞.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from robustfourier.errors import InputError
from robustfourier.network.architecture import OUTPUT
from robustfourier.network.weights import Weights
from robustfourier.theory.prediction import first_layer_box, second_layer_box

Box: TypeAlias = float | Literal["theorem"] | None


def check_box(name: str, box: Any) -> float:
    """Return `box` if it is a positive half-width, else raise `InputError`."""
    if isinstance(box, str) or not (np.isfinite(box) and box > 0):
        raise InputError(
            f"{name}={box!r} is not usable; give a positive half-width, 'theorem', or None for "
            "no projection"
        )
    return float(box)


def theorem_diagonal_box(weights: Weights, mean_abs_y: float, ridge: float) -> float:
    """Return Q_1 = ‖c⁰‖_∞·E|y| / (2λ), which Theorem 1 allows whatever the function is.

    The theorem asks for Q_1 ≥ ‖c⁰⊙α‖_∞/(2λ) with α_j = E[y x_j]; α is not known before the
    training, but |x_j| ≤ 1 bounds it by E|y|.

    `weights`: the start, whose output weights are c⁰. `mean_abs_y`: E|y|. `ridge`: λ, 0 < λ < 1.
    """
    _check_theorem_ridge(ridge)
    return first_layer_box(mean_abs_y, weights.arrays[OUTPUT], decay=ridge)


def theorem_output_box(weights: Weights, ridge: float) -> float:
    """Return Q_2 = 8λ√m / r_c² with r_c = √m·‖c⁰‖_∞, the constant of the O() taken as 1."""
    _check_theorem_ridge(ridge)
    m = weights.architecture.n_modes
    r_c = np.sqrt(m) * float(np.abs(weights.arrays[OUTPUT]).max())
    return second_layer_box(m, r_c, decay=ridge)


def _check_theorem_ridge(ridge: float) -> None:
    if not 0 < ridge < 1:
        raise InputError(
            f"ridge={ridge!r}: the theorem's boxes need 0 < λ < 1; give such a ridge, or numbers "
            "for the boxes"
        )
