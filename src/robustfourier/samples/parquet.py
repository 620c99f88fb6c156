"""Parquet tables to `Samples`; the one home of pyarrow, which is optional."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import DataError, MissingDependencyError, RobustFourierError
from robustfourier.samples.budget import require_proportion
from robustfourier.samples.cleaning import clean, numbers_of, stamps_of
from robustfourier.samples.columns import Choice, choose_columns, parse_by
from robustfourier.samples.data_frames import column_times
from robustfourier.samples.samples import Samples
from robustfourier.samples.series_labels import LABELLED, Labels, refuse_mixture, require_one
from robustfourier.samples.text_streams import display_name, quoted
from robustfourier.untrusted_files import file_digest

if TYPE_CHECKING:
    from robustfourier.samples.text_tables import ReadOptions

_SAMPLE = 16  # bytes of a time and a value


def read_parquet(
    path: str | os.PathLike[str], asked: ReadOptions, need_value: bool = True
) -> Samples:
    """Read the chosen columns of a Parquet file, batch by batch.

    Parameters
    ----------
    path : str or path
        The file.
    asked : ReadOptions
        As for text; what concerns the writing of text is of no effect.
    need_value : bool
        Whether values are asked for, too; they are zero if not.
    """
    name = display_name(path)
    with opened(path, name) as file:
        return _read(file, path, name, asked, need_value)


def arrow() -> Any:
    """The module `pyarrow`, or an error that says how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError(
            "Parquet needs pyarrow; install it with: pip install pyarrow"
        ) from None
    return pyarrow


@contextmanager
def opened(path: str | os.PathLike[str], name: str) -> Iterator[Any]:
    """A Parquet file; whatever is wrong with it is a `DataError` that names it."""
    parquet = arrow().parquet
    try:
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            made = _SAMPLE * file.metadata.num_rows
            what, remedy = "the rows", "write them as CSV"
            require_proportion(made, os.path.getsize(path), name, what, remedy)
            yield file
    except FileNotFoundError:
        raise DataError(f"{str(path)!r}: no such file; check the name and folder") from None
    except RobustFourierError:
        raise
    except Exception as error:  # pyarrow raises many kinds for a damaged file
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{name}: cannot be read as Parquet ({quoted(first, 120)})") from None


def _read(
    file: Any, path: str | os.PathLike[str], name: str, asked: ReadOptions, need_value: bool
) -> Samples:
    names = file.schema_arrow.names
    kinds = [kind_of_type(field.type) for field in file.schema_arrow]
    by = parse_by(asked.by, names, name)
    apart = [i for i, _ in by]
    told = {"time": asked.time, "value": asked.value, "error": asked.error}
    choice = choose_columns(names, kinds, name, **told, need_value=need_value, apart=apart)
    told_apart = (*choice.parts, *apart)
    wanted = [i for i in (choice.time, choice.value, choice.error, *told_apart) if i is not None]
    columns = [names[i] for i in wanted]
    if len(set(columns)) != len(columns) or any(names.count(c) > 1 for c in columns):
        raise DataError(f"{name}: columns share a name; rename them")
    table = _columns(file, columns)
    if not len(table):
        raise DataError(f"{name}: has no rows; nothing to fit")
    notes: list[str] = []
    for i, label in by:
        labels = _labels(table[names[i]])
        if label is not None:
            table = table[table[names[i]].astype(str).str.strip() == label]
        notes += require_one(labels, label, len(table), names[i], name)
    at = [columns.index(names[i]) for i in choice.parts]
    times = column_times(table, Choice(0, None, None, None, tuple(at)), name, asked, {})
    if asked.duplicates is None and pd.Series(times.values).duplicated().any():
        free = [n for n, kind in zip(names, kinds, strict=True) if kind in ("text", "number")]
        free = [n for n in free if n not in columns and names.count(n) == 1]
        others = {n: _labels(_columns(file, [n])[n][table.index]) for n in free[:LABELLED]}
        refuse_mixture(times.values, others, name)
    return clean(
        times,
        column_numbers(table[columns[1]], name) if need_value else np.zeros(len(table)),
        None if choice.error is None else column_numbers(table[columns[2]], name),
        np.arange(1, len(table) + 1),
        missing=asked.missing,
        duplicates=asked.duplicates or "mean",
        time_name="index" if columns[0].startswith("__index_level_") else columns[0],
        value_name=columns[1] if need_value else "value",
        error_name=columns[2] if choice.error is not None else None,
        source=name,
        sha256=file_digest(path),
        notes=tuple(notes),
    )


def _columns(file: Any, columns: list[str]) -> pd.DataFrame:
    """Columns of a file, batch by batch; an index is a column like others."""
    batches = file.iter_batches(batch_size=1 << 20, columns=columns)
    frames = [batch.to_pandas(ignore_metadata=True) for batch in batches]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _labels(column: pd.Series[Any]) -> Labels:
    labels = Labels()
    labels.add([str(cell) for cell in column])
    return labels


def kind_of_type(kind: Any) -> str:
    """What the cells of a column of this Arrow type are."""
    import pyarrow.types as types

    if types.is_timestamp(kind) or types.is_date(kind):
        return "time"
    if types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind):
        return "number"
    return "text"


def column_stamps(column: Any, name: str) -> tuple[NDArray[Any], str | None]:
    """A column of times as an array, and the zone of dates."""
    if column.dtype == object or isinstance(column.dtype, pd.StringDtype):
        try:
            column = pd.to_datetime(column, format="ISO8601", utc=True)
        except (ValueError, TypeError) as error:
            raise DataError(
                f"{name}, column {quoted(str(column.name))}: {str(error).splitlines()[0]}; "
                "store times as timestamps or numbers"
            ) from None
    if column.dtype.kind in "iuf" and column.hasnans:
        column = column.astype(np.float64)
    return stamps_of(column)


def column_numbers(column: Any, name: str) -> FloatArray:
    """A column of numbers; what is wrong with it is told with the part's name."""
    return numbers_of(column, f"{name}, column {quoted(str(column.name))}", column.shape)
