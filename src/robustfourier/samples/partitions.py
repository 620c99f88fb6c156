"""Tables of any size, in parts: files, partitions and tables in memory, read piece by piece.

A survey holds many series, a long record does not fit into memory; both come as parts of which only
one piece is held at a time. Which columns are meant and how times are written is decided once, from
the first part that can be read, and holds for all others (`Layout`).
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.errors import DataError, InputError
from robustfourier.result_folders import is_result
from robustfourier.samples.epochs import Times, interpret_numbers, kind_of_numbers
from robustfourier.samples.file_formats import format_of, read_frame
from robustfourier.samples.layout import Layout, Part, Piece
from robustfourier.samples.objects import cells_frame
from robustfourier.samples.parquet import column_numbers, column_stamps, kind_of_type, opened
from robustfourier.samples.text_streams import display_name, open_text, quoted
from robustfourier.samples.text_tables import OpenTable, ReadOptions, open_table, time_cells
from robustfourier.samples.time_columns import TimeReader

PIECE = 1 << 18  # rows held at once; a dozen columns of them take 25 MB
_ENDS = 1 << 20  # bytes of either end of a file that tell it from another
_TEXTS = (".csv", ".tsv", ".txt", ".dat", ".asc", ".csv.gz", ".tsv.gz", ".txt.gz", ".dat.gz")


def parts_of(source: Any) -> list[Part]:
    """The parts of a file, folder, table in memory, pyarrow data set or Dask table or arrays.

    Folders hold Parquet files (in folders named ``column=label`` too), or text files of one form.
    """
    if isinstance(source, (str, os.PathLike)):
        return _paths(Path(source))
    if isinstance(source, (list, tuple)) and all(hasattr(each, "chunks") for each in source):
        blocks = zip(*(array.to_delayed().ravel() for array in source), strict=True)
        return [_ArraysPart(f"chunk {i}", block) for i, block in enumerate(blocks)]
    if isinstance(source, (list, tuple)):
        return [part for each in source for part in parts_of(each)]
    if hasattr(source, "to_delayed") and hasattr(source, "npartitions"):
        return [_LazyPart(f"partition {i}", p) for i, p in enumerate(source.to_delayed())]
    if hasattr(source, "get_fragments"):
        return [_FragmentPart(_fragment_name(f), f, source.schema) for f in source.get_fragments()]
    if hasattr(source, "dims") and hasattr(source, "coords") and not hasattr(source, "data_vars"):
        return [_FramePart("array", cells_frame(source))]
    if hasattr(source, "to_pandas"):
        return [_FramePart("table", source.to_pandas())]
    if isinstance(source, pd.DataFrame):
        return [_FramePart("table", source)]
    raise InputError(
        f"source is a {type(source).__name__}; give a path, a pandas, polars, pyarrow or Dask table"
    )


def _paths(path: Path) -> list[Part]:
    if not path.is_dir():
        name, kind = display_name(path), format_of(path)
        if kind == "parquet":
            return [_ParquetPart(name, path)]
        return [_FilePart(name, path, kind) if kind else _TextPart(name, path)]
    within = sorted(p for p in _within(path) if p.is_file() and not p.name.startswith((".", "_")))
    tables = [p for p in within if p.name.lower().endswith((".parquet", ".pq"))]
    texts = [p for p in within if p.name.lower().endswith(_TEXTS)]
    if tables:
        return [_ParquetPart(display_name(p), p, _hive(path, p)) for p in tables]
    if texts:
        return [_TextPart(display_name(p), p) for p in texts]
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


def _fragment_name(fragment: Any) -> str:
    return display_name(getattr(fragment, "path", "") or "data set")


@dataclass(frozen=True)
class _Frames:
    """A part that comes as pandas tables; `name` is for messages."""

    name: str

    def frames(self, columns: list[str]) -> Iterator[pd.DataFrame]:
        """Rows in pieces."""
        raise NotImplementedError

    def content(self) -> str:
        """What tells this part from another of the same name."""
        raise NotImplementedError

    def time_form(self, layout: Layout) -> tuple[str, Times]:
        first = next((f for f in self.frames([layout.time]) if len(f)), None)
        if first is None:
            raise DataError(f"{self.name}: has no rows; nothing to fit")
        stamps, zone = column_stamps(first[layout.time], self.name)
        form = layout.asked.time_format
        if stamps.dtype.kind == "M":
            return "date", Times(stamps, "day", zone, ())
        if form == "auto":
            known = stamps[np.isfinite(stamps)]
            form = kind_of_numbers(known, layout.time)
        return form, interpret_numbers(stamps, layout.time, self.name, form)

    def pieces(self, layout: Layout) -> Iterator[Piece]:
        for frame in self.frames(layout.columns):
            stamps, zone = column_stamps(frame[layout.time], self.name)
            dates = layout.form == "date"
            if (stamps.dtype.kind == "M") != dates or (dates and zone != layout.zone):
                raise DataError(
                    f"{self.name}, column {quoted(layout.time)}: times are of another kind than in "
                    "the parts before; write all parts alike"
                )
            if not dates:
                stamps = interpret_numbers(stamps, layout.time, self.name, layout.form).values
            values = [column_numbers(frame[name], self.name) for name in layout.values]
            error = None if layout.error is None else column_numbers(frame[layout.error], self.name)
            label = None if layout.label is None else _labels(frame[layout.label])
            tags = tuple(_labels(frame[name]) for name in layout.tags)
            yield Piece(stamps, np.stack(values, axis=1), error, label, tags)


@dataclass(frozen=True)
class _FramePart(_Frames):
    """A pandas table in memory."""

    frame: pd.DataFrame

    def content(self) -> str:
        rows = pd.util.hash_pandas_object(self.frame, index=False).to_numpy()
        return f"{len(rows)} rows, {hashlib.sha256(rows.tobytes()).hexdigest()}"

    def schema(self, asked: ReadOptions) -> tuple[list[str], list[str]]:
        del asked
        names = [str(name) for name in self.frame.columns]
        if len(set(names)) != len(names):
            raise DataError(f"{self.name}: columns share a name; rename them")
        return names, [_kind_of_dtype(self.frame[c].dtype) for c in self.frame.columns]

    def frames(self, columns: list[str]) -> Iterator[pd.DataFrame]:
        frame = self.frame.rename(columns=str)
        missing = [c for c in columns if c not in frame.columns]
        if missing:
            raise DataError(f"{self.name}: has no column {quoted(missing[0])}")
        for start in range(0, len(frame), PIECE):
            yield frame[columns].iloc[start : start + PIECE]


@dataclass(frozen=True)
class _FilePart(_Frames):
    """A file that is neither text nor Parquet."""

    path: Path
    kind: str

    def schema(self, asked: ReadOptions) -> tuple[list[str], list[str]]:
        return _FramePart(self.name, read_frame(self.path, self.kind, asked).frame).schema(asked)

    def frames(self, columns: list[str]) -> Iterator[pd.DataFrame]:
        frame = read_frame(self.path, self.kind, ReadOptions()).frame
        yield from _FramePart(self.name, frame).frames(columns)


@dataclass(frozen=True)
class _LazyPart(_Frames):
    """A partition of a Dask table, computed when it is read."""

    partition: Any

    def content(self) -> str:
        blocks = self.partition if isinstance(self.partition, tuple) else (self.partition,)
        return " ".join(str(block.key) for block in blocks)  # a token of its graph

    def schema(self, asked: ReadOptions) -> tuple[list[str], list[str]]:
        return self._computed().schema(asked)

    def frames(self, columns: list[str]) -> Iterator[pd.DataFrame]:
        yield from self._computed().frames(columns)

    def _computed(self) -> _FramePart:
        frame = self.partition.compute(scheduler="sync")  # here, where it is read
        return _FramePart("table", frame)


@dataclass(frozen=True)
class _ArraysPart(_LazyPart):
    """Chunks of Dask arrays: times, values and, if there are three, errors."""

    def _computed(self) -> _FramePart:
        blocks = (block.compute(scheduler="sync") for block in self.partition)
        columns = dict(zip(("time", "value", "error"), blocks, strict=False))
        return _FramePart("table", pd.DataFrame(columns))


@dataclass(frozen=True)
class _FragmentPart(_Frames):
    """A fragment of a pyarrow data set, which may lie anywhere."""

    fragment: Any
    types: Any

    def content(self) -> str:
        path = getattr(self.fragment, "path", None)
        if not path:
            return f"{self.fragment.count_rows()} rows"
        (info,) = self.fragment.filesystem.get_file_info([path])
        return f"{info.size} bytes, {info.mtime_ns}"

    def schema(self, asked: ReadOptions) -> tuple[list[str], list[str]]:
        del asked
        return list(self.types.names), [kind_of_type(field.type) for field in self.types]

    def frames(self, columns: list[str]) -> Iterator[pd.DataFrame]:
        batches = self.fragment.to_batches(schema=self.types, columns=columns, batch_size=PIECE)
        for batch in batches:
            yield batch.to_pandas(ignore_metadata=True)


@dataclass(frozen=True)
class _ParquetPart(_Frames):
    """A Parquet file; `fixed` holds columns that the names of its folders stand for."""

    path: Path
    fixed: tuple[tuple[str, str], ...] = ()

    def content(self) -> str:
        return content_of_file(self.path)

    def schema(self, asked: ReadOptions) -> tuple[list[str], list[str]]:
        del asked
        with opened(self.path, self.name) as file:
            fields = list(file.schema_arrow)
        names = [field.name for field in fields] + [name for name, _ in self.fixed]
        return names, [kind_of_type(field.type) for field in fields] + ["text"] * len(self.fixed)

    def frames(self, columns: list[str]) -> Iterator[pd.DataFrame]:
        fixed = dict(self.fixed)
        stored = [name for name in columns if name not in fixed]
        with opened(self.path, self.name) as file:
            missing = [name for name in stored if name not in file.schema_arrow.names]
            if missing:
                raise DataError(
                    f"{self.name}: has no column {quoted(missing[0])}, unlike other parts; there "
                    f"are {', '.join(quoted(n, 40) for n in file.schema_arrow.names[:12])}"
                )
            for batch in file.iter_batches(batch_size=PIECE, columns=stored):
                frame = batch.to_pandas(ignore_metadata=True)
                yield frame.assign(**{n: label for n, label in fixed.items() if n in columns})


@dataclass(frozen=True)
class _TextPart:
    """A text table, read in blocks of rows."""

    name: str
    path: Path

    def content(self) -> str:
        return content_of_file(self.path)

    def schema(self, asked: ReadOptions) -> tuple[list[str], list[str]]:
        with open_text(self.path, asked.sheet) as source:
            table = open_table(source, replace(asked, by=(), value=None), need_value=False)
        return list(table.dialect.names), table.kinds

    def time_form(self, layout: Layout) -> tuple[str, Times]:
        with open_text(self.path, layout.asked.sheet) as source:
            table = self._table(source, layout)
            reader = self._reader(table, layout)
            for block in itertools.islice(itertools.chain([table.head], table.rest), 2):
                reader.add(self._stamps(block, table, layout), [number for number, _ in block])
            times = reader.finish()
        if not reader.numeric:
            form = "iso" if reader.formats[0] == "ISO8601" else reader.formats[0]
            return form, times
        numbers = np.concatenate(reader.blocks["number"])
        asked, known = layout.asked.time_format, numbers[np.isfinite(numbers)]
        return (kind_of_numbers(known, layout.time) if asked == "auto" else asked), times

    def pieces(self, layout: Layout) -> Iterator[Piece]:
        with open_text(self.path, layout.asked.sheet) as source:
            table = self._table(source, layout)
            reader = self._reader(table, layout)
            names = list(table.dialect.names)
            for block in itertools.chain([table.head], table.rest):
                if not block:
                    continue
                lines = [number for number, _ in block]
                reader.blocks = {name: [] for name in reader.blocks}
                reader.add(self._stamps(block, table, layout), lines)
                if reader.numeric:
                    raw = np.concatenate(reader.blocks["number"])
                    times = interpret_numbers(raw, layout.time, self.name, layout.form)
                else:
                    times = reader.finish()
                numbers = {}
                for name in (*layout.values, *([layout.error] if layout.error else [])):
                    at = names.index(name)
                    cells, numbers[name], bad = table.numbers(block, at)
                    for i in bad[:1]:
                        raise DataError(
                            f"{self.name}, line {lines[i]}, column {quoted(name)}: "
                            f"{quoted(cells[i])} is no number; correct it, or mark it with --na"
                        )
                at = -1 if layout.label is None else names.index(layout.label)
                label = _cells(block, at)
                yield Piece(
                    times.values,
                    np.stack([numbers[name] for name in layout.values], axis=1),
                    None if layout.error is None else numbers[layout.error],
                    None if layout.label is None else label,
                    tuple(_cells(block, names.index(name)) for name in layout.tags),
                )

    def _table(self, source: Any, layout: Layout) -> OpenTable:
        asked = replace(layout.asked, by=(), value=None, time=layout.time, error=None)
        table = open_table(source, asked, need_value=False)
        for name in layout.columns:
            if name not in table.dialect.names:
                raise DataError(f"{self.name}: has no column {quoted(name)}, unlike other parts")
        return table

    def _reader(self, table: OpenTable, layout: Layout) -> TimeReader:
        plain = layout.form == "iso" or "%" in layout.form
        form = layout.form if plain else "number" if layout.form else layout.asked.time_format
        return TimeReader(
            self._stamps(table.head, table, layout),
            column=layout.time,
            source=self.name,
            form=table.form,
            time_format=form,
        )

    def _stamps(self, block: Any, table: OpenTable, layout: Layout) -> list[str]:
        names = list(table.dialect.names)
        clock = None if layout.clock is None else names.index(layout.clock)
        further = [names.index(name) for name in layout.parts]
        return time_cells(block, names.index(layout.time), clock, further)


def _cells(block: Any, at: int) -> NDArray[Any]:
    """Text of a column."""
    return np.array([row[at].strip() for _, row in block], object)


def content_of_file(path: Path) -> str:
    """Size, time of the last change and a digest of both ends: what replacing a file changes."""
    stat = path.stat()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        digest.update(file.read(_ENDS))
        file.seek(max(stat.st_size - _ENDS, 0))
        digest.update(file.read(_ENDS))
    return f"{stat.st_size} bytes, {stat.st_mtime_ns}, {digest.hexdigest()}"


def _labels(column: Any) -> NDArray[Any]:
    """Labels as text; whole numbers without a point, whatever type their column has."""
    if column.dtype.kind == "f":
        column = column.astype(object).map(lambda x: int(x) if x == x and x == int(x) else x)
    return np.asarray(column.map(lambda x: str(x).strip()), dtype=object)


def _kind_of_dtype(dtype: Any) -> str:
    if str(dtype).startswith("datetime") or str(dtype).startswith("timestamp"):
        return "time"
    return "number" if getattr(dtype, "kind", "O") in "iuf" else "text"
