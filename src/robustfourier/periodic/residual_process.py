"""The residual process: what trend and patterns leave over, as a Gaussian process.

Weather in a sea level, a slow drift, a resonance: what is left is often no white noise, and the
neighbours of a time tell of it. The residual is read as white noise plus none, one or two damped
oscillators driven by noise, by maximum likelihood. The first must raise the likelihood by more than
the penalty of the Bayesian information criterion, so that white noise stays white noise; the second
has to pay Akaike's penalty alone, which is that of the best prediction.

Samples that lie far from what their neighbours tell lose their weight step by step, as in the fit
of the lines, so that an outlier draws no bump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import log
from typing import Protocol

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.periodic.kernels import Kernel, sho_of_logarithms, sho_pullback
from robustfourier.periodic.noise_model import TaperedSpectrum
from robustfourier.periodic.optimise import maximise
from robustfourier.periodic.semiseparable import ConditionedProcess, MarginalLikelihood
from robustfourier.weighted_rows import robust_scale

#: Gives the columns of a model at θ.
Columns = Callable[[FloatArray], FloatArray]

OSCILLATORS = 2  # at most: a drift and a hump, or two drifts
AKAIKE = 3.0  # one for each parameter of an oscillator
FEWEST = 30  # samples that can show colour: a gain of 1.5 log n needs about as many
#: Likelihoods are taken on at most this many rows; the conditional mean is of all rows.
ROWS = 10_000
COARSE = 0.01  # of log-likelihood, when climbing may end: enough to compare by
FINE = 1e-4  # when climbing ends at last: parameters are within 0.014 standard errors then
_ENTRIES = 4_000_000  # numbers held at once for errors: 32 MB
_BLOCKS = 5  # stretches of neighbours of which these rows are, spread over the record
_REDESCEND = (4.0, 8.0)  # deviations between which a sample loses its weight, as in the line fit
_LEAST = 1e-6  # weight of such a sample
_ROUNDS = 3  # of weighing; an outlier also shifts what is told of its neighbours
ROUNDING = 1e-10  # of the values' size: what a fit to noiseless data leaves over

# Where the search for an oscillator starts: quality and variance over that of the white noise.
_QUALITIES = (0.1, 0.7, 5.0)
_RATIOS = (0.3, 3.0, 30.0)
_FREQUENCIES = 8
# Bounds: from a tenth of a cycle over the record to ten per sample, where correlation ends; from a
# creep to a hundred radians of ringing; from nothing to all of the variance.
_QUALITY = (0.01, 100.0)
_RATIO = (1e-4, 1e6)


@dataclass(frozen=True, eq=False)
class Remainder:
    """What is left over, as a process.

    Parameters
    ----------
    parts : tuple of ConditionedProcess
        One per output, in units of y; without terms where the noise is white.
    white : ndarray of shape (q,)
        Standard deviation of the white part of a sample of weight one.
    gain : ndarray of shape (q,)
        Log-likelihood above that of white noise, on the rows it was taken on.
    oscillators : tuple of ndarray of shape (k, 3)
        For each output: frequency without damping in radians per θ, quality, and variance over the
        white one, of each oscillator.
    """

    parts: tuple[ConditionedProcess, ...]
    white: FloatArray
    gain: FloatArray
    oscillators: tuple[FloatArray, ...]

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation of the process, quasi-periodic patterns not counted, shape (q,)."""
        return np.sqrt(
            [part.kernel.select(part.kernel.component < 0).variance for part in self.parts]
        )

    def mean(self, theta: FloatArray, owner: int = -1) -> FloatArray:
        """Return the conditional mean at θ of the remainder or of a component, shape (n, q)."""
        return np.stack([p.mean(theta, p.kernel.component == owner) for p in self.parts], axis=1)

    def variance(self, theta: FloatArray, patterns: bool = False) -> FloatArray:
        """Return the conditional variance at θ, of all or of quasi-periodic ones alone, (n, q)."""
        which = [part.kernel.component >= (0 if patterns else -1) for part in self.parts]
        pairs = zip(self.parts, which, strict=True)
        return np.stack([part.variance(theta, own) for part, own in pairs], axis=1)


