r"""Spectral (Whittle) likelihood of a Gaussian process: starts and Fisher information at low cost.

Whittle's likelihood [1]_ takes ordinates I_j of a tapered spectrum for independent exponentials of
the mean 1 + S_j, S being the density of the process over that of the white noise:

.. math:: \log L = -m \log \tfrac1m \sum_j \frac{I_j}{1 + S_j} - \sum_j \log (1 + S_j)

at the best scale of all variances. It is close where samples are even and long, wrong where they
are not, and needs no factorisation: it says where an optimisation begins and how the exact
likelihood of `semiseparable` is curved. Stretches between gaps have spectra of their own.

References
----------
.. [1] P. Whittle, "Estimation and information in stationary time series", Ark. Mat. 2, 423 (1953).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np

from robustfourier.arrays import FloatArray, IntArray, IntVector, Matrix, Vector
from robustfourier.compiling import compiled
from robustfourier.periodic.kernels import Kernel, sho
from robustfourier.periodic.nufft import weighted_sums
from robustfourier.periodic.optimise import maximise

_GAP = 10.0  # typical steps; longer ones are gaps, and do not count for the typical step
_EVEN = 0.9  # of the steps are within half of the typical one where samples are even
_LONG = 64  # samples of a stretch: with fewer, ordinates are too few
_BLUR = 4.0  # over the length of a stretch: the width that Hann's taper gives each line
_EXACT = 1e-6  # steps by which even samples may be off in all: angles are off by as many radians
_STEP = 1e-4  # of parameters, for derivatives of the density
_SMALLEST = 1e-300  # scale of values that are all zero

#: Gives the densities, shape (j, m), for parameters of shape (j, k).
Densities = Callable[[FloatArray], FloatArray]


class TaperedSpectrum:
    """The tapered spectrum of samples, and Whittle's likelihood of processes.

    `theta`, `values`, `weights` (n,): sorted times, samples, and one over their white variances up
    to a factor.

    Examples
    --------
    >>> theta, rng = np.linspace(-1.0, 1.0, 400), np.random.default_rng(0)
    >>> spectrum = TaperedSpectrum(theta, rng.normal(size=400), np.ones(400))
    >>> red = spectrum.density(sho([[10.0, 0.3, 5.0]]))
    >>> white = np.zeros(len(red))
    >>> spectrum.is_even, int(np.argmax(spectrum.log_likelihoods(np.stack([white, red]))))
    (True, 0)
    """

    def __init__(self, theta: FloatArray, values: FloatArray, weights: FloatArray) -> None:
        steps = np.diff(theta)
        middle = float(np.median(steps))
        gap = steps > _GAP * middle
        usual = float(steps[~gap].mean()) if not gap.all() else 0.0
        self.step = usual or float(np.ptp(theta)) / len(theta)  # half of the rows may coincide
        even = np.abs(steps - middle) < 0.5 * middle
        ends = [0, *(np.flatnonzero(gap) + 1), len(theta)]
        #: Whether samples are even and long enough for this likelihood to be close.
        self.is_even = bool(even.mean() >= _EVEN and len(theta) >= _LONG * (len(ends) - 1))
        ends = ends if self.is_even else [0, len(theta)]
        self._stretches = list(pairwise(ends))
        counts = [(last - first) // 2 for first, last in self._stretches]
        angle = np.concatenate([np.arange(1, m + 1) * (np.pi / max(m, 1)) for m in counts])
        self.cosine, self.sine = np.cos(angle), np.sin(angle)
        self.blur = _BLUR * len(counts) / (self.step * len(theta))
        self._samples = theta, values, weights

    @cached_property
    def power(self) -> FloatArray:
        """The ordinates, shape (m,); ones where samples are not even."""
        if not self.is_even:
            return np.ones(len(self.cosine))
        theta, values, weights = self._samples
        place, share = theta / self.step, weights / weights.mean()
        rows = [slice(*ends) for ends in self._stretches]
        return np.concatenate([_tapered(place[r], values[r], share[r]) for r in rows])

    def density(self, kernel: Kernel) -> FloatArray:
        """Return the density of a kernel over that of white noise of variance one, shape (m,)."""
        return self._densities(kernel, np.zeros(len(kernel.a), np.int64), 1)[0]

    def densities(self, kernel: Kernel, count: int) -> FloatArray:
        """Return the densities of several kernels, shape (count, m).

        Their terms, equally many of each, follow one another in `kernel`.
        """
        return self._densities(kernel, np.repeat(np.arange(count), len(kernel.a) // count), count)

    def sho_densities(self, logarithms: FloatArray) -> FloatArray:
        """Return the densities of oscillators, of parameters of shape (j, 3k), shape (j, m)."""
        numbers = np.exp(logarithms).reshape(-1, 3)
        terms = np.where(numbers[:, 1] < 0.5, 2, 1)  # overdamped ones have two
        count = len(logarithms)
        row = np.repeat(np.arange(len(numbers)) * count // len(numbers), terms)
        return self._densities(sho(numbers), row, count)

    def _densities(self, kernel: Kernel, row: IntArray, count: int) -> FloatArray:
        result = np.zeros((count, len(self.cosine)))
        coefficients = kernel.coefficients
        _add_aliased(coefficients, row, self.step, self.blur, self.cosine, self.sine, result)
        return result

    def log_likelihoods(self, density: FloatArray) -> FloatArray:
        """Return the log-likelihoods of densities of shape (j, m), up to a constant."""
        whole = 1.0 + np.maximum(density, 0.0)
        scale = np.maximum((self.power / whole).mean(axis=1), _SMALLEST)
        return -(len(self.power) * np.log(scale) + np.log(whole).sum(axis=1))

    def maximise(
        self,
        present: FloatArray,
        start: FloatArray,
        bounds: list[tuple[float, float]],
        tolerance: float,
    ) -> tuple[FloatArray, float]:
        """Return where oscillators are likeliest near a start, and how likely.

        `present` (m,): the density of what is there besides. `start` (3k,): logarithms of
        frequency, quality and variance of each oscillator. `tolerance`: it ends where so little is
        left to be gained.
        """

        def density(rows: FloatArray) -> FloatArray:
            return present + self.sho_densities(rows)

        def log_likelihood(parameters: FloatArray) -> tuple[float, FloatArray]:
            return self.gradient(density, parameters)

        information = self.fisher_information(density, start)
        return maximise(log_likelihood, start, bounds, information, tolerance)

    def gradient(self, density: Densities, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood and its gradient along parameters of shape (k,).

        The scale is free: ordinates count by how their ratio to the density differs from the mean.
        """
        present, rises = _rises(density, parameters)
        ratio = self.power / (1.0 + np.maximum(present, 0.0))
        ratio /= max(float(ratio.mean()), _SMALLEST)
        return float(self.log_likelihoods(present[None])[0]), rises @ (ratio - 1.0)

    def fisher_information(self, density: Densities, parameters: FloatArray) -> FloatArray:
        """Return the Fisher information on parameters, shape (k, k), the scale being free.

        It reads the times of the samples alone.
        """
        _, rises = _rises(density, parameters)
        rises -= rises.mean(axis=1, keepdims=True)
        return rises @ rises.T


