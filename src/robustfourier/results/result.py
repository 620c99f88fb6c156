"""`Result`: one fit of one record, ready to be shown.

Each part is computed when it is first asked for, from the samples and the fitted model alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.domain import Domain, to_array
from robustfourier.errors import InputError
from robustfourier.estimators.base import EstimatorBase
from robustfourier.fields.vibration import Machine
from robustfourier.formatting import SECONDS, counted, listed, number, percent
from robustfourier.mixture.components.component import letter
from robustfourier.mixture.evidence import Evidence
from robustfourier.mixture.model import ColumnModel
from robustfourier.modes import ModeTable
from robustfourier.periodic.basis import Breakpoint
from robustfourier.results.calendar_patterns import with_calendar
from robustfourier.results.curves_over_time import (
    Ahead,
    Trace,
    forecast_curve,
    remainder_curve,
    traces_of,
)
from robustfourier.results.drawing_points import curve_grid, wave_grid
from robustfourier.results.figure_axes import TimeAxis
from robustfourier.results.patterns import (
    NOTHING,
    WORTH_A_LINE,
    Curve,
    Pattern,
    explained_by,
    is_magnitude,
    mixture_patterns,
    notable,
)
from robustfourier.results.sentences import AliasWords, alias_words, headline, warnings_of
from robustfourier.results.spectrum import Spectrum, amplitude_spectrum
from robustfourier.results.variance import deviation, share_of_variance
from robustfourier.samples import Samples, from_arrays
from robustfourier.sampling import Sampling, check_sampling

_NAMED = 5  # periods that the sentence on a network names
_ERRORS = 12_000  # points of a curve with standard errors; between, they are smooth
_BLOCK = 20_000  # times predicted at once
_FALSE_ALARM = 0.01  # of networks, which have no such parameter
_RED = 3.0  # a floor so much higher at long than at short periods is not white
_CYCLES_SEEN = 60.0  # side by side; more are narrower than a person can distinguish
_FLOW_MODES = (200, 4000)  # modes of the diagonal's figure, at least and at most
_TREND = 201  # points of a trend, whose variance is asked for


class Flat(NamedTuple):
    """Parts that add up, in the unit of the values: the scale on which the fit was made."""

    values: FloatArray
    trend: FloatArray
    parts: FloatArray
    residual: FloatArray


@dataclass(frozen=True)
class Synthesis:
    """The sinusoids of all patterns, so that a fit can be drawn at any resolution."""

    mode: FloatArray  # shape (L,); line a cos(πkθ) + b sin(πkθ); of the logarithm if `multiplies`
    cosine: FloatArray
    sine: FloatArray
    component: IntArray  # shape (L,); index of its pattern
    multiplies: bool


@dataclass(frozen=True)
class Diagonal:
    """Weights of the diagonal layer against mode, as the paper draws them."""

    mode: FloatArray  # shape (M,)
    weight: FloatArray  # shape (M, s); one column per series, named by `names`
    names: tuple[str, ...]


class Result(ABC):
    """One fit of one record, ready to be shown; see `summarise`, whose arguments it keeps."""

    # What the two estimators show differently; the defaults are those of networks.
    method = "network"
    modes: ModeTable  # those that stand out
    noise: float  # its standard deviation, in the unit of the values
    diagonal: Diagonal | None = None  # weights of the diagonal layer
    mode_range: tuple[float, float] | None = None  # lowest and highest mode searched
    max_mode: float | None = None  # highest mode of the spectrum; None where the sampling decides
    lines: Synthesis | None = None  # the sinusoids of the fit, where it is made of such
    evidence: Evidence | None = None  # what the fit used to decide
    multiplies: bool = False  # whether logarithms were fitted: patterns are factors of the trend
    level: float = 1.0  # typical level of the record there, at which heights are given
    trend_kind: str = "level"  # "level", "slope" or "smooth"
    breaks: tuple[Breakpoint, ...] = ()  # where the trend's level or slope changes
    first_warnings: tuple[str, ...] = ()  # those that come before all others

    def __init__(
        self,
        samples: Samples,
        model: Any,
        magnitudes: bool | None = None,
        horizon: Any = None,
        machine: Machine | None = None,
    ) -> None:
        self.samples, self.model, self.horizon, self.machine = samples, model, horizon, machine
        #: whether the values are magnitudes, which are drawn with the bright ones on top
        self.downwards = is_magnitude(samples.value_name) if magnitudes is None else magnitudes
        self.domain: Domain = model.domains_[0]
        if not self.domain.unit:
            self.domain = replace(self.domain, unit=samples.unit)
        self.axis = TimeAxis.of(self.domain, samples.time_name)
        #: times of the samples on the axis and as θ, shape (n,)
        self.position = self.axis.positions(samples.axis)
        self.theta = self.domain.to_theta(samples.axis)
        #: inverse squares of the measured errors; None without them
        self.weights = None if samples.errors is None else samples.errors**-2.0
        #: false-alarm probability that the fit was asked for
        self.false_alarm = float(getattr(model, "false_alarm", _FALSE_ALARM))
        #: the fitted function at the samples, and what it leaves over, shape (n,)
        self.fitted = np.asarray(self.function(samples.axis))
        self.residual: FloatArray = samples.values - self.fitted
        self.noise = deviation(self.residual)
        #: trend (n,) and patterns (C, n) at the samples; these are factors if the fit multiplies
        self.trend, self.parts = self._decomposed()
        self.flat = Flat(samples.values, self.trend, self.parts, self.residual)
        if self.multiplies:
            values, trend, parts = (self.level * np.log(part) for part in self.flat[:3])
            self.flat = Flat(values, trend, parts, values - trend - parts.sum(axis=0))

    def __repr__(self) -> str:
        """The headline; all else has a name of its own."""
        return f"<Result of {len(self.samples):,} samples: {self.headline}>"

    @abstractmethod
    def function(self, times: Any, error: bool = False) -> Any:
        """The fitted function, with its standard error if asked."""

    @abstractmethod
    def _decomposed(self) -> tuple[FloatArray, FloatArray]:
        """Trend (n,) and patterns (C, n) at the samples."""

    @abstractmethod
    def _patterns(self) -> list[Pattern]:
        """The patterns without their calendar."""

    @cached_property
    def forecast(self) -> Ahead | None:
        """What comes next; None for networks, as the next two."""
        return None

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """Quasi-periodic patterns over time."""
        return ()

    @cached_property
    def correlated_noise(self) -> Curve | None:
        """What neighbouring samples share besides trend and patterns; None for white noise."""
        return None

    @cached_property
    def std(self) -> FloatArray:
        """Standard error of the fitted function at the samples, shape (n,)."""
        return np.asarray(self.function(self.samples.axis, error=True)[1])

    @cached_property
    def predicted(self) -> FloatArray:
        """At the samples: trend, patterns and correlated noise, shape (n,)."""
        return np.asarray(self.model.predict(self.samples.axis))

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The repeating patterns, the strongest first; combinations last."""
        found = with_calendar(self._patterns(), self.downwards)
        if self.machine is None:
            return found
        unit = SECONDS.get(self.domain.unit, 1.0)
        names = self.machine.names(np.array([p.frequency / unit for p in found]))
        return tuple(replace(p, name=name) for p, name in zip(found, names, strict=True))

    @cached_property
    def explained(self) -> float:
        """Share of the variation around the trend that the patterns explain."""
        return explained_by(self.patterns)

    @cached_property
    def trend_share(self) -> float:
        """Share of variance that the trend explains."""
        return share_of_variance(self.flat.trend, self.flat.values)

    @cached_property
    def headline(self) -> str:
        """One sentence for everyone."""
        values = self.samples.values
        if np.ptp(values) == 0.0:
            return f"The series is constant: all {len(values):,} values are {values[0]:.6g}."
        return self.headline_by(None)

    def headline_by(self, frequencies: bool | None) -> str:
        """The headline with periods or frequencies; None chooses what people use."""
        names = (self.trend_kind, self.samples.time_name, frequencies, self.false_alarm)
        return headline(self.patterns, *names)

    @cached_property
    def sampling(self) -> Sampling:
        """What the times of the samples can show."""
        return check_sampling(self.samples)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Amplitude spectra of the data and of the residual."""
        values, trend, parts, residual = self.flat
        return amplitude_spectrum(
            *(self.theta, values - trend, residual),
            max_mode=self.max_mode or self.sampling.max_mode,
            parts=parts,
            weights=self.weights,
            evidence=self.evidence,
        )

    @cached_property
    def noise_kind(self) -> str:
        """White, or red if the floor is clearly higher at long periods."""
        floor = self.spectrum.floor
        if floor is None:
            return "white"
        low, high = floor[: max(len(floor) // 20, 1)], floor[len(floor) // 2 :]
        ratio = float(np.median(low) / max(np.median(high), 1e-300)) if len(high) else 1.0
        return "red: stronger at long periods" if ratio**2 > _RED else "white"

    @cached_property
    def curve(self) -> Curve:
        """The fitted function on a fine grid of the axis."""
        theta = 2.0 * curve_grid(float(self.modes.mode.max(initial=1.0))) - 1.0
        times = self.domain.from_theta(theta)
        x = self.axis.positions(times)
        if len(theta) <= _ERRORS:
            return Curve(x, *self.function(times, error=True))
        values = [self.function(times[i : i + _BLOCK]) for i in range(0, len(times), _BLOCK)]
        few = np.linspace(-1.0, 1.0, _ERRORS)
        std = np.interp(theta, few, self.function(self.domain.from_theta(few), error=True)[1])
        return Curve(x, np.concatenate(values), std)

    @cached_property
    def _aliases(self) -> AliasWords:
        return alias_words(self)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """In plain words."""
        return warnings_of(self, self._aliases.possible)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What could have been in doubt and is not: excluded aliases."""
        return tuple(self._aliases.excluded)

    @cached_property
    def searched(self) -> tuple[float, float] | None:
        """Shortest and longest period searched, in the domain's unit; None if unknown."""
        ends = self.mode_range
        return ends and (float(self.domain.period(ends[1])), float(self.domain.period(ends[0])))

    @property
    def searched_words(self) -> str:
        """Which periods were searched; empty if that is not known."""
        if self.searched is None:
            return ""
        low, high = (self.domain.period_words(period) for period in self.searched)
        if not np.isfinite(self.searched[0]):
            return "No period was searched: there are too few different times."
        return f"Searched periods from {low} to {high}."

    @cached_property
    def owner(self) -> IntArray:
        """Index of the pattern that each mode belongs to, shape (M,)."""
        of = self.modes.component
        return np.arange(len(self.modes)) if of is None else np.asarray(of, dtype=np.int64)

    @cached_property
    def shown_modes(self) -> IntArray:
        """Indices of the modes whose pattern is listed, shape (m,)."""
        names = {pattern.label for pattern in notable(self.patterns)}
        count = len(self.patterns)
        seen = [o >= count or self.patterns[o].label in names for o in self.owner.tolist()]
        return np.flatnonzero(seen)

    @property
    def is_dense(self) -> bool:
        """Whether the record has too many cycles to be seen at once."""
        periods = [p.period / p.beat for p in self.patterns if p.share > 0.02] or [np.inf]
        return bool(self.domain.span / min(periods) > _CYCLES_SEEN)

    @property
    def main(self) -> tuple[Pattern, ...]:
        """The patterns worth a line: those of 1 % of the variation or more, and the strongest."""
        return tuple(p for i, p in enumerate(self.patterns) if i == 0 or p.share >= WORTH_A_LINE)

    @property
    def weak(self) -> tuple[Pattern, ...]:
        """All others that explain anything."""
        return tuple(p for p in notable(self.patterns)[1:] if not p.share >= WORTH_A_LINE)

    @property
    def weak_words(self) -> str:
        """How many other patterns there are, and what they amount to; empty if there are none."""
        together = percent(sum(p.share for p in self.weak))
        many = f"{len(self.weak)} weaker pattern{'s' if len(self.weak) > 1 else ''}"
        return f"{many}, {together}{' together' if len(self.weak) > 1 else ''}" if self.weak else ""


