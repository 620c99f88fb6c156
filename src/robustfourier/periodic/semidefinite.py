"""Symmetric positive semidefinite systems whose matrix may be singular.

A matrix that is safely regular is factored by Cholesky, which is ten times as fast as eigenvalues;
the others get the pseudo-inverse from their eigenvalues. Where both apply they agree to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtrs

from robustfourier.arrays import BoolArray, FloatArray

_SINGULAR = 1e-12  # part of the largest eigenvalue below which a direction counts as without data
REGULAR = 1e-7  # least pivot of a matrix with unit diagonal that surely has no such direction
_NOTHING = 1e-13  # part of the largest scale below which a column is rounding


@dataclass(frozen=True)
class Positive:
    """A symmetric positive semidefinite matrix, ready to be solved with.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = Positive.of(np.diag([4.0, 0.0]))
    >>> matrix.solve(np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """

    #: (m,): root of the diagonal; infinite where a column vanishes (a sine at the Nyquist mode of
    #: an even grid, and its like), which gets no coefficient
    scale: FloatArray
    #: (m, m): lower Cholesky factor of the matrix with unit diagonal, if that is safely regular
    factor: FloatArray | None
    pseudo: FloatArray | None  # (m, m): pseudo-inverse otherwise

    @classmethod
    def of(cls, matrix: FloatArray) -> Positive:
        """Factor a matrix."""
        if len(matrix) == 0:
            return cls(np.zeros(0), None, matrix)
        pseudo = pseudo_inverse_by_eigenvalues
        return cls.regular(matrix) or cls(_scale(matrix), None, pseudo(matrix))

    @classmethod
    def regular(cls, matrix: FloatArray) -> Positive | None:
        """Factor a matrix that is safely regular; None if it is not."""
        scale = _scale(matrix)
        scale[~matrix.any(axis=1)] = np.inf
        # The transpose is in the order of LAPACK, and the lower half is all that is read.
        unit = (np.ascontiguousarray(matrix) / (scale[:, None] * scale)).T
        unit[np.isinf(scale), np.isinf(scale)] = 1.0
        factor, failed = dpotrf(unit, lower=1, clean=0, overwrite_a=1)
        safe = failed == 0 and factor.diagonal().min() ** 2 > REGULAR
        return cls(scale, factor, None) if safe else None

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the solution for one or many right sides; directions without data get zero."""
        if self.factor is None:
            return np.asarray(self.inverse() @ right)
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        if right.size == 0:
            return np.zeros(right.shape)
        solution, _ = dpotrs(self.factor, right / scale, lower=1)
        return np.asarray(solution.reshape(right.shape) / scale)

    def half(self, right: FloatArray) -> FloatArray:
        """Return H with HᵀH = rightᵀ A⁻¹ right for right sides of shape (m, c), shape (m, c)."""
        if self.factor is None:
            return np.asarray(root(self.inverse()).T @ right)
        if right.flags.c_contiguous:  # whose transpose needs no copy
            scaled = right / self.scale[:, None]
            return np.asarray(dtrsm(1.0, self.factor, scaled.T, 1, 1, 1, overwrite_b=1).T)
        half, _ = dtrtrs(self.factor, (right.T / self.scale).T, lower=1, overwrite_b=1)
        return np.asarray(half)

    def inverse(self) -> FloatArray:
        """Return the (pseudo-)inverse."""
        if self.factor is None:
            assert self.pseudo is not None
            return self.pseudo
        lower, _ = dpotri(self.factor, lower=1)
        lower = lower / (self.scale[:, None] * self.scale)
        return np.asfortranarray(np.where(_above(len(lower)), lower.T, lower))


@lru_cache(maxsize=64)
def _above(size: int) -> BoolArray:
    """Mark what is above the diagonal."""
    return np.triu(np.ones((size, size), bool), 1)


def solve_positive(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve a symmetric positive semidefinite system; directions without data get zero.

    Lines that coincide, or a sine that vanishes at every sample, leave the matrix singular.
    """
    return Positive.of(matrix).solve(right)


def pseudo_inverse(matrix: FloatArray) -> FloatArray:
    """Pseudo-inverse of a symmetric positive semidefinite matrix after unit-diagonal scaling."""
    return Positive.of(matrix).inverse()


def pseudo_inverse_by_eigenvalues(matrix: FloatArray) -> FloatArray:
    """Return the same from eigenvalues, whatever the matrix; slow, the reference."""
    if len(matrix) == 0:
        return matrix
    scale = _scale(matrix)
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    keep = values > _SINGULAR * max(values[-1], np.finfo(float).tiny)
    vectors = vectors[:, keep] / scale[:, None]
    return np.asarray((vectors / values[keep]) @ vectors.T)


def root(covariance: FloatArray) -> FloatArray:
    """Return R with R Rᵀ = covariance; what rounding has made negative is zero."""
    if len(covariance):
        lower, failed = dpotrf(covariance, lower=1, clean=1)
        if failed == 0:
            return np.asarray(lower)
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _scale(matrix: FloatArray) -> FloatArray:
    """Root of the diagonal; 1 where that vanishes."""
    scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    return np.where(scale > _NOTHING * scale.max(initial=0.0), scale, 1.0)
