"""The search for the lines of a series: the diagonal layer proposes, the evidence decides.

From two starts, with and without a trend, moves are tried as long as one raises the evidence:

* add many lines as if what is left were white noise, then ask how many of the strongest are worth
  more than coloured noise in their place (tones that are dense lift each other out of sight of any
  floor that follows the spectrum, and coloured noise looks like dense tones: only the comparison
  of both explanations tells);
* add the lines that stand out of the present spectrum of the noise;
* add calendar periods of dated records, which need no search;
* drop a line; another degree of the trend; breakpoints, beside slow lines or in their place.

Whatever is added is proposed by the diagonal layer, trained on the residual of the present model
for its calibrated time (`periodic.diagonal_flow`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.line_wings import local_noise
from robustfourier.mixture.search.alias_relocation import (
    allowed,
    relocate,
    relocated_families,
    resolved,
    weakest_apart,
)
from robustfourier.mixture.search.breakpoints import AT_MOST, proposed_breaks
from robustfourier.mixture.search.line_fit import APART, Fit, fit_lines, trend_reach
from robustfourier.mixture.search.noise_evidence import (
    Assessment,
    NoiseEvidence,
    NoiseModel,
    assess,
    line_prices,
)
from robustfourier.mixture.search.robust import (
    FAR,
    HUBER,
    huber_pays,
    keeps_phase,
    outlier_cost,
    outliers_pay,
    pseudo_values,
    unmasked,
)
from robustfourier.mixture.significance import false_alarm
from robustfourier.mixture.timeseries import GAPPY, Series
from robustfourier.observers import emit
from robustfourier.periodic.basis import Breaks
from robustfourier.periodic.diagonal_flow import DiagonalFlow, diagonal_flow
from robustfourier.periodic.priors import FORGETFUL, LONGEST, STEADIER, breaks_price

_PULLS = 20  # of outliers at the end, until nothing changes
_ROUNDS = 30  # at most; each must raise the evidence
_ANYWHERE = 0  # no id: noise was looked for anywhere
_WHITE = 2  # rounds in which lines are added as if coloured noise were white
_WORTH = 0.1  # nats: less is not worth a round, and no reason for another trend
_EVIDENT = 3.0  # nats for which a start with a trend is worth a search: odds of twenty
_WEAKEST = 3  # lines that are tried to be dropped, after each of which all are judged again
_FEW = 3  # lines beside which coloured noise is searched for anew
_SIZES = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89)  # of sets of lines compared with coloured noise
WING_REACH = 12.0  # modes to each side of a line that its wings are looked for in
_WIDTHS = 3.0  # of a resonance at half height, within which a line is its own
_SIDE_LINES = 3  # beside a line, from which on they may be its wings; tides stand in twos
_PLACES = 50  # at which the threshold is found, which changes slowly
_FALLS = 2  # of the evidence in a row: two breaks may pay where one of them does not
_OWN = 0.05  # part of the noise that is left at least when a line is taken out of it
_MANY = 20  # modes whose median tells the noise under strong lines
_OUT_OF_PLACE = "left the range, or came too close to a stronger line"
_EXPLAINED = "coloured noise or fewer lines explain the samples better"
_NOISE = "noise alone shows one as strong more often than"


@dataclass(frozen=True, eq=False)
class Scored:
    """A structure with its noise and its evidence."""

    series: Series  # with the breakpoints of the structure
    fit: Fit
    noise: NoiseModel
    assessment: Assessment
    score: float


def _score(scored: Scored) -> float:
    return scored.score


Move = Callable[[Scored], Scored]


class Search:
    """The moves; the state is the series with its present values and breakpoints, and the best."""

    def __init__(self, series: Series) -> None:
        settings = series.settings
        self.series, self.original, self.level = series, series.original, settings.level
        self.loss, self.max_lines = settings.loss, series.bearable_lines
        self.huber, self.rounds = settings.loss == "huber", 0
        self.as_given = False  # values beside no line, because the evidence asks for that
        self.flow: DiagonalFlow | None = None
        self.fit = self._given(settings.trend_sizes[0])
        self.assessment: Assessment | None = None
        self.noise: NoiseModel | None = None
        #: scores, with the noises near which they were looked for, by their ids, and what was to be
        #: beaten then
        self._scores: dict[
            tuple[object, ...], tuple[Scored, dict[int, tuple[NoiseModel | None, float]]]
        ] = {}
        #: structures that a move has left as they were, by their ids, which are theirs as long as
        #: they are kept
        self._settled: dict[Move, dict[int, Scored]] = defaultdict(dict)
        self._wings: dict[tuple[object, ...], Scored] = {}
        self._asked = np.zeros(0)  # modes that were proposed

    def run(self) -> Iterator[None]:
        """Search from both starts; yields once, after the first."""
        if self.max_lines == 0 or not np.any(self.original):
            return
        self._start_from_median()
        self._pull_in_outliers()
        emit("diagonal")
        closed = self._closed()
        plain = self._or_as_given(self._scored(self.fit, closed, fresh=True))
        if self.loss == "auto" and plain.noise.coloured:
            self._take(plain)  # what is far from its neighbours is known as such only now
            self._pull_in_outliers()
            plain = self._or_as_given(self._scored(self.fit, plain.noise, fresh=True))
        emit("lines")
        best = self._improved(plain, range(1))
        self._take(best)
        yield
        best = self._improved(best, range(1, _ROUNDS))
        self._take(best)
        self.series = plain.series
        bent = self._bent()
        if bent is not None:
            best = max(best, self._improved(bent), key=_score)
        self._take(best)
        self._pull_in_outliers()
        self._settle()

    def finish(self) -> None:
        """Fit once more, lines by ascending mode, with the covariance for the noise at each."""
        if self.assessment is None or len(self.fit.modes) == 0:
            return
        floor, refined, modes = self.assessment.floor, self.fit.refined, self.fit.modes
        relative = local_noise(self.series, refined, modes, floor, refined.noise_variance)
        order = np.argsort(modes, kind="stable")
        known, trend_size = self.fit.known[order], self.fit.trend_size
        self.fit = fit_lines(self.series, modes[order], known, trend_size, relative[order])
        self.assessment = self.assessment.select(order)

    # -- scores -----------------------------------------------------------------------------------

    def _scored(
        self,
        fit: Fit,
        start: NoiseModel | None = None,
        fresh: bool = False,
        beat: float = -np.inf,
    ) -> Scored:
        """Return a fit with the noise of the highest evidence beside it.

        Noise is looked for near `start`, and if `fresh` anywhere; what was found before beside the
        same lines is kept. Where the score is clearly below `beat`, it may be too low.
        """
        values, breaks = id(self.series.values), self.series.breaks.key
        wings = b"" if start is None else start.wings.tobytes()
        key = (values, breaks, wings, fit.modes.tobytes(), fit.trend_size)
        before, asked = self._scores.get(key, (None, {}))
        near = start if start is not None and start.coloured else None
        ways = {id(near): near} | ({_ANYWHERE: None} if fresh else {})
        if before is not None and all(asked.get(way, (None, np.inf))[1] <= beat for way in ways):
            return before
        scored = self._evaluated(fit, near, fresh, beat)
        least = -np.inf if scored.score >= beat else beat
        ways[id(scored.noise)] = scored.noise
        asked |= {way: (noise, least) for way, noise in ways.items()}
        if before is not None and before.score >= scored.score:
            scored = before
        self._scores[key] = scored, asked
        return scored

    def _evaluated(
        self, fit: Fit, start: NoiseModel | None, fresh: bool, beat: float = -np.inf
    ) -> Scored:
        """Return a fit with its noise, white if neither a start nor a fresh search is given."""
        evidence, price = NoiseEvidence(self.series, fit), self._least_price(fit)
        noise, score = evidence.best(start, fresh, beat + price)
        assessment = assess(self.series, fit, noise)
        score -= float(line_prices(self.series, fit, assessment).sum()) * len(noise.white)
        score -= breaks_price(len(self.series.breaks), self.series.distinct)
        return Scored(self.series, fit, noise, assessment, score)

    def _least_price(self, fit: Fit) -> float:
        """Return the least that lines and breaks of a fit cost."""
        free = np.count_nonzero(~fit.known) * -np.log(self.level)
        return float(free) + breaks_price(len(self.series.breaks), self.series.distinct)

    def _bent(self) -> Scored | None:
        """Return the trend as it would be if the rest were white noise, if any."""
        trend_sizes = self.series.settings.trend_sizes
        fits = [
            self._given(trend_size)
            for trend_size in trend_sizes
            if trend_size < self.series.distinct - 2
        ]
        closed = self._closed()
        bent = [self._evaluated(fit, closed, False) for fit in fits]
        best = max(bent, key=_score, default=None)
        return best if best is not None and best.score > bent[0].score + _EVIDENT else None

    def _closed(self) -> NoiseModel | None:
        """Return noise with wings at the modes that the user closed: what is there is no line."""
        closed = self.series.settings.without
        closed = closed[(closed > self.series.lowest) & (closed < self.series.max_mode)]
        if not len(closed) or self.series.values.shape[1] > 1:
            return None
        wings = np.log([[np.pi * mode, mode, 1.0] for mode in closed]).ravel()
        return NoiseModel(np.ones(1), (np.zeros(0),), wings)

    def _take(self, scored: Scored) -> None:
        """Make a structure the present one."""
        self.series, self.fit = scored.series, scored.fit
        self.noise, self.assessment = scored.noise, scored.assessment
        lines = self.fit.refined.lines
        amplitudes = np.hypot.reduce(lines.amplitude * self.series.scale, axis=1)  # no overflow
        emit("lines", "kept", modes=lines.mode, amplitudes=amplitudes)

    # -- moves ------------------------------------------------------------------------------------

    def _improved(self, best: Scored, rounds: range = range(_ROUNDS)) -> Scored:
        """Return what moves make of a structure, when none raises the evidence any more."""
        self.series = best.series
        for count in rounds:
            self.rounds, now = self.rounds + 1, best
            for move in self._moves(count, best):
                if id(now) not in self._settled[move]:
                    before, now = now, move(now)
                    if now is before:  # nothing to try there again
                        self._settled[move][id(now)] = now
            if now.score <= best.score + _WORTH:
                break
            best = now
        self.series = best.series
        return best

    def _moves(self, count: int, best: Scored) -> Iterator[Move]:
        """Yield the moves of one round."""
        if count < _WHITE or not best.noise.coloured:
            yield self._with_many
        yield from (self._with_more, self._with_calendar, self._without_weak, self._with_family)
        yield from (self._with_wings, self._with_trend, self._with_breaks)

    def _with_many(self, best: Scored) -> Scored:
        """Add lines as if the rest were white noise, and keep as many as the evidence asks for."""
        fit = self._grown(best.fit, None)
        if fit is best.fit:
            return best
        whole = self._scored(fit, best.noise, fresh=True)
        ratio, free = whole.assessment.ratio, np.flatnonzero(~fit.known)
        strongest = free[np.argsort(-ratio[free], kind="stable")]
        sizes = [size for size in _SIZES if size < len(strongest)]
        top = max(best, whole, key=_score)
        for last, path in ((whole, reversed(sizes)), (best, sizes)):
            for size in path:
                keep = fit.known | np.isin(np.arange(len(ratio)), strongest[:size])
                less = fit_lines(self.series, fit.modes[keep], fit.known[keep], fit.trend_size)
                fresh = size <= _FEW and not last.noise.coloured
                trial = self._scored(less, last.noise, fresh, top.score)
                if trial.score < last.score:
                    break
                last, top = trial, max(top, trial, key=_score)
        self._settled[self._with_many][id(whole)] = whole  # it has grown as far as it does
        return top

    def _with_more(self, best: Scored) -> Scored:
        """Add the lines that stand out of the present spectrum of coloured noise."""
        if not best.noise.coloured:
            return best
        fit = self._grown(best.fit, best.noise)
        more = best if fit is best.fit else self._scored(fit, best.noise, True, best.score)
        return max(best, more, key=_score)

    def _with_calendar(self, best: Scored) -> Scored:
        """Add calendar periods with their first harmonics, where the evidence asks for it.

        Slow noise may explain a week that was seen three times; both are fitted.
        """
        for modes in self.series.calendar:
            taken = np.concatenate([best.fit.modes, self.series.closed])
            low, top = self._lowest(best.fit), self.series.max_mode
            new = allowed(modes, taken, low, top, self.series.integer)
            for count in range(1, min(len(new), self.max_lines - len(best.fit.modes)) + 1):
                known = np.append(best.fit.known, np.zeros(count, bool))
                modes_now = np.append(best.fit.modes, new[:count])
                fit = self._separated(fit_lines(self.series, modes_now, known, best.fit.trend_size))
                more = self._scored(fit, best.noise, not best.noise.coloured, best.score)
                best = more if more.score > best.score and len(fit.modes) == len(known) else best
                if best is more:
                    break
        return best

    def _without_weak(self, best: Scored) -> Scored:
        """Drop lines, weakest first, without which the evidence is higher."""
        while True:
            margin = best.assessment.ratio - line_prices(self.series, best.fit, best.assessment)
            weak = np.flatnonzero(~best.fit.known)
            weak = weak[np.argsort(margin[weak], kind="stable")][:_WEAKEST]
            for line in weak:
                fit = self._kept(best.fit, np.arange(len(margin)) != line)
                fresh, ringing = not best.noise.coloured, self._ringing(best, int(line))
                less = self._scored(fit, best.noise, fresh, best.score)
                if less.score <= best.score and ringing is not None:
                    less = self._scored(fit, ringing, beat=best.score)
                if less.score > best.score:
                    best = less
                    break
            else:
                return best

    def _ringing(self, best: Scored, line: int) -> NoiseModel | None:
        """Return noise with a resonance of the same power in the place of a line."""
        if len(best.noise.white) > 1 or best.noise.coloured:
            return None
        power = 0.5 * float(best.fit.refined.lines.amplitude[line, 0]) ** 2
        return best.noise.ringing_at(float(best.fit.modes[line]), power)

    def _with_family(self, best: Scored) -> Scored:
        """Move the strongest lines with their harmonics to aliases, if the evidence asks for it."""
        series, tried = self.series, best
        if series.integer or not (series.grid.side_peaks or series.share < GAPPY):
            return best
        free = np.flatnonzero(~tried.fit.known)
        strongest = free[np.argsort(-tried.assessment.ratio[free], kind="stable")[:1]]
        for lines in (strongest, free) if len(free) > 1 else (free,) if len(free) else ():
            for fit in relocated_families(series, tried.fit, lines):
                trial = self._scored(fit, best.noise, beat=best.score)
                best = trial if trial.score > best.score else best
        return best

    def _with_wings(self, best: Scored) -> Scored:
        """Explain lines beside a stronger one as wings of that one, if the evidence asks for it."""
        if len(best.noise.white) > 1 or self.series.integer:
            return best
        ratio, tried = best.assessment.ratio, 0
        for line in np.argsort(-ratio, kind="stable"):
            fit, mode = best.fit, float(best.fit.modes[line]) if line < len(best.fit.modes) else 0.0
            weaker = best.assessment.ratio < ratio[line]
            if tried >= _WEAKEST or len(weaker) != len(ratio):
                break
            beside = weaker & ~fit.known & (np.abs(fit.modes - mode) <= WING_REACH)
            if np.count_nonzero(beside) < _SIDE_LINES:
                continue
            tried += 1
            less = self._kept(fit, ~beside)
            power = 0.5 * float(np.sum(fit.refined.lines.amplitude[beside, 0] ** 2))
            quality = max(0.5 * mode, 1.0)
            wing = np.log([np.pi * mode, quality, power / best.noise.white[0]])
            noise = replace(best.noise, wings=np.concatenate([best.noise.wings, wing]))
            key = (id(self.series.values), fit.modes.tobytes(), int(line))
            if key not in self._wings:
                self._wings[key] = self._evaluated(less, noise, False)
            if self._wings[key].score > best.score:
                return self._with_wings(self._wings[key])
        return best

    def _with_trend(self, best: Scored) -> Scored:
        """Take the degree of the trend that the evidence asks for."""
        trend_sizes, fit = self.series.settings.trend_sizes, best.fit
        if len(trend_sizes) == 1:
            return best
        room = self.series.distinct - 2 * len(fit.modes) - 2
        for trend_size in trend_sizes:
            if trend_size != fit.trend_size and trend_size < room:
                other = self._separated(fit_lines(self.series, fit.modes, fit.known, trend_size))
                trial = self._scored(other, best.noise, beat=best.score)
                best = trial if trial.score > best.score + _WORTH else best
        emit("lines", "trend", bends=best.fit.trend_size, breaks=self.series.breaks.place)
        return best

    def _with_breaks(self, best: Scored) -> Scored:
        """Take the breakpoints that the evidence asks for, beside slow lines or in their place.

        So many breaks make as many half cycles: lines of as many are slow.
        """
        trend_sizes, fit = self.series.settings.trend_sizes, best.fit
        if len(trend_sizes) == 1:
            return best
        slow = ~fit.known & (fit.modes <= 0.5 * AT_MOST)
        start = best
        for keep in (~slow, np.ones(len(slow), bool)) if slow.any() else (~slow,):
            kept = fit.refined.lines.select(keep).evaluate(self.series.theta)
            for trend_size in sorted({*trend_sizes[:2], fit.trend_size}):
                last, fallen = -np.inf, 0
                y = start.series.values - kept
                for breaks in chain((Breaks(),), proposed_breaks(start.series, y, trend_size)):
                    self.series = start.series.with_breaks(breaks)
                    trial = self._kept(replace(fit, trend_size=trend_size), keep)
                    scored = self._scored(trial, start.noise, beat=best.score)
                    best = scored if scored.score > best.score + _WORTH else best
                    fallen = fallen + 1 if scored.score < last else 0
                    if fallen == _FALLS:
                        break
                    last = scored.score
        self.series = best.series
        return best

    def _with_quasi_periodic(self, best: Scored) -> Scored:
        """Turn oscillators that keep their phase for some cycles into lines.

        How far such a line keeps it, the Gaussian process of the whole model tells. Wings whose
        line was dropped, because they explain it, are such oscillators.
        """
        if len(best.noise.white) > 1 or not best.noise.coloured:
            return best
        evidence, given = NoiseEvidence(self.series, best.fit), best.fit.modes
        free, score = evidence.near(best.noise.beside(given), np.inf)
        oscillators = free.oscillators[0].reshape(-1, 3)
        modes, quality = np.exp(oscillators[:, 0]) / np.pi, np.exp(oscillators[:, 1])
        within = (modes >= self._lowest(best.fit)) & (modes <= self.series.max_mode)
        within &= self.series.is_open(modes)
        within &= np.exp(oscillators[:, 2]) * free.white > self.series.smallest_noise  # no rounding
        # The diagonal layer has asked for a line there, or several side by side.
        asked = np.abs(modes[:, None] - self._asked).min(axis=1, initial=np.inf) < WING_REACH
        for own in np.flatnonzero(within & asked & (quality > FORGETFUL)):
            fit, mode = best.fit, modes[own]
            if len(fit.modes) >= self.max_lines:
                break
            steadier = score - evidence.near(free, FORGETFUL, int(own))[1]
            rest, without = evidence.near(free.without(int(own)), LONGEST)
            gain = np.array([score - without])
            alarm = false_alarm(gain, width=self.series.judge.widths(modes[[own]]))
            width = max(APART, _WIDTHS * mode / quality[own])
            added = fit.modes[len(given) :]  # two narrow ones side by side are one that wanders
            apart = np.abs(fit.modes - mode).min(initial=np.inf) >= width
            apart &= bool(np.abs(added - mode).min(initial=np.inf) >= WING_REACH)
            if not apart or alarm[0] > self.level or steadier < STEADIER:
                continue
            known = np.append(fit.known, False)
            fit = fit_lines(self.series, np.append(fit.modes, mode), known, fit.trend_size)
            ratio = np.append(best.assessment.ratio, gain)
            alarms = np.append(best.assessment.false_alarm, alarm)
            assessment = Assessment(rest.floor(self.series, fit), ratio, alarms)
            best = Scored(self.series, fit, rest, assessment, best.score)
        return best

    # -- lines ------------------------------------------------------------------------------------

    def _given(self, trend_size: int) -> Fit:
        """Return the fit of the lines that were given."""
        given = np.sort(np.asarray(self.series.settings.modes, float))
        return fit_lines(self.series, given, np.ones(len(given), bool), trend_size)

    def _grown(self, fit: Fit, noise: NoiseModel | None) -> Fit:
        """Add what the diagonal layer proposes and noise does not explain, until nothing is new.

        Without a noise model the noise is white, and as strong as what is left over.
        """
        for _ in range(_ROUNDS):
            proposed = self._proposed(fit, noise or self._white(fit))
            if not len(proposed):
                return fit
            emit("lines", "proposed", modes=proposed)
            self._asked = np.append(self._asked, proposed)
            modes = np.concatenate([fit.modes, proposed])
            known = np.concatenate([fit.known, np.zeros(len(proposed), bool)])
            more = relocate(self.series, fit_lines(self.series, modes, known, fit.trend_size))
            more = self._pruned(self._separated(more), noise)
            new = np.abs(more.modes[:, None] - fit.modes).min(axis=1, initial=np.inf) > 0.5 * APART
            if not new.any():
                return fit
            fewer, fit = len(more.modes) < len(fit.modes), more
            if fewer:
                return fit
        return fit

    def _proposed(self, fit: Fit, noise: NoiseModel) -> FloatArray:
        """Return the modes that the diagonal layer asks for in the residual of a fit."""
        series, grid, room = self.series, self.series.grid, self.max_lines - len(fit.modes)
        step = 1 if series.integer else round(0.5 / grid.spacing)
        first = int(np.ceil(self._lowest(fit) / (grid.spacing * step)))
        modes = grid.modes[::step][first:]
        if not len(modes) or room <= 0:
            return np.zeros(0)
        floor = noise.floor(series, fit)
        sums = series.grid_sums(fit.refined)[::step][first:]
        coefficients = sums / np.sqrt(floor.at(modes) * series.total)
        # Until it is fitted a line is part of the noise that it is measured against, and of few
        # samples no line stands out of that. This is what it shows without itself.
        part = np.sum(np.abs(coefficients) ** 2, axis=1) / (floor.dof_at(modes) * sums.shape[1])
        coefficients /= np.sqrt(np.maximum(1.0 - part, _OWN))[:, None]
        taken = np.concatenate([fit.modes, series.closed])
        for mode in taken:
            apart = 0.5 if series.integer else APART
            coefficients[slice(*np.searchsorted(modes, [mode - apart, mode + apart]))] = 0.0
        places = np.geomspace(modes[0], modes[-1], _PLACES)
        power = series.judge.threshold(self.level, floor, places)
        threshold = np.interp(modes, places, np.clip(power, 1e-3, 1e6))  # no ratio in reach
        window = grid.weight_sums[::step] / series.total
        # A line halfway between two modes of the grid shows that part of its gradient.
        seen = 1.0 if series.integer else float(np.sinc(0.25))
        flow = diagonal_flow(modes, coefficients, window, seen * np.sqrt(threshold))
        self.flow = self.flow or flow
        peaks = np.round(flow.peaks()) if series.integer else flow.peaks()
        inside = self._lowest(fit), series.max_mode, series.integer
        return allowed(peaks, taken, *inside)[:room]

    def _pruned(self, fit: Fit, noise: NoiseModel | None) -> Fit:
        """Drop lines, weakest first, that noise explains, until each of the others passes."""
        while True:
            assessment = assess(self.series, fit, noise or self._white(fit))
            alarm = np.where(fit.known, 0.0, assessment.false_alarm)
            emit("lines", "tested", modes=fit.modes, false_alarm=alarm)
            bad = np.asarray(alarm > self.level)
            if not bad.any():
                return fit
            drop = weakest_apart(fit.modes, assessment.ratio, bad)
            emit("lines", "dropped", modes=fit.modes[drop], reason=f"{_NOISE} {self.level:g}")
            fit = self._kept(fit, ~np.isin(np.arange(len(bad)), drop))

    def _kept(self, fit: Fit, keep: BoolArray) -> Fit:
        """Return the fit of some of the lines."""
        less = fit_lines(self.series, fit.modes[keep], fit.known[keep], fit.trend_size)
        return self._separated(less)

    def _white(self, fit: Fit) -> NoiseModel:
        """White noise as strong as what a fit leaves over; lines to be found are not counted."""
        series = self.series
        variance = fit.refined.rss / max(series.total - fit.n_parameters(series), 1.0)
        grid = series.grid
        if not len(fit.modes) and grid.size * grid.spacing > _MANY:
            power = grid.power(series.grid_sums(fit.refined), round(1.0 / grid.spacing))[2:]
            variance = np.minimum(variance, np.median(power, axis=0) / np.log(2.0))
        return NoiseModel.white_noise(
            np.maximum(variance, np.maximum(series.smallest_noise, 1e-300))
        )

    def _lowest(self, fit: Fit) -> float:
        """Lowest mode that is not the trend's."""
        return max(self.series.lowest, trend_reach(fit.trend_size))

    def _separated(self, fit: Fit) -> Fit:
        """Drop lines that left the range or came closer than the record can resolve."""
        series = self.series
        top = series.reach if series.settings.max_mode is None else series.max_mode
        while True:
            mirrored = series.folded(fit.modes)
            if np.any(mirrored != fit.modes) and not fit.known[mirrored != fit.modes].any():
                fit = fit_lines(series, mirrored, fit.known, fit.trend_size)
                continue
            keep = resolved(fit, self._lowest(fit), top, series.integer)
            keep &= fit.known | series.is_open(fit.modes)
            if keep.all():
                return fit
            emit("lines", "dropped", modes=fit.modes[~keep], reason=_OUT_OF_PLACE)
            fit = fit_lines(series, fit.modes[keep], fit.known[keep], fit.trend_size)

    # -- outliers ---------------------------------------------------------------------------------

    def _start_from_median(self) -> None:
        """Pull outliers in around the median (zero), which a huge one cannot move as it does a fit.

        `_pull_in_outliers` goes on from there, and takes it back where it does not pay.
        """
        weights, median = self.series.weights, np.zeros_like(self.original)
        pays = self.loss == "auto" and huber_pays(self.original, weights, FAR)
        pays = pays and not keeps_phase(self.series, self.fit.refined.lines, self.original)
        if self.loss == "huber" or pays:
            values = pseudo_values(median, self.original, weights, clip=FAR)
            self.series = self.series.with_values(values)
            self.fit = fit_lines(self.series, self.fit.modes, self.fit.known, self.fit.trend_size)

    def _or_as_given(self, pulled: Scored) -> Scored:
        """Return the fit of the values as they were given, if its evidence is the higher one.

        What is far from the level may be no outlier but slow: a decay, an event.
        """
        series, values = self.series, self.original
        if self.loss != "auto" or series.values is values:
            return pulled
        self.series = series.with_values(values)
        fit = fit_lines(self.series, self.fit.modes, self.fit.known, self.fit.trend_size)
        given = self._scored(fit, fresh=True)
        around = pulled.fit.refined.residuals
        cost = outlier_cost(values - (series.values - around), around, series.weights)
        self.as_given = given.score > pulled.score - cost
        best = given if self.as_given else pulled
        self.series, self.fit, self.huber = best.series, best.fit, not self.as_given
        return best

    def _pull_in_outliers(self, redescend: bool = False) -> None:
        """Replace the values by pseudo-values around the present fit, if that pays.

        As long as no line is known, residuals are signal, and only what is far off is pulled in.
        """
        if self.as_given and not len(self.fit.modes):
            return
        clip = HUBER if len(self.fit.modes) else FAR
        fitted = self.series.values - self.fit.refined.residuals
        if self.loss == "auto" and clip == FAR and self.noise is not None:
            fitted = fitted + self.noise.expected(self.series, self.fit.refined.residuals)
        residuals = self.original - fitted
        # Residuals at the level of rounding have tails of their own, which mean nothing.
        rounding = np.sum(residuals**2) <= 1e-24 * np.sum(self.original**2)
        pays = self.loss == "auto" and not rounding
        weights = self.series.weights
        pays = pays and (redescend or huber_pays(residuals, weights, clip))
        if pays and keeps_phase(self.series, self.fit.refined.lines, residuals):
            self.loss, pays = "squared", False  # no outliers, but what is left over of jumps
        self.huber = self.loss == "huber" or pays
        values = self.original
        if self.huber:
            values = pseudo_values(fitted, residuals, weights, clip=clip, redescend=redescend)
        if self.series.values is not values:
            self.series = self.series.with_values(values)
            self.fit = fit_lines(self.series, self.fit.modes, self.fit.known, self.fit.trend_size)

    def _pull_until_settled(self, redescend: bool) -> None:
        """Iterate pseudo-values to their fixed point."""
        for _ in range(_PULLS):
            before = self.fit.refined.residuals
            self._pull_in_outliers(redescend)
            change = np.max(np.abs(self.fit.refined.residuals - before), initial=0.0)
            if change <= 1e-4 * np.sqrt(np.max(self.fit.refined.noise_variance, initial=0.0)):
                break

    def _settle(self) -> None:
        """Iterate pseudo-values to their fixed point, look once more, and test each line at last.

        Which of its aliases a line belongs to is asked again, now that the others are known.
        """
        if self.loss == "auto" and not self.huber and (found := unmasked(self.series, self.fit)):
            (self.series, self.fit), self.huber = found, True
        if self.huber:
            self._pull_until_settled(redescend=False)
        left = self.original - (self.series.values - self.fit.refined.residuals)
        if self.loss != "squared" and outliers_pay(left, self.series.weights):
            self._pull_until_settled(redescend=True)
        best = self._scored(self.fit, self.noise, fresh=True)
        if self.huber:
            best = self._improved(best)
        fit = best.fit
        if len(fit.modes):
            fit = self._pruned(self._separated(relocate(self.series, fit)), best.noise)
        best = best if fit is best.fit else self._scored(fit, best.noise, fresh=True)
        self._take(self._with_quasi_periodic(best))
        far = np.abs(self._asked[:, None] - self.fit.modes).min(axis=1, initial=np.inf) >= APART
        if far.any():
            emit("lines", "dropped", modes=np.unique(self._asked[far]), reason=_EXPLAINED)
