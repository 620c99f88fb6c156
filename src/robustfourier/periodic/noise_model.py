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
from robustfourier.periodic.kernels import Kernel, sho, sho_terms
from robustfourier.periodic.nufft import weighted_sums
from robustfourier.periodic.optimise import bfgs, newton_step

_GAP = 10.0  # typical steps; longer ones are gaps, and do not count for the typical step
_EVEN = 0.9  # of the steps are within half of the typical one where samples are even
_LONG = 64  # samples of a stretch: with fewer, ordinates are too few
_BLUR = 4.0  # over the length of a stretch: the width that Hann's taper gives each line
_EXACT = 1e-6  # steps by which even samples may be off in all: angles are off by as many radians
_STEP = 1e-4  # of parameters, for derivatives of the density
# As in `optimise`, whose numbers kernels of other modules cannot read.
_STEPS, _SHORTER, _SHORTEST, _RISE, _LONGEST, _FLOOR = 40, 0.1, 1e-4, 1e-3, 2.0, 1e-2

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
        result = np.empty(len(density))
        _whittle(self.power, density, result)
        return result

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
        low, high = np.array(bounds, dtype=np.float64).T.copy()
        at = np.minimum(np.maximum(start, low), high)
        given = self.power, present, self.step, self.blur, self.cosine, self.sine
        return at, _maximise(*given, low, high, tolerance, at)

    def gradient(self, density: Densities, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood and its gradient along parameters of shape (k,)."""
        densities = _beside(density, parameters)
        gradient, value = np.empty(len(parameters)), self.log_likelihoods(densities[:1])
        _gradient(self.power, densities, gradient)
        return float(value[0]), gradient

    def fisher_information(self, density: Densities, parameters: FloatArray) -> FloatArray:
        """Return the Fisher information on parameters, shape (k, k), the scale being free.

        It reads the times of the samples alone.
        """
        densities = _beside(density, parameters)
        information = np.empty((len(parameters), len(parameters)))
        _information(densities, information)
        return information


def _beside(density: Densities, parameters: FloatArray) -> FloatArray:
    """Densities at parameters and a step beyond along each, shape (1 + k, m)."""
    count = len(parameters)
    return density(parameters + _STEP * np.eye(count + 1, count, -1))


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
        a, b, c, d = terms[0, k], terms[1, k], terms[2, k], terms[3, k]
        _add_term(a, b, c + blur, d, step, cosine, sine, result, row[k])


@compiled
def _add_term(
    a: float,
    b: float,
    c: float,
    d: float,
    step: float,
    cosine: Vector,
    sine: Vector,
    result: Matrix,
    at: int,
) -> None:
    """Add the density of one term to one row."""
    size = np.exp(-c * step)
    x, y = size * np.cos(d * step), size * np.sin(d * step)
    for j in range(len(cosine)):
        on, across = 1.0 - x * cosine[j], x * sine[j]
        along, aside = y * sine[j], y * cosine[j]
        real, imaginary = on - along, across - aside
        first = (a * real - b * imaginary) / (real**2 + imaginary**2)
        real, imaginary = on + along, across + aside
        second = (a * real + b * imaginary) / (real**2 + imaginary**2)
        result[at, j] += first + second - a


@compiled
def _add_oscillator(
    frequency: float,
    quality: float,
    variance: float,
    blur: float,
    step: float,
    cosine: Vector,
    sine: Vector,
    result: Matrix,
    at: int,
) -> None:
    """Add the density of a damped oscillator (`kernels.sho`), of which logarithms are given."""
    terms = np.empty((4, 2))
    many = sho_terms(np.exp(frequency), np.exp(quality), np.exp(variance), terms, 0)
    for m in range(many):
        a, b, c, d = terms[0, m], terms[1, m], terms[2, m], terms[3, m]
        _add_term(a, b, c + blur, d, step, cosine, sine, result, at)


@compiled
def _add_oscillators(
    logarithms: Vector,
    present: Vector,
    step: float,
    blur: float,
    cosine: Vector,
    sine: Vector,
    result: Matrix,
) -> None:
    """Write the density of oscillators, and in each row of the result after it a step beyond."""
    count, size = len(cosine), len(logarithms)
    own = np.zeros((size // 3, count))
    for j in range(count):
        result[0, j] = present[j]
    for i in range(size // 3):
        f, q, s = logarithms[3 * i], logarithms[3 * i + 1], logarithms[3 * i + 2]
        _add_oscillator(f, q, s, blur, step, cosine, sine, own, i)
        for j in range(count):
            result[0, j] += own[i, j]
    for k in range(min(size, len(result) - 1)):
        first = k - k % 3
        for j in range(count):
            result[k + 1, j] = result[0, j] - own[k // 3, j]
        f, q, s = logarithms[first], logarithms[first + 1], logarithms[first + 2]
        if k % 3 == 0:
            f += _STEP
        if k % 3 == 1:
            q += _STEP
        if k % 3 == 2:
            s += _STEP
        _add_oscillator(f, q, s, blur, step, cosine, sine, result, k + 1)


@compiled
def _maximise(
    power: Vector,
    present: Vector,
    step: float,
    blur: float,
    cosine: Vector,
    sine: Vector,
    low: Vector,
    high: Vector,
    tolerance: float,
    at: Vector,
) -> float:
    """Move parameters to the maximum of Whittle's likelihood within bounds; return its height.

    The steps are those of `optimise.maximise`, in one compiled call.
    """
    size, count = len(at), len(power)
    densities, value = np.empty((size + 1, count)), np.empty(size + 1)
    gradient, other = np.empty(size), np.empty(size)
    move, trial, curvature = np.empty(size), np.empty(size), np.empty((size, size))
    _add_oscillators(at, present, step, blur, cosine, sine, densities)
    _whittle(power, densities, value)
    _gradient(power, densities, gradient)
    _information(densities, curvature)
    for k in range(size):
        curvature[k, k] += _FLOOR
    height, reach = value[0], _LONGEST
    for _ in range(_STEPS):
        newton_step(at, gradient, curvature, low, high, move)
        rise, longest = 0.0, 0.0
        for k in range(size):
            rise += gradient[k] * move[k]
            longest = max(longest, abs(move[k]))
        if not rise >= 2.0 * tolerance:
            break
        shorter = min(reach / longest, 1.0)
        rise, longest = rise * shorter, longest * shorter
        for k in range(size):
            move[k] *= shorter
            trial[k] = at[k] + move[k]
        _add_oscillators(trial, present, step, blur, cosine, sine, densities)
        _whittle(power, densities, value)
        _gradient(power, densities, other)
        bfgs(curvature, move, gradient, other)
        if value[0] > height + _RISE * rise:
            height, reach = value[0], min(2.0 * reach, _LONGEST)
            for k in range(size):
                at[k], gradient[k] = trial[k], other[k]
        else:
            reach = max(rise / (2.0 * (rise - (value[0] - height))), _SHORTER) * longest
        if reach < _SHORTEST:
            break
    return height


@compiled
def _whittle(power: Vector, densities: Matrix, result: Vector) -> None:
    """Write the log-likelihoods of some densities."""
    for i in range(len(densities)):
        total, logs, product = 0.0, 0.0, 1.0
        for j in range(len(power)):
            whole = 1.0 + max(densities[i, j], 0.0)
            total += power[j] / whole
            product *= whole  # a logarithm takes longer
            if product > 1e200:
                logs, product = logs + np.log(product), 1.0
        mean = max(total / len(power), 1e-300)
        result[i] = -(len(power) * np.log(mean) + logs + np.log(product))


@compiled
def _information(densities: Matrix, information: Matrix) -> None:
    """Write the Fisher information at the first density; each other is a step beyond."""
    size, count = len(information), densities.shape[1]
    rises, mean = np.empty((size, count)), np.zeros(size)
    for k in range(size):
        for j in range(count):
            whole = 1.0 + max(densities[0, j], 0.0)
            rises[k, j] = (densities[k + 1, j] - whole + 1.0) / (whole * _STEP)
            mean[k] += rises[k, j] / count
    for p in range(size):
        for q in range(p + 1):
            both = 0.0
            for j in range(count):
                both += rises[p, j] * rises[q, j]
            information[p, q] = both - count * mean[p] * mean[q]
            information[q, p] = information[p, q]


@compiled
def _gradient(power: Vector, densities: Matrix, gradient: Vector) -> None:
    """Write the gradient of the log-likelihood at the first density; each other is a step beyond.

    The scale is free: ordinates count by how their ratio to the density differs from the mean.
    """
    count, total = len(power), 0.0
    over, ratio = np.empty(count), np.empty(count)
    for j in range(count):
        over[j] = 1.0 / (1.0 + max(densities[0, j], 0.0))
        ratio[j] = power[j] * over[j]
        total += ratio[j]
    scale = 1.0 / max(total / count, 1e-300)
    for k in range(len(gradient)):
        slope = 0.0
        for j in range(count):
            rise = (densities[k + 1, j] - max(densities[0, j], 0.0)) * over[j]
            slope += rise * (ratio[j] * scale - 1.0)
        gradient[k] = slope / _STEP
