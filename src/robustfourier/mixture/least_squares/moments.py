"""Moments: all that least squares needs of the data at a given set of modes.

With trend columns P and the columns C = cos(πkθ), S = sin(πkθ) the refinement also needs θC and
θS, the derivatives with respect to the modes up to a factor. Let E = [P, C, S, θC, θS]; its
weighted Gram matrix EᵀWE and EᵀWY determine coefficients, gradients and covariances, so that
nothing of the size of the record is kept. `direct_moments` adds them up block by block,
`SpectralMoments` reads them from Fourier sums at real modes.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from robustfourier.arrays import ComplexArray, FloatArray, IndexArray
from robustfourier.mixture.least_squares.lines import Lines, waves_at
from robustfourier.mixture.least_squares.newton import fill_moments
from robustfourier.spectral.kernels import read_around
from robustfourier.spectral.realmodes import PolynomialSums, RealModePlan, RealModeSums

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
    bend : ndarray of shape (2K, P + q)
        [θ²C, θ²S]ᵀ W [P, Y], for second derivatives; P may have more columns than E.
    """

    gram: FloatArray
    cross: FloatArray
    bend: FloatArray


def extended_columns(theta: FloatArray, trend: FloatArray, modes: FloatArray) -> FloatArray:
    """Return E = [P, C, S, θC, θS], shape (n, p + 4K)."""
    p, count = trend.shape[1], 2 * len(modes)
    rows = np.empty((p + 2 * count, len(theta)))
    rows[:p], rows[p : p + count] = trend.T, waves_at(theta, modes)
    np.multiply(rows[p : p + count], theta, out=rows[p + count :])
    return rows.T


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
    plan : RealModePlan
        Of the positions, up to two modes beyond the largest that will be asked for.
    y : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    trend : callable
        ``rows -> columns``: those of some rows, shape (m, p), so that all of them never stand in
        memory at once. The first column is a level: ones.
    window : RealModeSums
        Sums of the weights, up to twice as far.
    polynomials : ndarray of shape (c, d + 1), optional
        Coefficients in θ of the c trend columns after the first, whose sums follow from those of
        the weights; see `PolynomialSums`.
    often : ndarray of shape (m,), optional
        The modes 0, 1, …, m − 1 if sums are asked for there again and again: those of trend and
        values are kept, and given to whoever asks with this very array.

    Examples
    --------
    >>> import numpy as np
    >>> theta, y = np.linspace(-1, 1, 50), np.arange(50.0)[:, None]
    >>> data = theta, y, np.ones(50), np.ones((50, 1))
    >>> fast = SpectralMoments.of(*data, max_mode=20)(np.array([3.3, 7.9]))
    >>> slow = direct_moments(*data, np.array([3.3, 7.9]))
    >>> bool(np.allclose(fast.gram, slow.gram)), bool(np.allclose(fast.cross, slow.cross))
    (True, True)
    """

    def __init__(
        self,
        plan: RealModePlan,
        y: FloatArray,
        weights: FloatArray,
        trend: Callable[[slice], FloatArray],
        window: RealModeSums,
        polynomials: FloatArray | None = None,
        often: FloatArray | None = None,
    ) -> None:
        self._often, self._parts = often, dict[bytes, _Part]()
        # Most sets of lines are the last one with some more or some less; the Gram matrix of lines
        # does not depend on the values.
        self._last = np.zeros(0), np.zeros((0, 0))
        self._plan, self._weight, self._weights, self._columns = plan, window, weights, trend
        smooth = np.zeros((0, 1)) if polynomials is None else polynomials
        self._smooth = PolynomialSums.of(window, smooth, plan.max_mode)
        first, p = 1 + len(smooth), trend(slice(0)).shape[1]
        others = trend(slice(None))[:, first:] if p > first else np.zeros((len(weights), 0))
        self._steps = plan(weights[:, None] * others)
        self._trend_gram = np.zeros((p, p))
        self._set_values(y, self._trend_gram)

    @classmethod
    def of(
        cls,
        theta: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        trend: FloatArray,
        max_mode: float,
    ) -> SpectralMoments:
        """Sum everything for modes up to `max_mode`."""
        top = max_mode + 2.0
        window = RealModeSums.of(theta, weights[:, None], 2.0 * top)
        return cls(RealModePlan(theta, top), y, weights, lambda rows: trend[rows], window)

    def _set_values(self, y: FloatArray, gram: FloatArray | None = None) -> None:
        """Sum the values, alone and with the trend; add the Gram matrix of the trend to `gram`."""
        self._value = self._plan(self._weights[:, None] * y)
        self._values_often: ComplexArray | None = None
        self._trend_cross = np.zeros((len(self._trend_gram), y.shape[1]))
        for start in range(0, len(y), _CHUNK):
            rows = slice(start, start + _CHUNK)
            columns = self._columns(rows)
            weighted = self._weights[rows, None] * columns
            self._trend_cross += weighted.T @ y[rows]
            if gram is not None:
                gram += weighted.T @ columns

    def with_values(self, y: FloatArray) -> SpectralMoments:
        """Return the moments of the same positions and trend with other values."""
        other = copy(self)
        other._set_values(y)
        return other

    def __call__(self, modes: FloatArray, chosen: IndexArray | None = None) -> Moments:
        """Return the moments at `modes`, with all or the `chosen` trend columns."""
        chosen = np.arange(len(self._trend_gram)) if chosen is None else chosen
        p, count, q = len(chosen), len(modes), self._trend_cross.shape[1]
        gram, cross = np.empty((p + 4 * count, p + 4 * count)), np.empty((p + 4 * count, q))
        bend, part = np.empty((2 * count, p + q)), self._part(chosen)
        gram[:p, :p], cross[:p] = part.gram, self._trend_cross[chosen]
        sums = self._weight.parts, part.smooth.taps, part.smooth.odd, part.steps.parts
        modes = np.array(modes)
        if fill_moments(modes, *sums, self._value.parts, *self._last, gram, cross, bend):
            self._last = modes, gram
        return Moments(gram, cross, bend)

    def left_over(
        self, modes: FloatArray, lines: Lines, trend: FloatArray, chosen: IndexArray
    ) -> ComplexArray:
        """Return Σ w r e^{-iπkθ} at `modes` for what lines and trend leave over, shape (m, q)."""
        modes = np.ascontiguousarray(modes, dtype=np.float64)
        sums = self._value_sums(modes) - self._trend_sums(modes, chosen) @ trend
        z = lines.cosine - 1j * lines.sine
        self._weight.take_lines_out(modes, lines.mode, z, sums)
        return sums

    def values_every(self, spacing: float, count: int) -> ComplexArray:
        """Return the sums of the values at κ = 0, spacing, 2·spacing, …, shape (count, q)."""
        return self._value.every(spacing, count)

    def column_sums(
        self, lines: FloatArray, chosen: IndexArray
    ) -> tuple[ComplexArray, ComplexArray]:
        """Return the sums at `often` of trend, cosines, sines, (m, p + 2K), and values, (m, q)."""
        assert self._often is not None
        often, (real, imag), last = self._often, self._weight.parts, len(self._often) - 1
        around = np.empty((len(lines), 2 * last + 1), dtype=np.complex128)
        read_around(np.ascontiguousarray(lines, np.float64), real[0], imag[0], around)
        below, above = around[:, last::-1].conj().T, around[:, last:].T
        waves = [0.5 * (below + above), 0.5j * (above - below)]
        return np.hstack([self._trend_sums(often, chosen), *waves]), self._value_sums(often)

    def sums_of(
        self, mode: float, chosen: IndexArray, change: FloatArray, modes: FloatArray
    ) -> ComplexArray:
        """Return Σ w f e^{-iπkθ} at `modes`, f being [P, C, S, θC, θS] at one mode @ `change`."""
        trend, z = change[:-4], change[[-4, -2]] - 1j * change[[-3, -1]]
        near, far = (self._weight.powers_at(modes + side)[:2, :, 0] for side in (-mode, mode))
        return self._trend_sums(modes, chosen) @ trend + 0.5 * (near.T @ z + far.T @ z.conj())

    def _value_sums(self, modes: FloatArray) -> ComplexArray:
        """Return the sums of the values at `modes`, shape (m, q)."""
        if modes is not self._often:
            return self._value.at(modes)
        if self._values_often is None:
            self._values_often = self._value.at(modes)
        return self._values_often

    def _trend_sums(self, modes: FloatArray, chosen: IndexArray) -> ComplexArray:
        """Return the sums of the chosen trend columns at `modes`, shape (m, p)."""
        part = self._part(chosen)
        if modes is self._often and part.often is not None:
            return part.often
        sums = np.hstack([one.at(modes) for one in (self._weight, part.smooth, part.steps)])
        if modes is self._often:
            part.often = sums
        return sums

    def _part(self, chosen: IndexArray) -> _Part:
        """Return what there is of some of the trend columns, made when first asked for."""
        if (key := chosen.tobytes()) not in self._parts:
            count, smooth, steps = 1 + len(self._smooth.taps), self._smooth, self._steps
            others = chosen[chosen >= count] - count
            after = chosen[1 : len(chosen) - len(others)] - 1
            if len(others) < steps.parts.shape[1]:
                steps = replace(steps, parts=np.ascontiguousarray(steps.parts[:, others]))
            self._parts[key] = _Part(
                self._trend_gram[np.ix_(chosen, chosen)],
                replace(smooth, taps=smooth.taps[after], odd=smooth.odd[after]),
                steps,
            )
        return self._parts[key]


@dataclass
class _Part:
    """Of some of the trend columns: Gram matrix, sums of smooth ones and of steps, sums kept."""

    gram: FloatArray
    smooth: PolynomialSums
    steps: RealModeSums
    often: ComplexArray | None = None
