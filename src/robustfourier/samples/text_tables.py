"""A text table of which the first rows are read: how it is written, which columns are meant.

Neither numpy nor pandas is loaded here: a missing file or column is reported at once.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from robustfourier.errors import DataError
from robustfourier.formatting import quoted
from robustfourier.samples.column_choice import Choice, choose_columns, speaks_of_time
from robustfourier.samples.date_text import is_time
from robustfourier.samples.dialect import (
    DELIMITERS,
    SAMPLE_LINES,
    Dialect,
    row_blocks,
    sniff,
    without_summary,
)
from robustfourier.samples.file_formats import format_of
from robustfourier.samples.number_parsing import (
    NumberFormat,
    common_unit,
    is_missing,
    is_number,
    to_numbers,
    without_unit,
)
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.text_streams import STDIN, Rows, TextLines, open_text

if TYPE_CHECKING:
    import pandas as pd

    from robustfourier.arrays import FloatArray
    from robustfourier.samples.time_columns import TimeReader
    from robustfourier.samples.wide_tables import Wide

#: Rows that are held as text at once.
BLOCK = 50_000

_KIND_CELLS = 200_000
_EIGHT = re.compile(r"(1[6-9]|2[01])\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])")
# What a column of row numbers is called where nobody gave it a name.
_NO_NAME = re.compile(r"column 1|(?i:unnamed: 0|index|rownames|row|x)?")


@dataclass
class TextTable:
    """A text table of which the first rows are read; the others follow once, in blocks."""

    source: TextLines
    dialect: Dialect  # how the table and its numbers are written
    #: what the cells of each column are: "number", "time", "clock", "text" or "empty"
    kinds: list[str]
    apart: list[int]  # columns that are neither times nor values: numbers of the rows
    head: Rows  # the first rows
    rest: Iterator[Rows]  # the others, in blocks
    #: the unit that stands beside the numbers of each column; empty where there is none
    measures: list[str]
    left: list[str]  # words for rows of sums below the table; known after the last row
    below: int = 0  # values "<1" of Google Trends
    streamed = True

    @property
    def name(self) -> str:
        """For messages."""
        return self.source.name

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.dialect.names)

    def digest(self) -> str:
        """SHA-256 of the file."""
        return self.source.digest()

    def unit(self, column: int) -> str:
        """Unit of a column, from a line of units or beside its numbers; empty if unknown."""
        return self.measures[column] or self.dialect.unit(column)

    def choose(
        self, options: ReadOptions, need_value: bool = True, apart: Sequence[int] = ()
    ) -> Choice:
        """The columns that are meant, but for those that are known to be apart."""
        wanted = options if options.rate is None else replace(options, time="1")
        apart = [*self.apart, *apart]
        return choose_columns(
            self.names, self.kinds, self.name, wanted, need_value=need_value, apart=apart
        )

    def require_one_series(self, choice: Choice) -> None:
        """Refuse a table whose rows are series unless one of them is chosen."""
        wide = self.dialect.wide
        if wide is not None and not choice.by:
            label, first = wide.labels[0], self.head[0][1][0]
            raise DataError(
                f"{self.name}: {wide.words}; choose one series, such as "
                f"--by {quoted(f'{label}={first}')}, or fit each with --by {quoted(label)} "
                "--out FOLDER"
            )

    def labelled(self, taken: set[int]) -> list[int]:
        """Columns that are not used, words first: they may tell series apart."""
        free = [j for j in range(len(self.names)) if j not in taken]
        return sorted(free, key=lambda j: is_number(self.head[0][1][j]))

    def blocks(self, columns: Sequence[int]) -> Iterator[pd.DataFrame]:
        """The texts of some columns, block by block, with the numbers of their lines."""
        for rows in itertools.chain([self.head], self.rest):
            yield _frame(rows, columns)

    def texts(self, block: pd.DataFrame, column: int) -> list[str]:
        """Cells of a column as labels."""
        return list(map(str.strip, block[column]))

    def numbers(self, block: pd.DataFrame, column: int) -> FloatArray:
        """A column as numbers, NaN where missing; what is none is an error with its line."""
        cells = block[column].tolist()
        if self.dialect.trends:  # whose "<1" lies between 0 and 1
            self.below += sum(cell.strip() == "<1" for cell in cells)
            cells = ["0.5" if cell.strip() == "<1" else cell for cell in cells]
        unit = self.measures[column]
        cells = without_unit(cells, unit) if unit else cells
        numbers, bad = to_numbers(cells, self.dialect.form)
        for i in bad[:1]:
            raise DataError(
                f"{self.name}, line {block.index[i]}, column {quoted(self.names[column])}: "
                f"{quoted(cells[i])} is no number{unit and f' in {unit}, as the others are'}; "
                "correct it, choose another column with --value, or, if it marks a missing value, "
                f"say --na {quoted(cells[i].strip())}"
            )
        return numbers

    def time_reader(self, choice: Choice, time_format: str) -> TimeReader:
        """What reads the times, block by block; the first rows decide how they are written."""
        from robustfourier.samples.time_columns import TimeReader

        column, form = self.names[choice.time], self.dialect.form
        reader = TimeReader(choice, column, self.name, time_format, form)
        reader.decide(_frame(self.head, choice.times))
        return reader

    def notes(self) -> list[str]:
        """What was taken for something else than it says, or left out."""
        notes = [*self.source.notes, *self.dialect.notes]
        if self.source.encoding not in ("utf-8", "utf-8-sig"):
            notes.append(f"text encoded as {self.source.encoding.upper()}")
        if self.below:
            notes.append(f'{self.below} values "<1" of Google Trends taken as 0.5')
        return notes + self.left


def _frame(rows: Rows, columns: Sequence[int]) -> pd.DataFrame:
    import pandas as pd

    cells = {j: [row[j] for _, row in rows] for j in columns}
    return pd.DataFrame(cells, [number for number, _ in rows], dtype=object)


def open_table(source: TextLines, options: ReadOptions, need_value: bool) -> TextTable:
    """Read the first rows and find out about the rest; a value is not always needed."""
    dialect, lines = sniff(source, options, need_value)
    left: list[str] = []
    rest = _body(lines, dialect, options.skip + source.shift, source.name, left)
    head = next((block for block in rest if block), None)
    if head is None:
        raise DataError(f"{source.name}: has a header but no rows; nothing to fit")
    some = head[: 5 + _KIND_CELLS // len(dialect.names)]
    columns = [[row[j] for _, row in some] for j in range(len(dialect.names))]
    kinds = [kind_of(cells, dialect.form) for cells in columns]
    measures = [
        common_unit(cells, dialect.form.missing) if kind == "text" else ""
        for cells, kind in zip(columns, kinds, strict=True)
    ]
    kinds = ["number" if unit else kind for unit, kind in zip(measures, kinds, strict=True)]
    if "clock" in kinds and "time" not in kinds:  # 20241231 is a date beside a time of day
        dated = [all(_EIGHT.fullmatch(cell.strip()) for cell in cells) for cells in columns]
        kinds = ["time" if k == "number" and d else k for k, d in zip(kinds, dated, strict=True)]
    apart = _row_numbers(dialect, kinds, columns[0])
    return TextTable(source, dialect, kinds, apart, head, rest, measures, left)


def check_columns(path: str | os.PathLike[str], **options: Any) -> None:
    """Raise the error of `read_samples` if the file or a column is not there, reading no further.

    A pipe, which can be read only once, and what is no text are left alone.
    """
    pipe = str(path) == STDIN or (os.path.exists(path) and not os.path.isfile(path))
    chosen = ReadOptions(**options)
    if not pipe and not (format_of(path) and os.path.exists(path)):
        with open_text(path, chosen.sheet) as source:
            open_table(source, chosen, need_value=True).choose(chosen)


def series_column(path: str | os.PathLike[str], **options: Any) -> str | None:
    """Return the column that tells the series of a wide table apart; None for other tables.

    A pipe, which can be read only once, is left alone.
    """
    wide = wide_table(path, ReadOptions(**options))
    return None if wide is None or any(wide.groups) else wide.labels[0]


def wide_table(path: str | os.PathLike[str], options: ReadOptions) -> Wide | None:
    """How a wide table is read; None for other tables, and for pipes."""
    if format_of(path) or not os.path.isfile(path):
        return None
    with open_text(path, options.sheet) as source:
        return sniff(source, options, need_value=True)[0].wide


def _body(
    lines: Iterable[str], dialect: Dialect, skip: int, name: str, left: list[str]
) -> Iterator[Rows]:
    """Rows of data in blocks, with line numbers of the whole file, each of the table's width."""
    wide = dialect.wide
    width = len(dialect.names) if wide is None else wide.width
    first = dialect.first
    sizes = itertools.chain([SAMPLE_LINES], itertools.repeat(BLOCK))
    blocks = row_blocks(lines, dialect.delimiter, name, sizes)
    for rows in without_summary(blocks, left):
        block = rows if rows and rows[0][0] >= first else [r for r in rows if r[0] >= first]
        if dialect.numbered:
            block = [(number, [dialect.row_time(number), *row]) for number, row in block]
        if skip:
            block = [(number + skip, row) for number, row in block]
        if {len(row) for _, row in block} - {width}:
            for number, row in block:
                # After a last delimiter an empty cell may stand.
                if len(row) != width and not (len(row) == width + 1 and not row[-1].strip()):
                    raise DataError(
                        f"{name}, line {number}: has {len(row)} columns instead of {width} "
                        f"(delimiter: {DELIMITERS[dialect.delimiter]}); correct the line, or "
                        "choose with --delimiter and --decimal"
                    )
        yield block if wide is None else list(wide.long_rows(block))