class MixtureResult(Result):
    """What is shown of a `PeriodicMixture`.

    Where logarithms were fitted, heights and noise are parts of the value; they are shown at the
    typical level of the record, which brings them into the unit of the values.
    """

    method = "mixture"

    def __init__(self, samples: Samples, model: Any, *more: Any) -> None:
        self.multiplies = getattr(model, "scale_", "linear") == "log"
        self.level = float(model.components_.level)
        super().__init__(samples, model, *more)
        column: ColumnModel = model.models_[0]
        self.noise = self.level * float(model.noise_)
        error = model.modes_.amplitude_error
        self.modes = replace(
            model.modes_,
            amplitude=self.level * model.modes_.amplitude,
            amplitude_error=None if error is None else self.level * error,
        )
        self.trend_kind = trend_kind_of(column)
        self.breaks = _breaks_of_values(column) if self.multiplies else tuple(column.breakpoints())
        lines = column.lines
        waves = lines.mode, lines.cosine[:, 0], lines.sine[:, 0]
        self.lines = Synthesis(*waves, column.component, self.multiplies)
        if (used := column.evidence) is not None:
            self.evidence = replace(used, scale=used.scale * self.level)
            self.max_mode = used.highest
            if used.highest > used.lowest:  # else there is no period to search
                self.mode_range = used.lowest, used.highest
            self.diagonal = self._proposed(used)
        self.first_warnings = self._first_warnings()

    def _first_warnings(self) -> tuple[str, ...]:
        used = self.evidence
        if used and self.mode_range is None and self.model.max_frequency is not None:
            ends = (self.domain.period(mode) for mode in (used.highest, used.lowest))
            low, high = map(self.domain.period_words, ends)
            return (
                f"No period was searched: the band is empty, since its shortest period, {low}, is "
                f"not below its longest, {high}.",
            )
        wandering = tuple(
            f"Pattern {component.label} {component.wandering}."
            for component in self.model.components_
            if component.wandering and float(component.share) >= NOTHING
        )
        if not self.multiplies:
            return wandering
        return (
            "Trend, patterns and noise multiply (logarithms were fitted): amplitudes and noise are "
            f"given at the typical level of {number(self.level, 3)} and scale with it.",
            *wandering,
        )

    def _proposed(self, used: Evidence) -> Diagonal | None:
        """Weights of the layer that proposed first; the lowest ones, up to beyond the last mode."""
        if len(used.diagonal) < 2:
            return None
        top = np.clip(1.4 * float(self.modes.mode.max(initial=0.0)), *_FLOW_MODES)
        shown = used.diagonal_mode <= max(top, used.diagonal_mode[1])
        return Diagonal(used.diagonal_mode[shown], used.diagonal[shown, None], ("weight",))

    def function(self, times: Any, error: bool = False) -> Any:
        """The fitted function without correlated noise, with its standard error if asked."""
        if not error:
            return np.asarray(self.model.predict(times, remainder=False))
        # In blocks: standard errors need a row of all coefficients for each time.
        parts = [
            self.model.predict(times[i : i + _BLOCK], return_std=True, remainder=False)
            for i in range(0, len(times), _BLOCK)
        ]
        return tuple(np.concatenate(each) for each in zip(*parts, strict=True))

    def _decomposed(self) -> tuple[FloatArray, FloatArray]:
        parts = self.model.decompose(self.samples.axis)
        return parts.trend, parts.components.T

    def _patterns(self) -> list[Pattern]:
        data = self.flat.residual + self.flat.parts
        found = self.model.components_
        return mixture_patterns(found, self.downwards, self.domain, self.theta, data)

    @cached_property
    def forecast(self) -> Ahead:
        """What comes next."""
        return forecast_curve(self.model, self.axis, self.horizon)

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """Quasi-periodic patterns over time."""
        return traces_of(self.model, self.axis)

    @cached_property
    def correlated_noise(self) -> Curve | None:
        """What neighbouring samples share besides trend and patterns; None for white noise."""
        if self.model.remainder_ is None:
            return None
        return remainder_curve(self.model, self.axis)


