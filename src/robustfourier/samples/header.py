"""The header of a text table: its names, in one line or several, and a line of units below them.

Loggers write names, units and the kind of average in three lines (TOA5), exports of databases put
units behind names, and spreadsheets name groups of columns above the columns themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robustfourier.samples.number_parsing import is_missing, is_number
from robustfourier.samples.units import looks_like_unit

Row = tuple[int, list[str]]
Rows = list[Row]
Test = Callable[[str], bool]

_LINES = 4  # of a header, at most
_SEP = re.compile(r"\ufeff?\"?sep=(?P<mark>[,;|\t ])\"?\s*", re.IGNORECASE)
_TOA5 = re.compile(r'\ufeff?"?TO[AB]\d"?,')


@dataclass(frozen=True)
class Header:
    """Names of the columns, their units (empty where unknown), and how many rows hold them."""

    names: list[str]
    units: list[str]
    rows: int


def declared_delimiter(line: str) -> str | None:
    """The delimiter that a first line such as ``sep=;`` declares, as spreadsheets write it."""
    match = _SEP.fullmatch(line)
    return match["mark"] if match else None


def is_logger_line(line: str) -> bool:
    """Whether a line is the first one of a logger's file (TOA5), which is no part of the table."""
    return bool(_TOA5.match(line))


def split_header(table: Rows, says_something: Test) -> tuple[Header | None, Rows]:
    """Take off the rows that name columns: words above cells that are numbers, times or missing."""
    if not _names_columns(table[0][1], table[1:], says_something):
        return None, table
    count = 1
    while count < min(_LINES, len(table) - 1) and _goes_on(table[count][1], table[count + 1 :]):
        count += 1
    rows = [row for _, row in table[:count]]
    units = next((i for i in range(1, count) if _is_units(rows[i])), count)
    names = rows[0] if units == 1 else _joined(rows[:units])
    below = rows[units] if units < count else []
    width = len(names)
    padded = [cell.strip() for cell in below[:width]] + [""] * (width - len(below))
    return Header(names, ["" if is_missing(c) else c for c in padded], count), table[count:]


def _names_columns(first: list[str], body: Rows, says_something: Test) -> bool:
    words = [j for j, cell in enumerate(first) if not says_something(cell)]
    for j in words:
        column = [row[j] for _, row in body if j < len(row) and not is_missing(row[j])]
        if not body or not column or any(says_something(cell) for cell in column):
            return True
    return len(words) == len(first)


def _goes_on(row: list[str], body: Rows) -> bool:
    """Whether a row below a header belongs to it: words alone, of which one is above numbers."""
    words = [j for j, cell in enumerate(row) if not is_missing(cell)]
    if not words or any(is_number(row[j]) or row[j].strip()[:1].isdecimal() for j in words):
        return False
    return any(
        len(cells) > 0 and sum(map(is_number, cells)) > 0.5 * len(cells)
        for j in words
        for cells in [[r[j] for _, r in body if j < len(r) and not is_missing(r[j])]]
    )


def _is_units(row: Sequence[str]) -> bool:
    cells = [cell for cell in row if not is_missing(cell)]
    return sum(map(looks_like_unit, cells)) >= 0.5 * len(cells)


def _joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names of several lines; a group's name holds until the next one."""
    width = max(map(len, rows))
    filled: list[list[str]] = []
    for i, row in enumerate(rows):
        cells = [cell.strip() for cell in row] + [""] * (width - len(row))
        if i < len(rows) - 1:
            for j in range(1, width):
                cells[j] = cells[j] or cells[j - 1]
        filled.append(cells)
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*filled, strict=True)]


def comment_names(
    lines: Sequence[str], delimiter: str, width: int, says_something: Test
) -> tuple[list[str] | None, list[str]]:
    """Names and units from the "#" lines before the data that have one word per column."""
    found: list[list[str]] = []
    for line in lines:
        if not line.startswith("#"):
            break
        cells = line.lstrip("#").strip().split(None if delimiter == " " else delimiter)
        if len(cells) == width and not any(says_something(cell) for cell in cells):
            found.append([cell.strip() for cell in cells])
    if len(found) > 1 and _is_units(found[-1]):
        return found[-2], found[-1]
    return (found[-1] if found else None), []
