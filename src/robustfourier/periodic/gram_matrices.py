"""Moments: Gram matrix and cross products of trend and lines, all that least squares needs.

With weights W, values Y and the columns E = [P, C, S, θC, θS] of `periodic.basis`, the moments EᵀWE
and EᵀWY determine coefficients, gradients in the modes and covariances, so that nothing of the size
of the record is kept. Products of lines are sums and differences of their modes: with
S(κ) = Σ w e^{-iπκθ},

    Σ w cos(πkθ) cos(πlθ) = ½ Re [S(k − l) + S(k + l)],
    Σ w sin(πkθ) cos(πlθ) = −½ Im [S(k + l) + S(k − l)],

and powers of θ are derivatives of S. So are those with values and trend: Re and −Im of their own
sums. `direct_moments` adds everything up over the samples, `SpectralMoments` reads it from Fourier
sums at real modes, at a cost that does not depend on n:

    moments = SpectralMoments.of(theta, y, weights, trend, max_mode)
    moments(modes).gram, moments(modes).cross       # (p + 4K,) twice and (p + 4K, q)
    moments.residual_sums(grid, lines, trend_coefficients)  # Σ w r e^{-iπkθ} of what a fit leaves
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray, IndexArray, Matrix, Vector
from robustfourier.compiling import compiled
from robustfourier.errors import InputError
from robustfourier.periodic.basis import Lines, extended_columns
from robustfourier.periodic.nufft import (
    FARTHER,
    RealModePlan,
    RealModeSums,
    polynomial_taps,
    read_powers,
)

_CHUNK = 8192  # rows added up at once, so that memory is bounded
# Sums are known to 1e-13 of the weight: a sine at the Nyquist mode of an even grid vanishes.
_VANISHES = 1e-11


@dataclass(frozen=True)
class Moments:
    """Weighted second moments of the extended columns E = [P, C, S, θC, θS]."""

    #: (p + 4K, p + 4K): EᵀWE; its first p + 2K rows and columns are those of trend, cosines and
    #: sines
    gram: FloatArray
    cross: FloatArray  # (p + 4K, q): EᵀWY
    second: FloatArray  # (2K, p + q): [θ²C, θ²S]ᵀ W [P, Y], for second derivatives in the modes


def direct_moments(
    theta: FloatArray, y: FloatArray, weights: FloatArray, trend: FloatArray, modes: FloatArray
) -> Moments:
    """Add up the moments over blocks of rows, in memory proportional to p + 4K alone."""
    p, size = trend.shape[1], trend.shape[1] + 4 * len(modes)
    gram, cross = np.zeros((size, size)), np.zeros((size, y.shape[1]))
    second = np.zeros((2 * len(modes), p + y.shape[1]))
    for start in range(0, len(theta), _CHUNK):
        rows = slice(start, start + _CHUNK)
        columns = extended_columns(theta[rows], trend[rows], modes)
        weighted = weights[rows, None] * columns
        gram += weighted.T @ columns
        cross += weighted.T @ y[rows]
        once = theta[rows, None] * np.hstack([trend[rows], y[rows]])
        second += weighted[:, p + 2 * len(modes) :].T @ once
    return Moments(gram, cross, second)


class SpectralMoments:
    """The same moments from Fourier sums at real modes: one pass, then independent of n.

    `plan`: of the positions, up to two modes beyond the largest that will be asked for. `trend`:
    ``rows -> columns``: those of some rows, shape (m, p), so that all of them never stand in memory
    at once. The first column is a level: ones. `window`: sums of the weights, up to twice as far.
    `polynomials` (c, d + 1): coefficients in θ of the c trend columns after the first, whose sums
    follow from those of the weights; see `RealModeSums.polynomials_at`.

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
    ) -> None:
        polynomials = np.zeros((0, 1)) if polynomials is None else polynomials
        if len(polynomials) and window.max_mode < plan.max_mode + FARTHER:
            raise InputError(
                f"sums of the weights up to mode {window.max_mode:g} do not reach; sum them up to "
                f"{plan.max_mode + FARTHER:g}"
            )
        self._taps, self._odd = polynomial_taps(polynomials)
        self._plan, self._window, self._weights, self._trend = plan, window, weights, trend
        self._chosen = dict[bytes, _TrendPart]()
        first, p = 1 + len(polynomials), trend(slice(0)).shape[1]
        others = trend(slice(None))[:, first:] if p > first else np.zeros((len(weights), 0))
        self._others = plan(weights[:, None] * others)
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
        self._values = self._plan(self._weights[:, None] * y)
        self._trend_cross = np.zeros((len(self._trend_gram), y.shape[1]))
        for start in range(0, len(y), _CHUNK):
            rows = slice(start, start + _CHUNK)
            columns = self._trend(rows)
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
        modes = np.array(modes, dtype=np.float64)
        part, count = self._part(chosen), len(modes)
        p, trend_cross = len(part.gram), self._trend_cross
        # Sums of w [P, Y] θ^j for j = 0, 1, 2: real parts belong to θ^j C, the others to −θ^j S.
        sums = np.concatenate(
            [*part.sums(self._window, modes, 3), self._values.powers_at(modes)], axis=2
        )
        rows = np.stack([sums.real, -sums.imag], axis=1).reshape(6 * count, sums.shape[2])
        gram, cross = np.empty((p + 4 * count, p + 4 * count)), rows[: 4 * count, p:]
        gram[:p, :p], gram[p:, :p] = part.gram, rows[: 4 * count, :p]
        gram[:p, p:] = gram[p:, :p].T
        _line_gram(modes, *self._window.first, gram[p:, p:])
        moments = Moments(
            gram,
            np.vstack([trend_cross if chosen is None else trend_cross[chosen], cross]),
            rows[4 * count :],
        )
        _empty_vanishing(moments, p, count)
        return moments

    def residual_sums(
        self,
        modes: FloatArray,
        lines: Lines,
        trend: FloatArray,
        chosen: IndexArray | None = None,
    ) -> ComplexArray:
        """Return Σ w r e^{-iπkθ} at `modes` for what lines and trend leave over, shape (m, q).

        `trend` are the coefficients of all or the `chosen` trend columns, shape (p, q).
        """
        modes = np.ascontiguousarray(modes, dtype=np.float64)
        columns = np.concatenate(self._part(chosen).sums(self._window, modes, 1), axis=2)[0]
        sums = self._values.at(modes) - columns @ trend
        self._window.subtract_lines(modes, lines.mode, lines.cosine - 1j * lines.sine, sums)
        return sums

    def values_on_grid(self, spacing: float, count: int) -> ComplexArray:
        """Return the sums of the values at κ = 0, spacing, 2·spacing, …, shape (count, q)."""
        return self._values.on_grid(spacing, count)

    def _part(self, chosen: IndexArray | None) -> _TrendPart:
        """Return what there is of some of the trend columns, made when first asked for."""
        chosen = np.arange(len(self._trend_gram)) if chosen is None else chosen
        if (key := chosen.tobytes()) not in self._chosen:
            count, others = 1 + len(self._taps), self._others
            after, rest = chosen[(chosen > 0) & (chosen < count)] - 1, chosen[chosen >= count]
            if len(rest) < others.parts.shape[1]:
                others = replace(others, parts=np.ascontiguousarray(others.parts[:, rest - count]))
            self._chosen[key] = _TrendPart(
                self._trend_gram[np.ix_(chosen, chosen)],
                self._taps[after],
                self._odd[after],
                others,
            )
        return self._chosen[key]


