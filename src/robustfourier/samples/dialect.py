"""How a text table is written: delimiter, decimal mark, header, lines before it.

Each possible delimiter is tried on the first lines; the one under which most cells read as
numbers or dates, in rows of one length, wins. Where two readings are possible that give different
numbers ("1,234"), nothing is guessed: the error says how to tell us.
"""

from __future__ import annotations

import csv
import gc
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from robustfourier.errors import DataError
from robustfourier.samples.date_text import is_time
from robustfourier.samples.header import Rows, comment_names, split_header
from robustfourier.samples.number_parsing import is_missing, is_number
from robustfourier.samples.text_streams import quoted
from robustfourier.samples.units import split_unit
from robustfourier.samples.wide_tables import Wide, recognise_wide

#: Delimiters in the order in which a tie is decided; a space stands for any run of blanks.
DELIMITERS = ("\t", ";", ",", "|", " ")

#: Columns that a table may have.
MAX_COLUMNS = 10_000

_CELLS = 50_000  # cells that are looked at to find out how a table is written
_NAMES = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar", " ": "blanks"}

_TRENDS = re.compile(r"[^\W\d_]+:\s?\S.*")  # "Category: All categories", in any language
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_COMMA_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_POINT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3}){2,}")
_BOTH = re.compile(
    r"[+-]?\d{1,3}(?P<group>[.,])(\d{3}(?P=group))*\d{3}(?P<decimal>(?!(?P=group))[.,])\d*"
)


@dataclass(frozen=True)
class Dialect:
    """How a table is written."""

    delimiter: str  # one of `DELIMITERS`
    decimal: str  # ".", ","; decimal mark of its numbers
    grouped: bool  # whether the other mark sets thousands apart
    start: int  # number of the first line of the table, 1 at the top; the header if there is one
    names: tuple[str, ...]  # names of the columns; "column 1", ... where the table has none.
    header: bool  # whether the names were read from the table
    trends: bool = False  # whether this is an export of Google Trends, where "<1" is a value
    comment_header: bool = False  # whether the names stand behind a "#"
    preamble: bool = False  # whether lines of words stand before the table
    numbered: bool = False  # whether the first column is not in the file: it counts the rows from 1
    first: int = 0  # number of the line of the first row of data
    #: what a line below the names says of each column; empty if there is none
    units: tuple[str, ...] = ()
    rate: float | None = None  # samples per second of rows that are numbered
    #: how the table is made a long one, if its rows are series; `names` are those of the long one
    wide: Wide | None = None

    def row_time(self, line: int) -> str:
        """The time of a row that has none of its own: its number, or seconds at a known rate."""
        row = line - self.first
        return str(row + 1) if self.rate is None else repr(row / self.rate)

    def unit(self, column: int) -> str:
        """The unit that a line of its own tells of a column; empty if none does."""
        return self.units[column].strip(" []()") if column < len(self.units) else ""

    @property
    def delimiter_name(self) -> str:
        """The delimiter in words."""
        return _NAMES[self.delimiter]


