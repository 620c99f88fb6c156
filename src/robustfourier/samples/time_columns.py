"""A time column to numbers or dates: text, and numbers that stand for dates.

Dates may be ISO or one of the common national forms; while 03/04/2020 can still be March or April,
both readings are kept, and if no later row decides, the error asks. Numbers stay numbers unless
they are seconds (milli-, micro-, nanoseconds) since 1970, dates without punctuation, such as
20241231 or 202412312359, or days that Excel counts in a column called a date. Julian dates stay
numbers, counted in days.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.arrays import BoolArray
from robustfourier.errors import DataError, InputError
from robustfourier.formatting import quoted
from robustfourier.samples.columns import Choice, speaks_of_time, unit_of_name
from robustfourier.samples.date_text import english_months
from robustfourier.samples.number_parsing import NumberFormat, is_missing, is_number, to_numbers
from robustfourier.samples.text_tables import Block, time_texts

#: Nanoseconds in the unit of each kind of epoch number.
EPOCHS = {"epoch-s": 10**9, "epoch-ms": 10**6, "epoch-us": 10**3, "epoch-ns": 1}
_EPOCH_FROM, _EPOCH_TO = 1e9, 4.2e9  # 2001 to 2103, in seconds: smaller numbers stay numbers
# Dates in digits, by the number of these.
_COMPACT = {6: "YYYYMM", 8: "YYYYMMDD", 10: "YYYYMMDDHH", 12: "YYYYMMDDHHMM", 14: "YYYYMMDDHHMMSS"}
_EXCEL_FROM, _EXCEL_TO = 18_000, 66_000  # the years 1949 to 2080, in days since 1899-12-30
_EXCEL_NAMES = re.compile(r"date|datum|fecha|data|timestamp", re.IGNORECASE)
_JULIAN_FROM, _JULIAN_TO = 2.3e6, 2.6e6  # the years 1585 to 2406
#: What `time_format` may be, besides a strptime format with a "%".
TIME_FORMATS = ("auto", "number", "julian", "excel", "iso", *EPOCHS)

_DATES = (
    *("%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y"),
    *("%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
    *("%b %d %Y", "%B %d %Y", "%b-%d-%Y", "%d-%b-%y"),
    *("%b %Y", "%B %Y", "%b-%Y", "%b-%y", "%Y %b", "%Y %B", "%Y-%b"),
)
_CLOCKS = ("", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", " %H", ", %H:%M")
_FORMATS = tuple(date + clock for date in _DATES for clock in _CLOCKS)

_OFFSET = re.compile(r"(?:Z|[zZ]|[+-]\d\d:?(?:\d\d)?|UTC|GMT)$")
_QUARTER = re.compile(r"(?P<year>\d{4})[ -]?[Qq](?P<quarter>[1-4])")
_YEAR_LAST = re.compile(r"[Qq](?P<quarter>[1-4])[ /-](?P<year>\d{4})")
_WEEK_RANGE = re.compile(r"(\d{4}-\d\d-\d\d) - \d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class Times:
    """Times as read: float64, int64 or datetime64 with NaN or NaT where missing."""

    values: NDArray[Any]
    unit: str
    timezone: str | None
    notes: tuple[str, ...]
    #: how they were written: a strptime format, "iso", "date", or what numbers stand for
    form: str = ""


class TimeReader:
    """Reads a time column block by block.

    The first cells, `sample`, decide whether these are numbers (written in `form`) or dates;
    `time_format` is one of `TIME_FORMATS` or a strptime format, `choice` holds the columns of the
    time, for `add_block`.
    """

    def __init__(
        self,
        sample: Sequence[str],
        *,
        column: str,
        source: str,
        form: NumberFormat,
        time_format: str = "auto",
        choice: Choice | None = None,
    ) -> None:
        self.choice = choice
        self.column, self.source, self.number_form = column, source, form
        self.time_format = _checked_format(time_format)
        cells = [cell for cell in sample if not is_missing(cell, form.missing)]
        self.formats = self._candidates(cells)
        self.blocks: dict[str, list[Any]] = {name: [] for name in self.formats}
        self.aware: bool | None = None

    @property
    def numeric(self) -> bool:
        """Whether the times are numbers."""
        return self.formats == ["number"]

    def _candidates(self, cells: list[str]) -> list[str]:
        """Formats in which all cells can be read, or else most of them."""
        if "%" in self.time_format:
            return [self.time_format]
        if self.time_format == "iso":
            return ["ISO8601"]
        numbers = sum(map(is_number, cells))
        if self.time_format != "auto" or (cells and numbers >= 0.5 * len(cells)):
            return ["number"]
        texts = [_first_day(cell) for cell in cells]
        texts = [_OFFSET.sub("", text).strip() if ":" in text else text for text in texts]
        # Formats with the punctuation of at least one cell: trying all of them would take long.
        shapes = {_shape(text) for text in texts}
        forms = ["ISO8601", *(f for f in _FORMATS if _shape(f.replace("%p", "PM")) in shapes)]
        good = {form: int(_coerce(texts, form).notna().sum()) for form in forms}
        most = max(good.values())
        if most < max(0.5 * len(texts), 1):
            raise DataError(
                f"{self.source}, column {quoted(self.column)}: {quoted((*cells, '')[0])} is "
                "neither a number nor a date that we read; say how it is written with "
                "--time-format, such as --time-format '%d.%m.%Y %H:%M'"
            )
        found = [form for form in forms if good[form] == most]
        # Where some cells are no dates, the best explanation of the others points at them.
        return found if most == len(texts) and found[0] != "ISO8601" else found[:1]

    def add_block(self, block: Block) -> None:
        """Read one block of a table."""
        assert self.choice is not None
        self.add(time_texts(block, self.choice), block.lines)

    def add(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Read one block of cells; `lines` holds their line numbers."""
        if self.numeric:
            self.blocks["number"].append(self._numbers(cells, lines))
        else:
            self._dates(cells, lines)

    def _numbers(self, cells: Sequence[str], lines: Sequence[int]) -> NDArray[Any]:
        try:  # integers exactly: nanoseconds since 1970 do not fit into float64
            if not any("_" in cell or cell in self.number_form.missing for cell in cells):
                return np.array(list(map(int, cells)), np.int64)
        except (ValueError, OverflowError):
            pass
        numbers, bad = to_numbers(cells, self.number_form)
        for i in bad[:1]:
            raise DataError(
                f"{self.source}, line {lines[i]}, column {quoted(self.column)}: "
                f"{quoted(cells[i])} is no number, as the other times are; "
                "correct the line, or mark it as missing with --na"
            )
        return numbers

    def _dates(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        texts = [_first_day(cell) for cell in cells]
        known = np.array([not is_missing(text, self.number_form.missing) for text in texts], bool)
        self._check_offsets(texts, known, lines)
        clean = [text if known[i] else "" for i, text in enumerate(texts)]
        parsed = {f: _coerce(clean, f, utc=bool(self.aware)) for f in self.formats}
        wrong = {f: np.asarray(parsed[f].isna()) & known for f in parsed}
        alive = [f for f in self.formats if not wrong[f].any()]
        if not alive:
            i = min(int(np.argmax(wrong[f])) for f in self.formats)
            raise DataError(
                f"{self.source}, line {lines[i]}, column {quoted(self.column)}: "
                f"{quoted(cells[i])} is no date as the others are written "
                f"({_in_words(self.formats[0])}), or out of range; correct the line, or say how "
                "dates are written with --time-format"
            )
        self.formats = alive
        for f in alive:
            self.blocks[f].append(np.asarray(parsed[f].tz_localize(None)))

    def _check_offsets(self, texts: list[str], known: BoolArray, lines: Sequence[int]) -> None:
        """Remember whether dates carry a zone; a mixture cannot be put in order."""
        endings = {text[-6:] for text in texts}  # few, however many rows there are
        zoned = {ending for ending in endings if _OFFSET.search(ending)}
        aware = np.array([":" in text and text[-6:] in zoned for text in texts], bool)
        if self.aware is None and known.any():
            self.aware = bool(aware[known][0])
        for i in np.flatnonzero(known & (aware != self.aware))[:1]:
            raise DataError(
                f"{self.source}, line {lines[i]}, column {quoted(self.column)}: "
                f"{quoted(texts[i])} has {'a' if aware[i] else 'no'} time zone, unlike the rows "
                "before it; write all times with a zone or all without"
            )

    def times(self) -> Times:
        """All times in the order of the rows, dates on the clock that wrote them."""
        if self.numeric:
            # int64 only if every block is; mixed blocks become float64
            numbers = np.concatenate(self.blocks["number"])
            return interpret_numbers(numbers, self.column, self.source, self.time_format)
        candidates = [pd.DatetimeIndex(np.concatenate(self.blocks[f])) for f in self.formats]
        distinct = {
            index.asi8.tobytes(): f for f, index in zip(self.formats, candidates, strict=True)
        }
        if len(distinct) > 1:
            forms = " or ".join(_in_words(f) for f in distinct.values())
            raise DataError(
                f"{self.source}, column {quoted(self.column)}: dates can be read as {forms}; "
                "say which with --time-format, such as --time-format "
                f"'{next(iter(distinct.values()))}'"
            )
        form = "iso" if self.formats[0] == "ISO8601" else self.formats[0]
        notes = () if form == "iso" else (f"dates read as {_in_words(form)}",)
        zone = "UTC" if self.aware else None
        return Times(candidates[0].to_numpy(), "day", zone, notes, form)


def _coerce(texts: list[str], form: str, utc: bool = False) -> pd.DatetimeIndex:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return pd.DatetimeIndex(pd.to_datetime(texts, format=form, errors="coerce", utc=utc))
        except (ValueError, OverflowError):
            return pd.DatetimeIndex([pd.NaT] * len(texts))


def _shape(text: str) -> tuple[Any, ...]:
    return (*(text.count(mark) for mark in "./-:,"), text[-2:].upper() in ("AM", "PM"))


def _first_day(cell: str) -> str:
    """Return a date as it is parsed: the first day of a quarter or week, months in English."""
    text = cell.strip()
    if len(text) < 9 and (match := _QUARTER.fullmatch(text) or _YEAR_LAST.fullmatch(text)):
        return f"{match['year']}-{3 * int(match['quarter']) - 2:02d}-01"
    if " - " in text and (match := _WEEK_RANGE.fullmatch(text)):
        return match[1]
    return english_months(text)


def _in_words(form: str) -> str:
    if form == "ISO8601":
        return "year-month-day"
    letters = {"%Y": "year", "%y": "year", "%m": "month", "%d": "day", "%b": "month", "%B": "month"}
    date = form.split(" %H")[0].split(" %I")[0].split(", %H")[0]
    for code, word in letters.items():
        date = date.replace(code, word)
    return date if "%" not in date else form


def _checked_format(time_format: str) -> str:
    if "%" in time_format:
        with suppress(ValueError, re.error):  # what strptime cannot read, or names twice
            pd.to_datetime(["2020"], format=time_format, errors="coerce")
            return time_format
    if time_format in (*TIME_FORMATS, *_COMPACT.values(), "date"):  # what `form` may return
        return time_format
    raise InputError(
        f"--time-format {quoted(time_format)}: must be one of {', '.join(TIME_FORMATS)} or a "
        "format such as '%d.%m.%Y %H:%M'"
    )


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
    kind = _kind_of_numbers(known, column) if time_format == "auto" else time_format
    unsure = "if they are mere numbers, say --time-format number"
    unit, values, zone, note = "day", numbers, None, ""
    if kind in EPOCHS:
        words = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
        note = f"times read as {words[kind[6:]]} since 1970 (UTC)"
        values, zone = _from_epoch(numbers, EPOCHS[kind], column, source), "UTC"
    elif kind in _COMPACT.values():
        note = f"times read as dates written {kind}; {unsure}"
        values = _from_digits(numbers, len(kind))
    elif kind == "excel":
        note = f"times read as days that Excel counts; {unsure}"
        values = _from_excel(numbers)
    elif kind == "julian":
        note, values = "times read as Julian dates", numbers.astype(np.float64)
    else:
        unit = unit_of_name(column)
        if numbers.dtype.kind == "i" and known.size and np.abs(known).max() < 2**53:
            values = numbers.astype(np.float64)
    return Times(values, unit, zone, (note,) if note else (), kind)


def _kind_of_numbers(known: NDArray[Any], column: str) -> str:
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
