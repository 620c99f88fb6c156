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
from robustfourier.samples.column_choice import Choice, choose_columns
from robustfourier.samples.file_formats import one_error
from robustfourier.samples.number_parsing import NumberFormat
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.samples import numbers_of
from robustfourier.samples.text_streams import display_name, require_proportion
from robustfourier.samples.text_tables import kind_of
from robustfourier.samples.time_columns import TimeReader, is_text
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
    """A table whose cells have types: of pandas here, of Arrow in `ArrowTable`."""

    name: str  # for messages
    table: Frame  # its columns, or none but what is known of them
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
        return cls(name, table, list(map(str, frame)), kinds, path)

    def digest(self) -> str | None:
        """SHA-256 of the file, if there is one."""
        return None if self.path is None else file_digest(self.path)

    def unit(self, column: int) -> str:
        """Unit of a column, as its maker writes it; empty if unknown."""
        return self.table.units.get(self.names[column], "")

    @property
    def apart(self) -> list[int]:
        """Columns that are neither times nor values: labels of series."""
        return [i for i, name in enumerate(self.names) if name in self.table.labels]

    def choose(
        self, options: ReadOptions, need_value: bool = True, apart: Sequence[int] = ()
    ) -> Choice:
        """The columns that are meant, but for those that are known to be apart."""
        known = self.table
        wanted = replace(
            options,
            time=options.time or known.time,
            value=options.value or known.value,
            error=options.error or (known.error if options.value is None else None),
        )
        apart = [*self.apart, *apart]
        return choose_columns(
            self.names, self.kinds, self.name, wanted, need_value=need_value, apart=apart
        )

    def labelled(self, taken: set[int]) -> list[int]:
        """Columns that are not used, and may tell series apart."""
        free = [j for j in range(len(self.names)) if j not in taken and self.kinds[j] != "time"]
        return [j for j in free if self.names.count(self.names[j]) == 1]

    def frames(self, columns: Sequence[int]) -> Iterator[pd.DataFrame]:
        """Some columns of all rows, in that order, some rows at a time."""
        for start in range(0, len(self.table.frame), ROWS):
            yield self.table.frame.iloc[start : start + ROWS, list(columns)]

    def blocks(self, columns: Sequence[int]) -> Iterator[pd.DataFrame]:
        """Some columns, block by block, with the numbers of their rows."""
        count = 0
        for frame in self.frames(columns):
            count += len(frame)
            lines = range(count - len(frame) + 1, count + 1)
            yield frame.set_axis(lines, axis=0).set_axis(list(columns), axis=1)

    def texts(self, block: pd.DataFrame, column: int) -> list[str]:
        """Cells of a column as labels; whole numbers without a point, whatever their type is."""
        cells = block[column]
        if cells.dtype.kind == "f":
            cells = cells.astype(object).map(lambda x: int(x) if x == x and x == int(x) else x)
        return [str(cell).strip() for cell in cells]

    def numbers(self, block: pd.DataFrame, column: int) -> FloatArray:
        """A column as numbers, NaN where missing."""
        cells = block[column]
        return numbers_of(cells, f"{self.name}, column {quoted(self.names[column])}", cells.shape)

    def time_reader(self, choice: Choice, time_format: str) -> TimeReader:
        """What reads the times, block by block."""
        return TimeReader(choice, self.names[choice.time], self.name, time_format)

    def notes(self) -> list[str]:
        """What was taken."""
        return list(self.table.notes)


def kind_of_column(column: Any) -> str:
    """What the cells of a column are: "time", "number" or what its text says."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return "text"
    some = column.iloc[:_KIND_CELLS].dropna()
    if is_text(some):
        return kind_of([str(cell) for cell in some], NumberFormat())
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "number"
    array = np.asarray(some.infer_objects())
    dated = array.dtype.kind in "Mm" or (len(some) and hasattr(some.iloc[0], "isoformat"))
    return "time" if dated or isinstance(column.dtype, pd.PeriodDtype) else "number"


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
        *,
        fixed: dict[str, str] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        self.fixed, self.batches = fixed or {}, batches
        names = [*schema.names, *self.fixed]
        kinds = [_kind_of_type(field.type) for field in schema] + ["text"] * len(self.fixed)
        super().__init__(name, Frame(pd.DataFrame()), names, kinds, path)

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
    del options  # which say nothing of types
    name, parquet = display_name(path), arrow().parquet
    with one_error(path, "parquet"), parquet.ParquetFile(path, pre_buffer=False) as file:
        made = _SAMPLE * file.metadata.num_rows
        what, remedy = "the rows", "write them as CSV"
        require_proportion(made, os.path.getsize(path), name, what, remedy)

        def batches(columns: list[str]) -> Iterator[Any]:
            return file.iter_batches(batch_size=ROWS, columns=columns)

        schema = file.schema_arrow
        yield ArrowTable(name, schema, batches, fixed=dict(fixed), path=path)


def _kind_of_type(kind: Any) -> str:
    """What the cells of a column of this Arrow type are."""
    import pyarrow.types as types

    if types.is_timestamp(kind) or types.is_date(kind):
        return "time"
    if types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind):
        return "number"
    return "text"
