"""Numbers that stand for times: dates in digits, since 1970, Julian dates, or mere numbers.

Numbers stay numbers unless they are seconds, milliseconds, microseconds or nanoseconds since 1970,
or dates written without punctuation, such as 20241231 or 202412312359, or days that Excel counts in
a column called a date. Julian dates stay numbers, counted in days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import DataError
from robustfourier.samples.columns import speaks_of_time, unit_of_name
from robustfourier.samples.text_streams import quoted

#: Nanoseconds in the unit of each kind of epoch number.
EPOCHS = {"epoch-s": 10**9, "epoch-ms": 10**6, "epoch-us": 10**3, "epoch-ns": 1}
_EPOCH_FROM, _EPOCH_TO = 1e9, 4.2e9  # 2001 to 2103, in seconds: smaller numbers stay numbers
# Dates in digits, by the number of these.
_COMPACT = {6: "YYYYMM", 8: "YYYYMMDD", 10: "YYYYMMDDHH", 12: "YYYYMMDDHHMM", 14: "YYYYMMDDHHMMSS"}
_EXCEL_FROM, _EXCEL_TO = 18_000, 66_000  # the years 1949 to 2080, in days since 1899-12-30
_EXCEL_NAMES = re.compile(r"date|datum|fecha|data|timestamp", re.IGNORECASE)
_JULIAN_FROM, _JULIAN_TO = 2.3e6, 2.6e6  # the years 1585 to 2406


@dataclass(frozen=True)
class Times:
    """Times as read: float64, int64 or datetime64 with NaN or NaT where missing."""

    values: NDArray[Any]
    unit: str
    timezone: str | None
    notes: tuple[str, ...]


def interpret_numbers(
    numbers: NDArray[Any], column: str, source: str, time_format: str = "auto"
) -> Times:
    """Decide whether numbers, NaN where missing, are epoch times or Julian dates.

    >>> interpret_numbers(np.array([1_600_000_000_000]), "t", "a.csv").values
    array(['2020-09-13T12:26:40.000000000'], dtype='datetime64[ns]')
    >>> interpret_numbers(np.array([2455197.5, 2455198.5]), "t", "a.csv").unit
    'day'
    """
    known = numbers[np.isfinite(numbers)] if numbers.dtype.kind == "f" else numbers
    kind = kind_of_numbers(known, column) if time_format == "auto" else time_format
    if kind in EPOCHS:
        words = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
        note = f"times read as {words[kind[6:]]} since 1970 (UTC)"
        return Times(_from_epoch(numbers, EPOCHS[kind], column, source), "day", "UTC", (note,))
    if kind in _COMPACT.values():
        note = f"times read as dates written {kind}; if they are mere numbers, say --time-format"
        return Times(_from_digits(numbers, len(kind)), "day", None, (f"{note} number",))
    if kind == "excel":
        note = "times read as days that Excel counts; if they are mere numbers, say --time-format"
        return Times(_from_excel(numbers), "day", None, (f"{note} number",))
    if kind == "julian":
        return Times(numbers.astype(np.float64), "day", None, ("times read as Julian dates",))
    if numbers.dtype.kind == "i" and known.size and np.abs(known).max() < 2**53:
        numbers = numbers.astype(np.float64)
    return Times(numbers, unit_of_name(column), None, ())


def kind_of_numbers(known: NDArray[Any], column: str) -> str:
    """What numbers stand for: an epoch of `EPOCHS`, "julian", dates in digits, or "number"."""
    if not known.size:
        return "number"
    if compact := _compact(known, column):
        return compact
    low, high = float(known.min()), float(known.max())
    for kind, nanoseconds in EPOCHS.items():
        scale = 1e9 / nanoseconds
        if _EPOCH_FROM * scale <= low and high <= _EPOCH_TO * scale:
            return kind
    if low >= _JULIAN_FROM and high <= _JULIAN_TO and unit_of_name(column) in ("", "day"):
        return "julian"
    if low >= _EXCEL_FROM and high <= _EXCEL_TO and _EXCEL_NAMES.search(column):
        return "excel"
    return "number"


def _compact(known: NDArray[Any], column: str) -> str:
    """How dates in digits are written; empty if these are none.

    All must be dates of the calendar, and the steps or the column's name must say so: a counter
    that goes beyond 99 in its last two digits does not jump from 20240131 to 20240201.
    """
    # Seconds since 1970 have ten digits too; before 2030 they begin with a year before 1900.
    digits = len(str(int(known.min())))
    earliest = 1900 if digits == 10 else 1600
    if digits not in _COMPACT or not (
        earliest * 10 ** (digits - 4) <= known.min() and known.max() < 2200 * 10 ** (digits - 4)
    ):
        return ""
    if (known != np.floor(known)).any() or np.isnat(_from_digits(known, digits)).any():
        return ""
    carried = np.unique(known // 100).size > 1
    named = speaks_of_time(column) and (digits > 6 or unit_of_name(column) == "month")
    return _COMPACT[digits] if carried or named or "dat" in column.lower() else ""


def _from_digits(numbers: NDArray[Any], digits: int) -> NDArray[np.datetime64]:
    """Dates in digits as dates; NaT where the calendar has none."""
    known = np.isfinite(numbers)
    whole = np.where(known, numbers, 0).astype(np.int64)
    whole = whole * 100 + 1 if digits == 6 else whole  # the first of the month
    date, clock = np.divmod(whole * 10 ** (14 - max(digits, 8)), 10**6)
    months = (date // 10_000 - 1970) * 12 + date // 100 % 100 - 1
    month = months.astype("datetime64[M]")
    day = month.astype("datetime64[D]") + (date % 100 - 1)
    hour, minute, second = clock // 10_000, clock // 100 % 100, clock % 100
    # Some write midnight as hour 24 of the day before.
    good = known & (date // 100 % 100 >= 1) & (date // 100 % 100 <= 12) & (date % 100 >= 1)
    good &= (day.astype("datetime64[M]") == month) & (minute < 60) & (second < 60)
    good &= clock <= 240_000
    stamps = day.astype("datetime64[s]") + (hour * 3600 + minute * 60 + second)
    stamps[~good] = np.datetime64("NaT")
    return stamps


def _from_excel(numbers: NDArray[Any]) -> NDArray[np.datetime64]:
    """Days since 1899-12-30 as dates, to the millisecond that Excel keeps."""
    known = np.isfinite(numbers)
    milliseconds = np.rint(np.where(known, numbers, 0.0) * 86_400_000.0).astype(np.int64)
    stamps = np.datetime64("1899-12-30", "ms") + milliseconds
    stamps[~known] = np.datetime64("NaT")
    return stamps


def _from_epoch(
    numbers: NDArray[Any], nanoseconds: int, column: str, source: str
) -> NDArray[np.datetime64]:
    missing = ~np.isfinite(numbers)
    filled = np.where(missing, 0, numbers)
    if np.abs(filled).max(initial=0) > 9.2e18 / nanoseconds:
        raise DataError(
            f"{source}, column {quoted(column)}: {filled[np.abs(filled).argmax()]} is out of range "
            "for times since 1970; choose another --time-format"
        )
    if filled.dtype.kind == "i":
        whole = filled * nanoseconds
    else:
        floor = np.floor(filled)
        whole = floor.astype(np.int64) * nanoseconds
        whole += np.rint((filled - floor) * nanoseconds).astype(np.int64)
    dates = whole.astype("datetime64[ns]")
    dates[missing] = np.datetime64("NaT")
    return dates
