"""Fourier sums at real-valued modes, from one pass through the data.

S(κ) = Σ u e^{-iπκθ} is band-limited in κ because θ lies in [-1, 1]. Sampled every half mode and
interpolated with a Kaiser-Bessel window whose transform is divided out beforehand, it is known at
every real κ to about 1e-12 of Σ|u|. A search over frequencies then costs nothing that depends on
the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import i0e

from robustfourier.spectral.sums import weighted_sums

__all__ = ["RealModeSums"]

FloatArray = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

_WIDTH = 16  # samples under the window
_SHAPE = 2.30 * _WIDTH  # Kaiser-Bessel shape for samples twice as dense as the band needs
_SPACING = 0.5


@dataclass(frozen=True)
class RealModeSums:
    """Sums Σ u e^{-iπκθ} of c columns u, to be read at any real κ with |κ| ≤ max_mode.

    Parameters
    ----------
    grid : ndarray of complex, shape (J, c)
        Sums of u over the window's transform at κ = 0, ½, 1, …
    max_mode : float
        Largest |κ| that can be read.

    Examples
    --------
    >>> import numpy as np
    >>> theta = np.array([-0.5, 0.25])
    >>> sums = RealModeSums.of(theta, np.ones((2, 1)), max_mode=10)
    >>> direct = np.exp(-1j * np.pi * 7.3 * theta).sum()
    >>> bool(abs(sums.at(np.array([7.3]))[0, 0] - direct) < 1e-11)
    True
    """

    grid: ComplexArray
    max_mode: float

    @classmethod
    def of(cls, theta: FloatArray, columns: FloatArray, max_mode: float) -> RealModeSums:
        """Sum `columns` of shape (n, c) at positions `theta`."""
        count = int(np.ceil(max_mode / _SPACING)) + _WIDTH + 1
        spread = columns / _window_transform(np.pi * _SPACING * theta)[:, None]
        return cls(weighted_sums(theta, spread, count, _SPACING), float(max_mode))

    def at(self, modes: FloatArray) -> ComplexArray:
        """Return the sums at real `modes` of either sign, shape (len(modes), c)."""
        position = np.abs(modes) / _SPACING
        first = np.ceil(position - _WIDTH / 2).astype(np.intp)
        index = first[:, None] + np.arange(_WIDTH)
        window = _window(position[:, None] - index)
        values = self.grid[np.abs(index)]
        # Below zero the sums of real columns are the conjugates of their mirror images.
        values = np.where((index < 0)[:, :, None], values.conj(), values)
        sums = np.einsum("mw,mwc->mc", window, values)
        return np.where((np.asarray(modes) < 0)[:, None], sums.conj(), sums)


def _window(distance: FloatArray) -> FloatArray:
    """Kaiser-Bessel window, scaled to 1 at its centre; zero beyond half its width."""
    inside = 1.0 - (2.0 * distance / _WIDTH) ** 2
    root = np.sqrt(np.maximum(inside, 0.0))
    values = i0e(_SHAPE * root) * np.exp(_SHAPE * (root - 1.0)) / i0e(_SHAPE)
    return np.where(inside >= 0.0, values, 0.0)


def _window_transform(angle: FloatArray) -> FloatArray:
    """Fourier transform of the window at `angle` radians per sample."""
    root = np.sqrt(_SHAPE**2 - (0.5 * _WIDTH * angle) ** 2)
    decay = np.exp(root - _SHAPE) - np.exp(-root - _SHAPE)
    return _WIDTH * decay / (2.0 * root * i0e(_SHAPE))
