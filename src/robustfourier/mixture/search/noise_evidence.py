"""One score for every structure: how likely it makes the samples, less what it costs.

    log evidence = log p(r | noise model, trend marginalised) − Σ prices

where r are the samples without the lines of the structure, at their least-squares amplitudes. The
noise is white, or white plus damped oscillators (a Gaussian process with its exact likelihood); the
coefficients of the trend are integrated over a normal prior as wide as the data. The prices are
those of `periodic.priors`. Two structures are compared by the difference of their scores, whatever
they differ in: lines against coloured noise, a bend against a slow cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from robustfourier.arrays import ComplexArray, FloatArray, IndexArray, Matrix, Vector
from robustfourier.compiling import compiled
from robustfourier.mixture.search.line_fit import Fit
from robustfourier.mixture.significance import false_alarm
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.harmonic_families import harmonic_places
from robustfourier.periodic.kernels import Kernel, sho_of_logarithms
from robustfourier.periodic.noise_spectrum import NoiseFloor
from robustfourier.periodic.priors import (
    RESONANCE,
    WINGS,
    known_place_price,
    largest_quality,
    line_price,
    noise_price,
    trend_widths,
)
from robustfourier.periodic.residual_process import OscillatorSearch, chosen_rows
from robustfourier.periodic.semiseparable import ConditionedProcess, MarginalLikelihood

ROWS = 5000  # of which a likelihood is taken whole
_PART = 1500  # means of neighbours, and rows in stretches, that stand for more than that
_STRETCHES = 4000  # rows in stretches that stand for more, where times are irregular
_EVEN = 0.01  # part of the steps that may differ from the others in even times: gaps
_FEWEST = 8  # distinct rows that can show coloured noise
_SLOW = 0.3  # radians, or e-folds, of change from one sample to the next
_INFORMED = 100.0  # times the white variance: with more of it samples tell of themselves
_TAKEN = 1.5  # modes that a line takes, with its three numbers
_MEAN_OF = 300  # modes at most of which a geometric mean is taken
_ROUNDING = 1e-10  # of the values' size: what a fit to noiseless data leaves over


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """White noise, or white noise, damped oscillators and wings of lines."""

    white: FloatArray  # (q,): variance of the white part for a sample of weight one
    #: (3m,): for each output, logarithms of frequency (radians per θ), quality, and variance over
    #: the white one
    oscillators: tuple[FloatArray, ...]
    #: (3w,): the same of narrow oscillators at lines that are not quite steady; of one output alone
    wings: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def white_noise(cls, variance: FloatArray) -> NoiseModel:
        """Return white noise of a variance per output."""
        return cls(variance, (np.zeros(0),) * len(variance))

    @property
    def coloured(self) -> bool:
        """Whether any output has an oscillator or wings."""
        return len(self.wings) > 0 or any(len(one) for one in self.oscillators)

    def without(self, which: int) -> NoiseModel:
        """Return the noise of one output without one of its oscillators."""
        rest = np.delete(self.oscillators[0].reshape(-1, 3), which, axis=0)
        return replace(self, oscillators=(rest.ravel(),))

    def ringing_at(self, mode: float, power: float) -> NoiseModel:
        """Return the noise of one output with one resonance more, as narrow as noise may be."""
        at, ratio = np.log(np.pi * mode), np.log(power / max(float(self.white[0]), 1e-300))
        one = np.array([at, largest_quality(at), ratio])
        return replace(self, oscillators=(np.concatenate([self.oscillators[0], one]),))

    def beside(self, modes: FloatArray) -> NoiseModel:
        """Return the same noise of one output; wings that no line stands in are oscillators."""
        wings = self.wings.reshape(-1, 3)
        own = np.abs(np.exp(wings[:, :1]) / np.pi - modes).min(axis=1, initial=np.inf) < 1.0
        rest = np.concatenate([self.oscillators[0], wings[~own].ravel()])
        return replace(self, oscillators=(rest,), wings=wings[own].ravel())

    def spectrum(self, series: Series, modes: FloatArray) -> FloatArray:
        """Return the power of the noise at modes, that of unit white noise being one, (m, q).

        An oscillator of variance v has the density v·(2ω₀³/Q) / ((ω² − ω₀²)² + (ωω₀/Q)²), ω = πk,
        over the distance of the samples. Irregular samples scatter its whole variance over all
        modes besides.
        """
        level = np.empty((len(modes), len(self.white)))
        for o, own_ones in enumerate(self.oscillators):
            one = np.concatenate([self.wings, own_ones])
            level[:, o] = self.white[o]
            if len(one):
                own, quality, ratio = np.exp(one.reshape(-1, 3)).T
                at = np.pi * modes[:, None]
                width = (at**2 - own**2) ** 2 + (at * own / quality) ** 2
                lift = np.sum(2.0 * ratio * own**3 / quality / width, axis=1) / _spacing(series)
                level[:, o] *= 1.0 + lift + _scatter(series) * ratio.sum()
        return level

    def expected(self, series: Series, residuals: FloatArray) -> FloatArray:
        """Return what neighbours tell of slow noise at each sample, shape (n, q).

        Only what hardly changes from sample to sample is known from neighbours, and only where
        there is white noise beside it: else a sample would tell of itself.
        """
        means = np.zeros_like(residuals)
        for o, one in enumerate(self.oscillators):
            rows = one.reshape(-1, 3)
            frequency, quality, ratio = np.exp(rows).T
            slow = frequency * np.maximum(1.0, 0.5 / quality) * _spacing(series) < _SLOW
            kernel = sho_of_logarithms(rows[slow].ravel())
            if len(kernel.a) and ratio[slow].sum() < _INFORMED:
                given = kernel, series.theta, 1.0 / series.weights, residuals[:, o]
                means[:, o] = ConditionedProcess.on(*given).mean(series.theta)
        return means

    def floor(self, series: Series, fit: Fit) -> NoiseFloor:
        """Return the same on a grid of modes, with what it is worth beside a fit."""
        top = max(series.max_mode, 2.0)
        modes = np.arange(0.0, min(top, 50.0), 0.5)
        modes = np.append(modes, np.geomspace(50.0, top, 200)) if top > 50.0 else modes
        dof = max(0.5 * (series.worth - fit.n_parameters(series)), 1.0)
        # Slow noise seen once a night is seen at one cycle per day too.
        peaks = np.array(series.grid.side_peaks if self.coloured else []).reshape(-1, 2)
        level = np.maximum(self.spectrum(series, modes), np.maximum(series.smallest_noise, 1e-300))
        return NoiseFloor(modes, level, np.full(len(modes), dof), peaks[:, 0], peaks[:, 1])


def _spacing(series: Series) -> float:
    """Typical distance of neighbouring samples in θ, gaps not counted."""
    steps = np.diff(series.theta)
    steps = steps[steps > 0]
    return float(steps[steps <= 10.0 * np.median(steps)].mean())


def _even(theta: FloatArray) -> bool:
    """Whether nearly all steps between samples are alike."""
    steps = np.diff(theta)
    usual = np.median(steps)
    return bool(np.mean(np.abs(steps - usual) > 1e-3 * usual) <= _EVEN)


def _scatter(series: Series) -> float:
    """Part of a process's variance that irregular sampling scatters over all modes: 0 on a grid.

    The squared window at modes that nothing else lies at is an exponential variable, of mean 1/n
    for samples at random.
    """
    count = int(min(series.max_mode, 500))
    if np.isfinite(series.nyquist) or count < 20:
        return 0.0
    window = np.abs(series.grid.window.on_grid(1.0, count)[10:, 0]) / series.total
    return float(min(np.median(window**2) / np.log(2.0) * series.total, 1.0))


@dataclass(frozen=True)
class Assessment:
    """What noise says about the lines of a fit."""

    floor: NoiseFloor
    #: (K,): power of each line over the noise, and the probability of as much from noise alone
    ratio: FloatArray
    false_alarm: FloatArray

    def select(self, which: IndexArray) -> Assessment:
        """Return the same for some of the lines."""
        return Assessment(self.floor, self.ratio[which], self.false_alarm[which])


def assess(series: Series, fit: Fit, noise: NoiseModel) -> Assessment:
    """Return strength and false-alarm probability of each line of a fit."""
    floor = noise.floor(series, fit)
    ratio, alarm = series.judge.lines(fit.refined, floor)
    places = _known_places(series, fit, ratio)
    at = np.isfinite(places)
    if at.any():
        dof = floor.dof_at(fit.modes[at])
        outputs = fit.refined.lines.n_outputs
        alone = false_alarm(
            ratio[at], width=places[at], n_outputs=outputs, dof=dof, continuous=False
        )
        alarm[at] = np.minimum(alarm[at], alone)
    return Assessment(floor, ratio, alarm)


def line_prices(series: Series, fit: Fit, assessment: Assessment) -> FloatArray:
    """Return the price of each line; those that were given are free, shape (K,)."""
    widths, level = series.judge.widths(fit.modes), series.settings.level
    prices = line_price(assessment.ratio, widths, level)
    places = _known_places(series, fit, assessment.ratio)
    prices = np.minimum(prices, known_place_price(places, level))
    return np.where(fit.known, 0.0, prices)


def _known_places(series: Series, fit: Fit, ratio: FloatArray) -> FloatArray:
    """Return the number of places of each line that needed no search, else infinity.

    A line that was given has one place. Periods of the calendar are few. A harmonic of a prior p(n)
    has 1/p(n) places, or as many as were searched over its odds, if these are more: where modes are
    known so badly that every line is near some multiple, it is a line like any other.
    """
    share, odds = harmonic_places(fit.modes, ratio, ~fit.known, series.max_mode)
    searched = series.judge.widths(fit.modes) * np.sqrt(np.maximum(ratio, 1.0))
    known = odds > 1.0
    odds, share = np.where(known, odds, 1.0), np.where(known, share, 1.0)
    places = np.where(known, np.maximum(1.0 / share, searched / odds), np.inf)
    at = series.on_calendar(fit.modes, ratio)
    places = np.where(at, np.minimum(places, max(series.calendar.size, 1)), places)
    return np.where(fit.known, 1.0, places)


class _Rows(NamedTuple):
    """Rows of samples without lines, and how many times their likelihood counts."""

    theta: FloatArray
    values: FloatArray  # (n, q): the trend still in them
    weights: FloatArray
    trend: FloatArray  # (n, p): its columns
    times: float
    within: FloatArray  # (m,): distances from the first of the samples that a row is the mean of

    @classmethod
    def of(cls, series: Series, fit: Fit) -> list[_Rows]:
        r"""Return the rows of a series, or of a long one what tells of them.

        Where times are irregular, these are stretches of the record. Where they are even, means of
        neighbours are rows of a process, too, and of rows y and such means m, log p(y) = log p(m) +
        log p(y | m). The means of a long record are few, and say all that is slow: they are taken
        whole. What is fast, the second term, is alike everywhere, and is taken on stretches of the
        record, as the difference of the same two terms there.
        """
        left = fit.refined.residuals
        trend = series.trend(fit.trend_size)
        values = left + trend @ fit.refined.trend
        every = cls(series.theta, values, series.weights, trend, 1.0, np.zeros(1))
        if len(left) <= ROWS:
            return [every]
        if not _even(series.theta):  # each mean has a kernel of its own
            return [every.select(chosen_rows(len(left), _STRETCHES), 1.0)]
        group = -(-len(left) // _PART)
        means = every.means(group, _spacing(series))
        some = chosen_rows(len(means.theta), max(_PART // group, _FEWEST))
        rows = (some[:, None] * group + np.arange(group)).ravel()
        rows = rows[rows < len(left)]
        part = len(left) / len(rows)
        return [means, every.select(rows, part), means.select(some, -part)]

    def select(self, which: IndexArray, times: float) -> _Rows:
        """Return some of the rows."""
        columns = self.theta[which], self.values[which], self.weights[which], self.trend[which]
        return _Rows(*columns, times, self.within)

    def means(self, group: int, spacing: float) -> _Rows:
        """Return the means of so many neighbours each, at about that spacing."""
        starts = np.arange(0, len(self.theta), group)
        whole = np.add.reduceat(self.weights, starts).astype(np.float64)

        def mean(column: FloatArray) -> FloatArray:
            weighted = (column.T * self.weights).T
            return np.asarray((np.add.reduceat(weighted, starts).T / whole).T)

        columns = mean(self.theta), mean(self.values), whole, mean(self.trend)
        return _Rows(*columns, self.times, spacing * np.arange(group, dtype=np.float64))


class NoiseEvidence:
    """The evidence of noise models beside a fit of a series."""

    def __init__(self, series: Series, fit: Fit) -> None:
        self.rows = _Rows.of(series, fit)
        self.widths = trend_widths(fit.trend_size, series.breaks.order)
        self.size = len(series.theta)
        #: What one row stands for where the likelihood is that of some rows alone.
        self.factor = len(series.theta) / len(self.rows[0].theta) if len(self.rows) == 1 else 1.0
        self.enough = series.distinct >= _FEWEST
        self.modes, self.spacing = fit.modes, _spacing(series)

    def best(
        self, start: NoiseModel | None, fresh: bool, beat: float = -np.inf
    ) -> tuple[NoiseModel, float]:
        """Return the noise model of the highest evidence, and that evidence.

        `start`: oscillators to begin from; its wings stay. `fresh`: whether to search for
        oscillators as well. `beat`: what is clearly below that is not optimised to the end.
        """
        outputs = self.rows[0].values.shape[1]
        start = start or NoiseModel.white_noise(np.ones(outputs))
        price = WINGS * np.log(self.size) * len(start.wings) / 3
        beat = beat + price if outputs == 1 else -np.inf
        found = [
            self._best_of(o, start.oscillators[o], start.wings, fresh, beat / self.factor)
            for o in range(outputs)
        ]
        oscillators, white, scores = zip(*found, strict=True)
        wings = oscillators[0][: len(start.wings)]
        rest = tuple(one[len(start.wings) :] for one in oscillators)
        return NoiseModel(np.array(white), rest, wings), self.factor * float(sum(scores)) - price

    def _best_of(
        self, output: int, start: FloatArray, wings: FloatArray, fresh: bool, beat: float
    ) -> tuple[FloatArray, float, float]:
        """Return wings and oscillators, white variance and evidence of one output."""
        exact, left = self._likelihood(output)
        best, (score, white) = wings, exact.value(sho_of_logarithms(wings))
        values = self.rows[0].values[:, output]
        rounding = np.std(left[0]) <= _ROUNDING * np.std(values)
        if not self.enough or rounding:
            return best, white, score
        starts = [start] if len(start) or len(wings) else []
        if fresh:
            beside, likelihood = sho_of_logarithms(wings), _Likelihood(self.rows, left)
            fast = min(1, len(left) - 1)  # stretches show noise of any speed
            rows, some = self.rows[fast], left[fast]
            resolved = _Resolved(rows.theta, some, rows.weights, beside, None, likelihood)
            resolved.more = max(beat - score - RESONANCE, 0.0)
            found = resolved.run(exact=False)
            starts += [found] if found is not None else []
        search = self._search(output, exact, wings)
        for one in starts:
            begin = np.concatenate([wings, one])
            search.beat = beat + noise_price(one)
            end, _ = search.optimised(begin, exact=False)
            one_white = exact.value(sho_of_logarithms(end))[1]
            again = self._likelihood(output, one_white)[0]
            heights = [again.value(sho_of_logarithms(x))[0] for x in (begin, end)]
            # All that lines may have taken is less than a nat for each of its modes. What loses
            # more is no noise.
            end = begin if heights[0] - heights[1] > _TAKEN * len(self.modes) else end
            # An oscillator that has lost what it was there for does not pay any more.
            after = range(len(wings), len(end), 3)
            for some in (end, *(np.delete(end, slice(i, i + 3)) for i in after)):
                height = again.value(sho_of_logarithms(some))[0] - noise_price(some[len(wings) :])
                if height > score:
                    best, score, white = some, height, one_white
        return best, white, score

    def near(
        self, start: NoiseModel, most: float, which: int | None = None
    ) -> tuple[NoiseModel, float]:
        """Return the likeliest noise near another, and how likely it is; of one output.

        `most`: largest quality of all oscillators, or of the one that `which` names.
        """
        exact, _ = self._likelihood(0)
        oscillators = start.oscillators[0].reshape(-1, 3).copy()
        search = self._search(0, exact, start.wings[:0])
        search.caps = np.full(len(oscillators), search.bounds[1][1])
        capped = slice(None) if which is None else slice(which, which + 1)
        search.caps[capped] = np.minimum(search.caps[capped], np.log(most))
        oscillators[:, 1] = np.minimum(oscillators[:, 1], search.caps)
        end = oscillators.ravel()
        search.beside = sho_of_logarithms(start.wings)
        end = search.optimised(end, exact=False)[0] if len(end) else end
        value, white = exact.value(sho_of_logarithms(np.concatenate([start.wings, end])))
        return NoiseModel(np.array([white]), (end,), start.wings), self.factor * value

    def _search(self, output: int, exact: _Likelihood, wings: FloatArray) -> _Bounded:
        """Return the search for oscillators beside wings, lines' share of the noise left out."""
        own, rows = _WithoutLines(exact, self.modes, self.spacing), self.rows[0]
        search = _Bounded(rows.theta, rows.values[:, output], rows.weights, likelihood=own)
        search.wings = wings
        return search

    def _likelihood(
        self, output: int, white: float | None = None
    ) -> tuple[_Likelihood, list[FloatArray]]:
        """Return the likelihood with the trend marginalised, and what the trend leaves over.

        The factor of all variances is profiled, so the prior of the trend, which is in units of the
        data, is divided by the deviation of the white noise; by that of what is left over where
        that is not known yet.
        """
        values = [rows.values[:, output] for rows in self.rows]
        trend = np.linalg.lstsq(self.rows[0].trend, values[0], rcond=None)[0]
        left = [v - rows.trend @ trend for v, rows in zip(values, self.rows, strict=True)]
        width = max(float(np.std(values[0])), 1e-150)
        sigma = float(np.std(left[-1])) if white is None else float(np.sqrt(white))
        sigma = max(sigma, 1e-12 * width)
        return _Likelihood(self.rows, values, (width / sigma) * self.widths), left


