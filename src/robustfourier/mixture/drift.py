"""Drift: how level and slope go on before and after a record.

Inside the record a bend is a few columns. Beyond its ends these say nothing: what goes on is the
level and the slope that the last samples had, and both may change as they did before. There the
slow part is read as a line and a drift around it, whose slope changes at random and forgets its
changes: at once (a random walk of the level), in a part of the record, or hardly ever (a random
walk of the slope). How fast, and how strong the drift is, few records tell, so no single answer is
taken: all on a grid go on beside each other, each with the probability that the samples give it.
So do the line with and without a slope, and the remainder with and without its slow oscillators,
which may be drift. Living patterns are part of all. A record without a trend goes on around its
level, and a straight line in white noise stays one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.onward import Onward, Way
from robustfourier.mixture.remainder import (
    AKAIKE,
    FEWEST,
    chosen_rows,
    say_of,
)
from robustfourier.mixture.search.robust import robust_scale
from robustfourier.mixture.series import Series
from robustfourier.periodic.basis import trend_columns
from robustfourier.periodic.kernels import (
    Kernel,
    integrated_ornstein_uhlenbeck,
    sho_of_logarithms,
)
from robustfourier.periodic.semiseparable import (
    ConditionedProcess,
    FilteredState,
    Observations,
    normal_equations,
)

ROWS = 2_000  # rows on which likelihoods are taken: what is slow, few tell as well
CONDITIONED = 10_000  # rows that tell how the ways go on, in stretches up to the last one
# The likeliest ways are held, at most so many, and none a hundred times less likely than the best.
WAYS = 16
UNLIKELY = 0.01
# Rates at which changes of the slope are forgotten, per θ; the record is 2 long. A slope that lasts
# for five records is that of a bend, one that lasts for half of it comes and goes, and one that
# lasts for a two-hundredth is a step of a random walk. With seven rates from 0.3 to 300, forty
# ways and variances half as far apart, mean coverages of 25 kinds of real and simulated series
# moved by 1 % or less.
_RATES = (0.1, 1.0, 10.0, 100.0)
_APART = 10.0  # times one variance of the grid is the next
_LAG = 0.2  # a tenth of the record: the drift's strength is told by what it does meanwhile
# The drift itself comes back to its line at this frequency, radians per θ: a hundredth of a swing
# within the record. It has to, for a covariance without end is none.
_SLOWEST = 0.03
_LARGEST = 1e12  # variance over the white one: rounding is then a hundredth of the white deviation


class _Case(NamedTuple):
    """What may be the process: log-likelihood, white variance, terms, and columns of the line."""

    worth: float
    white: float
    oscillators: FloatArray
    terms: tuple[Kernel, Kernel]  # what is known, and the drift
    columns: int

    @property
    def kernel(self) -> Kernel:
        """All terms together."""
        return Kernel.sum([*self.terms])


def with_drift(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; what it says beyond its ends follows the last samples.

    Parameters
    ----------
    model : ColumnModel
    series : Series
        The samples that it was fitted to.
    """
    steady = {"level": True, "slope": model.remainder is None, "smooth": False}
    if steady[model.trend_kind] or len(series.theta) < FEWEST:
        return model
    values = series.original * series.scale + series.centre - model.strict_at(series.theta)
    found = [_one_output(model, series, o, column) for o, column in enumerate(values.T)]
    parts, white, gain, oscillators, ways = zip(*found, strict=True)
    process = (tuple(parts), np.array(white), np.array(gain), tuple(oscillators))
    return replace(model, onward=Onward(*process, tuple(ways)))


def _one_output(
    model: ColumnModel, series: Series, o: int, values: FloatArray
) -> tuple[ConditionedProcess, float, float, FloatArray, tuple[Way, ...]]:
    """Return the fields of `Onward` for one output."""
    noise, white, beside, oscillators = _known(model, series, o)
    theta, n = series.theta, len(series.theta)
    centre = float(np.average(values, weights=1.0 / noise))
    samples = Observations(theta, values - centre, noise)
    few = samples.select(chosen_rows(n, ROWS))
    cases = _likeliest(list(_cases(few, white, beside, oscillators)))
    weights = np.exp([case.worth - cases[0].worth for case in cases])
    many = samples.select(chosen_rows(n, CONDITIONED))
    before = np.diag([0.0, 1.0 / _steepest(many)])
    pairs = zip(cases, weights / weights.sum(), strict=True)
    ways = tuple(_way(case, float(weight), many, centre, before) for case, weight in pairs)
    best = cases[0]
    around = values - trend_columns(theta, best.columns) @ ways[0].line
    process = ConditionedProcess.on(
        best.kernel.scaled(best.white), theta, best.white * noise, around
    )
    gain = few.log_likelihood(best.kernel)[0] - few.log_likelihood(Kernel.zero())[0]
    return process, float(np.sqrt(best.white)), gain, np.exp(best.oscillators), ways


