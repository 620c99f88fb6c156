"""How a text table is written: delimiter, decimal mark, header, lines before it.

Each possible delimiter is tried on the first lines; the one under which most cells read as
numbers or dates, in rows of one length, wins. Where two readings are possible that give different
numbers ("1,234"), nothing is guessed: the error says how to tell us.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from robustfourier.errors import DataError
from robustfourier.samples.source import quoted
from robustfourier.samples.tokens import is_missing, is_number

__all__ = ["DELIMITERS", "Dialect", "Row", "looks_like_time", "rows", "sniff"]

Row = tuple[int, list[str]]
Table = list[Row]

#: Delimiters in the order in which a tie is decided; a space stands for any run of blanks.
DELIMITERS = ("\t", ";", ",", "|", " ")

_NAMES = {"\t": "tab", ";": "semicolon", ",": "comma", "|": "bar", " ": "blanks"}

_TIME = re.compile(
    r"""\d{4}-\d{1,2}(-\d{1,2})?([T ].*)?(Z|[+-]\d\d:?\d\d)?   # ISO
      | \d{1,4}[./-]\d{1,2}[./-]\d{1,4}([T, ].*)?              # 31.12.2020, 12/31/2020
      | \d{1,2}[ -][^\W\d_]{3,9}\.?[ -]\d{2,4}(\ .*)?          # 31 Dec 2020
      | [^\W\d_]{3,9}\.?\ \d{1,2},?\ \d{4}(\ .*)?              # Dec 31, 2020
      | \d{1,2}:\d\d(:\d\d(\.\d*)?)?(\ ?[AaPp][Mm])?           # 13:45
    """,
    re.VERBOSE,
)
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
    """How a table is written.

    Parameters
    ----------
    delimiter : str
        One of `DELIMITERS`.
    decimal : {".", ","}
        Decimal mark of its numbers.
    grouped : bool
        Whether the other mark sets thousands apart.
    start : int
        Number of the first line of the table, 1 at the top; the header if there is one.
    names : tuple of str
        Names of the columns; "column 1", ... where the table has none.
    header : bool
        Whether the names were read from the table.
    trends : bool
        Whether this is an export of Google Trends, where "<1" is a value.
    comment_header : bool
        Whether the names stand behind a "#".
    preamble : bool
        Whether lines of words stand before the table.
    """

    delimiter: str
    decimal: str
    grouped: bool
    start: int
    names: tuple[str, ...]
    header: bool
    trends: bool = False
    comment_header: bool = False
    preamble: bool = False

    @property
    def delimiter_name(self) -> str:
        """The delimiter in words."""
        return _NAMES[self.delimiter]


def looks_like_time(cell: str) -> bool:
    """Whether a cell could be a date or a time of day."""
    return bool(_TIME.fullmatch(cell.strip()))


def rows(lines: Iterable[str], delimiter: str, name: str) -> Iterator[Row]:
    """Number of the (last) line and cells of each row; blank and "#" lines are left out."""
    if delimiter == " ":
        lines = (line.replace("\t", " ").strip() + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if row and not row[0].startswith("#") and (row[0] or any(map(str.strip, row))):
                yield reader.line_num, row
    except csv.Error as error:
        raise DataError(
            f"{name}, line {reader.line_num}: cannot be split into columns ({error}); "
            "look for a quote that is not closed"
        ) from None


def sniff(
    lines: Sequence[str],
    name: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    complete: bool = True,
) -> Dialect:
    """Find out how a table is written from its first lines.

    Parameters
    ----------
    lines : sequence of str
        The first lines, from the top.
    name : str
        The source's name, for errors.
    delimiter, decimal : str, optional
        What the user already knows.
    complete : bool
        Whether `lines` is the whole file: only then is an open quote at its end an error.

    Returns
    -------
    Dialect

    Raises
    ------
    DataError
        If no delimiter gives at least two columns or numbers can be read in two ways.
    """
    if delimiter is not None and delimiter not in DELIMITERS:
        raise DataError(f"delimiter={delimiter!r} must be one of {', '.join(_NAMES.values())}")
    tried = DELIMITERS if delimiter is None else (delimiter,)
    tables = {d: _parse(lines, d, name, complete and delimiter is not None) for d in tried}
    chosen = max(tried, key=lambda d: _score(tables[d]))  # the first of equals
    table = tables[chosen]
    if _score(table) <= 0:
        first = next((line.strip() for line in lines if line.strip()), "")
        if not table:
            table = _parse(lines, ",", name, complete)  # an open quote explains itself
        if not table:
            raise DataError(f"{name}: holds no rows; a table with two columns is needed")
        raise DataError(
            f"{name}, line 1: only one column found in {quoted(first)}; a time and a value column "
            "are needed, separated by comma, semicolon, tab, bar or blanks (see --delimiter)"
        )
    width = _width(table)
    start = _table_start(table, width, name, _NAMES[chosen])
    header, data = _split_header(table[start:])
    comment = None if header else _comment_names(lines, chosen, len(data[0][1]))
    names = header or comment or [""] * len(data[0][1])
    mark, grouped = _decimal([cell for _, row in data for cell in row], name, decimal)
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
    )


def _parse(lines: Sequence[str], delimiter: str, name: str, strict: bool) -> Table:
    table: Table = []
    try:
        table.extend(rows(lines, delimiter, name))
    except DataError:
        if strict:
            raise
        # The sample may end inside a quoted cell; the strict reading of all lines comes later.
    return table


def _width(table: Table) -> int:
    """The commonest number of cells in a row; the larger of equals."""
    counts = Counter(len(row) for _, row in table)
    return max(counts, key=lambda width: (counts[width], width), default=0)


def _score(table: Table) -> float:
    """Share of rows of the common width times share of their cells that say something."""
    width = _width(table)
    if width < 2:
        return 0.0
    regular = [row for _, row in table if len(row) == width]
    body = regular[1:] if len(regular) > 1 else regular
    cells = [cell for row in body for cell in row]
    readable = sum(
        is_number(cell) or looks_like_time(cell) or is_missing(cell) for cell in cells
    ) / len(cells)
    # A table of words must still be found, so that its error can speak of words.
    return (len(regular) / len(table)) * (0.02 + readable)


def _table_start(table: Table, width: int, name: str, delimiter: str) -> int:
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


def _split_header(table: Table) -> tuple[list[str] | None, Table]:
    """Take off the first row if it names columns: a word above numbers or dates."""
    first, body = table[0][1], table[1:]
    words = [j for j, cell in enumerate(first) if not _says_something(cell)]
    for j in words:
        column = [row[j] for _, row in body if j < len(row) and not is_missing(row[j])]
        if not body or not column or any(_says_something(cell) for cell in column):
            return first, body
    return (first, body) if len(words) == len(first) else (None, table)


def _says_something(cell: str) -> bool:
    return is_number(cell) or looks_like_time(cell) or is_missing(cell)


def _comment_names(lines: Sequence[str], delimiter: str, width: int) -> list[str] | None:
    """Names from the last "#" line before the data, if it has one word per column."""
    names: list[str] | None = None
    for line in lines:
        if not line.startswith("#"):
            break
        cells = line.lstrip("#").strip().split(None if delimiter == " " else delimiter)
        if len(cells) == width and not any(_says_something(cell) for cell in cells):
            names = [cell.strip() for cell in cells]
    return names


def _is_trends(lines: Sequence[str]) -> bool:
    """Google Trends exports begin with one ``Category: …`` line and an empty one."""
    if len(lines) < 3:
        return False
    return bool(_TRENDS.fullmatch(lines[0].strip())) and not lines[1].strip()


def _decimal(cells: list[str], name: str, told: str | None) -> tuple[str, bool]:
    """Decimal mark, and whether thousands are set apart, from the cells that prove it."""
    texts = [cell.strip() for cell in cells]
    both = {m["decimal"] for text in texts if (m := _BOTH.fullmatch(text))}
    comma = any(_COMMA.fullmatch(t) and not _COMMA_GROUPS.fullmatch(t) for t in texts)
    point = any(_POINT.fullmatch(t) for t in texts)
    comma_groups = [t for t in texts if _COMMA_GROUPS.fullmatch(t)]
    many_groups = any(t.count(",") > 1 for t in comma_groups)
    point_groups = any(_POINT_GROUPS.fullmatch(t) for t in texts)
    if told is not None:
        if told not in (".", ","):
            raise DataError(f"decimal={told!r} must be '.' or ','")
        other_groups = comma_groups if told == "." else point_groups
        return told, bool(both) or bool(other_groups)
    says_comma = comma or "," in both or point_groups
    says_point = point or "." in both or many_groups
    if says_comma and says_point:
        example = next(t for t in texts if _COMMA.fullmatch(t) or _BOTH.fullmatch(t))
        raise DataError(
            f"{name}: numbers are written with decimal points and with decimal commas "
            f"(such as {quoted(example)}); make them alike or say which with --decimal"
        )
    if says_comma:
        return ",", bool(both) or point_groups
    if comma_groups and not (both or many_groups):
        raise DataError(
            f"{name}: {quoted(comma_groups[0])} could be a decimal comma or a thousands mark; "
            "say --decimal , or --decimal ."
        )
    return ".", bool(both) or many_groups
