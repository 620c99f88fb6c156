"""The time axis of figures: numbers that a plot can use, and ticks that a person can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.domain import DATE_UNITS, Domain
from robustfourier.formatting import decimals, display_unit, number, unit_name

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_CLOCK_STEPS = (
    *(1.0, 2.0, 5.0, 10.0, 15.0, 30.0),
    *(_MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * n for n in (1, 2, 3, 6, 12)),
    *(_DAY * n for n in (1, 2, 7, 14)),
)
_REACH = 2.0  # of the width of the inner nine tenths
_MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000)


@dataclass(frozen=True)
class TimeAxis:
    """Times of a record as float64.

    For dates, positions are seconds since 1970 (local time where there is a zone); for numbers the
    numbers themselves.

    Parameters
    ----------
    label : str
        Name of the axis with its unit.
    dates : bool
        Whether positions are seconds since 1970.
    unit : str
        Unit of numbers.
    """

    label: str
    dates: bool
    unit: str

    @classmethod
    def of(cls, domain: Domain, name: str) -> TimeAxis:
        """Axis for a domain and the name of the time column."""
        if domain.dates:
            zone = f" ({domain.timezone})" if domain.timezone else ""
            return cls(f"{name}{zone}", True, domain.unit)
        words = {name.strip().lower().rstrip("s"), name.strip().lower()}
        unit = domain.unit
        spoken = f"{name} ({unit_name(unit)})" if unit and unit not in words else name
        return cls(spoken, False, unit)

    def positions(self, times: Any) -> FloatArray:
        """Positions of times on the axis, shape (n,)."""
        if not self.dates:
            return np.asarray(times, np.float64)
        index = pd.DatetimeIndex(times)
        if index.tz is not None:
            index = index.tz_localize(None)  # the local clock is what people read
        return index.as_unit("us").asi8.astype(np.float64) / 1e6

    def ticks(self, low: float, high: float, count: int = 6) -> tuple[FloatArray, list[str]]:
        """Round positions between two ends, and their labels."""
        if not self.dates:
            at = even_ticks(low, high, count)
            return at, number_labels(at)
        return _date_ticks(low, high, count)

    def when(self, time: Any) -> str:
        """A time in words: a date to the minute, or a number."""
        (at,) = self.positions([time])
        return _clock(at, "m") if self.dates else number(float(at), 8)

    def moment(self, time: Any, error: float) -> str:
        """A time with its standard error, which is in the domain's unit."""
        (at,) = self.positions([time])
        if not self.dates:
            places = decimals(0.0, error)
            return f"{at:,.{places}f} ± {error:,.{places}f} {unit_name(self.unit)}".rstrip()
        seconds = error * self.scale()
        words = _clock(at, "m" if seconds >= _MINUTE else "s" if seconds >= 1.0 else "ms")
        days = seconds / DATE_UNITS["day"]
        factor, better = display_unit(days, "day", dates=True)
        return f"{words} ± {number(days * factor, 2)} {unit_name(better, short=True)}"

    def scale(self) -> float:
        """Positions per unit of the domain: seconds for dates, one for numbers."""
        return DATE_UNITS[self.unit] if self.dates else 1.0


def robust_limits(values: FloatArray, *curves: FloatArray) -> tuple[float, float]:
    """Ends of a value axis that a few outliers do not set; what lies beyond is marked at the edge.

    Samples farther from the inner nine tenths than twice the width of these are left outside (8
    standard deviations of Gaussian noise); curves are always inside.

    Examples
    --------
    >>> low, high = robust_limits(np.append(np.linspace(-1.0, 1.0, 99), 1e6))
    >>> round(low, 2), round(high, 2)
    (-1.08, 1.08)
    """
    values = values[np.isfinite(values)]
    if len(values):
        low, high = np.quantile(values, [0.05, 0.95])
        reach = _REACH * (high - low)
        values = values[(values >= low - reach) & (values <= high + reach)]
    ends = np.concatenate([values, *(curve[np.isfinite(curve)] for curve in curves)])
    if not len(ends):
        return 0.0, 1.0
    low, high = float(ends.min()), float(ends.max())
    pad = 0.04 * (high - low) or 0.5 * abs(low) or 0.5
    return low - pad, high + pad


