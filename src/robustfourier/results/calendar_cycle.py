"""A pattern on the calendar: 0 to 24 h, Monday to Sunday, January to December, and when it peaks.

Only for patterns whose period is a day, a week or a year; a week and a year need dates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.formatting import SECONDS
from robustfourier.results.record import Curve, Pattern

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_HOURS = np.arange(0, 25, 3)
_ALMOST = 0.9  # of a day or month: February is shorter than a month is on the whole
_QUARTER = 0.25  # hours: an error below it is worth minutes


@dataclass(frozen=True, eq=False)
class CalendarCycle:
    """One turn of the calendar.

    Parameters
    ----------
    start : float
        Where in the turn a pattern has its maximum, in cycles: 0.5 is noon, or the end of June.
    ticks : ndarray of shape (K,)
        Places in the turn, from 0 to 1, and their `labels`.
    label : str
        Of the axis.
    peak : str
        When the pattern is highest: "at 15:10", "on Saturdays", "in August".
    """

    start: float
    ticks: FloatArray
    labels: tuple[str, ...]
    label: str
    peak: str

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


def cycle_of(pattern: Pattern, domain: Domain, down: bool = False) -> CalendarCycle | None:
    """The turn of the calendar that a pattern is drawn on; None if it is none of the calendar's."""
    epoch, error = pattern.epoch, pattern.epoch_error
    wave, spacing = pattern.waveform, pattern.spacing
    return calendar_cycle(pattern.calendar, epoch, error, wave, domain, down, spacing)


def calendar_cycle(
    word: str,
    epoch: Any,
    error: float,
    wave: Curve,
    domain: Domain,
    down: bool = False,
    spacing: float = 0.0,
) -> CalendarCycle | None:
    """The turn of the calendar that a pattern repeats with; None if there is none.

    Parameters
    ----------
    word : str
        "day", "week" or "year"; of any other, None is returned.
    epoch : Timestamp, datetime64 or float
        A time of the maximum; its standard `error` in the domain's unit.
    wave : Curve
        One cycle from the maximum on, x from 0 to 1.
    domain : Domain
    down : bool
        Whether values are magnitudes, of which the smallest is the maximum.
    spacing : float
        Ordinary time between samples: of daily ones each stands for the whole of its day in a week,
        of monthly ones for its month in a year.
    """
    if word not in ("day", "week", "year") or epoch is None:
        return None
    if not (domain.dates or (word == "day" and domain.unit in SECONDS)):
        return None
    start = _place(word, epoch, domain)
    if word == "day":
        hours = error * SECONDS[domain.unit] / 3600.0
        labels = tuple(f"{hour:02d}:00" if domain.dates else f"{hour} h" for hour in _HOURS)
        peak = _clock(24.0 * start, hours, domain.dates)
        return CalendarCycle(start, _HOURS / 24.0, labels, "hour of the day", peak)
    names, part = (_WEEKDAYS, "day") if word == "week" else (_MONTHS, "month")
    if spacing * SECONDS[domain.unit] > _ALMOST * SECONDS[part]:
        within = _place(part, domain.from_theta(np.array([-1.0]))[0], domain)
        start = (start + (0.5 - within) / len(names)) % 1.0
    highest = names[_highest(wave, start, len(names), down)]
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

    Examples
    --------
    >>> _clock(15.17, 0.1, True), _clock(15.17, 1.0, True), _clock(6.52, 0.1, False)
    ('at 15:10', 'around 15:00', 'at 6.5 h')
    """
    known = error < _QUARTER
    if not dates:
        return f"at {hour:.1f} h" if known else f"around {hour:.0f} h"
    minutes = round(hour * 60.0) if known else 60 * round(hour)
    return f"{'at' if known else 'around'} {minutes // 60 % 24:02d}:{minutes % 60:02d}"
