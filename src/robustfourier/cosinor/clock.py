"""Times as numbers that cosines take, and acrophases as a clock or a calendar shows them.

Of dates, a day begins at midnight, a week on Monday and a year on the first of January, on the
clock that wrote them. Of numbers, every cycle begins at zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain, timezone_of
from robustfourier.errors import InputError
from robustfourier.estimators.times import first_column, known_periods, time_index
from robustfourier.formatting import SECONDS, display_unit, readable_period, unit_called, unit_name

_MONDAY = np.datetime64("1970-01-05", "s")


@dataclass(frozen=True, eq=False)
class Clock:
    """Times, periods and what acrophases count from."""

    times: FloatArray  # in `unit`; of dates, since the first instant of the earliest year
    periods: tuple[float, ...]  # in `unit`
    unit: str  # empty if unknown
    dates: bool  # whether times are dates
    origins: tuple[float, ...]  # time at which each period's cycle begins

    @classmethod
    def of(cls, times: Any, periods: Any, unit: str | None) -> Clock:
        """Read times and periods, or say what is wrong with them."""
        column = first_column(times)
        named = (unit_called(unit) or unit) if unit else None
        domain = Domain.from_times(column, unit=named)
        lengths = known_periods(periods, domain)
        if not len(lengths):
            raise InputError("periods is empty; give at least one, such as '24h'")
        if not (np.isfinite(lengths).all() and (lengths > 0).all()):
            raise InputError(f"periods={periods!r} must all be positive finite numbers")
        known = tuple(float(length) for length in lengths)
        if not domain.dates:
            times = domain.offsets(column) + float(domain.start)
            return cls(times, known, domain.unit, False, (0.0,) * len(known))
        wall = time_index(column)
        if timezone_of(column) is not None:
            wall = pd.DatetimeIndex(wall).tz_localize(None)
        instants = np.asarray(wall, "datetime64[us]")
        year = instants.min().astype("datetime64[Y]")
        second, week = SECONDS[domain.unit], SECONDS["week"]
        seconds = (instants - year.astype("datetime64[us]")) / np.timedelta64(1, "s")
        monday = -(float((year - _MONDAY) / np.timedelta64(1, "s")) % week) / second
        origins = tuple(monday if np.isclose(p * second, week) else 0.0 for p in known)
        return cls(seconds / second, known, domain.unit, True, origins)

    def shown(self, index: int) -> tuple[float, str]:
        """Factor from `unit` to the unit of acrophases, and its name."""
        return display_unit(self.periods[index], self.unit, self.dates)

    def cycle(self, index: int, order: int = 1) -> tuple[float, float]:
        """Length of a harmonic's cycle, and its origin, in the unit of acrophases."""
        factor = self.shown(index)[0]
        return self.periods[index] / order * factor, self.origins[index] * factor

    def words(self, index: int) -> str:
        """A period in words."""
        return readable_period(self.periods[index], self.unit, dates=self.dates)

    def counted_from(self, index: int) -> str:
        """What acrophases are, in words."""
        unit = unit_name(self.shown(index)[1]) or "units of time"
        if not self.dates:
            return f"{unit} after time 0"
        seconds = self.periods[index] * SECONDS[self.unit]
        if np.isclose(seconds, SECONDS["week"]):
            return f"{unit} after Monday, 0:00"
        whole = np.isclose(SECONDS["day"] / seconds, np.rint(SECONDS["day"] / seconds))
        return f"{unit} after midnight" if whole else f"{unit} after 1 January, 0:00"
