"""One set of lines: fitted together with a trend, and judged against the noise of its residual."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray, IndexArray
from robustfourier.compiling import compiled
from robustfourier.mixture.cusps import Cusps
from robustfourier.mixture.judge import trend_p_value
from robustfourier.mixture.least_squares.moments import extended_columns
from robustfourier.mixture.least_squares.projection import solved_for
from robustfourier.mixture.least_squares.refine import Refined, at_rounding, refine
from robustfourier.mixture.least_squares.semidefinite import solve_positive
from robustfourier.mixture.noise import NoiseFloor, noise_floor
from robustfourier.mixture.search.proposals import Pursued, clear_of_continuum
from robustfourier.mixture.series import GAPPY, Series
from robustfourier.mixture.trend import columns_of

_CLOSE_ENOUGH = 1e-4  # in χ²: a hundredth of a standard error
# Of one refinement on the way; lines that take longer are too close to each other. With twice as
# many no answer of `python -m benchmarks.unchanged` is another one.
_STEPS = 6
_TREND_LEVEL = 0.002  # five rungs are tested: one per cent in all
# Modes: the floor under a slower line is read from the twelve beside it, its own growth among them.
_SLOW = 12.0
_ALONG = 0.03  # modes between sums of which four tell the slope along the mode, to a millionth
_SLOW_MODES = 8  # lowest modes whose mean is the slow noise: known to one part in √8
# Part of the peaks that may stand out of a continuum. Of thirty, 0 to 16 did in 90 series whose
# noise has a memory; 19 to 28 where there were 40 to 70 tones and looking ahead found some of them.
_STAND_OUT = 0.6
# Power of a line halfway between two whole modes over what each of them shows: (π/2)².
_BETWEEN = 0.25 * np.pi**2
_GROWTH = 1.5  # modes to each side of a line that an amplitude linear in θ empties


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
    cusps : Cusps
        Noise that lines which are not quite steady bring with them.
    """

    floor: NoiseFloor
    data_sums: ComplexArray
    ratio: FloatArray
    false_alarm: FloatArray
    cusps: Cusps

    def noise_at(self, modes: FloatArray) -> FloatArray:
        """Return the floor at `modes` with the noise beside unsteady lines, shape (m, q)."""
        floor = self.floor.at(modes)
        return floor * self.cusps.at(modes)[:, None] if self.cusps.size.any() else floor

    def select(self, which: IndexArray) -> Assessment:
        """Return the same for some of the lines."""
        ratio, alarm = self.ratio[which], self.false_alarm[which]
        return replace(self, ratio=ratio, false_alarm=alarm)


def fit_lines(
    series: Series,
    modes: FloatArray,
    known: BoolArray,
    rung: int,
    colour: FloatArray | None = None,
) -> Fit:
    """Refine lines from these starting modes, with a trend of `rung` columns.

    While lines come and go, a hundredth of a standard error is close enough; the last fit, which
    knows the noise's colour, goes on to rounding.
    """
    alternating = ~known & (not series.integer) & (np.abs(modes - series.nyquist) < 1.0)
    modes = np.where(alternating, series.nyquist, modes) if alternating.any() else modes
    fit = Fit(_refined(series, modes, known | alternating, rung, colour), known, rung)
    if fit.refined.exact and series.add_up_directly():
        return fit_lines(series, fit.modes, known, rung, colour)
    return fit


def _refined(
    series: Series, modes: FloatArray, fixed: BoolArray, rung: int, colour: FloatArray | None
) -> Refined:
    return refine(
        series.theta,
        series.values,
        series.weights,
        modes,
        trend=series.trend(rung),
        fixed=fixed | series.integer,
        colour=colour,
        tolerance=_CLOSE_ENOUGH / series.total if colour is None else 1e-13,
        max_iterations=_STEPS if colour is None else 50,
        moments_at=lambda at: series.moments(at, rung),
    )


def assess(series: Series, fit: Fit) -> Assessment:
    """Compute the residual spectrum, the floor and the false-alarm probability of each line."""
    data_sums = series.grid_sums(fit.refined)
    floor, judge = _floor(series, fit, data_sums), series.judge
    ratio, alarm = judge.lines(fit.refined, floor)
    if series.integer or not len(ratio):
        none = np.zeros(len(ratio))
        return Assessment(floor, data_sums, ratio, alarm, Cusps(fit.modes, none, none, none))
    grid, n_outputs = series.grid, series.values.shape[1]

    def left(at: IndexArray) -> FloatArray:
        return np.sum(grid.power_at(data_sums, at) / floor.at(grid.modes[at]), axis=1)

    lowest = max(1.0, trend_reach(fit.rung))
    cusps = Cusps.of(fit.modes, ratio, grid.modes, left, n_outputs, lowest)
    lift, dof = cusps.beside_stronger()
    beside = np.flatnonzero(lift > 1.0)
    modes, dof = fit.modes[beside], np.minimum(dof, floor.dof_at(fit.modes))[beside]
    alarm[beside] = judge.alarm(ratio[beside] / lift[beside], modes, dof, n_outputs)
    return Assessment(floor, data_sums, ratio, alarm, cusps)