class NetworkResult(Result):
    """What is shown of a `FourierNetworkRegressor`: each active mode is a pattern."""

    def __init__(self, samples: Samples, model: Any, *more: Any) -> None:
        every: ModeTable = model.modes_
        active = np.flatnonzero(np.asarray(every.active))
        self.modes = every.select(active[np.argsort(-every.amplitude[active])])
        super().__init__(samples, model, *more)
        self.max_mode = float(model.weights_.architecture.n_modes)
        self.mode_range = 1.0, self.max_mode
        if every.cosine_weight is not None and every.sine_weight is not None:
            weight = np.column_stack([every.cosine_weight, every.sine_weight])
            self.diagonal = Diagonal(every.mode, weight, ("cosine", "sine"))

    def function(self, times: Any, error: bool = False) -> Any:
        """The fitted function; its error is not known, and zero."""
        values = np.asarray(self.model.predict(as_column(times)))
        return (values, np.zeros_like(values)) if error else values

    def _decomposed(self) -> tuple[FloatArray, FloatArray]:
        modes = self.modes
        angle = np.pi * np.outer(modes.mode, self.theta) - modes.phase[:, None]
        parts = modes.amplitude[:, None] * np.cos(angle)
        return np.full(len(self.theta), float(np.mean(self.fitted - parts.sum(0)))), parts

    def _patterns(self) -> list[Pattern]:
        phases, modes, found = wave_grid(1), self.modes, []
        for i, part in enumerate(self.parts):
            cycle = 0.5 * modes.mode[i] * self.theta - modes.phase[i] / (2.0 * np.pi)
            found.append(
                Pattern(
                    label=letter(i),
                    domain=self.domain,
                    frequency=float(modes.frequency[i]),
                    period=float(modes.period[i]),
                    amplitude=float(modes.amplitude[i]),
                    share=share_of_variance(part, self.samples.values),
                    waveform=Curve(phases, modes.amplitude[i] * np.cos(2.0 * np.pi * phases)),
                    folded=Curve(cycle % 1.0, self.residual + part),
                )
            )
        return found