class _Likelihood:
    """The sum of the likelihoods of rows, each as often as it counts, each at its own best scale.

    `values`: of each of the rows. `widths`: prior deviations of the coefficients of the trend over
    that of the noise.
    """

    def __init__(
        self, rows: list[_Rows], values: list[FloatArray], widths: FloatArray | None = None
    ) -> None:
        self.rows = rows
        self.parts = [
            MarginalLikelihood(
                some.theta, y, 1.0 / some.weights, None if widths is None else widths * some.trend
            )
            for some, y in zip(rows, values, strict=True)
        ]

    def value(self, kernel: Kernel) -> tuple[float, float]:
        """Return the log-likelihood, and the white variance."""
        total, variance = 0.0, 1.0
        for rows, part in zip(self.rows, self.parts, strict=True):
            value, white = part.value(_averaged(kernel, rows.within)[0])
            if not np.isfinite(value):
                return -np.inf, white
            total += rows.times * value
            variance = white if len(rows.within) == 1 else variance
        return total, variance

    def gradient(self, kernel: Kernel) -> tuple[float, FloatArray]:
        """Return the log-likelihood, and its gradient along the coefficients of the kernel."""
        total, gradient = 0.0, np.zeros((4, len(kernel.a)))
        for rows, part in zip(self.rows, self.parts, strict=True):
            averaged, slopes = _averaged(kernel, rows.within)
            value, slope = part.gradient(averaged)
            if not np.isfinite(value):
                return -np.inf, gradient
            total += rows.times * value
            along = slope[0] * slopes.real + slope[1] * slopes.imag
            along[2:] += slope[2:]
            gradient += rows.times * along
        return total, gradient


