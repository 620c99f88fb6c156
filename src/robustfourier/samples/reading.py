"""`read_samples`: a file to `Samples`, in bounded memory, saying what was taken.

Text is read in blocks of rows, of which only the chosen columns are kept, as 8-byte numbers.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import DataError
from robustfourier.formatting import unit_called
from robustfourier.samples.cleaning import clean
from robustfourier.samples.dialect import Dialect
from robustfourier.samples.file_formats import format_of, read_frame
from robustfourier.samples.header import Table
from robustfourier.samples.json_tables import Source
from robustfourier.samples.number_parsing import is_number
from robustfourier.samples.samples import Samples
from robustfourier.samples.series_labels import LABELLED, Labels, refuse_mixture, require_one
from robustfourier.samples.text_streams import display_name, open_text, quoted
from robustfourier.samples.text_tables import (
    OpenTable,
    ReadOptions,
    open_table,
    table_names,
    time_cells,
)
from robustfourier.samples.time_columns import TimeReader
from robustfourier.untrusted_files import file_digest

#: Rows that one file may have; beyond, the columns alone would need gigabytes.
MAX_SAMPLES = 200_000_000


def read_samples(path: str | os.PathLike[str], **options: Any) -> Samples:
    """Read times, values and errors from a file.

    Parameters
    ----------
    path : str or path
        CSV, TSV or another delimited text, also gzipped; Parquet; "-" for standard input.
    **options
        Fields of `ReadOptions`.

    Raises
    ------
    DataError
        Naming file, line, column, value and remedy.
    """
    asked = ReadOptions(**options)
    return _in_unit(_read(path, asked, need_value=True), asked.unit)


def read_times(path: str | os.PathLike[str], **options: Any) -> Samples:
    """Read times alone, in the file's order of time; the values are all zero."""
    return _read(path, ReadOptions(**{"duplicates": "keep", **options}), need_value=False)


def column_names(path: str | os.PathLike[str], **options: Any) -> list[str]:
    """Return the names of a table's columns, whether or not it is clear which are meant."""
    asked, kind = ReadOptions(**options), format_of(path)
    if kind == "parquet":
        from robustfourier.samples.parquet import opened

        with opened(path, display_name(path)) as file:
            return list(file.schema_arrow.names)
    if kind:
        return [str(name) for name in read_frame(path, kind, asked).frame.columns]
    with open_text(path, asked.sheet) as source:
        return table_names(source, asked)


def _read(path: str | os.PathLike[str], asked: ReadOptions, *, need_value: bool) -> Samples:
    kind = format_of(path)
    if kind == "parquet":
        from robustfourier.samples.parquet import read_parquet

        return read_parquet(path, asked, need_value)
    if kind:
        from robustfourier.samples.data_frames import samples_of_frame

        table, digest = read_frame(path, kind, asked), file_digest(path)
        return samples_of_frame(table, asked, display_name(path), digest, need_value)
    with open_text(path, asked.sheet) as source:
        return _read_text(source, asked, need_value=need_value)


def _read_text(source: Source, asked: ReadOptions, *, need_value: bool) -> Samples:
    table = open_table(source, asked, need_value)
    reader = _Columns(table, source.name)
    reader.read(asked)
    choice, names = table.choice, [*table.dialect.names, "value"]
    times = reader.times.finish()
    if not times.unit and times.values.dtype.kind != "M":
        times = replace(times, unit=unit_called(table.dialect.unit(choice.time)))
    wide = table.dialect.wide
    if wide is not None and need_value and not table.by:
        label, first = wide.labels[0], table.head[0][1][0]
        raise DataError(
            f"{source.name}: {wide.words}; choose one series, such as "
            f"--by {quoted(f'{label}={first}')}, or fit each with --by {quoted(label)} --out FOLDER"
        )
    if need_value and asked.duplicates is None:
        refuse_mixture(times.values, reader.others(), source.name)
    return clean(
        times,
        *reader.numbers(),
        missing=asked.missing,
        duplicates=asked.duplicates or ("mean" if wide is None else "keep"),
        time_name=" ".join(
            names[j] for j in (choice.time, choice.clock, *choice.parts) if j is not None
        ),
        value_name=names[-1 if choice.value is None else choice.value],
        error_name=None if choice.error is None else names[choice.error],
        value_unit="" if choice.value is None else table.unit(choice.value),
        source=source.name,
        sha256=source.digest(),
        notes=(*source.notes, *_dialect_notes(table.dialect, source, asked), *reader.notes()),
    )


def _in_unit(samples: Samples, unit: str | None) -> Samples:
    if unit is None:
        return samples
    from robustfourier.domain import DATE_UNITS

    if samples.dates and unit not in DATE_UNITS:
        raise DataError(
            f"--unit {quoted(unit)}: periods of dates are told in {', '.join(DATE_UNITS)}"
        )
    return replace(samples, unit=unit)


