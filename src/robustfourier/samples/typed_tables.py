"""Tables that a library has read: columns of numbers, dates and texts of pandas.

`Frame` is what readers of files and objects return; `TypedTable` reads it as `TextTable` does text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.errors import DataError, MissingDependencyError
from robustfourier.formatting import quoted
from robustfourier.samples.columns import Choice, choose_columns
from robustfourier.samples.date_text import calendar_text
from robustfourier.samples.file_formats import one_error
from robustfourier.samples.number_parsing import NumberFormat
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.samples import numbers_of, stamps_of
from robustfourier.samples.text_streams import display_name, require_proportion
from robustfourier.samples.text_tables import Block, kind_of
from robustfourier.samples.time_columns import TimeReader, Times, interpret_numbers
from robustfourier.untrusted_files import file_digest

ROWS = 1 << 18  # held at once; a dozen columns of them take 25 MB
_SAMPLE = 16  # bytes of a time and a value in Parquet
_KIND_CELLS = 500  # cells of text that say what a column is


@dataclass(frozen=True, eq=False)
class Frame:
    """A table of which more may be known than names and cells."""

    frame: pd.DataFrame  # columns by name
    #: units of some columns, as their makers write them
    units: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None  # names of columns whose meaning is known
    value: str | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()  # what was taken
    labels: tuple[str, ...] = ()  # columns that tell series apart, and are no values


def at_rate(table: Frame, rate: float) -> Frame:
    """A table with a first column of times, of so many rows per second."""
    seconds = np.arange(len(table.frame)) / rate
    others = table.frame.drop(columns="time [s]", errors="ignore")
    frame = pd.concat([pd.Series(seconds, name="time [s]"), others.reset_index(drop=True)], axis=1)
    note = f"{rate:g} samples per second"
    return replace(table, frame=frame, time="time [s]", notes=(*table.notes, note))


@dataclass
class TypedTable:
    """A table whose cells have types: of pandas here, of Arrow in `parquet`."""

    name: str  # for messages
    table: Frame  # its columns, or none but what is known of them
    options: ReadOptions
    names: list[str]  # names of the columns, and what their cells are
    kinds: list[str]
    path: str | os.PathLike[str] | None = None  # the file
    streamed = False  # rows can be read again

    @classmethod
    def of(
        cls,
        table: Frame,
        name: str,
        options: ReadOptions,
        path: str | os.PathLike[str] | None = None,
    ) -> TypedTable:
        """A table in memory."""
        if options.rate is not None and table.time != "time [s]":
            table = at_rate(table, options.rate)
        frame = table.frame
        kinds = [kind_of_column(frame.iloc[:, i]) for i in range(frame.shape[1])]
        return cls(name, table, options, list(map(str, frame)), kinds, path)

    def digest(self) -> str | None:
        """SHA-256 of the file, if there is one."""
        return None if self.path is None else file_digest(self.path)

    def unit(self, column: int) -> str:
        """Unit of a column, as its maker writes it; empty if unknown."""
        return self.table.units.get(self.names[column], "")

    def choose(self, need_value: bool) -> Choice:
        """The columns that are meant."""
        options, known = self.options, self.table
        wanted = replace(
            options,
            time=options.time or known.time,
            value=options.value or known.value,
            error=options.error or (known.error if options.value is None else None),
        )
        labels = [i for i, name in enumerate(self.names) if name in known.labels]
        return choose_columns(
            self.names, self.kinds, self.name, wanted, need_value=need_value, apart=labels
        )

    def labelled(self, taken: set[int]) -> list[int]:
        """Columns that are not used, and may tell series apart."""
        free = [j for j in range(len(self.names)) if j not in taken and self.kinds[j] != "time"]
        return [j for j in free if self.names.count(self.names[j]) == 1]

    def frames(self, columns: Sequence[int]) -> Iterator[pd.DataFrame]:
        """Some columns of all rows, in that order, some rows at a time."""
        for start in range(0, len(self.table.frame), ROWS):
            yield self.table.frame.iloc[start : start + ROWS, list(columns)]

    def blocks(self, columns: Sequence[int]) -> Iterator[Block]:
        """All rows."""
        count = 0
        for frame in self.frames(columns):
            lines = range(count + 1, count + len(frame) + 1)
            yield Block(lines, {j: frame.iloc[:, i] for i, j in enumerate(columns)})
            count += len(frame)

    def texts(self, block: Block, column: int) -> list[str]:
        """Cells of a column as labels; whole numbers without a point, whatever their type is."""
        cells = block.columns[column]
        if cells.dtype.kind == "f":
            cells = cells.astype(object).map(lambda x: int(x) if x == x and x == int(x) else x)
        return [str(cell).strip() for cell in cells]

    def numbers(self, block: Block, column: int) -> FloatArray:
        """A column as numbers, NaN where missing."""
        cells = block.columns[column]
        return numbers_of(cells, f"{self.name}, column {quoted(self.names[column])}", cells.shape)

    def time_reader(self, choice: Choice, time_format: str) -> TypedTimes:
        """What reads the times, block by block."""
        return TypedTimes(self, choice, time_format)

    def notes(self) -> list[str]:
        """What was taken."""
        return list(self.table.notes)


class TypedTimes:
    """Reads a time column of any type, block by block."""

    def __init__(self, table: TypedTable, choice: Choice, time_format: str) -> None:
        self.table, self.choice, self.time_format = table, choice, time_format
        self.columns: list[Any] = []

    def add_block(self, block: Block) -> None:
        """Take one block."""
        column = block.columns[self.choice.time]
        if self.choice.parts:
            cells = [block.columns[i].astype(str) for i in (self.choice.time, *self.choice.parts)]
            column = pd.Series([calendar_text(row) for row in zip(*cells, strict=True)])
        elif self.choice.clock is not None:
            column = column.astype(str) + " " + block.columns[self.choice.clock].astype(str)
        self.columns.append(column)

    def times(self) -> Times:
        """All times in the order of the rows, dates on the clock that wrote them."""
        several = len(self.columns) > 1
        column = pd.concat(self.columns, ignore_index=True) if several else self.columns[0]
        name, title = self.table.name, self.table.names[self.choice.time]
        if kind_of_column(column, text_alone=True) == "text":
            cells = ["" if cell is None or cell != cell else str(cell).strip() for cell in column]
            some, form = cells[:_KIND_CELLS], NumberFormat()
            reader = TimeReader(
                some, column=title, source=name, form=form, time_format=self.time_format
            )
            reader.add(cells, range(1, len(cells) + 1))
            return reader.times()
        if column.dtype.kind == "m":
            return Times(column.to_numpy() / np.timedelta64(1, "D"), "day", None, (), "number")
        if column.dtype.kind in "iuf" and column.hasnans:
            column = column.astype(np.float64)
        stamps, zone = stamps_of(column)
        if stamps.dtype.kind == "M":
            return Times(stamps, "day", zone, (), "date")
        return interpret_numbers(stamps, title, name, self.time_format)


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


def arrow() -> Any:
    """The module `pyarrow`, or an error that says how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError(
            "Parquet files, and surveys of many series, which keep their tables in them, need "
            "pyarrow; install it with: pip install robustfourier[arrow]"
        ) from None
    return pyarrow