def _averaged(kernel: Kernel, within: FloatArray) -> tuple[Kernel, ComplexArray]:
    r"""Return the kernel of means of samples, and how a + ib of it changes along a, b, c and d.

    The mean of m samples δ apart has the variance :math:`\mathrm{Re}\,(a + ib) \sum_k w_k
    e^{-(c + id) k\delta}`, w₀ = 1/m and w_k = 2 (m − k)/m²: what changes within a group is averaged
    out.
    """
    count, term = len(within), kernel.a + 1j * kernel.b
    weight = np.append(1.0 / count, 2.0 * np.arange(count - 1, 0, -1) / count**2)
    decay = np.exp(-np.multiply.outer(within, kernel.c + 1j * kernel.d))
    part, slope = weight @ decay, -term * ((weight * within) @ decay)
    averaged = replace(kernel, a=(term * part).real, b=(term * part).imag)
    return averaged, np.stack([part, 1j * part, slope, 1j * slope])


class _WithoutLines:
    r"""The likelihood of noise in what lines leave over of it.

    A line takes the noise at its mode with it: three numbers, one and a half modes. What is left
    over there tells nothing of the spectrum S, and of the likelihood Σ −log S(k) − P(k)/S(k) over
    modes [1]_ these are left out, as in restricted maximum likelihood: Σ_lines 1.5 log S is added.
    The factor of S is profiled, so that S counts over its geometric mean.

    References
    ----------
    .. [1] P. Whittle, J. R. Stat. Soc. B 15 (1953) 125.
    """

    def __init__(self, exact: _Likelihood, modes: FloatArray, spacing: float) -> None:
        self.exact = exact
        count = int(np.clip(1.0 / spacing, 1, _MEAN_OF))
        every = (np.arange(count) + 0.5) / (count * spacing)
        lines, rest = np.full(len(modes), _TAKEN), np.full(count, -_TAKEN * len(modes) / count)
        self._square, self._weight = (np.pi * np.append(modes, every)) ** 2, np.append(lines, rest)
        self._spacing = spacing

    def value(self, kernel: Kernel) -> tuple[float, float]:
        """Return the log-likelihood, and the white variance."""
        value, white = self.exact.value(kernel)
        return value + self._taken(kernel, np.zeros((4, len(kernel.a)))), white

    def gradient(self, kernel: Kernel) -> tuple[float, FloatArray]:
        """Return the log-likelihood, and its gradient along the coefficients of the kernel."""
        value, gradient = self.exact.gradient(kernel)
        return value + self._taken(kernel, gradient), gradient

    def _taken(self, kernel: Kernel, gradient: FloatArray) -> float:
        given = kernel.coefficients, self._square, self._weight, self._spacing, gradient
        return _log_spectrum(*given) if np.any(self._weight) else 0.0


