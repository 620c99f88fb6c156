"""`read_samples`: a file to `Samples`, in bounded memory, saying what was taken.

Text is read in blocks of rows, of which only the chosen columns are kept, as 8-byte numbers.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.domain import DATE_UNITS
from robustfourier.errors import DataError
from robustfourier.samples.cleaning import clean
from robustfourier.samples.columns import Choice, choose_columns
from robustfourier.samples.dialect import Dialect, Row, looks_like_time, rows, sniff
from robustfourier.samples.samples import Samples
from robustfourier.samples.source import TextSource, open_text, quoted
from robustfourier.samples.times import TimeReader
from robustfourier.samples.tokens import MISSING, NumberFormat, is_missing, is_number, to_numbers

__all__ = ["MAX_SAMPLES", "ReadOptions", "read_samples", "read_times"]

#: Rows that one file may have; beyond, the columns alone would need gigabytes.
MAX_SAMPLES = 200_000_000

_SAMPLE_LINES = 500
_SAMPLE_CHARACTERS = 4_000_000
_BLOCK = 50_000
_SENTINELS = (-9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, -999.25, 99.99)


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
        What to do about rows that lack something or repeat a time, see `cleaning`.
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
    duplicates: str = "mean"
    time_format: str = "auto"
    timezone: str | None = None
    unit: str | None = None


def read_samples(path: str | os.PathLike[str], **options: Any) -> Samples:
    """Read times, values and errors from a file.

    Parameters
    ----------
    path : str or path
        CSV, TSV or another delimited text, also gzipped; Parquet; "-" for standard input.
    **options
        Fields of `ReadOptions`.

    Returns
    -------
    Samples

    Raises
    ------
    DataError
        Naming file, line, column, value and remedy.
    """
    asked = ReadOptions(**options)
    if str(path).lower().endswith((".parquet", ".pq")):
        from robustfourier.samples.parquet import read_parquet

        return _in_unit(read_parquet(path, asked), asked.unit)
    with open_text(path) as source:
        return _in_unit(_read_text(source, asked, need_value=True), asked.unit)


def read_times(path: str | os.PathLike[str], **options: Any) -> Samples:
    """Read times alone, in the file's order of time; the values are all zero."""
    asked = ReadOptions(**{"duplicates": "keep", **options})
    with open_text(path) as source:
        return _read_text(source, asked, need_value=False)


def _read_text(source: TextSource, asked: ReadOptions, *, need_value: bool) -> Samples:
    lines = itertools.islice(source.lines(), asked.skip, None)
    sample, complete = _sample(lines)
    told = {"delimiter": asked.delimiter, "decimal": asked.decimal}
    sniffed = sniff if need_value else _sniff_times
    dialect = sniffed(sample, source.name, complete=complete, **told)
    table = _body(itertools.chain(sample, lines), dialect, asked.skip, source.name)
    head = list(itertools.islice(table, _SAMPLE_LINES))
    if not head:
        raise DataError(f"{source.name}: has a header but no rows; nothing to fit")
    form = NumberFormat(dialect.decimal, dialect.grouped, _marks(asked.na))
    kinds = [_kind([row[j] for _, row in head], form) for j in range(len(dialect.names))]
    choice = choose_columns(
        dialect.names,
        kinds,
        source.name,
        time=asked.time,
        value=asked.value,
        error=asked.error,
        need_value=need_value,
    )
    reader = _Columns(choice, dialect, form, source.name)
    reader.read(head, table, asked)
    names = [*dialect.names, "value"]
    samples = clean(
        reader.times.finish(),
        *reader.numbers(),
        missing=asked.missing,
        duplicates=asked.duplicates,
        time_name=" ".join(names[j] for j in (choice.time, choice.clock) if j is not None),
        value_name=names[-1 if choice.value is None else choice.value],
        error_name=None if choice.error is None else names[choice.error],
        source=source.name,
        sha256=source.digest(),
        notes=(*_dialect_notes(dialect, source, asked), *reader.notes()),
    )
    return _with_sentinel_note(samples)


def _sample(lines: Iterator[str]) -> tuple[list[str], bool]:
    """First lines, and whether they are all there are."""
    sample: list[str] = []
    size = 0
    for line in lines:
        sample.append(line)
        size += len(line)
        if len(sample) >= _SAMPLE_LINES or size > _SAMPLE_CHARACTERS:
            return sample, False
    return sample, True


def _in_unit(samples: Samples, unit: str | None) -> Samples:
    if unit is None:
        return samples
    if samples.dates and unit not in DATE_UNITS:
        raise DataError(
            f"--unit {quoted(unit)}: periods of dates are told in {', '.join(DATE_UNITS)}"
        )
    return replace(samples, unit=unit)


def _sniff_times(sample: list[str], name: str, **told: Any) -> Dialect:
    """For a file of times a single column will do."""
    try:
        return sniff(sample, name, **told)
    except DataError:
        cells = [line.strip() for line in sample if line.strip() and line[0] != "#"]
        if not cells or not any(is_number(c) or looks_like_time(c) for c in cells[-3:]):
            raise
        header = not (is_number(cells[0]) or looks_like_time(cells[0]))
        names = (cells[0],) if header else ("column 1",)
        return Dialect("\t", told["decimal"] or ".", False, 1, names, header)


