"""Patterns on the calendar: which period is a day, a week or a year, and when in it is the peak.

Only for dates, and for numbers whose unit is known; a turn from Monday to Sunday or from January to
December needs dates. Also which period is a week seen through months.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.fields.tides import constituents_of
from robustfourier.formatting import SECONDS, display_unit, unit_name
from robustfourier.results.patterns import Curve, Pattern
from robustfourier.samples import Samples

_ERRORS = 2.5  # standard errors within which a period agrees with the calendar …
_NEVER = 0.02  # … but never so far: a lunar month is 3 % shorter than a calendar month
_CLOSE = 0.005  # errors of real cycles are often too small: so close is the same, …
_UNRESOLVED = 0.5  # … unless the record tells them apart: a sidereal day is 0.3 % from a day
_ADJECTIVES = {
    **{"minute": "minutely", "hour": "hourly", "day": "daily"},
    **{"week": "weekly", "month": "monthly", "year": "yearly"},
}
_EVENLY = 0.9  # part of the steps that must be of one length
_ORDERS = 3  # harmonics of a rhythm that are strong in practice
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_HOURS = np.arange(0, 25, 3)
_ALMOST = 0.9  # of a day or month: February is shorter than a month is on the whole
_QUARTER = 0.25  # hours: an error below it is worth minutes


def calendar_word(period: float, error: float, domain: Domain) -> str:
    """The unit of the calendar that a period is, empty if none.

    >>> year = Domain(0.0, 365.25, "day")
    >>> calendar_word(7.0004, 0.0001, year), calendar_word(0.99727, 1e-5, year)
    ('week', '')
    """
    if domain.unit not in SECONDS:
        return ""
    for word in _ADJECTIVES:
        length = SECONDS[word] / SECONDS[domain.unit]
        apart = abs(period - length)
        modes = apart * domain.span / (period * length)
        agrees = apart <= _ERRORS * error and apart <= _NEVER * length
        if agrees or (apart <= _CLOSE * length and modes < _UNRESOLVED):
            return word
    return ""


def with_calendar(patterns: Sequence[Pattern], down: bool = False) -> tuple[Pattern, ...]:
    """The patterns with their calendar words; each word is given once, to the strongest.

    `down` says that values are magnitudes.
    """
    tides = constituents_of(patterns, patterns[0].domain) if patterns else []
    given: set[str] = set()
    out = []
    for pattern, tide in zip(patterns, tides, strict=True):
        word = calendar_word(pattern.period, pattern.period_error, pattern.domain)
        word = "" if word in given else word
        given.add(word)
        pattern = replace(pattern, calendar=word, name=tide, shape=_shape(pattern))
        cycle = cycle_of(pattern, down)
        peak = "" if cycle is None else cycle.peak
        out.append(replace(pattern, peak=peak, acrophase=_acrophase(pattern)))
    return tuple(out)


def _acrophase(pattern: Pattern) -> float:
    """Hours after midnight (of numbers, after zero) of the maximum of a day; NaN for any other."""
    epoch = pattern.epoch_max
    if pattern.calendar != "day" or epoch is None:
        return np.nan
    if not pattern.domain.dates:
        return float(epoch * SECONDS[pattern.unit] / 3600.0 % 24.0)
    stamp = pd.Timestamp(epoch)
    return float((stamp - stamp.normalize()) / pd.Timedelta(hours=1))


def period_in_words(pattern: Pattern) -> str:
    """A pattern's period in a sentence: "a week", "29.00 days"."""
    if pattern.calendar:
        return f"{'an' if pattern.calendar == 'hour' else 'a'} {pattern.calendar}"
    domain = pattern.domain
    words = domain.period_words(pattern.period, pattern.period_error)
    shown = display_unit(pattern.period, domain.unit, domain.dates)[1]
    short, long = unit_name(shown, short=True), unit_name(shown)
    return words.removesuffix(short) + long if shown in SECONDS else words


def shape_words(pattern: Pattern) -> str:
    """What is worth saying of a pattern whose strongest harmonic is not the first."""
    if pattern.shape:
        return f" with a strong {pattern.shape} shape"
    if pattern.beat == 1:
        return ""
    strongest = pattern.domain.period_words(pattern.period / pattern.beat)
    return f", strongest in harmonic {pattern.beat} (every {strongest})"


def _shape(pattern: Pattern) -> str:
    """What the strongest harmonic says: a week that is strongest every day has a daily shape."""
    for word, adjective in _ADJECTIVES.items() if pattern.unit in SECONDS else ():
        times = round(pattern.period * SECONDS[pattern.unit] / SECONDS[word])
        if times < 2 or pattern.beat % times:
            continue
        part, error = pattern.period / times, pattern.period_error / times
        if calendar_word(part, error, pattern.domain) == word:
            return adjective
    return ""


def alias_notes(patterns: Sequence[Pattern], samples: Samples) -> list[str]:
    """Warn of patterns that may be the rhythm of the week in sums over months, and the like."""
    if not patterns or patterns[0].unit not in SECONDS:
        return []
    domain, scale = patterns[0].domain, SECONDS[patterns[0].unit]
    days = np.diff(domain.offsets(samples.axis)) * scale / SECONDS["day"]
    for word, low, high, rhythm, reason in (
        ("month", 27.9, 31.1, "week", "the number of weekends in a month"),
        ("week", 6.9, 7.1, "month", "which weeks hold the turn of a month"),
    ):
        if np.mean((days > low) & (days < high)) >= _EVENLY:
            aliases = _aliases(scale / SECONDS[rhythm], scale / SECONDS[word], scale)
            return [
                f"Pattern {p.label} ({domain.period_words(p.period)}) "
                f"may be the {_ADJECTIVES[rhythm]} rhythm seen through {_ADJECTIVES[word]} sums: "
                f"{reason}."
                for p in patterns
                if np.any(np.abs(p.frequency - aliases) <= _reach(p))
            ]
    return []


