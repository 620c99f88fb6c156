"""`read_samples`: a file to `Samples`, in bounded memory, saying what was taken.

Every table, of text or of a library's types, is read by one pass over blocks of rows, of which only
the chosen columns are kept, as 8-byte numbers. Text is split into cells by the csv module: pandas
would be faster, but tells neither the line of a cell nor that of a row that is too short.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import DataError
from robustfourier.formatting import quoted, unit_called
from robustfourier.samples.daylight_saving import checked_zone, on_clock
from robustfourier.samples.dialect import sniff
from robustfourier.samples.file_formats import format_of, read_frame
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.samples import Samples, clean
from robustfourier.samples.series_labels import SeriesLabels
from robustfourier.samples.text_streams import display_name, open_text
from robustfourier.samples.text_tables import TextTable, open_table
from robustfourier.samples.time_columns import TimeReader
from robustfourier.samples.typed_tables import TypedTable, opened_parquet

#: Rows that one file may have; beyond, the columns alone would need gigabytes.
MAX_SAMPLES = 200_000_000

Table = TextTable | TypedTable


def read_samples(path: str | os.PathLike[str], **options: Any) -> Samples:
    """Read times, values and errors from a file.

    Parameters
    ----------
    path : str or path
        Delimited text of any kind, packed or not, Excel, JSON, Parquet, Feather, FITS, VOTable,
        netCDF, MATLAB, WAV; "-" for standard input.
    **options
        Fields of `ReadOptions`.

    Raises
    ------
    DataError
        Naming file, line, column, value and remedy.
    """
    chosen = ReadOptions(**options)
    with opened_table(path, chosen) as table:
        return _in_unit(samples_of(table, chosen), chosen.unit)


def read_times(path: str | os.PathLike[str], **options: Any) -> Samples:
    """Read times alone, in the file's order of time; the values are all zero."""
    chosen = ReadOptions(**{"duplicates": "keep", **options})
    with opened_table(path, chosen, need_value=False) as table:
        return samples_of(table, chosen, need_value=False)


def column_names(path: str | os.PathLike[str], **options: Any) -> list[str]:
    """Return the names of a table's columns, whether or not it is clear which are meant."""
    chosen = ReadOptions(**options)
    if not format_of(path):
        with open_text(path, chosen.sheet) as source:
            return list(sniff(source, chosen, need_value=True)[0].names)
    with opened_table(path, chosen) as table:
        return table.names


@contextmanager
def opened_table(
    path: str | os.PathLike[str], options: ReadOptions, need_value: bool = True
) -> Iterator[Table]:
    """Open a file of any format for reading; a value is not always needed."""
    kind = format_of(path)
    if kind == "parquet":
        with opened_parquet(path, options) as parquet:
            yield parquet
    elif kind:
        yield TypedTable.of(read_frame(path, kind, options), display_name(path), options, path)
    else:
        with open_text(path, options.sheet) as source:
            yield open_table(source, options, need_value)


def samples_of(table: Table, options: ReadOptions, need_value: bool = True) -> Samples:
    """Read times, values and errors of a table; the values are zero if none are needed."""
    choice = table.choose(options, need_value)
    if need_value and isinstance(table, TextTable):
        table.require_one_series(choice)
    zone = checked_zone(options.timezone)
    numbers = [j for j in (choice.value, choice.error) if j is not None]
    series = SeriesLabels(table, choice.by, {*choice.times, *numbers})
    reader = table.time_reader(choice, options.time_format)  # the first rows decide the format
    columns, lines = _read(table, reader, numbers, series)
    notes = series.require_one(len(lines))
    times = on_clock(reader.times(), zone)
    if not times.unit and times.values.dtype.kind != "M":
        times = replace(times, unit=unit_called(table.unit(choice.time)))
    if need_value and options.duplicates is None:
        series.refuse_mixture(times.values)
    wide = isinstance(table, TextTable) and table.dialect.wide is not None
    names = ["index" if n.startswith("__index_level_") else n for n in table.names] + ["value"]
    return clean(
        times,
        np.zeros(len(lines)) if choice.value is None else columns[choice.value],
        None if choice.error is None else columns[choice.error],
        lines,
        missing=options.missing,
        duplicates=options.duplicates or ("keep" if wide else "mean"),
        time_name=" ".join(names[j] for j in choice.times),
        value_name=names[-1 if choice.value is None else choice.value],
        error_name=None if choice.error is None else names[choice.error],
        value_unit="" if choice.value is None else table.unit(choice.value),
        source=table.name,
        sha256=table.digest(),
        notes=(*table.notes(), *notes),
    )


def _read(
    table: Table, reader: TimeReader, numbers: list[int], series: SeriesLabels
) -> tuple[dict[int, FloatArray], NDArray[np.int32]]:
    """Columns of numbers and the lines that they stand in, of one series; times go to a reader."""
    wanted = dict.fromkeys([*reader.choice.times, *numbers, *series.columns])
    kept: dict[int, list[FloatArray]] = {j: [] for j in numbers}
    lines: list[NDArray[np.int32]] = []
    count = 0
    for block in table.blocks(list(wanted)):
        count += len(block)
        if count > MAX_SAMPLES:
            raise DataError(f"{table.name}: more than {MAX_SAMPLES:,} rows; thin them out first")
        block = series.of_series(block)
        lines.append(np.array(block.index, np.int32))
        reader.add_block(block)
        for j, column in kept.items():
            column.append(table.numbers(block, j))
    if not count:
        raise DataError(f"{table.name}: has no rows; nothing to fit")
    columns = {j: np.concatenate(kept.pop(j)) for j in numbers}
    return columns, np.concatenate(lines)


def _in_unit(samples: Samples, unit: str | None) -> Samples:
    if unit is None:
        return samples
    from robustfourier.domain import DATE_UNITS

    if samples.dates and unit not in DATE_UNITS:
        raise DataError(
            f"--unit {quoted(unit)}: periods of dates are given in {', '.join(DATE_UNITS)}"
        )
    return replace(samples, unit=unit)
