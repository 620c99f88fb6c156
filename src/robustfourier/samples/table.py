"""A text table of which the first rows are read: how it is written, which columns are meant.

Neither numpy nor pandas is loaded here: a missing file or column is told at once.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from robustfourier.errors import DataError
from robustfourier.samples.columns import Choice, choose_columns, parse_by, speaks_of_time
from robustfourier.samples.dialect import Dialect, Table, looks_like_time, row_blocks, sniff
from robustfourier.samples.source import STDIN, TextSource, open_text
from robustfourier.samples.tokens import MISSING, NumberFormat, is_missing, is_number

#: Rows that are held as text at once.
BLOCK = 50_000

_SAMPLE_LINES = 500
_SAMPLE_CHARACTERS = 1_000_000  # enough, if there are five lines among them
_KIND_CELLS = 200_000
_EIGHT = re.compile(r"(1[6-9]|2[01])\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])")
# What a column of row numbers is called where nobody gave it a name.
_NO_NAME = re.compile(r"column 1|(?i:unnamed: 0|index|rownames|row|x)?")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file, where it does not speak for itself.

    Parameters
    ----------
    time, value, error : str, optional
        Column names, or numbers starting at 1.
    delimiter, decimal : str, optional
        How the table is written; found by itself if None.
    skip : int
        Lines to leave out at the top.
    na : tuple of str
        Further marks of a missing value.
    missing, duplicates : str
        What to do about rows that lack something or repeat a time, see `cleaning`. If
        `duplicates` is not told, the mean is taken unless a column tells several series apart.
    by : tuple of str
        "column=label": take only the rows with this label, one series of a long table.
    time_format : str
        See `robustfourier.samples.times.TIME_FORMATS`.
    timezone : str, optional
        Zone of dates that name none.
    unit : str, optional
        Unit of numeric times, or the unit in which periods of dates are told.
    """

    time: str | None = None
    value: str | None = None
    error: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    skip: int = 0
    na: tuple[str, ...] = ()
    missing: str = "drop"
    duplicates: str | None = None
    by: tuple[str, ...] = ()
    time_format: str = "auto"
    timezone: str | None = None
    unit: str | None = None


@dataclass(frozen=True)
class OpenTable:
    """What the first rows tell, these rows, and those that follow.

    Parameters
    ----------
    dialect, form : Dialect and NumberFormat
        How the table and its numbers are written.
    kinds : list of str
        What the cells of each column are: "number", "time", "clock", "text" or "empty".
    choice : Choice
        The columns that are meant.
    by : list of pairs of int and str
        Columns and labels of the series that the user chose; a label may be None.
    head : Table
        The first rows.
    rest : iterator of Table
        The others, in blocks.
    """

    dialect: Dialect
    form: NumberFormat
    kinds: list[str]
    choice: Choice
    by: list[tuple[int, str | None]]
    head: Table
    rest: Iterator[Table]


