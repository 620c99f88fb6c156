"""Covariance of refined lines: noise that may be coloured, carried through the linearised fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.least_squares.projection import Solved
from robustfourier.mixture.least_squares.semidefinite import pseudo_inverse

#: Of coefficients, (q, p + 2K, p + 2K), and of the bases with them, (q, F, p + 2K).
Covariances = tuple[FloatArray, FloatArray]


def covariances(
    fit: Solved,
    ties: IntArray,
    free: BoolArray,
    noise: FloatArray,
    colour: FloatArray,
) -> tuple[FloatArray, Callable[[], Covariances]]:
    """Sandwich covariance (JᵀJ)⁻¹ JᵀΣJ (JᵀJ)⁻¹ in blocks: bases; if asked coefficients and cross.

    Noise that is flat around each line has JᵀΣJ ≈ D½ (EᵀWE) D½ with the local noise power D of
    each column; for white noise this is σ²(JᵀJ)⁻¹, the Cramér-Rao value for Gaussian noise.
    """
    n_lines, linear, n_outputs = len(ties), fit.n_linear, len(noise)
    p = linear - 2 * n_lines
    root = np.sqrt(np.concatenate([np.ones(p), np.tile(colour, 4)]))
    coloured = fit.moments.gram * np.outer(root, root)
    cosine, sine = fit.coefficients[p : p + n_lines], fit.coefficients[p + n_lines :]
    gram, tangents = fit.moments.gram, mode_tangents(cosine, sine, ties, p)[:, :, free]
    inverse = pseudo_inverse(gram[:linear, :linear])
    shift = inverse @ (gram[:linear] @ tangents)  # of coefficients with the bases
    # Rows of E orthogonalised against the linear part: what is left of each tangent.
    projected = tangents.swapaxes(1, 2).copy()
    projected[:, :, :linear] -= shift.swapaxes(1, 2)
    # Only ratios count. The bound is far below rounding, and one over it far from overflow.
    scaled = projected / np.maximum(noise, 1e-200)[:, None, None]
    to_base = pseudo_inverse(np.sum(scaled @ gram @ projected.swapaxes(1, 2), axis=0)) @ scaled
    from_each = to_base @ coloured @ to_base.swapaxes(1, 2) * noise[:, None, None]
    base = np.zeros((len(free), len(free)))
    base[np.ix_(free, free)] = whole = from_each.sum(axis=0)

    def others() -> Covariances:
        coefficient = np.zeros((n_outputs, linear, linear))
        cross = np.zeros((n_outputs, len(free), linear))
        for o in range(n_outputs):
            own = -shift[o] @ to_base[o]  # influence of E-moments on the coefficients
            own[:, :linear] += inverse
            # Part of the bases' covariance that comes from the noise of the other outputs.
            beside = shift[o] @ (whole - from_each[o])
            coefficient[o] = own @ coloured @ own.T * noise[o] + beside @ shift[o].T
            cross[o][free] = to_base[o] @ coloured @ own.T * noise[o] - beside.T
        return coefficient, cross

    return base, others


def mode_tangents(cosine: FloatArray, sine: FloatArray, ties: IntArray, p: int) -> FloatArray:
    """Return L with E L_o = ∂(model of output o)/∂bases, shape (q, p + 4K, F).

    E = [P, C, S, θC, θS]: a line a cos(πkθ) + b sin(πkθ) moves by π(b θC − a θS) with its mode.

    Parameters
    ----------
    cosine, sine : ndarray of shape (K, q)
        Coefficients of the lines.
    ties : ndarray of int of shape (K, F)
        ``modes = ties @ bases``.
    p : int
        Columns of the trend.
    """
    n_lines = len(ties)
    tangents = np.zeros((cosine.shape[1], p + 4 * n_lines, ties.shape[1]))
    tangents[:, p + 2 * n_lines : p + 3 * n_lines] = np.pi * sine.T[:, :, None] * ties
    tangents[:, p + 3 * n_lines :] = -np.pi * cosine.T[:, :, None] * ties
    return tangents


def mode_errors(ties: IntArray, base_covariance: FloatArray) -> FloatArray:
    """Return the standard errors of ``ties @ bases``, shape (K,)."""
    variance = np.sum((ties @ base_covariance) * ties, axis=1)
    return np.sqrt(np.maximum(variance, 0.0))
