"""The remainder: what trend and patterns leave over, as a process with memory.

Weather in a sea level, a slow drift, a resonance: what is left is often no white noise, and the
neighbours of a time tell of it. The residual is read as white noise plus none, one or two damped
oscillators driven by noise, by maximum likelihood. The first must raise the likelihood by more than
the penalty of the Bayesian information criterion, so that white noise stays white noise; once there
is memory, the second has to pay Akaike's penalty alone, which is that of the best prediction.

Samples that lie far from what their neighbours tell lose their say step by step, as in the fit of
the lines, so that an outlier draws no bump.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import minimize

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.mixture.process import Conditioned, Waves, log_likelihood, oscillator
from robustfourier.mixture.search.robust import FAR, robust_scale

__all__ = ["Remainder", "remainder_of"]

#: Gives the columns of a model at θ.
Columns = Callable[[FloatArray], FloatArray]

OSCILLATORS = 2  # at most: a drift and a hump, or two drifts
AKAIKE = 3.0  # one for each parameter of an oscillator
FEWEST = 30  # samples that can tell a memory: a gain of 1.5 log n needs about as many
#: Likelihoods are taken on at most this many rows; the conditional mean is of all rows.
ROWS = 10_000
_ENTRIES = 4_000_000  # numbers held at once for errors: 32 MB
_ROWS_AT_ONCE = 8192
_BLOCKS = 5  # stretches of neighbours of which these rows are, spread over the record
_GONE = 8.0  # deviations at which a sample has lost all its say, as in `pseudo_values`
_LEAST = 1e-6  # weight of such a sample
_ROUNDS = 3  # of weighing; an outlier also shifts what is told of its neighbours
_ROUNDING = 1e-10  # of the values' size: what a fit to noiseless data leaves over

# Where the search for an oscillator starts: quality and variance over that of the white noise.
_QUALITIES = (0.1, 0.7, 5.0)
_RATIOS = (0.3, 3.0, 30.0)
_FREQUENCIES = 8
# Bounds: from a tenth of a cycle over the record to ten per sample, where memory ends; from a creep
# to a hundred radians of ringing; from nothing to all of the variance.
_QUALITY = (0.01, 100.0)
_RATIO = (1e-4, 1e6)


@dataclass(frozen=True, eq=False)
class Remainder:
    """What is left over, with its memory.

    Parameters
    ----------
    parts : tuple of Conditioned
        One per output, in units of y; without terms where the noise is white.
    white : ndarray of shape (q,)
        Standard deviation of the white part of a sample of weight one.
    gain : ndarray of shape (q,)
        Log-likelihood above that of white noise, on the rows it was taken on.
    """

    parts: tuple[Conditioned, ...]
    white: FloatArray
    gain: FloatArray

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation of the part with memory, shape (q,)."""
        return np.sqrt([part.waves.variance for part in self.parts])

    def mean(self, theta: FloatArray) -> FloatArray:
        """Return the conditional mean at θ, shape (n, q)."""
        return np.stack([part.mean(theta) for part in self.parts], axis=1)

    def variance(self, theta: FloatArray) -> FloatArray:
        """Return the conditional variance at θ, shape (n, q)."""
        return np.stack([part.variance(theta) for part in self.parts], axis=1)

    def joined_errors(self, theta: FloatArray, columns: Columns, factor: FloatArray) -> FloatArray:
        """Return the standard error that lines and trend bring to the whole prediction, (n, q).

        If they are off by E δ, the residual is off by −E δ, and the conditional mean, which is
        linear in it, takes back what the samples show of that.

        Parameters
        ----------
        theta : ndarray of shape (n,)
        columns : callable
            Gives E(θ), shape (n, m).
        factor : ndarray of shape (q, m, r)
            The covariance of δ is ``factor @ factor.T``.
        """
        square = np.zeros((len(theta), len(factor)))
        for o, part in enumerate(self.parts):
            width = max(1, _ENTRIES // (len(part.theta) + len(theta)))
            for start in range(0, factor.shape[2], width):
                some = factor[o, :, start : start + width]
                known = part.divided(_times(columns, part.theta, some))
                off = _times(columns, theta, some) - part.across(theta, known)
                square[:, o] += np.sum(off**2, axis=1)
        return np.sqrt(square)


def _times(columns: Columns, theta: FloatArray, factor: FloatArray) -> FloatArray:
    """Return E(θ) times a factor, some rows at a time."""
    pieces = [slice(i, i + _ROWS_AT_ONCE) for i in range(0, len(theta), _ROWS_AT_ONCE)]
    return np.concatenate([columns(theta[rows]) @ factor for rows in pieces])


def remainder_of(
    theta: FloatArray, left: FloatArray, weights: FloatArray, size: FloatArray, *, robust: bool
) -> Remainder | None:
    """Return the process that the residual is, None if it is white noise in all outputs.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Sorted.
    left : ndarray of shape (n, q)
        Residual in units of y, outliers and all.
    weights : ndarray of shape (n,)
    size : ndarray of shape (q,)
        Typical size of the values: what is smaller by ten digits is rounding.
    robust : bool
        Whether outliers lose their say.
    """
    outputs = [
        _one_output(theta, column, weights, float(s), robust)
        for column, s in zip(left.T, size, strict=True)
    ]
    if not any(len(part.waves.a) for part, _, _ in outputs):
        return None
    parts, white, gain = zip(*outputs, strict=True)
    return Remainder(tuple(parts), np.array(white), np.array(gain))


def _one_output(
    theta: FloatArray, left: FloatArray, weights: FloatArray, size: float, robust: bool
) -> tuple[Conditioned, float, float]:
    """Return the process, the white deviation and the gain of one output."""
    variance = float(np.average(left**2, weights=weights))
    white = Conditioned(Waves.none(), theta, variance / weights, np.zeros(len(theta)))
    nothing_to_tell = (white, float(np.sqrt(variance)), 0.0)
    if len(theta) < FEWEST or not np.sqrt(variance) > _ROUNDING * size:
        return nothing_to_tell
    rows = _chosen_rows(len(theta))
    say = np.ones(len(theta))
    if robust:
        scale = max(float(robust_scale(left[:, None], weights)[0]), 1e-300)
        say = _say(left * np.sqrt(weights) / scale)
    search = _Search(theta[rows], left[rows], weights[rows] * say[rows])
    found = search.run()
    if found is None:
        return nothing_to_tell
    for _ in range(_ROUNDS if robust else 0):
        process, factor = search.conditioned(found, theta, left, weights * say)
        distance, spread = process.left_out()
        own = factor / weights  # what the white noise of a sample would be with all its say
        before, say = say, _say(distance / np.sqrt(np.maximum(spread - own / say, 0.0) + own))
        if np.array_equal(before, say):
            break
        search = _Search(theta[rows], left[rows], weights[rows] * say[rows])
        found, _ = search.climbed(found)
    process, factor = search.conditioned(found, theta, left, weights * say)
    return process, float(np.sqrt(factor)), search.gain(found)


def _say(deviations: FloatArray) -> FloatArray:
    """Weight of samples so many deviations away: one up to four, nothing from eight on."""
    return np.clip((_GONE - np.abs(deviations)) / (_GONE - FAR), _LEAST, 1.0)


def _chosen_rows(n: int) -> IndexArray:
    """All rows, or stretches of neighbours spread over the record."""
    if n <= ROWS:
        return np.arange(n)
    length = ROWS // _BLOCKS
    starts = np.linspace(0, n - length, _BLOCKS).astype(np.intp)
    return (starts[:, None] + np.arange(length)).ravel()


class _Search:
    """Oscillators by maximum likelihood; parameters are logarithms, three per oscillator."""

    def __init__(self, theta: FloatArray, values: FloatArray, weights: FloatArray) -> None:
        self.theta, self.values, self.noise = theta, values, 1.0 / weights
        nyquist = 0.5 * len(np.unique(theta)) / max(np.ptp(theta) / 2.0, 1e-300)
        self.fastest = np.pi * max(nyquist, 1.0)
        bounds = ((0.1 * np.pi, 10.0 * self.fastest), _QUALITY, _RATIO)
        self.bounds = [(np.log(low), np.log(high)) for low, high in bounds]
        self.penalty = 1.5 * np.log(len(theta))  # half of three parameters' log n
        self.white = -0.5 * (
            len(theta) * np.log(np.mean(values**2 / self.noise)) + np.log(self.noise).sum()
        )

    def gain(self, parameters: FloatArray) -> float:
        """Log-likelihood above that of white noise."""
        return self._likelihood(parameters)[0] - float(self.white)

    def _likelihood(self, parameters: FloatArray) -> tuple[float, float]:
        return log_likelihood(_waves(parameters), self.theta, self.values, self.noise)

    def run(self) -> FloatArray | None:
        """Return the likeliest oscillators that pay for themselves; None for white noise."""
        found, best = np.zeros(0), 0.0
        for _ in range(OSCILLATORS):
            more, gain = self._started(found)
            if not best and gain < 0.25 * self.penalty:  # a coarse start has much of the gain
                break
            more, gain = self.climbed(more)
            if gain - best < (self.penalty if not best else AKAIKE):
                break
            found, best = more, gain
        return found if len(found) else None

    def _started(self, found: FloatArray) -> tuple[FloatArray, float]:
        """Return the parameters with the best of some starts for one oscillator more."""
        frequencies = np.geomspace(np.pi, self.fastest, _FREQUENCIES)
        starts = [
            np.concatenate([found, np.log(start)])
            for start in product(frequencies, _QUALITIES, _RATIOS)
        ]
        gains = [self.gain(start) for start in starts]
        best = int(np.argmax(gains))
        return starts[best], gains[best]

    def climbed(self, start: FloatArray) -> tuple[FloatArray, float]:
        """Return the likeliest parameters near a start."""

        def cost(parameters: FloatArray) -> float:
            value = self._likelihood(parameters)[0]
            return -value if np.isfinite(value) else 1e12

        bounds = self.bounds * (len(start) // 3)
        climbed = minimize(cost, start, method="L-BFGS-B", bounds=bounds, options={"eps": 1e-5})
        return (
            (climbed.x, self.gain(climbed.x))
            if climbed.fun < cost(start)
            else (start, self.gain(start))
        )

    def conditioned(
        self, found: FloatArray, theta: FloatArray, values: FloatArray, weights: FloatArray
    ) -> tuple[Conditioned, float]:
        """Return the process given all rows, and the white variance."""
        factor = self._likelihood(found)[1]
        waves = _waves(found).scaled(factor)
        return Conditioned.on(waves, theta, factor / weights, values), factor


def _waves(parameters: FloatArray) -> Waves:
    return Waves.joined([oscillator(*np.exp(three)) for three in parameters.reshape(-1, 3)])
