"""The workbench of detection: data, grids and sums that every round of the search uses again.

A `Workbench` knows the samples, the modes to search and how to refine, test and prune a set of
lines; it holds no result. `rounds` is the loop that uses it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.stats import f as f_law
from scipy.stats import gamma as gamma_law

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray
from robustfourier.mixture.least_squares.moments import Moments, SpectralMoments, direct_moments
from robustfourier.mixture.least_squares.refine import Refined, refine
from robustfourier.mixture.search.noise import NoiseFloor, noise_floor
from robustfourier.mixture.search.significance import false_alarm, line_power, search_widths
from robustfourier.mixture.trend import trend_columns
from robustfourier.spectral.periodogram import PeriodogramGrid

__all__ = ["Assessment", "Fit", "Workbench"]


# From this many samples on, sums at real modes are cheaper than adding up columns.
_CLOSE_ENOUGH = 1e-4  # in χ²: a hundredth of a standard error
_STEPS = 12  # of one refinement on the way; lines that take longer are too close to each other
_SPECTRAL_FROM = 4000
_TREND_LEVEL = 0.002
_CUSP_LEVEL = 0.01


@dataclass(frozen=True)
class Fit:
    """Lines and trend refined together; `known` marks lines that were given, not found."""

    refined: Refined
    known: BoolArray
    rung: int

    @property
    def modes(self) -> FloatArray:
        """Modes of the lines, shape (K,)."""
        return self.refined.lines.mode


@dataclass(frozen=True)
class Assessment:
    """What noise says about a fit.

    Parameters
    ----------
    floor : NoiseFloor
        From the residual of the fit.
    data_sums : ndarray of complex, shape (J, q)
        Residual sums on the periodogram's grid.
    ratio, false_alarm : ndarray of shape (K,)
        Strength of each line over the floor, and the probability of it from noise alone.
    """

    floor: NoiseFloor
    data_sums: ComplexArray
    ratio: FloatArray
    false_alarm: FloatArray


@dataclass(frozen=True)
class Workbench:
    """Samples and settings of one detection.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    values : ndarray of shape (n, q)
        Values of order one, pseudo-values if outliers were pulled in.
    weights : ndarray of shape (n,)
    max_mode : float
    lowest : float
        Lowest mode to search.
    integer : bool
        Whether modes are the integers.
    nyquist : float
        Nyquist mode of an even grid, infinite otherwise. Within a mode of it cosine and sine are
        nearly parallel on the samples: such a line is the alternating one, exactly at `nyquist`.
    level : float
        Largest false-alarm probability of a line.
    rungs : tuple of int
        Trends to choose from, as numbers of columns.
    """

    theta: FloatArray
    values: FloatArray
    weights: FloatArray
    max_mode: float
    lowest: float
    integer: bool
    nyquist: float
    level: float
    rungs: tuple[int, ...]

    @cached_property
    def total(self) -> float:
        """Total weight."""
        return float(self.weights.sum())

    @cached_property
    def distinct(self) -> int:
        """Number of distinct positions."""
        return int(np.count_nonzero(np.diff(self.theta))) + 1

    @cached_property
    def grid(self) -> PeriodogramGrid:
        """The periodogram's grid: integers, or quarter modes."""
        spacing = 1.0 if self.integer else 0.25
        return PeriodogramGrid.of(self.theta, self.weights, self.max_mode, spacing)

    def widths(self, modes: FloatArray) -> FloatArray:
        """Range searched that each of `modes` pays for, in units of independence."""
        if self.integer:
            return np.full(len(modes), self.max_mode)
        return search_widths(self.theta, self.weights, self.lowest, self.max_mode, modes)

    @cached_property
    def share(self) -> float:
        """Independent periodogram ordinates per integer mode: the part of the span that is sampled.

        Ordinates κ modes apart are correlated by the squared spectral window at κ.
        """
        step = round(1.0 / self.grid.spacing)
        window = np.abs(self.grid.weight_sums[step : 21 * step : step]) / self.total
        return float(1.0 / (1.0 + 2.0 * np.sum(window**2)))

    @cached_property
    def columns(self) -> FloatArray:
        """Columns of the richest trend; a rung of p columns is the first p of them."""
        return trend_columns(self.theta, self.rungs[-1])

    @cached_property
    def _all_moments(self) -> SpectralMoments | None:
        if len(self.theta) < _SPECTRAL_FROM:
            return None
        return SpectralMoments(
            self.theta, self.values, self.weights, self.columns, self.max_mode + 2.0
        )

    def with_values(self, values: FloatArray) -> Workbench:
        """Return the same bench with other values; sums of the weights are kept."""
        bench = replace(self, values=values)
        for name in ("total", "distinct", "grid", "share", "columns", "_slow_grid"):
            if name in self.__dict__:
                bench.__dict__[name] = self.__dict__[name]
        if self.__dict__.get("_all_moments") is not None:
            bench.__dict__["_all_moments"] = self.__dict__["_all_moments"].with_values(values)
        return bench

    def moments(self, modes: FloatArray, rung: int) -> Moments:
        """Return the moments of one rung of trend and lines at `modes`."""
        every = self._all_moments
        if every is None:
            columns = self.columns[:, :rung]
            return direct_moments(self.theta, self.values, self.weights, columns, modes)
        moments = every(modes)
        lines = np.arange(self.columns.shape[1], len(moments.gram))
        chosen = np.concatenate([np.arange(rung), lines])
        return Moments(moments.gram[np.ix_(chosen, chosen)], moments.cross[chosen], moments.bend)

    def fit(
        self, modes: FloatArray, known: BoolArray, rung: int, colour: FloatArray | None = None
    ) -> Fit:
        """Refine lines from these starting modes, with a trend of `rung` columns.

        While lines come and go, a hundredth of a standard error is close enough; the last fit,
        which knows the noise's colour, goes on to rounding.
        """
        alternating = ~known & (np.abs(modes - self.nyquist) < 1.0)
        modes = np.where(alternating, self.nyquist, modes) if alternating.any() else modes
        refined = refine(
            self.theta,
            self.values,
            self.weights,
            modes,
            trend=self.columns[:, :rung],
            fixed=known | alternating | self.integer,
            colour=colour,
            tolerance=_CLOSE_ENOUGH / self.total if colour is None else 1e-13,
            max_iterations=_STEPS if colour is None else 50,
            moments_at=lambda at: self.moments(np.clip(at, 0.0, self.max_mode + 2.0), rung),
        )
        return Fit(refined, known, rung)

    def assess(self, fit: Fit) -> Assessment:
        """Compute the residual spectrum, the floor and the false-alarm probability of each line."""
        data_sums = self.grid.data_sums(fit.refined.residuals)
        floor = self.floor(fit, data_sums)
        ratio, alarm = self.alarms(fit, floor)
        return Assessment(floor, data_sums, ratio, alarm)

    def floor(self, fit: Fit, data_sums: ComplexArray) -> NoiseFloor:
        """Return the noise floor of a fit from its residual sums."""
        step = round(1.0 / self.grid.spacing)
        power = self.grid.power(data_sums)[step::step]
        spent = fit.rung + 3 * len(fit.modes)
        left = max(1.0 - spent / self.total, 0.05)
        # Rounding errors are no signal: the floor never goes below 1e-20 of the variance.
        smallest = 1e-20 * float(np.max(self.weights @ self.values**2)) / self.total
        return noise_floor(
            power / left,
            fit.modes,
            share=self.share,
            at_most=0.5 * self.distinct,
            smallest=smallest,
            slowest=trend_reach(fit.rung),
        )

    def _slow_noise(self, fit: Fit) -> tuple[FloatArray, float]:
        """Return mean residual power at the eight lowest modes that nothing has emptied.

        This is the noise that a trend has to beat; its degrees of freedom come with it.
        """
        grid = self._slow_grid
        power = grid.power(grid.data_sums(fit.refined.residuals))
        beside = np.abs(grid.modes[:, None] - fit.modes).min(axis=1, initial=np.inf) > 1.0
        usable = np.flatnonzero((grid.modes > max(trend_reach(fit.rung), 0.5)) & beside)[:8]
        if len(usable) < 2:
            return self.weights @ fit.refined.residuals**2 / self.total, 1.0
        return power[usable].mean(axis=0), max(len(usable) * self.share, 1.0)

    @cached_property
    def _slow_grid(self) -> PeriodogramGrid:
        return PeriodogramGrid.of(self.theta, self.weights, min(self.max_mode, 64.0), 1.0)

    def alarms(self, fit: Fit, floor: NoiseFloor) -> tuple[FloatArray, FloatArray]:
        """Return ratio and false-alarm probability of each line of a fit."""
        lines = fit.refined.lines
        root = np.sqrt(floor.at(lines.mode))
        whitener = _whitener(fit.refined.residuals, self.weights)
        power = line_power(fit.refined.gram, lines.cosine / root, lines.sine / root, whitener)
        ratio = power.sum(axis=1)
        return ratio, self.alarm(ratio, lines.mode, floor.dof_at(lines.mode), whitener.shape[1])

    def colour(self, fit: Fit, assessment: Assessment) -> FloatArray:
        """Return the noise power at each line over the mean noise variance, shape (K,).

        Where the floor agrees with white noise within its own uncertainty, white it is: the mean
        over all modes is far more certain than a window among low ones. A strong line that is not
        quite steady stands on a cusp of its own. Where the residual at 1, 2 and 3 modes beside a
        line is clearly above the floor, that is its noise.
        """
        variance = np.maximum(fit.refined.noise_variance, 1e-300)
        floor = assessment.floor.at(fit.modes)
        power = self.grid.power(assessment.data_sums)
        ratio = np.ones(len(fit.modes))
        for i, mode in enumerate(fit.modes):
            beside = mode + np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
            place = np.round(beside / self.grid.spacing).astype(int)
            others = np.delete(fit.modes, i)
            free = np.abs(beside[:, None] - others).min(axis=1, initial=np.inf) > 0.75
            free &= (place > 0) & (place < len(power))
            if free.any():
                cusp = float(np.mean(power[place[free]] / floor[i]))
                count = int(free.sum()) * power.shape[1]
                ratio[i] = cusp if gamma_law.sf(cusp * count, count) < _CUSP_LEVEL else 1.0
        local = np.mean(floor / variance, axis=1)
        white = np.abs(np.log(local)) <= 2.0 / np.sqrt(assessment.floor.dof_at(fit.modes))
        return ratio * np.where(white, 1.0, local)

    def alarm(
        self, ratio: FloatArray, modes: FloatArray, dof: FloatArray, n_outputs: int
    ) -> FloatArray:
        """Return the false-alarm probability for power over floor."""
        width, continuous = self.widths(modes), not self.integer
        return false_alarm(ratio, width=width, n_outputs=n_outputs, dof=dof, continuous=continuous)

    def trend_rung(self, fit: Fit) -> int:
        """Return the number of trend columns that the data asks for beside the lines of `fit`."""
        chosen = self.rungs[0]
        plain = self.fit(fit.modes, np.ones(len(fit.modes), bool), chosen)
        base = self.weights @ plain.refined.residuals**2
        for rung in self.rungs[1:]:
            if rung >= self.distinct - 2 * len(fit.modes) - 2:
                break
            richer = self.fit(fit.modes, np.ones(len(fit.modes), bool), rung)
            squares = self.weights @ richer.refined.residuals**2
            noise, dof = self._slow_noise(richer)
            used = base > 1e-24 * (self.weights @ self.values**2)
            extra = (rung - chosen) * int(used.sum())
            noise = np.maximum(noise, 1e-20 * base + 1e-300)
            gain = float(np.sum(((base - squares) / noise)[used])) / max(extra, 1)
            if extra and f_law.sf(gain, extra, 2.0 * dof) < _TREND_LEVEL:
                chosen, base = rung, squares
        return chosen


def _whitener(residuals: FloatArray, weights: FloatArray) -> FloatArray:
    """Return T (q, r) such that residuals, each divided by its deviation, times T are white.

    Outputs that repeat each other count once: directions without variance are dropped.
    """
    second = (residuals * weights[:, None]).T @ residuals / weights.sum()
    deviation = np.sqrt(np.maximum(np.diag(second), 0.0))
    usable = deviation > 0
    if len(deviation) == 1 or not usable.any():
        return np.eye(len(deviation))
    deviation = np.where(usable, deviation, 1.0)
    values, vectors = np.linalg.eigh(second / np.outer(deviation, deviation))
    keep = values > 1e-6 * values[-1]
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))


def trend_reach(rung: int) -> float:
    """Return the mode up to which a trend of `rung` columns can follow: half a cycle per column.

    A level and a slope leave oscillations alone.
    """
    return 0.5 * rung if rung > 2 else 0.0
