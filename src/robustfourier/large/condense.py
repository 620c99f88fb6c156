"""Condensing: a hundred million rows to some hundred thousand with the same Fourier sums.

The record is cut into bins that are short against the shortest period. In each bin the rows are
replaced by the m nodes of the Gauss quadrature of their weights, with the values there of the
polynomial of degree m − 1 that fits them best. Let p_k be the polynomials orthonormal over the rows
of a bin. With nodes x_n, weights W_n and values Y_n = Σ_k p_k(x_n) Σ_i w_i y_i p_k(θ_i):

- Σ_n W_n g(x_n) = Σ_i w_i g(θ_i) for polynomials g up to degree 2m − 1, and Σ_n W_n Y_n g(x_n) =
  Σ_i w_i y_i g(θ_i) up to degree m − 1. Sines within a bin are such polynomials up to a remainder
  that `bins_for` makes small, so that all sums are kept.
- White noise of variance σ² becomes noise of variance σ²/W_n at the nodes, independent between
  them: Σ_i w_i p_j(θ_i) p_k(θ_i) is 0 or 1. A fit of the nodes with errors 1/√W_n is the fit of all
  rows.

All that is needed of the rows is Σ w T_l for l < 2m, Σ w y T_l for l < m, and Σ w y², with
Chebyshev polynomials T_l. These add over chunks of rows. A bin with fewer than m different times
keeps them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray, IntArray, Matrix, Vector
from robustfourier.compiling import compiled

NODES = 6  # m: fewer need more bins, more need higher moments; 4.3 rows per cycle in all
# Largest |sin − its polynomial| within a bin at the highest mode: a/2 to the m-th power over
# 2^(m-1) m!, for a phase of ±a. Noise enters by this part of a standard error, a pattern of its own
# strength by its square.
_REMAINDER = 0.005
_EMPTY = 1e-12  # of the mean weight: a node that stands for no row
_SMALLEST = 1e-9  # of a pivot: below, the rows of a bin lie on fewer places than m


def bins_for(max_mode: float) -> int:
    """Return how many bins keep the sums up to `max_mode`.

    >>> bins_for(50_000)
    71211
    """
    factorial = float(np.prod(np.arange(1.0, NODES + 1.0)))
    phase = (_REMAINDER * 2.0 ** (NODES - 1) * factorial) ** (1.0 / NODES)
    return int(np.ceil(np.pi * max(max_mode, 1.0) / phase))


@dataclass(frozen=True, eq=False)
class Nodes:
    """Rows that stand for many."""

    #: shape (n,); sorted positions, values, and the weight of the rows that each stands for
    theta: FloatArray
    values: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Sums:
    """Moments of the rows of all bins; sums of two parts of the rows add up."""

    first: int  # number of the first bin
    bins: int  # how many there are in [-1, 1]
    weight: FloatArray  # shape (B, 2m); σ w T_l(x), with x from −1 to 1 within the bin
    value: FloatArray  # shape (B, m); σ w y T_l(x)
    total: float  # Σ w and Σ w y²
    squares: float

    @classmethod
    def of(cls, theta: FloatArray, y: FloatArray, w: FloatArray, bins: int) -> Sums:
        """Add up rows, at least one."""
        place = (0.5 * bins) * (theta + 1.0)
        low, high = (int(np.clip(np.floor(at), 0, bins - 1)) for at in (place.min(), place.max()))
        weight, value = np.zeros((high - low + 1, 2 * NODES)), np.zeros((high - low + 1, NODES))
        _add(place, y, w, low, high, weight, value)
        return cls(low, bins, weight, value, float(w.sum()), float(w @ y**2))

    def __add__(self, other: Sums) -> Sums:
        first = min(self.first, other.first)
        last = max(self.first + len(self.weight), other.first + len(other.weight))
        whole = [np.zeros((last - first, 2 * NODES)), np.zeros((last - first, NODES))]
        for part in (self, other):
            at = slice(part.first - first, part.first - first + len(part.weight))
            whole[0][at] += part.weight
            whole[1][at] += part.value
        total, squares = self.total + other.total, self.squares + other.squares
        return Sums(first, self.bins, whole[0], whole[1], total, squares)

    def nodes(self) -> Nodes:
        """Replace the rows by quadrature nodes."""
        used = np.flatnonzero(self.weight[:, 0] > 0)
        gram, shifted = _gram(self.weight[used])
        root, rank = _cholesky(gram)
        theta, values, weights = [], [], []
        for r in np.unique(rank):
            at = used[rank == r]
            x, y, w = _quadrature(
                root[rank == r, :r, :r], shifted[rank == r, :r, :r], self.value[at, :r]
            )
            theta.append((2.0 * (at[:, None] + self.first) + 1.0 + x) / self.bins - 1.0)
            values.append(y)
            weights.append(w)
        columns = [np.concatenate([a.ravel() for a in part]) for part in (theta, values, weights)]
        order = np.argsort(columns[0], kind="stable")
        order = order[columns[2][order] > _EMPTY * float(np.mean(columns[2]))]
        return Nodes(np.clip(columns[0][order], -1.0, 1.0), columns[1][order], columns[2][order])


@compiled
def _add(
    place: Vector, y: Vector, w: Vector, low: int, high: int, weight: Matrix, value: Matrix
) -> None:
    """Add T_l(x) of all rows to the moments of their bins."""
    m = value.shape[1]
    for i in range(len(place)):
        b = min(max(int(place[i]), low), high)
        x = 2.0 * (place[i] - b) - 1.0
        before, now, u, v = 1.0, x, w[i], w[i] * y[i]
        row, other = weight[b - low], value[b - low]
        row[0] += u
        other[0] += v
        for l in range(1, 2 * m):  # noqa: E741 - the degree
            row[l] += u * now
            if l < m:
                other[l] += v * now
            before, now = now, 2.0 * x * now - before


def _gram(moments: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Σ w T_j T_k and Σ w x T_j T_k of each bin, (B, m, m); T_j T_k = (T_{j+k} + T_{|j−k|}) / 2."""
    j, k = np.indices((NODES, NODES))
    plus, minus = j + k, np.abs(j - k)
    gram = 0.5 * (moments[:, plus] + moments[:, minus])
    raised = moments[:, plus + 1] + moments[:, minus + 1]
    lowered = moments[:, np.abs(plus - 1)] + moments[:, np.abs(minus - 1)]
    return gram, 0.25 * (raised + lowered)


