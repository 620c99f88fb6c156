"""How a text table is written: delimiter, decimal mark, header, lines before and after the rows.

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
from dataclasses import dataclass, replace

from robustfourier.errors import DataError
from robustfourier.formatting import quoted
from robustfourier.samples.date_text import is_time
from robustfourier.samples.number_parsing import (
    MISSING,
    NumberFormat,
    is_missing,
    is_number,
    looks_like_unit,
    split_unit,
)
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.text_streams import Rows, TextLines
from robustfourier.samples.wide_tables import Wide, recognise_wide

#: Delimiters in the order in which a tie is decided; a space stands for any run of blanks.
DELIMITERS = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar", " ": "blanks"}
#: Columns that a table may have.
MAX_COLUMNS = 10_000
#: Lines that are looked at to find out how a table is written …
SAMPLE_LINES = 500
_SAMPLE_CHARACTERS = 1_000_000  # … or so many characters, if there are five lines among them …
_CELLS = 50_000  # … or cells
_HEADER_ROWS = 4  # at most
_SUMMARY_ROWS = 8  # below a table, at most

_SEP = re.compile(r"\ufeff?\"?sep=(?P<mark>[,;|\t ])\"?\s*", re.IGNORECASE)  # of spreadsheets
_TOA5 = re.compile(r'\ufeff?"?TO[AB]\d"?,')  # first line of a Campbell logger
_TRENDS = re.compile(r"[^\W\d_]+:\s?\S.*")  # "Category: All categories", in any language
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_COMMA_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_POINT_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3}){2,}")
_BOTH = re.compile(
    r"[+-]?\d{1,3}(?P<group>[.,])(\d{3}(?P=group))*\d{3}(?P<decimal>(?!(?P=group))[.,])\d*"
)
_SUMMARY = frozenset(
    """total totals sum subtotal mean average avg median min max minimum maximum std stdev count
    summe gesamt mittel mittelwert anzahl moyenne somme total: sum: mean: average: suma promedio
    media totale somma média soma totaal gemiddelde
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Dialect:
    """How a table is written."""

    delimiter: str  # one of `DELIMITERS`
    form: NumberFormat  # how its numbers are written
    names: tuple[str, ...]  # names of the columns; "column 1", ... where the table has none
    first: int  # number of the line of the first row of data, 1 at the top
    header: bool = False  # whether a row of the table names the columns
    units: tuple[str, ...] = ()  # what a line of its own says of each column; empty if none does
    trends: bool = False  # whether this is an export of Google Trends, where "<1" is a value
    numbered: bool = False  # whether the first column is not in the file: it counts the rows from 1
    rate: float | None = None  # samples per second of rows that are numbered
    #: how the table is made a long one, if its rows are series; `names` are those of the long one
    wide: Wide | None = None
    notes: tuple[str, ...] = ()  # what was taken for granted

    def row_time(self, line: int) -> str:
        """The time of a row that has none of its own: its number, or seconds at a known rate."""
        row = line - self.first
        return str(row + 1) if self.rate is None else repr(row / self.rate)

    def unit(self, column: int) -> str:
        """The unit that a line of its own tells of a column; empty if none does."""
        return self.units[column].strip(" []()") if column < len(self.units) else ""


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
    source: TextLines, options: ReadOptions, need_value: bool
) -> tuple[Dialect, Iterator[str]]:
    """How a table is written, and all of its lines.

    What the user knows of delimiter and decimal mark is taken as it is. A single column is the
    value, with the number of the row as its time, if `need_value`, else the time. Where no
    delimiter gives columns of numbers, or numbers can be read in two ways, `DataError` says what to
    do.
    """
    lines = itertools.islice(source.lines, options.skip, None)
    sample, complete = _sample(lines)
    delimiter = options.delimiter or source.delimiter
    if sample and (mark := _SEP.fullmatch(sample[0])):
        delimiter, sample[0] = options.delimiter or mark["mark"], "\n"
    if sample and _TOA5.match(sample[0]):
        sample[0] = "\n"
    if delimiter is not None and delimiter not in DELIMITERS:
        listed = ", ".join(DELIMITERS.values())
        raise DataError(f"delimiter={delimiter!r} must be one of {listed}")
    tried = tuple(DELIMITERS) if delimiter is None else (delimiter,)
    # An open quote at the end is an error only if the lines are the whole file.
    strict = complete and delimiter is not None
    tables = {d: _parse(sample, d, source.name, strict) for d in tried}
    chosen = max(tried, key=lambda d: _score(tables[d]))  # the first of equals
    table = tables[chosen]
    if _score(table) > 0:
        found = _columns(sample, table, chosen, source.name, options)
    elif max(map(_width, tables.values())) > MAX_COLUMNS:
        raise DataError(
            f"{source.name}: more than {MAX_COLUMNS:,} columns; keep those that you need"
        )
    else:
        table = table or _parse(sample, ",", source.name, complete)  # an open quote explains itself
        found = _one_column(table, source.name, options, need_value)
    if options.rate is not None:
        names = ("time [s]", *found.names[found.numbered :])
        units = ("", *found.units) if found.units else ()
        found = replace(found, names=names, numbered=True, rate=options.rate, units=units)
    return replace(found, notes=_notes(found, options)), itertools.chain(sample, lines)


