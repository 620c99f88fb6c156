"""Uncertainty: covariance of a refined fit, and standard errors of everything made of it.

To first order the fitted model at θ moves by E(θ) δ with the columns E = [P, C, S, θC, θS] of
`periodic.basis` and a random vector δ: trend, coefficients, and modes through the derivatives
∂[a cos(πkθ) + b sin(πkθ)]/∂k = π (b θC − a θS). The covariance of δ is the sandwich [1]_

    (JᵀJ + R)⁻¹ (JᵀΣJ + R) (JᵀJ + R)⁻¹,

J being the Jacobian of the weighted model and R a prior precision in units of 1/σ². White noise
makes it σ² (JᵀJ + R)⁻¹, without a prior the Cramér-Rao bound. Kept as a root F of the covariance,
F Fᵀ = cov δ: the standard error of a prediction, a component, an amplitude or a waveform is the
length of some rows of E times F. These are errors of the *function*; a new measurement scatters by
the noise on top of it.

References
----------
.. [1] White 1980, "A heteroskedasticity-consistent covariance matrix estimator", Econometrica 48,
   817.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.periodic.basis import Lines, line_columns
from robustfourier.periodic.semidefinite import pseudo_inverse, root

_CHUNK = 1024  # rows evaluated at once: few enough to stay in the processor's cache
_ROUNDING = 1e-14  # of the largest: what is smaller is none
_SQUARES = (1e-280, 1e300)  # sums of squares between these have lost nothing


@dataclass(frozen=True, eq=False)
class FitCovariance:
    """Covariance of bases and coefficients of a fit; what nobody asks for is not computed.

    Noise that is flat around each line has JᵀΣJ ≈ D½ (EᵀWE) D½ with the local noise power D of
    each column. Where columns are not orthogonal, as by day alone a daily cycle and the level are
    not, that is wrong, and EᵀWΣWE itself is needed.

    Parameters
    ----------
    gram : ndarray of shape (p + 4K, p + 4K)
        EᵀWE at the fitted modes.
    coefficients : ndarray of shape (p + 2K, q)
        Trend, cosines, sines.
    harmonics : ndarray of int of shape (K, F)
        ``modes = harmonics @ bases``.
    free : ndarray of bool of shape (F,)
        Bases that were fitted.
    noise : ndarray of shape (q,)
        Noise variance σ².
    relative_psd : ndarray of shape (K,)
        Noise power at each line over the mean noise variance.
    precision : ndarray of shape (p + 2K,), optional
        Prior precision of the coefficients in units of 1/σ².
    noise_gram : ndarray of shape (p + 4K, p + 4K), optional
        EᵀWΣWE over σ², in place of what `relative_psd` says of it.
    """

    gram: FloatArray
    coefficients: FloatArray
    harmonics: IntArray
    free: BoolArray
    noise: FloatArray
    relative_psd: FloatArray
    precision: FloatArray | None = None
    noise_gram: FloatArray | None = None

    @cached_property
    def _influence(self) -> tuple[FloatArray, ...]:
        """Return how moments move bases and coefficients, and the bases' covariance by output."""
        linear, n_lines = len(self.coefficients), len(self.harmonics)
        p = linear - 2 * n_lines
        gram, coloured = self.gram, self.noise_gram
        if coloured is None:
            scale = np.sqrt(np.concatenate([np.ones(p), np.tile(self.relative_psd, 4)]))
            coloured = gram * np.outer(scale, scale)
        if self.precision is not None:
            prior = np.zeros_like(gram)
            prior[np.arange(linear), np.arange(linear)] = self.precision
            gram, coloured = gram + prior, coloured + prior
        cosine, sine = self.coefficients[p : p + n_lines], self.coefficients[p + n_lines :]
        tangents = mode_tangents(cosine, sine, self.harmonics, p)[:, :, self.free]
        inverse = pseudo_inverse(gram[:linear, :linear])
        shift = inverse @ (gram[:linear] @ tangents)  # of coefficients with the bases
        # Rows of E orthogonalised against the linear part: what is left of each tangent.
        projected = tangents.swapaxes(1, 2).copy()
        projected[:, :, :linear] -= shift.swapaxes(1, 2)
        # Only ratios count. The bound is far below rounding, and one over it far from overflow.
        scaled = projected / np.maximum(self.noise, 1e-200)[:, None, None]
        to_base = pseudo_inverse(np.sum(scaled @ gram @ projected.swapaxes(1, 2), axis=0)) @ scaled
        half = to_base @ root(coloured)  # a square has no negative variances, however ill the fit
        from_each = half @ half.swapaxes(1, 2) * self.noise[:, None, None]
        return inverse, shift, coloured, to_base, from_each

    @cached_property
    def bases(self) -> FloatArray:
        """Covariance of the bases, zero for fixed ones, shape (F, F)."""
        base = np.zeros((len(self.free), len(self.free)))
        base[np.ix_(self.free, self.free)] = self._influence[-1].sum(axis=0)
        return base

    @cached_property
    def coefficients_and_cross(self) -> tuple[FloatArray, FloatArray]:
        """Covariance of the coefficients, (q, p + 2K, p + 2K), and of the bases with them.

        The second has shape (q, F, p + 2K). The uncertainty of the bases is included.
        """
        inverse, shift, coloured, to_base, from_each = self._influence
        n_outputs, linear, whole = len(self.noise), len(self.coefficients), from_each.sum(axis=0)
        coefficient = np.zeros((n_outputs, linear, linear))
        cross = np.zeros((n_outputs, len(self.free), linear))
        for o, noise in enumerate(self.noise):
            own = -shift[o] @ to_base[o]  # influence of E-moments on the coefficients
            own[:, :linear] += inverse
            # Part of the bases' covariance that comes from the noise of the other outputs.
            beside = shift[o] @ (whole - from_each[o])
            coefficient[o] = own @ coloured @ own.T * noise + beside @ shift[o].T
            cross[o][self.free] = to_base[o] @ coloured @ own.T * noise - beside.T
        return coefficient, cross

    def joint(self, output: int = 0) -> FloatArray:
        """Covariance of (bases, trend, cosine, sine) of one output, shape (F + p + 2K,) twice."""
        coefficient, cross = (part[output] for part in self.coefficients_and_cross)
        return np.block([[self.bases, cross], [cross.T, coefficient]])

    def root(self) -> FloatArray:
        """Return F with F Fᵀ = cov δ for each output, shape (q, p + 4K, r)."""
        linear, n_lines = len(self.coefficients), len(self.harmonics)
        p = linear - 2 * n_lines
        cosine, sine = self.coefficients[p : p + n_lines], self.coefficients[p + n_lines :]
        still = np.eye(p + 4 * n_lines, linear)
        tangents = mode_tangents(cosine, sine, self.harmonics, p)
        rows = (np.hstack([tangent, still]) for tangent in tangents)
        return np.stack([row @ root(self.joint(o)) for o, row in enumerate(rows)])


