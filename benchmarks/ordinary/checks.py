"""What no fit may say, whatever the data: numbers that contradict themselves or the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.ordinary.problem import Problem
from robustfourier.arrays import FloatArray

SMALL = 0.01  # of the variance; a pattern below is a footnote that nobody acts on
SHARE = 0.1  # a stated share is two standard errors √(2/n) of a variance from the truth at n = 800
COVERED = (
    0.6  # of new measurements in a 90 % interval; 5 of 10 have odds of 1 to 600 if it is right
)
# A robust level lies between median and mean: up to 0.3 deviations from the mean for exponential
# noise, whose deviation around it is then √(1 + 0.3²) = 1.05 times as large.
ROBUST_LEVEL = 1.05
# A sinusoid of which half is seen goes on by as much again as it was seen to vary; three times
# the range of the values on either side is far beyond.
BEYOND = 3.0
PLACES = 1000  # between first and last sample at which a prediction is looked at


@dataclass(frozen=True, eq=False)
class Parts:
    """Values, trend and patterns of a fit at the samples, on the scale on which they add up.

    `values`, `trend` (n,). `patterns` (n, C). `weights` (n,): zero for values that are wild by
    construction.
    """

    values: FloatArray
    trend: FloatArray
    patterns: FloatArray
    weights: FloatArray

    def deviation(self, values: FloatArray, centred: bool = True) -> float:
        """Weighted standard deviation, or root mean square if it is not centred."""
        mean = np.average(values, weights=self.weights) if centred else 0.0
        return float(np.sqrt(np.average((values - mean) ** 2, weights=self.weights)))

    @property
    def left(self) -> FloatArray:
        """What trend and patterns leave over."""
        return self.values - self.trend - self.patterns.sum(axis=1)


def parts(model: Any, problem: Problem) -> Parts:
    """Take a fit apart at the samples of its problem."""
    apart = model.decompose(problem.times)
    values, trend = problem.values, np.asarray(apart.trend, float)
    patterns = np.asarray(apart.components, float).reshape(len(values), -1)
    if apart.scale == "log":
        values, trend, patterns = np.log(values), np.log(trend), np.log(patterns)
    weights = np.ones(len(values)) if problem.errors is None else problem.errors**-2.0
    if problem.wild is not None:
        weights = np.where(problem.wild, 0.0, weights)
    return Parts(values, trend, patterns, weights)


def faults(model: Any, problem: Problem) -> tuple[str, ...]:
    """Return all that is wrong with a fit by itself."""
    apart = parts(model, problem)
    return (
        *_not_finite(model, problem),
        *_share(model, apart),
        *_in_sample(apart),
        *_between_samples(model, problem),
        *_forecast(model, problem),
    )


def _not_finite(model: Any, problem: Problem) -> list[str]:
    """Numbers that are not finite, or errors beyond what they are errors of.

    Errors count where they are worth a pattern.
    """
    faults = []
    variance = float(np.var(problem.values))
    amplitude, error = (
        np.asarray(getattr(model.modes_, name), float) for name in ("amplitude", "amplitude_error")
    )
    if not (np.isfinite(amplitude).all() and np.isfinite(error).all()):
        faults.append("an amplitude is not finite")
    # A sinusoid of amplitude a has the variance a²/2.
    elif wild := np.count_nonzero((error > amplitude) & (0.5 * error**2 > SMALL * variance)):
        faults.append(f"{wild} amplitudes below their errors")
    if not (np.isfinite(model.noise_) and model.noise_ >= 0.0):
        faults.append(f"noise is {model.noise_}")
    mean, deviation = model.predict(problem.times, return_std=True)
    if not (np.isfinite(mean).all() and np.isfinite(deviation).all()):
        faults.append("a prediction is not finite")
    return faults


def _share(model: Any, apart: Parts) -> list[str]:
    """Stated shares that do not add up to what the patterns really explain."""
    stated = float(sum(np.sum(component.share) for component in model.components_))
    around = apart.deviation(apart.values - apart.trend)
    if not (around > 0.0 and apart.patterns.size):
        return []
    explained = 1.0 - (apart.deviation(apart.left) / around) ** 2
    if abs(stated - explained) <= SHARE:
        return []
    return [f"shares add up to {stated:.0%}, explained are {explained:.0%}"]


def _in_sample(apart: Parts) -> list[str]:
    """A fit that is worse than the mean, or than its own trend, on the samples themselves."""
    mean = ROBUST_LEVEL * apart.deviation(apart.values)
    trend = apart.deviation(apart.values - apart.trend, centred=False)
    left = apart.deviation(apart.left, centred=False)
    least = min(mean, trend)
    if left <= least * (1.0 + 1e-6) + 1e-12:
        return []
    return [f"in-sample error {left:.3g}, of the trend {least:.3g}"]


def _between_samples(model: Any, problem: Problem) -> list[str]:
    """A prediction between samples that is far beyond all values."""
    first, last = problem.times[0], problem.times[-1]
    predicted = np.asarray(
        model.predict(first + (last - first) * np.linspace(0.0, 1.0, PLACES)), float
    )
    low, high = problem.values.min(), problem.values.max()
    far = np.maximum(predicted - high, low - predicted).max()
    if not far > BEYOND * (high - low) + 1e-9:
        return []
    return [f"prediction {far / (high - low):.2g} ranges beyond all values"]


def _forecast(model: Any, problem: Problem) -> list[str]:
    """An interval of no width, or one that misses what came."""
    if problem.ahead is None:
        return []
    predicted = model.forecast(times=problem.ahead.times)
    if not (np.asarray(predicted.upper) > np.asarray(predicted.lower)).all():
        return ["forecast interval of zero width"]
    inside = np.mean(
        (problem.ahead.values >= predicted.lower) & (problem.ahead.values <= predicted.upper)
    )
    return [] if inside >= COVERED else [f"{inside:.0%} in the 90 % forecast interval"]
