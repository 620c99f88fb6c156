"""Sheets of Excel (.xlsx) as rows of text; the one home of openpyxl, which is optional."""

from __future__ import annotations

import io
import itertools
import warnings
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from robustfourier.errors import DataError, MissingDependencyError
from robustfourier.samples.budget import require_proportion
from robustfourier.samples.json_tables import RowSource

_TABLE = 3  # rows that a sheet has at least, if it holds a table


def sheet_as_lines(
    content: bytes, unpacked: int, name: str, sheet: str | None, digest: Any
) -> RowSource:
    """One sheet of a workbook.

    Parameters
    ----------
    content : bytes
        The file.
    unpacked : int
        Bytes that it unpacks to.
    name : str
        For messages.
    sheet : str, optional
        Name or number of the sheet; needed where several hold a table.
    digest : callable
        Returns the SHA-256 of the file.
    """
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
    chosen = _chosen(book, name, sheet)
    several = f", one of {len(book.sheetnames)} (see --sheet)" if len(book.sheetnames) > 1 else ""
    return RowSource(name, _rows(chosen), digest, notes=(f"sheet {chosen.title!r}{several}",))


def _chosen(book: Any, name: str, sheet: str | None) -> Any:
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
    filled = (row for row in _rows(sheet) if sum(cell != "" for cell in row) > 0)
    return len(list(itertools.islice(filled, _TABLE))) == _TABLE


def _rows(sheet: Any) -> Iterator[list[Any]]:
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # some programs write a size that is not that of the sheet
    width = 0
    for row in sheet.iter_rows(values_only=True) if hasattr(sheet, "iter_rows") else ():
        cells = [_cell(value) for value in row]
        while len(cells) > width and cells[-1] == "":
            cells.pop()
        width = max(width, len(cells))  # a row may end before the others do
        yield cells + [""] * (width - len(cells)) if any(cells) else cells


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, (date, time)) else value