def _growth(series: Series, fit: Fit, data_sums: ComplexArray) -> tuple[FloatArray, FloatArray]:
    """Return the mode of a slow line that grows or fades, and how, as change of its columns.

    A season that doubles over three years leaves power of its own on both sides of its line, where
    the floor under it is measured. The strongest slow line is given an amplitude linear in θ, two
    columns more, if these gain more than the slow noise beside it would give.
    """
    refined, p = fit.refined, len(fit.refined.trend)
    slow = np.where(fit.known | (fit.modes >= _SLOW), 0.0, refined.lines.amplitude.max(axis=1))
    none = np.zeros(0), np.zeros((0, len(refined.rss)))
    if series.integer or not slow.any():
        return none
    line = int(np.argmax(slow))
    mode, slow_modes = fit.modes[[line]], series.slow_grid.modes
    # What is left over has no part along the columns that were fitted. Its sums with θ in them are
    # the slope of those without, along the mode.
    near = series.residual_sums(refined, mode + _ALONG * np.array([-2.0, -1.0, 1.0, 2.0]))
    turned = 1j / np.pi * (np.array([1.0, -8.0, 8.0, -1.0]) @ near) / (12.0 * _ALONG)
    left = np.vstack([np.zeros((p + 2, len(refined.rss))), turned.real, -turned.imag])
    change = solve_positive(series.moments(mode, fit.rung).gram, left)
    gain = np.sum(change * left, axis=0)
    step = round(1.0 / series.grid.spacing)
    sums = data_sums[::step][: len(slow_modes)]
    sums = sums - series.sums_of(mode, fit.rung, change, slow_modes)
    noise, dof = slow_noise(series, sums, refined.rss - gain, fit.rung, fit.modes, apart=_GROWTH)
    noise = np.maximum(noise, 1e-20 * (series.weights @ series.values**2) + 1e-300)
    return (mode, change) if trend_p_value(gain, 2, noise, dof) < _TREND_LEVEL else none


def _floor(series: Series, fit: Fit, data_sums: ComplexArray) -> NoiseFloor:
    """Return the noise floor of a fit; its residual sums are used again if nothing grows."""
    growing, change = _growth(series, fit, data_sums)
    sums = data_sums
    if len(growing):
        columns = extended_columns(series.theta, series.trend(fit.rung), growing)
        sums = series.grid.data_sums(fit.refined.residuals - columns @ change)
    # `noise_floor` leaves out one mode to each side of what it is given.
    sides = np.concatenate([growing - (_GROWTH - 1.0), growing + (_GROWTH - 1.0)])
    return _floor_of(series, fit, sums, sides, 2 * len(growing))


def _floor_of(
    series: Series, fit: Fit, sums: ComplexArray, emptied: FloatArray, spent: int
) -> NoiseFloor:
    """Return the floor of what is left on the grid.

    Beside the lines, the modes `emptied` are left out, and so many numbers more were `spent`.
    """
    step = round(1.0 / series.grid.spacing)
    power = series.grid.power(sums, step)[1:]
    spent += fit.rung + 2 * len(series.steps) + 3 * len(fit.modes)
    left = max(1.0 - spent / series.total, 0.05)
    floor = noise_floor(
        power / left,
        np.concatenate([fit.modes, emptied]),
        share=series.share,
        at_most=0.5 * series.distinct,
        smallest=series.smallest_noise,
        slowest=trend_reach(fit.rung),
    )
    peaks = np.array(series.grid.side_peaks).reshape(-1, 2)
    return replace(floor, distance=peaks[:, 0], height=peaks[:, 1])


def left_a_continuum(series: Series, fit: Fit, peaks: Pursued) -> bool:
    """Whether many peaks are those of a continuum, by what is left of it once they are taken out.

    Most of them do not stand out of that, and under those that do it rises towards slow modes.
    """
    floor = _floor_of(series, fit, peaks.sums, peaks.modes, 3 * len(peaks.modes))
    ratio = np.sum(peaks.power / floor.at(peaks.modes), axis=1)
    dof, n_outputs = floor.dof_at(peaks.modes), series.values.shape[1]
    alarm = series.judge.alarm(ratio, peaks.modes, dof, n_outputs)
    passes = alarm <= series.settings.level
    clear = passes & clear_of_continuum(floor, peaks.modes)
    return bool(passes.mean() <= _STAND_OUT and not clear.any())


def unknowable(series: Series, fit: Fit) -> BoolArray:
    """Mark lines that long gaps let grow against each other until no mode is known any more."""
    if series.share > GAPPY:
        return np.zeros(len(fit.modes), bool)
    return np.asarray(2.0 * fit.refined.mode_error > fit.modes)


