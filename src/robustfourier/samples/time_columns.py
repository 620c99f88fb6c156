"""Text of a time column to numbers or dates.

Dates may be ISO or one of the common national forms; while 03/04/2020 can still be March or April,
both readings are kept, and if no later row decides, the error asks.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.arrays import BoolArray
from robustfourier.errors import DataError, InputError
from robustfourier.samples.columns import Choice
from robustfourier.samples.date_text import english_months
from robustfourier.samples.epochs import EPOCHS, Times, interpret_numbers, kind_of_numbers
from robustfourier.samples.number_parsing import NumberFormat, is_missing, is_number, to_numbers
from robustfourier.samples.text_streams import quoted
from robustfourier.samples.text_tables import Block, time_texts

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


class TimeReader:
    """Reads a time column block by block.

    The first cells, `sample`, decide whether these are numbers (written in `form`) or dates;
    `time_format` is one of `TIME_FORMATS` or a strptime format, `timezone` the zone of dates that
    name none, `choice` the columns of the time, for `add_block`.
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
        self.numeric = self._is_numeric(cells)
        self.formats = [] if self.numeric else self._candidates(cells)
        self.blocks: dict[str, list[Any]] = {name: [] for name in self.formats or ("number",)}
        self.aware: bool | None = None

    def _is_numeric(self, cells: list[str]) -> bool:
        if self.time_format == "iso" or "%" in self.time_format:
            return False
        if self.time_format != "auto":
            return True
        return bool(cells) and sum(is_number(cell) for cell in cells) >= 0.5 * len(cells)

    def _candidates(self, cells: list[str]) -> list[str]:
        if "%" in self.time_format:
            return [self.time_format]
        if self.time_format == "iso":
            return ["ISO8601"]
        texts = [_first_day(cell) for cell in cells]
        texts = [_OFFSET.sub("", text).strip() if ":" in text else text for text in texts]
        # Formats with the punctuation of at least one cell: trying all of them would take long.
        shapes = {_shape(text) for text in texts}
        forms = ["ISO8601", *(f for f in _FORMATS if _shape(f.replace("%p", "PM")) in shapes)]
        found = [f for f in forms if texts and _parses(texts[:25], f) and _parses(texts, f)]
        if "ISO8601" in found:
            return ["ISO8601"]
        if not found:
            # The best explanation of most cells, so that the error can point at the others.
            good = {f: int(np.sum(_coerce(texts, f).notna())) for f in forms} if texts else {}
            best = max(good, key=lambda f: good[f], default="ISO8601")
            if not good or good[best] < 0.5 * len(texts):
                example = cells[0] if cells else ""
                raise DataError(
                    f"{self.source}, column {quoted(self.column)}: {quoted(example)} is neither a "
                    "number nor a date that we read; say how it is written with --time-format, "
                    "such as --time-format '%d.%m.%Y %H:%M'"
                )
            return [best]
        return found

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
                f"({_spoken(self.formats[0])}), or out of range; correct the line, or say how "
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
            forms = " or ".join(_spoken(f) for f in distinct.values())
            raise DataError(
                f"{self.source}, column {quoted(self.column)}: dates can be read as {forms}; "
                "say which with --time-format, such as --time-format "
                f"'{next(iter(distinct.values()))}'"
            )
        notes = [f"dates read as {_spoken(f)}" for f in self.formats[:1] if f != "ISO8601"]
        zone = "UTC" if self.aware else None
        return Times(candidates[0].to_numpy(), "day", zone, tuple(notes))

    def form(self) -> str:
        """How the times are written: what `time_format` may be, or what numbers stand for."""
        if not self.numeric:
            return "iso" if self.formats[0] == "ISO8601" else self.formats[0]
        if self.time_format != "auto":
            return self.time_format
        numbers = np.concatenate(self.blocks["number"])
        return kind_of_numbers(numbers[np.isfinite(numbers)], self.column)


def _coerce(texts: list[str], form: str, utc: bool = False) -> pd.DatetimeIndex:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return pd.DatetimeIndex(pd.to_datetime(texts, format=form, errors="coerce", utc=utc))
        except (ValueError, OverflowError):
            return pd.DatetimeIndex([pd.NaT] * len(texts))


def _shape(text: str) -> tuple[Any, ...]:
    return (*(text.count(mark) for mark in "./-:,"), text[-2:].upper() in ("AM", "PM"))


def _parses(texts: list[str], form: str) -> bool:
    return bool(_coerce(texts, form).notna().all())


def _first_day(cell: str) -> str:
    """Return a date as it is parsed: the first day of a quarter or week, months in English."""
    text = cell.strip()
    if len(text) < 9 and (match := _QUARTER.fullmatch(text) or _YEAR_LAST.fullmatch(text)):
        return f"{match['year']}-{3 * int(match['quarter']) - 2:02d}-01"
    if " - " in text and (match := _WEEK_RANGE.fullmatch(text)):
        return match[1]
    return english_months(text)


def _spoken(form: str) -> str:
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
    if time_format in TIME_FORMATS:
        return time_format
    raise InputError(
        f"--time-format {quoted(time_format)}: must be one of {', '.join(TIME_FORMATS)} or a "
        "format such as '%d.%m.%Y %H:%M'"
    )