def mode_tangents(cosine: FloatArray, sine: FloatArray, harmonics: IntArray, p: int) -> FloatArray:
    """Return L with E L_o = ∂(model of output o)/∂bases, shape (q, p + 4K, F).

    E = [P, C, S, θC, θS]: a line a cos(πkθ) + b sin(πkθ) moves by π(b θC − a θS) with its mode.

    Parameters
    ----------
    cosine, sine : ndarray of shape (K, q)
        Coefficients of the lines.
    harmonics : ndarray of int of shape (K, F)
        ``modes = harmonics @ bases``.
    p : int
        Columns of the trend.
    """
    n_lines = len(harmonics)
    tangents = np.zeros((cosine.shape[1], p + 4 * n_lines, harmonics.shape[1]))
    tangents[:, p + 2 * n_lines : p + 3 * n_lines] = np.pi * sine.T[:, :, None] * harmonics
    tangents[:, p + 3 * n_lines :] = -np.pi * cosine.T[:, :, None] * harmonics
    return tangents


def mode_errors(harmonics: IntArray, base_covariance: FloatArray) -> FloatArray:
    """Return the standard errors of ``harmonics @ bases``, shape (K,)."""
    variance = np.sum((harmonics @ base_covariance) * harmonics, axis=1)
    return np.sqrt(np.maximum(variance, 0.0))


class LowRankErrors(NamedTuple):
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
    def of(cls, mode: FloatArray, factor: FloatArray) -> LowRankErrors:
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

    def without(self, columns: IntArray) -> LowRankErrors:
        """Return the same without the errors of some columns of the trend."""
        counts = ~np.isin(np.arange(self.factor.shape[1]), columns)
        return self._replace(factor=self.factor * counts[:, None])

    def columns(self, theta: FloatArray, trend: FloatArray) -> FloatArray:
        """Return [P, C, S, θ [C, S] sums], shape (n, p + 2K + k)."""
        waves, p = line_columns(theta, self.mode), trend.shape[1]
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
    return LowRankErrors.of(mode, factor).errors(theta, trend)


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
