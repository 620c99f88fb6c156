"""One score for every structure: how likely it makes the samples, less what it costs.

    log evidence = log p(r | noise model, trend marginalised) − Σ prices

where r are the samples without the lines of the structure, at their least-squares amplitudes. The
noise is white or white plus damped oscillators (Gaussian process, exact likelihood); the
coefficients of the trend are integrated over a normal prior as wide as the data. Prices are those
of `priors`. Two structures are compared by the difference of their scores, whatever they differ in:
lines against coloured noise, a bend against a slow cycle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.mixture.noise import NoiseFloor
from robustfourier.mixture.process import Waves
from robustfourier.mixture.remainder import OscillatorSearch, chosen_rows, oscillators_of
from robustfourier.mixture.search.assess import Fit
from robustfourier.mixture.series import Series
from robustfourier.mixture.slopes import Likelihood
from robustfourier.periodic.priors import TREND_WIDTH, noise_price, narrowest

ROWS = 4000  # rows on which a likelihood is taken; more of them in stretches spread over the record


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """White noise, or white noise and damped oscillators.

    Parameters
    ----------
    white : ndarray of shape (q,)
        Variance of the white part for a sample of weight one.
    oscillators : tuple of ndarray of shape (3m,)
        For each output, logarithms of frequency (radians per θ), quality and variance over the
        white one.
    """

    white: FloatArray
    oscillators: tuple[FloatArray, ...]

    @property
    def coloured(self) -> bool:
        """Whether any output has an oscillator."""
        return any(len(one) for one in self.oscillators)

    def without(self, which: int) -> NoiseModel:
        """Return the noise of one output without one of its oscillators."""
        rest = np.delete(self.oscillators[0].reshape(-1, 3), which, axis=0)
        return NoiseModel(self.white, (rest.ravel(),))

    def spectrum(self, series: Series, modes: FloatArray) -> FloatArray:
        """Return the power of the noise at modes, that of unit white noise being one, (m, q).

        An oscillator of variance v has the density v·(2ω₀³/Q) / ((ω² − ω₀²)² + (ωω₀/Q)²), ω = πk,
        over the distance of the samples. Irregular samples scatter its whole variance over all
        modes besides.
        """
        level = np.empty((len(modes), len(self.white)))
        for o, one in enumerate(self.oscillators):
            if not len(one):
                level[:, o] = self.white[o]
                continue
            own, quality, ratio = np.exp(one.reshape(-1, 3)).T
            at = np.pi * modes[:, None]
            width = (at**2 - own**2) ** 2 + (at * own / quality) ** 2
            lift = np.sum(2.0 * ratio * own**3 / quality / width, axis=1) / spacing(series)
            level[:, o] = self.white[o] * (1.0 + lift + scatter(series) * ratio.sum())
        return level

    def floor(self, series: Series, spent: int) -> NoiseFloor:
        """Return the same as a floor for `significance`; `spent` numbers were fitted."""
        top = max(series.max_mode, 2.0)
        modes = np.concatenate([np.arange(0.0, min(top, 50.0), 0.5), _beyond(50.0, top)])
        dof = max(0.5 * (min(series.total, series.distinct_worth) - spent), 1.0)
        peaks = np.array(series.grid.side_peaks).reshape(-1, 2)
        distance, height = (peaks[:, 0], peaks[:, 1]) if self.coloured else (np.zeros(0),) * 2
        level = np.maximum(self.spectrum(series, modes), tiny(series))
        return NoiseFloor(modes, level, np.full(len(modes), dof), distance, height)


def _beyond(first: float, top: float) -> FloatArray:
    return np.geomspace(first, top, 200) if top > first else np.zeros(0)


def spacing(series: Series) -> float:
    """Typical distance of neighbouring samples in θ, gaps not counted."""
    steps = np.diff(series.theta)
    steps = steps[steps > 0]
    usual = np.median(steps)
    return float(steps[steps <= 10.0 * usual].mean())


def scatter(series: Series) -> float:
    """Part of a process's variance that irregular sampling scatters over all modes: 0 on a grid."""
    if np.isfinite(series.nyquist):
        return 0.0
    count = int(min(series.max_mode, 500))
    if count < 20:
        return 0.0
    window = np.abs(series.grid.window.on_grid(1.0, count)[10:, 0]) / series.total
    return float(min(np.median(window**2) / np.log(2.0) * series.total, 1.0))


def tiny(series: Series) -> FloatArray:
    """Smallest noise power: what rounding of the values leaves, or 1e-20 of their variance."""
    values = 1e-20 * (series.weights @ series.values**2) / series.total
    return np.maximum(np.maximum(values, series.rounding), 1e-300)


class _Resolved(OscillatorSearch):
    """Oscillators whose spectrum is at least two modes wide: what is narrower is a line."""

    def price(self, parameters: FloatArray) -> float:
        return noise_price(parameters)

    def _bounds(self, parameters: FloatArray) -> list[tuple[float, float]]:
        frequency, (lowest, _), ratio = self.bounds
        return [
            pair
            for limit in narrowest(parameters[::3])
            for pair in (frequency, (lowest, float(limit)), ratio)
        ]


