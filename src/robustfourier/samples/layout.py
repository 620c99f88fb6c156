"""Layout: which columns of a table are meant and how times are written; pieces of such a table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import DataError
from robustfourier.samples.columns import Choice, choose_columns, find_column, is_error
from robustfourier.samples.reading import Table
from robustfourier.samples.text_streams import quoted
from robustfourier.samples.text_tables import Block, ReadOptions


@dataclass(frozen=True, eq=False)
class Piece:
    """Some rows of a table.

    Parameters
    ----------
    times : ndarray of shape (n,)
        Numbers, or dates on the clock that wrote them (UTC where they name a zone).
    values : ndarray of shape (n, q)
        One column per value column, NaN where missing.
    errors : ndarray of shape (n,) or None
    labels : ndarray of str, shape (n,), or None
        Which series each row belongs to.
    tags : tuple of ndarrays of str, shape (n,)
        Further labels, of the columns `Layout.tags`.
    """

    times: NDArray[Any]
    values: FloatArray
    errors: FloatArray | None
    labels: NDArray[Any] | None
    tags: tuple[NDArray[Any], ...] = ()


@dataclass(frozen=True)
class Layout:
    """Which columns are meant, and how times are written.

    Parameters
    ----------
    time, values, error, label : str
        Names of the columns; `error` and `label` may be None.
    clock : str or None
        A column with the time of day, where `time` holds the date alone.
    form : str
        How times are written: a strptime format, "iso", or what numbers stand for.
    unit, zone : str
        Unit of the times; zone that dates name, if they do.
    dates : bool
        Whether times are dates.
    options : ReadOptions
        What the user said.
    parts : tuple of str
        Columns of month, day and so on, where `time` holds the year alone.
    tags : tuple of str
        Columns of further labels, such as subject and group.
    """

    time: str
    values: tuple[str, ...]
    error: str | None
    label: str | None
    clock: str | None
    form: str
    unit: str
    zone: str | None
    dates: bool
    options: ReadOptions
    parts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """All columns that are read, each once."""
        wanted = (self.time, self.clock, *self.parts, *self.values, self.error, self.label)
        wanted = (*wanted, *self.tags)
        return list(dict.fromkeys(name for name in wanted if name is not None))

    @classmethod
    def of(
        cls,
        part: Part,
        options: ReadOptions,
        values: Sequence[str] | str | None,
        by: str | None,
        tags: Sequence[str] = (),
    ) -> Layout:
        """Decide from one part.

        Parameters
        ----------
        part : Part
        options : ReadOptions
            Its `value` and `by` are of no effect.
        values : sequence of str, "all" or None
            Value columns; None finds the one that is meant.
        by : str, optional
            The column that tells series apart.
        tags : sequence of str
            Columns of further labels.
        """
        with part.opened(options) as table:
            names = table.names
            label = None if by is None else find_column(by, names, part.name, "--by")
            tagged = [find_column(tag, names, part.name, "--by") for tag in tags]
            apart = [*([] if label is None else [label]), *tagged]
            choice, chosen = _choice(names, table.kinds, part.name, options, values, apart)
            reader = table.time_reader(choice, options.time_format, None)
            for block in itertools.islice(table.blocks(choice.times), 2):
                reader.add_block(block)
            times, form = reader.times(), reader.form()
        return cls(
            time=names[choice.time],
            values=tuple(names[i] for i in chosen),
            error=None if choice.error is None else names[choice.error],
            label=None if label is None else names[label],
            clock=None if choice.clock is None else names[choice.clock],
            form=form,
            unit=options.unit or times.unit,
            zone=times.timezone,
            dates=times.values.dtype.kind == "M",
            options=options,
            parts=tuple(names[i] for i in choice.parts),
            tags=tuple(names[i] for i in tagged),
        )


@dataclass(frozen=True)
class Part:
    """Something that holds rows of a table.

    Parameters
    ----------
    name : str
        For messages.
    content : callable
        Returns what tells this part from another of the same name.
    source : callable
        Opens the table, given `ReadOptions` and whether a value is needed; can be pickled.
    path : Path, optional
        The file.
    """

    name: str
    content: Callable[[], str]
    source: Callable[[ReadOptions, bool], AbstractContextManager[Table]]
    path: Path | None = None

    def opened(self, options: ReadOptions) -> AbstractContextManager[Table]:
        """The table, open for reading."""
        return self.source(replace(options, by=(), value=None, error=None), False)

    def pieces(self, layout: Layout) -> Iterator[Piece]:
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
                if len(block.lines):
                    yield self._piece(table, block, layout, at)

    def _piece(self, table: Table, block: Block, layout: Layout, at: dict[str, int]) -> Piece:
        clock = None if layout.clock is None else at[layout.clock]
        choice = Choice(at[layout.time], None, None, clock, tuple(at[n] for n in layout.parts))
        written = layout.form == "iso" or "%" in layout.form
        reader = table.time_reader(choice, layout.form if written else "number", None)
        reader.time_format = layout.form
        reader.add_block(block)
        times = reader.times()
        dates = layout.dates
        if (times.values.dtype.kind == "M") != dates or (dates and times.timezone != layout.zone):
            raise DataError(
                f"{self.name}, column {quoted(layout.time)}: times are of another kind than in "
                "the parts before; write all parts alike"
            )

        def texts(name: str) -> NDArray[Any]:
            return np.array(table.texts(block, at[name]), object)

        return Piece(
            times.values,
            np.stack([table.numbers(block, at[name]) for name in layout.values], axis=1),
            None if layout.error is None else table.numbers(block, at[layout.error]),
            None if layout.label is None else texts(layout.label),
            tuple(map(texts, layout.tags)),
        )


def _choice(
    names: Sequence[str],
    kinds: Sequence[str],
    source: str,
    options: ReadOptions,
    values: Sequence[str] | str | None,
    apart: list[int],
) -> tuple[Choice, list[int]]:
    """The columns of time and error, and those of values."""
    many = values is not None and (isinstance(values, str) or len(values) != 1)
    choice = choose_columns(
        names,
        kinds,
        source,
        time=options.time,
        value=None if values is None or many else values[0],
        error=options.error,
        need_value=not many,
        apart=apart,
    )
    if not many or values is None:
        assert choice.value is not None
        return choice, [choice.value]
    error = None if options.error is None else find_column(options.error, names, source, "--error")
    taken = {choice.time, choice.clock, *choice.parts, error, *apart}
    if isinstance(values, str):
        chosen = [i for i, kind in enumerate(kinds) if kind == "number" and i not in taken]
        chosen = [i for i in chosen if not is_error(names[i])]
    else:
        chosen = [find_column(value, names, source, "--value") for value in values]
    if not chosen or choice.time in chosen:
        raise DataError(f"{source}: no column of numbers is left for the values; say --value")
    return replace(choice, error=error), list(dict.fromkeys(chosen))
