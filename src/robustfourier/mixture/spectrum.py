"""What the spectrum of samples tells of the process they come from: starts, at little cost.

Whittle's likelihood takes ordinates of a tapered spectrum for independent exponentials of the
process's density. It is close where samples are even and long, wrong where they are not, and needs
no factorisation: it says where a search may begin, and the likelihood itself says where it ends.
"""

from __future__ import annotations

from collections.abc import Callable

import finufft
import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.process import Waves

__all__ = ["Spectrum"]

_GAP = 10.0  # typical steps; longer ones are gaps, and do not count for the typical step
_BLUR = 4.0  # over the length of the record: the width that Hann's taper gives each line
_STEP = 1e-4  # of parameters, for slopes of the density
_EXACT = 1e-6  # of the sums, far below their noise


class Spectrum:
    """The tapered spectrum of samples, and how likely it makes a process.

    Parameters
    ----------
    theta, values, weights : ndarray of shape (n,)
        Sorted positions, samples, and one over their white variances up to a factor.
    """

    def __init__(self, theta: FloatArray, values: FloatArray, weights: FloatArray) -> None:
        steps = np.diff(np.unique(theta))
        self.step = float(steps[steps <= _GAP * np.median(steps)].mean())
        length = float(np.ptp(theta))
        share = weights / np.mean(weights)
        taper = 0.5 + 0.5 * np.cos(2.0 * np.pi * (theta - theta.mean()) / length)
        count = max(len(theta) // 2, 1)
        angle = np.arange(1, count + 1) * np.pi / count
        columns = (taper * share * values).astype(np.complex128)
        place = np.mod(theta * (np.pi / (count * self.step)), 2.0 * np.pi)
        sums = finufft.nufft1d1(place, columns, 2 * count + 1, eps=_EXACT, isign=-1, nthreads=1)
        self.power = np.abs(sums[count + 1 :]) ** 2 / np.sum(taper**2 * share)
        self.cosine, self.sine = np.cos(angle), np.sin(angle)
        self.blur = _BLUR / length

    def density(self, waves: Waves) -> FloatArray:
        """Return the density of a covariance over the white variance, shape (m,)."""
        return np.asarray(self.densities(waves).sum(axis=0))

    def densities(self, waves: Waves) -> FloatArray:
        """Return the density of each term, folded at the Nyquist mode, shape (M, m).

        It is the sum of the covariance at all multiples of the step, a geometric series with the
        ratio z: Re[(a - ib) / (1 - z e^{-iω}) + (a + ib) / (1 - z* e^{-iω})] - a.
        """
        size = np.exp(-(waves.c + self.blur) * self.step)[:, None]
        turn = (waves.d * self.step)[:, None]
        cosine, sine = size * np.cos(turn), size * np.sin(turn)
        a, b = waves.a[:, None], waves.b[:, None]
        first = _fraction(a, -b, cosine, sine, self.cosine, self.sine)
        second = _fraction(a, b, cosine, -sine, self.cosine, self.sine)
        return first + second - a

    def likelihood(self, density: FloatArray) -> float:
        """Return Whittle's log-likelihood up to a constant, at the best factor of all variances."""
        return float(self.likelihoods(density))

    def likelihoods(self, density: FloatArray) -> FloatArray:
        """Return the same of densities of shape (..., m)."""
        whole = 1.0 + np.maximum(density, 0.0)
        factor = np.maximum(np.mean(self.power / whole, axis=-1), 1e-300)
        return np.asarray(-(len(self.power) * np.log(factor) + np.log(whole).sum(axis=-1)))

    def information(
        self, density: Callable[[FloatArray], FloatArray], parameters: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slopes of that likelihood along parameters, and Fisher's information.

        Parameters
        ----------
        density : callable
            Gives the density for parameters.
        parameters : ndarray of shape (k,)
        """
        whole = 1.0 + np.maximum(density(parameters), 0.0)
        steps = _STEP * np.eye(len(parameters))
        change = np.array([density(parameters + step) + 1.0 for step in steps]) - whole
        logs = change.reshape(len(steps), -1) / (_STEP * whole)
        ratio = self.power / whole
        slopes = logs @ (ratio / max(float(ratio.mean()), 1e-300) - 1.0)
        logs -= logs.mean(axis=1, keepdims=True)  # the factor of all variances is free
        return slopes, logs @ logs.T


def _fraction(
    a: FloatArray,
    b: FloatArray,
    cosine: FloatArray,
    sine: FloatArray,
    on: FloatArray,
    across: FloatArray,
) -> FloatArray:
    """Real part of (a + ib) / (1 - (cosine + i sine) (on - i across))."""
    real, imaginary = 1.0 - cosine * on - sine * across, cosine * across - sine * on
    return (a * real + b * imaginary) / (real**2 + imaginary**2)
