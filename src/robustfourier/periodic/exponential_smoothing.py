r"""Exponential smoothing: level and seasons that follow the last samples of an even record.

Lines and a trend of few columns say what a record was like on the whole. What comes next also
depends on what has changed of late: the level, and the waveform of a season. The basic structural
model has a state for each of them, and in its innovations form (Hyndman, Koehler, Ord and Snyder
2008) one error ε moves all states:

.. math::
    y_t = \ell_{t-1} + \sum_j s_{j, t - m_j} + u_t, \qquad u_t = ρ u_{t-1} + ε_t

    \ell_t = \ell_{t-1} + α ε_t, \qquad s_{j,t} = s_{j,t-m_j} + γ_j ε_t

A level is fitted to what strict lines leave of the values; a level with seasons to the values
themselves. Which seasons change, few records tell: all are fitted, and a back-test within the
record weighs them and the extrapolation of the Gaussian processes
(`robustfourier.periodic.forecast`), which alone has a slope.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray, IntVector, Matrix, Vector
from robustfourier.compiling import compiled, inlined

STEPS = 2_000  # of the grid, the last ones: what changed of late, they show
FEWEST = 24  # values that show how a level follows them
_AHEAD = 0.1  # of the record: the horizon of the back-test
_FIRST, _LAST, _ORIGINS = 0.3, 0.97, 24  # origins of the back-test, in parts of the record
# Squared errors of a forecast are correlated within a horizon. Windows that do not overlap: these
# are the independent errors whose likelihood, of a scale that is fitted, is scale^-windows.
_WINDOWS = (1.0 - _FIRST) / _AHEAD
_EVEN = 0.25  # of a step: times of an even record are no farther from their grid
_GAPS = 0.5  # of an even record's grid at most is without samples
_FINEST = 0.1  # steps of the logits, that begin with one and are halved, end above
_SMALLEST = 1e-12  # of the values' deviation: errors below are rounding
_UNLIKELY = 1e-3  # weight below which a model is left out
# Logits of α, of ρ, and of each γ/(1 − α): where the search starts and the mean of their normal
# prior, of variance one. A level that follows a quarter of an error, seasons that change slowly.
_LEVEL, _MEMORY, _SEASON = -1.0, 0.6, -2.5
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
    seasons : ndarray of int of shape (J,)
        Their lengths in steps; with none, strict lines were taken off, and are to be added.
    gains : ndarray of shape (2,)
        α and ρ.
    season_gains : ndarray of shape (J,)
        γ of each season.
    state : ndarray of shape (2,)
        Level and the correlated error u after the last step.
    waveforms : ndarray of shape (Σ seasons,)
        The seasons one after the other, each from the first step after the record on.
    deviation : float
        Of an error one step ahead, such that the back-test's errors are what they should be.
    """

    weight: float
    seasons: IntArray
    gains: FloatArray
    season_gains: FloatArray
    state: FloatArray
    waveforms: FloatArray
    deviation: float

    @property
    def around_lines(self) -> bool:
        """Whether it follows what strict lines leave of the values."""
        return len(self.seasons) == 0

    def mean(self, steps: IntArray) -> FloatArray:
        """Return the forecast so many steps after the last, each at least one."""
        (_, memory), (level, error) = self.gains, self.state
        values, start = np.asarray(level + error * memory**steps), 0
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
        follow, memory = self.gains
        response = np.asarray(follow + memory**lags)
        for season, gain in zip(self.seasons, self.season_gains, strict=True):
            response = response + gain * (lags % season == 0)
        return response


