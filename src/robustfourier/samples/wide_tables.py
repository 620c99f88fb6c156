"""Wide tables: rows are series, columns are times, such as genes × hours with replicates.

A header such as ``gene, ZT00_1, ZT00_2, ZT04_1, …`` or ``country, 1990, 1991, …`` tells times in
the names of columns. Such a table is read as the long one that says the same: a row for each cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from robustfourier.formatting import unit_called
from robustfourier.samples.columns import speaks_of_time
from robustfourier.samples.number_parsing import is_missing, is_number
from robustfourier.samples.text_streams import Rows

_COLUMNS, _TIMES = 5, 3  # columns of times, and different times among them, at least
_LABELS = 6  # columns before the times, at most
# What stands before a number that is a time, and the unit that it means.
_PREFIX = {"zt": "hour", "ct": "hour", "t": "", "tp": "", "time": "", "x": "", "": ""}
_COLUMN = re.compile(
    r"""(?P<group>.*?[_. -])??(?P<prefix>[^\W\d_]*)[_. -]?
        (?P<number>-?\d+(?:\.\d+)?)\s?(?P<unit>[^\W\d_]*)
        (?:[_. -]+(?:replicate|rep|r)?[_. -]?(?P<replicate>\d{1,2}|[A-Za-z]))?""",
    re.VERBOSE | re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{4}( .*)?")


@dataclass(frozen=True)
class Wide:
    """How a wide table is read."""

    labels: tuple[str, ...]  # names of the columns that say which series a row is
    times: tuple[str, ...]  # time of each column after these, as text
    #: what besides the time tells its columns apart, such as "WT"; empty where nothing does
    groups: tuple[str, ...]
    name: str  # name of the times, with their unit

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the long table."""
        group = ("group",) if any(self.groups) else ()
        return (*self.labels, *group, self.name, "value")

    @property
    def width(self) -> int:
        """Columns of the wide table."""
        return len(self.labels) + len(self.times)

    @property
    def words(self) -> str:
        """What was recognised."""
        different = len(set(self.times))
        copies = len(self.times) - different if not any(self.groups) else 0
        replicated = f" with {len(self.times) / different:.3g} replicates each" if copies else ""
        return f"a wide table: rows are series, columns are {different} times{replicated}"

    def long_rows(self, block: Rows) -> Iterator[tuple[int, list[str]]]:
        """A row for each cell, with the line that it stands in."""
        count, grouped = len(self.labels), any(self.groups)
        for number, row in block:
            series = row[:count]
            for group, time, value in zip(self.groups, self.times, row[count:], strict=False):
                yield number, [*series, *([group] if grouped else []), time, value]


def recognise_wide(first: Sequence[str], body: Rows) -> Wide | None:
    """How a table is read if its header and rows are those of a wide one; None if they are not.

    >>> header = ["gene", "ZT00_1", "ZT00_2", "ZT04_1", "ZT04_2", "ZT08_1"]
    >>> recognise_wide(header, [(2, ["Arntl", "1", "2", "3", "4", "5"])]).times
    ('00', '00', '04', '04', '08')
    """
    cells = [cell.strip() for cell in first]
    start = _first_time(cells)
    if not 1 <= start <= _LABELS or len(cells) - start < _COLUMNS or not body:
        return None
    labels = cells[:start]
    read = _times_of(cells[start:])
    if read is None or any(speaks_of_time(label) for label in labels):
        return None
    times, groups, name, explicit = read
    if len(set(times)) < _TIMES:
        return None
    rows = [row for _, row in body if len(row) == len(cells)]
    values = [cell for row in rows for cell in row[start:] if not is_missing(cell)]
    if not values or sum(map(is_number, values)) < 0.9 * len(values):
        return None
    if not explicit and sum(map(is_number, (row[0] for row in rows))) > 0.5 * len(rows):
        return None  # numbers above numbers, beside numbers: nothing says that these are times
    named = [label or f"column {i}" for i, label in enumerate(labels, start=1)]
    return Wide(tuple(named), tuple(times), tuple(groups), name)


def _first_time(cells: Sequence[str]) -> int:
    """Index of the column from which on all are times; that of the end if none is."""
    start = len(cells)
    while start and (_DATE.fullmatch(cells[start - 1]) or _COLUMN.fullmatch(cells[start - 1])):
        start -= 1
    return start


def _times_of(cells: Sequence[str]) -> tuple[list[str], list[str], str, bool] | None:
    """Times, groups, the name of the times, and whether more than bare numbers tell them."""
    if all(_DATE.fullmatch(cell) for cell in cells):
        return list(cells), [""] * len(cells), "date", True
    matches = [_COLUMN.fullmatch(cell) for cell in cells]
    if not all(matches):
        return None
    found = [match.groupdict("") for match in matches if match]
    prefixes = {each["prefix"].lower() for each in found}
    units = {each["unit"].lower() for each in found}
    if len(prefixes) > 1 or len(units) > 1:
        return None
    prefix, word = prefixes.pop(), units.pop()
    if (prefix not in _PREFIX and not unit_called(prefix)) or (word and not unit_called(word)):
        return None
    unit = unit_called(word) or _PREFIX.get(prefix, "") or unit_called(prefix)
    explicit = bool(unit) or prefix in ("time", "tp")
    groups = [each["group"].strip("_. -") for each in found]
    if any(groups) and not explicit:
        return None
    times = _without_copies([each["number"] for each in found])
    if (
        prefix in ("", "x")
        and not unit
        and all(re.fullmatch(r"1[5-9]\d\d|20\d\d", t) for t in times)
    ):
        return times, groups, "year", prefix == "x"
    return times, groups, f"time [{unit}]" if unit else "time", explicit


def _without_copies(numbers: list[str]) -> list[str]:
    """Times, where 18, 18.1 and 18.2 are three replicates of 18, as R names columns."""
    whole = {n for n in numbers if "." not in n}
    copies = [n for n in numbers if "." in n]
    known = all(n.partition(".")[0] in whole for n in copies)
    if not copies or not known or {n.partition(".")[2] for n in copies} >= set("123456789"):
        return numbers
    for n in whole:  # counted from 1 without a gap
        tails = sorted(c.partition(".")[2] for c in copies if c.partition(".")[0] == n)
        if tails != [str(i) for i in range(1, len(tails) + 1)]:
            return numbers
    return [n.partition(".")[0] for n in numbers]
