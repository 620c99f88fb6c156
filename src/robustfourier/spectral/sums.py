"""Fourier sums: all that least squares on sines and cosines needs of the data.

For modes up to M these are Σ w e^{-iπkθ} for k ≤ 2M and Σ w y e^{-iπkθ} for k ≤ M, at any sample
positions. They are additive: the sums of two chunks of data add up to the sums of both. The fast
way is a nonuniform FFT, the slow way the definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import fft, next_fast_len

from robustfourier.arrays import ComplexArray, FloatArray
from robustfourier.errors import InputError
from robustfourier.spectral.kernels import STEP, deal_out, spread, twist
from robustfourier.spectral.window import HALF, inverse_transform

# Of the matrix as which a long FFT is done: columns, turns, then rows. Each is short enough for the
# cache and several are done at once; 2·10⁶ points took a third of the time of one FFT. With a
# thousand rows 5·10⁴ points took a third longer, and 4·10⁶ a tenth.
_ROWS = 256
_MARGIN = 2 * HALF  # cells beyond either end; half a window and one for rounding would do
_AT_ONCE = 20_000  # points that are one FFT: as fast, and they fit the cache


@dataclass(frozen=True)
class FourierSums:
    """Additive Fourier sums of weighted samples.

    Parameters
    ----------
    weight : ndarray of complex, shape (2M + 1,)
        Σ w e^{-iπkθ} for k = 0 … 2M; the first is the total weight.
    value : ndarray of complex, shape (M + 1, q)
        Σ w y e^{-iπkθ} for k = 0 … M.
    squares : ndarray of shape (q,)
        Σ w y².

    Examples
    --------
    >>> import numpy as np
    >>> theta, y = np.linspace(-1, 1, 9), np.arange(9.0)[:, None]
    >>> whole = fourier_sums(theta, y, np.ones(9), max_mode=3)
    >>> parts = [fourier_sums(theta[s], y[s], np.ones(9)[s], max_mode=3)
    ...          for s in (slice(0, 4), slice(4, 9))]
    >>> bool(np.allclose((parts[0] + parts[1]).value, whole.value))
    True
    """

    weight: ComplexArray
    value: ComplexArray
    squares: FloatArray

    @property
    def max_mode(self) -> int:
        """Highest mode M."""
        return len(self.value) - 1

    @property
    def total(self) -> float:
        """Total weight."""
        return float(self.weight[0].real)

    def __add__(self, other: FourierSums) -> FourierSums:
        self._same_modes(other)
        return FourierSums(
            self.weight + other.weight, self.value + other.value, self.squares + other.squares
        )

    def __sub__(self, other: FourierSums) -> FourierSums:
        self._same_modes(other)
        return FourierSums(
            self.weight - other.weight, self.value - other.value, self.squares - other.squares
        )

    def _same_modes(self, other: FourierSums) -> None:
        if self.value.shape != other.value.shape:
            raise InputError(
                f"sums of shape {self.value.shape} and {other.value.shape} do not add up; "
                "compute both with the same max_mode and number of outputs"
            )


def fourier_sums(
    theta: FloatArray, y: FloatArray, weights: FloatArray, max_mode: int
) -> FourierSums:
    """Return the sums of all samples by nonuniform FFT.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    y : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    max_mode : int
        Highest mode M.
    """
    sums = SumsAt(theta, 2 * max_mode + 1)  # one plan for both: making it costs as much as using it
    value = sums(weights[:, None] * y)[: max_mode + 1]
    return FourierSums(sums(weights[:, None])[:, 0], value, weights @ y**2)


def direct_fourier_sums(
    theta: FloatArray, y: FloatArray, weights: FloatArray, max_mode: int
) -> FourierSums:
    """Return the same sums from their definition; slow, the reference for `fourier_sums`."""
    weight = direct_sums(theta, weights[:, None], np.arange(2 * max_mode + 1.0))[:, 0]
    value = direct_sums(theta, weights[:, None] * y, np.arange(max_mode + 1.0))
    return FourierSums(weight, value, weights @ y**2)


def weighted_sums(
    theta: FloatArray, columns: FloatArray, count: int, spacing: float = 1.0
) -> ComplexArray:
    """Return Σ u e^{-iπkθ} at k = 0, spacing, 2·spacing, … for each column u, shape (count, c).

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Positions in [-1, 1].
    columns : ndarray of shape (n, c)
        Real weights u, one column per sum.
    count : int
        Number of modes.
    spacing : float
        Distance of the modes, at most 1.
    """
    return SumsAt(theta, count, spacing)(columns)


class SumsAt:
    """`weighted_sums` for fixed positions and modes.

    Samples are spread with a smooth window on an even grid twice as dense as the modes need, an
    FFT sums the grid, and the window is divided out. Positions in ascending order are fastest.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Positions; those outside [-1, 1] are turned back by multiples of 2 / spacing.
    count : int
    spacing : float
    factor : ndarray of shape (d + 1,), optional
        Polynomial in 2θ² − 1, highest power first, by which all columns are multiplied.
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
        rows = 1 if 2 * count <= _AT_ONCE else _ROWS  # each of pairs of cells, four cells per mode
        self._shape = rows, next_fast_len(max(-(-2 * count // rows), _MARGIN))
        self._scale = rows * self._shape[1] * spacing  # cells per unit of θ

    def __call__(self, columns: FloatArray) -> ComplexArray:
        """Return Σ u e^{-iπkθ} for each column u, shape (count, c)."""
        sums = np.empty((columns.shape[1], self.count), dtype=np.complex128)
        for column, out in zip(columns.T, sums, strict=True):
            self.write(column, out.real, out.imag)
        return sums.T

    def write(self, column: FloatArray, real: FloatArray, imag: FloatArray) -> None:
        """Write real and imaginary parts of Σ u e^{-iπkθ} of one column u, shape (count,)."""
        size = 2 * self._shape[0] * self._shape[1]
        cells = np.zeros(size + 2 * _MARGIN)  # at each end as many more as half a window
        spread(self._theta, column, self._factor, self._scale, _MARGIN + size // 2, cells)
        inner = cells[_MARGIN : _MARGIN + size]  # the ends meet: the grid is a circle
        inner[-_MARGIN:] += cells[:_MARGIN]
        inner[:_MARGIN] += cells[_MARGIN + size :]
        # Two neighbours are one complex number: half as many points, dealt out afterwards.
        pairs = inner.view(np.complex128).reshape(self._shape)
        if len(pairs) > 1:
            pairs = fft(pairs, axis=0, overwrite_x=True)
            twist(pairs, *self._circle)
        pairs = fft(pairs, axis=1, overwrite_x=True)
        deal_out(pairs, *self._circle, inverse_transform(), real, imag)

    @cached_property
    def _circle(self) -> tuple[ComplexArray, ComplexArray]:
        """Turns e^{-2πij/L} of the L cells: at j = 0 … STEP − 1, and at all multiples of STEP."""
        turn = -2j * np.pi / (2.0 * self._shape[0] * self._shape[1])
        coarse = np.arange(0, 2 * self._shape[0] * self._shape[1] + 1, STEP)
        return np.exp(turn * np.arange(STEP)), np.exp(turn * coarse)


def direct_sums(theta: FloatArray, columns: FloatArray, modes: FloatArray) -> ComplexArray:
    """Return Σ u e^{-iπkθ} at any real modes from the definition, shape (len(modes), c)."""
    return np.exp(-1j * np.pi * np.outer(modes, theta)) @ columns
