"""What is shown of each of the two estimators: the one place that knows both from outside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.estimators.components import extreme, row_of, typical_level
from robustfourier.formatting import number
from robustfourier.mixture.model import ColumnModel, Evidence, letter
from robustfourier.modes import ModeTable
from robustfourier.periodic.basis import Breakpoint
from robustfourier.results.axis import TimeAxis
from robustfourier.results.coherence import memory_of
from robustfourier.results.drawing_grid import wave_grid
from robustfourier.results.record import NOTHING, Curve, Diagonal, Memory, Pattern, Synthesis
from robustfourier.results.spread import share_of_variance

_LEVELS = 201  # points of a link
_FLOW_MODES = (200, 4000)  # modes of the diagonal's figure, at least and at most
_TREND = 201  # points of a trend, whose variance is asked for
_BLOCK = 20_000  # times predicted at once
# Columns of the table of components that are fields of a pattern.
_SAME = (
    *("label", "combination", "frequency", "frequency_error", "period", "period_error", "share"),
    *("amplitude", "amplitude_error", "false_alarm", "snr", "coherence"),
    *("epoch_min", "epoch_min_error"),
)


class Flat(NamedTuple):
    """Parts that add up, in the unit of the values: the scale on which the fit was made."""

    values: FloatArray
    trend: FloatArray
    parts: FloatArray
    residual: FloatArray


class MixtureView:
    """What is shown of a `PeriodicMixture`.

    Where logarithms were fitted, heights and noise are parts of the value; they are shown at the
    typical level of the record, which brings them into the unit of the values.
    """

    method = "mixture"

    def __init__(self, model: Any, down: bool = False) -> None:
        self.model, self.down = model, down  # of magnitudes the smallest is the maximum
        self.domain: Domain = model.domains_[0]
        self.modes: ModeTable = model.modes_
        self.evidence: Evidence | None = model.models_[0].evidence
        used = self.evidence
        self.max_mode = None if used is None else used.highest
        self.range = None
        if used is not None and used.highest > used.lowest:  # else there is no period to search
            self.range = (used.lowest, used.highest)
        self.breaks = model.models_[0].breakpoints()
        self.multiplies = getattr(model, "scale_", "linear") == "log"
        self.level = 1.0
        if self.multiplies:
            self.level = typical_level(model.models_[0])
            self.modes = _at_level(self.modes, self.level)
            self.breaks = _of_values(model.models_[0])
            if used is not None:
                self.evidence = replace(used, scale=used.scale * self.level)

    @property
    def trend_kind(self) -> str:
        """Level, slope or smooth; a trend that would be printed as < 0.1 % is a level."""
        column = self.model.models_[0]
        trend, lines = column.trend_at(np.linspace(-1.0, 1.0, _TREND)), column.lines.amplitude
        size = max(np.abs(trend).max(), lines.max(initial=0.0)) or 1.0  # huge squares overflow
        weak = np.var(trend / size, axis=0).sum() < 0.5e-3 * np.sum((lines / size) ** 2)
        return "level" if weak else str(column.trend_kind)

    def fitted(self, times: Any) -> FloatArray:
        """The fitted function."""
        return np.asarray(self.model.predict(times, remainder=False))

    def predict(self, times: Any) -> tuple[FloatArray, FloatArray]:
        """The fitted function and its standard error."""
        # In blocks: standard errors need a row of all coefficients for each time.
        parts = [
            self.model.predict(times[i : i + _BLOCK], return_std=True, remainder=False)
            for i in range(0, len(times), _BLOCK)
        ]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])

    def memory(self, axis: TimeAxis, horizon: Any = None) -> Memory | None:
        """What the fit remembers, and what comes next."""
        return memory_of(self.model, self.domain, axis, self.level, horizon)

    def decompose(self, times: Any) -> tuple[FloatArray, FloatArray]:
        """Trend (n,) and patterns (C, n)."""
        parts = self.model.decompose(times)
        return parts.trend, parts.components.T

    def flat(
        self, values: FloatArray, trend: FloatArray, parts: FloatArray, residual: FloatArray
    ) -> Flat:
        """The parts on the scale of the fit, where they add up."""
        if not self.multiplies:
            return Flat(values, trend, parts, residual)
        values, trend, parts = (self.level * np.log(part) for part in (values, trend, parts))
        return Flat(values, trend, parts, values - trend - parts.sum(axis=0))

    def warnings(self) -> tuple[str, ...]:
        """What comes before all other warnings."""
        used = self.evidence
        if used is not None and self.range is None and self.model.max_frequency is not None:
            ends = (self.domain.period(mode) for mode in (used.highest, used.lowest))
            low, high = map(self.domain.period_words, ends)
            return (
                f"No period was searched: the band is empty, since its shortest period, {low}, is "
                f"not below its longest, {high}.",
            )
        living = tuple(
            f"Pattern {component.label} {component.wandering}."
            for component in self.model.components_
            if component.wandering and float(component.share) >= NOTHING
        )
        if not self.multiplies:
            return living
        return (
            "Trend, patterns and noise multiply (logarithms were fitted): amplitudes and noise are "
            f"given at the typical level of {number(self.level, 3)} and scale with it.",
            *living,
        )

    @property
    def noise(self) -> float | None:
        """Standard deviation of the noise, in the unit of the values."""
        return self.level * float(self.model.noise_)

    def patterns(self, theta: FloatArray, residual: FloatArray, parts: FloatArray) -> list[Pattern]:
        """The patterns; data at θ without all other parts are folded behind each."""
        found = []
        for i, component in enumerate(self.model.components_):
            phases = wave_grid(int(np.max(component.harmonics)))
            own = (self.modes.component == i) & (np.asarray(self.modes.harmonic) > 0)
            mine = self.modes.select(np.flatnonzero(own))  # without side lines
            alarm = float(np.asarray(mine.false_alarm).min())
            row = row_of(component, alarm, self.down, self.level)
            peak = extreme(component, self.down)[0]
            wave, std = (self.level * w for w in component.waveform(phases + peak, return_std=True))
            start = component.phase / (2.0 * np.pi) + peak
            cycle = 0.5 * component.mode * theta - start
            found.append(
                Pattern(
                    **{name: row[name] for name in _SAME},
                    harmonics=tuple(int(n) for n in component.harmonics),
                    waveform=Curve(phases, wave, std),
                    folded=Curve(cycle % 1.0, residual + parts[i]),
                    link=_link_curve(component.link, self.level),
                    beat=int(np.asarray(mine.harmonic)[np.argmax(mine.amplitude)]),
                    epoch=row["epoch_max"],
                    epoch_error=row["epoch_max_error"],
                    spacing=0.5 * self.model.models_[0].spacing * self.domain.span,
                )
            )
        return found

    def lines(self) -> Synthesis:
        """The sinusoids of all patterns."""
        model = self.model.models_[0]
        lines = model.lines
        return Synthesis(
            lines.mode, lines.cosine[:, 0], lines.sine[:, 0], model.component, self.multiplies
        )

    @property
    def evidence_terms(self) -> tuple[tuple[str, float], ...]:
        """What the log evidence of the lines, trend and noise is the sum of; empty if unknown."""
        known = None if self.evidence is None else self.evidence.log_evidence
        return () if known is None else known.terms

    def diagonal(self) -> Diagonal | None:
        """Weights of the layer that proposed first; the lowest ones, up to beyond the last mode."""
        if self.evidence is None or len(self.evidence.diagonal) < 2:
            return None
        top = np.clip(1.4 * float(self.modes.mode.max(initial=0.0)), *_FLOW_MODES)
        shown = self.evidence.diagonal_mode <= max(top, self.evidence.diagonal_mode[1])
        weight = self.evidence.diagonal[shown, None]
        return Diagonal(self.evidence.diagonal_mode[shown], weight, ("weight",))


class NetworkView:
    """What is shown of a `FourierNetworkRegressor`: each active mode is a pattern."""

    method = "network"
    trend_kind = "level"
    noise: float | None = None
    evidence = None
    evidence_terms: tuple[tuple[str, float], ...] = ()
    breaks = ()

    def __init__(self, model: Any, values: FloatArray) -> None:
        self.model, self.values = model, values
        self.domain: Domain = model.domains_[0]
        self.all: ModeTable = model.modes_
        active = np.flatnonzero(self.all.active)
        self.modes = self.all.select(active[np.argsort(-self.all.amplitude[active])])
        self.max_mode = float(model.weights_.architecture.n_modes)
        self.range = (1.0, self.max_mode)

    def fitted(self, times: Any) -> FloatArray:
        """The fitted function."""
        return np.asarray(self.model.predict(as_column(times)))

    def predict(self, times: Any) -> tuple[FloatArray, FloatArray]:
        """The fitted function and its standard error."""
        values = self.model.predict(as_column(times))
        return values, np.zeros_like(values)

    def memory(self, axis: TimeAxis, horizon: Any = None) -> Memory | None:  # noqa: ARG002
        """Nothing: networks do not remember."""
        return None

    def decompose(self, times: Any) -> tuple[FloatArray, FloatArray]:
        """Trend (n,) and patterns (C, n)."""
        values = self.model.predict(as_column(times))
        theta = self.domain.to_theta(times)
        angle = np.pi * np.outer(self.modes.mode, theta) - self.modes.phase[:, None]
        parts = self.modes.amplitude[:, None] * np.cos(angle)
        return np.full(len(values), float(np.mean(values - parts.sum(0)))), parts

    def flat(self, *parts: FloatArray) -> Flat:
        """The parts as they are: they add up."""
        return Flat(*parts)

    def warnings(self) -> tuple[str, ...]:
        """What comes before all other warnings."""
        return ()

    def patterns(self, theta: FloatArray, residual: FloatArray, parts: FloatArray) -> list[Pattern]:
        """The patterns; data at θ without all other parts are folded behind each."""
        phases = wave_grid(1)
        modes, found = self.modes, []
        for i in range(len(modes)):
            cycle = 0.5 * modes.mode[i] * theta - modes.phase[i] / (2.0 * np.pi)
            found.append(
                Pattern(
                    label=letter(i),
                    combination=False,
                    frequency=float(modes.frequency[i]),
                    frequency_error=np.nan,
                    period=float(modes.period[i]),
                    period_error=np.nan,
                    amplitude=float(modes.amplitude[i]),
                    share=share_of_variance(parts[i], self.values),
                    harmonics=(1,),
                    false_alarm=np.nan,
                    waveform=Curve(phases, modes.amplitude[i] * np.cos(2.0 * np.pi * phases)),
                    folded=Curve(cycle % 1.0, residual + parts[i]),
                )
            )
        return found

    def lines(self) -> None:
        """A network is no sum of sinusoids."""

    def diagonal(self) -> Diagonal | None:
        """Weights of cosine and sine of each mode."""
        table = self.all
        if table.cosine_weight is None or table.sine_weight is None:
            return None
        weight = np.column_stack([table.cosine_weight, table.sine_weight])
        return Diagonal(table.mode, weight, ("cosine", "sine"))


def as_column(times: Any) -> Any:
    """One column of times, shape (n, 1)."""
    return times.to_frame(index=False) if hasattr(times, "to_frame") else times.reshape(-1, 1)


def _at_level(modes: ModeTable, level: float) -> ModeTable:
    """Return the modes with amplitudes times a level."""
    error = None if modes.amplitude_error is None else level * modes.amplitude_error
    return replace(modes, amplitude=level * modes.amplitude, amplitude_error=error)


def _of_values(model: ColumnModel) -> tuple[Breakpoint, ...]:
    """Return the breakpoints of log y as those of y itself, from its level before each."""
    level = np.exp(model.trend_at(model.breaks.place - 1e-9))
    told = []
    for one, low in zip(model.breakpoints(), level, strict=True):
        after = low * np.exp(one.size) if one.kind == "level" else low
        size = after - low if one.kind == "level" else low * one.size
        told.append(replace(one, size=size, error=after * one.error))
    return tuple(told)


def _link_curve(link: Any, level: float) -> Curve | None:
    if link is None:
        return None
    x = np.cos(np.linspace(np.pi, 0.0, _LEVELS))  # denser at the ends, where links bend
    values, std = link(x, return_std=True)
    return Curve(x, level * values, level * std)