@dataclass(frozen=True)
class LastShift:
    """The last shift of the level: whether it stays, or was an event that ends.

    Parameters
    ----------
    size : float
        Zero if there is none.
    stays : float
        Probability that it stays for half of the horizon of the back-test.
    ahead : int
        Steps of that horizon.
    """

    size: float = 0.0
    stays: float = 1.0
    ahead: int = 1

    @classmethod
    def of(cls, values: FloatArray, shifts: FloatArray, ahead: int) -> LastShift:
        """Return what the record tells of its last shift by how long earlier excursions lasted.

        In each window of a record the level is off by m on average, and by f in the horizon after
        it: excursions of the squared size m² of which m f stayed. The shift itself has stayed for
        as many horizons as it is old. As in the rule of succession, one more trial that is neither
        a success nor a failure stands for all that is not known.

        Parameters
        ----------
        values : ndarray of shape (N,)
            Without strict lines, NaN where there is no sample.
        shifts : ndarray of shape (N,)
            What shifts of the level add to each.
        ahead : int
            Steps of the horizon.

        Examples
        --------
        >>> stays = np.where(np.arange(400) < 390, 0.0, 5.0)
        >>> event = stays + 5.0 * ((np.arange(400) >= 200) & (np.arange(400) < 210))
        >>> [round(LastShift.of(x, x, 40).stays, 2) for x in (stays, event)]
        [0.6, 0.33]
        """
        places = np.flatnonzero(np.diff(shifts)) + 1
        if not len(places):
            return cls()
        place = int(places[-1])
        size, age = float(shifts[place] - shifts[place - 1]), len(values) - place
        before = values[:place] - np.nanmedian(values[:place])
        width = min(age, ahead)
        sums = np.concatenate([[0.0], np.cumsum(np.nan_to_num(before))])
        counts = np.concatenate([[0], np.cumsum(np.isfinite(before))])
        start = np.arange(0, place - width, width)
        edges = np.stack([start, start + width, np.minimum(start + width + ahead, place)])
        totals, many = np.diff(sums[edges], axis=0), np.diff(counts[edges], axis=0)
        off, after = totals / np.maximum(many, 1)
        lasted = size**2 * age / ahead
        trials = size**2 + lasted + np.sum(off**2)
        stayed = 0.5 * size**2 + lasted + np.sum(off * after)
        return cls(size, float(np.clip(stayed / trials, 0.0, 1.0)), ahead)

    def stays_for(self, steps: IntArray) -> FloatArray:
        """Return the probability that it stays for so many steps: at each it ends alike."""
        return np.asarray(self.stays ** (2.0 * steps / self.ahead))


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
    shifts : tuple of LastShift
        For each output.
    """

    last: float
    step: float
    own_weight: FloatArray
    models: tuple[tuple[Smoothing, ...], ...]
    shifts: tuple[LastShift, ...]

    def after(self, theta: FloatArray) -> BoolArray:
        """Return which θ lie after the last sample."""
        return np.asarray(theta > self.last)

    def moments(
        self,
        theta: FloatArray,
        own: FloatArray,
        lines: FloatArray,
        own_variance: FloatArray,
        white: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the function at θ after the record, shape (n, q).

        The variance is that of each model, and that between them.

        Parameters
        ----------
        theta : ndarray of shape (n,)
        own, own_variance : ndarray of shape (n, q)
            The forecast without these models.
        lines : ndarray of shape (n, q)
            Strict lines and shifts of the level.
        white : ndarray of shape (q,)
            Standard deviation of measurements around the function.
        """
        mean, variance, places = np.zeros(own.shape), np.zeros(own.shape), self._places(theta)
        nearest = np.maximum(np.rint(places[0] + places[2]).astype(int), 1)
        for o, (models, shift) in enumerate(zip(self.models, self.shifts, strict=True)):
            weights = np.array([self.own_weight[o], *(one.weight for one in models)])
            values = [self._one_mean(one, places, lines[:, o]) for one in models]
            spreads = [one.variance(nearest) - white[o] ** 2 for one in models]
            means, variances = (
                np.stack([own[:, o], *values]),
                np.stack([own_variance[:, o], *spreads]),
            )
            shifted = np.array([True, *(one.around_lines for one in models)])
            ended = np.outer(shifted, 1.0 - shift.stays_for(nearest))
            # The median of both: means would lie where no measurement will.
            mean[:, o] = weights @ (means - np.where(ended > 0.5, shift.size, 0.0))
            off = means - mean[:, o]
            between = (1.0 - ended) * off**2 + ended * (off - shift.size) ** 2
            variance[:, o] = weights @ (np.maximum(variances, 0.0) + between)
        return mean, variance

    def _places(self, theta: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """The steps before and after each θ, and the part of the way between them."""
        steps = (theta - self.last) / self.step
        before = np.floor(steps)
        part = np.clip((steps - before - _EVEN) / (1.0 - 2.0 * _EVEN), 0.0, 1.0)
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

    def foreseen(self, shifts: FloatArray) -> FloatArray:
        """Return what shifts after an origin add to forecasts from it, shape (O, H)."""
        return shifts[self.rows] - shifts[self.origins - 1, None]

    def error(self, forecasts: FloatArray) -> float:
        """Return the mean absolute error of forecasts, shape (O, H)."""
        return float(np.mean(np.abs(self.values[self.rows] - forecasts)[self.counts]))

    def squares(self, forecasts: FloatArray, variances: FloatArray) -> FloatArray:
        """Return squared errors over their variances, shape (O, H); NaN where nothing came.

        A variance is at least that of the values' last digit.
        """
        digit = float(np.spacing(np.nanmax(np.abs(self.values))))
        least = max(digit, float(np.sqrt(np.finfo(float).tiny)))
        off = (self.values[self.rows] - forecasts) / np.maximum(np.sqrt(variances), least)
        return np.asarray(np.where(self.counts, off**2, np.nan))


@dataclass(frozen=True, eq=False)
class BackTested:
    """A model of exponential smoothing with its forecasts and variances in the back-test.

    `parameters` counts what of the whole record these forecasts know.
    """

    model: Smoothing
    forecasts: FloatArray
    variances: FloatArray
    parameters: float


def smoothed(
    test: BackTest,
    lines: FloatArray,
    shifts: FloatArray,
    seasons: tuple[int, ...],
    parameters: float,
) -> list[BackTested]:
    """Fit a level to what lines leave, and levels with all combinations of seasons in their place.

    Parameters
    ----------
    test : BackTest
    lines : ndarray of shape (N,)
        Strict lines and shifts of the level on the same grid.
    shifts : ndarray of shape (N,)
        The shifts alone.
    seasons : tuple of int
        Lengths that are possible, in steps.
    parameters : float
        How many the lines have.
    """
    level = _fitted(test, lines, np.zeros(0, int))
    unseen = level.forecasts - test.foreseen(shifts)
    subsets = [some for k in range(len(seasons)) for some in combinations(seasons, k + 1)]
    return [
        replace(level, forecasts=unseen, parameters=parameters if np.any(lines) else 0.0),
        *(_fitted(test, np.zeros(len(lines)), np.array(some)) for some in subsets),
    ]


def mixed(
    test: BackTest, own: FloatArray, parameters: float, fitted: list[BackTested]
) -> tuple[float, list[BackTested]]:
    """Return the probability of the own forecasts, and the models that count, with theirs.

    Forecasts with many parameters that were fitted to the whole record know more of what came than
    those after it will: the errors of least squares with p of them are smaller by the root of
    (n − p) / (n + p). Forecasts that are off by rounding alone need none beside them.
    """
    least = _SMALLEST * float(np.nanstd(test.values)) + np.finfo(float).tiny
    errors = np.array([test.error(each) for each in (own, *(one.forecasts for one in fitted))])
    if errors[0] <= least:
        return 1.0, []
    known = np.array([parameters, *(one.parameters for one in fitted)])
    count = np.count_nonzero(np.isfinite(test.values))
    hindsight = np.sqrt((count + known) / np.maximum(count - known, 1.0))
    weights = weights_of(np.maximum(errors * hindsight, least))
    kept = [
        replace(one, model=replace(one.model, weight=float(weight)))
        for one, weight in zip(fitted, weights[1:], strict=True)
        if weight > 0
    ]
    return float(weights[0]), kept


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


def _fitted(test: BackTest, lines: FloatArray, seasons: IntArray) -> BackTested:
    """Fit one model by its errors one step ahead and up to the horizon of the back-test."""
    values = test.values - lines
    waveforms, rest = _typical(values, seasons)
    level = float(np.mean(rest[np.isfinite(rest)][-max(10, 2 * int(seasons.max(initial=0))) :]))
    gains, state, ends = np.empty(2 + len(seasons)), np.empty(3), np.empty_like(waveforms)
    forecasts = np.empty_like(test.rows, dtype=np.float64)
    _optimise(values, seasons, waveforms, level, test.origins, gains, state, ends, forecasts)
    ends, deviation = _rolled(ends, seasons, len(values)), float(np.sqrt(state[2]))
    model = Smoothing(1.0, seasons, gains[:2], gains[2:], state[:2], ends, deviation)
    forecasts += lines[test.rows]
    steps = np.arange(1, test.rows.shape[1] + 1)
    variances = np.broadcast_to(model.variance(steps), forecasts.shape)
    factor = float(np.nanmean(test.squares(forecasts, variances)))
    return BackTested(
        replace(model, deviation=deviation * float(np.sqrt(factor))),
        forecasts,
        np.maximum(variances * factor, np.finfo(float).tiny),
        _remembered(test, model),
    )


def _remembered(test: BackTest, model: Smoothing) -> float:
    """Return how many values of the waveforms at the origins are those of the whole record.

    Waveforms start as the mean of all cycles; each cycle up to an origin leaves 1 − γ of that.
    """
    before = np.mean(test.origins) / model.seasons
    return float(np.sum(model.seasons * (1.0 - model.season_gains) ** before))


def _rolled(waveforms: FloatArray, seasons: IntArray, start: int) -> FloatArray:
    """Return waveforms from the step `start` on, which were from the first step of the record."""
    parts = np.split(waveforms, np.cumsum(seasons)[:-1]) if len(seasons) else [waveforms]
    return np.concatenate([np.roll(part, -(start % max(len(part), 1))) for part in parts])


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


@compiled
def _optimise(
    values: Vector,
    seasons: IntVector,
    waveforms: Vector,
    level: float,
    origins: IntVector,
    gains: Vector,
    state: Vector,
    ends: Vector,
    forecasts: Matrix,
) -> None:
    """Write the gains of the least loss, the state and the waveforms at the end, and the forecasts.

    The loss is that of the errors one step ahead and up to the horizon, in logarithms, and of the
    prior. The logits of the gains go up or down by a step, one after the other; when none of that
    helps, the step is halved. States begin as a pass from the record's end to its start leaves
    them.
    """
    many = len(gains)
    best, trial, start = np.empty(many), np.empty(many), np.empty(many)
    for j in range(many):
        start[j] = _LEVEL if j == 0 else _MEMORY if j == 1 else _SEASON
        trial[j] = start[j]
    least, step, probe, failed = np.inf, 1.0, 2 * many - 2, 0
    while True:
        _write_gains(trial, gains)
        for i in range(len(waveforms)):
            ends[i] = waveforms[i]
        state[0], state[1] = level, 0.0
        _pass(gains, values, True, seasons, ends, state, origins[:0], forecasts)
        state[1] = 0.0
        ahead = _pass(gains, values, False, seasons, ends, state, origins, forecasts)
        if step <= _FINEST:
            return  # what is written is that of the best
        loss = 0.5 * np.log(max(state[2], 1e-300)) + np.log(max(ahead, 1e-300))
        for j in range(many):
            loss += (trial[j] - start[j]) ** 2 / len(values)
        if loss < least:
            least, failed, probe = loss, 0, probe + 2 - probe % 2
            for j in range(many):
                best[j] = trial[j]
        else:
            failed, probe = failed + 1, probe + 1
        if failed == 2 * many:
            step, failed = 0.5 * step, 0
        probe = probe % (2 * many)
        for j in range(many):
            trial[j] = best[j]
        if step > _FINEST:
            trial[probe // 2] += step if probe % 2 == 0 else -step


@inlined
def _logistic(x: float) -> float:
    return 1.0 / (1.0 + np.exp(-min(max(x, -_LARGEST_LOGIT), _LARGEST_LOGIT)))


@compiled
def _write_gains(logits: Vector, gains: Vector) -> None:
    """Write α, ρ and γ of each season."""
    gains[0] = _logistic(logits[0])
    gains[1] = 2.0 * _logistic(logits[1]) - 1.0
    for j in range(2, len(gains)):
        gains[j] = _logistic(logits[j]) * (1.0 - gains[0])


@compiled
def _pass(
    gains: Vector,
    values: Vector,
    backward: bool,
    seasons: IntVector,
    waveforms: Vector,
    state: Vector,
    origins: IntVector,
    forecasts: Matrix,
) -> float:
    """Go through a record; the sum of the absolute errors of forecasts from the origins.

    Level, correlated error and waveforms go with it; then comes, as the third of the state, the
    mean squared error one step ahead.
    """
    follow, memory, level, error = gains[0], gains[1], state[0], state[1]
    n, square, count, ahead, origin = len(values), 0.0, 0, 0.0, 0
    places = np.empty(len(seasons), np.int64)  # of the waveforms at this step
    first = 0
    for j in range(len(seasons)):
        places[j] = first + ((n - 1) % seasons[j] if backward else 0)
        first += seasons[j]
    for i in range(n):
        if origin < len(origins) and origins[origin] == i:
            ahead += _forecast(
                memory, level, error, values, i, seasons, waveforms, places, forecasts[origin]
            )
            origin += 1
        error *= memory
        value = values[n - 1 - i if backward else i]
        if not np.isnan(value):
            innovation = value - level - error
            for j in range(len(seasons)):
                innovation -= waveforms[places[j]]
            error += innovation
            level += follow * innovation
            for j in range(len(seasons)):
                waveforms[places[j]] += gains[2 + j] * innovation
            square += innovation * innovation
            count += 1
        _turn(places, seasons, -1 if backward else 1)
    state[0], state[1], state[2] = level, error, square / max(count, 1)
    return ahead


@inlined
def _turn(places: IntVector, seasons: IntVector, step: int) -> None:
    """Go one step on, or back, in each of the waveforms, which lie one after the other."""
    first = 0
    for j in range(len(seasons)):
        place = places[j] + step
        if place == first + seasons[j]:
            place = first
        if place < first:
            place += seasons[j]
        places[j] = place
        first += seasons[j]


@compiled
def _forecast(
    memory: float,
    level: float,
    error: float,
    values: Vector,
    origin: int,
    seasons: IntVector,
    waveforms: Vector,
    places: IntVector,
    forecast: Vector,
) -> float:
    """Write a forecast from an origin, and return the sum of its absolute errors."""
    total = 0.0
    now = np.empty(len(places), np.int64)
    for j in range(len(places)):
        now[j] = places[j]
    for h in range(len(forecast)):
        error *= memory
        expected = level + error
        for j in range(len(seasons)):
            expected += waveforms[now[j]]
        _turn(now, seasons, 1)
        forecast[h] = expected
        if origin + h < len(values) and not np.isnan(values[origin + h]):
            total += abs(values[origin + h] - expected)
    return total
