"""The least-squares periodogram of weighted samples at any positions, on a fine grid of modes.

The power at mode k is half the decrease of the weighted sum of squares when a cosine and a sine of
that mode are fitted, per output. For white noise its mean is the noise variance and its law
exponential, at any sampling. The grid keeps the sums of the weights, so that a new residual costs
one nonuniform FFT.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustfourier.arrays import (
    ComplexArray,
    ComplexMatrix,
    ComplexVector,
    FloatArray,
    Matrix,
)
from robustfourier.compiling import compiled, inlined
from robustfourier.periodic.nufft import RealModePlan, RealModeSums

# Below this share of its largest value the Gram determinant of cosine and sine counts as zero:
# near the Nyquist mode of an even grid, and near mode zero, the two columns are parallel.
_PARALLEL = 1e-3
_STRONG = 0.5  # height from which on a side peak of the window makes aliases worth a word
_CLOSE = 4.0  # modes


@dataclass(frozen=True, eq=False)
class PeriodogramGrid:
    """Modes k = j·spacing, j = 0 … J − 1, for one set of positions and weights."""

    plan: RealModePlan  # of the positions, up to the highest mode
    weights: FloatArray  # (n,)
    window: RealModeSums  # sums of the weights, up to twice the highest mode
    size: int  # number of modes J
    spacing: float  # distance of the modes; a quarter resolves every peak

    @classmethod
    def of(
        cls, theta: FloatArray, weights: FloatArray, max_mode: float, spacing: float = 0.25
    ) -> PeriodogramGrid:
        """Build the grid up to `max_mode`."""
        window = RealModeSums.of(theta, weights[:, None], 2.0 * max_mode)
        return cls.within(RealModePlan(theta, max_mode), weights, window, max_mode, spacing)

    @classmethod
    def within(
        cls,
        plan: RealModePlan,
        weights: FloatArray,
        window: RealModeSums,
        max_mode: float,
        spacing: float,
    ) -> PeriodogramGrid:
        """Build the grid up to `max_mode` on sums that reach at least as far."""
        return cls(plan, weights, window, int(np.floor(max_mode / spacing)) + 1, spacing)

    @cached_property
    def modes(self) -> FloatArray:
        """The modes of the grid, shape (J,)."""
        return self.spacing * np.arange(self.size, dtype=np.float64)

    def data_sums(self, residuals: FloatArray) -> ComplexArray:
        """Return Σ w r e^{-iπkθ} on the grid, shape (J, q)."""
        return self.plan(self.weights[:, None] * residuals).on_grid(self.spacing, self.size)

    @cached_property
    def weight_sums(self) -> ComplexArray:
        """Σ w e^{-iπkθ} on the grid and up to twice its highest mode, shape (2J − 1,)."""
        return self.window.on_grid(self.spacing, 2 * self.size - 1)[:, 0]

    @cached_property
    def total(self) -> float:
        """Total weight."""
        return float(self.weights.sum())

    @cached_property
    def side_peaks(self) -> list[tuple[float, float]]:
        """(distance, height) of the strongest side peaks of the spectral window, at most three.

        The main peak, whose width is that of the record, is left out, and so is everything up to
        four modes: lines that close are neighbours, not aliases. Of peaks that close the highest
        counts.
        """
        height = np.abs(self.weight_sums[: self.size]) / self.total
        strong = np.flatnonzero(height[1:-1] > _STRONG) + 1
        top = (height[strong] >= height[strong - 1]) & (height[strong] >= height[strong + 1])
        peaks = strong[top & (self.modes[strong] > _CLOSE)]
        apart: list[tuple[float, float]] = []
        for j in peaks[np.argsort(-height[peaks], kind="stable")]:
            if len(apart) < 3 and all(abs(self.modes[j] - d) > _CLOSE for d, _ in apart):
                apart.append((float(self.modes[j]), float(height[j])))
        return apart

    def power(self, data_sums: ComplexArray, every: int = 1) -> FloatArray:
        """Return half the decrease of the sum of squares at each or every so many modes, (J, q)."""
        power = np.empty(data_sums[::every].shape)
        double = self.weight_sums[:: 2 * every]
        _grid_power(double, self.total, _PARALLEL, data_sums[::every], power)
        return power


@inlined
def _numerator(b: float, c: float, total: float, parallel: float, x: float, y: float) -> float:
    """Return the numerator of the power of a data sum x + iy.

    The sum of the weights at twice the mode is b + ic. Where cosine and sine are nearly parallel,
    the power is that of one of them.
    """
    determinant = total * total - (b * b + c * c)
    square = x * x + y * y
    full = total * square - b * (x * x - y * y) - c * (2.0 * x * y)
    return full if determinant > parallel * total * total else square


@inlined
def _denominator(b: float, c: float, total: float, parallel: float) -> float:
    """Return the denominator of the same power."""
    determinant = total * total - (b * b + c * c)
    return determinant if determinant > parallel * total * total else total


@compiled
def _grid_power(
    double: ComplexVector, total: float, parallel: float, sums: ComplexMatrix, power: Matrix
) -> None:
    """Write half the decrease of the sum of squares for data sums of shape (J, q) into `power`."""
    for j in range(sums.shape[0]):
        for o in range(sums.shape[1]):
            b, c, x, y = double[j].real, double[j].imag, sums[j, o].real, sums[j, o].imag
            over = _numerator(b, c, total, parallel, x, y)
            power[j, o] = over / _denominator(b, c, total, parallel)
