"""Nonuniform FFT: Fourier sums Σ u e^{-iπkθ} of samples at any positions θ, to about 1e-13 of Σ|u|.

Least squares on sines and cosines needs nothing else of the data. Two forms, both additive over
chunks of samples:

- `weighted_sums`: on an even grid of modes (type 1). Samples are spread with a Kaiser-Bessel window
  φ of 16 cells on a grid twice as dense as the modes need, an FFT sums the cells, and the window's
  transform is divided out [1]_ [2]_: Σ_j u_j e^{-iπkθ_j} = φ̂(k)⁻¹ FFT[Σ_j u_j φ(· − θ_j)](k).
- `RealModeSums`: at any real mode κ. S(κ) is band-limited in κ because θ lies in [-1, 1]; sampled
  every half mode and interpolated with the same window it is known everywhere, and so are its
  derivatives Σ u θ^j e^{-iπκθ} = (i/π)^j S^(j)(κ): one pass through the data, whatever is read.

`direct_sums` is the definition: slow, the reference in the tests, as is finufft where it is
installed (ours takes a fifth to two thirds of its time, for the precision that fits need).

References
----------
.. [1] Dutt & Rokhlin 1993, "Fast Fourier transforms for nonequispaced data", SIAM J. Sci. Comput.
   14, 1368.
.. [2] Barnett, Magland & af Klinteberg 2019, "A parallel nonuniform fast Fourier transform library
   based on an 'exponential of semicircle' kernel", SIAM J. Sci. Comput. 41, C479.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated

import numpy as np
from numpy.polynomial import chebyshev
from scipy.fft import fft, next_fast_len
from scipy.special import i0e

from robustfourier.arrays import (
    BoolArray,
    BoolVector,
    ComplexArray,
    ComplexMatrix,
    ComplexTensor,
    ComplexVector,
    FloatArray,
    Matrix,
    Vector,
)
from robustfourier.compiling import compiled
from robustfourier.errors import InputError

HALF = 8  # cells under either half of the window
WIDTH = 2 * HALF  # and under all of it; what aliases through it is below 1e-14
_SHAPE = 2.30 * WIDTH  # Kaiser-Bessel shape for a grid twice as dense as the band needs
_TERMS = 8  # of the even and of the odd part of each polynomial
_DEGREE = 15  # of `_inverse_transform`: exact to rounding
SPACING = 0.5  # modes between two samples of `RealModeSums`
_REACH = 18  # samples to each side that make Σ u p(θ) e^{-iπκθ} out of Σ u e^{-iπκθ}, to 2e-14
FARTHER = _REACH * SPACING  # modes that these are
# Of the matrix as which a long FFT is done: columns, twiddles, then rows. Each is short enough for
# the cache and several are done at once; 2·10⁶ points took a third of the time of one FFT. With a
# thousand rows 5·10⁴ points took a third longer, and 4·10⁶ a tenth.
_ROWS = 256
_MARGIN = 2 * HALF  # cells beyond either end; half a window and one for rounding would do
_ONE_FFT = 20_000  # points that are one FFT: as fast, and they fit the cache
_STEP = 1024  # of a table of twiddles: any is the product of a coarse and of a fine one
_TOGETHER = 8  # columns of a matrix, so that what the cache fetches is used at once
_FEW = 64  # rows whose 16 weights each stay in the nearest cache
_AT_ONCE = 1024  # sums that stay in the cache


# The window ---------------------------------------------------------------------------------------


def window(distance: FloatArray) -> FloatArray:
    """Kaiser-Bessel window I₀(β √(1 − (2x/16)²)) / I₀(β); zero beyond half its width."""
    inside = 1.0 - (2.0 * distance / WIDTH) ** 2
    root = np.sqrt(np.maximum(inside, 0.0))
    values = i0e(_SHAPE * root) * np.exp(_SHAPE * (root - 1.0)) / i0e(_SHAPE)
    return np.where(inside >= 0.0, values, 0.0)


def _window_polynomials() -> FloatArray:
    """Return polynomials of the window and two derivatives at its cells, (3, 2, _TERMS, HALF).

    Even and odd terms of polynomials in 2x − 1, highest power first, where x in [0, 1) is how far
    the first cell lies inside the window; the window is analytic there, so that they are exact to
    rounding. The cells of the other half are the mirror images.
    """
    nodes = np.cos(np.pi * (np.arange(48) + 0.5) / 48)
    values = window(0.5 * WIDTH - 0.5 * (nodes[:, None] + 1.0) - np.arange(HALF))
    fitted = chebyshev.chebfit(nodes, values, 2 * _TERMS - 1)
    monomials = np.eye(2 * _TERMS)  # of each Chebyshev polynomial, by T₂ = 2x·T₁ − T₀
    for n in range(2, 2 * _TERMS):
        monomials[n] = 2.0 * np.roll(monomials[n - 1], 1) - monomials[n - 2]
    table = np.empty((3, 2, _TERMS, HALF))
    for power in range(3):
        terms = monomials[: 2 * _TERMS - power].T @ chebyshev.chebder(fitted, power)
        table[power, 0, ::-1], table[power, 1, ::-1] = terms[0::2], terms[1::2]
    return table


@cache
def _inverse_transform() -> FloatArray:
    """Return one over the window's transform at π/2·x radians per cell, |x| ≤ 1.

    A polynomial in 2x² − 1, highest power first. It divides the window out again: of a column at
    θ = x before its sums are read between samples, and of sums at a part x of the highest mode
    that the grid can bear.
    """
    nodes = np.cos(np.pi * (np.arange(64) + 0.5) / 64)
    angle = 0.5 * np.pi * np.sqrt(0.5 * (nodes + 1.0))
    root = np.sqrt(_SHAPE**2 - (0.5 * WIDTH * angle) ** 2)
    decay = np.exp(root - _SHAPE) - np.exp(-root - _SHAPE)
    values = 1.0 / (WIDTH * decay / (2.0 * root * i0e(_SHAPE)))
    fitted = chebyshev.cheb2poly(chebyshev.chebfit(nodes, values, _DEGREE))
    return np.ascontiguousarray(fitted[::-1])


# Even grids of modes ------------------------------------------------------------------------------


def weighted_sums(
    theta: FloatArray, columns: FloatArray, count: int, spacing: float = 1.0
) -> ComplexArray:
    """Return Σ u e^{-iπkθ} at k = 0, spacing, 2·spacing, … for each column u, shape (count, c).

    `theta` (n,): positions; whole turns outside [-1, 1] are taken off. `columns` (n, c): real
    weights u, one column per sum. `count`: number of modes. `spacing`: distance of the modes, at
    most 1.
    """
    return NufftPlan(theta, count, spacing)(columns)


def direct_sums(theta: FloatArray, columns: FloatArray, modes: FloatArray) -> ComplexArray:
    """Return Σ u e^{-iπkθ} at any real modes from the definition, shape (len(modes), c)."""
    return np.exp(-1j * np.pi * np.outer(modes, theta)) @ columns


class NufftPlan:
    """`weighted_sums` for fixed positions and modes. Positions in ascending order are fastest.

    `factor` (d + 1,): polynomial in 2θ² − 1, highest power first, by which all columns are
    multiplied.
    """

    def __init__(
        self,
        theta: FloatArray,
        count: int,
        spacing: float = 1.0,
        factor: FloatArray | None = None,
    ) -> None:
        farthest = max(theta.max(initial=0.0), -theta.min(initial=0.0))
        if not np.isfinite(farthest):
            raise InputError("positions have to be finite; drop the rows without one")
        if farthest > 1.0:  # at these modes whole turns change nothing
            theta = theta - 2.0 / spacing * np.rint(0.5 * spacing * theta)
        self._theta, self.count = np.ascontiguousarray(theta), count
        self._factor = np.ones(1) if factor is None else factor
        rows = 1 if 2 * count <= _ONE_FFT else _ROWS  # each of pairs of cells, four cells per mode
        self._shape = rows, next_fast_len(max(-(-2 * count // rows), _MARGIN))
        self._scale = rows * self._shape[1] * spacing  # cells per unit of θ

    def __call__(self, columns: FloatArray) -> ComplexArray:
        """Return Σ u e^{-iπkθ} for each column u, shape (count, c)."""
        parts = np.empty((2, self.count))
        sums = np.empty((columns.shape[1], self.count), dtype=np.complex128)
        for column, out in zip(columns.T, sums, strict=True):
            self.write(column, *parts)
            out.real, out.imag = parts
        return sums.T

    def write(self, column: FloatArray, real: FloatArray, imag: FloatArray) -> None:
        """Write real and imaginary parts of Σ u e^{-iπkθ} of one column u, shape (count,)."""
        size = 2 * self._shape[0] * self._shape[1]
        cells = np.zeros(size + 2 * _MARGIN)  # at each end as many more as half a window
        column = np.ascontiguousarray(column)
        _spread(self._theta, column, self._factor, self._scale, _MARGIN + size // 2, cells)
        inner = cells[_MARGIN : _MARGIN + size]  # the ends meet: the grid is a circle
        inner[-_MARGIN:] += cells[:_MARGIN]
        inner[:_MARGIN] += cells[_MARGIN + size :]
        # Two neighbours are one complex number: half as many points, separated afterwards.
        pairs = inner.view(np.complex128).reshape(self._shape)
        if len(pairs) > 1:
            pairs = fft(pairs, axis=0, overwrite_x=True)
            _twiddle(pairs, *self._twiddles)
        pairs = fft(pairs, axis=1, overwrite_x=True)
        _separate(pairs, *self._twiddles, _inverse_transform(), real, imag)

    @cached_property
    def _twiddles(self) -> tuple[ComplexArray, ComplexArray]:
        """Return e^{-2πij/L} of the L cells: at j = 0 … _STEP − 1, and at multiples of _STEP."""
        turn = -2j * np.pi / (2.0 * self._shape[0] * self._shape[1])
        coarse = np.arange(0, 2 * self._shape[0] * self._shape[1] + 1, _STEP)
        return np.exp(turn * np.arange(_STEP)), np.exp(turn * coarse)


# Real modes ---------------------------------------------------------------------------------------


class RealModePlan:
    """Makes `RealModeSums` for fixed positions; what does not depend on the columns is done once.

    `max_mode`: largest mode that will be read.
    """

    def __init__(self, theta: FloatArray, max_mode: float) -> None:
        self.max_mode = float(max_mode)
        count = int(np.ceil(max_mode / SPACING)) + WIDTH + 1
        self._plan = NufftPlan(theta, count, SPACING, _inverse_transform())

    def __call__(self, columns: FloatArray) -> RealModeSums:
        """Sum `columns` of shape (n, c)."""
        parts = np.empty((2, columns.shape[1], self._plan.count + HALF))
        for column, real, imag in zip(columns.T, *parts, strict=True):
            self._plan.write(column, real[HALF:], imag[HALF:])
            real[:HALF], imag[:HALF] = real[2 * HALF : HALF : -1], -imag[2 * HALF : HALF : -1]
        return RealModeSums(parts, self.max_mode)


@dataclass(frozen=True)
class RealModeSums:
    """Sums S(κ) = Σ u e^{-iπκθ} of c columns u, to be read at any real κ with |κ| ≤ max_mode.

    Examples
    --------
    >>> import numpy as np
    >>> theta = np.array([-0.5, 0.25])
    >>> sums = RealModeSums.of(theta, np.ones((2, 1)), max_mode=10)
    >>> direct = np.exp(-1j * np.pi * 7.3 * theta).sum()
    >>> bool(abs(sums.at(np.array([7.3]))[0, 0] - direct) < 1e-11)
    True
    """

    #: (2, c, HALF + J): real and imaginary parts of the sums of u over the window's transform at κ
    #: = 0, ½, 1, …, from half a window below zero on
    parts: FloatArray
    max_mode: float  # largest |κ| that can be read

    @classmethod
    def of(cls, theta: FloatArray, columns: FloatArray, max_mode: float) -> RealModeSums:
        """Sum `columns` of shape (n, c) at positions `theta`."""
        return RealModePlan(theta, max_mode)(columns)

    @property
    def first(self) -> tuple[FloatArray, FloatArray]:
        """Real and imaginary parts of the first column, each of shape (HALF + J,)."""
        return self.parts[0, 0], self.parts[1, 0]

    def at(self, modes: FloatArray) -> ComplexArray:
        """Return the sums at real `modes` of either sign, shape (len(modes), c)."""
        return self.powers_at(modes, 1)[0]

    def powers_at(self, modes: FloatArray, powers: int = 3) -> ComplexArray:
        """Return Σ u θ^j e^{-iπκθ} for j < powers, which is 1 or 3, (powers, len(modes), c)."""
        modes = np.ascontiguousarray(modes, dtype=np.float64)
        sums = np.empty((powers, len(modes), self.parts.shape[1]), dtype=np.complex128)
        _read_columns(modes, self.parts[0], self.parts[1], sums)
        return sums

    def polynomials_at(
        self, modes: FloatArray, taps: FloatArray, odd: BoolArray, powers: int = 1
    ) -> ComplexArray:
        """Return Σ u p(θ) θ^j e^{-iπκθ} of the first column u, shape (powers, len(modes), f).

        Each polynomial p is given as a filter by `polynomial_taps`: multiplied by θ, sums become
        their slopes, and between samples twice as dense as the band needs, a short filter gives
        those, and the same for any smooth factor. It reads `FARTHER` modes beyond `modes`.
        """
        modes = np.ascontiguousarray(modes, dtype=np.float64)
        sums = np.empty((powers, len(modes), len(taps)), dtype=np.complex128)
        _read_filtered(modes, taps, odd, *self.first, sums)
        return sums

    def on_grid(self, spacing: float, count: int) -> ComplexArray:
        """Return the sums at κ = 0, spacing, 2·spacing, …, shape (count, c)."""
        if spacing in (2.0 * SPACING, 4.0 * SPACING):
            hop = int(spacing / SPACING)
            return self.on_grid(SPACING, hop * (count - 1) + 1)[::hop]
        if spacing not in (SPACING, 0.5 * SPACING, 0.25 * SPACING):
            return self.at(spacing * np.arange(count, dtype=np.float64))
        sums = np.empty((self.parts.shape[1], count), dtype=np.complex128)
        for real, imag, out in zip(*self.parts, sums, strict=True):
            _read_evenly(_grid_taps(spacing), real, imag, out)
        return sums.T

    def subtract_lines(
        self, modes: FloatArray, lines: FloatArray, z: ComplexArray, sums: ComplexArray
    ) -> None:
        """Subtract Σ u f e^{-iπkθ}, f = Re Σ z e^{iπκθ}, u the first column, from `sums` in place.

        `modes` (m,): where the sums are. `lines` (K,): modes κ of the lines. `z` (K, q): a − ib of
        a line a cos(πκθ) + b sin(πκθ).
        """
        _subtract_lines(modes, lines, z, *self.first, sums)


def polynomial_taps(polynomials: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return the filter of each polynomial, (f, _REACH + 1), and whether it is odd, (f,).

    Coefficients in θ by ascending power, shape (f, d + 1), those of even or those of odd powers
    alone.
    """
    made = [_taps(tuple(polynomial)) for polynomial in polynomials]
    taps = np.array([one for one, _ in made]).reshape(len(made), _REACH + 1)
    return taps, np.array([odd for _, odd in made], dtype=bool)


