"""Tables of any size, in parts: files, partitions and tables in memory, read piece by piece.

A survey holds many series, a long record does not fit into memory; both come as parts of which only
one piece is held at a time. Which columns are meant and how times are written is decided once, from
the first part that can be read, and holds for all others (`Layout`).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from robustfourier.errors import DataError, InputError
from robustfourier.result_folders import is_result
from robustfourier.samples.data_frames import ROWS, Frame, TypedTable
from robustfourier.samples.layout import Part
from robustfourier.samples.objects import cells_frame
from robustfourier.samples.parquet import ArrowTable, opened_parquet
from robustfourier.samples.reading import opened_table
from robustfourier.samples.text_streams import display_name
from robustfourier.samples.text_tables import ReadOptions
from robustfourier.untrusted_files import file_digest, stream_digest

_TEXTS = (".csv", ".tsv", ".txt", ".dat", ".asc", ".csv.gz", ".tsv.gz", ".txt.gz", ".dat.gz")


def parts_of(source: Any) -> list[Part]:
    """The parts of a file, folder, table in memory, pyarrow data set or Dask table or arrays.

    Folders hold Parquet files (in folders named ``column=label`` too), or text files of one form.
    """
    if isinstance(source, (str, os.PathLike)):
        return _paths(Path(source))
    if isinstance(source, (list, tuple)) and all(hasattr(each, "chunks") for each in source):
        blocks = zip(*(array.to_delayed().ravel() for array in source), strict=True)
        return [_lazy(f"chunk {i}", block) for i, block in enumerate(blocks)]
    if isinstance(source, (list, tuple)):
        return [part for each in source for part in parts_of(each)]
    if hasattr(source, "to_delayed") and hasattr(source, "npartitions"):
        return [_lazy(f"partition {i}", [p]) for i, p in enumerate(source.to_delayed())]
    if hasattr(source, "get_fragments"):
        return [_fragment(fragment, source.schema) for fragment in source.get_fragments()]
    if hasattr(source, "dims") and hasattr(source, "coords") and not hasattr(source, "data_vars"):
        return [_in_memory("array", cells_frame(source))]
    if hasattr(source, "to_pandas"):
        return [_in_memory("table", source.to_pandas())]
    if isinstance(source, pd.DataFrame):
        return [_in_memory("table", source)]
    raise InputError(
        f"source is a {type(source).__name__}; give a path, a pandas, polars, pyarrow or Dask table"
    )


def _paths(path: Path) -> list[Part]:
    if not path.is_dir():
        return [_file(path)]
    within = sorted(p for p in _within(path) if p.is_file() and not p.name.startswith((".", "_")))
    tables = [p for p in within if p.name.lower().endswith((".parquet", ".pq"))]
    texts = [p for p in within if p.name.lower().endswith(_TEXTS)]
    if tables:
        opened = [partial(opened_parquet, p, fixed=_hive(path, p)) for p in tables]
        return [_file(p, source) for p, source in zip(tables, opened, strict=True)]
    if texts:
        return [_file(p) for p in texts]
    raise DataError(f"{str(path)!r}: the folder holds neither Parquet files nor text tables")


def _within(root: Path) -> Iterator[Path]:
    """Paths within a folder, but for those of hidden folders and of our own results."""
    for at, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name[0] != "." and not is_result(Path(at) / name)]
        yield from (Path(at) / name for name in names)


def _hive(root: Path, path: Path) -> tuple[tuple[str, str], ...]:
    """Columns that folders named ``column=label`` stand for."""
    folders = path.relative_to(root).parts[:-1]
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return tuple((name, label) for name, _, label in pairs)


def _file(path: Path, source: Any = None) -> Part:
    opened = source or partial(opened_table, path)
    return Part(display_name(path), partial(file_digest, path), opened, path)


def _fragment(fragment: Any, schema: Any) -> Part:
    name = display_name(getattr(fragment, "path", "") or "data set")
    opened = partial(_opened_fragment, fragment, schema, name)
    return Part(name, partial(_fragment_digest, fragment), opened)


@contextmanager
def _opened_frame(
    make: Callable[[], pd.DataFrame], name: str, options: ReadOptions, need_value: bool
) -> Iterator[TypedTable]:
    """A table in memory, or one that is computed when it is read."""
    del need_value
    yield TypedTable.of(Frame(make()), name, options)


@contextmanager
def _opened_fragment(
    fragment: Any, schema: Any, name: str, options: ReadOptions, need_value: bool
) -> Iterator[TypedTable]:
    """A fragment of a pyarrow data set, which may lie anywhere."""
    del need_value

    def batches(columns: list[str]) -> Iterator[Any]:
        return fragment.to_batches(schema=schema, columns=columns, batch_size=ROWS)

    yield ArrowTable(name, schema, batches, options)


def _in_memory(name: str, frame: pd.DataFrame) -> Part:
    opened = partial(_opened_frame, partial(pd.DataFrame, frame), name)
    return Part(name, partial(_frame_digest, frame), opened)


def _lazy(name: str, blocks: Sequence[Any]) -> Part:
    """A partition of a Dask table, or chunks of Dask arrays: times, values and perhaps errors."""
    make = partial(_computed, blocks)
    keys = " ".join(str(block.key) for block in blocks)  # tokens of its graph
    return Part(name, partial(str, keys), partial(_opened_frame, make, name))


def _computed(blocks: Sequence[Any]) -> pd.DataFrame:
    made = [block.compute(scheduler="sync") for block in blocks]  # here, where it is read
    if isinstance(made[0], pd.DataFrame):
        return made[0]
    return pd.DataFrame(dict(zip(("time", "value", "error"), made, strict=False)))


def _frame_digest(frame: pd.DataFrame) -> str:
    rows = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    return stream_digest(io.BytesIO(rows.tobytes()))


def _fragment_digest(fragment: Any) -> str:
    path = getattr(fragment, "path", None)
    if not path:
        return _frame_digest(fragment.to_table().to_pandas())
    with fragment.filesystem.open_input_stream(path, compression=None) as file:
        return stream_digest(file)
