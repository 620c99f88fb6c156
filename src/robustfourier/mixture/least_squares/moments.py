"""Moments: all that least squares needs of the data at a given set of modes.

With trend columns P and the columns C = cos(πkθ), S = sin(πkθ) the refinement also needs θC and
θS, the derivatives with respect to the modes up to a factor. Let E = [P, C, S, θC, θS]; its
weighted Gram matrix EᵀWE and EᵀWY determine coefficients, gradients and covariances, so that
nothing of the size of the record is kept. `direct_moments` adds them up block by block,
`SpectralMoments` reads them from Fourier sums at real modes.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from robustfourier.arrays import ComplexArray, FloatArray, IndexArray
from robustfourier.spectral.realmodes import RealModeSums

__all__ = ["Moments", "SpectralMoments", "direct_moments", "extended_columns"]


_CHUNK = 8192  # rows added up at once, so that memory is bounded


@dataclass(frozen=True)
class Moments:
    """Weighted second moments of the extended columns E = [P, C, S, θC, θS].

    Parameters
    ----------
    gram : ndarray of shape (p + 4K, p + 4K)
        EᵀWE.
    cross : ndarray of shape (p + 4K, q)
        EᵀWY.
    bend : ndarray of shape (2K, P + q), optional
        [θ²C, θ²S]ᵀ W [P, Y], for second derivatives; P may have more columns than E.
    """

    gram: FloatArray
    cross: FloatArray
    bend: FloatArray | None = None


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
    p, size = trend.shape[1], trend.shape[1] + 4 * len(modes)
    gram, cross = np.zeros((size, size)), np.zeros((size, y.shape[1]))
    bend = np.zeros((2 * len(modes), p + y.shape[1]))
    for start in range(0, len(theta), _CHUNK):
        rows = slice(start, start + _CHUNK)
        columns = extended_columns(theta[rows], trend[rows], modes)
        weighted = weights[rows, None] * columns
        gram += weighted.T @ columns
        cross += weighted.T @ y[rows]
        once = theta[rows, None] * np.hstack([trend[rows], y[rows]])
        bend += weighted[:, p + 2 * len(modes) :].T @ once
    return Moments(gram, cross, bend)


class SpectralMoments:
    """The same moments from Fourier sums at real modes: one pass, then independent of n.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    y : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    trend : ndarray of shape (n, p)
    max_mode : float
        Largest mode that will be asked for.

    Examples
    --------
    >>> import numpy as np
    >>> theta, y = np.linspace(-1, 1, 50), np.arange(50.0)[:, None]
    >>> data = theta, y, np.ones(50), np.ones((50, 1))
    >>> fast = SpectralMoments(*data, max_mode=20)(np.array([3.3, 7.9]))
    >>> slow = direct_moments(*data, np.array([3.3, 7.9]))
    >>> bool(np.allclose(fast.gram, slow.gram)), bool(np.allclose(fast.cross, slow.cross))
    (True, True)
    """

    def __init__(
        self,
        theta: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        trend: FloatArray,
        max_mode: float,
    ) -> None:
        w, t = weights[:, None], theta[:, None]
        top = max_mode + 2.0
        self._weight = RealModeSums.of(theta, np.hstack([w, w * t, w * t**2]), 2.0 * top)
        self._trend = RealModeSums.of(theta, w * _powers(t, trend), top)
        self._trend_gram = (w * trend).T @ trend
        self._theta, self._weights, self._columns, self._top = theta, weights, trend, top
        self._set_values(y)

    def _set_values(self, y: FloatArray) -> None:
        w, t = self._weights[:, None], self._theta[:, None]
        self._value = RealModeSums.of(self._theta, w * _powers(t, y), self._top)
        self._trend_cross = (w * self._columns).T @ y

    def with_values(self, y: FloatArray) -> SpectralMoments:
        """Return the moments of the same positions and trend with other values."""
        other = copy(self)
        other._set_values(y)
        return other

    def __call__(self, modes: FloatArray) -> Moments:
        """Return the moments at `modes`."""
        p, count = self._columns.shape[1], len(modes)
        gram = np.empty((p + 4 * count, p + 4 * count))
        trend, bent = _cosines_and_sines(self._trend.at(modes), p)
        gram[:p, :p], gram[p:, :p], gram[:p, p:] = self._trend_gram, trend, trend.T
        self._fill_pairs(gram[p:, p:], modes)
        cross, bend = _cosines_and_sines(self._value.at(modes), self._value.grid.shape[1] // 3)
        return Moments(gram, np.vstack([self._trend_cross, cross]), np.hstack([bent, bend]))

    def _fill_pairs(self, gram: FloatArray, modes: FloatArray) -> None:
        """Write the Gram matrix of [C, S, θC, θS] into `gram`.

        Products of cosines and sines are those of the differences and of the sums of their modes.
        Either is needed for i ≤ j alone: S(k_j − k_i) is the conjugate of S(k_i − k_j).
        """
        count = len(modes)
        i, j = _pairs(count)
        read = self._weight.at(np.concatenate([modes[i] - modes[j], modes[i] + modes[j]]))
        minus, plus = 0.5 * read[: len(i)].T, 0.5 * read[len(i) :].T
        # Rows: the power of θ. Products of i with j in the upper, of j with i in the lower half.
        cos_cos, sin_sin, sin_cos = np.empty((3, 3, count, count))
        cos_cos[:, i, j] = cos_cos[:, j, i] = minus.real + plus.real
        sin_sin[:, i, j] = sin_sin[:, j, i] = minus.real - plus.real
        sin_cos[:, i, j], sin_cos[:, j, i] = -plus.imag - minus.imag, minus.imag - plus.imag
        for power, low, high in ((0, 0, 0), (1, 0, 2), (1, 2, 0), (2, 2, 2)):
            rows, columns = slice(low * count, None), slice(high * count, None)
            part = gram[rows, columns]
            part[:count, :count] = cos_cos[power]
            part[count : 2 * count, :count] = sin_cos[power]
            part[:count, count : 2 * count] = sin_cos[power].T
            part[count : 2 * count, count : 2 * count] = sin_sin[power]


@lru_cache(maxsize=16)
def _pairs(count: int) -> tuple[IndexArray, IndexArray]:
    """Indices i ≤ j of all pairs."""
    i, j = np.triu_indices(count)
    return i, j


def _powers(theta: FloatArray, columns: FloatArray) -> FloatArray:
    """Columns times 1, θ and θ²; θ of shape (n, 1)."""
    return np.hstack([columns, theta * columns, theta**2 * columns])


def _cosines_and_sines(sums: ComplexArray, n_columns: int) -> tuple[FloatArray, FloatArray]:
    """Stack moments of [C, S, θC, θS], (4K, c), and of [θ²C, θ²S], (2K, c), from those sums."""
    plain, once, twice = (sums[:, i * n_columns : (i + 1) * n_columns] for i in range(3))
    first = np.vstack([plain.real, -plain.imag, once.real, -once.imag])
    return first, np.vstack([twice.real, -twice.imag])