@compiled
def _log_spectrum(
    terms: Matrix, square: Vector, weight: Vector, spacing: float, gradient: Matrix
) -> float:
    """Return Σ weight log(1 + psd / spacing) at squared frequencies, and add its gradient.

    `terms`: a, b, c and d of `Kernel`, whose `psd` has the formula.
    """
    total, count = 0.0, terms.shape[1]
    top, low = np.empty(count), np.empty(count)
    for i in range(len(square)):
        x, level = square[i], 1.0
        for m in range(count):
            a, b, c, d = terms[0, m], terms[1, m], terms[2, m], terms[3, m]
            rate = c * c + d * d
            top[m] = (a * c + b * d) * rate + (a * c - b * d) * x
            low[m] = x * x + 2.0 * (c * c - d * d) * x + rate * rate
            level += 2.0 * top[m] / low[m] / spacing
        total += weight[i] * np.log(level)
        for m in range(count):
            a, b, c, d = terms[0, m], terms[1, m], terms[2, m], terms[3, m]
            rate, part = c * c + d * d, 2.0 * weight[i] / (low[m] * level * spacing)
            more, less = 2.0 * (a * c + b * d), 4.0 * top[m] / low[m]
            gradient[0, m] += part * c * (rate + x)
            gradient[1, m] += part * d * (rate - x)
            gradient[2, m] += part * (a * (rate + x) + c * more - less * c * (rate + x))
            gradient[3, m] += part * (b * (rate - x) + d * more - less * d * (rate - x))
    return total


