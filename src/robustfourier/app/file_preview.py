"""The first rows of a file, as they are read, for the eyes of the user."""

from __future__ import annotations

import html
import itertools
import re
import zipfile
from pathlib import Path
from typing import Any

from robustfourier.errors import RobustFourierError
from robustfourier.samples.dialect import row_blocks, sniff
from robustfourier.samples.file_formats import format_of, read_frame
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.text_streams import open_text

_BOOK = "xl/workbook.xml"  # the part of an Excel file that lists its sheets …
_BOOK_BYTES = 1 << 20  # … which are few
_ROWS = 6
_COLUMNS = 12
_CELL = 60  # characters


def preview(path: Path, reading: dict[str, Any]) -> dict[str, Any]:
    """Return the names of columns and the first rows; plain lines where no table is seen.

    `reading` are options of `read_samples`; those that choose columns do not matter here.
    """
    how = ("delimiter", "decimal", "skip", "sheet", "na", "rate")
    asked = ReadOptions(**{name: reading[name] for name in how if name in reading})
    try:
        names, rows = _table(path, asked)
    except RobustFourierError:
        names, rows = [], _lines(path, asked.sheet)
    cells = [[str(cell)[:_CELL] for cell in row[:_COLUMNS]] for row in rows]
    shown = {"columns": names, "head": names[:_COLUMNS], "rows": cells}
    return {**shown, "sheets": sheet_names(path)}


def sheet_names(path: Path) -> list[str]:
    """Names of the sheets of an Excel file; none of other files."""
    try:
        with zipfile.ZipFile(path) as book, book.open(_BOOK) as part:
            text = part.read(_BOOK_BYTES).decode("utf-8", "replace")
    except (OSError, KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return []
    return [html.unescape(name) for name in re.findall(r'<sheet [^>]*?name="([^"]*)"', text)]


def _table(path: Path, asked: ReadOptions) -> tuple[list[str], list[list[Any]]]:
    kind = format_of(path)
    if kind == "parquet":
        from robustfourier.samples.typed_tables import opened_parquet

        with opened_parquet(path, asked) as table:
            first = next(table.frames(range(len(table.names)))).head(_ROWS)
        return [str(name) for name in first.columns], first.to_numpy(object).tolist()
    if kind:
        frame = read_frame(path, kind, asked).frame
        return [str(name) for name in frame.columns], frame.head(_ROWS).to_numpy(object).tolist()
    with open_text(path, asked.sheet) as source:
        dialect, lines = sniff(source, asked, need_value=True)
        sizes = [_ROWS + dialect.first]
        every = next(row_blocks(lines, dialect.delimiter, source.name, sizes), [])
    body = [(number, row) for number, row in every if number >= dialect.first]
    if dialect.wide is not None:
        body = list(dialect.wide.long_rows(body))
    rows = [row for _, row in body[:_ROWS]]
    if dialect.numbered:
        rows = [[dialect.row_time(dialect.first + i), *row] for i, row in enumerate(rows)]
    return list(dialect.names), rows


def _lines(path: Path, sheet: str | None) -> list[list[str]]:
    """The first lines of a text, whatever they are; none if it is no text."""
    try:
        with open_text(path, sheet) as source:
            return [[line.rstrip("\n")] for line in itertools.islice(source.lines, _ROWS)]
    except RobustFourierError:
        return []
