"""The normal operator of sines and cosines, applied by FFT.

For f(θ) = Re Σ z_k e^{iπkθ}, k = 0 … M, the operator maps z to (A z)_k = (2/Σw) Σ w f(θ) e^{-iπkθ}.
In z and z̄ it is Toeplitz plus Hankel; written for the Hermitian sequence of f it is one Toeplitz
matrix, that is a multiplication on a fine grid between two real FFTs. The factor 2/Σw makes the
diagonal 1 for modes that the samples resolve, so that A z and b are in units of y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from robustfourier.arrays import ComplexArray, FloatArray
from robustfourier.periodic.nufft import FourierSums


@dataclass(frozen=True)
class NormalOperator:
    """A as a function, for complex coefficients z of shape (M + 1, q).

    Parameters
    ----------
    density : ndarray of shape (N, 2, 1)
        The weight of the samples as a trigonometric polynomial on a grid of 2N points, in pairs. No
        FFT need be longer than N: the points between are seen with the modes turned by half a step,
        and two FFTs that are done at once take two thirds of the time of one of twice the length.
    turn : ndarray of complex, shape (M + 1,)
        By how much that turns each mode.

    Examples
    --------
    >>> import numpy as np
    >>> from robustfourier.periodic.nufft import fourier_sums
    >>> theta = np.random.default_rng(0).uniform(-1, 1, 50)
    >>> sums = fourier_sums(theta, np.ones((50, 1)), np.ones(50), max_mode=4)
    >>> z = np.arange(5.0)[:, None] + 0.5j
    >>> fast, slow = NormalOperator.of(sums)(z), dense_operator(sums)
    >>> bool(np.allclose(np.r_[fast.real, fast.imag], slow @ np.r_[z.real, z.imag]))
    True
    """

    density: FloatArray
    turn: ComplexArray

    @classmethod
    def of(cls, sums: FourierSums) -> NormalOperator:
        """Build the operator from Fourier sums."""
        # Products of modes up to M and 2M wrap around only onto modes above M. Powers of two pay:
        # 4,096 points take a seventh less time than 4,050.
        length = 16 * next_fast_len(sums.max_mode // 4 + 1, real=True)
        spectrum = np.zeros(length // 2 + 1, dtype=np.complex128)
        spectrum[: len(sums.weight)] = sums.weight
        density = irfft(spectrum, length) * (0.5 * length) * (2.0 / sums.total)
        return cls(density.reshape(-1, 2, 1), _turns(length, sums.max_mode + 1))

    def __call__(self, z: ComplexArray) -> ComplexArray:
        """Return A z, shape (M + 1, q)."""
        images = self.images(self.values(self.halves(z)))
        return np.asarray(images[:, 0] + self.turn[:, None].conj() * images[:, 1])

    def halves(self, z: ComplexArray) -> ComplexArray:
        """Return the Hermitian sequence of f from zero on, and that turned, (N // 2 + 1, 2, q)."""
        halves = np.zeros((len(self.density) // 2 + 1, 2, z.shape[1]), dtype=np.complex128)
        np.multiply(z, 0.5, out=halves[: len(z), 0])
        halves[0, 0] = z[0].real
        np.multiply(halves[: len(z), 0], self.turn[:, None], out=halves[: len(z), 1])
        return halves

    def values(self, halves: ComplexArray) -> FloatArray:
        """Return the values of f over N on the grid, shape (N, 2, q)."""
        return np.asarray(irfft(halves, len(self.density), axis=0))

    def images(self, values: FloatArray) -> ComplexArray:
        """Return the two parts of A z of an f with these values, shape (M + 1, 2, q)."""
        return np.asarray(rfft(values * self.density, axis=0)[: len(self.turn)])

    def energy(self, values: FloatArray) -> float:
        """Return Re zᴴ A z of an f with these values, summed over outputs: a sum over the grid."""
        return len(self.density) * float(np.vdot(self.density * values, values))


@lru_cache(maxsize=1)  # those of the samples that are held out are the same
def _turns(length: int, count: int) -> ComplexArray:
    return np.exp(2j * np.pi / length * np.arange(count))


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
