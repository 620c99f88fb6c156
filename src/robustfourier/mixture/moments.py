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

import numpy as np
from numpy.typing import NDArray

from robustfourier.spectral.realmodes import RealModeSums

__all__ = ["Moments", "SpectralMoments", "direct_moments", "extended_columns"]

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
        self._trend = RealModeSums.of(theta, np.hstack([w * trend, w * t * trend]), top)
        self._trend_gram = (w * trend).T @ trend
        self._theta, self._weights, self._columns, self._top = theta, weights, trend, top
        self._set_values(y)

    def _set_values(self, y: FloatArray) -> None:
        w, t = self._weights[:, None], self._theta[:, None]
        self._value = RealModeSums.of(self._theta, np.hstack([w * y, w * t * y]), self._top)
        self._trend_cross = (w * self._columns).T @ y

    def with_values(self, y: FloatArray) -> SpectralMoments:
        """Return the moments of the same positions and trend with other values."""
        other = copy(self)
        other._set_values(y)
        return other

    def __call__(self, modes: FloatArray) -> Moments:
        """Return the moments at `modes`."""
        plain, once, twice = (self._pair_blocks(modes, power) for power in range(3))
        lines = np.block([[plain, once], [once, twice]])
        trend = _cosines_and_sines(self._trend.at(modes), self._columns.shape[1])
        cross = _cosines_and_sines(self._value.at(modes), self._value.grid.shape[1] // 2)
        gram = np.block([[self._trend_gram, trend.T], [trend, lines]])
        return Moments(gram, np.vstack([self._trend_cross, cross]))

    def _pair_blocks(self, modes: FloatArray, power: int) -> FloatArray:
        """Return the Gram matrix of [C, S] with weights w θ^power."""
        if power == 0:  # one reading serves all three powers
            differences = np.subtract.outer(modes, modes).ravel()
            sums = np.add.outer(modes, modes).ravel()
            read = self._weight.at(np.concatenate([differences, sums]))
            self._read = read.reshape(2, len(modes), len(modes), 3)
        minus, plus = self._read[0, :, :, power], self._read[1, :, :, power]
        cos_cos, sin_sin = 0.5 * (minus + plus).real, 0.5 * (minus - plus).real
        sin_cos = -0.5 * (plus + minus).imag
        return np.block([[cos_cos, sin_cos.T], [sin_cos, sin_sin]])


def _cosines_and_sines(sums: NDArray[np.complex128], n_columns: int) -> FloatArray:
    """Stack [C, S, θC, θS] moments from sums of columns and of θ times columns, (4K, c)."""
    plain, once = sums[:, :n_columns], sums[:, n_columns:]
    return np.vstack([plain.real, -plain.imag, once.real, -once.imag])
