r"""Exponential smoothing: level, slope and seasons that follow the last samples of an even record.

Lines and a trend of few columns say what a record was like on the whole. What comes next also
depends on what has changed of late: the level, its slope, and the waveform of a season. The basic
structural model has a state for each of them, and in its innovations form (Hyndman, Koehler, Ord
and Snyder 2008) one error ε moves all states:

.. math::
    y_t = \ell_{t-1} + φ b_{t-1} + \sum_j s_{j, t - m_j} + u_t, \qquad u_t = ρ u_{t-1} + ε_t

    \ell_t = \ell_{t-1} + φ b_{t-1} + α ε_t, \quad b_t = φ b_{t-1} + β ε_t, \quad
    s_{j,t} = s_{j,t-m_j} + γ_j ε_t

It is fitted to the values, or to what strict lines leave of them. Which seasons change, and whether
there is a slope, few records tell: all are fitted, and a back-test within the record weighs them
and the extrapolation of the Gaussian processes (`robustfourier.periodic.forecast`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.optimize import minimize

from robustfourier.arrays import BoolArray, FloatArray, IntArray, IntVector, Matrix, Vector
from robustfourier.compiling import compiled

STEPS = 2_000  # of the grid, the last ones: what changed of late, they show
FEWEST = 24  # values that show how a level follows them
_AHEAD = 0.1  # of the record: the horizon of the back-test
_FIRST, _LAST, _ORIGINS = 0.3, 0.97, 24  # origins of the back-test, in parts of the record
# Squared errors of a forecast are correlated within a horizon. Windows that do not overlap: these
# are the independent errors whose likelihood, of a scale that is fitted, is scale^-windows.
_WINDOWS = (1.0 - _FIRST) / _AHEAD
_EVEN = 0.25  # of a step: times of an even record are no farther from their grid
_SNAP = 0.1  # of a step: months are not all as long, and still one step
_GAPS = 0.5  # of an even record's grid at most is without samples
_EVALUATIONS = 120
_SMALLEST = 1e-12  # of the values' deviation: errors below are rounding
_UNLIKELY = 1e-3  # weight below which a model is left out
# Logits of α, of β/α, of the damping in 0.8…1, of γ/(1 − α), and of ρ: where the search starts and
# the mean of their normal prior. A level that follows a quarter of an error, slopes and seasons
# that change slowly.
_START = {"level": (-1.0,), "slope": (-3.0, 1.0), "season": (-2.5,), "memory": (0.6,)}
_PRIOR_VARIANCE = 5.0
_SLOWEST_DAMPING = 0.8
_LARGEST_LOGIT = 8.0


@dataclass(frozen=True, eq=False)
class EvenGrid:
    """The even grid that the times of a record lie on, gaps allowed.

    Parameters
    ----------
    first, step : float
        The place k is ``first + k * step``.
    places : ndarray of int of shape (n,)
        Place of each sample, rising.
    """

    first: float
    step: float
    places: IntArray

    @classmethod
    def of(cls, theta: FloatArray) -> EvenGrid | None:
        """Return the grid of sorted times; None if they lie on none.

        Examples
        --------
        >>> EvenGrid.of(np.array([0.0, 1.0, 2.0, 4.0, 5.0])).places
        array([0, 1, 2, 4, 5])
        >>> EvenGrid.of(np.array([0.0, 1.0, 2.4, 3.0, 4.1])) is None
        True
        """
        apart = np.diff(theta)
        if len(theta) < 3 or not apart.min() > 0:
            return None
        places = np.concatenate([[0], np.cumsum(np.rint(apart / np.median(apart)))]).astype(int)
        if np.any(np.diff(places) == 0) or len(theta) < (1.0 - _GAPS) * places[-1]:
            return None
        step = float((theta[-1] - theta[0]) / places[-1])
        off = np.abs(theta - theta[0] - step * places)
        return cls(float(theta[0]), step, places) if off.max() <= _EVEN * step else None

    def at(self, places: IntArray) -> FloatArray:
        """Return the times of places."""
        return self.first + self.step * places.astype(np.float64)


def usable_seasons(lengths: FloatArray, steps: int) -> tuple[int, ...]:
    """Return season lengths that are whole steps and fit twice into a record, rising.

    A length is whole if its fraction makes less than half a step within the record.

    Examples
    --------
    >>> usable_seasons(np.array([24.0, 168.0, 8766.0, 12.3]), 700)
    (24, 168)
    """
    whole = np.rint(lengths)
    drift = np.abs(lengths - whole) * steps / np.maximum(whole, 1.0)
    use = (whole > 1) & (2 * whole <= steps) & (drift < 0.5)
    return tuple(sorted({int(length) for length in whole[use]}))


@dataclass(frozen=True, eq=False)
class Smoothing:
    """One model of exponential smoothing, at the end of its record.

    Parameters
    ----------
    weight : float
        Its probability.
    around_lines : bool
        Whether strict lines were taken off, and are to be added.
    seasons : ndarray of int of shape (J,)
        Their lengths in steps.
    gains : ndarray of shape (4,)
        α, β, φ and ρ.
    season_gains : ndarray of shape (J,)
        γ of each season.
    state : ndarray of shape (3,)
        Level, slope and the correlated error u after the last step.
    waveforms : ndarray of shape (Σ seasons,)
        The seasons one after the other, each from the first step after the record on.
    deviation : float
        Of an error one step ahead, such that the back-test's errors are what they should be.
    """

    weight: float
    around_lines: bool
    seasons: IntArray
    gains: FloatArray
    season_gains: FloatArray
    state: FloatArray
    waveforms: FloatArray
    deviation: float

    def mean(self, steps: IntArray) -> FloatArray:
        """Return the forecast so many steps after the last, each at least one."""
        _, _, damping, memory = self.gains
        level, slope, error = self.state
        damped = damping * (1.0 - damping**steps) / (1.0 - damping)
        values = np.asarray(level + slope * damped + error * memory**steps)
        start = 0
        for season in self.seasons:
            values = values + self.waveforms[start + (steps - 1) % season]
            start += int(season)
        return values

    def variance(self, steps: IntArray) -> FloatArray:
        """Return the variance of a new value so many steps ahead: σ² Σ c², c₀ = 1.

        c_j is what an error moves the forecast by j steps later.
        """
        lags = np.arange(1, min(int(steps.max()), 50 * STEPS))
        response = self._response(lags)
        total = np.concatenate([[1.0], 1.0 + np.cumsum(response**2)])
        beyond = np.maximum(steps - len(total), 0) * (response[-1] ** 2 if len(lags) else 0.0)
        return self.deviation**2 * (total[np.minimum(steps, len(total)) - 1] + beyond)

    def _response(self, lags: IntArray) -> FloatArray:
        follow, tilt, damping, memory = self.gains
        damped = damping * (1.0 - damping**lags) / (1.0 - damping)
        response = np.asarray(follow + tilt * damped + memory**lags)
        for season, gain in zip(self.seasons, self.season_gains, strict=True):
            response = response + gain * (lags % season == 0)
        return response


@dataclass(frozen=True, eq=False)
class SmoothingMixture:
    """Models of exponential smoothing, beside the forecast that a fit has without them.

    Parameters
    ----------
    last, step : float
        θ of the record's last step, and the length of one.
    own_weight : ndarray of shape (q,)
        Probability of the forecast without them; with those of the models it makes one.
    models : tuple of tuples of Smoothing
        For each output.
    """

    last: float
    step: float
    own_weight: FloatArray
    models: tuple[tuple[Smoothing, ...], ...]

    def after(self, theta: FloatArray) -> BoolArray:
        """Return which θ lie after the last sample."""
        return np.asarray(theta > self.last)

    def mean(self, theta: FloatArray, own: FloatArray, lines: FloatArray) -> FloatArray:
        """Return the mean of the mixture at θ after the record, shape (n, q).

        Parameters
        ----------
        theta : ndarray of shape (n,)
        own : ndarray of shape (n, q)
            The forecast without these models.
        lines : ndarray of shape (n, q)
            Strict lines.
        """
        places = self._places(theta)
        means = own * self.own_weight
        for o, models in enumerate(self.models):
            for model in models:
                means[:, o] += model.weight * self._one_mean(model, places, lines[:, o])
        return means

    def variance(
        self,
        theta: FloatArray,
        own: FloatArray,
        lines: FloatArray,
        own_variance: FloatArray,
        white: FloatArray,
    ) -> FloatArray:
        """Return the variance of the function, shape (n, q): of each model, and between them.

        Parameters
        ----------
        theta, own, lines
            As for `mean`.
        own_variance : ndarray of shape (n, q)
            Of the forecast without these models.
        white : ndarray of shape (q,)
            Standard deviation of measurements around the function.
        """
        places, mean = self._places(theta), self.mean(theta, own, lines)
        variance = self.own_weight * (own_variance + (own - mean) ** 2)
        nearest = np.maximum(np.rint(places[0] + places[2]).astype(int), 1)
        for o, models in enumerate(self.models):
            for model in models:
                off = self._one_mean(model, places, lines[:, o]) - mean[:, o]
                spread = np.maximum(model.variance(nearest) - white[o] ** 2, 0.0)
                variance[:, o] += model.weight * (spread + off**2)
        return variance

    def _places(self, theta: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """The steps before and after each θ, and the part of the way between them."""
        steps = (theta - self.last) / self.step
        before = np.floor(steps)
        part = np.clip((steps - before - _SNAP) / (1.0 - 2.0 * _SNAP), 0.0, 1.0)
        low = np.maximum(before.astype(int), 1)
        return low, np.maximum(before.astype(int) + 1, 1), np.where(before < 1, 0.0, part)

    @staticmethod
    def _one_mean(
        model: Smoothing, places: tuple[IntArray, IntArray, FloatArray], lines: FloatArray
    ) -> FloatArray:
        low, high, part = places
        values = (1.0 - part) * model.mean(low) + part * model.mean(high)
        return values + lines if model.around_lines else values


@dataclass(frozen=True, eq=False)
class BackTest:
    """Where forecasts within a record start, and what came.

    Parameters
    ----------
    values : ndarray of shape (N,)
        The record on its grid, NaN where there is no sample.
    origins : ndarray of int of shape (O,)
        First step of each forecast.
    rows : ndarray of int of shape (O, H)
        Steps of each forecast.
    counts : ndarray of bool of shape (O, H)
        Whether there is a sample.
    """

    values: FloatArray
    origins: IntArray
    rows: IntArray
    counts: BoolArray

    @classmethod
    def of(cls, values: FloatArray) -> BackTest:
        """Return the back-test of a record."""
        n = len(values)
        origins = np.unique((np.linspace(_FIRST, _LAST, _ORIGINS) * n).astype(int))
        rows = origins[:, None] + np.arange(max(round(_AHEAD * n), 1))
        there = rows < n
        rows = np.minimum(rows, n - 1)
        return cls(values, origins, rows, there & np.isfinite(values[rows]))

    def error(self, forecasts: FloatArray) -> float:
        """Return the mean absolute error of forecasts, shape (O, H)."""
        return float(np.mean(np.abs(self.values[self.rows] - forecasts)[self.counts]))

    def squares(self, forecasts: FloatArray, variances: FloatArray) -> FloatArray:
        """Return squared errors over their variances, shape (O, H); NaN where nothing came.

        A variance is at least that of the values' last digit.
        """
        digit = float(np.spacing(np.nanmax(np.abs(self.values))))
        least = max(digit**2, float(np.finfo(float).tiny))
        squares = (self.values[self.rows] - forecasts) ** 2 / np.maximum(variances, least)
        return np.asarray(np.where(self.counts, squares, np.nan))


@dataclass(frozen=True, eq=False)
class BackTested:
    """A model of exponential smoothing with its forecasts and variances in the back-test."""

    model: Smoothing
    forecasts: FloatArray
    variances: FloatArray


def smoothed(test: BackTest, lines: FloatArray, seasons: tuple[int, ...]) -> list[BackTested]:
    """Fit models of exponential smoothing with all combinations of seasons, and a slope or none.

    Parameters
    ----------
    test : BackTest
    lines : ndarray of shape (N,)
        Strict lines on the same grid.
    seasons : tuple of int
        Lengths that are possible, in steps.
    """
    return [
        _fitted(test, lines if around_lines else np.zeros(len(lines)), some, slope, around_lines)
        for some, slope, around_lines in _candidates(seasons, bool(np.any(lines)))
    ]


def _candidates(seasons: tuple[int, ...], lines: bool) -> Iterator[tuple[IntArray, bool, bool]]:
    """Seasons, whether there is a slope, and whether lines are taken off.

    Without seasons lines stay; without lines there is nothing to take off.
    """
    subsets = [some for k in range(len(seasons) + 1) for some in combinations(seasons, k)]
    for some, slope, around in product(subsets, (False, True), (True, False)):
        if (some or around) and (lines or not around or not some):
            yield np.array(some, int), slope, around


def weights_of(errors: FloatArray) -> FloatArray:
    """Return the probability of each forecast by its error in the back-test.

    >>> weights_of(np.array([1.0, 2.0])).round(3)
    array([0.992, 0.008])
    """
    logs = -_WINDOWS * np.log(errors)
    weights = np.exp(logs - logs.max())
    weights = weights / weights.sum()
    weights[weights < _UNLIKELY] = 0.0
    return np.asarray(weights / weights.sum())


def mixed(
    test: BackTest, own: FloatArray, fitted: list[BackTested]
) -> tuple[float, list[BackTested]]:
    """Return the probability of the own forecasts, and the models that count, with theirs.

    Forecasts that are off by rounding alone need none beside them.
    """
    least = _SMALLEST * float(np.nanstd(test.values)) + np.finfo(float).tiny
    errors = [test.error(own), *(test.error(one.forecasts) for one in fitted)]
    if errors[0] <= least:
        return 1.0, []
    weights = weights_of(np.maximum(errors, least))
    kept = [
        replace(one, model=replace(one.model, weight=float(weight)))
        for one, weight in zip(fitted, weights[1:], strict=True)
        if weight > 0
    ]
    return float(weights[0]), kept


def _fitted(
    test: BackTest, lines: FloatArray, seasons: IntArray, slope: bool, around_lines: bool
) -> BackTested:
    """Fit one model by its errors one step ahead and up to the horizon of the back-test."""
    values = test.values - lines
    waveforms, rest = _typical(values, seasons)
    if around_lines and np.any(lines):
        waveforms, rest = np.zeros_like(waveforms), values
    line = _last_line(rest, max(10, 2 * int(seasons.max(initial=0))), slope)
    names = ["level", *["slope"] * slope, *["season"] * len(seasons), "memory"]
    start = np.concatenate([_START[name] for name in names])
    states = np.zeros((len(test.origins), 3 + len(waveforms)))
    ahead = test.rows.shape[1]

    def errors(logits: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        gains, season_gains = _gains(logits, slope, len(seasons))
        return _errors(
            gains, season_gains, values, seasons, waveforms, line, test.origins, ahead, states
        )

    def loss(logits: FloatArray) -> float:
        one, many, _, _ = errors(logits)
        prior = np.sum((logits - start) ** 2) / (2.0 * _PRIOR_VARIANCE * len(values))
        return float(0.5 * np.log(max(one, 1e-300)) + np.log(max(many, 1e-300)) + 2.0 * prior)

    options: Any = {"maxfev": _EVALUATIONS, "xatol": 0.05, "fatol": 1e-3}
    best = minimize(loss, start, method="Nelder-Mead", options=options).x
    gains, season_gains = _gains(best, slope, len(seasons))
    one, _, state, ends = errors(best)
    ends = _rolled(ends, seasons, len(values))
    model = Smoothing(
        1.0, around_lines, seasons, gains, season_gains, state, ends, float(np.sqrt(one))
    )
    return _back_tested(model, test, lines, states)


def _back_tested(
    model: Smoothing, test: BackTest, lines: FloatArray, states: FloatArray
) -> BackTested:
    """Return forecasts from each origin; the deviation is what their errors say it is."""
    forecasts, steps = np.zeros(test.rows.shape), np.arange(1, test.rows.shape[1] + 1)
    for o, (origin, state) in enumerate(zip(test.origins, states, strict=True)):
        waveforms = _rolled(state[3:], model.seasons, int(origin))
        forecasts[o] = replace(model, state=state[:3], waveforms=waveforms).mean(steps)
    forecasts += lines[test.rows]
    variances = np.broadcast_to(model.variance(steps), forecasts.shape)
    squares = test.squares(forecasts, variances)
    factor = float(np.nanmean(squares))
    return BackTested(
        replace(model, deviation=model.deviation * float(np.sqrt(factor))),
        forecasts,
        np.maximum(variances * factor, np.finfo(float).tiny),
    )


def _rolled(waveforms: FloatArray, seasons: IntArray, start: int) -> FloatArray:
    """Return waveforms from the step `start` on, which were from the first step of the record."""
    parts = np.split(waveforms, np.cumsum(seasons)[:-1]) if len(seasons) else [waveforms]
    return np.concatenate([np.roll(part, -(start % max(len(part), 1))) for part in parts])


def _gains(logits: FloatArray, slope: bool, count: int) -> tuple[FloatArray, FloatArray]:
    """Return α, β, φ, ρ and γ of each season."""
    parts = 1.0 / (1.0 + np.exp(-np.clip(logits, -_LARGEST_LOGIT, _LARGEST_LOGIT)))
    follow, tilt, damping, first = parts[0], 0.0, 0.0, 1
    if slope:
        tilt, first = follow * parts[1], 3
        damping = _SLOWEST_DAMPING + (1.0 - _SLOWEST_DAMPING) * parts[2]
    season = parts[first : first + count] * (1.0 - follow)
    memory = 2.0 * parts[-1] - 1.0
    return np.array([follow, tilt, damping, memory]), season


def _typical(values: FloatArray, seasons: IntArray) -> tuple[FloatArray, FloatArray]:
    """Mean waveforms around a moving mean over the longest season, and values without them."""
    if not len(seasons):
        return np.zeros(0), values
    there = np.isfinite(values)
    filled, width = np.where(there, values, 0.0), np.ones(int(seasons.max()))
    sums, counts = np.convolve(filled, width, "valid"), np.convolve(there, width, "valid")
    middle = 0.5 * (len(width) - 1) + np.arange(len(sums))
    some = counts > 0
    around = values - np.interp(np.arange(len(values)), middle[some], sums[some] / counts[some])
    parts = []
    for season in seasons:
        phase = np.arange(len(values)) % season
        counted = np.bincount(phase[there], minlength=int(season))
        mean = np.bincount(phase[there], around[there], int(season)) / np.maximum(counted, 1)
        parts.append(mean - mean.mean())
        around = around - parts[-1][phase]
        values = values - parts[-1][phase]
    return np.concatenate(parts), values


def _last_line(values: FloatArray, count: int, slope: bool) -> FloatArray:
    """Return level and slope after the last of so many values."""
    last = values[-count:]
    place = np.flatnonzero(np.isfinite(last))
    if not slope or len(place) < 3:
        return np.array([np.mean(values[np.isfinite(values)][-count:]), 0.0])
    tilt, level = np.polyfit(place - len(last), last[place], 1)
    return np.array([level, tilt])


def _errors(
    gains: FloatArray,
    season_gains: FloatArray,
    values: FloatArray,
    seasons: IntArray,
    waveforms: FloatArray,
    line: FloatArray,
    origins: IntArray,
    ahead: int,
    states: FloatArray,
) -> tuple[float, float, FloatArray, FloatArray]:
    """Squared error one step ahead, absolute error up to the horizon; last state and waveforms.

    The states that the record starts from are those that a pass from its end to its start leaves.
    `states` are written at the origins.
    """
    n = len(values)
    turned = np.empty_like(waveforms)
    _reverse(waveforms, seasons, n, turned)
    state = np.array([line[0], -line[1], 0.0])
    none = origins[:0]
    _pass(gains, season_gains, values[::-1].copy(), seasons, turned, state, none, states)
    now = np.empty_like(waveforms)
    _reverse(turned, seasons, n, now)
    state[1], state[2] = -state[1], 0.0
    one = _pass(gains, season_gains, values, seasons, now, state, origins, states)
    many = _ahead(gains, values, seasons, origins, ahead, states)
    return one, many, state, now


@compiled
def _reverse(waveforms: Vector, seasons: IntVector, n: int, out: Vector) -> None:
    """Waveforms as they are for a record read from its end."""
    start = 0
    for j in range(len(seasons)):
        season = seasons[j]
        for i in range(season):
            out[start + i] = waveforms[start + (n - 1 - i) % season]
        start += season


@compiled
def _pass(
    gains: Vector,
    season_gains: Vector,
    values: Vector,
    seasons: IntVector,
    waveforms: Vector,
    state: Vector,
    origins: IntVector,
    states: Matrix,
) -> float:
    """Go through a record, state and waveforms with it; the mean squared error one step ahead."""
    follow, tilt, damping, memory = gains[0], gains[1], gains[2], gains[3]
    level, slope, error = state[0], state[1], state[2]
    total, count, origin = 0.0, 0, 0
    for t in range(len(values)):
        if origin < len(origins) and origins[origin] == t:
            states[origin, 0], states[origin, 1], states[origin, 2] = level, slope, error
            for i in range(len(waveforms)):
                states[origin, 3 + i] = waveforms[i]
            origin += 1
        level, slope = level + damping * slope, damping * slope
        error *= memory
        if np.isnan(values[t]):
            continue
        expected, start = level, 0
        for j in range(len(seasons)):
            expected += waveforms[start + t % seasons[j]]
            start += seasons[j]
        surprise = values[t] - expected - error
        error += surprise
        level += follow * surprise
        slope += tilt * surprise
        start = 0
        for j in range(len(seasons)):
            waveforms[start + t % seasons[j]] += season_gains[j] * surprise
            start += seasons[j]
        total += surprise * surprise
        count += 1
    state[0], state[1], state[2] = level, slope, error
    return total / max(count, 1)


@compiled
def _ahead(
    gains: Vector,
    values: Vector,
    seasons: IntVector,
    origins: IntVector,
    ahead: int,
    states: Matrix,
) -> float:
    """Mean absolute error of forecasts from the origins."""
    damping, memory = gains[2], gains[3]
    total, count = 0.0, 0
    for o in range(len(origins)):
        level, slope, error = states[o, 0], states[o, 1], states[o, 2]
        for t in range(origins[o], min(origins[o] + ahead, len(values))):
            slope *= damping
            level += slope
            error *= memory
            if np.isnan(values[t]):
                continue
            expected, start = level + error, 3
            for j in range(len(seasons)):
                expected += states[o, start + t % seasons[j]]
                start += seasons[j]
            total += abs(values[t] - expected)
            count += 1
    return total / max(count, 1)
