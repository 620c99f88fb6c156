"""Several series in one table: distinguished by a column, of which ``--by`` chooses a value.

A long table holds a row for each time and sensor. Averaging its sensors would answer a question
that nobody options, so where a column explains why times repeat, the error names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import DataError
from robustfourier.formatting import quoted
from robustfourier.samples.number_parsing import is_number

#: Unused columns of a table that are looked at, whether they tell series apart.
LABELLED = 8

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
        if self.few:
            code_of = self.code_of
            codes = [code_of.setdefault(cell, len(code_of)) for cell in cells]
            self.blocks.append(np.array(codes).astype(np.int16))
            if len(code_of) > _AT_MOST:  # a measured column, of which nothing is kept
                self.blocks.clear()

    @property
    def few(self) -> bool:
        """Whether there are few enough to be names of series."""
        return len(self.code_of) <= _AT_MOST

    @property
    def words(self) -> bool:
        """Whether none of them is a number."""
        return not any(is_number(label) for label in self.code_of)

    def listed(self, limit: int = 5) -> str:
        """The first labels in words."""
        shown = ", ".join(quoted(label.strip(), 30) for label in list(self.code_of)[:limit])
        return shown if len(self.code_of) <= limit else f"{shown} …"


def require_one(labels: Labels, label: str | None, found: int, name: str, source: str) -> list[str]:
    """Refuse ``--by`` where it chooses no series or leaves several; a note where it chooses one."""
    count = f"{len(labels.code_of)}" if labels.few else f"more than {_AT_MOST}"
    if label is None and len(labels.code_of) > 1:
        raise DataError(
            f"{source}: column {quoted(name)} holds {count} series ({labels.listed()}); choose "
            f"one, such as --by {_option(name, labels)}"
        )
    if label is not None and not found:
        raise DataError(
            f"{source}: no row has {quoted(label)} in column {quoted(name)} (--by); there are "
            f"{labels.listed()}"
        )
    chosen = next(iter(labels.code_of), "") if label is None else label
    return [f"rows with {quoted(chosen, 30)} in column {quoted(name, 40)} taken, one of {count}"]


def refuse_mixture(
    stamps: NDArray[Any], columns: Callable[[], Mapping[str, Labels]], source: str
) -> None:
    """Refuse a table whose times repeat because a column tells several series apart.

    `columns` returns the labels of columns that are neither time nor value, by name.
    """
    known = stamps == stamps  # what is missing does not equal itself
    times, different = stamps[known], len(np.unique(stamps[known]))
    count = len(times)
    repeats = count - different
    if repeats < max(_REPEATED * count, 1):
        return
    possible = {
        name: labels
        for name, labels in columns().items()
        if labels.few
        and 2 <= len(labels.code_of) <= count / _ROWS_EACH
        # Measured numbers seldom repeat a time either, but each of them occurs here and there.
        and (labels.words or count >= _COVERED * len(labels.code_of) * different)
    }
    codes = {name: np.concatenate(labels.blocks)[known] for name, labels in possible.items()}
    left = {name: _repeats(times, [codes[name]]) for name in codes}
    if not left or _repeats(times, list(codes.values())) > _LEFT * repeats:
        return
    name = min(left, key=lambda name: left[name])
    labels = possible[name]
    raise DataError(
        f"{source}: {repeats:,} of {count:,} rows repeat a time, because column {quoted(name)} "
        f"holds {len(labels.code_of)} series ({labels.listed()}); choose one, such as "
        f"--by {_option(name, labels)}, or say --duplicates mean to average them"
    )


def _repeats(times: NDArray[Any], labels: Sequence[NDArray[Any]]) -> int:
    """Rows that repeat the time of another row with the same labels."""
    import pandas as pd

    return int(pd.DataFrame(dict(enumerate([times, *labels]))).duplicated().sum())


def _option(name: str, labels: Labels) -> str:
    return quoted(f"{name}={next(iter(labels.code_of)).strip()}")
