"""Fourier sums: all that least squares on sines and cosines needs of the data.

For modes up to M these are Σ w e^{-iπkθ} for k ≤ 2M and Σ w y e^{-iπkθ} for k ≤ M, at any sample
positions. They are additive: the sums of two chunks of data add up to the sums of both. The fast
way is a nonuniform FFT (finufft), the slow way the definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import finufft
import numpy as np

from robustfourier.arrays import ComplexArray, FloatArray
from robustfourier.errors import InputError
from robustfourier.spectral.kernels import turns

__all__ = [
    "FourierSums",
    "SumsAt",
    "direct_fourier_sums",
    "direct_sums",
    "fourier_sums",
    "weighted_sums",
]


# Relative to the sum of magnitudes; the nonuniform FFT reaches about 1e-14 in double precision.
PRECISION = 1e-13


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
    """`weighted_sums` for fixed positions and modes; sorting the positions is done once.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    count : int
    spacing : float
    """

    def __init__(self, theta: FloatArray, count: int, spacing: float = 1.0) -> None:
        self._theta, self._count, self._spacing = theta, count, spacing

    def __call__(self, columns: FloatArray) -> ComplexArray:
        """Return Σ u e^{-iπkθ} for each column u, shape (count, c)."""
        plan, turn = self._plan
        sums = np.empty((columns.shape[1], self._count), dtype=np.complex128)
        for column, out in zip(columns.T, sums, strict=True):
            plan.execute(column * turn, out=out)
        return sums.T

    @cached_property
    def _plan(self) -> tuple[finufft.Plan, ComplexArray]:
        """Plan for `count` modes around zero, and the factors that bring 0 … count − 1 there."""
        # One thread: the order of additions, and so every bit, is then always the same.
        plan = finufft.Plan(1, (self._count,), 1, PRECISION, isign=-1, nthreads=1)
        plan.setpts(np.pi * self._spacing * self._theta)
        turn = np.empty(len(self._theta), dtype=np.complex128)
        turns(self._theta, -self._spacing * (self._count // 2), turn.real, turn.imag)
        return plan, turn


def direct_sums(theta: FloatArray, columns: FloatArray, modes: FloatArray) -> ComplexArray:
    """Return Σ u e^{-iπkθ} at any real modes from the definition, shape (len(modes), c)."""
    return np.exp(-1j * np.pi * np.outer(modes, theta)) @ columns
