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

from robustfourier.arrays import ComplexArray, FloatArray
from robustfourier.spectral.kernels import grid_power
from robustfourier.spectral.sums import SumsAt, direct_sums, weighted_sums

__all__ = ["PeriodogramGrid", "direct_power"]


# Below this share of its largest value the Gram determinant of cosine and sine counts as zero:
# near the Nyquist mode of an even grid, and near mode zero, the two columns are parallel.
_PARALLEL = 1e-3
_STRONG = 0.5  # height from which on a side peak of the window makes aliases worth a word
_CLOSE = 4.0  # modes


@dataclass(frozen=True)
class PeriodogramGrid:
    """Modes k = j·spacing, j = 0 … J − 1, for one set of positions and weights.

    Parameters
    ----------
    theta, weights : ndarray of shape (n,)
    weight_sums : ndarray of complex, shape (2J − 1,)
        Σ w e^{-iπkθ} on the grid, up to twice its highest mode.
    spacing : float
        Distance of the modes; a quarter resolves every peak.
    """

    theta: FloatArray
    weights: FloatArray
    weight_sums: ComplexArray
    spacing: float

    @classmethod
    def of(
        cls, theta: FloatArray, weights: FloatArray, max_mode: float, spacing: float = 0.25
    ) -> PeriodogramGrid:
        """Build the grid up to `max_mode`."""
        count = int(np.floor(max_mode / spacing)) + 1
        sums = weighted_sums(theta, weights[:, None], 2 * count - 1, spacing)[:, 0]
        return cls(theta, weights, sums, spacing)

    @property
    def modes(self) -> FloatArray:
        """The modes of the grid, shape (J,)."""
        return self.spacing * np.arange((len(self.weight_sums) + 1) // 2, dtype=np.float64)

    def data_sums(self, residuals: FloatArray) -> ComplexArray:
        """Return Σ w r e^{-iπkθ} on the grid, shape (J, q)."""
        return self._sums(self.weights[:, None] * residuals)

    @cached_property
    def _sums(self) -> SumsAt:
        return SumsAt(self.theta, len(self.modes), self.spacing)

    @cached_property
    def side_peaks(self) -> list[tuple[float, float]]:
        """(distance, height) of the strongest side peaks of the spectral window, at most three.

        The main peak, whose width is that of the record, is left out, and so is everything up to
        four modes: lines that close are neighbours, not aliases. Of peaks that close the highest
        counts.
        """
        height = np.abs(self.weight_sums[: len(self.modes)]) / self.weight_sums[0].real
        inner = height[1:-1]
        top = (inner >= height[:-2]) & (inner >= height[2:]) & (self.modes[1:-1] > _CLOSE)
        peaks = np.flatnonzero(top & (inner > _STRONG)) + 1
        apart: list[tuple[float, float]] = []
        for j in peaks[np.argsort(-height[peaks], kind="stable")]:
            if len(apart) < 3 and all(abs(self.modes[j] - d) > _CLOSE for d, _ in apart):
                apart.append((float(self.modes[j]), float(height[j])))
        return apart

    def power(self, data_sums: ComplexArray) -> FloatArray:
        """Return half the decrease of the sum of squares at each mode, shape (J, q)."""
        alone, mixed = self._inverse
        power = np.empty(data_sums.shape)
        grid_power(alone, mixed, data_sums, power)
        return power

    @cached_property
    def _inverse(self) -> tuple[FloatArray, ComplexArray]:
        """Inverse Gram matrix of cosine and sine: a and b of power = a|R|² − Re(b̄R²), (J,) each."""
        total, double = self.weight_sums[0].real, self.weight_sums[::2]
        determinant = total**2 - np.abs(double) ** 2
        full = determinant > _PARALLEL * total**2
        safe = np.where(full, determinant, 1.0)
        return np.where(full, total / safe, 1.0 / total), np.where(full, double / safe, 0.0)

    def amplitude(self, data_sums: ComplexArray) -> ComplexArray:
        """Return z of the least-squares fit Re(z e^{iπkθ}) at each mode, shape (J, q)."""
        total, double = self.weight_sums[0].real, self.weight_sums[::2, None]
        determinant = total**2 - np.abs(double) ** 2
        full = 2.0 * (total * data_sums - double * data_sums.conj())
        safe = np.where(determinant > _PARALLEL * total**2, determinant, 1.0)
        return np.where(determinant > _PARALLEL * total**2, full / safe, data_sums / total)


def direct_power(
    theta: FloatArray, residuals: FloatArray, weights: FloatArray, modes: FloatArray
) -> FloatArray:
    """Return the same power by a least-squares fit at each mode; slow, the reference."""
    root = np.sqrt(weights)[:, None]
    power = np.empty((len(modes), residuals.shape[1]))
    for j, sums in enumerate(direct_sums(theta, np.eye(len(theta)), modes)):
        design = root * np.column_stack([sums.real, sums.imag])
        fitted = design @ np.linalg.lstsq(design, root * residuals, rcond=None)[0]
        power[j] = 0.5 * np.sum(fitted**2, axis=0)
    return power
