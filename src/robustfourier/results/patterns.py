"""`Pattern`: one repeating pattern with all that tables, sentences and figures show of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.estimators.components import COLUMNS, Components
from robustfourier.mixture.waveform_extrema import (
    amplitude_error,
    epoch_of,
    extreme,
    first_output,
    signal_to_noise,
)
from robustfourier.modes import ModeTable
from robustfourier.results.drawing_points import wave_grid

#: Share of the variation from which on a pattern is named and listed; below, it is folded away.
WORTH_A_LINE = 0.01
#: Share below which a component is not listed at all: a significant line that explains nothing.
NOTHING = 0.0005
#: Standard errors to each side of a 90 % band.
BAND = 1.645

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


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """One repeating pattern: the columns of `robustfourier.estimators.components`, and its curves.

    All that tables, sentences and figures show of a component of either estimator; lengths of time
    are in the unit of `domain`. What is unknown is NaN.
    """

    label: str
    domain: Domain
    frequency: float
    period: float
    amplitude: float
    share: float
    waveform: Curve  # over one cycle from the maximum on, x from 0 to 1
    folded: Curve  # the data without all other parts, against the cycle's phase
    combination: bool = False
    frequency_error: float = np.nan
    period_error: float = np.nan
    harmonics: tuple[int, ...] = (1,)
    false_alarm: float = np.nan
    link: Curve | None = None  # g of g(cos) on [-1, 1], where it is a function of one cosine
    beat: int = 1  # order of the strongest harmonic: 7 for a daily rhythm that changes over a week
    amplitude_error: float = np.nan
    snr: float = np.nan
    epoch_max: Any = None  # datetime64, Timestamp or float
    epoch_max_error: float = np.nan
    epoch_min: Any = None
    epoch_min_error: float = np.nan
    acrophase: float = np.nan
    coherence: float = np.inf
    calendar: str = ""
    peak: str = ""
    name: str = ""
    spacing: float = 0.0  # ordinary time between samples
    shape: str = ""  # "daily" for a week that is strongest every day, and the like

    @property
    def unit(self) -> str:
        """Unit of time; empty if unknown."""
        return self.domain.unit

    @property
    def period_words(self) -> str:
        """The period with its standard error."""
        return self.domain.period_words(self.period, self.period_error, spread=True)

    @property
    def is_signal(self) -> bool:
        """Whether people give it by its frequency: in seconds, they count cycles in each."""
        return not self.domain.dates and self.domain.unit == "second" and self.period < 1.0

    @property
    def in_phase(self) -> bool:
        """Whether it is a function of one cosine."""
        return self.link is not None


def mixture_patterns(
    components: Components,
    down: bool = False,
    domain: Domain | None = None,
    theta: FloatArray | None = None,
    data: FloatArray | None = None,
) -> list[Pattern]:
    """Patterns of a mixture, without calendar; of several outputs, the curves of the first.

    `down` says that values are magnitudes, of which the smallest is the maximum; `domain` knows a
    unit that the model may lack; `data` of shape (C, n), at `theta`, are the samples without all
    parts of the fit but the pattern itself.
    """
    theta = np.zeros(0) if theta is None else theta
    level, found = components.level, []
    for i, one in enumerate(components):
        (high, high_error), (low, low_error) = extreme(one, down), extreme(one, not down)
        phases = wave_grid(int(np.max(one.harmonics)))
        wave, std = (
            level * first_output(part) for part in one.waveform(phases + high, return_std=True)
        )
        top, bottom = first_output(one.waveform(np.array([high, low])))
        cycle = 0.5 * one.mode * theta - (one.phase / (2.0 * np.pi) + high)
        false_alarm, beat = _of_modes(components.modes, i)
        found.append(
            Pattern(
                label=one.label,
                domain=domain or one.domain,
                combination=one.combination,
                frequency=one.frequency,
                frequency_error=one.frequency_error,
                period=one.period,
                period_error=one.period_error,
                amplitude=level * 0.5 * abs(float(top - bottom)),
                amplitude_error=level * amplitude_error(one, high, low),
                share=float(np.mean(one.share)),
                harmonics=tuple(int(n) for n in one.harmonics),
                false_alarm=false_alarm,
                beat=beat,
                snr=signal_to_noise(one),
                epoch_max=epoch_of(one, high),
                epoch_max_error=high_error * one.period,
                epoch_min=epoch_of(one, low),
                epoch_min_error=low_error * one.period,
                coherence=one.coherence,
                waveform=Curve(phases, wave, std),
                folded=Curve(cycle % 1.0, np.zeros(0) if data is None else data[i]),
                link=_link_curve(one.link, level),
                spacing=components.spacing,
            )
        )
    return found


def _of_modes(modes: ModeTable | None, index: int) -> tuple[float, int]:
    """The smallest false alarm and the strongest order among the modes of a component."""
    if modes is None or modes.component is None or modes.false_alarm is None:
        return np.nan, 1
    own = np.asarray(modes.component) == index
    order = np.ones(len(own), int) if modes.harmonic is None else np.asarray(modes.harmonic)
    own &= order > 0  # without side lines
    size = np.reshape(modes.amplitude, (len(own), -1))[own, 0]
    beat = int(order[own][np.argmax(size)]) if len(size) else 1
    return float(np.min(np.asarray(modes.false_alarm)[own], initial=np.inf)), beat


def _link_curve(link: Any, level: float) -> Curve | None:
    if link is None:
        return None
    x = np.cos(np.linspace(np.pi, 0.0, 201))  # denser at the ends, where links bend
    values, std = (first_output(part) for part in link(x, return_std=True))
    return Curve(x, level * values, level * std)


def pattern_columns(patterns: Sequence[Pattern]) -> dict[str, list[Any]]:
    """The table of patterns, with the columns of `robustfourier.estimators.components`."""
    table = {name: [getattr(one, name) for one in patterns] for name in COLUMNS}
    return table | {"harmonics": [" ".join(map(str, one.harmonics)) for one in patterns]}


def notable(patterns: Sequence[Pattern]) -> tuple[Pattern, ...]:
    """Return the patterns that tables, sentences and pages name: all that explain anything.

    A significant line may explain nothing that can be seen; the strongest is always named.
    """
    return tuple(p for i, p in enumerate(patterns) if i == 0 or not p.share < NOTHING)


def explained_by(patterns: Iterable[Pattern]) -> float:
    """Share of the variation around the trend that patterns explain: the sum of theirs."""
    return min(sum(pattern.share for pattern in patterns), 1.0)
