"""Tables of any size, in parts: files, partitions and tables in memory, read piece by piece.

A survey holds many series, a long record does not fit into memory; both come as parts of which only
one piece is held at a time. Which columns are meant and how times are written is decided once, from
the first part that can be read, and holds for all others (`Layout`).
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from robustfourier.errors import DataError, InputError
from robustfourier.formatting import quoted
from robustfourier.result_folders import is_result
from robustfourier.samples.column_choice import Choice, find_column, is_error
from robustfourier.samples.daylight_saving import checked_zone, on_clock
from robustfourier.samples.library_tables import cells_frame
from robustfourier.samples.read_options import ReadOptions
from robustfourier.samples.reading import Table, opened_table
from robustfourier.samples.text_streams import display_name
from robustfourier.samples.time_columns import Times
from robustfourier.samples.typed_tables import ROWS, ArrowTable, Frame, TypedTable, opened_parquet
from robustfourier.untrusted_files import file_digest, stream_digest

_TEXTS = (".csv", ".tsv", ".txt", ".dat", ".asc", ".csv.gz", ".tsv.gz", ".txt.gz", ".dat.gz")

#: Columns of a piece, which are also those of a survey's buckets: times are numbers, or dates on
#: the clock that wrote them (UTC where they name a zone); values and tags are counted from 0.
TIME, VALUE, ERROR, LABEL, TAG = "time", "value_", "error", "label", "tag_"


@dataclass(frozen=True)
class Layout:
    """Which columns are meant, and how times are written."""

    time: str  # names of the columns; `error` and `label` may be None
    values: tuple[str, ...]
    error: str | None
    label: str | None
    clock: str | None  # A column with the time of day, where `time` holds the date alone
    form: str  # how times are written: a strptime format, "iso", or what numbers stand for
    unit: str  # unit of the times; zone that dates name, if they do
    zone: str | None
    dates: bool  # whether times are dates
    options: ReadOptions  # what the user said
    #: columns of month, day and so on, where `time` holds the year alone
    parts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # columns of further labels, such as subject and group

    @property
    def columns(self) -> list[str]:
        """All columns that are read, each once."""
        wanted = (self.time, self.clock, *self.parts, *self.values, self.error, self.label)
        wanted = (*wanted, *self.tags)
        return list(dict.fromkeys(name for name in wanted if name is not None))

    def stamps(self, piece: pd.DataFrame) -> Times:
        """Times of a piece, on the clock that the user names."""
        times = Times(piece[TIME].to_numpy(), self.unit, self.zone, ())
        return on_clock(times, checked_zone(self.options.timezone))

    @classmethod
    def of(
        cls,
        part: Part,
        options: ReadOptions,
        values: Sequence[str] | str | None,
        by: str | None,
        tags: Sequence[str] = (),
    ) -> Layout:
        """Decide from one part; its options `value` and `by` are of no effect.

        `values` are value columns, "all" of them, or None for the one that is meant; `by` tells
        series apart, `tags` are columns of further labels.
        """
        with part.opened(options) as table:
            names = table.names
            label = None if by is None else find_column(by, names, part.name, "--by")
            tagged = [find_column(tag, names, part.name, "--by") for tag in tags]
            apart = [*([] if label is None else [label]), *tagged]
            choice, chosen = _choice(table, options, values, apart)
            reader = table.time_reader(choice, options.time_format)
            for block in itertools.islice(table.blocks(choice.times), 2):
                reader.add_block(block)
            times = reader.times()
        return cls(
            time=names[choice.time],
            values=tuple(names[i] for i in chosen),
            error=None if choice.error is None else names[choice.error],
            label=None if label is None else names[label],
            clock=None if choice.clock is None else names[choice.clock],
            form=times.form,
            unit=options.unit or times.unit,
            zone=times.timezone,
            dates=times.values.dtype.kind == "M",
            options=options,
            parts=tuple(names[i] for i in choice.parts),
            tags=tuple(names[i] for i in tagged),
        )


@dataclass(frozen=True)
class Part:
    """Something that holds rows of a table."""

    name: str  # for messages
    content: Callable[[], str]  # returns what tells this part from another of the same name
    #: opens the table; can be pickled
    source: Callable[[ReadOptions], AbstractContextManager[Table]]
    path: Path | None = None  # the file

    def version(self) -> tuple[int, ...]:
        """What changes when somebody writes to the file or replaces it; nothing without a file."""
        try:
            found = os.stat(self.path or "")
        except OSError:  # who reads it says why
            return ()
        return (found.st_ino, found.st_size, found.st_mtime_ns)

    def opened(self, options: ReadOptions) -> AbstractContextManager[Table]:
        """The table, open for reading."""
        return self.source(replace(options, by=(), value=None, error=None))

    def pieces(self, layout: Layout) -> Iterator[pd.DataFrame]:
        """All rows, some at a time."""
        with self.opened(replace(layout.options, time=layout.time)) as table:
            for name in layout.columns:
                if name not in table.names:
                    there = ", ".join(quoted(n, 40) for n in table.names[:12])
                    raise DataError(
                        f"{self.name}: has no column {quoted(name)}, unlike other parts; there "
                        f"are {there}"
                    )
            at = {name: table.names.index(name) for name in layout.columns}
            for block in table.blocks(list(at.values())):
                if len(block):
                    yield self._piece(table, block, layout, at)

    def _piece(
        self, table: Table, block: pd.DataFrame, layout: Layout, at: dict[str, int]
    ) -> pd.DataFrame:
        clock = None if layout.clock is None else at[layout.clock]
        choice = Choice(at[layout.time], None, None, clock, tuple(at[n] for n in layout.parts))
        reader = table.time_reader(choice, layout.form)
        reader.add_block(block)
        times = reader.times()
        dates = layout.dates
        if (times.values.dtype.kind == "M") != dates or (dates and times.timezone != layout.zone):
            raise DataError(
                f"{self.name}, column {quoted(layout.time)}: times are of another kind than in "
                "the parts before; write all parts alike"
            )
        labels = {LABEL: layout.label, **{f"{TAG}{i}": tag for i, tag in enumerate(layout.tags)}}
        numbers = {f"{VALUE}{i}": name for i, name in enumerate(layout.values)}
        numbers |= {} if layout.error is None else {ERROR: layout.error}
        columns: dict[str, Any] = {TIME: times.values}
        columns |= {key: table.numbers(block, at[name]) for key, name in numbers.items()}
        for key, label in labels.items():
            if label is not None:
                columns[key] = pd.Series(table.texts(block, at[label]), dtype=object)
        return pd.DataFrame(columns)


def read_parts(parts: Sequence[Part], layout: Layout) -> pd.DataFrame:
    """All rows of all parts, with the columns of pieces."""
    pieces = [piece for part in parts for piece in part.pieces(layout)]
    if not pieces:
        raise DataError(f"{parts[0].name}: has no rows; nothing to fit")
    return pd.concat(pieces, ignore_index=True)


def _choice(
    table: Table, options: ReadOptions, values: Sequence[str] | str | None, apart: list[int]
) -> tuple[Choice, list[int]]:
    """The columns of time and error, and those of values."""
    names, source = table.names, table.name
    many = values is not None and (isinstance(values, str) or len(values) != 1)
    value = None if values is None or many else values[0]
    choice = table.choose(replace(options, by=(), value=value), not many, apart)
    if not many or values is None:
        assert choice.value is not None
        return choice, [choice.value]
    error = None if options.error is None else find_column(options.error, names, source, "--error")
    taken = {*choice.times, error, *table.apart, *apart}
    if isinstance(values, str):
        chosen = [i for i, kind in enumerate(table.kinds) if kind == "number" and i not in taken]
        chosen = [i for i in chosen if not is_error(names[i])]
    else:
        chosen = [find_column(value, names, source, "--value") for value in values]
    if not chosen or choice.time in chosen:
        raise DataError(f"{source}: no column of numbers is left for the values; say --value")
    return replace(choice, error=error), list(dict.fromkeys(chosen))


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
    within = []
    for at, folders, names in os.walk(path):  # but for hidden folders and those of our results
        folders[:] = [name for name in folders if name[0] != "." and not is_result(Path(at) / name)]
        within += [Path(at) / name for name in names if not name.startswith((".", "_"))]
    within = sorted(each for each in within if each.is_file())
    tables = [p for p in within if p.name.lower().endswith((".parquet", ".pq"))]
    texts = [p for p in within if p.name.lower().endswith(_TEXTS)]
    if tables:
        opened = [partial(opened_parquet, p, fixed=_hive(path, p)) for p in tables]
        return [_file(p, source) for p, source in zip(tables, opened, strict=True)]
    if texts:
        return [_file(p) for p in texts]
    raise DataError(f"{str(path)!r}: the folder holds neither Parquet files nor text tables")


def _hive(root: Path, path: Path) -> tuple[tuple[str, str], ...]:
    """Columns that folders named ``column=label`` stand for."""
    folders = path.relative_to(root).parts[:-1]
    pairs = (folder.partition("=") for folder in folders if "=" in folder)
    return tuple((name, label) for name, _, label in pairs)


def _file(path: Path, source: Any = None) -> Part:
    opened = source or partial(opened_table, path, need_value=False)
    return Part(display_name(path), partial(file_digest, path), opened, path)


def _fragment(fragment: Any, schema: Any) -> Part:
    name = display_name(getattr(fragment, "path", "") or "data set")
    opened = partial(_opened_fragment, fragment, schema, name)
    return Part(name, partial(_fragment_digest, fragment), opened)


@contextmanager
def _opened_frame(
    make: Callable[[], pd.DataFrame], name: str, options: ReadOptions
) -> Iterator[TypedTable]:
    """A table in memory, or one that is computed when it is read."""
    yield TypedTable.of(Frame(make()), name, options)


@contextmanager
def _opened_fragment(
    fragment: Any, schema: Any, name: str, options: ReadOptions
) -> Iterator[TypedTable]:
    """A fragment of a pyarrow data set, which may lie anywhere."""

    def batches(columns: list[str]) -> Iterator[Any]:
        return fragment.to_batches(schema=schema, columns=columns, batch_size=ROWS)

    del options  # which say nothing of types
    yield ArrowTable(name, schema, batches)


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
