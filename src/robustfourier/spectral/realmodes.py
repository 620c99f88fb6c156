"""Fourier sums at real-valued modes, from one pass through the data.

S(κ) = Σ u e^{-iπκθ} is band-limited in κ because θ lies in [-1, 1]. Sampled every half mode and
interpolated with a Kaiser-Bessel window whose transform is divided out beforehand, it is known at
every real κ to about 1e-12 of Σ|u|. A search over frequencies then costs nothing that depends on
the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import i0e

from robustfourier.arrays import ComplexArray, FloatArray
from robustfourier.spectral.sums import weighted_sums

__all__ = ["RealModeSums"]


_WIDTH = 16  # samples under the window
_SHAPE = 2.30 * _WIDTH  # Kaiser-Bessel shape for samples twice as dense as the band needs
_SPACING = 0.5  # modes between samples: twice as dense as a band of one mode needs
_DEGREE = 15  # of the polynomials that stand for the window between two samples
_CHUNK = 2048  # modes read at once, so that what they touch stays in the cache


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
        modes = np.asarray(modes, dtype=np.float64)
        sums = np.empty((len(modes), self.grid.shape[1]), dtype=np.complex128)
        for start in range(0, len(modes), _CHUNK):
            self._read(modes[start : start + _CHUNK], sums[start : start + _CHUNK])
        return sums

    def _read(self, modes: FloatArray, sums: ComplexArray) -> None:
        """Write the sums at a few modes into `sums`."""
        position = np.abs(modes) / _SPACING
        first = np.ceil(position - _WIDTH / 2)
        # Between two samples the window's values at all of them are polynomials in the offset.
        offset = 2.0 * (first - position) + (_WIDTH - 1.0)
        window = np.vander(offset, _DEGREE + 1, increasing=True) @ _window_polynomials()
        place = first.astype(np.intp) + _WIDTH // 2
        below = modes < 0
        for c, (real, imag) in enumerate(self._strips):
            sums[:, c].real = np.einsum("mw,mw->m", window, real[place])
            part = np.einsum("mw,mw->m", window, imag[place])
            # Below zero the sums of real columns are the conjugates of their mirror images.
            sums[:, c].imag = np.where(below, -part, part)

    @cached_property
    def _strips(self) -> list[tuple[FloatArray, FloatArray]]:
        """Real and imaginary parts of each column as all runs of `_WIDTH` neighbours."""
        half = _WIDTH // 2
        both = np.concatenate([self.grid[half:0:-1].conj(), self.grid]).T
        real, imag = np.ascontiguousarray(both.real), np.ascontiguousarray(both.imag)
        return [
            (sliding_window_view(a, _WIDTH), sliding_window_view(b, _WIDTH))
            for a, b in zip(real, imag, strict=True)
        ]


def _window(distance: FloatArray) -> FloatArray:
    """Kaiser-Bessel window, scaled to 1 at its centre; zero beyond half its width."""
    inside = 1.0 - (2.0 * distance / _WIDTH) ** 2
    root = np.sqrt(np.maximum(inside, 0.0))
    values = i0e(_SHAPE * root) * np.exp(_SHAPE * (root - 1.0)) / i0e(_SHAPE)
    return np.where(inside >= 0.0, values, 0.0)


@cache
def _window_polynomials() -> FloatArray:
    """Coefficients of the window's values at its samples, shape (_DEGREE + 1, _WIDTH).

    Column w is a polynomial in 2x − 1, where x in [0, 1) is how far the first sample lies inside
    the window; the window is analytic there, so that the polynomial is exact to rounding.
    """
    nodes = np.cos(np.pi * (np.arange(32) + 0.5) / 32)
    x = 0.5 * (nodes[:, None] + 1.0)
    values = _window(0.5 * _WIDTH - x - np.arange(_WIDTH))
    fits = np.polynomial.chebyshev.chebfit(nodes, values, _DEGREE).T
    powers = [np.polynomial.chebyshev.cheb2poly(fit) for fit in fits]
    return np.stack([np.pad(p, (0, _DEGREE + 1 - len(p))) for p in powers], axis=1)


def _window_transform(angle: FloatArray) -> FloatArray:
    """Fourier transform of the window at `angle` radians per sample."""
    root = np.sqrt(_SHAPE**2 - (0.5 * _WIDTH * angle) ** 2)
    decay = np.exp(root - _SHAPE) - np.exp(-root - _SHAPE)
    return _WIDTH * decay / (2.0 * root * i0e(_SHAPE))
