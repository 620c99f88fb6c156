"""Rows that are not written as text with delimiters, as lines of CSV: JSON and sheets of Excel.

From there they are read like any other table: header, units, dates, marks of missing values. The
one home of openpyxl, which is optional.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time
from typing import Any

from robustfourier.errors import DataError, MissingDependencyError
from robustfourier.samples.text_streams import TextLines, require_proportion

_KEYS_FROM = 500  # objects whose keys name the columns
_DOCUMENT = 200_000_000  # characters of a JSON document that is held as a whole
_TABLE = 3  # rows that a sheet has at least, if it holds a table


def _as_lines(
    name: str, rows: Iterable[Sequence[Any]], digest: Callable[[], str], shift: int, note: str
) -> TextLines:
    """Rows, from the header on, as lines of CSV, one for each: breaks in cells become blanks."""
    return TextLines(name, map(_line, rows), digest, delimiter=",", shift=shift, notes=(note,))


def _line(row: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(
        [" ".join(cell.splitlines()) if isinstance(cell, str) else cell for cell in row]
    )
    return text.getvalue()


def is_json(head: bytes) -> bool:
    """Whether the first bytes are those of JSON."""
    start = head[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") or (start[:1] == b"[" and start[1:].lstrip()[:1] in (b"{", b"["))


def records_as_lines(source: TextLines) -> TextLines:
    """JSON of objects, one per line or in a list, or of columns, as lines of CSV."""
    lines = source.lines
    first = next((line for line in lines if line.strip()), "")
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict) and not any(isinstance(v, (list, dict)) for v in record.values()):
        numbered = ((number, line) for number, line in enumerate(lines, start=2) if line.strip())
        others = (_object(line, number, source.name) for number, line in numbered)
        rows = _as_rows(itertools.chain([record], others))
        return _as_lines(source.name, rows, source.digest, -1, "read as JSON lines")
    rows = _rows_of_document(itertools.chain([first], lines), source.name)
    return _as_lines(source.name, rows, source.digest, -1, "read as JSON")


def _object(line: str, number: int, name: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}, line {number}: is no JSON ({error}); correct the line") from None
    if not isinstance(record, dict):
        raise DataError(f"{name}, line {number}: is no JSON object, unlike the lines before it")
    return record


def _as_rows(records: Iterator[dict[str, Any]]) -> Iterator[list[Any]]:
    """Header and rows; keys that only appear late in a file are left out."""
    known = list(itertools.islice(records, _KEYS_FROM))
    keys = list(dict.fromkeys(key for record in known for key in record))
    yield keys
    for record in itertools.chain(known, records):
        yield [_cell(record.get(key)) for key in keys]


def _rows_of_document(lines: Iterator[str], name: str) -> Iterator[list[Any]]:
    text, size = [], 0
    for line in lines:
        text.append(line)
        size += len(line)
        if size > _DOCUMENT:
            raise DataError(
                f"{name}: is one JSON document of more than {_DOCUMENT:,} characters; write JSON "
                "lines, one object per line, or CSV"
            )
    try:
        document = json.loads("".join(text))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: is no valid JSON ({error}); fetch or export it again") from None
    return _rows_within(document, name)


def _rows_within(document: Any, name: str) -> Iterator[list[Any]]:
    """Rows of a list of objects or of lists, of columns, or of the one such thing within."""
    if isinstance(document, list) and document:
        if all(isinstance(each, dict) for each in document):
            return _as_rows(iter(document))
        if all(isinstance(each, list) for each in document):
            return ([_cell(cell) for cell in row] for row in document)
    if isinstance(document, dict):
        columns = {k: v for k, v in document.items() if isinstance(v, list)}
        flat = columns and not any(isinstance(c, (list, dict)) for v in columns.values() for c in v)
        if flat and len(columns) > 1 and len({len(v) for v in columns.values()}) == 1:
            cells = zip(*columns.values(), strict=True)
            return itertools.chain([list(columns)], ([_cell(c) for c in row] for row in cells))
        within = [v for v in document.values() if isinstance(v, (list, dict)) and v]
        if len(within) == 1:
            return _rows_within(within[0], name)
    raise DataError(
        f"{name}: is JSON without a table in it; give a list of objects with a time and a value "
        "each, one object per line, or lists of equal length"
    )


def _cell(value: Any) -> Any:
    """A cell as text; what is nested is written as JSON again."""
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def sheet_as_lines(
    content: bytes, unpacked: int, name: str, sheet: str | None, digest: Any
) -> TextLines:
    """One sheet of a workbook, by name or number; None finds the one that holds a table."""
    require_proportion(unpacked, len(content), name, "its sheets", "save the sheet as CSV")
    try:
        import openpyxl
    except ImportError:
        raise MissingDependencyError(
            f"{name}: is an Excel file, which needs openpyxl; install it with: "
            "pip install robustfourier[excel], or save the sheet as CSV"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that hold no cells
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    except Exception as error:  # openpyxl raises many kinds for a damaged file
        raise DataError(f"{name}: cannot be read as Excel ({error}); save it again") from None
    chosen = _chosen_sheet(book, name, sheet)
    several = f", one of {len(book.sheetnames)} (see --sheet)" if len(book.sheetnames) > 1 else ""
    return _as_lines(name, _sheet_rows(chosen), digest, 0, f"sheet {chosen.title!r}{several}")


def _chosen_sheet(book: Any, name: str, sheet: str | None) -> Any:
    """The sheet that is meant."""
    sheets = list(book.worksheets)
    listed = ", ".join(repr(each.title) for each in sheets[:12])
    if sheet is not None:
        wanted = sheet.strip()
        for each in sheets:
            if each.title.strip().lower() == wanted.lower():
                return each
        if wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
            return sheets[int(wanted) - 1]
        raise DataError(f"{name}: no sheet {sheet!r} (--sheet); there are {listed}")
    tables = [each for each in sheets if _holds_table(each)]
    if len(tables) == 1 or (tables and len(sheets) == 1):
        return tables[0]
    if not tables:
        raise DataError(f"{name}: no sheet holds a table of {_TABLE} rows; there are {listed}")
    options = ", ".join(repr(each.title) for each in tables[:12])
    raise DataError(f"{name}: {options} each hold a table; choose one with --sheet")


def _holds_table(sheet: Any) -> bool:
    filled = (row for row in _sheet_rows(sheet) if sum(cell != "" for cell in row) > 0)
    return len(list(itertools.islice(filled, _TABLE))) == _TABLE


def _sheet_rows(sheet: Any) -> Iterator[list[Any]]:
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # some programs write a size that is not that of the sheet
    width = 0
    for row in sheet.iter_rows(values_only=True) if hasattr(sheet, "iter_rows") else ():
        cells = [_sheet_cell(value) for value in row]
        while len(cells) > width and cells[-1] == "":
            cells.pop()
        width = max(width, len(cells))  # a row may end before the others do
        yield cells + [""] * (width - len(cells)) if any(cells) else cells


def _sheet_cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, (date, time)) else value