def _aliases(base: float, rate: float, scale: float) -> FloatArray:
    """Frequencies at which sampling at a rate shows a faster rhythm and its harmonics."""
    orders = base * np.arange(1, _ORDERS + 1)
    folded = np.abs(orders - rate * np.round(orders / rate))[orders > 0.5 * rate]
    # Months differ in length, the same way each year: side lines a year apart.
    sides = folded[:1] + np.array([-1.0, 1.0])[:, None] * scale / SECONDS["year"]
    return np.concatenate([folded, np.abs(sides).ravel()])


def _reach(pattern: Pattern) -> float:
    """How far from its frequency a pattern may truly be, or cannot be distinguished from."""
    error = pattern.frequency_error if np.isfinite(pattern.frequency_error) else 0.0
    return max(_ERRORS * error, _UNRESOLVED / pattern.domain.span)


@dataclass(frozen=True, eq=False)
class CalendarCycle:
    """One turn of the calendar."""

    #: where in the turn a pattern has its maximum, in cycles: 0.5 is noon, or the end of June
    start: float
    ticks: FloatArray  # shape (K,); places in the turn, from 0 to 1, and their `labels`
    labels: tuple[str, ...]
    label: str  # of the axis
    peak: str  # when the pattern is highest: "at 15:10", "on Saturdays", "in August"

    def dots(self, folded: Curve) -> Curve:
        """Folded data against the turn instead of cycles since the maximum."""
        return Curve((folded.x + self.start) % 1.0, folded.y)

    def wave(self, curve: Curve) -> Curve:
        """One cycle of a curve against the turn, from 0 to 1."""
        at = (curve.x + self.start) % 1.0
        grid = np.concatenate([[0.0], np.sort(at), [1.0]])
        y, std = (
            None if each is None else np.interp(grid, at, each, period=1.0)
            for each in (curve.y, curve.std)
        )
        return Curve(grid, np.asarray(y), std)


def cycle_of(pattern: Pattern, down: bool = False) -> CalendarCycle | None:
    """The turn of the calendar that a pattern is drawn on: day, week or year; else None.

    Of daily samples (by their spacing) each stands for the whole of its day in a week, of monthly
    ones for its month in a year.
    """
    word, epoch, domain = pattern.calendar, pattern.epoch_max, pattern.domain
    if word not in ("day", "week", "year") or epoch is None:
        return None
    if not (domain.dates or (word == "day" and domain.unit in SECONDS)):
        return None
    start = _place(word, epoch, domain)
    if word == "day":
        hours = pattern.epoch_max_error * SECONDS[domain.unit] / 3600.0
        labels = tuple(f"{hour:02d}:00" if domain.dates else f"{hour} h" for hour in _HOURS)
        peak = _clock(24.0 * start, hours, domain.dates)
        return CalendarCycle(start, _HOURS / 24.0, labels, "hour of the day", peak)
    names, part = (_WEEKDAYS, "day") if word == "week" else (_MONTHS, "month")
    if pattern.spacing * SECONDS[domain.unit] > _ALMOST * SECONDS[part]:
        within = _place(part, domain.from_theta(np.array([-1.0]))[0], domain)
        start = (start + (0.5 - within) / len(names)) % 1.0
    highest = names[_highest(pattern.waveform, start, len(names), down)]
    ticks = (np.arange(len(names)) + 0.5) / len(names)
    label, peak = ("day of the week", f"on {highest}s")
    if word == "year":
        label, peak = "month", f"in {highest}"
    return CalendarCycle(start, ticks, tuple(name[:3] for name in names), label, peak)


def _place(word: str, epoch: Any, domain: Domain) -> float:
    """Where in a turn an instant lies, from 0 to 1."""
    if not domain.dates:
        return float(epoch * SECONDS[domain.unit] / SECONDS["day"] % 1.0)
    stamp = pd.Timestamp(epoch)
    clock = stamp.tz_localize(None) if stamp.tzinfo else stamp  # what people read
    day = float((clock - clock.normalize()) / pd.Timedelta(days=1))
    if word == "day":
        return day
    if word == "month":
        return (clock.day - 1 + day) / clock.days_in_month
    if word == "week":
        return (clock.day_of_week + day) / 7.0
    return (clock.day_of_year - 1 + day) / (366.0 if clock.is_leap_year else 365.0)


def _highest(wave: Curve, start: float, parts: int, down: bool) -> int:
    """The part of a turn in which the mean of a wave is highest."""
    fine = (np.arange(parts * 48) + 0.5) / (parts * 48)
    values = np.interp((fine - start) % 1.0, wave.x, wave.y)
    means = values.reshape(parts, -1).mean(axis=1)
    return int(np.argmin(means) if down else np.argmax(means))


def _clock(hour: float, error: float, dates: bool) -> str:
    """A time of day, with minutes where they are known.

    >>> _clock(15.17, 0.1, True), _clock(15.17, 1.0, True), _clock(6.52, 0.1, False)
    ('at 15:10', 'around 15:00', 'at 6.5 h')
    """
    known = error < _QUARTER
    if not dates:
        return f"at {hour:.1f} h" if known else f"around {hour:.0f} h"
    minutes = round(hour * 60.0) if known else 60 * round(hour)
    return f"{'at' if known else 'around'} {minutes // 60 % 24:02d}:{minutes % 60:02d}"