def kind_of(cells: list[str], form: NumberFormat) -> str:
    """What the cells of a column are, by the majority of those that are not missing."""
    known = [cell for cell in cells if not is_missing(cell, form.missing)]
    if not known:
        return "empty"
    numbers = sum(is_number(cell) or cell.strip() == "<1" for cell in known)
    if numbers >= 0.5 * len(known):
        return "number"
    dates = sum(is_time(cell) for cell in known)
    if dates < 0.5 * len(known):
        return "text"
    clock = all(":" in c and len(c.strip()) <= 15 and c.strip()[1:3].count(":") for c in known)
    return "clock" if clock else "time"


def _row_numbers(dialect: Dialect, kinds: list[str], cells: list[str]) -> list[int]:
    """The first column, if it only counts the rows and another column holds times.

    pandas and R write their tables with such a column unless asked not to.
    """
    rest = list(zip(dialect.names, kinds, strict=True))[1:]
    timed = any(k == "time" or (k == "number" and speaks_of_time(name)) for name, k in rest)
    if not (dialect.header and timed and _NO_NAME.fullmatch(dialect.names[0])):
        return []
    counted = [cell.strip() for cell in cells]
    return [0] if any(counted == [str(i + k) for i in range(len(counted))] for k in (0, 1)) else []
