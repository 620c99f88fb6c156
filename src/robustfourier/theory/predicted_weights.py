"""What layer-wise training does to the weights, according to Theorem 1 and section 3.

The population gradient of ½(ŷ−y)² in w_j splits with σ(sx) = (sx + |x|)/2 into

    −c_j α_j / 2  −  sign(w_j) c_j E[f |x_j|] / 2  +  O(r_c²) terms  +  λ w_j .

Assumption 2 makes the second term zero; `leakage` computes it, so that what happens without the
assumption can be predicted as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.errors import InputError
from robustfourier.network.embedding import embed
from robustfourier.theory.chebyshev import Function, midpoints


def theory_output_weights(
    n_modes: int, r_c: float, random_state: int | np.random.Generator | None = None
) -> FloatArray:
    """Draw c⁰: ±r_c/√m for j ≥ 0 and c⁰_{−j} = −c⁰_j (section 2.4).

    Its 2-norm is r_c·√(4 + 1/m), not r_c as the paper says.

    Examples
    --------
    >>> np.abs(theory_output_weights(4, 0.2, random_state=0)).max()
    np.float64(0.1)
    """
    if n_modes < 1 or not r_c > 0.0:
        raise InputError(f"n_modes={n_modes!r}, r_c={r_c!r}: both must be positive.")
    signs = np.random.default_rng(random_state).choice([-1.0, 1.0], 2 * n_modes + 1)
    half = r_c / np.sqrt(n_modes) * signs
    return np.concatenate([-half[:0:-1], half])


def predicted_diagonal(
    alpha: ArrayLike,
    output_weights: ArrayLike,
    *,
    decay: float,
    step_size: ArrayLike,
    n_steps: int,
    leak: ArrayLike | None = None,
    signs: ArrayLike | None = None,
) -> FloatArray:
    """Predict w^T = Σ_p η_p Π_{i>p}(1 − η_iλ) · c⁰⊙α/2 (Theorem 1 and its proof).

    With one step size η the sum is (1 − (1−ηλ)^T)/λ, as the theorem states it.

    Parameters
    ----------
    alpha, output_weights : array_like of shape (4m+1,)
        α_j = E[f x_j], and c⁰, fixed during the first phase.
    decay, n_steps : float, int
        λ, in (0, 1/η), and T.
    step_size : float or array_like of shape (T,)
        η, or η_p of each step where it varies.
    leak, signs : array_like of shape (4m+1,), optional
        E[f |x_j|] (see `leakage`) and sign(w_j): then w^T without Assumption 2, provided that the
        signs stay.

    Examples
    --------
    >>> predicted_diagonal([-0.4, 0, 0.4], [-0.1, 0.1, 0.1], decay=0.5, step_size=0.1, n_steps=999)
    array([0.04, 0.  , 0.04])
    """
    rates = np.asarray(step_size, dtype=np.float64)
    if not (decay > 0.0 and rates.size and (rates > 0.0).all() and (rates * decay < 1.0).all()):
        raise InputError(
            f"decay={decay!r}, step_size={step_size!r}: Theorem 1 needs λ > 0 and 0 < η < 1/λ."
        )
    if rates.ndim and rates.shape != (n_steps,):
        raise InputError(
            f"step_size has shape {rates.shape}; give one number, or n_steps={n_steps!r}"
        )
    drive = np.asarray(alpha, dtype=np.float64) / 2.0
    if leak is not None:
        side = np.ones_like(drive) if signs is None else np.asarray(signs, dtype=np.float64)
        drive = drive + side * np.asarray(leak, dtype=np.float64) / 2.0
    # Σ_p η_p Π_{i>p}(1 − η_iλ) telescopes to (1 − Π(1 − η_iλ))/λ, whatever the η_i are
    kept = np.log1p(-rates * decay).sum() if rates.ndim else n_steps * np.log1p(-rates * decay)
    growth = -np.expm1(kept) / decay
    return np.asarray(growth * np.asarray(output_weights, dtype=np.float64) * drive)


def leakage(f: Function, n_modes: int) -> FloatArray:
    """Return E[f(θ) |x_j|], which is zero under Assumption 2.

    |cos πkθ| is made of the modes 0, 2k, 4k, …, so an even mode in f leaks into the features at
    half its frequency: a false mode.

    Examples
    --------
    >>> leakage(lambda theta: np.cos(2 * np.pi * theta), 1).round(3) + 0.0  # 2/(3π) = 0.212
    array([-0.212,  0.212,  0.   ,  0.212, -0.212])
    """
    n_points = max(8192, 64 * n_modes)
    # Blocks keep the embedding of many points small.
    blocks = np.array_split(midpoints(n_points), max(1, n_points * n_modes // 1_000_000))
    total = sum(
        np.asarray(f(block)) @ np.abs(embed(block[:, None], n_modes, "symmetrised"))
        for block in blocks
    )
    return np.asarray(total / n_points, dtype=np.float64)


def first_layer_box(alpha: ArrayLike, output_weights: ArrayLike, *, decay: float) -> float:
    """Return the smallest box Q₁ = ‖c⁰⊙α‖_∞ / (2λ) that Theorem 1 allows.

    Examples
    --------
    >>> first_layer_box([-0.4, 0.0, 0.4], [-0.1, 0.1, 0.1], decay=0.5)
    0.04
    """
    product = np.asarray(alpha, dtype=np.float64) * np.asarray(output_weights, dtype=np.float64)
    return float(np.abs(product).max() / (2.0 * decay))


def second_layer_box(n_modes: int, r_c: float, *, decay: float, constant: float = 1.0) -> float:
    """Return the box Q₂ = constant · 8λ√m / r_c² of section 4.

    Examples
    --------
    >>> second_layer_box(100, 0.2, decay=0.5)
    1000.0
    """
    return float(constant * 8.0 * decay * np.sqrt(n_modes) / r_c**2)


def existing_output_weights(alpha: ArrayLike, diagonal: ArrayLike) -> FloatArray:
    """Return the c̃ of section 3 with which Σ c̃_j σ(w_j x_j) is the Fourier sum of f.

    x = σ(x) − σ(−x), a difference (the paper prints a sum), so the two units of a pair get
    opposite signs: c̃_j = 2α_j / w_j at ±j, where α_{−j} = −α_j and 2α_j is the series
    coefficient. This needs w_j and w_{−j} of one sign, and w_j ≠ 0 wherever α_j ≠ 0; c̃ is zero
    where α is.
    """
    alpha = np.asarray(alpha, dtype=np.float64)
    diagonal = np.asarray(diagonal, dtype=np.float64)
    # The constant x₀ = 1 has E[x₀²] = 1, so there α is the series coefficient itself.
    scale = np.where(np.arange(alpha.size) == alpha.size // 2, 1.0, 2.0)
    active = alpha != 0.0
    if np.any(diagonal[active] == 0.0):
        raise InputError("diagonal is zero at an index where alpha is not: no c̃ exists there.")
    weights = np.zeros_like(alpha)
    weights[active] = scale[active] * alpha[active] / diagonal[active]
    return weights


def least_alpha(alpha: ArrayLike, f_max: float, r_c: float) -> float:
    """Return 8 r_c (‖α‖_∞ + ‖f‖_∞), which every α_j ≠ 0 must exceed (main theorem, constant 1).

    Examples
    --------
    >>> least_alpha([-0.4, 0.0, 0.4], 1.6, 0.02)
    0.32
    """
    return float(8.0 * r_c * (np.abs(np.asarray(alpha, dtype=np.float64)).max() + f_max))


def largest_start(alpha: ArrayLike, f_max: float) -> float:
    """Return the largest r_c with which `least_alpha` stays below every α_j that is not zero.

    Examples
    --------
    >>> round(largest_start([-0.4, -0.15, 0.0, 0.15, 0.4], 1.6), 4)
    0.0094
    """
    sizes = np.abs(np.asarray(alpha, dtype=np.float64))
    present = sizes[sizes > 1e-9 * sizes.max()]
    return float(present.min() / (8.0 * (sizes.max() + f_max)))


def mirrored_signs_agree(diagonal: ArrayLike, *, where: ArrayLike | None = None) -> BoolArray:
    """Tell for j = 1 … 2m whether sign(w_j) = sign(w_{−j}) (second corollary of Theorem 1).

    With `where`, bool of shape (4m+1,), only at those indices, for example where α is not zero.

    Examples
    --------
    >>> mirrored_signs_agree([-0.1, 0.2, 0.0, 0.3, 0.1])
    array([ True, False])
    """
    diagonal = np.asarray(diagonal, dtype=np.float64)
    middle = diagonal.size // 2
    agree = np.sign(diagonal[middle + 1 :]) == np.sign(diagonal[middle - 1 :: -1][:middle])
    if where is None:
        return np.asarray(agree)
    return np.asarray(agree[np.asarray(where, dtype=bool)[middle + 1 :]])
