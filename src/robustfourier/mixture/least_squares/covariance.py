"""Covariance of refined lines: noise that may be coloured, carried through the linearised fit."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.least_squares.projection import Solved
from robustfourier.mixture.least_squares.semidefinite import pseudo_inverse


def covariances(
    fit: Solved,
    ties: IntArray,
    free: BoolArray,
    noise: FloatArray,
    colour: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sandwich covariance (JᵀJ)⁻¹ JᵀΣJ (JᵀJ)⁻¹ in blocks: bases, coefficients, their cross.

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
    # Influence of E-moments on the coefficients at fixed bases, and of tangents on coefficients.
    direct = np.zeros((linear, len(gram)))
    direct[:, :linear] = inverse
    shift = np.einsum("ij,ojf->oif", inverse, np.einsum("je,oef->ojf", gram[:linear], tangents))
    sigma2 = np.maximum(noise, np.finfo(float).tiny)
    # Rows of E orthogonalised against the linear part: what is left of each tangent.
    projected = [tangents[o].T - shift[o].T @ np.eye(linear, len(gram)) for o in range(n_outputs)]
    normal = sum(projected[o] @ gram @ projected[o].T / sigma2[o] for o in range(n_outputs))
    normal = np.asarray(normal).reshape(int(free.sum()), int(free.sum()))
    solve = pseudo_inverse(normal)
    to_base = [solve @ projected[o] / sigma2[o] for o in range(n_outputs)]
    base = np.zeros((len(free), len(free)))
    base[np.ix_(free, free)] = sum(
        to_base[o] @ coloured @ to_base[o].T * noise[o] for o in range(n_outputs)
    )
    coefficient = np.zeros((n_outputs, linear, linear))
    cross = np.zeros((n_outputs, len(free), linear))
    for o in range(n_outputs):
        own = direct - shift[o] @ to_base[o]
        # Part of the bases' covariance that comes from the noise of the other outputs.
        mine = to_base[o] @ coloured @ to_base[o].T * noise[o]
        others = shift[o] @ (base[np.ix_(free, free)] - mine)
        coefficient[o] = own @ coloured @ own.T * noise[o] + others @ shift[o].T
        cross[o][free] = to_base[o] @ coloured @ own.T * noise[o] - others.T
    return base, coefficient, cross


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
    variance = np.einsum("kf,fg,kg->k", ties, base_covariance, ties)
    return np.sqrt(np.maximum(variance, 0.0))
