"""The normal operator of sines and cosines, applied by FFT.

For f(θ) = Re Σ z_k e^{iπkθ}, k = 0 … M, the operator maps z to (A z)_k = (2/Σw) Σ w f(θ) e^{-iπkθ}.
In z and z̄ it is Toeplitz plus Hankel; written for the Hermitian sequence of f it is one Toeplitz
matrix, that is a multiplication on a fine grid between two real FFTs. The factor 2/Σw makes the
diagonal 1 for modes that the samples resolve, so that A z and b are in units of y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from robustfourier.arrays import ComplexArray, FloatArray
from robustfourier.spectral.sums import FourierSums


@dataclass(frozen=True)
class NormalOperator:
    """A as a function, for complex coefficients z of shape (M + 1, q).

    Parameters
    ----------
    density : ndarray of shape (N, 1)
        The weight of the samples as a trigonometric polynomial on a grid of N points.
    size : int
        Number of modes M + 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robustfourier.spectral.sums import fourier_sums
    >>> theta = np.random.default_rng(0).uniform(-1, 1, 50)
    >>> sums = fourier_sums(theta, np.ones((50, 1)), np.ones(50), max_mode=4)
    >>> z = np.arange(5.0)[:, None] + 0.5j
    >>> fast, slow = NormalOperator.of(sums)(z), dense_operator(sums)
    >>> bool(np.allclose(np.r_[fast.real, fast.imag], slow @ np.r_[z.real, z.imag]))
    True
    """

    density: FloatArray
    size: int

    @classmethod
    def of(cls, sums: FourierSums) -> NormalOperator:
        """Build the operator from Fourier sums."""
        size = sums.max_mode + 1
        # Products of modes up to M and 2M wrap around only onto modes above M. Powers of two pay:
        # 4,096 points take a seventh less time than 4,050.
        length = 16 * next_fast_len(sums.max_mode // 4 + 1, real=True)
        spectrum = np.zeros(length // 2 + 1, dtype=np.complex128)
        spectrum[: len(sums.weight)] = sums.weight
        density = irfft(spectrum, length) * length * (2.0 / sums.total)
        return cls(density[:, None], size)

    def __call__(self, z: ComplexArray) -> ComplexArray:
        """Return A z, shape (M + 1, q)."""
        return self.image(self.values(self.halves(z)))

    def halves(self, z: ComplexArray) -> ComplexArray:
        """Return the Hermitian sequence of f from zero on, shape (N // 2 + 1, q)."""
        halves = np.zeros((len(self.density) // 2 + 1, z.shape[1]), dtype=np.complex128)
        np.multiply(z, 0.5, out=halves[: self.size])
        halves[0] = z[0].real
        return halves

    def values(self, halves: ComplexArray) -> FloatArray:
        """Return the values of f over their number on the grid, shape (N, q)."""
        return np.asarray(irfft(halves, len(self.density), axis=0))

    def image(self, values: FloatArray) -> ComplexArray:
        """Return A z of an f with these values, shape (M + 1, q)."""
        return np.asarray(rfft(values * self.density, axis=0)[: self.size])

    def energy(self, values: FloatArray) -> FloatArray:
        """Return Re zᴴ A z of an f with these values, shape (q,): a sum over the grid."""
        return len(self.density) * np.sum(self.density * values**2, axis=0)


def dense_operator(sums: FourierSums) -> FloatArray:
    """Return A as a matrix on (Re z, Im z), shape (2(M + 1),) twice; slow, the reference.

    (A z)_k = Σ_l ½ [S_{k-l} z_l + S_{k+l} z̄_l] · 2/Σw, and z_0 counts with its real part alone.
    """
    k = np.arange(sums.max_mode + 1)
    both = np.concatenate([sums.weight[:0:-1].conj(), sums.weight]) * (2.0 / sums.total)
    zero = len(sums.weight) - 1
    toeplitz = 0.5 * both[zero + k[:, None] - k[None, :]]
    hankel = 0.5 * both[zero + k[:, None] + k[None, :]]
    on_real, on_imaginary = toeplitz + hankel, 1j * (toeplitz - hankel)
    return np.block([[on_real.real, on_imaginary.real], [on_real.imag, on_imaginary.imag]])