@cache
def _taps(polynomial: tuple[float, ...]) -> tuple[FloatArray, bool]:
    """Return the filter of one polynomial at 0, 1, … `_REACH` samples.

    Its transform is the polynomial on [-1, 1]; on the rest of [-2, 2] it may be anything, which
    lets it converge as fast as 5.8 to the power of the taps.
    """
    odd = any(polynomial[1::2])
    theta = np.sin(0.5 * np.pi * (np.arange(400) + 0.5) / 400) ** 2
    angle = np.pi * SPACING * np.outer(theta, np.arange(_REACH + 1))
    basis = 2.0 * np.sin(angle) if odd else 2.0 * np.cos(angle)
    basis[:, 0] *= 0.5
    wanted = np.polynomial.polynomial.polyval(theta, polynomial)
    taps = np.linalg.lstsq(basis, wanted, rcond=1e-15)[0]
    return np.ascontiguousarray(taps), odd


@cache
def _grid_taps(spacing: float) -> FloatArray:
    """Return the window at all places of modes so far apart between samples, (places, WIDTH)."""
    place = np.arange(0.0, 1.0, spacing / SPACING)[:, None]
    return window(place - np.ceil(place - HALF) - np.arange(WIDTH))


# Compiled loops -----------------------------------------------------------------------------------

