"""Tables of Arrow: Parquet files and fragments of data sets; the one home of pyarrow's reading."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pandas as pd

from robustfourier.errors import DataError, MissingDependencyError
from robustfourier.samples.data_frames import ROWS, Frame, TypedTable
from robustfourier.samples.decompression import require_proportion
from robustfourier.samples.file_formats import one_error
from robustfourier.samples.text_streams import display_name
from robustfourier.samples.text_tables import ReadOptions

_SAMPLE = 16  # bytes of a time and a value


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

    def labelled(self, taken: set[int]) -> list[int]:
        """Columns that are not used, and may tell series apart."""
        free = super().labelled(taken)
        return [j for j in free if self.kinds[j] != "time" and self.names.count(self.names[j]) == 1]

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
    need_value: bool = True,
    *,
    fixed: tuple[tuple[str, str], ...] = (),
) -> Iterator[ArrowTable]:
    """A Parquet file; whatever is wrong with it is a `DataError` that names it."""
    del need_value
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
