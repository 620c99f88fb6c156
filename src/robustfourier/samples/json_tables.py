"""Rows that are not written as text with delimiters, as lines of CSV: JSON and sheets of Excel.

From there they are read like any other table: header, units, dates, marks of missing values.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from robustfourier.errors import DataError

_KEYS_FROM = 500  # objects whose keys name the columns
_DOCUMENT = 200_000_000  # characters of a JSON document that is held as a whole


class Source(Protocol):
    """Lines of a table: what `open_text` gives."""

    name: str
    encoding: str
    delimiter: str | None
    shift: int
    notes: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Lines with their ends."""

    def digest(self) -> str:
        """SHA-256 of all bytes of the file, reading what is left of them."""


@dataclass
class RowSource:
    """Rows as lines of CSV.

    Parameters
    ----------
    name : str
        For messages.
    rows : iterable of sequence of str
        Cells of each row, from the header on.
    digest : callable
        Returns the SHA-256 of the file.
    shift : int
        Added to the number of a row to give that of its line in the file.
    notes : tuple of str
        What was taken.
    """

    name: str
    rows: Iterable[Sequence[Any]]
    digest: Callable[[], str]
    shift: int = 0
    notes: tuple[str, ...] = ()
    encoding: str = "utf-8"
    delimiter: str | None = ","

    def lines(self) -> Iterator[str]:
        """One line for each row: breaks within a cell become blanks."""
        return map(_line, self.rows)


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


def records_as_lines(source: Source) -> RowSource:
    """JSON of objects, one per line or in a list, or of columns, as lines of CSV."""
    lines = source.lines()
    first = next((line for line in lines if line.strip()), "")
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict) and not any(isinstance(v, (list, dict)) for v in record.values()):
        rows = _rows_of_lines(record, lines, source.name)
        return RowSource(source.name, rows, source.digest, -1, ("read as JSON lines",))
    rows = _rows_of_document(itertools.chain([first], lines), source.name)
    return RowSource(source.name, rows, source.digest, -1, ("read as JSON",))


def _rows_of_lines(first: dict[str, Any], lines: Iterator[str], name: str) -> Iterator[list[Any]]:
    numbered = ((number, line) for number, line in enumerate(lines, start=2) if line.strip())
    others = (_object(line, number, name) for number, line in numbered)
    return _as_rows(itertools.chain([first], others))


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