def _sample(lines: Iterator[str]) -> tuple[list[str], bool]:
    """First lines, and whether they are all there are."""
    sample: list[str] = []
    size = 0
    for line in lines:
        sample.append(line)
        size += len(line)
        if len(sample) >= SAMPLE_LINES or (size > _SAMPLE_CHARACTERS and len(sample) >= 5):
            return sample, False
    return sample, True


def _columns(
    lines: Sequence[str], table: Rows, delimiter: str, name: str, options: ReadOptions
) -> Dialect:
    """A table of several columns; its note, if it has one, tells of lines before it."""
    width = _width(table)
    start = _table_start(table, width, name, delimiter)
    number, first = table[start]
    wide = recognise_wide(first, table[start + 1 :])
    if wide is not None:
        cells = [cell for _, row in table[start + 1 :] for cell in row[len(wide.labels) :]]
        form = _number_format(cells[:_CELLS], name, options, delimiter)
        return Dialect(delimiter, form, wide.names, table[start + 1][0], header=True, wide=wide)
    names, units, data = _split_header(table[start:])
    header = names is not None
    if names is None:
        names, units = _comment_names(lines, delimiter, len(first))
    cells = [cell for _, row in data[: 1 + _CELLS // width] for cell in row]
    # Google Trends begins with one ``Category: …`` line and an empty one.
    trends = len(lines) > 2 and bool(_TRENDS.fullmatch(lines[0].strip())) and not lines[1].strip()
    preamble = f"lines before line {number} are no part of the table"
    return Dialect(
        delimiter,
        _number_format(cells, name, options, delimiter),
        tuple(each.strip() or f"column {i}" for i, each in enumerate(names, start=1)),
        data[0][0] if data else table[-1][0] + 1,
        header=header,
        units=tuple(units),
        trends=trends,
        notes=(preamble,) if start > 0 else (),
    )


def _one_column(table: Rows, name: str, options: ReadOptions, need_value: bool) -> Dialect:
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
    own = (cells[0].strip() or "value") if header else "column 1"
    names = ("row", own) if need_value else (own,)
    form = _number_format(body, name, options, "\t")
    return Dialect("\t", form, names, table[header][0], header=header, numbered=need_value)


def _notes(found: Dialect, options: ReadOptions) -> tuple[str, ...]:
    notes = [] if found.wide is None else [found.wide.words]
    if found.delimiter != "," and options.delimiter is None and not found.numbered:
        notes.append(f"columns separated by {DELIMITERS[found.delimiter]}")
    if found.form.decimal == "," and options.decimal is None:
        notes.append("numbers written with decimal commas")
    if found.form.grouped:
        mark = "points" if found.form.decimal == "," else "commas"
        notes.append(f"thousands set apart by {mark}")
    if found.rate is not None:
        notes.append(f"rows taken as {found.rate:g} samples per second")
    elif found.numbered:
        notes.append("one column only: its rows, counted from 1, are taken as times")
    elif not found.header and found.names[0] == "column 1":
        notes.append("no header line: columns are numbered")
    notes += ["recognised as an export of Google Trends"] if found.trends else found.notes
    if units := [unit for unit in found.units if unit]:
        notes.append(f"units read from a line of their own: {', '.join(units[:6])}")
    return tuple(notes)


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
                f"(delimiter: {DELIMITERS[delimiter]}); make the rows alike or skip lines with "
                "--skip"
            )
    raise AssertionError("the common width is that of some row")


def _says_something(cell: str) -> bool:
    return is_number(cell) or is_time(cell) or is_missing(cell)


def _number_format(
    cells: list[str], name: str, options: ReadOptions, delimiter: str
) -> NumberFormat:
    """Decimal mark, and whether thousands are set apart, from the cells that prove it."""
    missing = MISSING | {mark.strip().lower() for mark in options.na}
    texts = [split_unit(cell)[0] for cell in cells]
    both = {m["decimal"] for text in texts if (m := _BOTH.fullmatch(text))}
    comma = any(_COMMA.fullmatch(t) and not _COMMA_GROUPS.fullmatch(t) for t in texts)
    point = any(_POINT.fullmatch(t) for t in texts)
    comma_groups = [t for t in texts if _COMMA_GROUPS.fullmatch(t)]
    many_groups = any(t.count(",") > 1 for t in comma_groups)
    point_groups = any(_POINT_GROUPS.fullmatch(t) for t in texts)
    if options.decimal is not None:
        groups = bool(comma_groups) if options.decimal == "." else point_groups
        return NumberFormat(options.decimal, bool(both) or groups, missing)
    says_comma = comma or "," in both or point_groups
    if says_comma and (point or "." in both or many_groups):
        signs = (_COMMA, _BOTH, _POINT_GROUPS)
        example = next(t for t in texts if any(sign.fullmatch(t) for sign in signs))
        raise DataError(
            f"{name}: numbers are written with decimal points and with decimal commas "
            f"(such as {quoted(example)}); make them alike or say which with --decimal"
        )
    if says_comma:
        return NumberFormat(",", bool(both) or point_groups, missing)
    if comma_groups and not (both or many_groups or delimiter == ","):
        raise DataError(
            f"{name}: {quoted(comma_groups[0])} could be a decimal comma or a thousands mark; "
            "say --decimal , or --decimal ."
        )
    # Between commas, "6,743" stands in quotes: so do thousands in the exports of spreadsheets.
    return NumberFormat(".", bool(both) or bool(comma_groups), missing)


# Headers. Loggers write names, units and the kind of average in three lines (TOA5), databases put
# units behind names, and spreadsheets name groups of columns above the columns themselves.


def _split_header(table: Rows) -> tuple[list[str] | None, list[str], Rows]:
    """Names and units from the rows of words above numbers, times or missing cells; the others."""
    if not _names_columns(table[0][1], table[1:]):
        return None, [], table
    count = 1
    while count < min(_HEADER_ROWS, len(table) - 1) and _goes_on(table, count):
        count += 1
    rows = [row for _, row in table[:count]]
    units = next((i for i in range(1, count) if _is_units(rows[i])), count)
    names = rows[0] if units == 1 else _joined(rows[:units])
    below = [cell.strip() for cell in (rows[units] if units < count else [])]
    padded = below[: len(names)] + [""] * (len(names) - len(below))
    return names, ["" if is_missing(c) else c for c in padded], table[count:]


def _names_columns(first: list[str], body: Rows) -> bool:
    words = [j for j, cell in enumerate(first) if not _says_something(cell)]
    for j in words:
        column = _known(body, j)
        if not column or any(map(_says_something, column)):
            return True
    return len(words) == len(first)


def _goes_on(table: Rows, count: int) -> bool:
    """Whether a row below a header belongs to it: words alone, of which one is above numbers."""
    row, body = table[count][1], table[count + 1 :]
    words = [j for j, cell in enumerate(row) if not is_missing(cell)]
    if not words or any(is_number(row[j]) or row[j].strip()[:1].isdecimal() for j in words):
        return False
    columns = [column for j in words if (column := _known(body, j))]
    return any(sum(map(is_number, column)) > 0.5 * len(column) for column in columns)


def _known(body: Rows, j: int) -> list[str]:
    return [row[j] for _, row in body if j < len(row) and not is_missing(row[j])]


def _is_units(row: Sequence[str]) -> bool:
    cells = [cell for cell in row if not is_missing(cell)]
    return sum(map(looks_like_unit, cells)) >= 0.5 * len(cells)


def _joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names of several lines; a group's name holds until the next one."""
    width = max(map(len, rows))
    filled = [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in rows]
    for cells in filled[:-1]:
        for j in range(1, width):
            cells[j] = cells[j] or cells[j - 1]
    return [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*filled, strict=True)]