class Evaluator:
    """Scores of structures for one series.

    Parameters
    ----------
    series : Series
    """

    def __init__(self, series: Series) -> None:
        self.series = series
        self.rows: IndexArray = chosen_rows(len(series.theta), ROWS)
        self.theta = series.theta[self.rows]
        self.noise = 1.0 / series.weights[self.rows]
        self.usable = len(np.unique(self.theta)) >= 8

    def _without_lines(self, fit: Fit) -> FloatArray:
        """Samples without the lines, the trend still in them, shape (rows, q)."""
        trend = self.series.trend(fit.rung)[self.rows] @ fit.refined.trend
        return np.asarray(fit.refined.residuals[self.rows] + trend)

    def noise_of(
        self, fit: Fit, near: NoiseModel | None = None, fresh: bool = True
    ) -> tuple[NoiseModel, float]:
        """Return the noise model of the highest evidence beside a fit, and that evidence.

        Parameters
        ----------
        fit : Fit
        near : NoiseModel, optional
            Oscillators to begin from.
        fresh : bool
            Whether to search for oscillators as well.
        """
        values, trend = self._without_lines(fit), self.series.trend(fit.rung)[self.rows]
        white, found, total = [], [], 0.0
        for o in range(values.shape[1]):
            start = np.zeros(0) if near is None else near.oscillators[o]
            one = self._one_output(values[:, o], trend, start, fresh)
            found.append(one[0])
            white.append(one[1])
            total += one[2]
        return NoiseModel(np.array(white), tuple(found)), total

    def _one_output(
        self, values: FloatArray, trend: FloatArray, start: FloatArray, fresh: bool
    ) -> tuple[FloatArray, float, float]:
        """Return oscillators, white variance and evidence of one output."""
        exact = self._likelihood(values, trend)
        left = values - trend @ np.linalg.lstsq(trend, values, rcond=None)[0]
        best, variance = np.zeros(0), 0.0
        score, variance = exact.value(Waves.none())
        if not (fresh or len(start)) or not self.usable or np.std(left) <= 1e-10 * np.std(values):
            return best, variance, score
        search = _Resolved(self.theta, left, 1.0 / self.noise)
        candidates = [start] if len(start) else []
        if fresh:
            found = search.run(exact=False)
            candidates += [found] if found is not None else []
        climbing = _Resolved(self.theta, values, 1.0 / self.noise, sloped=exact)
        for candidate in candidates:
            end, gain = climbing.climbed(candidate, exact=False)
            value = gain + climbing.none - noise_price(end)
            if value > score:
                best, score = end, value
                variance = exact.value(oscillators_of(end))[1]
        return best, variance, score

    def near(
        self, fit: Fit, noise: NoiseModel, most: float, which: int | None = None
    ) -> tuple[NoiseModel, float]:
        """Return the likeliest oscillators of one output near those of a noise model.

        Parameters
        ----------
        fit : Fit
        noise : NoiseModel
        most : float
            Largest quality of all oscillators, or of the one in `which`.
        which : int, optional

        Returns
        -------
        noise : NoiseModel
        score : float
            Its evidence, prices not counted.
        """
        values, trend = self._without_lines(fit)[:, 0], self.series.trend(fit.rung)[self.rows]
        exact = self._likelihood(values, trend)
        start = noise.oscillators[0].reshape(-1, 3).copy()
        chosen = slice(None) if which is None else slice(which, which + 1)
        start[chosen, 1] = np.minimum(start[chosen, 1], np.log(most) - 1e-6)
        search = OscillatorSearch(self.theta, values, 1.0 / self.noise, sloped=exact)
        frequency, (lowest, highest), ratio = search.bounds
        caps = np.full(len(start), highest)
        caps[chosen] = np.minimum(highest, np.log(most))
        search._bounds = lambda _: [  # type: ignore[method-assign]
            pair for cap in caps for pair in (frequency, (lowest, float(cap)), ratio)
        ]
        if not len(start):
            score, white = exact.value(Waves.none())
            return NoiseModel(np.array([white]), (np.zeros(0),)), score
        end, gain = search.climbed(start.ravel(), exact=False)
        white = exact.value(oscillators_of(end))[1]
        return NoiseModel(np.array([white]), (end,)), gain + search.none

    def _likelihood(self, values: FloatArray, trend: FloatArray) -> Likelihood:
        """The likelihood of one output with its trend marginalised.

        The factor of all variances is profiled, so the prior of the trend, which is in units of the
        data, is divided by the deviation of what the trend leaves over.
        """
        left = values - trend @ np.linalg.lstsq(trend, values, rcond=None)[0]
        width = TREND_WIDTH * max(float(np.std(values)), 1e-150)
        sigma = max(float(np.std(left)), 1e-12 * width)
        return Likelihood(self.theta, values, self.noise, (width / sigma) * trend)
