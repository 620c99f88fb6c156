"""The rounds of a search: propose, refine, test, until nothing more passes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.cusps import local_noise
from robustfourier.mixture.judge import together
from robustfourier.mixture.search import robust
from robustfourier.mixture.search.assess import (
    Assessment,
    Fit,
    assess,
    fit_lines,
    left_a_continuum,
    slow_alarm,
    squares_left,
    trend_reach,
    trend_rung,
    unknowable,
)
from robustfourier.mixture.search.places import (
    exchange,
    highest_in_white,
    relocate,
    resolved,
    weakest_apart,
)
from robustfourier.mixture.search.proposals import (
    APART,
    Pursued,
    allowed,
    clear_of_continuum,
    flow_proposals,
    from_above,
    held_out,
    pursued,
)
from robustfourier.mixture.search.robust import FAR, HUBER, huber_pays, lines_explain, pseudo_values
from robustfourier.mixture.search.steps import find_steps
from robustfourier.mixture.series import Series
from robustfourier.observers import tell
from robustfourier.spectral.flow import DiagonalFlow, diagonal_flow
from robustfourier.spectral.sums import FourierSums, fourier_sums

_ROUNDS = 40  # at most; each must find a line, and most searches end within ten
# The flow sees as many modes as there are samples, at least 1000 and at most 10 000 of those
# searched; with more its steps become small. Lines above are proposed by the residual.
_FLOW_MODES, _FLOW_AT_LEAST = 10_000, 1_000
# A peak is worth a joint refinement and a proper test from this false-alarm probability on.
_WORTH_A_TEST = 0.2
_LOOKS, _LOOK_AHEAD = 5, 6  # peaks fitted together when none is worth a test alone,
_LOOK_FROM = 2.0  # from this mode on
_NOISE = "noise alone shows one as strong more often than"
_OUT_OF_PLACE = "left the range, or came too close to a stronger line"


class Search:
    """The loop; its state is the current fit, its assessment and the series with its values."""

    def __init__(self, series: Series) -> None:
        settings = series.settings
        self.series, self.original, self.level = series, series.original, settings.level
        self.loss, self.max_lines = settings.loss, series.bearable_lines
        self.huber, self.rounds = settings.loss == "huber", 0
        self.flow: DiagonalFlow | None = None
        self.tried: list[float] = []  # highest peaks that were tried whatever the floor said
        given = np.sort(np.asarray(settings.modes, float))
        self.fit = fit_lines(series, given, np.ones(len(given), bool), settings.rungs[0])
        self.assessment: Assessment | None = None
        self._last: tuple[Series, Fit, Assessment] | None = None

    def _assessed(self) -> Assessment:
        """Assess the present fit, unless that was done last."""
        last = self._last
        if last is None or last[0] is not self.series or last[1] is not self.fit:
            last = self._last = self.series, self.fit, assess(self.series, self.fit)
        return last[2]

    @property
    def lowest(self) -> float:
        """Lowest mode that is not the trend's."""
        return max(self.series.lowest, trend_reach(self.fit.rung))

    @property
    def taken(self) -> FloatArray:
        """Modes beside which nothing is proposed: lines, and what the user closed."""
        return np.concatenate([self.fit.modes, self.series.closed])

    def run(self) -> Iterator[None]:
        """Propose, refine and test until nothing passes; yields once a round, when lines passed."""
        if self.max_lines == 0 or not np.any(self.original):
            return
        self._start_from_median()
        self._pull_in_outliers()
        self._choose_trend()
        self._try_slow_line()
        proposed, looked, ahead = self._proposals_of_flow(), False, False
        tell("lines")
        while self.rounds < _ROUNDS:
            self.rounds += 1
            before = len(self.fit.modes)
            if len(proposed):
                self._add(proposed)
                self._prune(self.level)
            yield
            self._pull_in_outliers()
            self._choose_trend()
            grown = self.rounds == 1 or len(self.fit.modes) > before
            if looked and not (grown or ahead):
                break
            proposed = self._pursued().modes if grown else np.zeros(0)
            looked = len(proposed) == 0
            if looked and (grown or not ahead):
                proposed = self._look_ahead()
            ahead = looked and len(proposed) > 0
            if len(proposed) == 0:  # or what lay ahead did not stand
                proposed = self._highest_peak()
            if len(proposed) == 0:
                break
        self._settle()

    def _add(self, proposed: FloatArray) -> None:
        """Refine present and proposed lines together."""
        room = max(self.max_lines - len(self.fit.modes), 0)
        proposed = proposed[:room]
        tell("lines", "proposed", modes=proposed)
        modes = np.concatenate([self.fit.modes, proposed])
        known = np.concatenate([self.fit.known, np.zeros(len(proposed), bool)])
        fit = relocate(self.series, fit_lines(self.series, modes, known, self.fit.rung))
        self.fit = self._separated(fit)
        self._tell_lines("refined")

    def _tell_lines(self, what: str) -> None:
        lines = self.fit.refined.lines
        amplitudes = np.hypot.reduce(lines.amplitude * self.series.scale, axis=1)  # no overflow
        tell("lines", what, modes=lines.mode, amplitudes=amplitudes)

    def _exchange(self) -> None:
        """Exchange lines that do not pass for what the residual shows without them."""
        assessment = self._assessed()
        weak = np.flatnonzero(~self.fit.known & (assessment.false_alarm > self.level))
        weak = weak[np.argsort(assessment.ratio[weak], kind="stable")]
        self.fit = self._separated(exchange(self.series, self.fit, weak, self.lowest))

    def _separated(self, fit: Fit) -> Fit:
        """Drop lines that left the range or came closer than the record can resolve."""
        while True:
            folded = self.series.folded(fit.modes)
            if np.any(folded != fit.modes) and not fit.known[folded != fit.modes].any():
                fit = fit_lines(self.series, folded, fit.known, fit.rung)
                continue
            keep = resolved(fit, self.lowest, self.series.max_mode, self.series.integer)
            keep &= fit.known | self.series.is_open(fit.modes)
            if keep.all():
                return fit
            tell("lines", "dropped", modes=fit.modes[~keep], reason=_OUT_OF_PLACE)
            fit = fit_lines(self.series, fit.modes[keep], fit.known[keep], fit.rung)

    def _prune(self, level: float) -> None:
        """Drop lines, weakest first, until each of the others passes."""
        while (bad := self._failing(level)).any():
            drop = weakest_apart(self.fit.modes, self._assessed().ratio, bad)
            keep = ~np.isin(np.arange(len(bad)), drop)
            tell("lines", "dropped", modes=self.fit.modes[drop], reason=f"{_NOISE} {level:g}")
            fit = fit_lines(self.series, self.fit.modes[keep], self.fit.known[keep], self.fit.rung)
            self.fit = self._separated(fit)
        self.assessment = self._assessed()
        self._tell_lines("kept")

    def _failing(self, level: float) -> BoolArray:
        """Mark the lines that do not pass at a level."""
        unknown, alarm = unknowable(self.series, self.fit), self._assessed().false_alarm
        alarm = np.where(self.fit.known, 0.0, np.where(unknown, 1.0, alarm))
        tell("lines", "tested", modes=self.fit.modes, false_alarm=alarm)
        return np.asarray(alarm > level)

    def _choose_trend(self) -> None:
        """Take the trend that the data asks for beside the present lines: bends, then steps."""
        if len(self.series.settings.rungs) > 1:
            rung = trend_rung(self.series, self.fit)
            if rung != self.fit.rung:
                fit = fit_lines(self.series, self.fit.modes, self.fit.known, rung)
                self.fit = self._separated(fit)
            self._find_steps()
        self.assessment = self._assessed()
        tell("lines", "trend", bends=self.fit.rung, steps=self.series.steps)

    def _find_steps(self) -> None:
        """Take the level shifts that the data asks for; what looked like a bend may be one."""
        steps = find_steps(self.series, self.fit)
        if np.array_equal(steps, self.series.steps):
            return
        self.series = self.series.with_steps(steps)
        rung = trend_rung(self.series, self.fit)
        self.fit = self._separated(fit_lines(self.series, self.fit.modes, self.fit.known, rung))

    def _try_slow_line(self) -> None:
        """Ask whether slow power is a cycle or two rather than a trend or slow noise.

        A polynomial of degree four follows two cycles well enough to hide them, and beside three
        strong cycles no slope passes. So the best slow line is tried together with a slope, and
        kept if it passes and leaves less than what was there before.
        """
        rungs = self.series.settings.rungs
        if len(rungs) == 1:
            return
        before, assessment, last = self.fit, self.assessment, self._last
        with_slope = fit_lines(self.series, before.modes, before.known, 2)
        grid = self.series.slow_grid
        within = (grid.modes >= self.series.lowest) & (grid.modes <= 2.0 * trend_reach(rungs[-1]))
        power = grid.power(self.series.residual_sums(with_slope.refined, grid.modes))
        at = int(np.argmax(power.sum(axis=1) * within))
        if slow_alarm(self.series, power, at) > _WORTH_A_TEST:
            return
        self.fit = with_slope
        self._add(grid.modes[[at]])
        more = len(self.fit.modes) > len(before.modes)
        better = more and squares_left(self.series, self.fit) <= squares_left(self.series, before)
        if better and not self._failing(self.level).any():
            self.assessment = self._assessed()
        else:
            self.fit, self.assessment, self._last = before, assessment, last
        self._tell_lines("kept")

    def _start_from_median(self) -> None:
        """Pull outliers in around the median (zero), which a huge one cannot move as it does a fit.

        `_pull_in_outliers` goes on from there, and takes it back where it does not pay.
        """
        weights, median = self.series.weights, np.zeros_like(self.original)
        pays = self.loss == "auto" and huber_pays(self.original, weights, FAR)
        if self.loss == "huber" or pays:
            values = pseudo_values(median, self.original, weights, clip=FAR)
            self.series = self.series.with_values(values)
            self.fit = fit_lines(self.series, self.fit.modes, self.fit.known, self.fit.rung)

    def _pull_in_outliers(self, redescend: bool = False) -> None:
        """Replace the values by pseudo-values around the present fit, if that pays.

        As long as no line is known, residuals are signal, and only what is far off is pulled in.
        """
        clip = HUBER if len(self.fit.modes) else FAR
        fitted = self.series.values - self.fit.refined.residuals
        residuals = self.original - fitted
        # Residuals at the level of rounding have tails of their own, which mean nothing.
        rounding = np.sum(residuals**2) <= 1e-24 * np.sum(self.original**2)
        pays = self.loss == "auto" and not rounding
        pays = pays and huber_pays(residuals, self.series.weights, clip)
        if pays and lines_explain(self.series, self.fit.modes, self.fit.rung, residuals):
            self.loss, pays = "squared", False  # no outliers, but what is left over of jumps
        self.huber = self.loss == "huber" or pays
        values, weights = self.original, self.series.weights
        if self.huber:
            values = pseudo_values(fitted, residuals, weights, clip=clip, redescend=redescend)
        if self.series.values is not values:
            self.series = self.series.with_values(values)
            self.fit = fit_lines(self.series, self.fit.modes, self.fit.known, self.fit.rung)

    def _settle(self) -> None:
        """Iterate pseudo-values to their fixed point, then prune once more.

        Which of its aliases a line belongs to is asked again, now that the others are known.
        """
        if (
            self.loss == "auto"
            and not self.huber
            and (found := robust.unmasked(self.series, self.fit))
        ):
            (self.series, self.fit), self.huber = found, True
        for _ in range(20 if self.huber else 0):
            before = self.fit.refined.residuals
            self._pull_in_outliers(redescend=True)
            change = np.max(np.abs(self.fit.refined.residuals - before), initial=0.0)
            if change <= 1e-4 * np.sqrt(np.max(self.fit.refined.noise_variance, initial=0.0)):
                break
        if len(self.fit.modes):
            self.fit = self._separated(relocate(self.series, self.fit))
        self._prune(self.level)

    def _proposals_of_flow(self) -> FloatArray:
        """Run the diagonal flow on the residual and return its peaks."""
        series, residuals = self.series, self.fit.refined.residuals
        tell("diagonal")
        top = int(min(series.max_mode, _FLOW_MODES, max(len(series.theta), _FLOW_AT_LEAST)))
        held = held_out(series.theta, series.settings.seed)
        if not held.any() or held.all():
            return np.zeros(0)
        assert self.assessment is not None
        step = round(1.0 / series.grid.spacing)
        every = FourierSums(
            series.grid.window.every(1.0, 2 * top + 1)[:, 0],
            self.assessment.data_sums[: step * top + 1 : step],
            series.weights @ residuals**2,
        )
        test = fourier_sums(series.theta[held], residuals[held], series.weights[held], top)
        self.flow = diagonal_flow(every - test, test)
        # The floor of the higher modes: many strong lines would lift their own.
        floor = from_above(self.assessment.floor, np.arange(top + 1.0)).sum(axis=1)
        proposed = flow_proposals(self.flow, floor, series.total)
        return self._open(np.round(proposed) if series.integer else proposed)

    def _open(self, modes: FloatArray) -> FloatArray:
        """Return those of some modes that are in range and apart from the lines."""
        series = self.series
        return allowed(modes, self.taken, self.lowest, series.max_mode, series.integer)

    def _look_ahead(self) -> FloatArray:
        """Return lines that would pass with ease if they did not hide each other.

        Many strong lines at low modes look like a falling continuum, which lifts the floor under
        each of them. Here the highest peaks over the floor of the *higher* modes are fitted
        together, a few more each time, and weak ones exchanged for what is missing. Then the
        weakest are dropped until all pass, and pass a test a hundred times as strict, together or
        else each. If what is left is flat there was no continuum, and they are proposed. Where as
        many peaks are taken out as could be fitted, most continua show before any fit.
        """
        before, assessment, last = self.fit, self.assessment, self._last
        peaks = self._pursued(_LOOKS * _LOOK_AHEAD, faintest=0.0)
        many = len(peaks.modes) == _LOOKS * _LOOK_AHEAD
        if not len(peaks.modes) or (many and left_a_continuum(self.series, before, peaks)):
            return np.zeros(0)
        for _ in range(_LOOKS):
            more, count = self._pursued(_LOOK_AHEAD).modes, len(self.fit.modes)
            if len(more):
                self._add(more)
                self._exchange()
                self.assessment = self._assessed()
            if len(self.fit.modes) == count:
                break
        if self.fit is before:
            return np.zeros(0)
        self._prune(self.level)
        assert self.assessment is not None
        new = np.abs(self.fit.modes[:, None] - before.modes).min(axis=1, initial=np.inf) >= APART
        if together(self.assessment.false_alarm[new]) > self.level / 100.0:
            self._prune(self.level / 100.0)
        clear = clear_of_continuum(self.assessment.floor, self.fit.modes)
        found = self.fit.modes[clear]
        self.fit, self.assessment, self._last = before, assessment, last
        self._tell_lines("kept")
        return self._open(found)

    def _highest_peak(self) -> FloatArray:
        """Return the highest peak of the residual if white noise would hardly show one as high.

        Through an uneven window a strong line leaks to all modes, and is its own noise floor until
        it is fitted. What passes the test against white noise is then fitted and tested as all
        lines are, against the floor without it.
        """
        assert self.assessment is not None
        if len(self.fit.modes) >= self.max_lines:
            return np.zeros(0)
        sums, apart = self.assessment.data_sums, 0.5 if self.series.integer else APART
        mode, alarm = highest_in_white(self.series, self.fit, sums, self.taken, self.lowest, apart)
        if alarm > self.level or any(abs(mode - other) < apart for other in self.tried):
            return np.zeros(0)
        self.tried.append(mode)
        return np.array([mode])

    def _pursued(self, ahead: int = 0, **settings: float) -> Pursued:
        """Take peaks out of the residual that are worth a test.

        With `ahead`, at most so many, over the floor of the higher modes.
        """
        series, assessment = self.series, self.assessment
        assert assessment is not None
        modes, n_outputs = series.grid.modes, series.values.shape[1]
        floor = from_above(assessment.floor, modes) if ahead else assessment.noise_at(modes)

        def worth(ratio: FloatArray, mode: FloatArray) -> BoolArray:
            dof = np.full(len(mode), np.inf) if ahead else assessment.floor.dof_at(mode)
            return series.judge.alarm(ratio, mode, dof, n_outputs) < _WORTH_A_TEST

        return pursued(
            series.grid,
            assessment.data_sums,
            floor,
            worth,
            self.taken,
            lowest=max(_LOOK_FROM, self.lowest) if ahead else self.lowest,
            apart=0.5 if series.integer else APART,
            at_most=min(ahead or 64, max(self.max_lines - len(self.fit.modes), 0)),
            between=not series.integer,
            **settings,
        )

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
