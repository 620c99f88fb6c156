"""The fitted model: components with their labels, one record per input column, and their tables.

    y(t) = trend(t) + Σ_c waveform_c((t − epoch_c) / period_c) + Gaussian processes + white noise

`ColumnModel` evaluates it and takes it apart in θ; `Component` is what a user reads of one pattern;
`Evidence` keeps what the fit used to decide, so that a report shows what was used. Letters name
components, the strongest first; 3B, A+B, 2A-B are integer combinations of their frequencies, with a
plain hyphen, so that labels can be typed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from string import ascii_uppercase
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustfourier.arrays import BoolArray, FloatArray, IndexArray, IntArray
from robustfourier.domain import Domain
from robustfourier.formatting import number
from robustfourier.mixture.components.compose import Separated
from robustfourier.mixture.components.links import Link
from robustfourier.mixture.components.side_lines import with_side_lines
from robustfourier.mixture.evidence import LogEvidence, log_evidence
from robustfourier.mixture.search.detection import Detection
from robustfourier.mixture.search.robust import robust_scale, whitening
from robustfourier.mixture.timeseries import Series
from robustfourier.modes import ModeTable
from robustfourier.periodic.basis import Breakpoint, Breaks, Lines, Trend
from robustfourier.periodic.exponential_smoothing import SmoothingMixture
from robustfourier.periodic.forecast import Extrapolation
from robustfourier.periodic.harmonic_families import Families, nested_orders
from robustfourier.periodic.noise_spectrum import NoiseFloor
from robustfourier.periodic.residual_process import Remainder, joined_errors, robust_weights
from robustfourier.periodic.uncertainty import (
    LowRankErrors,
    amplitude_errors,
    lengths,
    mode_errors,
    phase_errors,
    prediction_errors,
)


def letter(i: int) -> str:
    """Return the label of the i-th component: A to Z, then AA, AB and so on."""
    return (letter(i // 26 - 1) if i >= 26 else "") + ascii_uppercase[i % 26]


def label(row: Iterable[int]) -> str:
    """Name an integer combination of frequencies.

    Examples
    --------
    >>> label([1, 0]), label([0, 3]), label([1, 1]), label([-1, 2])
    ('A', '3B', 'A+B', '2B-A')
    """
    terms = [(int(factor), letter(j)) for j, factor in enumerate(row) if factor]
    # A leading term with a plus sign reads better than -A+2B.
    terms.sort(key=lambda term: term[0] < 0)
    text = ""
    for factor, name in terms:
        sign = "-" if factor < 0 else "+" if text else ""
        text += f"{sign}{'' if abs(factor) == 1 else abs(factor)}{name}"
    return text


@dataclass(frozen=True, eq=False)
class QuasiPeriodicTrace:
    """How a quasi-periodic pattern wanders.

    Parameters
    ----------
    coherence : float
        Time after which amplitude, phase and shape are forgotten (to 1/e), in units of time.
    modulation : float
        Deviation of the quasi-periodic part over that of the whole pattern: 0 for a strict pattern,
        1 for one that keeps nothing.
    order : int
        The strongest harmonic, whose amplitude and phase are followed.
    theta : ndarray of shape (G,)
        Where they are told.
    cosine, sine, error : ndarray of shape (G,)
        Its coefficients there, relative to the strict period and epoch, and their standard error.
    """

    coherence: float
    modulation: float
    order: int
    theta: FloatArray
    cosine: FloatArray
    sine: FloatArray
    error: FloatArray

    def amplitude(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the amplitude of the harmonic at θ, and its standard error."""
        return np.interp(theta, self.theta, np.hypot(self.cosine, self.sine)), self._error(theta)

    def phase(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return by how many radians of the fundamental the pattern is late at θ, and its error."""
        late = np.unwrap(np.arctan2(self.sine, self.cosine)) / self.order
        size = np.interp(theta, self.theta, np.hypot(self.cosine, self.sine))
        error = self._error(theta) / np.maximum(size, 1e-300)
        return np.interp(theta, self.theta, late), np.minimum(error, np.pi) / self.order

    def _error(self, theta: FloatArray) -> FloatArray:
        return np.interp(theta, self.theta, self.error)


@dataclass(frozen=True, eq=False)
class Component:
    """One repeating pattern of a mixture.

    Its value at time t is ``waveform((t - epoch) / period)``. The mean of a pattern cannot be told
    from the level of the data: waveforms have mean zero, the level is part of the trend.

    Parameters
    ----------
    label : str
        ``A``, ``B``, … for patterns with a frequency of their own, the strongest first; a sum or
        difference such as ``A+B`` for a combination tone.
    mode, mode_error : float
        Cycles over the record, and its standard error.
    frequency, frequency_error : float
        Cycles per unit of time.
    period, period_error : float
        In units of time.
    harmonics : ndarray of int
        Orders that are significant; 1 is the fundamental. The waveform may hold further ones, each
        shrunk by what the data say of it.
    share : float, or ndarray of shape (q,) for several outputs
        Part of the variation around the trend that the pattern explains: its covariance with the
        data over their variance, outliers left out. Shares and what is left over add up to one.
    phase : float
        Of the fundamental at the middle of the record (θ = 0), in radians; with several outputs, of
        the one in which it is strongest (relative to the noise).
    link : Link or None
        The function g of ``g(cos(2π (t - epoch) / period))`` if the harmonics are in phase. None if
        they are not, and for several outputs.
    order : ndarray of int of shape (H,)
        Orders of all harmonics of the waveform.
    cosine, sine : ndarray of shape (H, q)
        Their coefficients, relative to `epoch`.
    factor : ndarray of shape (q, 2H, r)
        The coefficients of an output have covariance ``factor @ factor.T``.
    domain : Domain
        Where time and θ meet.
    column : int
        The input column.
    quasi_periodic : QuasiPeriodicTrace or None
        How it wanders; None if it is strict.
    """

    label: str
    mode: float
    mode_error: float
    frequency: float
    frequency_error: float
    period: float
    period_error: float
    harmonics: IntArray
    share: Any
    phase: float
    link: Link | None
    order: IntArray
    cosine: FloatArray
    sine: FloatArray
    factor: FloatArray
    domain: Domain
    column: int = 0
    quasi_periodic: QuasiPeriodicTrace | None = None

    @property
    def coherence(self) -> float:
        """Time after which the pattern forgets amplitude, phase and shape; infinite if strict."""
        return np.inf if self.quasi_periodic is None else self.quasi_periodic.coherence

    @property
    def modulation(self) -> float:
        """Part of its deviation that wanders: 0 if strict, 1 if nothing is kept for ever."""
        return 0.0 if self.quasi_periodic is None else self.quasi_periodic.modulation

    def amplitude_at(self, times: Any, return_std: bool = False) -> Any:
        """Return the amplitude of the strongest harmonic at times, with standard errors if asked.

        A strict pattern has the same at all times.
        """
        theta = self.domain.to_theta(times)
        if self.quasi_periodic is not None:
            value, std = self.quasi_periodic.amplitude(theta)
            return (value, std) if return_std else value
        size = np.hypot(self.cosine, self.sine)
        at = int(np.argmax(size[:, 0]))
        cosine, sine = self.factor[0, at], self.factor[0, len(self.order) + at]
        length = max(size[at, 0], 1e-300)
        along = self.cosine[at, 0] / length * cosine + self.sine[at, 0] / length * sine
        value = np.full(len(theta), size[at, 0])
        return (value, np.full(len(theta), lengths(along))) if return_std else value

    def phase_at(self, times: Any, return_std: bool = False) -> Any:
        """Return by how many radians of a cycle the pattern is late at times; 0 if it is strict.

        Relative to ``waveform((t - epoch) / period)``; with standard errors if asked.
        """
        theta = self.domain.to_theta(times)
        if self.quasi_periodic is not None:
            value, std = self.quasi_periodic.phase(theta)
            return (value, std) if return_std else value
        zero = np.zeros(len(theta))
        # The error of the period adds up from the epoch on.
        error = np.pi * self.mode_error * np.abs(theta - self.phase / (np.pi * self.mode))
        return (zero, error) if return_std else zero

    @property
    def wandering(self) -> str:
        """In words how it wanders; empty if it is strict.

        Of a coherence longer than the record nobody has seen the end: what is said is by how much
        the pattern changes from one end to the other, a deviation of √(2 (1 − e^{−T/L})) of what
        wanders.
        """
        if self.quasi_periodic is None:
            return ""
        count, over = number(self.coherence / self.period, 2), self.domain.span / self.coherence
        if over < 1.0:
            change = self.modulation * np.sqrt(-2.0 * np.expm1(-over))
            return f"changes by {100 * change:.0f} % of its size over the record (quasi-periodic)"
        if self.modulation > 0.95:
            return f"drifts out of step after about {count} cycles (quasi-periodic)"
        return (
            f"changes by {100 * self.modulation:.0f} % of its size within about {count} cycles "
            "(quasi-periodic)"
        )

    @property
    def epoch(self) -> Any:
        """Time nearest to the middle of the record at which the phase is zero."""
        return self.domain.from_theta(np.array([self.phase / (np.pi * self.mode)]))[0]

    @property
    def nested(self) -> tuple[float, ...]:
        """Periods that repeat within this one, such as 50 and 20 within 100, longest first.

        Patterns of periods P and P/n cannot be told from one pattern of P: a strong order n is the
        only sign of the second.
        """
        found = np.isin(self.order, self.harmonics)
        size = np.hypot.reduce(np.hypot(self.cosine[found], self.sine[found]), axis=1)
        return tuple(self.period / int(n) for n in nested_orders(self.order[found], size))

    @property
    def combination(self) -> bool:
        """Whether the frequency is a sum or difference of others."""
        return "+" in self.label or "-" in self.label

    def waveform(self, phase: ArrayLike, return_std: bool = False) -> Any:
        """Return the pattern at a phase in cycles: 0 at the epoch, 1 one period later.

        Parameters
        ----------
        phase : array-like of shape (m,)
            Cycles; any real number.
        return_std : bool
            Whether to return standard errors too.

        Returns
        -------
        ndarray of shape (m,), or (m, q) for several outputs; a pair of them if `return_std`
        """
        angle = 2.0 * np.pi * np.multiply.outer(np.asarray(phase, np.float64), self.order)
        columns = np.concatenate([np.cos(angle), np.sin(angle)], axis=-1)
        values = columns @ np.concatenate([self.cosine, self.sine])
        single = values.shape[-1] == 1
        values = values[..., 0] if single else values
        if not return_std:
            return values
        errors = np.stack([lengths(columns @ part) for part in self.factor], -1)
        return values, errors[..., 0] if single else errors

    def __repr__(self) -> str:
        orders = ", ".join(map(str, self.harmonics))
        share = " ".join(f"{100 * value:.3g} %" for value in np.atleast_1d(self.share))
        return (
            f"<Component {self.label}: period {self.period:.6g} ± {self.period_error:.2g} "
            f"{self.domain.unit}".rstrip()
            + f", harmonics {orders}, {share} of the variance"
            + (f", containing {', '.join(f'{p:.6g}' for p in self.nested)}" if self.nested else "")
            + (f"; {self.wandering}>" if self.wandering else ">")
        )


OUTLIER = 6.0  # robust standard deviations: one in a hundred million for Gaussian noise


@dataclass(frozen=True, eq=False)
class Evidence:
    """The range searched, the noise floor, the threshold, the diagonal, and the outliers.

    Parameters
    ----------
    lowest, highest : float
        Range of modes searched.
    rule : str
        Why the range ends there, in words.
    level : float
        False-alarm probability that a line had to pass.
    floor : NoiseFloor
        Noise power against mode at the end of the search, in units of `scale`².
    scale : ndarray of shape (q,)
        A power of two near the typical deviation of y.
    threshold : ndarray of shape (C,)
        At the floor's modes, power over floor at which one output's false alarm is `level`.
    total : float
        Total weight: a sinusoid of amplitude a alone has the power total·a²/4.
    diagonal, diagonal_mode : ndarray of shape (J,)
        Weights of the diagonal layer when it proposed first, and their modes; empty if there was
        nothing to search.
    outlier : ndarray of shape (k,)
        θ of the samples that lie more than six deviations from the fitted lines in any output.
    robust : bool
        Whether outliers were pulled in.
    log_evidence : LogEvidence, optional
        Of the lines, trend and noise that the search ended with, of the values that were fitted.
    """

    lowest: float
    highest: float
    rule: str
    level: float
    floor: NoiseFloor
    scale: FloatArray
    threshold: FloatArray
    total: float
    diagonal: FloatArray
    diagonal_mode: FloatArray
    outlier: FloatArray
    robust: bool
    log_evidence: LogEvidence | None = None

    @classmethod
    def of(cls, found: Detection) -> Evidence:
        """Collect what a detection used."""
        series, floor = found.series, found.floor
        level = series.settings.level
        fitted = series.values - found.fit.refined.residuals
        left = (series.original - fitted) * whitening(series.weights)
        size = np.maximum(robust_scale(left, series.weights), 1e-300)
        far = np.abs(left) > OUTLIER * size
        return cls(
            lowest=series.lowest,
            highest=series.max_mode,
            rule=found.limit.rule,
            level=level,
            floor=floor,
            scale=series.scale,
            threshold=series.judge.threshold(level, floor, floor.mode),
            total=series.total,
            diagonal=np.zeros(0) if found.flow is None else found.flow.weight,
            diagonal_mode=np.zeros(0) if found.flow is None else found.flow.modes,
            outlier=series.theta[np.any(far, axis=1) & found.huber],
            robust=found.huber,
            log_evidence=log_evidence(found),
        )

    def floor_amplitude(self, modes: FloatArray) -> FloatArray:
        """Amplitude of a line whose power is that of the noise, shape (len(modes), q)."""
        return 2.0 * np.sqrt(self.floor.at(modes) / self.total) * self.scale

    def threshold_amplitude(self, modes: FloatArray) -> FloatArray:
        """Amplitude that a line had to reach at `modes`, shape (len(modes), q)."""
        ratio = np.exp(np.interp(modes, self.floor.mode, np.log(self.threshold)))
        return self.floor_amplitude(modes) * np.sqrt(ratio)[:, None]


@dataclass(frozen=True, eq=False)
class ColumnModel:
    """Trend plus components as functions of one input column.

    Parameters
    ----------
    domain : Domain
        User time to θ.
    rows : ndarray of int of shape (C, F)
        Fundamental of each component as an integer combination of the bases; the strongest first,
        combination tones last.
    bases : ndarray of shape (F,)
    base_covariance : ndarray of shape (F, F)
    component, order : ndarray of int of shape (K,)
        Component of each line, and its order there; order 0 is a side line, which a component has
        because it is not quite steady.
    lines : Lines
        The K lines in units of y, sorted by component and order.
    trend : ndarray of shape (p, q)
        Coefficients of `trend_columns`.
    factor : ndarray of shape (q, p + 4K, r)
        See `robustfourier.periodic.uncertainty`.
    false_alarm : ndarray of shape (K,)
        NaN for harmonics that only serve a smoothed waveform.
    shift, p_value : ndarray of shape (K,)
        See `Separated`.
    noise : ndarray of shape (q,)
        Standard deviation of the noise.
    evidence : Evidence, optional
        What the fit used to decide.
    power : ndarray of shape (C, q), optional
        Covariance of each component with the data around the trend, outliers left out.
    variation : ndarray of shape (q,), optional
        Variance of the data around the trend, outliers left out; the powers and what is left over
        add up to it.
    breaks : Breaks
        Breakpoints of the trend; the last rows of `trend` are their sizes.
    harmonics : ndarray of int of shape (K, F), optional
        ``lines.mode == harmonics @ bases``; by default what `component` and `order` say.
    remainder : Remainder, optional
        What is left over, where it is correlated; None for white noise.
    last, spacing : float
        θ of the last sample, and the median distance of samples from the one before.
    traces : tuple of QuasiPeriodicTrace or None, optional
        How each component wanders; empty if all are strict.
    phase_lost : ndarray of bool of shape (K,), optional
        Lines of patterns that keep no phase for ever: they tell the typical waveform, and what they
        are at any time is told by the process in `remainder`.
    onward : Extrapolation, optional
        What stands beyond the ends for trend and remainder; None if the trend is a level.
    surprise : ndarray of shape (q, 4), optional
        Factors of the standard error beyond the ends, by a back-test; None for white noise.
    smoothing : SmoothingMixture, optional
        Exponential smoothing that goes on beside all that after an even record.
    """

    domain: Domain
    rows: IntArray
    bases: FloatArray
    base_covariance: FloatArray
    component: IntArray
    order: IntArray
    lines: Lines
    trend: FloatArray
    factor: FloatArray
    false_alarm: FloatArray
    shift: FloatArray
    p_value: FloatArray
    noise: FloatArray
    evidence: Evidence | None = None
    power: FloatArray | None = None
    variation: FloatArray | None = None
    breaks: Breaks = field(default_factory=Breaks)
    harmonics: IntArray | None = None
    remainder: Remainder | None = None
    last: float = 1.0
    spacing: float = 0.02
    traces: tuple[QuasiPeriodicTrace | None, ...] = ()
    phase_lost: BoolArray | None = None
    onward: Extrapolation | None = None
    surprise: FloatArray | None = None
    smoothing: SmoothingMixture | None = None

    @classmethod
    def of(
        cls,
        domain: Domain,
        fit: Separated,
        series: Series,
        evidence: Evidence | None = None,
    ) -> ColumnModel:
        """Return the fit of a series in units of y, components ranked by strength."""
        scale = series.scale
        rank = _ranking(fit.grouping, fit.lines, fit.noise_variance)
        grouping = Families(
            fit.grouping.bases[rank], fit.grouping.harmonics[:, rank], fit.grouping.fixed[rank]
        )
        images = np.array([distance for distance, _ in series.grid.side_peaks])
        component, order, rows = with_side_lines(
            grouping, fit.lines, fit.listed, series.nyquist, images, series.settings.split
        )
        sort = np.lexsort((order, order == 0, component))  # side lines last
        p, count = len(fit.trend), len(fit.lines)
        entries = np.concatenate([np.arange(p), *(p + j * count + sort for j in range(4))])
        lines = fit.lines.select(sort)
        trend = fit.trend * scale
        trend[0] += series.centre
        return cls(
            domain=domain,
            rows=rows,
            bases=grouping.bases,
            base_covariance=fit.base_covariance[np.ix_(rank, rank)],
            component=component[sort],
            order=order[sort],
            lines=Lines(lines.mode, lines.cosine * scale, lines.sine * scale),
            trend=trend,
            factor=fit.factor[:, entries] * scale[:, None, None],
            false_alarm=fit.false_alarm[sort],
            shift=fit.shift[sort],
            p_value=fit.p_value[sort],
            noise=np.sqrt(fit.noise_variance) * scale,
            evidence=evidence,
            breaks=series.breaks,
            harmonics=grouping.harmonics[sort],
            last=float(series.theta[-1]),
            spacing=float(np.median(np.diff(np.unique(series.theta)))),
        )

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.rows)

    @property
    def _trend(self) -> Trend:
        return Trend(self.trend, self.breaks)

    @property
    def trend_kind(self) -> str:
        """Return "level", "slope" or "smooth"."""
        return self._trend.kind

    def breakpoints(self) -> list[Breakpoint]:
        """Return when the trend breaks, by how much, and the standard error of that."""
        first, per_unit = len(self.trend) - len(self.breaks), 2.0 / self.domain.span
        return [
            Breakpoint(
                time=self.domain.from_theta(self.breaks.place[[i]])[0],
                kind="slope" if order else "level",
                size=self.trend[first + i] * per_unit**order,
                error=lengths(self.factor[:, first + i]) * per_unit**order,
            )
            for i, order in enumerate(self.breaks.order)
        ]

    def mode_of(self, c: int) -> float:
        """Return the mode of one component."""
        return float(self.rows[c] @ self.bases)

    def mode_error(self, c: int) -> float:
        """Return its standard error."""
        return float(np.sqrt(max(self.rows[c] @ self.base_covariance @ self.rows[c], 0.0)))

    def trend_columns(self, theta: FloatArray) -> FloatArray:
        """Return the columns whose coefficients are `trend`, shape (n, p)."""
        return self._trend.columns(theta)

    def trend_at(self, theta: FloatArray) -> FloatArray:
        """Return level and slow part at θ, shape (n, q)."""
        return self._trend.evaluate(theta)

    def components_at(self, theta: FloatArray) -> FloatArray:
        """Return the value of each component at θ, shape (n, C, q)."""
        strict = self._strict
        parts = [
            self.lines.select(strict & (self.component == c)).evaluate(theta)
            + self._quasi_periodic_at(theta, c)
            for c in range(self.n_components)
        ]
        empty = np.zeros((len(theta), 0, self.trend.shape[1]))
        return np.stack(parts, axis=1) if parts else empty

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return trend plus all components at θ, shape (n, q)."""
        values = self.trend_at(theta) + self.lines.select(self._strict).evaluate(theta)
        for c in range(len(self.traces)):
            values += self._quasi_periodic_at(theta, c)
        return values

    @property
    def _strict(self) -> BoolArray:
        """Lines that go on for ever, shape (K,)."""
        return np.ones(len(self.lines), bool) if self.phase_lost is None else ~self.phase_lost

    def strict_at(self, theta: FloatArray) -> FloatArray:
        """Return strict lines and breaks at θ, which go on beyond the ends as they are, (n, q)."""
        return self._trend.shifted(theta) + self.lines.select(self._strict).evaluate(theta)

    def _quasi_periodic_at(self, theta: FloatArray, c: int) -> FloatArray | float:
        """What the samples tell about the quasi-periodic part of a component."""
        if self.remainder is None or not self.traces or self.traces[c] is None:
            return 0.0
        values = self.remainder.mean(theta, c)
        if self.onward is not None and (out := self.onward.beyond(theta)).any():
            values[out] = self.onward.mean(theta[out], c)
        return values

    def remainder_at(self, theta: FloatArray) -> FloatArray:
        """Return what the samples tell about the remainder at θ, shape (n, q).

        Beyond the ends it holds what the drift differs from the trend by, and after an even record
        what exponential smoothing changes.
        """
        values = self._own_remainder(theta)
        if self.smoothing is not None and (after := self.smoothing.after(theta)).any():
            at, base = theta[after], self.evaluate(theta[after])
            own = base + values[after]
            mixed, _ = self.smoothing.moments(at, own, self.strict_at(at), own, self.white)
            values[after] = mixed - base
        return values

    def _own_remainder(self, theta: FloatArray) -> FloatArray:
        """What Gaussian processes tell about the remainder."""
        values = np.zeros((len(theta), self.trend.shape[1]))
        if self.remainder is not None:
            values = self.remainder.mean(theta)
        if self.onward is not None and (out := self.onward.beyond(theta)).any():
            trend = self.trend_at(theta[out]) - self._trend.shifted(theta[out])
            values[out] = self.onward.mean(theta[out]) - trend
        return values

    def errors_at(self, theta: FloatArray, remainder: bool = True) -> FloatArray:
        """Return standard errors of `evaluate`, shape (n, q).

        Far beyond the record the phase of a line is unknown; its error is then its amplitude, and
        does not grow any more.

        Parameters
        ----------
        theta : ndarray of shape (n,)
        remainder : bool
            Whether the error is that of `evaluate` plus `remainder_at`.
        """
        errors = np.zeros((len(theta), self.trend.shape[1]))
        out = np.zeros(len(theta), bool)
        if self.onward is not None and remainder and (out := self.onward.beyond(theta)).any():
            errors[out] = self._errors(theta[out], self.onward, remainder)
        if not out.all():
            errors[~out] = self._errors(theta[~out], self.remainder, remainder)
        mixture = self.smoothing if remainder else None
        if mixture is not None and (after := mixture.after(theta)).any():
            at = theta[after]
            own, lines = self.evaluate(at) + self._own_remainder(at), self.strict_at(at)
            _, variance = mixture.moments(at, own, lines, errors[after] ** 2, self.white)
            errors[after] = np.sqrt(variance)
        return errors

    @property
    def white(self) -> FloatArray:
        """Standard deviation of measurements around the function, shape (q,)."""
        memory = self.remainder if self.onward is None else self.onward
        return self.noise if memory is None else memory.white

    def _errors(
        self, theta: FloatArray, process: Remainder | Extrapolation | None, whole: bool
    ) -> FloatArray:
        """Errors of lines, trend and a process; of the whole or of patterns and trend alone."""
        columns, narrow, p = self._trend.columns(theta), self._narrow, len(self.trend)
        stands = process is not None and process is self.onward  # for the trend; breaks stay
        if stands:
            narrow = narrow.without(np.flatnonzero(~self._trend.shifts))
        if process is None or not whole:
            errors = narrow.errors(theta, columns)
        else:
            errors = joined_errors(process.parts, theta, self._columns, narrow.factor)
        most = lengths(self.lines.amplitude[self._strict].T)
        if np.any(errors > most):
            trend = prediction_errors(theta, columns, np.zeros(0), narrow.factor[:, :p])
            errors = np.minimum(errors, np.hypot(trend, most))
        if not stands and np.any(np.abs(theta) > 1.0):
            errors = np.hypot(errors, self._trend.wander(theta))
        if process is None:
            return errors
        if isinstance(process, Extrapolation):
            return np.hypot(errors, np.sqrt(process.variance(theta)))
        return np.hypot(errors, np.sqrt(process.variance(theta, patterns=not whole)))

    @cached_property
    def _narrow(self) -> LowRankErrors:
        """Columns and factor of trend and strict lines."""
        counts = np.concatenate([np.ones(len(self.trend), bool), *[self._strict] * 4])
        return LowRankErrors.of(self.lines.mode[self._strict], self.factor[:, counts])

    def _columns(self, theta: FloatArray) -> FloatArray:
        return self._narrow.columns(theta, self._trend.columns(theta))

    def noise_at(self, modes: FloatArray) -> FloatArray:
        """Return the variance of a line's coefficients in the noise at modes, shape (m, q)."""
        if self.evidence is None:
            raise ValueError("the model does not know its noise spectrum")
        floor, scale = self.evidence.floor.at(modes), self.evidence.scale
        return 2.0 * floor * scale**2 / self.evidence.total

    def explaining(self, series: Series) -> ColumnModel:
        """Return the same model with the part of the variation that each component explains.

        Of the values as they were given: what lies beyond four deviations is left out where there
        are outliers, all else counts as it is. With patterns f_c that leave r = y − Σ f_c over, the
        share of c is ⟨y + r, f_c⟩ / ⟨y, y⟩: whatever was shrunk, the shares add up to what patterns
        explain, 1 − ⟨r, r⟩ / ⟨y, y⟩.
        """
        fitted = self.components_at(series.theta) / series.scale
        around = series.original - (self.trend_at(series.theta) - series.centre) / series.scale
        weights = np.repeat(series.weights[:, None], around.shape[1], axis=1)
        if self.evidence is not None and self.evidence.robust:
            left = around - fitted.sum(axis=1)
            inside = [robust_weights(r, series.weights) >= 1.0 for r in left.T]
            weights = weights * np.stack(inside, axis=1)
        part = weights / weights.sum(axis=0)
        around = around - np.einsum("nq,nq->q", part, around)
        fitted = fitted - np.einsum("nq,ncq->cq", part, fitted)
        power = np.einsum("nq,nq,ncq->cq", part, 2.0 * around - fitted.sum(axis=1), fitted)
        return replace(self, power=power, variation=np.einsum("nq,nq->q", part, around**2))

    def labels(self, first: int = 0) -> list[str]:
        """Names of the components; `first` counts the bases of columns before this one."""
        return [label([0] * first + row.tolist()) for row in self.rows]

    def components(self, share: FloatArray, first: int, column: int) -> tuple[Component, ...]:
        """Return the public records; see `labels` for `first`.

        Parameters
        ----------
        share : ndarray of shape (C, q)
            Of the variation around the trend.
        first : int
        column : int
            Index of the input column.
        """
        names = self.labels(first)
        return tuple(
            self._component(c, names[c], share[c], column) for c in range(self.n_components)
        )

    def _component(self, c: int, name: str, share: FloatArray, column: int) -> Component:
        members = np.flatnonzero((self.component == c) & (self.order > 0))
        listed = members[np.isfinite(self.false_alarm[members])]
        lines, order = self.lines.select(members), self.order[members]
        mode, error = self.mode_of(c), self.mode_error(c)
        phase = self._phase(listed[0])
        factor = self._turned(members, phase)
        cosine, sine = _turn(lines.cosine, lines.sine, (order * phase)[:, None])
        return Component(
            label=name,
            mode=mode,
            mode_error=error,
            frequency=float(self.domain.frequency(mode)),
            frequency_error=float(self.domain.frequency(error)),
            period=float(self.domain.period(mode)),
            period_error=float(self.domain.period(mode) * error / mode),
            harmonics=self.order[listed],
            share=float(share[0]) if len(share) == 1 else share,
            phase=phase,
            link=self._link(members, order, cosine[:, 0], factor[0], phase),
            order=order,
            cosine=cosine,
            sine=sine,
            factor=factor,
            domain=self.domain,
            column=column,
            quasi_periodic=self.traces[c] if self.traces else None,
        )

    def _phase(self, line: int) -> float:
        """Return the phase at which the lowest harmonic peaks, or the common shift."""
        if np.isfinite(self.shift[line]):
            return float(self.shift[line])
        noise = np.maximum(self.noise, np.finfo(float).tiny)
        output = int(np.argmax(self.lines.amplitude[line] / noise))
        return float(self.lines.phase[line, output] / self.order[line])

    def _turned(self, members: IntArray, phase: float) -> FloatArray:
        """Factor of the coefficients of one component relative to a phase, (q, 2H, r)."""
        p, count = len(self.trend), len(self.lines)
        angle = (self.order[members] * phase)[:, None]
        cosine, sine = self.factor[:, p + members], self.factor[:, p + count + members]
        return np.concatenate(_turn(cosine, sine, angle), axis=1)

    def _link(
        self,
        members: IntArray,
        order: IntArray,
        cosine: FloatArray,
        factor: FloatArray,
        phase: float,
    ) -> Link | None:
        """Return the Chebyshev series of a component in phase."""
        if not np.isfinite(self.shift[members]).all():
            return None
        coefficients = np.zeros(order.max() + 1)
        coefficients[order] = cosine
        root = np.zeros((order.max() + 1, factor.shape[1]))
        root[order] = factor[: len(order)]
        return Link(coefficients, phase, float(self.p_value[members[0]]), root)


def _turn(
    cosine: FloatArray, sine: FloatArray, angle: NDArray[Any]
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of cos(nx) and sin(nx) as coefficients of cos(nx − angle), sin(nx − angle)."""
    c, s = np.cos(angle), np.sin(angle)
    return cosine * c + sine * s, sine * c - cosine * s


def _ranking(grouping: Families, lines: Lines, noise: FloatArray) -> IndexArray:
    """Return the bases in descending order of the power of their components."""
    strength = (lines.amplitude**2 / np.maximum(noise, 1e-300)).sum(1)
    power = np.bincount(grouping.component, strength, minlength=len(grouping.bases))
    return np.argsort(-power[: len(grouping.bases)], kind="stable")


def shares(models: list[ColumnModel]) -> list[FloatArray]:
    """Return the share of the variation that each component of each column explains, (C, q) each.

    The variation of one column's fit is what the columns before it have left over. Where a
    component takes back a part of another (a day beside the day of a week), its own share is
    nothing, and the others share what all of them explain together.
    """
    powers = [np.zeros((m.n_components, 1)) if m.power is None else m.power for m in models]
    last = models[-1].variation
    whole = (0.0 if last is None else last) + sum(power.sum(axis=0) for power in powers[:-1])
    whole = np.where(whole > 0, whole, np.inf)
    together = np.maximum(sum(power.sum(axis=0) for power in powers), 0.0)
    alone = sum(np.maximum(power, 0.0).sum(axis=0) for power in powers)
    part = np.where(alone > together, together / np.where(alone > 0, alone, 1.0), 1.0)
    return [np.clip(part * power / whole, 0.0, 1.0) for power in powers]


def mode_table(models: list[ColumnModel], single: bool) -> ModeTable:
    """Join the tables of all columns; with `single`, columns of one output are flat."""
    parts, tables = [], []
    bases = components = 0
    for column, model in enumerate(models):
        parts.append(_columns(model, bases, components, column))
        bases, components = bases + len(model.bases), components + model.n_components
    for model, part in zip(models, parts, strict=True):
        if single:
            flat = ("cosine", "sine", "amplitude_error", "phase_error")
            part.update({name: part[name][:, 0] for name in flat})
        if len(models) == 1:
            del part["column"]
        tables.append(ModeTable.build(span=model.domain.span, unit=model.domain.unit, **part))
    return ModeTable.stack(tables)


def _columns(
    model: ColumnModel, first_base: int, first_component: int, column: int
) -> dict[str, Any]:
    """Return the columns of a `ModeTable` for the significant lines."""
    listed = np.flatnonzero(np.isfinite(model.false_alarm))
    p = len(model.trend)
    harmonics = model.harmonics
    if harmonics is None:
        harmonics = model.order[:, None] * model.rows[model.component]
    error = mode_errors(harmonics, model.base_covariance)
    amplitude = amplitude_errors(model.lines, model.factor, p)
    phase = phase_errors(model.lines, model.factor, p)
    names = [label([0] * first_base + harmonics[i].tolist()) for i in listed]
    return {
        "mode": model.lines.mode[listed],
        "cosine": model.lines.cosine[listed],
        "sine": model.lines.sine[listed],
        "mode_error": error[listed],
        "amplitude_error": amplitude[listed],
        "phase_error": phase[listed],
        "false_alarm": model.false_alarm[listed],
        "component": first_component + model.component[listed],
        "harmonic": model.order[listed],
        "label": np.array(names, dtype=str),
        "column": np.full(len(listed), column),
    }