class _Columns:
    """The chosen columns, kept as 8-byte numbers block by block."""

    def __init__(self, table: OpenTable, name: str) -> None:
        self.table, self.name = table, name
        self.choice, self.names = table.choice, table.dialect.names
        self.wanted = [j for j in (self.choice.value, self.choice.error) if j is not None]
        self.blocks: list[list[FloatArray]] = [[] for _ in self.wanted]
        self.lines: list[NDArray[np.int32]] = []
        self.chosen = {j: Labels() for j, _ in table.by}
        used = {self.choice.time, self.choice.clock, *self.choice.parts, *self.wanted}
        used |= set(self.chosen)
        free = [j for j in range(len(self.names)) if j not in used]
        free.sort(key=lambda j: is_number(table.head[0][1][j]))  # words first
        self.free = {j: Labels() for j in free[:LABELLED]}
        self.below = 0

    def read(self, asked: ReadOptions) -> None:
        """Read all rows, of which the first decide how times are written."""
        self.times = TimeReader(
            self._stamps(self.table.head),
            column=self.names[self.choice.time],
            source=self.name,
            form=self.table.form,
            time_format=asked.time_format,
            timezone=asked.timezone,
        )
        count = 0
        for block in itertools.chain([self.table.head], self.table.rest):
            count += len(block)
            if count > MAX_SAMPLES:
                raise DataError(f"{self.name}: more than {MAX_SAMPLES:,} rows; thin them out first")
            self._add(self._chosen(block))

    def _chosen(self, block: Table) -> Table:
        """Rows of the series that the user chose."""
        for j, label in self.table.by:
            self.chosen[j].add([row[j] for _, row in block])
            if label is not None:
                block = [(number, row) for number, row in block if row[j].strip() == label]
        return block

    def _add(self, block: Table) -> None:
        lines = [number for number, _ in block]
        self.lines.append(np.array(lines, np.int32))
        self.times.add(self._stamps(block), lines)
        for blocks, j in zip(self.blocks, self.wanted, strict=True):
            blocks.append(self._numbers(block, lines, j))
        for j, labels in self.free.items():
            labels.add([row[j] for _, row in block])

    def _stamps(self, block: Table) -> list[str]:
        return time_cells(block, self.choice.time, self.choice.clock, self.choice.parts)

    def _numbers(self, block: Table, lines: list[int], j: int) -> FloatArray:
        if self.table.dialect.trends and j == self.choice.value:
            block = [(n, [*row[:j], self._censored(row[j]), *row[j + 1 :]]) for n, row in block]
        cells, numbers, bad = self.table.numbers(block, j)
        unit = self.table.measures[j]
        for i in bad[:1]:
            raise DataError(
                f"{self.name}, line {lines[i]}, column {quoted(self.names[j])}: "
                f"{quoted(cells[i])} is no number{unit and f' in {unit}, as the others are'}; "
                "correct it, choose another column with --value, or, if it marks a missing value, "
                f"say --na {quoted(cells[i].strip())}"
            )
        return numbers

    def _censored(self, cell: str) -> str:
        """A value of Google Trends, whose "<1" lies between 0 and 1."""
        below = cell.strip() == "<1"
        self.below += below
        return "0.5" if below else cell

    def numbers(self) -> tuple[FloatArray, FloatArray | None, NDArray[np.int32]]:
        """Values, errors and line numbers."""
        lines = np.concatenate(self.lines)
        columns = [np.concatenate(blocks) for blocks in self.blocks]
        return (columns or [np.zeros(len(lines))])[0], (*columns, None, None)[1], lines

    def others(self) -> dict[str, Labels]:
        """Labels of the columns that are not used, by name."""
        return {self.names[j]: labels for j, labels in self.free.items()}

    def notes(self) -> list[str]:
        """What was taken for something else than it says, or left out."""
        notes = [f'{self.below} values "<1" of Google Trends taken as 0.5'] if self.below else []
        notes += self.table.left
        for j, label in self.table.by:
            found = sum(map(len, self.lines))
            notes += require_one(self.chosen[j], label, found, self.names[j], self.name)
        return notes


def _dialect_notes(dialect: Dialect, source: Source, asked: ReadOptions) -> list[str]:
    notes = []
    if dialect.wide is not None:
        notes.append(dialect.wide.words)
    if dialect.delimiter != "," and asked.delimiter is None and not dialect.numbered:
        notes.append(f"columns separated by {dialect.delimiter_name}")
    if dialect.decimal == "," and asked.decimal is None:
        notes.append("numbers written with decimal commas")
    if dialect.grouped:
        notes.append("thousands set apart by " + ("points" if dialect.decimal == "," else "commas"))
    if dialect.rate is not None:
        notes.append(f"rows taken as {dialect.rate:g} samples per second")
    elif dialect.numbered:
        notes.append("one column only: its rows, counted from 1, are taken as times")
    elif not dialect.header and not dialect.comment_header:
        notes.append("no header line: columns are numbered")
    if dialect.trends:
        notes.append("recognised as an export of Google Trends")
    elif dialect.preamble:
        notes.append(f"lines before line {dialect.start} are no part of the table")
    if told := [unit for unit in dialect.units if unit]:
        notes.append(f"units read from a line of their own: {', '.join(told[:6])}")
    if source.encoding not in ("utf-8", "utf-8-sig"):
        notes.append(f"text encoded as {source.encoding.upper()}")
    return notes
