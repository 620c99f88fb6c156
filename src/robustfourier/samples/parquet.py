"""Parquet tables to `Samples`; the one home of pyarrow, which is optional."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.errors import DataError, MissingDependencyError
from robustfourier.samples.cleaning import clean, numbers_of, stamps_of
from robustfourier.samples.columns import choose_columns
from robustfourier.samples.instants import Times, interpret_numbers
from robustfourier.samples.samples import Samples
from robustfourier.samples.source import display_name, quoted

if TYPE_CHECKING:
    from robustfourier.samples.reading import ReadOptions

__all__ = ["read_parquet"]


def read_parquet(path: str | os.PathLike[str], asked: ReadOptions) -> Samples:
    """Read the chosen columns of a Parquet file, batch by batch.

    Parameters
    ----------
    path : str or path
        The file.
    asked : ReadOptions
        As for text; what concerns the writing of text is of no effect.
    """
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingDependencyError(
            "reading Parquet needs pyarrow; install it with: pip install pyarrow"
        ) from None
    name = display_name(path)
    try:
        with parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            kinds = [_kind(field.type) for field in schema]
            choice = choose_columns(
                schema.names, kinds, name, time=asked.time, value=asked.value, error=asked.error
            )
            wanted = [i for i in (choice.time, choice.value, choice.error) if i is not None]
            columns = [schema.names[i] for i in wanted]
            if len(set(columns)) != len(columns) or any(schema.names.count(c) > 1 for c in columns):
                raise DataError(f"{name}: columns share a name; rename them")
            frames = [
                batch.to_pandas()
                for batch in file.iter_batches(batch_size=1 << 20, columns=columns)
            ]
    except FileNotFoundError:
        raise DataError(f"{str(path)!r}: no such file; check the name and folder") from None
    except DataError:
        raise
    except Exception as error:  # pyarrow raises many kinds for a damaged file
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{name}: cannot be read as Parquet ({quoted(first, 120)})") from None
    if not frames or not sum(map(len, frames)):
        raise DataError(f"{name}: has no rows; nothing to fit")
    table = pd.concat(frames, ignore_index=True)
    return clean(
        _times(table[columns[0]], name, asked),
        _numbers(table[columns[1]], name),
        None if choice.error is None else _numbers(table[columns[2]], name),
        np.arange(1, len(table) + 1),
        missing=asked.missing,
        duplicates=asked.duplicates,
        time_name=columns[0],
        value_name=columns[1],
        error_name=columns[2] if choice.error is not None else None,
        source=name,
        sha256=_digest(path),
    )


def _kind(kind: Any) -> str:
    import pyarrow.types as types

    if types.is_timestamp(kind) or types.is_date(kind):
        return "time"
    if types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind):
        return "number"
    return "text"


def _times(column: pd.Series[Any], name: str, asked: ReadOptions) -> Times:
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
    stamps, zone = stamps_of(column)
    if stamps.dtype.kind == "M":
        return Times(stamps, "day", asked.timezone if zone and asked.timezone else zone, ())
    return interpret_numbers(stamps, str(column.name), name, asked.time_format)


def _numbers(column: pd.Series[Any], name: str) -> FloatArray:
    return numbers_of(column, f"{name}, column {quoted(str(column.name))}", column.shape)


def _digest(path: str | os.PathLike[str]) -> str:
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