def _comment_names(lines: Sequence[str], delimiter: str, width: int) -> tuple[list[str], list[str]]:
    """Names and units from the "#" lines before the data that have one word per column."""
    found: list[list[str]] = []
    for line in itertools.takewhile(lambda line: line.startswith("#"), lines):
        cells = line.lstrip("#").strip().split(None if delimiter == " " else delimiter)
        if len(cells) == width and not any(map(_says_something, cells)):
            found.append([cell.strip() for cell in cells])
    if len(found) > 1 and _is_units(found[-1]):
        return found[-2], found[-1]
    return (found[-1] if found else [""] * width), []


def without_summary(blocks: Iterable[Rows], left: list[str]) -> Iterator[Rows]:
    """Blocks of rows without the sums and means that follow the last sample.

    Such a row has a word like "Total" where those before it have numbers or times; what is left
    out is added to `left`, in words.
    """
    held: Rows | None = None
    for block in blocks:
        if held is not None:
            yield held
        held = block
    if held is None:
        return
    for _ in range(_SUMMARY_ROWS):
        if len(held) < 2 or not (word := _summary_word(held)):
            break
        left.append(f"the row {word!r} below the table (line {held[-1][0]}) is no sample: left out")
        held = held[:-1]
    yield held


def _summary_word(rows: Rows) -> str:
    """The first word of a sum in the last row, if it stands below numbers or times."""
    at = [j for j, cell in enumerate(rows[-1][1]) if cell.strip().lower() in _SUMMARY]
    above = [row for _, row in rows[-_SUMMARY_ROWS:-1]]
    below = any(j < len(r) and (is_number(r[j]) or is_time(r[j])) for j in at for r in above)
    return rows[-1][1][at[0]].strip() if below else ""
