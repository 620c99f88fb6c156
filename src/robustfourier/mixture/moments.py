"""Moments: all that least squares needs of the data at a given set of modes.

With trend columns P and the columns C = cos(πkθ), S = sin(πkθ) the refinement also needs θC and
θS, the derivatives with respect to the modes up to a factor. Let E = [P, C, S, θC, θS]; its
weighted Gram matrix EᵀWE and EᵀWY determine coefficients, gradients and covariances, so that
nothing of the size of the record is kept. `direct_moments` adds them up block by block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Moments", "direct_moments", "extended_columns"]

FloatArray = NDArray[np.float64]

_CHUNK = 8192


@dataclass(frozen=True)
class Moments:
    """Weighted second moments of the extended columns E = [P, C, S, θC, θS].

    Parameters
    ----------
    gram : ndarray of shape (p + 4K, p + 4K)
        EᵀWE.
    cross : ndarray of shape (p + 4K, q)
        EᵀWY.
    """

    gram: FloatArray
    cross: FloatArray


def extended_columns(theta: FloatArray, trend: FloatArray, modes: FloatArray) -> FloatArray:
    """Return E = [P, C, S, θC, θS], shape (n, p + 4K)."""
    phase = np.pi * np.outer(theta, modes)
    cos, sin = np.cos(phase), np.sin(phase)
    return np.hstack([trend, cos, sin, theta[:, None] * cos, theta[:, None] * sin])


def direct_moments(
    theta: FloatArray, y: FloatArray, weights: FloatArray, trend: FloatArray, modes: FloatArray
) -> Moments:
    """Add up the moments over blocks of rows, in memory proportional to p + 4K alone.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    y : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    trend : ndarray of shape (n, p)
    modes : ndarray of shape (K,)
    """
    size = trend.shape[1] + 4 * len(modes)
    gram, cross = np.zeros((size, size)), np.zeros((size, y.shape[1]))
    for start in range(0, len(theta), _CHUNK):
        rows = slice(start, start + _CHUNK)
        columns = extended_columns(theta[rows], trend[rows], modes)
        weighted = weights[rows, None] * columns
        gram += weighted.T @ columns
        cross += weighted.T @ y[rows]
    return Moments(gram, cross)