@dataclass
class _TrendPart:
    """Of some of the trend columns: Gram matrix, filters of smooth ones, sums of the others."""

    gram: FloatArray
    taps: FloatArray
    odd: BoolArray
    others: RealModeSums

    def sums(self, window: RealModeSums, modes: FloatArray, powers: int) -> list[ComplexArray]:
        """Return the sums of level, smooth columns and others, each of shape (powers, m, c)."""
        sums = [window.powers_at(modes, powers)]
        if len(self.taps):
            sums.append(window.polynomials_at(modes, self.taps, self.odd, powers))
        if self.others.parts.shape[1]:
            sums.append(self.others.powers_at(modes, powers))
        return sums


def _empty_vanishing(moments: Moments, p: int, count: int) -> None:
    """Write zeros where a column vanishes on the samples, instead of the rounding of its sums."""
    squares = moments.gram.diagonal()[p : p + 2 * count].reshape(2, count)
    for i in np.flatnonzero(squares < _VANISHES * squares[::-1]):
        for column in (p + i, p + i + 2 * count):
            moments.gram[column] = moments.gram[:, column] = moments.cross[column] = 0.0
        moments.second[i] = 0.0


@compiled
def _line_gram(modes: Vector, real: Vector, imag: Vector, gram: Matrix) -> None:
    """Write the Gram matrix of [C, S, θC, θS] at all modes into `gram`, from the weights' sums."""
    count = len(modes)
    pair, sums = np.empty(2 * count), np.empty((2 * count, 6))
    for i in range(count):
        for j in range(i + 1):
            pair[2 * j], pair[2 * j + 1] = modes[i] - modes[j], modes[i] + modes[j]
        read_powers(pair[: 2 * i + 2], real, imag, sums)
        for j in range(i + 1):
            sign = -1.0 if pair[2 * j] < 0.0 else 1.0
            for a in range(2):
                for b in range(2):
                    near, far = sums[2 * j, a + b], sums[2 * j + 1, a + b]
                    turned, folded = sign * sums[2 * j, 3 + a + b], sums[2 * j + 1, 3 + a + b]
                    cos_i, cos_j = 2 * a * count + i, 2 * b * count + j
                    sin_i, sin_j = cos_i + count, cos_j + count
                    gram[cos_i, cos_j] = gram[cos_j, cos_i] = 0.5 * (near + far)
                    gram[sin_i, sin_j] = gram[sin_j, sin_i] = 0.5 * (near - far)
                    gram[sin_i, cos_j] = gram[cos_j, sin_i] = -0.5 * (folded + turned)
                    gram[cos_i, sin_j] = gram[sin_j, cos_i] = -0.5 * (folded - turned)