def summarise(
    samples: Samples,
    model: Any,
    magnitudes: bool | None = None,
    horizon: Any = None,
    machine: Machine | None = None,
) -> Result:
    """Return all that is shown of a fit.

    Parameters
    ----------
    samples : Samples
        The record, as it was given to `fit`.
    model : PeriodicMixture or FourierNetworkRegressor
        Fitted to one column of times and one of values.
    magnitudes : bool, optional
        Whether the values are magnitudes, of which the smallest is the brightest; by default the
        name of the column says so.
    horizon : int, str or timedelta, optional
        How far the forecast goes, as of `PeriodicMixture.forecast`.
    machine : Machine, optional
        What turns: names the patterns.
    """
    made = NetworkResult if hasattr(model, "diagonal_weights_") else MixtureResult
    return made(samples, model, magnitudes, horizon, machine)


#: What figures are drawn of.
Source: TypeAlias = Result | EstimatorBase


def result_of(
    source: Source, times: ArrayLike | None = None, values: ArrayLike | None = None
) -> Result:
    """Return a `Result`: the given one, or that of a model and the data it was fitted to.

    Parameters
    ----------
    source : Result, PeriodicMixture or FourierNetworkRegressor
    times, values : array-like of shape (n,), optional
        Data to show; those that the model remembers if not given.
    """
    if isinstance(source, Result):
        return source
    errors = None
    if times is None and values is None:
        times, values, errors = getattr(source, "_seen", None) or (None, None, None)
    if times is None or values is None:
        raise InputError(
            "times and values are needed to show this of a model that was loaded from a file or "
            "fitted to several columns; give those it was fitted to: model.result(times, values)"
        )
    if np.ndim(values) > 1 and np.shape(values)[1] > 1:
        raise InputError(
            f"values has shape {np.shape(values)}, but only one output can be shown; fit one alone"
        )
    domain = source.domains_[0]
    durations = to_array(times).dtype.kind == "m"
    samples = from_arrays(
        domain.start + domain.offsets(times) if durations else times,
        np.ravel(values),
        errors,
        duplicates="keep",
        marks=False,  # what the fit took for measurements
        unit=domain.unit,
        time_name=_name(times, "time"),
        value_name=_name(values, "value"),
    )
    return summarise(samples, source)