def _rises(density: Densities, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Density at parameters, shape (m,), and ∂ log(1 + S) along each, shape (k, m)."""
    count = len(parameters)
    present, *beyond = density(parameters + _STEP * np.eye(count + 1, count, -1))
    rises = np.reshape(beyond, (count, len(present))) - present
    return present, rises / (_STEP * (1.0 + np.maximum(present, 0.0)))


def _tapered(place: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Power of one stretch at angles per step of π/m to π; places are in steps.

    There are m angles, half as many as samples.
    """
    count = len(place) // 2
    if not count:
        return np.zeros(0)
    length = max(float(np.ptp(place)), 1.0) + 1.0
    taper = 0.5 + 0.5 * np.cos(2.0 * np.pi * (place - 0.5 * (place[0] + place[-1])) / length)
    tapered = taper * weights * values
    # Powers do not see where the angles are counted from.
    if np.abs(np.diff(place) - 1.0).max() * count < _EXACT:
        folded = tapered[: 2 * count].copy()  # the last of an odd number is a turn after the first
        folded[: len(place) - 2 * count] += tapered[2 * count :]
        sums = np.fft.rfft(folded)[1:]
    else:
        middle = (place - 0.5 * (place[0] + place[-1])) / count
        sums = weighted_sums(middle, tapered[:, None], count + 1)[1:, 0]
    return np.abs(sums) ** 2 / max(float(np.sum(taper**2 * weights)), 1e-300)


@compiled
def _add_aliased(
    terms: Matrix,
    row: IntVector,
    step: float,
    blur: float,
    cosine: Vector,
    sine: Vector,
    result: Matrix,
) -> None:
    """Add the density of each term, aliased at the Nyquist frequency, to its row of the result.

    It is the sum of the covariance at all multiples of the step, a geometric series with the ratio
    z: Re[(a - ib) / (1 - z e^{-iω}) + (a + ib) / (1 - z* e^{-iω})] - a.
    """
    for k in range(len(row)):
        a, b, at = terms[0, k], terms[1, k], row[k]
        size = np.exp(-(terms[2, k] + blur) * step)
        x, y = size * np.cos(terms[3, k] * step), size * np.sin(terms[3, k] * step)
        for j in range(len(cosine)):
            on, across = 1.0 - x * cosine[j], x * sine[j]
            along, aside = y * sine[j], y * cosine[j]
            real, imaginary = on - along, across - aside
            first = (a * real - b * imaginary) / (real**2 + imaginary**2)
            real, imaginary = on + along, across + aside
            second = (a * real + b * imaginary) / (real**2 + imaginary**2)
            result[at, j] += first + second - a
