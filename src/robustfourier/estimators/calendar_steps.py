"""Calendar steps: months, quarters, years and business days, which are not all equally long."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

_MONTH_DAYS = 365.2425 / 12.0
_FEWEST = 3  # dates that show a step
_WORKDAYS = 10  # dates that show that there are none at weekends
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_TEXT = re.compile(r"\s*(\d*)\s*(month|quarter|year|business day)s?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class CalendarStep:
    """A step of so many months, or of one or more business days.

    Parameters
    ----------
    months : int
        0 if the step is one of business days.
    day : int
        Day of the month that each step ends on; the last one of months that are shorter. Of
        business days, their number.

    Examples
    --------
    >>> CalendarStep(1, 31).after(pd.Timestamp("2024-01-31"), 3).strftime("%m-%d").tolist()
    ['02-29', '03-31', '04-30']
    >>> CalendarStep.of(pd.date_range("2020-01-01", periods=9, freq="QS"))
    CalendarStep(months=3, day=1)
    >>> CalendarStep.of(pd.date_range("2020-01-01", periods=9, freq="D")) is None
    True
    """

    months: int
    day: int

    @classmethod
    def of(cls, times: Any) -> CalendarStep | None:
        """Return the calendar step of sorted, different dates; None if they have another one."""
        dates = pd.DatetimeIndex(times)
        if len(dates) < _FEWEST or len(np.unique(dates - dates.normalize())) > 1:
            return None
        anchor = int(dates.day.max())
        months = np.diff(np.asarray(12 * dates.year + dates.month))
        if months.min() > 0 and np.all(dates.day == np.minimum(anchor, dates.days_in_month)):
            usual = int(np.median(months))
            return cls(usual, anchor) if np.all(months % usual == 0) else None
        days = np.diff(dates.tz_localize(None).normalize()).astype("timedelta64[D]").astype(int)
        weekdays = len(dates) >= _WORKDAYS and bool(np.all(dates.day_of_week < 5))
        return cls(0, 1) if weekdays and np.median(days) == 1 and days.max() > 1 else None

    @classmethod
    def from_text(cls, text: str, day: int) -> CalendarStep | None:
        """Return the step that a text such as "1 month" or "2 quarters" names; None if none.

        >>> CalendarStep.from_text("1month", 15), CalendarStep.from_text("12h", 15)
        (CalendarStep(months=1, day=15), None)
        """
        match = _TEXT.fullmatch(text)
        count = int(match[1] or 1) if match else 0
        if not match or not count:
            return None
        word = match[2].lower()
        return cls(0, count) if word not in _MONTHS else cls(count * _MONTHS[word], day)

    @property
    def mean_days(self) -> float:
        """Its length in days, on average."""
        return self.months * _MONTH_DAYS if self.months else self.day * 7.0 / 5.0

    def after(self, last: pd.Timestamp, count: int) -> pd.DatetimeIndex:
        """Return so many dates after one, on its clock."""
        steps = range(1, count + 1)
        if not self.months:
            return pd.DatetimeIndex([last + pd.offsets.BDay(self.day * k) for k in steps])
        first = last.replace(day=1)
        dates = [first + pd.DateOffset(months=self.months * k) for k in steps]
        return pd.DatetimeIndex([d.replace(day=min(self.day, d.days_in_month)) for d in dates])
