"""A table in memory, with the units of its columns, to `Samples`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustfourier.errors import DataError
from robustfourier.formatting import unit_called
from robustfourier.samples.cleaning import clean, numbers_of, stamps_of
from robustfourier.samples.columns import Choice, choose_columns, parse_by
from robustfourier.samples.date_text import calendar_text
from robustfourier.samples.daylight_saving import checked_zone, on_clock
from robustfourier.samples.epochs import Times, interpret_numbers
from robustfourier.samples.number_parsing import NumberFormat
from robustfourier.samples.samples import Samples
from robustfourier.samples.series_labels import LABELLED, Labels, refuse_mixture, require_one
from robustfourier.samples.text_streams import quoted
from robustfourier.samples.text_tables import kind_of
from robustfourier.samples.time_columns import TimeReader

if TYPE_CHECKING:
    from robustfourier.samples.text_tables import ReadOptions

_KIND_CELLS = 500  # cells of text that say what a column is


@dataclass(frozen=True, eq=False)
class Frame:
    """A table of which more may be known than names and cells.

    Parameters
    ----------
    frame : DataFrame
        Columns by name.
    units : mapping of str to str
        Units of some columns, as their makers write them.
    time, value, error : str, optional
        Names of columns whose meaning is known.
    notes : tuple of str
        What was taken.
    labels : tuple of str
        Columns that tell series apart, and are no values.
    """

    frame: pd.DataFrame
    units: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None
    value: str | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def noting(self, note: str) -> Frame:
        """The same with a further note."""
        return replace(self, notes=(*self.notes, note))


def at_rate(table: Frame, rate: float) -> Frame:
    """A table with a first column of times, of so many rows per second."""
    seconds = np.arange(len(table.frame)) / rate
    others = table.frame.drop(columns="time [s]", errors="ignore")
    frame = pd.concat([pd.Series(seconds, name="time [s]"), others.reset_index(drop=True)], axis=1)
    note = f"{rate:g} samples per second"
    return replace(table, frame=frame, time="time [s]", notes=(*table.notes, note))


def chosen_columns(
    table: Frame, asked: ReadOptions, name: str, need_value: bool = True
) -> tuple[Choice, list[tuple[int, str | None]]]:
    """The columns that are meant, and those that tell series apart."""
    names = [str(column) for column in table.frame.columns]
    kinds = [kind_of_column(table.frame.iloc[:, i]) for i in range(len(names))]
    by = parse_by(asked.by, names, name)
    choice = choose_columns(
        names,
        kinds,
        name,
        time=asked.time or table.time,
        value=asked.value or table.value,
        error=asked.error or (table.error if asked.value is None else None),
        need_value=need_value,
        apart=[*(i for i, _ in by), *(i for i, n in enumerate(names) if n in table.labels)],
    )
    return choice, by


def samples_of_frame(
    table: Frame,
    asked: ReadOptions,
    name: str,
    sha256: str | None = None,
    need_value: bool = True,
) -> Samples:
    """Read times, values and errors of a table in memory.

    Parameters
    ----------
    table : Frame
    asked : ReadOptions
        What concerns the writing of text is of no effect.
    name : str
        For messages.
    sha256 : str, optional
        Digest of the file.
    need_value : bool
        Whether values are asked for, too; they are zero if not.
    """
    if asked.rate is not None and table.time != "time [s]":
        table = at_rate(table, asked.rate)
    frame = table.frame
    names = [str(column) for column in frame.columns]
    if not len(frame):
        raise DataError(f"{name}: has no rows; nothing to fit")
    choice, by = chosen_columns(table, asked, name, need_value)
    notes = list(table.notes)
    rows = np.ones(len(frame), bool)
    for i, label in by:
        labels = _labels(frame.iloc[:, i])
        if label is not None:
            rows &= np.asarray(frame.iloc[:, i].astype(str).str.strip() == label)
        notes += require_one(labels, label, int(rows.sum()), names[i], name)
    frame = frame[rows]
    times = column_times(frame, choice, name, asked, table.units)
    taken = {choice.time, choice.clock, choice.value, choice.error, *choice.parts}
    taken |= {i for i, _ in by}
    if need_value and asked.duplicates is None and pd.Series(times.values).duplicated().any():
        free = [i for i in range(len(names)) if i not in taken][:LABELLED]
        refuse_mixture(times.values, {names[i]: _labels(frame.iloc[:, i]) for i in free}, name)
    value = np.zeros(len(frame)) if choice.value is None else _numbers(frame, choice.value, name)
    return clean(
        times,
        value,
        None if choice.error is None else _numbers(frame, choice.error, name),
        np.arange(1, len(frame) + 1),
        missing=asked.missing,
        duplicates=asked.duplicates or "mean",
        time_name=names[choice.time].replace("__index_level_0__", "index"),
        value_name="value" if choice.value is None else names[choice.value],
        error_name=None if choice.error is None else names[choice.error],
        value_unit="" if choice.value is None else table.units.get(names[choice.value], ""),
        source=name,
        sha256=sha256,
        notes=tuple(notes),
    )


def column_times(
    frame: pd.DataFrame,
    choice: Choice,
    name: str,
    asked: ReadOptions,
    units: Mapping[str, str],
) -> Times:
    """The times of a table, whatever their column is made of."""
    column = frame.iloc[:, choice.time]
    title = str(frame.columns[choice.time])
    if choice.parts:
        cells = [frame.iloc[:, i].astype(str) for i in (choice.time, *choice.parts)]
        column = pd.Series([calendar_text(row) for row in zip(*cells, strict=True)])
    elif choice.clock is not None:
        column = column.astype(str) + " " + frame.iloc[:, choice.clock].astype(str)
    if kind_of_column(column, text_alone=True) == "text":
        return _text_times(column, title, name, asked)
    if column.dtype.kind == "m":
        days = column.to_numpy() / np.timedelta64(1, "D")
        return Times(days, "day", None, ())
    if column.dtype.kind in "iuf" and column.hasnans:
        column = column.astype(np.float64)
    stamps, zone = stamps_of(column)
    if stamps.dtype.kind == "M":
        times = Times(stamps, "day", zone, ())
    else:
        times = interpret_numbers(stamps, title, name, asked.time_format)
        if not times.unit and times.values.dtype.kind != "M":
            times = replace(times, unit=unit_called(units.get(title, "")))
    return on_clock(times, checked_zone(asked.timezone))


def _text_times(column: Any, title: str, name: str, asked: ReadOptions) -> Times:
    """Dates or numbers written as text, read as in files of text."""
    cells = ["" if cell is None or cell != cell else str(cell).strip() for cell in column]
    reader = TimeReader(
        cells[:_KIND_CELLS],
        column=title,
        source=name,
        form=NumberFormat(),
        time_format=asked.time_format,
        timezone=asked.timezone,
    )
    reader.add(cells, range(1, len(cells) + 1))
    return reader.finish()


def kind_of_column(column: Any, text_alone: bool = False) -> str:
    """What the cells of a column are: "time", "number" or what its text says."""
    dtype = column.dtype
    if isinstance(dtype, (pd.DatetimeTZDtype, pd.PeriodDtype)) or dtype.kind in "Mm":
        return "time"
    if pd.api.types.is_bool_dtype(dtype):
        return "text"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    known = [cell for cell in column.iloc[:_KIND_CELLS] if cell is not None and cell == cell]
    if known and not isinstance(known[0], str):
        array = np.asarray(pd.Series(known).infer_objects())
        return "time" if array.dtype.kind in "Mm" or hasattr(known[0], "isoformat") else "number"
    return "text" if text_alone else kind_of([str(cell) for cell in known], NumberFormat())


def _numbers(frame: pd.DataFrame, at: int, name: str) -> Any:
    column = frame.iloc[:, at]
    return numbers_of(column, f"{name}, column {quoted(str(frame.columns[at]))}", column.shape)


def _labels(column: Any) -> Labels:
    labels = Labels()
    labels.add([str(cell) for cell in column])
    return labels
