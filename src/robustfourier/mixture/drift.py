"""Drift: what comes before and after a record whose trend bends.

Inside the record a bend is a few columns. Beyond its ends these say nothing: what goes on is the
level and the slope that the last samples had, and both may change as they did before. There the
slow part is read as a drift, a creeping oscillator driven by noise that is far slower than the
record (between a random walk and one of the slope), beside the remainder and the living patterns,
around one level; all of it by maximum likelihood. A trend that is a straight line stays one, with a
drift around it where what is left over has a memory.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.onward import Onward
from robustfourier.mixture.process import Conditioned, Waves
from robustfourier.mixture.remainder import (
    AKAIKE,
    FEWEST,
    OscillatorSearch,
    chosen_rows,
    say_of,
)
from robustfourier.mixture.search.robust import robust_scale
from robustfourier.mixture.series import Series
from robustfourier.mixture.trend import trend_columns

__all__ = ["with_drift"]

ROWS = 2_000  # rows on which likelihoods are taken: what is slow, few tell as well
# Where the search starts: radians per θ, quality, variance over the white one.
_SPEEDS = (0.1, 0.3, 1.0)
_QUALITIES = (0.001, 0.03, 0.5)
_RATIOS = (1e1, 1e4, 1e7)
# The record is two in θ: what is faster than one radian per θ comes back to its level within it,
# and below a thirtieth it is a straight line. A drift does not ring; at the lowest quality it is a
# random walk from one of ten thousand samples to the next.
_BOUNDS = ((0.03, 1.0), (1e-4, 0.5), (1e-4, 1e9))


def with_drift(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; what it says beyond its ends follows the last samples.

    Parameters
    ----------
    model : ColumnModel
    series : Series
        The samples that it was fitted to.
    """
    remembers = model.remainder is not None
    count = {"level": 0, "slope": 2 if remembers else 0, "smooth": 1}[model.trend_kind]
    if not count or len(series.theta) < FEWEST:
        return model
    columns = trend_columns(series.theta, count)
    values = series.original * series.scale + series.centre - model.strict_at(series.theta)
    found = [_one_output(model, series, o, columns, column) for o, column in enumerate(values.T)]
    parts, white, gain, oscillators, line, factor = zip(*found, strict=True)
    process = (tuple(parts), np.array(white), np.array(gain), tuple(oscillators))
    return replace(model, onward=Onward(*process, np.stack(line, axis=1), np.stack(factor)))


def _one_output(
    model: ColumnModel, series: Series, o: int, columns: FloatArray, values: FloatArray
) -> tuple[Conditioned, float, float, FloatArray, FloatArray, FloatArray]:
    """Return the fields of `Onward` for one output."""
    noise, beside, oscillators = _known(model, series, o)
    theta, rows = series.theta, chosen_rows(len(series.theta), ROWS)
    root = 1.0 / np.sqrt(noise)
    plain = np.linalg.lstsq(columns * root[:, None], values * root, rcond=None)[0]
    left = values - columns @ plain
    search = _Search(theta[rows], left[rows], 1.0 / noise[rows], beside)
    found = search.best(oscillators)
    process, factor = search.conditioned(found, theta, left, 1.0 / noise)
    divided = process.divided(columns)
    covariance = np.linalg.inv(columns.T @ divided)
    more = covariance @ (divided.T @ left)
    process = replace(process, solved=process.solved - divided @ more)
    told = np.exp(found.reshape(-1, 3))
    errors = np.linalg.cholesky(covariance)
    return process, float(np.sqrt(factor)), search.gain(found), told, plain + more, errors


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
        oscillators = oscillators[np.repeat(_is_no_line(oscillators), 3)]
        ends = []
        for beside in [oscillators, np.zeros(0)] if len(oscillators) else [oscillators]:
            drifts = product(_SPEEDS, _QUALITIES, _RATIOS)
            starts = [np.concatenate([np.log(drift), beside]) for drift in drifts]
            ends.append(self.climbed(max(starts, key=self._worth), exact=False)[0])
        found = max(ends, key=self._worth)
        start = max(self._tried(found), key=lambda one: one[1])[0]
        if self._worth(start) < self._worth(found) - 2.0 * AKAIKE:  # a start has much of the gain
            return found
        more = self.climbed(start, exact=False)[0]
        return max(found, more, key=self._worth) if _is_no_line(more).all() else found

    def _worth(self, parameters: FloatArray) -> float:
        """Log-likelihood less Akaike's penalty."""
        return self.likelihood(parameters)[0] - AKAIKE * (len(parameters) // 3)

    def _bounds(self, parameters: FloatArray) -> list[tuple[float, float]]:
        drift = [(float(np.log(low)), float(np.log(high))) for low, high in _BOUNDS]
        return drift + self.bounds * (len(parameters) // 3 - 1)


def _is_no_line(parameters: FloatArray) -> BoolArray:
    """Return which oscillators forget within half the record; others the search for lines refused.

    They fade by e in 2 quality / frequency.
    """
    threes = np.exp(parameters.reshape(-1, 3))
    return np.asarray((threes[:, 1] <= 0.5) | (2.0 * threes[:, 1] <= threes[:, 0]))