def even_ticks(low: float, high: float, count: int = 6) -> FloatArray:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten between two ends, about `count` of them.

    Examples
    --------
    >>> even_ticks(0.0, 9.3, 5)
    array([0., 2., 4., 6., 8.])
    """
    if not (np.isfinite(low) and np.isfinite(high)) or high <= low:
        return np.array([low])
    raw = (high - low) / max(count, 1)
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * 0.999)
    first = np.ceil(low / step - 1e-9)
    return np.asarray(step * np.arange(first, np.floor(high / step + 1e-9) + 1.0), np.float64)


def number_labels(at: FloatArray) -> list[str]:
    """Labels with as many decimals as the step needs."""
    if len(at) < 2:
        return [f"{value + 0.0:.4g}" for value in at]  # no "-0"
    step = float(at[1] - at[0])
    top = float(np.abs(at).max())
    if top >= 1e7 or top < 1e-4:
        return [f"{value:.{max(int(np.ceil(np.log10(top / step))), 0)}e}" if value else "0"
                for value in at]  # fmt: skip
    places = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    if abs(step / 10.0**-places - round(step / 10.0**-places)) > 1e-6:
        places += 1  # steps of 2.5
    group = "," if top >= 1e4 else ""  # years are written without
    return [f"{0.0 if abs(value) < 1e-12 * top else value:{group}.{places}f}" for value in at]


def _date_ticks(low: float, high: float, count: int) -> tuple[FloatArray, list[str]]:
    raw = (high - low) / max(count, 1)
    if raw < 1.0:  # below seconds: decimals of a second, counted from the start
        at = even_ticks(low, high, count)
        return at, [_stamp(value).strftime("%H:%M:%S.%f")[:-3] for value in at]
    step = next((s for s in _CLOCK_STEPS if s >= raw * 0.8), None)
    if step is not None:
        origin = 4 * _DAY if step >= 7 * _DAY else 0.0  # weeks begin on a Monday
        at = origin + step * np.arange(
            np.ceil((low - origin) / step), np.floor((high - origin) / step) + 1.0
        )
        return at, _clock_labels(at, step)
    months = next((m for m in _MONTH_STEPS if m * 30.44 * _DAY >= raw * 0.8), _MONTH_STEPS[-1])
    first, last = _month_number(low) // months * months, _month_number(high)
    numbers = np.arange(first, last + 1, months)
    at = (numbers - 1970 * 12).astype("datetime64[M]").astype("datetime64[s]").astype(np.float64)
    inside = (at >= low) & (at <= high)
    form = "%Y" if months >= 12 else "%b %Y"
    return at[inside], [_stamp(value).strftime(form) for value in at[inside]]


def _clock_labels(at: FloatArray, step: float) -> list[str]:
    """Labels of two lines: the second says what changes rarely, where it changes."""
    labels, last = [], ""
    for value in at:
        stamp = _stamp(value)
        day = f"{stamp.day} {stamp:%b}"
        clock = f"{stamp:%H:%M}" if step >= _MINUTE else f"{stamp:%H:%M:%S}"
        text, part = (day, str(stamp.year)) if step >= _DAY else (clock, day)
        labels.append(text if part == last else f"{text}\n{part}")
        last = part
    return labels


def _clock(seconds: float, unit: str) -> str:
    return str(np.datetime64(_stamp(seconds)).astype(f"datetime64[{unit}]")).replace("T", " ")


def _stamp(seconds: float) -> Any:
    return np.datetime64(round(seconds * 1e6), "us").astype(object)


def _month_number(seconds: float) -> int:
    month = np.datetime64(int(np.floor(seconds)), "s").astype("datetime64[M]")
    return int(month.astype(np.int64)) + 1970 * 12