def joined_errors(
    parts: tuple[ConditionedProcess, ...],
    theta: FloatArray,
    columns: Columns,
    factor: FloatArray,
) -> FloatArray:
    """Return the standard error that lines and trend bring to the whole prediction, (n, q).

    If they are off by E δ, the residual is off by −E δ, and the conditional mean, which is
    linear in it, takes back what the samples show of that.
    `columns`: gives E(θ), shape (n, m). `factor` (q, m, r): the covariance of δ is
    ``factor @ factor.T``.
    """
    square = np.zeros((len(theta), len(factor)))
    for o, part in enumerate(parts):
        width = max(1, _ENTRIES // (len(part.theta) + len(theta)))
        for start in range(0, factor.shape[2], width):
            some = factor[o, :, start : start + width]
            known = part.solve(_times(columns, part.theta, some))
            off = _times(columns, theta, some) - part.cross_product(theta, known)
            square[:, o] += np.sum(off**2, axis=1)
    return np.sqrt(square)


def _times(columns: Columns, theta: FloatArray, factor: FloatArray) -> FloatArray:
    """Return E(θ) times a factor, some rows at a time."""
    many = max(1, _ENTRIES // len(factor))
    pieces = [slice(i, i + many) for i in range(0, len(theta), many)]
    return np.concatenate([columns(theta[rows]) @ factor for rows in pieces])


def remainder_of(
    theta: FloatArray, left: FloatArray, weights: FloatArray, size: FloatArray, *, robust: bool
) -> Remainder | None:
    """Return the process that the residual is, None if it is white noise in all outputs.

    `left` (n, q): in units of y, outliers and all, at sorted θ. `size` (q,): typical size of the
    values, below which by ten digits is rounding. `robust`: whether outliers lose their weight.
    """
    outputs = [
        _one_output(theta, column, weights, float(s), robust)
        for column, s in zip(left.T, size, strict=True)
    ]
    if not any(len(part.kernel.a) for part, *_ in outputs):
        return None
    parts, white, gain, oscillators = zip(*outputs, strict=True)
    return Remainder(tuple(parts), np.array(white), np.array(gain), tuple(oscillators))


def _one_output(
    theta: FloatArray, left: FloatArray, weights: FloatArray, size: float, robust: bool
) -> tuple[ConditionedProcess, float, float, FloatArray]:
    """Return the process, the white deviation, the gain and the oscillators of one output."""
    variance = float(np.average(left**2, weights=weights))
    white = ConditionedProcess(Kernel.zero(), theta, variance / weights, np.zeros(len(theta)))
    nothing = (white, float(np.sqrt(variance)), 0.0, np.zeros((0, 3)))
    if len(theta) < FEWEST or not np.sqrt(variance) > ROUNDING * size:
        return nothing
    rows = chosen_rows(len(theta), ROWS)
    part = robust_weights(left, weights) if robust else np.ones(len(theta))
    search = OscillatorSearch(theta[rows], left[rows], weights[rows] * part[rows])
    found = search.run()
    if found is None:
        return nothing
    for _ in range(_ROUNDS if robust else 0):
        process, factor = search.conditioned(found, theta, left, weights * part)
        distance, spread = process.leave_one_out()
        own = factor / weights  # what the white noise of a sample would be with its whole weight
        off = distance / np.sqrt(np.maximum(spread - own / part, 0.0) + own)
        before, part = part, redescending(off)
        if np.array_equal(before, part):
            break
        search = OscillatorSearch(theta[rows], left[rows], weights[rows] * part[rows])
        found, _ = search.optimised(found)
    process, factor = search.conditioned(found, theta, left, weights * part)
    return process, float(np.sqrt(factor)), search.gain(found), np.exp(found.reshape(-1, 3))


def redescending(deviations: FloatArray) -> FloatArray:
    """Weight of samples so many deviations away: one up to four, nothing from eight on."""
    start, end = _REDESCEND
    return np.clip((end - np.abs(deviations)) / (end - start), _LEAST, 1.0)


def robust_weights(left: FloatArray, weights: FloatArray) -> FloatArray:
    """The same of residuals, in units of their median deviation, shape (n,)."""
    scale = max(float(robust_scale(left[:, None], weights)[0]), 1e-300)
    return redescending(left * np.sqrt(weights) / scale)


def chosen_rows(n: int, at_most: int) -> IndexArray:
    """All rows, or stretches of neighbours spread over the record."""
    if n <= at_most:
        return np.arange(n)
    length = at_most // _BLOCKS
    starts = np.linspace(0, n - length, _BLOCKS).astype(np.intp)
    return (starts[:, None] + np.arange(length)).ravel()


class LogLikelihood(Protocol):
    """The log-likelihood of samples under a kernel, over white noise of variance one."""

    def value(self, kernel: Kernel) -> tuple[float, float]:
        """Return it, and the white variance."""

    def gradient(self, kernel: Kernel) -> tuple[float, FloatArray]:
        """Return it, and its gradient along a, b, c and d, shape (4, M)."""


class OscillatorSearch:
    """Oscillators by maximum likelihood; parameters are logarithms, three per oscillator.

    Parameters
    ----------
    theta, values, weights : ndarray of shape (n,)
    beside : Kernel, optional
        Other processes in the values, over the white variance.
    spectrum : TaperedSpectrum, optional
        Of these values, if it is known.
    likelihood : LogLikelihood, optional
        Of these values, if it is known.
    """

    beat = -np.inf  # log-likelihood that is to be beaten: what cannot is not optimised to the end

    def __init__(
        self,
        theta: FloatArray,
        values: FloatArray,
        weights: FloatArray,
        beside: Kernel | None = None,
        spectrum: TaperedSpectrum | None = None,
        likelihood: LogLikelihood | None = None,
    ) -> None:
        self.theta, self.values, self.noise = theta, values, 1.0 / weights
        self.beside = Kernel.zero() if beside is None else beside
        self._spectrum, self._likelihood = spectrum, likelihood
        nyquist = 0.5 * len(np.unique(theta)) / max(np.ptp(theta) / 2.0, 1e-300)
        self.fastest = np.pi * max(nyquist, 1.0)
        bounds = ((0.1 * np.pi, 10.0 * self.fastest), _QUALITY, _RATIO)
        self.bounds = [(np.log(low), np.log(high)) for low, high in bounds]

    @cached_property
    def spectrum(self) -> TaperedSpectrum:
        """Of the values."""
        return self._spectrum or TaperedSpectrum(self.theta, self.values, 1.0 / self.noise)

    @cached_property
    def exact(self) -> LogLikelihood:
        """The exact likelihood of the values."""
        return self._likelihood or MarginalLikelihood(self.theta, self.values, self.noise)

    @cached_property
    def none(self) -> float:
        """The log-likelihood without oscillators."""
        return self.likelihood(np.zeros(0))[0]

    def likelihood(self, parameters: FloatArray) -> tuple[float, float]:
        """Return the log-likelihood, and the white variance."""
        return self.exact.value(Kernel.sum([self.beside, sho_of_logarithms(parameters)]))

    def gain(self, parameters: FloatArray) -> float:
        """Return the log-likelihood above that without oscillators."""
        return self.likelihood(parameters)[0] - self.none

    def price(self, parameters: FloatArray) -> float:
        """Return what oscillators have to pay."""
        return price(parameters, len(self.theta))

    def run(self, exact: bool = True) -> FloatArray | None:
        """Return the likeliest oscillators that pay for themselves; None for white noise.

        If not `exact`, the optimisation ends early.
        """
        found, best = np.zeros(0), 0.0
        for _ in range(OSCILLATORS):
            starts = (
                self._spectral_starts(found) if self.spectrum.is_even else self._exact_starts(found)
            )
            starts = sorted(starts, key=lambda start: start[1], reverse=True)
            # A start has much of the gain.
            if not best and starts[0][1] < 0.25 * self.price(starts[0][0]):
                break
            more, gain = self.optimised(starts[0][0], False)
            # Hills of the likelihood are many, and the highest start may stand on a low one. But
            # who tries often finds a second oscillator in noise: it has to be clear for that.
            if exact and gain - best > self.price(starts[0][0][:3]):
                ends = [self.optimised(start, False) for start, _ in starts[1:]]
                more, gain = max([(more, gain), *ends], key=lambda end: end[1])
            paid = self.price(more) - self.price(found)
            if exact and gain - best > paid - 1.0:  # what is left to climb is far less than one
                more, gain = self.optimised(more)
            if gain - best < paid:
                break
            found, best = more, gain
        return found if len(found) else None

    def _grid(self, qualities: tuple[float, ...], ratios: tuple[float, ...]) -> FloatArray:
        """Starts for one oscillator, shape (m, 3)."""
        frequencies = np.linspace(np.log(np.pi), np.log(self.fastest), _FREQUENCIES).tolist()
        return np.array(list(product(frequencies, map(log, qualities), map(log, ratios))))

    def _exact_starts(self, found: FloatArray) -> list[tuple[FloatArray, float]]:
        """Return the likeliest start of each quality, and its gain.

        Where there is colour, a little of it is better than none: the lowest ratio tells.
        """
        present = Kernel.sum([self.beside, sho_of_logarithms(found)])

        def top(grid: FloatArray) -> tuple[FloatArray, float]:
            kernels = [Kernel.sum([present, sho_of_logarithms(start)]) for start in grid]
            values = [self.exact.value(kernel)[0] for kernel in kernels]
            return np.append(found, grid[np.argmax(values)]), float(max(values)) - self.none

        best = [top(self._grid((quality,), _RATIOS[:1])) for quality in _QUALITIES]
        if not len(found) and max(gain for _, gain in best) < 0.25 * self.price(best[0][0]):
            return best
        for i, quality in enumerate(_QUALITIES):
            grid, (start, _) = self._grid((quality,), _RATIOS[1:]), best[i]
            step = abs(np.log(self.fastest) - np.log(np.pi)) / (_FREQUENCIES - 1)
            near = (
                np.abs(grid[:, 0] - start[-3]) <= 1.5 * step
            )  # of the frequency that a little has
            best[i] = max(best[i], top(grid[near]), key=lambda one: one[1])
        return best

    def _spectral_starts(self, found: FloatArray) -> list[tuple[FloatArray, float]]:
        """Return of each quality what the spectrum has for the likeliest start, and its gain.

        Oscillators that were found stay as they are meanwhile.
        """
        spectrum = self.spectrum
        present = spectrum.density(Kernel.sum([self.beside, sho_of_logarithms(found)]))

        starts = []
        for quality in _QUALITIES:
            grid = self._grid((quality,), _RATIOS)
            each = spectrum.sho_densities(grid)
            best = grid[int(np.argmax(spectrum.log_likelihoods(present + each)))]
            # A start needs not be better than half a unit.
            near, _ = spectrum.maximise(present, best, self.bounds, 0.5)
            starts.append(np.concatenate([found, near]))
        return [(start, self.gain(start)) for start in starts]

    def _bounds(self, parameters: FloatArray) -> list[tuple[float, float]]:
        return self.bounds * (len(parameters) // 3)

    def optimised(self, start: FloatArray, exact: bool = True) -> tuple[FloatArray, float]:
        """Return the likeliest parameters near a start, and their gain."""
        beside, alone = self.spectrum.density(self.beside), not len(self.beside.a)

        def log_likelihood(parameters: FloatArray) -> tuple[float, FloatArray]:
            kernel = sho_of_logarithms(parameters)
            kernel = kernel if alone else Kernel.sum([self.beside, kernel])
            value, gradient = self.exact.gradient(kernel)
            return value, sho_pullback(parameters, gradient)

        def density(parameters: FloatArray) -> FloatArray:
            return beside + self.spectrum.sho_densities(parameters)

        information = self.spectrum.fisher_information(density, start)
        enough = FINE if exact else COARSE
        bounds = self._bounds(start)
        end, value = maximise(log_likelihood, start, bounds, information, enough, self.beat)
        return end, value - self.none

    def conditioned(
        self, found: FloatArray, theta: FloatArray, values: FloatArray, weights: FloatArray
    ) -> tuple[ConditionedProcess, float]:
        """Return the process given all rows, and the white variance: that of rounding at least."""
        rounding = np.finfo(np.float64).eps * float(np.max(np.abs(values), initial=0.0))
        factor = max(self.likelihood(found)[1], rounding**2)
        kernel = Kernel.sum([self.beside, sho_of_logarithms(found)]).scaled(factor)
        return ConditionedProcess.on(kernel, theta, factor / weights, values), factor


def price(parameters: FloatArray, n: int) -> float:
    """Return what oscillators have to pay in a record of n samples."""
    count = len(parameters) // 3
    # Half of three parameters' log n.
    return 1.5 * float(np.log(n)) + AKAIKE * (count - 1) if count else 0.0
