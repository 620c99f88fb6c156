"""Bands: standard errors of everything that is a sum of lines and trend.

To first order the fitted model at θ moves by ``E(θ) δ`` where E = [P, C, S, θC, θS] are the trend
columns, cosines, sines and their derivatives with respect to the modes, and δ is a random vector
with covariance F Fᵀ. The factor F is all that has to be kept: the standard error of a prediction,
of one component, of a mode's amplitude or of a waveform is the length of some rows of E times F.
These are errors of the *function*; a new measurement scatters by the noise on top of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.least_squares.lines import Lines, waves_at

_CHUNK = 1024  # rows evaluated at once: few enough to stay in the processor's cache
_ROUNDING = 1e-14  # of the largest: what is smaller is none
_SQUARES = (1e-280, 1e300)  # sums of squares between these have lost nothing


class Narrow(NamedTuple):
    """Fewer columns that tell the same errors as E and F.

    Modes are off by what few frequencies are off, so that the derivatives θC and θS need be known
    in the sums alone that these frequencies bring.

    Parameters
    ----------
    mode : ndarray of shape (K,)
    sums : ndarray of shape (2K, k)
        Columns of θ [C, S] that count.
    factor : ndarray of shape (q, p + 2K + k, r)
        F for [P, C, S, θ [C, S] sums], of each output.
    """

    mode: FloatArray
    sums: FloatArray
    factor: FloatArray

    @classmethod
    def of(cls, mode: FloatArray, factor: FloatArray) -> Narrow:
        """Return what is left of the factor of lines; parameters as of `prediction_errors`."""
        still = factor.shape[1] - 2 * len(mode)
        moving, sums = factor[:, still:], np.eye(2 * len(mode))
        if np.isfinite(moving).all():
            sums, size, _ = np.linalg.svd(np.concatenate(moving, axis=1), full_matrices=False)
            sums = sums[:, size > _ROUNDING * size.max(initial=0.0)]
        factor = np.concatenate([factor[:, :still], sums.T @ moving], axis=1)
        if factor.shape[2] > factor.shape[1]:  # as many columns as rows tell the same lengths
            factor = np.stack([np.asarray(np.linalg.qr(part.T, mode="r")).T for part in factor])
        return cls(mode, sums, factor)

    def without(self, count: int) -> Narrow:
        """Return the same without the errors of the first columns of the trend."""
        counts = np.arange(self.factor.shape[1]) >= count
        return self._replace(factor=self.factor * counts[:, None])

    def columns(self, theta: FloatArray, trend: FloatArray) -> FloatArray:
        """Return [P, C, S, θ [C, S] sums], shape (n, p + 2K + k)."""
        waves, p = waves_at(theta, self.mode), trend.shape[1]
        rows = np.empty((p + len(waves) + self.sums.shape[1], len(theta)))
        rows[:p], rows[p : p + len(waves)] = trend.T, waves
        np.multiply(self.sums.T @ waves, theta, out=rows[p + len(waves) :])
        return rows.T

    def errors(self, theta: FloatArray, trend: FloatArray) -> FloatArray:
        """Standard error of trend plus lines at each θ, shape (n, q)."""
        errors = np.zeros((len(theta), len(self.factor)))
        for start in range(0, len(theta), _CHUNK):
            rows = slice(start, start + _CHUNK)
            columns = self.columns(theta[rows], trend[rows])
            for output, part in enumerate(self.factor):
                errors[rows, output] = lengths(columns @ part)
        return errors


def prediction_errors(
    theta: FloatArray, trend: FloatArray, mode: FloatArray, factor: FloatArray
) -> FloatArray:
    """Standard error of trend plus lines at each θ, shape (n, q).

    Parameters
    ----------
    theta : ndarray of shape (n,)
    trend : ndarray of shape (n, p)
        Trend columns P at `theta`.
    mode : ndarray of shape (K,)
    factor : ndarray of shape (q, p + 4K, r)
        F for each output.

    Examples
    --------
    Cosine and sine each known to 0.1, the mode exactly: the error is 0.1 everywhere.

    >>> factor = np.zeros((1, 5, 2))
    >>> factor[0, 1, 0] = factor[0, 2, 1] = 0.1
    >>> theta = np.array([0.0, 0.3])
    >>> prediction_errors(theta, np.ones((2, 1)), np.array([4.0]), factor)
    array([[0.1],
           [0.1]])
    """
    return Narrow.of(mode, factor).errors(theta, trend)


def amplitude_errors(lines: Lines, factor: FloatArray, n_trend: int) -> FloatArray:
    """Standard error of each line's amplitude (first order), shape (K, q)."""
    return _errors_along(lines.cosine, lines.sine, lines, factor, n_trend)


def phase_errors(lines: Lines, factor: FloatArray, n_trend: int) -> FloatArray:
    """Standard error of each line's phase in radians (first order), shape (K, q)."""
    amplitude = np.maximum(lines.amplitude, np.finfo(float).tiny)
    errors = _errors_along(-lines.sine, lines.cosine, lines, factor, n_trend)
    # Beyond π a phase is unknown, and stays at that.
    return np.minimum(errors / amplitude, np.pi)


def _errors_along(
    cosine: FloatArray, sine: FloatArray, lines: Lines, factor: FloatArray, n_trend: int
) -> FloatArray:
    """Standard error of the coefficients in the direction (cosine, sine) of each line."""
    count = len(lines)
    length = np.maximum(np.hypot(cosine, sine), np.finfo(float).tiny)
    c, s = factor[:, n_trend : n_trend + count], factor[:, n_trend + count : n_trend + 2 * count]
    along = (cosine / length).T[:, :, None] * c + (sine / length).T[:, :, None] * s
    return lengths(along).T


def lengths(rows: FloatArray) -> FloatArray:
    """Euclidean length along the last axis, for entries whose squares overflow too.

    >>> lengths(np.array([[3e200, 4e200]]))
    array([5.e+200])
    """
    squares = np.einsum("...r,...r->...", rows, rows)
    if np.all((squares > _SQUARES[0]) & (squares < _SQUARES[1])):
        return np.asarray(np.sqrt(squares))
    largest = np.max(np.abs(rows), axis=-1, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    return np.asarray(scale * np.sqrt(np.sum((rows / scale[..., None]) ** 2, axis=-1)))
