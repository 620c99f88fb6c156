"""The search for the lines of a series: the diagonal layer proposes, the evidence decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.mixture.judge import false_alarm
from robustfourier.mixture.cusps import Cusps, local_noise
from robustfourier.mixture.search.assess import (
    Assessment,
    Fit,
    fit_lines,
    trend_reach,
    unknowable,
)
from robustfourier.mixture.search.places import relocate, resolved, weakest_apart
from robustfourier.mixture.search.proposals import APART, allowed
from robustfourier.mixture.search.robust import FAR, HUBER, huber_pays, lines_explain, pseudo_values
from robustfourier.mixture.search.steps import find_steps
from robustfourier.mixture.series import Series
from robustfourier.observers import tell
from robustfourier.periodic.diagonal_flow import DiagonalFlow, diagonal_flow
from robustfourier.periodic.evidence import Evaluator, NoiseModel, tiny
from robustfourier.periodic.priors import FORGETFUL, LONGEST, line_price

_ROUNDS = 30
_WORTH = 0.1  # nats for which a move is worth another round
_OUT_OF_PLACE = "left the range, or came too close to a stronger line"
_NOISE = "noise alone shows one as strong more often than"


@dataclass(frozen=True, eq=False)
class State:
    """A structure with its fit, its noise and its score."""

    series: Series
    fit: Fit
    noise: NoiseModel
    assessment: Assessment
    score: float


class Search:
    """The loop; its state is the best structure so far."""

    def __init__(self, series: Series) -> None:
        settings = series.settings
        self.series, self.original, self.level = series, series.original, settings.level
        self.loss, self.max_lines = settings.loss, series.bearable_lines
        self.huber, self.rounds = settings.loss == "huber", 0
        self.flow: DiagonalFlow | None = None
        given = np.sort(np.asarray(settings.modes, float))
        self.fit = fit_lines(series, given, np.ones(len(given), bool), settings.rungs[0])
        self.assessment: Assessment | None = None
        self.noise: NoiseModel | None = None
        self._scores: dict[Any, State] = {}

    # ---- pieces -------------------------------------------------------------------------------
    def _lowest(self, fit: Fit) -> float:
        return max(self.series.lowest, trend_reach(fit.rung))

    def _white(self, fit: Fit) -> NoiseModel:
        """White noise as strong as what the fit leaves over, strong lines in it not counted."""
        series = self.series
        spent = fit.rung + 2 * len(series.steps) + 3 * len(fit.modes)
        variance = fit.refined.rss / max(series.total - spent, 1.0)
        if not len(fit.modes) and series.grid.size > 80:
            grid = series.grid
            power = grid.power(series.grid_sums(fit.refined), round(1.0 / grid.spacing))[2:]
            variance = np.minimum(variance, np.median(power, axis=0) / np.log(2.0) * 1.2)
        none = (np.zeros(0),) * len(variance)
        return NoiseModel(np.maximum(variance, tiny(series)), none)

    def _assess(self, fit: Fit, noise: NoiseModel) -> Assessment:
        series = self.series
        spent = fit.rung + 2 * len(series.steps) + 3 * len(fit.modes)
        sums = np.zeros((0, 1), np.complex128)
        floor = noise.floor(series, spent)
        ratio, alarm = series.judge.lines(fit.refined, floor)
        none = np.zeros(len(ratio))
        return Assessment(floor, sums, ratio, alarm, Cusps(fit.modes, ratio, none, none))

    def _prices(self, assessment: Assessment, fit: Fit) -> FloatArray:
        width = self.series.judge.widths(fit.modes)
        price = line_price(assessment.ratio, width, self.level)
        return np.where(fit.known, 0.0, price)

    def _scored(self, fit: Fit, near: NoiseModel | None = None, fresh: bool = True) -> State:
        """Return a fit with the noise of the highest evidence, from a fresh search or near one."""
        key = (id(self.series.values), self.series.steps.tobytes(), fit.modes.tobytes(), fit.rung)
        if (key, True) in self._scores or (key, fresh) in self._scores:
            return self._scores.get((key, True)) or self._scores[key, fresh]
        state = self._scores[key, fresh] = self._scored_anew(fit, near, fresh)
        return state

    def _scored_anew(self, fit: Fit, near: NoiseModel | None, fresh: bool) -> State:
        evaluator = Evaluator(self.series)
        noise, score = evaluator.noise_of(fit, near, fresh)
        assessment = self._assess(fit, noise)
        score -= float(self._prices(assessment, fit).sum()) * fit.refined.rss.shape[0]
        score -= len(self.series.steps) * np.log(self.series.distinct)
        return State(self.series, fit, noise, assessment, score)

    def _separated(self, fit: Fit) -> Fit:
        """Drop lines that left the range or came closer than the record can resolve."""
        series = self.series
        while True:
            folded = np.where(fit.modes > series.nyquist, 2.0 * series.nyquist - fit.modes, fit.modes)
            near = np.abs(folded - series.nyquist) < 1.0
            folded = np.where(near, series.nyquist, folded)
            if np.any(folded != fit.modes) and not fit.known[folded != fit.modes].any():
                fit = fit_lines(series, folded, fit.known, fit.rung)
                continue
            keep = resolved(fit, self._lowest(fit), series.max_mode, series.integer)
            keep &= fit.known | series.is_open(fit.modes)
            if keep.all():
                return fit
            tell("lines", "dropped", modes=fit.modes[~keep], reason=_OUT_OF_PLACE)
            fit = fit_lines(series, fit.modes[keep], fit.known[keep], fit.rung)

    # ---- moves --------------------------------------------------------------------------------
    def _proposed(self, fit: Fit, noise: NoiseModel) -> tuple[FloatArray, DiagonalFlow | None]:
        """Return the modes that the diagonal layer asks for in the residual of a fit."""
        series, grid = self.series, self.series.grid
        step = 1 if series.integer else round(0.5 / grid.spacing)
        first = int(np.ceil(self._lowest(fit) / (grid.spacing * step)))
        modes = grid.modes[::step][first:]
        if not len(modes) or len(fit.modes) >= self.max_lines:
            return np.zeros(0), None
        sums = series.grid_sums(fit.refined)[::step][first:]
        spent = fit.rung + 2 * len(series.steps) + 3 * len(fit.modes)
        floor = noise.floor(series, spent)
        beta = sums / np.sqrt(floor.at(modes) * series.total)
        taken = np.concatenate([fit.modes, series.closed])
        apart = 0.5 if series.integer else APART
        for line in taken:
            near = slice(*np.searchsorted(modes, [line - apart, line + apart]))
            beta[near] = 0.0
        threshold = series.judge.threshold(self.level, floor, modes[len(modes) // 2 :][:1])
        flow = diagonal_flow(
            modes, beta, grid.weight_sums[::step] / series.total, float(np.sqrt(threshold[0]))
        )
        if self.flow is None:
            self.flow = flow
        peaks = flow.peaks()
        peaks = np.round(peaks) if series.integer else peaks
        return allowed(peaks, taken, self._lowest(fit), series.max_mode, series.integer), flow

    def _pruned(self, fit: Fit, noise: NoiseModel | None) -> Fit:
        """Drop lines, weakest first, that noise (white if None) explains."""
        while True:
            assessment = self._assess(fit, noise or self._white(fit))
            alarm = np.where(unknowable(self.series, fit), 1.0, assessment.false_alarm)
            alarm = np.where(fit.known, 0.0, alarm)
            bad = np.asarray(alarm > self.level)
            if not bad.any():
                return fit
            drop = weakest_apart(fit.modes, assessment.ratio, bad)
            keep = ~np.isin(np.arange(len(bad)), drop)
            tell("lines", "dropped", modes=fit.modes[drop], reason=f"{_NOISE} {self.level:g}")
            fit = self._separated(fit_lines(self.series, fit.modes[keep], fit.known[keep], fit.rung))

    def _grown(self, fit: Fit, noise: NoiseModel | None) -> Fit:
        """Add what the diagonal layer proposes, drop what does not pay, until nothing is added."""
        for _ in range(_ROUNDS):
            proposed, flow = self._proposed(fit, noise or self._white(fit))
            proposed = proposed[: self.max_lines - len(fit.modes)]
            if not len(proposed):
                return fit
            tell("lines", "proposed", modes=proposed)
            modes = np.concatenate([fit.modes, proposed])
            known = np.concatenate([fit.known, np.zeros(len(proposed), bool)])
            more = relocate(self.series, fit_lines(self.series, modes, known, fit.rung))
            more = self._pruned(self._separated(more), noise)
            new = np.abs(more.modes[:, None] - fit.modes).min(axis=1, initial=np.inf) > 0.5
            if not new.any() or len(more.modes) < len(fit.modes):
                return fit
            fit = more
        return fit

    def _best_subset(self, state: State) -> State:
        """Compare lines with coloured noise: as many of the strongest as the evidence asks for."""
        fit, ratio = state.fit, state.assessment.ratio
        free = np.flatnonzero(~fit.known)
        order = free[np.argsort(-ratio[free], kind="stable")]
        sizes = {size for size in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89) if size < len(order)}
        best = state
        for size in sorted(sizes, reverse=True):
            keep = np.sort(np.concatenate([np.flatnonzero(fit.known), order[:size]]))
            less = fit_lines(self.series, fit.modes[keep], fit.known[keep], fit.rung)
            trial = self._scored(less, state.noise)
            if trial.score > best.score:
                best = trial
        return best

    def _trend(self, state: State) -> State:
        """Take the degree of the trend and the level shifts that the evidence asks for."""
        rungs = self.series.settings.rungs
        if len(rungs) == 1:
            return state
        best = state
        for rung in rungs:
            room = self.series.distinct - 2 * len(state.fit.modes) - 2
            if rung != state.fit.rung and rung < room:
                fit = self._separated(fit_lines(self.series, state.fit.modes, state.fit.known, rung))
                trial = self._scored(fit, state.noise, fresh=False)
                if trial.score > best.score + _WORTH:
                    best = trial
        steps = find_steps(self.series, best.fit)
        if not np.array_equal(steps, self.series.steps):
            before = self.series
            self.series = self.series.with_steps(steps)
            trials = []
            for rung in {1, best.fit.rung}:
                fit = self._separated(fit_lines(self.series, best.fit.modes, best.fit.known, rung))
                trials.append(self._scored(fit))
            trial = max(trials, key=lambda one: one.score)
            if trial.score > best.score:
                best = trial
            else:
                self.series = before
        return best

    # ---- the walk -----------------------------------------------------------------------------
    def run(self) -> Iterator[None]:
        """Search; yields once, after the first round."""
        if self.max_lines == 0 or not np.any(self.original):
            return
        self._start_from_median()
        self._pull_in_outliers()
        tell("diagonal")
        best = self._from(self._scored(self.fit))
        yield
        if len(self.series.settings.rungs) > 1:
            start = self._trend(self._scored(self._plain(1)))
            if start.fit.rung > 1 or len(start.series.steps):
                rival = self._from(start)
                if rival.score > best.score:
                    best = rival
        self._take(best)
        self._pull_in_outliers()
        self._settle()

    def _plain(self, rung: int) -> Fit:
        known = np.ones(len(self.series.settings.modes), bool)
        return fit_lines(self.series, np.sort(self.series.settings.modes), known, rung)

    def _from(self, best: State) -> State:
        """Improve a structure by moves until none raises the evidence."""
        self.series = best.series
        for count in range(_ROUNDS):
            self.rounds += 1
            state = best if count and best.noise.coloured else self._white_move(best)
            if state.noise.coloured or (state is best and best.noise.coloured):
                more = self._coloured_move(state)
                state = more if more.score > state.score else state
            state = self._trend(self._weak_dropped(state))
            if state.score <= best.score + _WORTH:
                break
            best = state
        self.series = best.series
        return best

    def _white_move(self, best: State) -> State:
        """Add many lines as if the rest were white noise, then ask which of them pay."""
        fit = self._grown(best.fit, None)
        if fit is best.fit:
            return best
        state = self._best_subset(self._scored(fit, best.noise))
        return state if state.score > best.score else best

    def _coloured_move(self, best: State) -> State:
        """Add the lines that stand out of the present spectrum of the noise."""
        fit = self._grown(best.fit, best.noise)
        return best if fit is best.fit else self._scored(fit, best.noise)

    def _weak_dropped(self, state: State) -> State:
        """Drop lines, weakest first, without which the evidence is higher."""
        while True:
            margin = state.assessment.ratio - self._prices(state.assessment, state.fit)
            weak = np.flatnonzero(~state.fit.known)
            weak = weak[np.argsort(margin[weak], kind="stable")][:3]
            for line in weak:
                keep = np.arange(len(state.fit.modes)) != line
                fit = self._separated(
                    fit_lines(self.series, state.fit.modes[keep], state.fit.known[keep], state.fit.rung)
                )
                less = self._scored(fit, state.noise)
                if less.score > state.score:
                    state = less
                    break
            else:
                return state

    def _take(self, state: State) -> None:
        self.series, self.fit = state.series, state.fit
        self.noise, self.assessment = state.noise, state.assessment

    # ---- robustness ---------------------------------------------------------------------------
    def _start_from_median(self) -> None:
        weights, median = self.series.weights, np.zeros_like(self.original)
        pays = self.loss == "auto" and huber_pays(self.original, weights, FAR)
        if self.loss == "huber" or pays:
            values = pseudo_values(median, self.original, weights, clip=FAR)
            self.series = self.series.with_values(values)
            self.fit = fit_lines(self.series, self.fit.modes, self.fit.known, self.fit.rung)

    def _pull_in_outliers(self, redescend: bool = False) -> None:
        clip = HUBER if len(self.fit.modes) else FAR
        fitted = self.series.values - self.fit.refined.residuals
        residuals = self.original - fitted
        rounding = np.sum(residuals**2) <= 1e-24 * np.sum(self.original**2)
        pays = self.loss == "auto" and not rounding
        pays = pays and huber_pays(residuals, self.series.weights, clip)
        if pays and lines_explain(self.series, self.fit.modes, self.fit.rung, residuals):
            self.loss, pays = "squared", False
        self.huber = self.loss == "huber" or pays
        values, weights = self.original, self.series.weights
        if self.huber:
            values = pseudo_values(fitted, residuals, weights, clip=clip, redescend=redescend)
        if self.series.values is not values:
            self.series = self.series.with_values(values)
            self.fit = fit_lines(self.series, self.fit.modes, self.fit.known, self.fit.rung)

    def _settle(self) -> None:
        for _ in range(20 if self.huber else 0):
            before = self.fit.refined.residuals
            self._pull_in_outliers(redescend=True)
            change = np.max(np.abs(self.fit.refined.residuals - before), initial=0.0)
            if change <= 1e-4 * np.sqrt(np.max(self.fit.refined.noise_variance, initial=0.0)):
                break
        state = self._scored(self.fit, self.noise)
        if self.huber:
            state = self._from(state)
        fit = self._separated(relocate(self.series, state.fit)) if len(state.fit.modes) else state.fit
        fit = self._pruned(fit, state.noise)
        state = self._scored(fit, state.noise) if fit is not state.fit else state
        self._take(self._with_quasi_periodic(state))

    def _with_quasi_periodic(self, state: State) -> State:
        """Turn oscillators that keep their phase for some cycles into lines of a finite coherence.

        How strict such a line is, the Gaussian process of the whole model tells.
        """
        if len(state.noise.white) > 1 or not state.noise.coloured:
            return state
        evaluator = Evaluator(self.series)
        free, score = evaluator.near(state.fit, state.noise, np.inf)
        oscillators = free.oscillators[0].reshape(-1, 3)
        modes = np.exp(oscillators[:, 0]) / np.pi
        steady = np.exp(oscillators[:, 1]) > FORGETFUL
        steady &= (modes >= self._lowest(state.fit)) & (modes <= self.series.max_mode)
        for mode, own in zip(modes[steady], np.flatnonzero(steady), strict=True):
            if np.abs(state.fit.modes - mode).min(initial=np.inf) < APART:
                continue
            # Its coherence is beyond doubt, and so is that it is there at all.
            forgetful = evaluator.near(state.fit, free, FORGETFUL, own)[1]
            rest, without = evaluator.near(state.fit, free.without(own), LONGEST)
            gain = np.array([score - without])
            alarm = false_alarm(gain, width=self.series.judge.widths(np.array([mode])))
            if alarm[0] > self.level or score - forgetful < -np.log(self.level):
                continue
            modes_now = np.append(state.fit.modes, mode)
            known = np.append(state.fit.known, False)
            fit = fit_lines(self.series, modes_now, known, state.fit.rung)
            assessment = replace(
                self._assess(fit, rest),
                ratio=np.append(state.assessment.ratio, gain),
                false_alarm=np.append(state.assessment.false_alarm, alarm),
            )
            state = State(self.series, fit, rest, assessment, state.score)
        return state

    def finish(self) -> None:
        """Fit once more, lines by ascending mode, with the covariance for the noise at each."""
        if self.assessment is None or len(self.fit.modes) == 0:
            return
        floor, refined, modes = self.assessment.floor, self.fit.refined, self.fit.modes
        colour = local_noise(self.series, refined, modes, floor, refined.noise_variance)
        order = np.argsort(modes, kind="stable")
        known, rung = self.fit.known[order], self.fit.rung
        self.fit = fit_lines(self.series, modes[order], known, rung, colour[order])
        self.assessment = self.assessment.select(order)
