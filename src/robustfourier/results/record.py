"""`Result` and `Pattern`: one fit, ready to be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.domain import Domain
from robustfourier.formatting import percent
from robustfourier.modes import ModeTable
from robustfourier.results.axis import TimeAxis
from robustfourier.results.spectrum import Spectrum
from robustfourier.samples import Samples

#: Share of the variation from which on a pattern is named and listed; below, it is folded away.
WORTH_A_LINE = 0.01
#: Share below which a component is not listed at all: a significant line that explains nothing.
NOTHING = 0.0005
#: Standard errors to each side of a 90 % band.
BAND = 1.645
#: Times as long as a forecast is what is shown before it.
BEFORE = 3.0
#: Samples seen at once whose measured errors are drawn; more would be a grey wall.
WHISKERS = 400

_CYCLES_SEEN = 60.0  # side by side; more are narrower than a person can tell apart
# "mag", "magnitude", "V_mag", "gmag"; not "image", "magnet" or the imaginary part "imag".
_MAGNITUDE = re.compile(r"(?<![a-z])[ubvrgzjhky]?mag(s|nitudes?)?(?![a-z])")


def is_magnitude(name: str) -> bool:
    """Whether a column is named like magnitudes, which are drawn with the bright ones on top.

    >>> is_magnitude("V_mag"), is_magnitude("image")
    (True, False)
    """
    return _MAGNITUDE.search(name.lower()) is not None


@dataclass(frozen=True)
class Curve:
    """A function with its standard error: x, y, std of shape (m,)."""

    x: FloatArray
    y: FloatArray
    std: FloatArray | None = None

    def band(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper end of the 90 % band; the curve itself where no error is known."""
        reach = 0.0 if self.std is None else BAND * self.std
        return self.y - reach, self.y + reach

    def within(self, low: float, high: float) -> Curve:
        """Return the part between two ends."""
        seen = (self.x >= low) & (self.x <= high)
        return Curve(self.x[seen], self.y[seen], None if self.std is None else self.std[seen])

    def twice(self) -> Curve:
        """Two cycles of a curve over one, x from 0 to 2."""
        x = np.concatenate([self.x, self.x + 1.0])
        std = None if self.std is None else np.tile(self.std, 2)
        return Curve(x, np.tile(self.y, 2), std)


@dataclass(frozen=True)
class Pattern:
    """One repeating pattern.

    Parameters
    ----------
    label : str
        A, B, …, the strongest first; ``A+B`` for a combination tone.
    combination : bool
        Whether it is a combination of other patterns' frequencies.
    frequency, period : float
        In the domain's unit; `*_error` are standard errors, NaN if unknown.
    amplitude : float
        Half of the distance between the waveform's highest and lowest value.
    share : float
        Of the variation around the trend.
    harmonics : tuple of int
        Orders that were found.
    false_alarm : float
        The smallest among its modes.
    waveform : Curve
        Over one cycle, x from 0 to 1.
    folded : Curve
        The data without all other parts, against the cycle's phase.
    link : Curve or None
        g of g(cos) on [-1, 1], where the pattern is a function of one cosine.
    beat : int
        Order of its strongest harmonic: 7 for a daily rhythm that changes over the week.
    epoch : datetime64, Timestamp, float or None
        The maximum nearest to the middle of the record, where the phase is zero; `epoch_error` is
        its standard error, in the domain's unit.
    amplitude_error, snr, epoch_min, epoch_min_error, coherence : float
        As in `robustfourier.estimators.components`.
    calendar : str
        "day", "week", "month", "year", … if the period is one; else empty.
    name : str
        What its field calls it: "M2" of a tide, "BPFO" of a bearing; else empty.
    spacing : float
        Ordinary time between samples, in the domain's unit.
    peak : str
        When it is highest on the calendar: "on Saturdays"; else empty.
    shape : str
        "daily" for a week that is strongest every day, and the like; else empty.
    """

    label: str
    combination: bool
    frequency: float
    frequency_error: float
    period: float
    period_error: float
    amplitude: float
    share: float
    harmonics: tuple[int, ...]
    false_alarm: float
    waveform: Curve
    folded: Curve
    link: Curve | None = None
    beat: int = 1
    epoch: Any = None
    epoch_error: float = np.nan
    amplitude_error: float = np.nan
    snr: float = np.nan
    epoch_min: Any = None
    epoch_min_error: float = np.nan
    coherence: float = np.inf
    calendar: str = ""
    name: str = ""
    spacing: float = 0.0
    peak: str = ""
    shape: str = ""


