"""Symmetric positive semidefinite systems whose matrix may be singular."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["pseudo_inverse", "solve_positive"]

FloatArray = NDArray[np.float64]


def solve_positive(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a symmetric positive semidefinite system; directions without data get zero.

    Lines that coincide, or a sine that vanishes at every sample, leave the matrix singular.
    """
    return pseudo_inverse(matrix) @ right


def pseudo_inverse(matrix: FloatArray) -> FloatArray:
    """Pseudo-inverse of a symmetric positive semidefinite matrix after unit-diagonal scaling."""
    if len(matrix) == 0:
        return matrix
    scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    scale = np.where(scale > 1e-13 * scale.max(initial=0.0), scale, 1.0)
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    keep = values > 1e-12 * max(values[-1], np.finfo(float).tiny)
    vectors = vectors[:, keep] / scale[:, None]
    return np.asarray((vectors / values[keep]) @ vectors.T)
