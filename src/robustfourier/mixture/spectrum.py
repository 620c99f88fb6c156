"""What the spectrum of samples tells of the process they come from: starts, at little cost.

Whittle's likelihood takes ordinates of a tapered spectrum for independent exponentials of the
process's density. It is close where samples are even and long, wrong where they are not, and needs
no factorisation: it says where a search may begin, and the likelihood itself says where it ends.
Stretches between gaps have spectra of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.compiling import compiled
from robustfourier.mixture.process import Waves, oscillator_terms
from robustfourier.spectral.sums import weighted_sums

_GAP = 10.0  # typical steps; longer ones are gaps, and do not count for the typical step
_EVEN = 0.9  # of the steps are within half of the typical one where samples are even
_LONG = 64  # samples of a stretch: with fewer, ordinates are too few
_BLUR = 4.0  # over the length of a stretch: the width that Hann's taper gives each line
_EXACT = 1e-6  # steps by which even samples may be off in all: angles are off by as many radians
_STEP = 1e-4  # of parameters, for slopes of the density

#: Gives the densities, shape (j, m), for parameters of shape (j, k).
Densities = Callable[[FloatArray], FloatArray]


class Spectrum:
    """The tapered spectrum of samples, and how likely it makes a process.

    Parameters
    ----------
    theta, values, weights : ndarray of shape (n,)
        Sorted positions, samples, and one over their white variances up to a factor.
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
        self.fair = bool(even.mean() >= _EVEN and len(theta) >= _LONG * (len(ends) - 1))
        ends = ends if self.fair else [0, len(theta)]
        # A lone sample beside a gap has no spectrum.
        self._stretches = [(first, last) for first, last in pairwise(ends) if last - first > 1]
        counts = [(last - first) // 2 for first, last in self._stretches]
        angle = np.concatenate([np.arange(1, m + 1) * (np.pi / max(m, 1)) for m in counts])
        self.cosine, self.sine = np.cos(angle), np.sin(angle)
        self.blur = _BLUR * len(counts) / (self.step * len(theta))
        self._samples = theta, values, weights

    @cached_property
    def power(self) -> FloatArray:
        """The ordinates, shape (m,); ones where they would tell little."""
        if not self.fair:
            return np.ones(len(self.cosine))
        theta, values, weights = self._samples
        place, share = theta / self.step, weights / weights.mean()
        rows = [slice(*ends) for ends in self._stretches]
        return np.concatenate([_tapered(place[r], values[r], share[r]) for r in rows])

    def density(self, waves: Waves) -> FloatArray:
        """Return the density of a covariance over the white variance, shape (m,)."""
        return self.densities(waves, 1)[0]

    def densities(self, waves: Waves, count: int) -> FloatArray:
        """Return the densities of processes, folded at the Nyquist mode, shape (count, m).

        Their terms, equally many of each, follow one another in `waves`.
        """
        result = np.zeros((count, len(self.cosine)))
        _add_up(waves.numbers, self.step, self.blur, self.cosine, self.sine, result)
        return result

    def of_oscillators(self, parameters: FloatArray) -> FloatArray:
        """Return the densities of oscillators, of logarithms of shape (j, 3k), shape (j, m)."""
        result = np.zeros((len(parameters), len(self.cosine)))
        numbers = np.exp(parameters).reshape(len(parameters), -1, 3)
        _add_oscillators(numbers, self.step, self.blur, self.cosine, self.sine, result)
        return result

    def likelihoods(self, density: FloatArray) -> FloatArray:
        """Return Whittle's log-likelihoods of densities of shape (j, m), up to a constant.

        Each is told at the best factor of all variances.
        """
        return np.asarray(_whittle(self.power, density))

    def sloped(self, density: Densities, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return that likelihood and its slopes along parameters of shape (k,)."""
        value, slopes, _ = _sloped(self.power, _beside(density, parameters))
        return value, slopes

    def information(self, density: Densities, parameters: FloatArray) -> FloatArray:
        """Return Fisher's information on parameters, shape (k, k); no sample is asked for it."""
        unasked = np.ones(len(self.cosine))
        return np.asarray(_sloped(unasked, _beside(density, parameters))[2])


def _beside(density: Densities, parameters: FloatArray) -> FloatArray:
    """Densities at parameters and a step beyond along each, shape (1 + k, m)."""
    count = len(parameters)
    return density(parameters + _STEP * np.eye(count + 1, count, -1))


def _tapered(place: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Power of one stretch at angles per step of π/m to π, places being told in steps.

    There are m angles, half as many as samples.
    """
    count = len(place) // 2
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
def _add_up(terms: Any, step: float, blur: float, cosine: Any, sine: Any, result: Any) -> None:
    """Add the density of each term at the angles of these cosines and sines to its process.

    It is the sum of the covariance at all multiples of the step, a geometric series with the ratio
    z: Re[(a - ib) / (1 - z e^{-iω}) + (a + ib) / (1 - z* e^{-iω})] - a.
    """
    count = terms.shape[1]
    for k in range(count):
        a, b, c, d = terms[:, k]
        size, row = np.exp(-(c + blur) * step), k * len(result) // count
        x, y = size * np.cos(d * step), size * np.sin(d * step)
        for j in range(len(cosine)):
            on, across = 1.0 - x * cosine[j], x * sine[j]
            along, aside = y * sine[j], y * cosine[j]
            real, imaginary = on - along, across - aside
            first = (a * real - b * imaginary) / (real**2 + imaginary**2)
            real, imaginary = on + along, across + aside
            second = (a * real + b * imaginary) / (real**2 + imaginary**2)
            result[row, j] += first + second - a


@compiled
def _add_oscillators(
    numbers: Any, step: float, blur: float, cosine: Any, sine: Any, result: Any
) -> None:
    """Add the densities of oscillators, of frequency, quality and variance, shape (j, k, 3)."""
    for j in range(len(numbers)):
        terms = oscillator_terms(numbers[j])
        _add_up(terms, step, blur, cosine, sine, result[j : j + 1])


@compiled
def _whittle(power: Any, densities: Any) -> Any:
    """Whittle's likelihoods of some densities."""
    result = np.empty(len(densities))
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
    return result


@compiled
def _sloped(power: Any, densities: Any) -> Any:
    """Whittle's likelihood for the first of some densities, its slopes and Fisher's information.

    The other densities are a step beyond the first each.

    The factor of all variances is free: logarithms of densities count by how they differ from
    their mean.
    """
    (count, m), value = densities.shape, _whittle(power, densities[:1])[0]
    slopes, information = np.empty(count - 1), np.empty((count - 1, count - 1))
    rises, over, ratio = np.empty((count - 1, m)), np.empty(m), np.empty(m)
    for j in range(m):
        over[j] = 1.0 / (1.0 + max(densities[0, j], 0.0))
        ratio[j] = power[j] * over[j]
    ratio /= max(ratio.sum() / m, 1e-300)
    for k in range(count - 1):
        slope, middle = 0.0, 0.0
        for j in range(m):
            rise = (densities[k + 1, j] - max(densities[0, j], 0.0)) * over[j] / _STEP
            rises[k, j] = rise
            middle += rise
            slope += rise * (ratio[j] - 1.0)
        slopes[k] = slope
        for j in range(m):
            rises[k, j] -= middle / m
        for i in range(k + 1):
            shared = 0.0
            for j in range(m):
                shared += rises[k, j] * rises[i, j]
            information[k, i] = information[i, k] = shared
    return value, slopes, information