# The window and its derivatives; as constants, which nothing that is written could change, several
# rows are done at once: spreading takes two thirds of the time.
_EVENS: Annotated[Matrix, _TERMS, HALF]
_ODDS: Annotated[Matrix, _TERMS, HALF]
_EVENS1: Annotated[Matrix, _TERMS, HALF]
_ODDS1: Annotated[Matrix, _TERMS, HALF]
_EVENS2: Annotated[Matrix, _TERMS, HALF]
_ODDS2: Annotated[Matrix, _TERMS, HALF]
(_EVENS, _ODDS), (_EVENS1, _ODDS1), (_EVENS2, _ODDS2) = (
    tuple(np.ascontiguousarray(part) for part in parts) for parts in _window_polynomials()
)
_FIRST, _SECOND = 4.0 / np.pi, -16.0 / np.pi**2  # from derivatives in the offset to powers of θ


@compiled
def _spread(
    theta: Vector, column: Vector, factor: Vector, scale: float, middle: int, cells: Vector
) -> None:
    """Add column times factor to the cells around each position, weighted by the window.

    θ = 0 lies on the cell `middle`, and θ = 1 `scale` cells farther; `factor` are the coefficients
    of a polynomial in 2θ² − 1.
    """
    first, x = np.empty(_FEW, np.int64), np.empty(_FEW)
    values, taps = np.empty(_FEW), np.empty((_FEW, 2 * HALF))
    for begin in range(0, len(theta), _FEW):
        rows, part = theta[begin : begin + _FEW], column[begin : begin + _FEW]
        for i in range(len(rows)):
            position = rows[i] * scale
            before = np.ceil(position - HALF)
            first[i], x[i] = int(before) + middle, 2.0 * (before - position) + (2.0 * HALF - 1.0)
            values[i] = part[i] * _polynomial(factor, 2.0 * rows[i] * rows[i] - 1.0)
        for i in range(len(rows)):
            square, value, turned = x[i] * x[i], values[i], values[i] * x[i]
            for w in range(HALF):
                even, odd = _EVENS[0, w], _ODDS[0, w]
                for n in range(1, _TERMS):
                    even, odd = even * square + _EVENS[n, w], odd * square + _ODDS[n, w]
                taps[i, w] = value * even + turned * odd
                taps[i, 2 * HALF - 1 - w] = value * even - turned * odd
        for i in range(len(rows)):
            for w in range(2 * HALF):
                cells[first[i] + w] += taps[i, w]