class ArrowTable(TypedTable):
    """A table of Arrow, of which only the columns that are wanted are read.

    `batches` makes record batches of some columns; `fixed` holds columns that have one label in all
    rows: the names of folders.
    """

    def __init__(
        self,
        name: str,
        schema: Any,
        batches: Callable[[list[str]], Iterator[Any]],
        options: ReadOptions,
        *,
        fixed: dict[str, str] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        self.fixed, self.batches = fixed or {}, batches
        names = [*schema.names, *self.fixed]
        kinds = [_kind_of_type(field.type) for field in schema] + ["text"] * len(self.fixed)
        super().__init__(name, Frame(pd.DataFrame()), options, names=names, kinds=kinds, path=path)

    def frames(self, columns: Sequence[int]) -> Iterator[pd.DataFrame]:
        """Some columns of all rows; an index is a column like others."""
        wanted = [self.names[j] for j in columns]
        if any(self.names.count(name) > 1 for name in wanted):
            raise DataError(f"{self.name}: columns share a name; rename them")
        for batch in self.batches([name for name in wanted if name not in self.fixed]):
            frame = batch.to_pandas(ignore_metadata=True)
            yield frame.assign(**{n: self.fixed[n] for n in wanted if n in self.fixed})[wanted]


@contextmanager
def opened_parquet(
    path: str | os.PathLike[str],
    options: ReadOptions,
    *,
    fixed: tuple[tuple[str, str], ...] = (),
) -> Iterator[ArrowTable]:
    """A Parquet file; whatever is wrong with it is a `DataError` that names it."""
    name, parquet = display_name(path), arrow().parquet
    with one_error(path, "parquet"), parquet.ParquetFile(path, pre_buffer=False) as file:
        made = _SAMPLE * file.metadata.num_rows
        what, remedy = "the rows", "write them as CSV"
        require_proportion(made, os.path.getsize(path), name, what, remedy)

        def batches(columns: list[str]) -> Iterator[Any]:
            return file.iter_batches(batch_size=ROWS, columns=columns)

        schema = file.schema_arrow
        yield ArrowTable(name, schema, batches, options, fixed=dict(fixed), path=path)


def _kind_of_type(kind: Any) -> str:
    """What the cells of a column of this Arrow type are."""
    import pyarrow.types as types

    if types.is_timestamp(kind) or types.is_date(kind):
        return "time"
    if types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind):
        return "number"
    return "text"
