"""The axes of figures: times as numbers, and limits of values that outliers do not set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.domain import DATE_UNITS, Domain
from robustfourier.formatting import decimals, display_unit, number, unit_name

_MINUTE = 60.0
_REACH = 2.0  # of the width of the inner nine tenths


@dataclass(frozen=True)
class TimeAxis:
    """Times of a record as float64.

    For dates, positions are seconds since 1970 (local time where there is a zone); for numbers the
    numbers themselves.
    """

    label: str  # name of the axis with its unit
    dates: bool  # whether positions are seconds since 1970
    unit: str  # unit of numbers

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

    def when(self, time: Any) -> str:
        """A time in words: a date to the minute, or a number."""
        (at,) = self.positions([time])
        return _clock(at, "m") if self.dates else instant(float(at))

    def moment(self, time: Any, error: float) -> str:
        """A time with its standard error, which is in the domain's unit."""
        (at,) = self.positions([time])
        if not self.dates:
            places = decimals(0.0, error)
            unit = unit_name(self.unit, short=True)
            return f"{at:.{places}f} ± {error:,.{places}f} {unit}".rstrip()
        seconds = error * self.scale()
        words = _clock(at, "m" if seconds >= _MINUTE else "s" if seconds >= 1.0 else "ms")
        days = seconds / DATE_UNITS["day"]
        factor, better = display_unit(days, "day", dates=True)
        return f"{words} ± {number(days * factor, 2)} {unit_name(better, short=True)}"

    def scale(self) -> float:
        """Positions per unit of the domain: seconds for dates, one for numbers."""
        return DATE_UNITS[self.unit] if self.dates else 1.0


def instant(time: float) -> str:
    """A time that is a number: one word, as a year or a Julian date is written.

    Examples
    --------
    >>> instant(2450622.93), instant(1853.25)
    ('2450622.9', '1853.25')
    """
    return number(time, 8).replace(",", "")


def robust_limits(values: FloatArray, *curves: FloatArray) -> tuple[float, float]:
    """Ends of a value axis that a few outliers do not set; what lies beyond is marked at the edge.

    Samples farther from the inner nine tenths than twice the width of these are left outside (8
    standard deviations of Gaussian noise); curves are always inside.

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


def _clock(seconds: float, unit: str) -> str:
    stamp = np.datetime64(round(seconds * 1e6), "us").astype(f"datetime64[{unit}]")
    return str(stamp).replace("T", " ")