def _body(lines: Iterable[str], dialect: Dialect, skip: int, name: str) -> Iterator[Row]:
    """Rows of data, with line numbers of the whole file, each of the table's width."""
    width = len(dialect.names)
    first = dialect.start + dialect.header
    for number, row in rows(lines, dialect.delimiter, name):
        if number < first:
            continue
        # After a last delimiter an empty cell may stand.
        if len(row) != width and not (len(row) == width + 1 and not row[-1].strip()):
            raise DataError(
                f"{name}, line {number + skip}: has {len(row)} columns instead of {width} "
                f"(delimiter: {dialect.delimiter_name}); correct the line, or choose with "
                "--delimiter and --decimal"
            )
        yield number + skip, row


def _marks(na: tuple[str, ...]) -> frozenset[str]:
    return MISSING | {mark.strip().lower() for mark in na} if na else MISSING


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


class _Columns:
    """The chosen columns, kept as 8-byte numbers block by block."""

    def __init__(self, choice: Choice, dialect: Dialect, form: NumberFormat, name: str) -> None:
        self.choice, self.dialect, self.form, self.name = choice, dialect, form, name
        self.wanted = [j for j in (choice.value, choice.error) if j is not None]
        self.blocks: list[list[FloatArray]] = [[] for _ in self.wanted]
        self.lines: list[NDArray[np.int32]] = []
        self.below = 0

    def read(self, head: list[Row], table: Iterator[Row], asked: ReadOptions) -> None:
        """Read all rows, of which the first decide how times are written."""
        self.times = TimeReader(
            self._stamps(head),
            column=self.dialect.names[self.choice.time],
            source=self.name,
            form=self.form,
            time_format=asked.time_format,
            timezone=asked.timezone,
        )
        table, count = itertools.chain(head, table), 0
        while block := list(itertools.islice(table, _BLOCK)):
            lines = [number for number, _ in block]
            self.lines.append(np.array(lines, np.int32))
            self.times.add(self._stamps(block), lines)
            for blocks, j in zip(self.blocks, self.wanted, strict=True):
                blocks.append(self._numbers([row[j] for _, row in block], lines, j))
            count += len(block)
            if count > MAX_SAMPLES:
                raise DataError(f"{self.name}: more than {MAX_SAMPLES:,} rows; thin them out first")

    def _stamps(self, block: list[Row]) -> list[str]:
        at, clock = self.choice.time, self.choice.clock
        cells = [row[at].strip() for _, row in block]
        if clock is None:
            return cells
        return [c and f"{c} {row[clock].strip()}" for c, (_, row) in zip(cells, block, strict=True)]

    def _numbers(self, cells: list[str], lines: list[int], j: int) -> FloatArray:
        if self.dialect.trends and j == self.choice.value:
            self.below += sum(cell.strip() == "<1" for cell in cells)
            cells = ["0.5" if cell.strip() == "<1" else cell for cell in cells]
        numbers, bad = to_numbers(cells, self.form)
        for i in bad[:1]:
            raise DataError(
                f"{self.name}, line {lines[i]}, column {quoted(self.dialect.names[j])}: "
                f"{quoted(cells[i])} is no number; correct it, choose another column with "
                "--value, or, if it marks a missing value, say "
                f"--na {quoted(cells[i].strip())}"
            )
        return numbers

    def numbers(self) -> tuple[FloatArray, FloatArray | None, NDArray[np.int32]]:
        """Values, errors and line numbers."""
        lines = np.concatenate(self.lines)
        columns = [np.concatenate(blocks) for blocks in self.blocks]
        return (columns or [np.zeros(len(lines))])[0], (*columns, None, None)[1], lines

    def notes(self) -> list[str]:
        """What was taken for something else than it says."""
        return [f'{self.below} values "<1" of Google Trends taken as 0.5'] if self.below else []


def _dialect_notes(dialect: Dialect, source: TextSource, asked: ReadOptions) -> list[str]:
    notes = []
    if dialect.delimiter != "," and asked.delimiter is None:
        notes.append(f"columns separated by {dialect.delimiter_name}")
    if dialect.decimal == "," and asked.decimal is None:
        notes.append("numbers written with decimal commas")
    if dialect.grouped:
        notes.append("thousands set apart by " + ("points" if dialect.decimal == "," else "commas"))
    if not dialect.header and not dialect.comment_header:
        notes.append("no header line: columns are numbered")
    if dialect.trends:
        notes.append("recognised as an export of Google Trends")
    elif dialect.preamble:
        notes.append(f"lines before line {dialect.start} are no part of the table")
    if source.encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"text encoded as {source.encoding.upper()}")
    return notes


def _with_sentinel_note(samples: Samples) -> Samples:
    """Ask about -999 and its like where they lie far outside of all other values."""
    values = samples.values
    for mark in _SENTINELS:
        here = values == mark
        if here.sum() < 2 or here.sum() > 0.5 * len(values):
            continue
        rest = values[~here]
        width = float(np.ptp(rest))
        if mark < rest.min() - 3 * width or mark > rest.max() + 3 * width:
            note = (
                f"the value {mark:g} occurs {int(here.sum())} times, far from all others: "
                f"if it marks a missing value, say --na={mark:g}"
            )
            return replace(samples, notes=(*samples.notes, note))
    return samples
