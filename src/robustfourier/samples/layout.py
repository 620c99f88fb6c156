"""Layout: which columns of a table are meant and how times are written; pieces of such a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import DataError
from robustfourier.samples.columns import Choice, choose_columns, find_column, is_error
from robustfourier.samples.epochs import Times
from robustfourier.samples.text_tables import ReadOptions


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
    asked : ReadOptions
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
    asked: ReadOptions
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
        asked: ReadOptions,
        values: Sequence[str] | str | None,
        by: str | None,
        tags: Sequence[str] = (),
    ) -> Layout:
        """Decide from one part.

        Parameters
        ----------
        part : Part
        asked : ReadOptions
            Its `value` and `by` are of no effect.
        values : sequence of str, "all" or None
            Value columns; None finds the one that is meant.
        by : str, optional
            The column that tells series apart.
        tags : sequence of str
            Columns of further labels.
        """
        names, kinds = part.schema(asked)
        label = None if by is None else find_column(by, names, part.name, "--by")
        tagged = [find_column(tag, names, part.name, "--by") for tag in tags]
        apart = [*([] if label is None else [label]), *tagged]
        choice, chosen = _choice(names, kinds, part.name, asked, values, apart)
        draft = cls(
            time=names[choice.time],
            values=tuple(names[i] for i in chosen),
            error=None if choice.error is None else names[choice.error],
            label=None if label is None else names[label],
            clock=None if choice.clock is None else names[choice.clock],
            form="",
            unit="",
            zone=None,
            asked=asked,
            parts=tuple(names[i] for i in choice.parts),
            tags=tuple(names[i] for i in tagged),
        )
        form, times = part.time_form(draft)
        return replace(draft, form=form, unit=asked.unit or times.unit, zone=times.timezone)


class Part(Protocol):
    """Something that holds rows of a table."""

    @property
    def name(self) -> str:
        """For messages."""

    def content(self) -> str:
        """What tells this part from another of the same name."""

    def schema(self, asked: ReadOptions) -> tuple[list[str], list[str]]:
        """Names and kinds of the columns."""

    def time_form(self, layout: Layout) -> tuple[str, Times]:
        """How the first times are written, and these as they are read."""

    def pieces(self, layout: Layout) -> Iterator[Piece]:
        """All rows, some at a time."""


def _choice(
    names: Sequence[str],
    kinds: Sequence[str],
    source: str,
    asked: ReadOptions,
    values: Sequence[str] | str | None,
    apart: list[int],
) -> tuple[Choice, list[int]]:
    """The columns of time and error, and those of values."""
    many = values is not None and (isinstance(values, str) or len(values) != 1)
    choice = choose_columns(
        names,
        kinds,
        source,
        time=asked.time,
        value=None if values is None or many else values[0],
        error=asked.error,
        need_value=not many,
        apart=apart,
    )
    if not many or values is None:
        assert choice.value is not None
        return choice, [choice.value]
    error = None if asked.error is None else find_column(asked.error, names, source, "--error")
    taken = {choice.time, choice.clock, *choice.parts, error, *apart}
    if isinstance(values, str):
        chosen = [i for i, kind in enumerate(kinds) if kind == "number" and i not in taken]
        chosen = [i for i in chosen if not is_error(names[i])]
    else:
        chosen = [find_column(value, names, source, "--value") for value in values]
    if not chosen or choice.time in chosen:
        raise DataError(f"{source}: no column of numbers is left for the values; say --value")
    return replace(choice, error=error), list(dict.fromkeys(chosen))