def listed(patterns: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """Return the patterns that tables, sentences and pages name: all that explain anything.

    A significant line may explain nothing that can be seen; the strongest is always named.
    """
    return tuple(p for i, p in enumerate(patterns) if i == 0 or not p.share < NOTHING)


@dataclass(frozen=True, eq=False)
class Trace:
    """A living pattern over time."""

    label: str  # of the pattern, such as "A"
    words: str  # how it wanders
    amplitude: Curve  # amplitude of its strongest harmonic, and the cycles by which that is late
    late: Curve


@dataclass(frozen=True, eq=False)
class Ahead:
    """The forecast on the axis, and the share of new measurements between `lower` and `upper`."""

    x: FloatArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    coverage: float


@dataclass(frozen=True, eq=False)
class Memory:
    """All that a fit remembers."""

    #: what neighbours tell about the rest, less patterns and trend; None for white noise
    remainder: Curve | None
    traces: tuple[Trace, ...]
    ahead: Ahead


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


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """One fit of one record.

    Parameters
    ----------
    samples : Samples
    view : MixtureView or NetworkView
        What is shown of the estimator; asked for what few need.
    method : str
        "mixture" or "network".
    parameters : dict
        Of the estimator's constructor.
    domain : Domain
    axis : TimeAxis
    position : ndarray of shape (n,)
        Times on the axis.
    fitted, residual, trend : ndarray of shape (n,)
        At the samples.
    trend_kind : str
        "level", "slope" or "smooth".
    parts : ndarray of shape (C, n)
        Each pattern at the samples; a factor of the trend where logarithms were fitted.
    curve : Curve
        The fitted function on a fine grid of the axis.
    modes : ModeTable
        Modes that stand out.
    patterns : tuple of Pattern
        The strongest first; combinations last.
    spectrum : Spectrum
    diagonal : Diagonal or None
    noise : float
        Standard deviation of the noise; where logarithms were fitted, and like all heights of
        patterns, modes and spectrum there, at the typical level of the record.
    noise_kind : str
        "white", or what it is otherwise, in a few words.
    explained : float
        Share of the variation around the trend that the patterns explain: the sum of theirs.
    trend_share : float
        Share of variance that the trend explains.
    searched : (float, float) or None
        Shortest and longest period searched, in the domain's unit; None if unknown.
    headline : str
        One sentence for everyone.
    warnings : tuple of str
        In plain words.
    remarks : tuple of str
        What could have been in doubt and is not: excluded aliases.
    lines : Synthesis or None
        What the fit is made of besides its trend, where it is made of sinusoids.
    downwards : bool
        Whether the values are magnitudes, which are drawn with the bright ones on top.
    memory : Memory or None
        What the fit remembers, and what comes next; None for networks.
    """

    samples: Samples
    view: Any
    method: str
    parameters: dict[str, Any]
    domain: Domain
    axis: TimeAxis
    position: FloatArray
    fitted: FloatArray
    residual: FloatArray
    trend: FloatArray
    trend_kind: str
    parts: FloatArray
    curve: Curve
    modes: ModeTable
    patterns: tuple[Pattern, ...]
    spectrum: Spectrum
    diagonal: Diagonal | None
    noise: float
    noise_kind: str
    explained: float
    trend_share: float
    searched: tuple[float, float] | None
    headline: str
    warnings: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    lines: Synthesis | None = None
    downwards: bool = False
    memory: Memory | None = None

    def __repr__(self) -> str:
        """The headline; all else has a field of its own."""
        return f"<Result of {len(self.samples):,} samples: {self.headline}>"

    @cached_property
    def std(self) -> FloatArray:
        """Standard error of the fitted function at the samples, shape (n,)."""
        return np.asarray(self.view.predict(self.samples.axis)[1])

    @cached_property
    def predicted(self) -> FloatArray:
        """At the samples: trend, patterns and what neighbours tell about the rest, shape (n,)."""
        return np.asarray(self.view.model.predict(self.samples.axis))

    @cached_property
    def owner(self) -> IntArray:
        """Index of the pattern that each mode belongs to, shape (M,)."""
        of = self.modes.component
        return np.arange(len(self.modes)) if of is None else np.asarray(of, dtype=np.int64)

    @cached_property
    def shown_modes(self) -> IntArray:
        """Indices of the modes whose pattern is listed, shape (m,)."""
        names = {pattern.label for pattern in listed(self.patterns)}
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
        return tuple(p for p in listed(self.patterns)[1:] if not p.share >= WORTH_A_LINE)

    @property
    def weak_words(self) -> str:
        """How many other patterns there are, and what they amount to; empty if there are none."""
        together = percent(sum(p.share for p in self.weak))
        many = f"{len(self.weak)} weaker pattern{'s' if len(self.weak) > 1 else ''}"
        return f"{many}, {together}{' together' if len(self.weak) > 1 else ''}" if self.weak else ""

    @property
    def searched_words(self) -> str:
        """Which periods were searched; empty if that is not known."""
        if self.searched is None:
            return ""
        low, high = (self.domain.period_words(period) for period in self.searched)
        if not np.isfinite(self.searched[0]):
            return "No period was searched: there are too few different times."
        return f"Searched periods from {low} to {high}."