def _known(
    model: ColumnModel, series: Series, o: int
) -> tuple[FloatArray, float, Kernel, FloatArray]:
    """White variances up to a factor, that factor, living patterns over it, and oscillators.

    Oscillators are the logarithms of their parameters, shape (k, 3).
    """
    left = model.remainder
    if left is not None:
        white, kernel = float(left.white[o] ** 2), left.parts[o].kernel
        living = kernel.select(kernel.component >= 0).scaled(1.0 / white)
        return left.parts[o].noise / white, white, living, np.log(left.oscillators[o])
    weights, values = series.weights, series.original[:, [o]] * series.scale[o] + series.centre[o]
    off = values - model.evaluate(series.theta)[:, [o]]
    if series.settings.loss != "squared":
        scale = max(float(robust_scale(off, weights)[0]), 1e-300)
        weights = weights * say_of(off[:, 0] * np.sqrt(weights) / scale)
    white = float(np.mean(weights * off[:, 0] ** 2))
    return 1.0 / weights, white, Kernel.zero(), np.zeros((0, 3))


def _steepest(samples: Observations) -> float:
    """Variance that slopes have beforehand: that which is all of the values' variation.

    θ has the variance 1/3.
    """
    return 3.0 * samples.variance


def _cases(
    samples: Observations, white: float, beside: Kernel, oscillators: FloatArray
) -> Iterator[_Case]:
    """Every process that is looked at."""
    most = min(10.0 * samples.variance / max(white, 1e-300), _LARGEST)  # nothing changes by more
    # A drift that changes the level by less than its error cannot be seen.
    least = min(1.0 / len(samples.theta), most)
    count = 1 + round(np.log(most / least) / np.log(_APART))
    drifts = [
        integrated_ornstein_uhlenbeck(rate, _LAG, float(change), _SLOWEST)
        for rate, change in product(_RATES, np.geomspace(least, most, count))
    ]
    drifts = [drift for drift in drifts if drift.variance <= _LARGEST]
    slowest_last = oscillators[np.argsort(-oscillators[:, 0], kind="stable")]
    for kept in range(len(oscillators), -1, -1):
        some = slowest_last[:kept]
        known = Kernel.sum([beside, sho_of_logarithms(some.ravel())])
        yield from _judged(samples, white, some, known, drifts)


def _judged(
    samples: Observations,
    white: float,
    oscillators: FloatArray,
    known: Kernel,
    drifts: list[Kernel],
) -> Iterator[_Case]:
    """Yield processes with each drift, around a level and around a line with a slope.

    The likelihood is that of all levels and slopes together, a level of any size and a slope of the
    variance that is known beforehand.
    """
    theta, values, noise = samples
    columns = np.column_stack([values, trend_columns(theta, 2)])
    kernels = [Kernel.sum([known, drift]) for drift in drifts]
    found = [normal_equations(kernel, theta, noise, columns) for kernel in kernels]
    gram, determinant = (np.array(numbers) for numbers in zip(*found, strict=True))
    freedom, before = len(theta) - 1, white / _steepest(samples)
    level, slope = gram[:, 1, 1], gram[:, 2, 2] + before
    # The slope and its product with the values, around the level. Where there is no covariance
    # the products are infinite, and no likelihood is finite.
    with np.errstate(divide="ignore", invalid="ignore"):
        own = slope - gram[:, 2, 1] ** 2 / level
        along = gram[:, 2, 0] - gram[:, 1, 0] * gram[:, 2, 1] / level
        around = gram[:, 0, 0] - gram[:, 1, 0] ** 2 / level
        factors = np.stack([around, around - along**2 / own]) / freedom
        slopes = np.stack([np.zeros(len(own)), np.log(own / before)])
        volumes = determinant + np.log(level) + slopes
        worths = -0.5 * (freedom * np.log(factors) + volumes) - AKAIKE * len(oscillators)
    for i, drift in enumerate(drifts):
        for count in (1, 2):
            if np.isfinite(worth := float(worths[count - 1, i])):
                white = float(factors[count - 1, i])
                yield _Case(worth, white, oscillators, (known, drift), count)


def _likeliest(cases: list[_Case]) -> list[_Case]:
    """Return those that are not unlikely, the best first."""
    cases = sorted(cases, key=lambda case: case.worth, reverse=True)
    least = cases[0].worth + np.log(UNLIKELY)
    return [case for case in cases[:WAYS] if case.worth >= least]


def _way(
    case: _Case, weight: float, samples: Observations, centre: float, before: FloatArray
) -> Way:
    """Return how a process goes on.

    `centre` is what was taken off the values, `before` what is known of level and slope beforehand.
    """
    theta, values, noise = samples
    kernel = case.kernel.scaled(case.white)
    both = np.column_stack([values, trend_columns(theta, case.columns)])
    told, known, gram = FilteredState.at_ends(kernel, theta, case.white * noise, both)
    along = np.ascontiguousarray(told[:, :, 1:])  # as from a file: a saved model gives these bits
    covariance = np.linalg.inv(gram[1:, 1:] + before[: case.columns, : case.columns])
    line = covariance @ gram[1:, 0]
    left = told[:, :, 0] - along @ line
    line[0] += centre
    factor = np.linalg.cholesky(covariance)
    return Way(weight, kernel, theta[[0, -1]], left, known, along, line, factor)
