"""Calendar words: which period is a day, a week or a year, and which is a week seen through months.

Only for dates, and for numbers whose unit is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.fields.tides import constituents_of
from robustfourier.formatting import SECONDS, display_unit, unit_name
from robustfourier.results.calendar_cycle import cycle_of
from robustfourier.results.record import Pattern
from robustfourier.samples import Samples

_ERRORS = 2.5  # standard errors within which a period agrees with the calendar …
_NEVER = 0.02  # … but never so far: a lunar month is 3 % shorter than a calendar month
_CLOSE = 0.005  # errors of real cycles are often too small: so close is the same, …
_UNRESOLVED = 0.5  # … unless the record tells them apart: a sidereal day is 0.3 % from a day
_ADJECTIVES = {
    "minute": "minutely",
    "hour": "hourly",
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
    "year": "yearly",
}
_EVENLY = 0.9  # part of the steps that must be of one length
_ORDERS = 3  # harmonics of a rhythm that are strong in practice


def calendar_word(period: float, error: float, domain: Domain) -> str:
    """The unit of the calendar that a period is, empty if none.

    Examples
    --------
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


def named(patterns: Iterable[Pattern], domain: Domain, down: bool = False) -> tuple[Pattern, ...]:
    """The patterns with their calendar words; each word is given once, to the strongest."""
    given: set[str] = set()
    out, patterns = [], tuple(patterns)
    for pattern, tide in zip(patterns, constituents_of(patterns, domain), strict=True):
        word = calendar_word(pattern.period, pattern.period_error, domain)
        word = "" if word in given else word
        given.add(word)
        shape = _shape(pattern, domain)
        pattern = replace(pattern, calendar=word, name=tide, shape=shape)
        cycle = cycle_of(pattern, domain, down)
        out.append(replace(pattern, peak="" if cycle is None else cycle.peak))
    return tuple(out)


def spoken(pattern: Pattern, domain: Domain) -> str:
    """A pattern's period in a sentence: "a week", "29.00 days"."""
    if pattern.calendar:
        return f"{'an' if pattern.calendar == 'hour' else 'a'} {pattern.calendar}"
    words = domain.period_words(pattern.period, pattern.period_error)
    shown = display_unit(pattern.period, domain.unit, domain.dates)[1]
    short, long = unit_name(shown, short=True), unit_name(shown)
    return words.removesuffix(short) + long if shown in SECONDS else words


def shape_words(pattern: Pattern, domain: Domain) -> str:
    """What is worth saying of a pattern whose strongest harmonic is not the first."""
    if pattern.shape:
        return f" with a strong {pattern.shape} shape"
    if pattern.beat == 1:
        return ""
    strongest = domain.period_words(pattern.period / pattern.beat)
    return f", strongest in harmonic {pattern.beat} (every {strongest})"


def _shape(pattern: Pattern, domain: Domain) -> str:
    """What the strongest harmonic says: a week that is strongest every day has a daily shape."""
    for word, adjective in _ADJECTIVES.items() if domain.unit in SECONDS else ():
        times = round(pattern.period * SECONDS[domain.unit] / SECONDS[word])
        if times < 2 or pattern.beat % times:
            continue
        if calendar_word(pattern.period / times, pattern.period_error / times, domain) == word:
            return adjective
    return ""


def alias_notes(patterns: Sequence[Pattern], samples: Samples, domain: Domain) -> list[str]:
    """Warn of patterns that may be the rhythm of the week in sums over months, and the like."""
    if domain.unit not in SECONDS:
        return []
    scale = SECONDS[domain.unit]
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
                if np.any(np.abs(p.frequency - aliases) <= _reach(p, domain))
            ]
    return []


def _aliases(base: float, rate: float, scale: float) -> FloatArray:
    """Frequencies at which sampling at a rate shows a faster rhythm and its harmonics."""
    orders = base * np.arange(1, _ORDERS + 1)
    folded = np.abs(orders - rate * np.round(orders / rate))[orders > 0.5 * rate]
    # Months differ in length, the same way each year: side lines a year apart.
    sides = folded[:1] + np.array([-1.0, 1.0])[:, None] * scale / SECONDS["year"]
    return np.concatenate([folded, np.abs(sides).ravel()])


def _reach(pattern: Pattern, domain: Domain) -> float:
    """How far from its frequency a pattern may truly be, or cannot be told from."""
    error = pattern.frequency_error if np.isfinite(pattern.frequency_error) else 0.0
    return max(_ERRORS * error, _UNRESOLVED / domain.span)
