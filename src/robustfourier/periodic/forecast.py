r"""Forecast: extrapolation of level and slope, and back-test inflation of its errors.

Inside a record a trend is a few columns. Beyond its ends these say nothing: what goes on is the
level and the slope that the last samples had, and both may change as they did before. There the
slow part is a line and an integrated Ornstein–Uhlenbeck process around it, whose slope changes at
random and forgets its changes: at once (a random walk of the level), in a part of the record, or
hardly ever (a random walk of the slope). How fast, and how strong it is, the evidence says: of a
grid of processes, with and without a slope of the line, with and without the slow oscillators of
the residual process, which may be drift, the likeliest goes on. Quasi-periodic components are part
of all. A record without a trend goes on around its level, and a straight line in white noise stays
one.

The back-test goes through the second half of the record: samples up to an origin predict those
after it, by the process found on all. Where squared errors over their variances are more than one
on average, so many steps ahead, forecasts are wider by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.periodic.basis import trend_columns
from robustfourier.periodic.kernels import (
    Kernel,
    integrated_ornstein_uhlenbeck,
    sho_of_logarithms,
)
from robustfourier.periodic.residual_process import joined_errors
from robustfourier.periodic.semiseparable import (
    ConditionedProcess,
    FilteredState,
    Observations,
    normal_equations,
)

ROWS = 2_000  # rows on which likelihoods are taken: what is slow, few tell as well
# Rates at which changes of the slope are forgotten, per θ; the record is 2 long. A slope that lasts
# for five records is that of a bend, one that lasts for half of it comes and goes, and one that
# lasts for a two-hundredth is a step of a random walk. With seven rates from 0.3 to 300, forty
# processes and variances half as far apart, mean coverages of 25 kinds of real and simulated series
# moved by 1 % or less.
_RATES = (0.1, 1.0, 10.0, 100.0)
_APART = 10.0  # times one variance of the grid is the next
_LAG = 0.2  # a tenth of the record: the strength of a drift is its change meanwhile
# The drift itself comes back to its line at this frequency, radians per θ: a hundredth of a swing
# within the record. It has to, for a covariance without end is none.
_SLOWEST = 0.03
_LARGEST = 1e12  # variance over the white one: rounding is then a hundredth of the white deviation
_OSCILLATOR = 3.0  # price of an oscillator, Akaike's: one for each of its parameters

#: Ends of the bins of horizons of the back-test, in parts of the record.
HORIZONS = (0.025, 0.05, 0.1, 0.2)
_ORIGINS = np.linspace(0.5, 0.95, 20)  # of the back-test, in parts of the rows
_TIMES = 15  # samples taken in each bin: neighbours have nearly the same error


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """What lies beyond the ends of a record, strict lines and breakpoints aside.

    Parameters
    ----------
    parts : tuple of ConditionedProcess
        For each output drift, residual process and quasi-periodic components around its line, in
        units of y.
    white : ndarray of shape (q,)
        Standard deviation of the white part, of a sample of weight one.
    lines : ndarray of shape (2, q)
        Level and slope of the line, the slope zero where there is none.
    factor : ndarray of shape (q, 2, 2)
        The covariance of level and slope is ``factor @ factor.T``.
    """

    parts: tuple[ConditionedProcess, ...]
    white: FloatArray
    lines: FloatArray
    factor: FloatArray

    def beyond(self, theta: FloatArray) -> BoolArray:
        """Return which θ lie before the first sample or after the last."""
        first, last = self.parts[0].theta[[0, -1]]
        return np.asarray((theta < first) | (theta > last))

    def line_at(self, theta: FloatArray) -> FloatArray:
        """Return the line at θ, shape (n, q)."""
        return trend_columns(theta, 2) @ self.lines

    def mean(self, theta: FloatArray, owner: int = -1) -> FloatArray:
        """Return line, drift and residual process at θ, or one quasi-periodic component, (n, q)."""
        own = [part.mean(theta, part.kernel.component == owner) for part in self.parts]
        around = np.stack(own, axis=1)
        return around if owner >= 0 else around + self.line_at(theta)

    def variance(self, theta: FloatArray) -> FloatArray:
        """Return the variance of line and processes at θ, shape (n, q)."""
        own = np.stack([part.variance(theta) for part in self.parts], axis=1)
        return own + joined_errors(self.parts, theta, _columns, self.factor) ** 2


def _columns(theta: FloatArray) -> FloatArray:
    return trend_columns(theta, 2)


class Known(NamedTuple):
    """What a fit knows of one output, beside its trend and strict lines.

    Parameters
    ----------
    noise : ndarray of shape (n,)
        White variances up to a factor.
    white : float
        That factor.
    components : Kernel
        Quasi-periodic components, over the white variance.
    oscillators : ndarray of shape (k, 3)
        Logarithms of ω₀, Q and variance over the white one.
    """

    noise: FloatArray
    white: float
    components: Kernel
    oscillators: FloatArray


def extrapolated(
    theta: FloatArray,
    values: FloatArray,
    known: list[Known],
    chosen: Callable[[int, int], IndexArray],
) -> Extrapolation:
    """Return how a record goes on beyond its ends.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Sorted.
    values : ndarray of shape (n, q)
        Without strict lines and breakpoints.
    known : list of Known
        One for each output.
    chosen : callable
        Rows of a record of n, at most so many.
    """
    each = [_one_output(theta, *pair, chosen) for pair in zip(values.T, known, strict=True)]
    parts, white, lines, factors = zip(*each, strict=True)
    return Extrapolation(parts, np.array(white), np.stack(lines, axis=1), np.stack(factors))


class _Case(NamedTuple):
    """A candidate: log evidence, white variance, kernel over that variance, columns of the line."""

    evidence: float
    white: float
    kernel: Kernel
    columns: int


def _one_output(
    theta: FloatArray, values: FloatArray, known: Known, chosen: Callable[[int, int], IndexArray]
) -> tuple[ConditionedProcess, float, FloatArray, FloatArray]:
    """Return the fields of `Extrapolation` for one output."""
    noise, white, components, oscillators = known
    centre = float(np.average(values, weights=1.0 / noise))
    samples = Observations(theta, values - centre, noise)
    few = samples.select(chosen(len(theta), ROWS))
    best = max(_cases(few, white, components, oscillators), key=lambda case: case.evidence)
    line, factor = _line(best, samples)
    line[0] += centre
    around, kernel = values - trend_columns(theta, 2) @ line, best.kernel.scaled(best.white)
    process = ConditionedProcess.on(kernel, theta, best.white * noise, around)
    return process, float(np.sqrt(best.white)), line, factor


def _slope_variance(samples: Observations) -> float:
    """Prior variance of the slope: that which is all of the values' variation.

    θ has the variance 1/3.
    """
    return 3.0 * samples.variance


def _cases(
    samples: Observations, white: float, components: Kernel, oscillators: FloatArray
) -> Iterator[_Case]:
    """Every candidate."""
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
        known = Kernel.sum([components, sho_of_logarithms(slowest_last[:kept].ravel())])
        yield from _compared(samples, white, _OSCILLATOR * kept, known, drifts)


def _compared(
    samples: Observations,
    white: float,
    price: float,
    known: Kernel,
    drifts: list[Kernel],
) -> Iterator[_Case]:
    """Yield candidates with each drift, around a level and around a line with a slope.

    The evidence is that of all levels and slopes together, a level of any size and a slope of its
    prior variance, less the price of what is known.
    """
    theta, values, noise = samples
    columns = np.column_stack([values, trend_columns(theta, 2)])
    kernels = [Kernel.sum([known, drift]) for drift in drifts]
    found = [normal_equations(kernel, theta, noise, columns) for kernel in kernels]
    gram, determinant = (np.array(numbers) for numbers in zip(*found, strict=True))
    freedom, prior = len(theta) - 1, white / _slope_variance(samples)
    level, slope = gram[:, 1, 1], gram[:, 2, 2] + prior
    # The slope and its product with the values, around the level. Where there is no covariance
    # the products are infinite, and no likelihood is finite.
    with np.errstate(divide="ignore", invalid="ignore"):
        own = slope - gram[:, 2, 1] ** 2 / level
        along = gram[:, 2, 0] - gram[:, 1, 0] * gram[:, 2, 1] / level
        around = gram[:, 0, 0] - gram[:, 1, 0] ** 2 / level
        factors = np.stack([around, around - along**2 / own]) / freedom
        slopes = np.stack([np.zeros(len(own)), np.log(own / prior)])
        volumes = determinant + np.log(level) + slopes
        evidence = -0.5 * (freedom * np.log(factors) + volumes) - price
    for i, kernel in enumerate(kernels):
        for count in (1, 2):
            if np.isfinite(worth := float(evidence[count - 1, i])):
                yield _Case(worth, float(factors[count - 1, i]), kernel, count)


def _line(case: _Case, samples: Observations) -> tuple[FloatArray, FloatArray]:
    """Return level and slope of a candidate, zero if it has none, and a root of their covariance.

    A level of any size, and a slope of its prior variance.
    """
    theta, values, noise = samples
    columns = np.column_stack([values, trend_columns(theta, case.columns)])
    gram, _ = normal_equations(case.kernel.scaled(case.white), theta, case.white * noise, columns)
    prior = np.diag([0.0, 1.0 / _slope_variance(samples)])[: case.columns, : case.columns]
    covariance = np.linalg.inv(gram[1:, 1:] + prior)
    line, factor = np.zeros(2), np.zeros((2, 2))
    line[: case.columns] = covariance @ gram[1:, 0]
    factor[: case.columns, : case.columns] = np.linalg.cholesky(covariance)
    return line, factor


def backtest_inflation(process: ConditionedProcess, values: FloatArray) -> FloatArray:
    """Return factors of the standard error at the horizons, see `inflation_of`.

    Parameters
    ----------
    process : ConditionedProcess
    values : ndarray of shape (n,)
        What it was conditioned on.

    Examples
    --------
    >>> from robustfourier.periodic.kernels import sho
    >>> t = np.linspace(-1, 1, 400)
    >>> y = np.cumsum(np.random.default_rng(0).normal(size=400))
    >>> quiet = ConditionedProcess.on(sho([[2.0, 0.1, 1.0]]), t, np.full(400, 0.1), y)
    >>> bool((backtest_inflation(quiet, y) > 5).all())
    True
    """
    return inflation_of(_standardised(process, values))


def inflation_of(squares: list[FloatArray]) -> FloatArray:
    """Return factors of the standard error at the horizons, at least one and never falling.

    `squares` holds the squared errors over their variances for each bin of horizons.

    >>> inflation_of([np.array([0.5]), np.array([5.0, 3.0]), np.array([1.0]), np.zeros(0)])
    array([1., 2., 2., 2.])
    """
    means = [float(np.mean(some)) if len(some) else 1.0 for some in squares]
    return np.sqrt(np.maximum.accumulate(np.maximum(means, 1.0)))


def _standardised(process: ConditionedProcess, values: FloatArray) -> list[FloatArray]:
    """Squared errors over their variances, of all origins, for each bin of horizons."""
    theta, noise = process.theta, process.noise
    origins = np.unique((_ORIGINS * len(theta)).astype(int))
    rows, counts = _ahead(theta, origins)
    mean, variance = forecast_after(process, values, origins - 1, theta[rows])
    squared = (values[rows] - mean) ** 2 / (variance + noise[rows])
    bins = (x.reshape(len(origins), len(HORIZONS), _TIMES) for x in (squared, counts))
    return [some[which] for some, which in zip(*(x.swapaxes(0, 1) for x in bins), strict=True)]


def forecast_after(
    process: ConditionedProcess, values: FloatArray, rows: IndexArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return what the samples up to each of m rows tell of later times, and its variance.

    Parameters
    ----------
    process : ConditionedProcess
    values : ndarray of shape (n,)
        What it was conditioned on.
    rows : ndarray of int of shape (m,)
    theta : ndarray of shape (m, k)
        Times after each of these rows.

    Returns
    -------
    pair of ndarray of shape (m, k)
    """
    kernel = process.kernel
    told, known, _ = FilteredState.after(
        rows, kernel, process.theta, process.noise, values[:, None]
    )
    u, _ = kernel.generators(theta.ravel())
    far = theta - process.theta[rows, None]
    decay = np.exp(-np.multiply.outer(far, kernel.per_column(kernel.c)))
    seen = u.reshape(*theta.shape, -1) * decay
    spread = kernel.variance - np.einsum("mni,mni->mn", seen @ known, seen)
    return (seen @ told)[:, :, 0], np.maximum(spread, 0.0)


def _ahead(theta: FloatArray, origins: IndexArray) -> tuple[IndexArray, BoolArray]:
    """Rows after each origin, `_TIMES` in each bin of horizons, and which of them count.

    A row counts once, and none does where a bin is empty.
    """
    ends = theta[origins - 1, None] + 2.0 * np.array((0.0, *HORIZONS))  # the record is 2 in θ
    edges = np.maximum(np.searchsorted(theta, ends, side="right"), origins[:, None])
    low, high = edges[:, :-1, None], edges[:, 1:, None] - 1
    rows = (low + np.arange(_TIMES) * ((high - low) / (_TIMES - 1))).astype(int)
    rows[..., -1:] = high
    counts = (np.diff(rows, axis=2, prepend=-1) > 0) & (high >= low)
    return np.clip(rows, 0, len(theta) - 1).reshape(len(origins), -1), counts