def _name(column: Any, otherwise: str) -> str:
    name = getattr(column, "name", None)
    return name if isinstance(name, str) and name else otherwise


@dataclass(frozen=True)
class Outline:
    """Headline and patterns of a model, without any data."""

    headline: str
    #: without folded data; empty if the model has several columns or outputs, or is a network
    patterns: tuple[Pattern, ...]
    noise: float = np.nan  # standard deviation of the noise; NaN if unknown


def outline(model: Any) -> Outline:
    """Say what a fitted model alone can show."""
    if not hasattr(model, "components_"):
        return Outline(_network_words(model, model.domains_[0]), ())
    if len(model.models_) > 1 or not model.single_output_:
        many = counted(len(model.components_), "repeating pattern")
        return Outline(f"{many} in several columns or outputs.", ())
    patterns = with_calendar(mixture_patterns(model.components_))
    kind, allowed = trend_kind_of(model.models_[0]), float(model.false_alarm)
    words = headline(patterns, kind, "time", allowed=allowed)
    noise = model.components_.level * float(model.noise_)
    return Outline(words, patterns, noise or np.nan)


def trend_kind_of(column: ColumnModel) -> str:
    """Level, slope or smooth; a trend that would be printed as < 0.1 % is a level."""
    trend, lines = column.trend_at(np.linspace(-1.0, 1.0, _TREND)), column.lines.amplitude
    size = max(np.abs(trend).max(), lines.max(initial=0.0)) or 1.0  # huge squares overflow
    weak = np.var(trend / size, axis=0).sum() < 0.5e-3 * np.sum((lines / size) ** 2)
    return "level" if weak else str(column.trend_kind)