class _Resolved(OscillatorSearch):
    """Oscillators whose spectrum is at least two modes wide: what is narrower is a line."""

    more = 0.0  # that they have to gain besides their price

    def price(self, parameters: FloatArray) -> float:
        return noise_price(parameters) + (self.more if len(parameters) else 0.0)

    def _bounds(self, parameters: FloatArray) -> list[tuple[float, float]]:
        return _with_caps(self.bounds, largest_quality(parameters[::3]))


class _Bounded(OscillatorSearch):
    """Wings, which stay at their lines, and oscillators, by default of a wider spectrum."""

    wings: FloatArray
    caps: FloatArray | None = None  # largest quality of each oscillator, as a logarithm

    def _bounds(self, parameters: FloatArray) -> list[tuple[float, float]]:
        _, (lowest, _), ratio = self.bounds
        bounds = []
        for at in np.exp(self.wings[::3]):
            near = (float(np.log(at - np.pi)), float(np.log(at + np.pi)))  # a mode to each side
            bounds += [near, (lowest, float(np.log(max(at / np.pi, 1.0)))), ratio]
        rest = parameters[len(self.wings) :]
        caps = largest_quality(rest[::3]) if self.caps is None else self.caps
        return bounds + _with_caps(self.bounds, caps)


def _with_caps(bounds: list[tuple[float, float]], caps: FloatArray) -> list[tuple[float, float]]:
    """Return the bounds of some oscillators, the upper one of each quality replaced."""
    frequency, (lowest, _), ratio = bounds
    return [pair for cap in caps for pair in (frequency, (lowest, float(cap)), ratio)]
