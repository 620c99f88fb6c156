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
from robustfourier.samples.dialect import Dialect, looks_like_time, rows, sniff
from robustfourier.samples.samples import Samples
from robustfourier.samples.source import TextSource, open_text, quoted
from robustfourier.samples.times import TimeReader, Times
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
    lines = source.lines()
    for _ in range(asked.skip):
        next(lines, None)
    sample, complete = _take_sample(lines)
    told = {"delimiter": asked.delimiter, "decimal": asked.decimal}
    if need_value:
        dialect = sniff(sample, source.name, complete=complete, **told)
    else:
        dialect = _sniff_times(sample, source.name, complete, told)
    table = rows(itertools.chain(sample, lines), dialect.delimiter, source.name)
    table = _body(table, dialect, asked.skip)
    head = list(itertools.islice(table, _SAMPLE_LINES))
    if not head:
        raise DataError(f"{source.name}: has a header but no rows; nothing to fit")
    table = _checked(itertools.chain(head, table), dialect, source.name)
    form = NumberFormat(dialect.decimal, dialect.grouped, _marks(asked.na))
    kinds = [
        _kind([row[j] for _, row in head if j < len(row)], form) for j in range(_width(dialect))
    ]
    choice = choose_columns(
        dialect.names,
        kinds,
        source.name,
        time=asked.time,
        value=asked.value,
        error=asked.error,
        need_value=need_value,
    )
    times, values, errors, numbers, below = _read_columns(
        table, head, choice, dialect, form, source, asked
    )
    if below:
        notes: tuple[str, ...] = (f'{below} values "<1" of Google Trends taken as 0.5',)
    else:
        notes = ()
    error_name = None if choice.error is None else dialect.names[choice.error]
    samples = clean(
        times,
        values,
        errors,
        numbers,
        missing=asked.missing,
        duplicates=asked.duplicates,
        time_name=_joined_name(dialect, choice),
        value_name="value" if choice.value is None else dialect.names[choice.value],
        error_name=error_name,
        source=source.name,
        sha256=source.digest(),
        notes=(*_dialect_notes(dialect, source, asked), *notes),
    )
    return _with_sentinel_note(samples)


def _in_unit(samples: Samples, unit: str | None) -> Samples:
    if unit is None:
        return samples
    if samples.dates and unit not in DATE_UNITS:
        raise DataError(
            f"--unit {quoted(unit)}: periods of dates are told in {', '.join(DATE_UNITS)}"
        )
    return replace(samples, unit=unit)


def _take_sample(lines: Iterator[str]) -> tuple[list[str], bool]:
    """First lines, and whether they are all there are."""
    sample: list[str] = []
    size = 0
    for line in lines:
        sample.append(line)
        size += len(line)
        if len(sample) >= _SAMPLE_LINES or size > _SAMPLE_CHARACTERS:
            return sample, False
    return sample, True


def _sniff_times(sample: list[str], name: str, complete: bool, told: dict[str, Any]) -> Dialect:
    """For a file of times a single column will do."""
    try:
        return sniff(sample, name, complete=complete, **told)
    except DataError:
        cells = [line.strip() for line in sample if line.strip() and line[0] != "#"]
        if not cells or not any(is_number(c) or looks_like_time(c) for c in cells[-3:]):
            raise
        header = not (is_number(cells[0]) or looks_like_time(cells[0]))
        names = (cells[0],) if header else ("column 1",)
        return Dialect("\t", told["decimal"] or ".", False, 1, names, header)


def _body(
    table: Iterator[tuple[int, list[str]]], dialect: Dialect, skip: int
) -> Iterator[tuple[int, list[str]]]:
    """Rows of data with line numbers of the whole file."""
    for number, row in table:
        if number < dialect.start or (number == dialect.start and dialect.header):
            continue
        yield number + skip, row


def _width(dialect: Dialect) -> int:
    return len(dialect.names)


def _checked(
    table: Iterable[tuple[int, list[str]]], dialect: Dialect, name: str
) -> Iterator[tuple[int, list[str]]]:
    """Rows, each of the table's width but for an empty cell after a last delimiter."""
    width = _width(dialect)
    for count, (number, row) in enumerate(table):
        if len(row) != width and not (len(row) == width + 1 and not row[-1].strip()):
            raise DataError(
                f"{name}, line {number}: has {len(row)} columns instead of {width} (delimiter: "
                f"{dialect.delimiter_name}); correct the line, or choose with --delimiter and "
                "--decimal"
            )
        if count >= MAX_SAMPLES:
            raise DataError(f"{name}: more than {MAX_SAMPLES:,} rows; thin them out first")
        yield number, row


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


def _read_columns(
    table: Iterator[tuple[int, list[str]]],
    head: list[tuple[int, list[str]]],
    choice: Choice,
    dialect: Dialect,
    form: NumberFormat,
    source: TextSource,
    asked: ReadOptions,
) -> tuple[Times, FloatArray, FloatArray | None, NDArray[np.int32], int]:
    def time_cell(row: list[str]) -> str:
        cell = row[choice.time].strip()
        return cell if choice.clock is None or not cell else f"{cell} {row[choice.clock].strip()}"

    reader = TimeReader(
        [time_cell(row) for _, row in head if choice.time < len(row)],
        column=dialect.names[choice.time],
        source=source.name,
        form=form,
        time_format=asked.time_format,
        timezone=asked.timezone,
    )
    wanted = [] if choice.value is None else [choice.value]
    wanted += [] if choice.error is None else [choice.error]
    columns: list[list[FloatArray]] = [[] for _ in wanted]
    numbers: list[NDArray[np.int32]] = []
    below = 0
    while block := list(itertools.islice(table, _BLOCK)):
        at = [number for number, _ in block]
        numbers.append(np.array(at, np.int32))
        reader.add([time_cell(row) for _, row in block], at)
        for column, j in zip(columns, wanted, strict=True):
            cells = [row[j] for _, row in block]
            if dialect.trends and j == choice.value:
                below += sum(cell.strip() == "<1" for cell in cells)
                cells = ["0.5" if cell.strip() == "<1" else cell for cell in cells]
            column.append(_numbers(cells, at, dialect.names[j], form, source.name))
    lines = np.concatenate(numbers)
    joined = [np.concatenate(column) for column in columns]
    values = joined[0] if wanted else np.zeros(len(lines))
    return reader.finish(), values, joined[1] if len(joined) > 1 else None, lines, below


def _numbers(
    cells: list[str], lines: list[int], column: str, form: NumberFormat, source: str
) -> FloatArray:
    numbers, bad = to_numbers(cells, form)
    if bad.size:
        i = int(bad[0])
        raise DataError(
            f"{source}, line {lines[i]}, column {quoted(column)}: {quoted(cells[i])} is no number; "
            "correct it, choose another column with --value, or, if it marks a missing value, say "
            f"--na {quoted(cells[i].strip())}"
        )
    return numbers


def _joined_name(dialect: Dialect, choice: Choice) -> str:
    name = dialect.names[choice.time]
    return name if choice.clock is None else f"{name} {dialect.names[choice.clock]}"


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