def row_blocks(
    lines: Iterable[str], delimiter: str, name: str, sizes: Iterable[int]
) -> Iterator[Rows]:
    """Rows in blocks of the given sizes, each with the number of its (last) line.

    Blank rows and those that begin with "#" are left out.
    """
    if delimiter == " ":
        lines = (line.replace("\t", " ").strip() + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for size in sizes:
            before = reader.line_num
            with _without_collection():
                block = [
                    (reader.line_num, row)
                    for row in itertools.islice(reader, size)
                    if row and row[0][:1] != "#" and (row[0] or any(map(str.strip, row)))
                ]
            if reader.line_num == before:
                return
            yield block
    except csv.Error as error:
        raise DataError(
            f"{name}, line {reader.line_num}: cannot be split into columns ({error}); "
            "look for a quote that is not closed"
        ) from None


@contextmanager
def _without_collection() -> Iterator[None]:
    """Make many rows without looking for cycles among them, which takes longer than reading."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def sniff(
    lines: Sequence[str],
    name: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    complete: bool = True,
    need_value: bool = True,
) -> Dialect:
    """Find out how a table is written from its first lines.

    What the user knows of `delimiter` and `decimal` is taken as it is. An open quote at the end is
    an error only if the lines are the `complete` file. A single column is the value, with the
    number of the row as its time, if `need_value`, else the time. Where no delimiter gives columns
    of numbers, or numbers can be read in two ways, `DataError` says what to do.
    """
    if delimiter is not None and delimiter not in DELIMITERS:
        raise DataError(f"delimiter={delimiter!r} must be one of {', '.join(_NAMES.values())}")
    tried = DELIMITERS if delimiter is None else (delimiter,)
    tables = {d: _parse(lines, d, name, complete and delimiter is not None) for d in tried}
    chosen = max(tried, key=lambda d: _score(tables[d]))  # the first of equals
    table = tables[chosen]
    if _score(table) <= 0:
        if max(map(_width, tables.values())) > MAX_COLUMNS:
            raise DataError(f"{name}: more than {MAX_COLUMNS:,} columns; keep those that you need")
        if not table:
            table = _parse(lines, ",", name, complete)  # an open quote explains itself
        return _one_column(table, name, decimal, need_value)
    width = _width(table)
    start = _table_start(table, width, name, _NAMES[chosen])
    first = table[start]
    wide = recognise_wide(first[1], table[start + 1 :])
    if wide is not None:
        cells = [cell for _, row in table[start + 1 :] for cell in row[len(wide.labels) :]]
        mark, grouped = _decimal(cells[:_CELLS], name, decimal, chosen)
        line = table[start + 1][0]
        return Dialect(chosen, mark, grouped, first[0], wide.names, True, first=line, wide=wide)
    header, data = split_header(table[start:], _says_something)
    names, units = ([], []) if header is None else (header.names, header.units)
    comment = None
    if header is None:
        comment, units = comment_names(lines, chosen, len(data[0][1]), _says_something)
        names = comment or [""] * len(data[0][1])
    cells = [cell for _, row in data[: 1 + _CELLS // width] for cell in row]
    mark, grouped = _decimal(cells, name, decimal, chosen)
    return Dialect(
        delimiter=chosen,
        decimal=mark,
        grouped=grouped,
        start=table[start][0],
        names=tuple(name.strip() or f"column {i}" for i, name in enumerate(names, start=1)),
        header=header is not None,
        trends=_is_trends(lines),
        comment_header=comment is not None,
        preamble=start > 0,
        first=data[0][0] if data else table[-1][0] + 1,
        units=tuple(units),
    )


def _one_column(table: Rows, name: str, decimal: str | None, need_value: bool) -> Dialect:
    """A table of a single column: numbers without a time, or times alone."""
    cells = [row[0] for _, row in table]
    header = len(cells) > 1 and not _says_something(cells[0])
    body = cells[header:]
    readable = [is_number(c) or (is_time(c) and not need_value) for c in body]
    if not cells:
        raise DataError(f"{name}: holds no rows; a table with two columns is needed")
    if sum(readable) < 0.5 * len(body):
        raise DataError(
            f"{name}, line 1: only one column found in {quoted(cells[0])}; a time and a value "
            "column are needed, separated by comma, semicolon, tab, bar or blanks (see "
            "--delimiter)"
        )
    mark, grouped = _decimal(body, name, decimal, "\t")
    own = (cells[0].strip() or "value") if header else "column 1"
    names = ("row", own) if need_value else (own,)
    start = table[0][0]
    first = table[1][0] if header else start
    return Dialect("\t", mark, grouped, start, names, header, numbered=need_value, first=first)


def _parse(lines: Sequence[str], delimiter: str, name: str, strict: bool) -> Rows:
    table: Rows = []
    try:
        for block in row_blocks(lines, delimiter, name, itertools.repeat(1)):
            table += block
    except DataError:
        if strict:
            raise
        # The sample may end inside a quoted cell; the strict reading of all lines comes later.
    return table


def _width(table: Rows) -> int:
    """The commonest number of cells in a row; the larger of equals."""
    counts = Counter(len(row) for _, row in table)
    return max(counts, key=lambda width: (counts[width], width), default=0)


def _score(table: Rows) -> float:
    """Share of rows of the common width times share of their cells that say something."""
    width = _width(table)
    if not 2 <= width <= MAX_COLUMNS:
        return 0.0
    regular = [row for _, row in table if len(row) == width]
    body = regular[1 : 3 + _CELLS // width] if len(regular) > 1 else regular
    cells = [cell for row in body for cell in row]
    readable = sum(map(_says_something, cells)) / len(cells)
    # A table of words must still be found, so that its error can speak of words.
    return (len(regular) / len(table)) * (0.02 + readable)


def _table_start(table: Rows, width: int, name: str, delimiter: str) -> int:
    """Index of the first row of the table; rows of one cell before it are a preamble."""
    # A delimiter at the end of each row leaves an empty cell that the header may lack.
    trailing = all(not row[-1].strip() for _, row in table if len(row) == width)
    for i, (number, row) in enumerate(table):
        if len(row) == width or (len(row) == width - 1 and trailing):
            return i
        if len(row) > 1:
            raise DataError(
                f"{name}, line {number}: has {len(row)} columns where most rows have {width} "
                f"(delimiter: {delimiter}); make the rows alike or skip lines with --skip"
            )
    raise AssertionError("the common width is that of some row")


def _says_something(cell: str) -> bool:
    return is_number(cell) or is_time(cell) or is_missing(cell)


def _is_trends(lines: Sequence[str]) -> bool:
    """Google Trends exports begin with one ``Category: …`` line and an empty one."""
    if len(lines) < 3:
        return False
    return bool(_TRENDS.fullmatch(lines[0].strip())) and not lines[1].strip()


def _decimal(cells: list[str], name: str, given: str | None, delimiter: str) -> tuple[str, bool]:
    """Decimal mark, and whether thousands are set apart, from the cells that prove it."""
    texts = [split_unit(cell)[0] for cell in cells]
    both = {m["decimal"] for text in texts if (m := _BOTH.fullmatch(text))}
    comma = any(_COMMA.fullmatch(t) and not _COMMA_GROUPS.fullmatch(t) for t in texts)
    point = any(_POINT.fullmatch(t) for t in texts)
    comma_groups = [t for t in texts if _COMMA_GROUPS.fullmatch(t)]
    many_groups = any(t.count(",") > 1 for t in comma_groups)
    point_groups = any(_POINT_GROUPS.fullmatch(t) for t in texts)
    if given is not None:
        other_groups = comma_groups if given == "." else point_groups
        return given, bool(both) or bool(other_groups)
    says_comma = comma or "," in both or point_groups
    says_point = point or "." in both or many_groups
    if says_comma and says_point:
        signs = (_COMMA, _BOTH, _POINT_GROUPS)
        example = next(t for t in texts if any(sign.fullmatch(t) for sign in signs))
        raise DataError(
            f"{name}: numbers are written with decimal points and with decimal commas "
            f"(such as {quoted(example)}); make them alike or say which with --decimal"
        )
    if says_comma:
        return ",", bool(both) or point_groups
    if comma_groups and not (both or many_groups or delimiter == ","):
        raise DataError(
            f"{name}: {quoted(comma_groups[0])} could be a decimal comma or a thousands mark; "
            "say --decimal , or --decimal ."
        )
    # Between commas, "6,743" stands in quotes: so do thousands in the exports of spreadsheets.
    return ".", bool(both) or bool(comma_groups)