@compiled
def _polynomial(coefficients: Vector, x: float) -> float:
    """Return a polynomial at x; highest power first."""
    value = coefficients[0]
    for n in range(1, len(coefficients)):
        value = value * x + coefficients[n]
    return float(value)


@compiled
def _twiddle(matrix: ComplexMatrix, fine: ComplexVector, coarse: ComplexVector) -> None:
    """Turn row i and column j by 2ij of the circle: between the FFTs of columns and of rows."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            turn = 2 * i * j
            matrix[i, j] *= fine[turn % _STEP] * coarse[turn // _STEP]


@compiled
def _separate(
    matrix: ComplexMatrix,
    fine: ComplexVector,
    coarse: ComplexVector,
    inverse: Vector,
    real: Vector,
    imag: Vector,
) -> None:
    """Write the sums of a real grid from the FFT of its pairs, the window divided out.

    The FFT stands in `matrix` column by column. Even cells are the real parts of the pairs and odd
    ones the imaginary parts; the middle of the grid, not its first cell, is θ = 0.
    """
    rows, columns = matrix.shape
    size, factor, square = rows * columns, np.empty(_TOGETHER * rows), np.empty(_TOGETHER * rows)
    for start in range(0, -(-len(real) // rows), _TOGETHER):
        for i in range(len(factor)):  # the polynomials of all of them, term by term
            x = 2.0 / size * (rows * start + i)
            factor[i], square[i] = inverse[0], 2.0 * x * x - 1.0
        for n in range(1, len(inverse)):
            for i in range(len(factor)):
                factor[i] = factor[i] * square[i] + inverse[n]
        for row in range(rows):
            for c in range(min(_TOGETHER, columns - start)):
                k = row + rows * (start + c)
                if k >= len(real):
                    break
                one = matrix[row, start + c]
                other = columns - start - c  # of the mirror image, size - k
                two = matrix[rows - row if row else 0, other - 1 if row else other % columns]
                turn = fine[k % _STEP] * coarse[k // _STEP]
                both = 0.5 * (one + two.conjugate()) - 0.5j * turn * (one - two.conjugate())
                scale = -factor[row + rows * c] if k % 2 else factor[row + rows * c]
                real[k], imag[k] = scale * both.real, scale * both.imag


@compiled
def _read(modes: Vector, real: Vector, imag: Vector, sums: Matrix) -> None:
    """Write Σ u e^{-iπκθ} at all |κ| for one column: real parts in sums[:, 0], others in [:, 3].

    All modes at once: a call for each would take longer than what it does.
    """
    for m in range(len(modes)):
        position = abs(modes[m]) / SPACING
        first = np.ceil(position - HALF)
        x = 2.0 * (first - position) + (2.0 * HALF - 1.0)
        start, square = int(first) + HALF, x * x
        end, a, b = start + 2 * HALF - 1, 0.0, 0.0
        for w in range(HALF):
            even, odd = _EVENS[0, w], _ODDS[0, w]
            for n in range(1, _TERMS):
                even, odd = even * square + _EVENS[n, w], odd * square + _ODDS[n, w]
            near, far = even + odd * x, even - odd * x
            a += near * real[start + w] + far * real[end - w]
            b += near * imag[start + w] + far * imag[end - w]
        sums[m, 0], sums[m, 3] = a, b


@compiled
def read_powers(modes: Vector, real: Vector, imag: Vector, sums: Matrix) -> None:
    """Write Σ u θ^j e^{-iπκθ} for j = 0, 1, 2: real parts in sums[:, j], others in [:, 3 + j].

    The window is the same seen from either end: with even and odd parts of its polynomials half of
    them do, and samples at like distance from both ends are added and subtracted first.
    """
    for m in range(len(modes)):
        position = abs(modes[m]) / SPACING
        first = np.ceil(position - HALF)
        x = 2.0 * (first - position) + (2.0 * HALF - 1.0)
        start, square = int(first) + HALF, x * x
        end, a, b, c, d, e, f = start + 2 * HALF - 1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for w in range(HALF):
            even, odd, even1, odd1 = _EVENS[0, w], _ODDS[0, w], _EVENS1[0, w], _ODDS1[0, w]
            even2, odd2 = _EVENS2[0, w], _ODDS2[0, w]
            for n in range(1, _TERMS):
                even, odd = even * square + _EVENS[n, w], odd * square + _ODDS[n, w]
                even1, odd1 = even1 * square + _EVENS1[n, w], odd1 * square + _ODDS1[n, w]
                even2, odd2 = even2 * square + _EVENS2[n, w], odd2 * square + _ODDS2[n, w]
            odd, odd1, odd2 = odd * x, odd1 * x, odd2 * x
            both, apart = real[start + w] + real[end - w], real[start + w] - real[end - w]
            a += even * both + odd * apart
            c += even1 * apart + odd1 * both
            e += even2 * both + odd2 * apart
            both, apart = imag[start + w] + imag[end - w], imag[start + w] - imag[end - w]
            b += even * both + odd * apart
            d += even1 * apart + odd1 * both
            f += even2 * both + odd2 * apart
        sums[m, 0], sums[m, 1], sums[m, 2] = a, _FIRST * d, _SECOND * e
        sums[m, 3], sums[m, 4], sums[m, 5] = b, -_FIRST * c, _SECOND * f


@compiled
def _read_columns(modes: Vector, real: Matrix, imag: Matrix, sums: ComplexTensor) -> None:
    """Write the sums of all columns at all modes into `sums`, shape (powers, modes, columns)."""
    powers, n_modes, n_columns = sums.shape
    one = np.empty((n_modes, 6))
    for c in range(n_columns):
        if powers > 1:
            read_powers(modes, real[c], imag[c], one)
        else:
            _read(modes, real[c], imag[c], one)
        for m in range(n_modes):
            # Below zero the sums of real columns are the conjugates of their mirror images.
            sign = -1.0 if modes[m] < 0.0 else 1.0
            for power in range(powers):
                sums[power, m, c] = complex(one[m, power], sign * one[m, 3 + power])


@compiled
def _read_filtered(
    modes: Vector, taps: Matrix, odd: BoolVector, real: Vector, imag: Vector, sums: ComplexTensor
) -> None:
    """Write the sums of filtered samples of one column into `sums`, (powers, modes, filters).

    A sample g_k becomes Σ h_m g_{k+m}; h_m = h_{-m} is `taps` at m, or i times it, and h_{-m} its
    opposite, if `odd`.
    """
    powers, n_modes, n_filters = sums.shape
    n = taps.shape[1] - 1
    x, y = np.empty(2 * (HALF + n)), np.empty(2 * (HALF + n))
    both = np.empty((n_filters, 2 * n + 1))
    for c in range(n_filters):  # h at all places, from the lowest on
        for t in range(n + 1):
            both[c, n + t], both[c, n - t] = taps[c, t], -taps[c, t] if odd[c] and t else taps[c, t]
    a, b, one, place = np.zeros(3 * HALF), np.zeros(3 * HALF), np.empty((1, 6)), np.empty(1)
    for m in range(n_modes):
        position = abs(modes[m]) / SPACING
        first = np.ceil(position - HALF)
        for i in range(len(x)):  # below zero are the conjugates of the mirror images
            k = int(first) - n + i
            x[i], y[i] = real[HALF + abs(k)], imag[HALF + abs(k)] * (1.0 if k >= 0 else -1.0)
        sign = -1.0 if modes[m] < 0.0 else 1.0
        place[0] = SPACING * (position - first)  # as far behind a first sample of zero
        for c in range(n_filters):
            for i in range(2 * HALF):
                re = im = 0.0
                for t in range(2 * n + 1):
                    re += both[c, t] * x[i + t]
                    im += both[c, t] * y[i + t]
                a[HALF + i], b[HALF + i] = (-im, re) if odd[c] else (re, im)
            if powers > 1:
                read_powers(place, a, b, one)
            else:
                _read(place, a, b, one)
            for power in range(powers):
                sums[power, m, c] = complex(one[0, power], sign * one[0, 3 + power])


@compiled
def _read_evenly(taps: Matrix, real: Vector, imag: Vector, sums: ComplexVector) -> None:
    """Write the sums of one column into `sums`, at zero and so many places to each sample.

    The places repeat relative to the samples: `taps` has the window at each, (places, 2·HALF).
    """
    places = len(taps)
    a, b = np.empty(_AT_ONCE), np.empty(_AT_ONCE)
    for start in range(0, (len(sums) + places - 1) // places, _AT_ONCE):
        for place in range(places):
            count = (len(sums) - place + places - 1) // places
            size, first = min(_AT_ONCE, count - start), start + (place > 0)
            a[:], b[:] = 0.0, 0.0
            for w in range(0, 2 * HALF, 4):  # four at a time, so that less is fetched and stored
                p, q, r, s = (
                    taps[place, w],
                    taps[place, w + 1],
                    taps[place, w + 2],
                    taps[place, w + 3],
                )
                x, y = real[first + w :], imag[first + w :]
                for m in range(size):
                    a[m] += p * x[m] + q * x[m + 1] + r * x[m + 2] + s * x[m + 3]
                    b[m] += p * y[m] + q * y[m + 1] + r * y[m + 2] + s * y[m + 3]
            for m in range(size):
                sums[place + (start + m) * places] = complex(a[m], b[m])


@compiled
def _subtract_lines(
    modes: Vector, lines: Vector, z: ComplexMatrix, real: Vector, imag: Vector, sums: ComplexMatrix
) -> None:
    """Subtract the sums of w Re Σ z_k e^{iπkθ} at `modes` from `sums`, shape (modes, outputs)."""
    size = len(lines)
    pair, one = np.empty(2 * size), np.empty((2 * size, 6))
    for m in range(len(modes)):
        for k in range(size):
            pair[k], pair[size + k] = modes[m] - lines[k], modes[m] + lines[k]
        _read(pair, real, imag, one)
        for k in range(size):
            near = complex(one[k, 0], one[k, 3] if pair[k] >= 0.0 else -one[k, 3])
            far = complex(one[size + k, 0], one[size + k, 3])
            for o in range(sums.shape[1]):
                sums[m, o] -= 0.5 * (z[k, o] * near + z[k, o].conjugate() * far)