def _cholesky(gram: FloatArray) -> tuple[FloatArray, IntArray]:
    """Lower triangular roots of all Gram matrices, and how many pivots of each are positive."""
    m = gram.shape[1]
    root, rank = np.zeros_like(gram), np.full(len(gram), m)
    for j in range(m):
        pivot = gram[:, j, j] - np.sum(root[:, j, :j] ** 2, axis=1)
        small = pivot <= _SMALLEST * gram[:, j, j]
        rank = np.where(small & (rank == m), j, rank)
        root[:, j, j] = np.sqrt(np.where(small, 1.0, pivot))
        below = gram[:, j + 1 :, j] - np.einsum("bik,bk->bi", root[:, j + 1 :, :j], root[:, j, :j])
        root[:, j + 1 :, j] = below / root[:, j, j, None]
    return root, np.maximum(rank, 1)


def _quadrature(
    root: FloatArray, shifted: FloatArray, value: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes, values and weights of bins of one rank, each of shape (B, r).

    With Σ w T Tᵀ = L Lᵀ the orthonormal polynomials are L⁻¹ T. Multiplication by x is the matrix
    L⁻¹ (Σ w x T Tᵀ) L⁻ᵀ among them: its eigenvalues are the nodes, its eigenvectors √W_n p_k(x_n).
    """
    inverse = np.linalg.inv(root)
    jacobi = inverse @ shifted @ np.swapaxes(inverse, 1, 2)
    nodes, vectors = np.linalg.eigh(0.5 * (jacobi + np.swapaxes(jacobi, 1, 2)))
    height = np.maximum((root[:, 0, 0, None] * vectors[:, 0]) ** 2, np.finfo(float).tiny)
    along = np.einsum("bij,bj->bi", inverse, value)
    values = np.einsum("bkn,bk->bn", vectors, along) / np.sqrt(height) * np.sign(vectors[:, 0])
    return np.clip(nodes, -1.0, 1.0), values, height