def open_table(source: TextSource, asked: ReadOptions, need_value: bool) -> OpenTable:
    """Read the first rows and find out about the rest; a value is not always needed."""
    lines = itertools.islice(source.lines(), asked.skip, None)
    sample, complete = _sample(lines)
    dialect = sniff(
        sample,
        source.name,
        delimiter=asked.delimiter,
        decimal=asked.decimal,
        complete=complete,
        need_value=need_value,
    )
    rest = _body(itertools.chain(sample, lines), dialect, asked.skip, source.name)
    head = next((block for block in rest if block), None)
    if head is None:
        raise DataError(f"{source.name}: has a header but no rows; nothing to fit")
    missing = MISSING | {mark.strip().lower() for mark in asked.na}
    form = NumberFormat(dialect.decimal, dialect.grouped, missing)
    some = head[: 5 + _KIND_CELLS // len(dialect.names)]
    kinds = [_kind([row[j] for _, row in some], form) for j in range(len(dialect.names))]
    kinds = _dates_by_clock(kinds, some)
    by = parse_by(asked.by, dialect.names, source.name)
    choice = choose_columns(
        dialect.names,
        kinds,
        source.name,
        time=asked.time,
        value=asked.value,
        error=asked.error,
        need_value=need_value,
        apart=[*(j for j, _ in by), *_row_numbers(dialect, kinds, some)],
    )
    return OpenTable(dialect, form, kinds, choice, by, head, rest)


def check_columns(path: str | os.PathLike[str], **options: Any) -> None:
    """Raise the error of `read_samples` if the file or a column is not there, reading no further.

    A pipe, which can be read only once, is left alone.
    """
    pipe = str(path) == STDIN or (os.path.exists(path) and not os.path.isfile(path))
    if not pipe and not (is_parquet(path) and os.path.exists(path)):
        with open_text(path) as source:
            open_table(source, ReadOptions(**options), need_value=True)


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a Parquet file."""
    return str(path).lower().endswith((".parquet", ".pq"))


def table_names(source: TextSource, asked: ReadOptions) -> list[str]:
    """Return the names of the columns, whether or not it is clear which are meant."""
    sample, complete = _sample(itertools.islice(source.lines(), asked.skip, None))
    marks = {"delimiter": asked.delimiter, "decimal": asked.decimal}
    return list(sniff(sample, source.name, complete=complete, need_value=True, **marks).names)


def time_cells(block: Table, at: int, clock: int | None) -> list[str]:
    """Return the cells of a column of times, with the time of day from a column of its own."""
    cells = [row[at].strip() for _, row in block]
    if clock is None:
        return cells
    return [c and f"{c} {row[clock].strip()}" for c, (_, row) in zip(cells, block, strict=True)]


def _sample(lines: Iterator[str]) -> tuple[list[str], bool]:
    """First lines, and whether they are all there are."""
    sample: list[str] = []
    size = 0
    for line in lines:
        sample.append(line)
        size += len(line)
        if len(sample) >= _SAMPLE_LINES or (size > _SAMPLE_CHARACTERS and len(sample) >= 5):
            return sample, False
    return sample, True


def _body(lines: Iterable[str], dialect: Dialect, skip: int, name: str) -> Iterator[Table]:
    """Rows of data in blocks, with line numbers of the whole file, each of the table's width."""
    width = len(dialect.names)
    first = dialect.start + dialect.header
    sizes = itertools.chain([_SAMPLE_LINES], itertools.repeat(BLOCK))
    for rows in row_blocks(lines, dialect.delimiter, name, sizes):
        block = rows if rows and rows[0][0] >= first else [r for r in rows if r[0] >= first]
        if dialect.numbered:
            block = [(number, [str(number - first + 1), *row]) for number, row in block]
        if skip:
            block = [(number + skip, row) for number, row in block]
        if {len(row) for _, row in block} - {width}:
            for number, row in block:
                # After a last delimiter an empty cell may stand.
                if len(row) != width and not (len(row) == width + 1 and not row[-1].strip()):
                    raise DataError(
                        f"{name}, line {number}: has {len(row)} columns instead of {width} "
                        f"(delimiter: {dialect.delimiter_name}); correct the line, or choose with "
                        "--delimiter and --decimal"
                    )
        yield block


def _kind(cells: list[str], form: NumberFormat) -> str:
    """What the cells of a column are, by the majority of those that are not missing."""
    known = [cell for cell in cells if not is_missing(cell, form.missing)]
    if not known:
        return "empty"
    numbers = sum(is_number(cell) or cell.strip() == "<1" for cell in known)
    if numbers >= 0.5 * len(known):
        return "number"
    dates = sum(looks_like_time(cell) for cell in known)
    if dates < 0.5 * len(known):
        return "text"
    clock = all(":" in c and len(c.strip()) <= 15 and c.strip()[1:3].count(":") for c in known)
    return "clock" if clock else "time"


def _row_numbers(dialect: Dialect, kinds: list[str], head: Table) -> list[int]:
    """The first column, if it only counts the rows and another column holds times.

    pandas and R write their tables with such a column unless told otherwise.
    """
    rest = list(zip(dialect.names, kinds, strict=True))[1:]
    timed = any(k == "time" or (k == "number" and speaks_of_time(name)) for name, k in rest)
    if not (dialect.header and timed and _NO_NAME.fullmatch(dialect.names[0])):
        return []
    counted = [row[0].strip() for _, row in head]
    for start in (0, 1):
        if counted == [str(i) for i in range(start, start + len(counted))]:
            return [0]
    return []


def _dates_by_clock(kinds: list[str], head: Table) -> list[str]:
    """Kinds, with 20241231 as a date where a time of day stands in a column of its own."""
    if "clock" not in kinds or "time" in kinds:
        return kinds
    dated = [all(_EIGHT.fullmatch(row[j].strip()) for _, row in head) for j in range(len(kinds))]
    return ["time" if k == "number" and d else k for k, d in zip(kinds, dated, strict=True)]