def trend_rung(series: Series, fit: Fit) -> int:
    """Return the number of trend columns that the data asks for beside the lines of `fit`."""
    rungs, slowest = series.settings.rungs, float(fit.modes.min(initial=np.inf))
    room = series.distinct - 2 * len(fit.modes) - 2
    # A trend that could follow the slowest line would take its place.
    richer = [rung for rung in rungs[1:] if rung < room and trend_reach(rung) <= slowest]
    chosen = rungs[0]
    if not richer:
        return chosen
    beside = _TrendsBeside(series, fit.modes, richer[-1])
    base = beside.left(chosen)[0]
    used = base > 1e-24 * beside.squares
    for rung in richer:
        squares, sums = beside.left(rung)
        noise, dof = slow_noise(series, sums, squares, rung, fit.modes)
        noise = np.maximum(noise, 1e-20 * base + 1e-300)
        gain = (base - squares)[used]
        if trend_p_value(gain, rung - chosen, noise[used], dof) < _TREND_LEVEL:
            chosen, base = rung, squares
            used = base > 1e-24 * beside.squares
    return chosen


class _TrendsBeside:
    """Fits of the same lines beside one trend after another, all from the moments of the richest.

    Parameters
    ----------
    series : Series
    modes : ndarray of shape (K,)
        The lines, which stay where they are.
    richest : int
        Columns of the richest trend.
    """

    def __init__(self, series: Series, modes: FloatArray, richest: int) -> None:
        self.series, self.modes, self.richest = series, modes, richest
        self.moments = series.moments(modes, richest)
        self.squares = series.weights @ series.values**2
        self.sums = series.column_sums(modes, richest)

    def left(self, rung: int) -> tuple[FloatArray, ComplexArray]:
        """Return the sum of squares that is left beside a trend, and its sums at the slow modes."""
        series, n_lines = self.series, len(self.modes)
        which = columns_of(rung, self.richest, len(series.steps) + 2 * n_lines)
        gram, cross = self.moments.gram[which[:, None], which], self.moments.cross[which]
        _, coefficients, rss = solved_for(gram, cross, self.squares)
        if np.any(at_rounding(rss, self.squares)):
            refined = fit_lines(series, self.modes, np.ones(n_lines, bool), rung).refined
            return refined.rss, series.residual_sums(refined, series.slow_grid.modes)
        columns, values = self.sums
        return rss, values - columns[:, which] @ coefficients


def squares_left(series: Series, fit: Fit) -> float:
    """Weighted residual sum of squares over that of the values, summed over outputs."""
    whole = np.maximum(series.weights @ series.values**2, 1e-300)
    return float(np.sum(fit.refined.rss / whole))


def slow_noise(
    series: Series,
    sums: ComplexArray,
    squares: FloatArray,
    rung: int,
    lines: FloatArray,
    apart: float = 1.0,
) -> tuple[FloatArray, float]:
    """Return mean residual power at the few lowest modes that nothing has emptied.

    This is the noise that a trend has to beat; its degrees of freedom come with it. Given are the
    sums of the residual at the slow modes and its sum of squares.
    """
    grid, usable = series.slow_grid, np.empty(_SLOW_MODES, np.intp)
    usable = usable[: _beside(grid.modes, lines, max(trend_reach(rung), 0.5), apart, usable)]
    if len(usable) < 2:
        return squares / series.total, 1.0
    return grid.power_at(sums, usable).mean(axis=0), max(len(usable) * series.share, 1.0)


@compiled
def _beside(modes: Any, lines: Any, slowest: float, apart: float, index: Any) -> int:
    """Write where the first modes are that lie above the slowest and apart from all lines."""
    count = 0
    for m in range(len(modes)):
        free = modes[m] > slowest and count < len(index)
        for line in lines:
            free = free and abs(modes[m] - line) > apart
        if free:
            index[count] = m
            count += 1
    return count


def slow_alarm(series: Series, power: FloatArray, at: int) -> float:
    """Return the false alarm of a line near one of the slow modes, with their median as the noise.

    That is what it could be at best, before anything is fitted: the line may lie between modes.
    """
    modes, n_outputs = series.slow_grid.modes, series.values.shape[1]
    apart = (np.abs(modes - modes[at]) > 1.0) & (modes > 0.5)
    if not apart.any():
        return 0.0
    noise = np.maximum(np.median(power[apart], axis=0) / np.log(2.0), 1e-300)
    ratio = np.sum(_BETWEEN * power[[at]] / noise, axis=1)
    return float(series.judge.alarm(ratio, modes[[at]], np.array([np.inf]), n_outputs)[0])


def trend_reach(rung: int) -> float:
    """Return the mode up to which a trend of `rung` columns can follow: half a cycle per column.

    A level and a slope leave oscillations alone.
    """
    return 0.5 * rung if rung > 2 else 0.0
