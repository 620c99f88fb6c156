"""Drift: what comes before and after a record whose trend is more than a level.

Inside the record a trend is a few columns. Beyond its ends these say nothing: what goes on is the
level and the slope that the last samples had, and both may change as they did before. There the
slow part is read as a drift, a creeping oscillator driven by noise that is far slower than the
record (between a random walk and one of the slope), beside the remainder and the living patterns,
around one level; all of it by maximum likelihood.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize

from robustfourier.arrays import FloatArray
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.onward import Onward
from robustfourier.mixture.process import Conditioned, Waves
from robustfourier.mixture.remainder import (
    AKAIKE,
    COARSE,
    FEWEST,
    OscillatorSearch,
    chosen_rows,
    say_of,
)
from robustfourier.mixture.search.robust import robust_scale
from robustfourier.mixture.series import Series

__all__ = ["with_drift"]

ROWS = 2_000  # rows on which likelihoods are taken: what is slow, few tell as well
# Where the search starts: radians per θ, quality, variance over the white one.
_SPEEDS = (0.1, 0.5, 2.0)
_QUALITIES = (0.03, 0.2, 0.5)
_RATIOS = (1e1, 1e4, 1e7)
# A drift is slower than two radians per cycle of the record, θ being two of them, and does not
# ring; from a hundredth of a radian on it is a straight line.
_BOUNDS = ((0.03, 2.0 * np.pi), (0.01, 0.5), (1e-4, 1e9))


def with_drift(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; what it says beyond its ends follows the last samples.

    Parameters
    ----------
    model : ColumnModel
    series : Series
        The samples that it was fitted to.
    """
    if model.trend_kind == "level" or len(series.theta) < FEWEST:
        return model
    values = series.original * series.scale + series.centre - model.strict_at(series.theta)
    found = [_one_output(model, series, o, values[:, o]) for o in range(values.shape[1])]
    parts, white, gain, oscillators, level, error = zip(*found, strict=True)
    numbers = (np.array(column) for column in (level, error))
    onward = Onward(tuple(parts), np.array(white), np.array(gain), tuple(oscillators), *numbers)
    return replace(model, onward=onward)


def _one_output(
    model: ColumnModel, series: Series, o: int, values: FloatArray
) -> tuple[Conditioned, float, float, FloatArray, float, float]:
    """Return the fields of `Onward` for one output."""
    noise, beside, oscillators = _known(model, series, o)
    theta, rows = series.theta, chosen_rows(len(series.theta), ROWS)
    level = float(np.average(values, weights=1.0 / noise))
    search = _Search(theta[rows], values[rows] - level, 1.0 / noise[rows], beside)
    found = search.best(oscillators)
    process, factor = search.conditioned(found, theta, values, 1.0 / noise)
    one = process.divided(np.ones((len(theta), 1)))[:, 0]
    precision = max(float(one.sum()), 1e-300)
    level = float(process.solved.sum()) / precision
    process = replace(process, solved=process.solved - level * one)
    told = np.exp(found.reshape(-1, 3))
    return process, float(np.sqrt(factor)), search.gain(found), told, level, precision**-0.5


def _known(model: ColumnModel, series: Series, o: int) -> tuple[FloatArray, Waves, FloatArray]:
    """White variances up to a factor; living patterns over that; logarithms of the oscillators."""
    left = model.remainder
    if left is not None:
        white, waves = float(left.white[o] ** 2), left.parts[o].waves
        living = waves.select(waves.owner >= 0).scaled(1.0 / white)
        return left.parts[o].noise / white, living, np.log(left.oscillators[o]).ravel()
    weights = series.weights
    if series.settings.loss != "squared":
        values = series.original[:, [o]] * series.scale[o] + series.centre[o]
        off = values - model.evaluate(series.theta)[:, [o]]
        scale = max(float(robust_scale(off, weights)[0]), 1e-300)
        weights = weights * say_of(off[:, 0] * np.sqrt(weights) / scale)
    return 1.0 / weights, Waves.none(), np.zeros(0)


class _Search(OscillatorSearch):
    """A drift, the first three of the parameters, and other oscillators beside it."""

    def best(self, oscillators: FloatArray) -> FloatArray:
        """Return the likeliest parameters; `oscillators` are those found beside a trend."""
        starts = [
            np.concatenate([np.log(drift), beside])
            for beside in ([oscillators, np.zeros(0)] if len(oscillators) else [oscillators])
            for drift in product(_SPEEDS, _QUALITIES, _RATIOS)
        ]
        worth = [self._worth(start) for start in starts]
        sizes = {len(start) for start in starts}
        firsts = [
            max((w, i) for i, w in enumerate(worth) if len(starts[i]) == size)[1] for size in sizes
        ]
        found = max((self.risen(starts[i]) for i in firsts), key=self._worth)
        start = self._started(found, (1.0,))[0]
        if self._worth(start) < self._worth(found) - 2.0 * AKAIKE:  # a start has much of the gain
            return found
        return max(found, self.risen(start), key=self._worth)

    def _worth(self, parameters: FloatArray) -> float:
        """Log-likelihood less Akaike's penalty."""
        return self.likelihood(parameters)[0] - AKAIKE * (len(parameters) // 3)

    def risen(self, start: FloatArray) -> FloatArray:
        """Return the likeliest parameters near a start."""

        def cost(parameters: FloatArray) -> float:
            value = self.likelihood(parameters)[0]
            return -value if np.isfinite(value) else 1e12

        drift = [(np.log(low), np.log(high)) for low, high in _BOUNDS]
        bounds = drift + self.bounds * (len(start) // 3 - 1)
        options: Any = {"eps": 1e-5, "ftol": COARSE}
        climbed: Any = minimize(cost, start, method="L-BFGS-B", bounds=bounds, options=options)
        return np.asarray(climbed.x if climbed.fun < cost(start) else start, np.float64)