def _breaks_of_values(column: ColumnModel) -> tuple[Breakpoint, ...]:
    """Breakpoints of log y as those of y itself, from its trend before each."""
    before = np.exp(column.trend_at(column.breaks.place - 1e-9))
    found = []
    for one, low in zip(column.breakpoints(), before, strict=True):
        after = low * np.exp(one.size) if one.kind == "level" else low
        size = after - low if one.kind == "level" else low * one.size
        found.append(replace(one, size=size, error=after * one.error))
    return tuple(found)


def _network_words(model: Any, domain: Domain) -> str:
    active = model.modes_.select(model.modes_.active)
    if not len(active):
        return "No mode stands out."
    order = np.argsort(-np.asarray(active.amplitude).reshape(len(active), -1).max(axis=1))
    periods = [domain.period_words(float(active.period[i])) for i in order[:_NAMED]]
    more = ["…"] if len(order) > _NAMED else []
    stand, of = ("stands", "period") if len(active) == 1 else ("stand", "periods")
    return f"{counted(len(active), 'mode')} {stand} out, of {of} {listed([*periods, *more])}."


def as_column(times: Any) -> Any:
    """One column of times, shape (n, 1)."""
    return times.to_frame(index=False) if hasattr(times, "to_frame") else times.reshape(-1, 1)
