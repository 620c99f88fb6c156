"""Several series in one table: distinguished by a column, of which ``--by`` chooses a value.

A long table holds a row for each time and sensor. Averaging its sensors would answer a question
that nobody asked, so where a column explains why times repeat, the error names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.errors import DataError
from robustfourier.formatting import quoted
from robustfourier.samples.number_parsing import is_number
from robustfourier.samples.text_tables import Block

if TYPE_CHECKING:
    from robustfourier.samples.reading import Table

_COLUMNS = 8  # unused columns of a table that are looked at, whether they tell series apart
_AT_MOST = 1000  # labels of a column that can tell series apart
_REPEATED = 0.1  # share of rows from which repeated times are no accident
_LEFT = 0.02  # share of the repeats that may be left within single series
_ROWS_EACH = 5  # rows that a series has at least, on average
_COVERED = 0.3  # share of all times at which a series named by a number is measured


class Labels:
    """Labels of one column in the order of their appearance, with a code for each row."""

    def __init__(self) -> None:
        self.code_of: dict[str, int] = {}
        self.blocks: list[NDArray[np.int16]] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the cells of one block."""
        code_of = self.code_of
        codes = [code_of.setdefault(cell, len(code_of)) for cell in cells]
        self.blocks.append(np.array(codes).astype(np.int16))
        if not self.few:  # a measured column, of which nothing is kept
            self.blocks.clear()

    @property
    def few(self) -> bool:
        """Whether there are few enough to be names of series."""
        return len(self.code_of) <= _AT_MOST

    def listed(self, limit: int = 5) -> str:
        """The first labels in words."""
        shown = ", ".join(quoted(label.strip(), 30) for label in list(self.code_of)[:limit])
        return shown if len(self.code_of) <= limit else f"{shown} …"

    def may_be_series(self, rows: int, times: int) -> bool:
        """Whether the labels could be names of series, of so many rows and different times."""
        if not (self.few and 2 <= len(self.code_of) <= rows / _ROWS_EACH):
            return False
        # Measured numbers seldom repeat a time either, but each of them occurs here and there.
        words = not any(is_number(label) for label in self.code_of)
        return words or rows >= _COVERED * len(self.code_of) * times


class SeriesLabels:
    """The columns of a table that tell series apart, or may do so, while it is read."""

    def __init__(self, table: Table, by: Sequence[tuple[int, str | None]], taken: set[int]) -> None:
        self.table, self.by = table, by
        self.chosen = {j: Labels() for j, _ in by}
        free = table.labelled(taken | set(self.chosen))[:_COLUMNS]
        self.free = {j: Labels() for j in free}

    @property
    def columns(self) -> list[int]:
        """What is read beside times and values.

        What passes once is looked at whole; what can be read again, only where times repeat.
        """
        return [*self.chosen, *(self.free if self.table.streamed else ())]

    def of_series(self, block: Block) -> Block:
        """Rows of the series that the user chose; labels of other columns are kept in mind."""
        for j, label in self.by:
            texts = self.table.texts(block, j)
            if self.chosen[j].few:
                self.chosen[j].add(texts)
            if label is not None:
                rows = [i for i, text in enumerate(texts) if text == label]
                block = Block(
                    [block.lines[i] for i in rows],
                    {c: _taken(cells, rows) for c, cells in block.columns.items()},
                )
        for j, labels in self.free.items():
            if j in block.columns and labels.few:
                labels.add(self.table.texts(block, j))
        return block

    def require_one(self, found: int) -> list[str]:
        """Refuse ``--by`` where it chooses no row or leaves several series; else a note of each."""
        notes = []
        for j, label in self.by:
            labels, name, source = self.chosen[j], self.table.names[j], self.table.name
            count = f"{len(labels.code_of)}" if labels.few else f"more than {_AT_MOST}"
            if label is None and len(labels.code_of) > 1:
                raise DataError(
                    f"{source}: column {quoted(name)} holds {count} series ({labels.listed()}); "
                    f"choose one, such as --by {_option(name, labels)}"
                )
            if label is not None and not found:
                raise DataError(
                    f"{source}: no row has {quoted(label)} in column {quoted(name)} (--by); there "
                    f"are {labels.listed()}"
                )
            chosen = quoted(next(iter(labels.code_of), "") if label is None else label, 30)
            notes.append(f"rows with {chosen} in column {quoted(name, 40)} taken, one of {count}")
        return notes

    def refuse_mixture(self, stamps: NDArray[Any]) -> None:
        """Refuse a table whose times repeat because a column tells several series apart."""
        known = stamps == stamps  # what is missing does not equal itself
        times, different = stamps[known], len(np.unique(stamps[known]))
        count = len(times)
        repeats = count - different
        if repeats < max(_REPEATED * count, 1):
            return
        if not self.table.streamed:
            for block in self.table.blocks([*self.chosen, *self.free]):
                self.of_series(block)
        possible = {j: x for j, x in self.free.items() if x.may_be_series(count, different)}
        codes = {j: np.concatenate(labels.blocks)[known] for j, labels in possible.items()}
        left = {j: _repeats(times, [codes[j]]) for j in codes}
        if not left or _repeats(times, list(codes.values())) > _LEFT * repeats:
            return
        j = min(left, key=lambda j: left[j])
        labels, name = possible[j], self.table.names[j]
        raise DataError(
            f"{self.table.name}: {repeats:,} of {count:,} rows repeat a time, because column "
            f"{quoted(name)} holds {len(labels.code_of)} series ({labels.listed()}); choose one, "
            f"such as --by {_option(name, labels)}, or say --duplicates mean to average them"
        )


def _taken(cells: Any, rows: list[int]) -> Any:
    return cells.iloc[rows] if hasattr(cells, "iloc") else [cells[i] for i in rows]


def _repeats(times: NDArray[Any], labels: Sequence[NDArray[Any]]) -> int:
    """Rows that repeat the time of another row with the same labels."""
    return int(pd.DataFrame(dict(enumerate([times, *labels]))).duplicated().sum())


def _option(name: str, labels: Labels) -> str:
    return quoted(f"{name}={next(iter(labels.code_of)).strip()}")
