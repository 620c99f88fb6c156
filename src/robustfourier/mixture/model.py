"""The fitted model of one input column, and the tables of all columns.

    y(t) = trend(t) + Σ_c waveform_c((t − epoch_c) / period_c) + Gaussian processes + white noise

`ColumnModel` evaluates it and takes it apart in θ.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import BoolArray, FloatArray, IndexArray, IntArray
from robustfourier.domain import Domain
from robustfourier.mixture.components.component import Component, QuasiPeriodicTrace, label
from robustfourier.mixture.components.compose import Separated
from robustfourier.mixture.components.links import Link
from robustfourier.mixture.components.side_lines import with_side_lines
from robustfourier.mixture.evidence import Evidence
from robustfourier.mixture.timeseries import Series
from robustfourier.modes import ModeTable
from robustfourier.periodic.basis import Breakpoint, Breaks, Lines, Trend
from robustfourier.periodic.exponential_smoothing import SmoothingMixture
from robustfourier.periodic.forecast import Extrapolation
from robustfourier.periodic.harmonic_families import Families
from robustfourier.periodic.residual_process import Remainder, joined_errors, robust_weights
from robustfourier.periodic.uncertainty import (
    LowRankErrors,
    amplitude_errors,
    lengths,
    mode_errors,
    phase_errors,
    prediction_errors,
)


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
    extrapolation : Extrapolation, optional
        What stands beyond the ends for trend and remainder; None if the trend is a level.
    inflation : ndarray of shape (q, 4), optional
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
    extrapolation: Extrapolation | None = None
    inflation: FloatArray | None = None
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
        if self.extrapolation is not None and (out := self.extrapolation.beyond(theta)).any():
            values[out] = self.extrapolation.mean(theta[out], c)
        return values

    def remainder_at(self, theta: FloatArray) -> FloatArray:
        """Return what the samples tell about the remainder at θ, shape (n, q).

        Beyond the ends it holds what the drift differs from the trend by, and after an even record
        what exponential smoothing changes.
        """
        values = self._own_remainder(theta)
        if self.smoothing is not None and (after := self.smoothing.after(theta)).any():
            mean, _ = self._mixed(self.smoothing, theta[after], np.zeros_like(values[after]))
            values[after] = mean - self.evaluate(theta[after])
        return values

    def _mixed(
        self, mixture: SmoothingMixture, theta: FloatArray, own_variance: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance after an even record, with those of exponential smoothing, (n, q)."""
        own, lines = self.evaluate(theta) + self._own_remainder(theta), self.strict_at(theta)
        return mixture.moments(theta, own, lines, own_variance, self.white)

    def _own_remainder(self, theta: FloatArray) -> FloatArray:
        """What Gaussian processes tell about the remainder."""
        values = np.zeros((len(theta), self.trend.shape[1]))
        if self.remainder is not None:
            values = self.remainder.mean(theta)
        if self.extrapolation is not None and (out := self.extrapolation.beyond(theta)).any():
            trend = self.trend_at(theta[out]) - self._trend.shifted(theta[out])
            values[out] = self.extrapolation.mean(theta[out]) - trend
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
        if (
            self.extrapolation is not None
            and remainder
            and (out := self.extrapolation.beyond(theta)).any()
        ):
            errors[out] = self._errors(theta[out], self.extrapolation, remainder)
        if not out.all():
            errors[~out] = self._errors(theta[~out], self.remainder, remainder)
        mixture = self.smoothing if remainder else None
        if mixture is not None and (after := mixture.after(theta)).any():
            errors[after] = np.sqrt(self._mixed(mixture, theta[after], errors[after] ** 2)[1])
        return errors

    @property
    def white(self) -> FloatArray:
        """Standard deviation of measurements around the function, shape (q,)."""
        return self.noise if self.process is None else self.process.white

    @property
    def process(self) -> Remainder | Extrapolation | None:
        """The Gaussian processes that forecasts rest on; None if all that is left is white."""
        return self.remainder if self.extrapolation is None else self.extrapolation

    def around(self, theta: FloatArray) -> FloatArray:
        """Return what these processes are around: strict lines, and a trend or a line, (n, q)."""
        if self.extrapolation is None:
            return replace(self, remainder=None).evaluate(theta)
        return self.strict_at(theta) + self.extrapolation.line_at(theta)

    def _errors(
        self, theta: FloatArray, process: Remainder | Extrapolation | None, whole: bool
    ) -> FloatArray:
        """Errors of lines, trend and a process; of the whole or of patterns and trend alone."""
        columns, narrow, p = self._trend.columns(theta), self._narrow, len(self.trend)
        stands = process is not None and process is self.extrapolation  # for the trend; breaks stay
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
