"""Several series in one table: told apart by a column, of which ``--by`` chooses a value.

A long table holds a row for each time and sensor. Averaging its sensors would answer a question
that nobody asked, so where a column explains why times repeat, the error names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.errors import DataError
from robustfourier.samples.columns import find_column
from robustfourier.samples.source import quoted

__all__ = ["LABELLED", "Labels", "parse_by", "refuse_mixture", "require_one"]

#: Unused columns of a table that are looked at, whether they tell series apart.
LABELLED = 20

_AT_MOST = 1000  # labels of a column that can tell series apart; a measured column has more
_REPEATED = 0.1  # share of rows from which repeated times are no accident
_EXPLAINED = 0.5  # share of the repeats that must vanish within the labels of a column


def parse_by(by: str, names: Sequence[str], source: str) -> tuple[int, str | None]:
    """Index of the column and the label that ``--by column=label`` means; None without a label."""
    if by.strip() in names or "=" not in by:
        return find_column(by, names, source, "--by"), None
    name, _, label = by.partition("=")
    return find_column(name, names, source, "--by"), label.strip()


class Labels:
    """Labels of one column in the order of their appearance, with a code for each row."""

    def __init__(self) -> None:
        self.code_of: dict[str, int] = {}
        self.blocks: list[NDArray[np.int32]] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the cells of one block."""
        if self.few:
            code_of = self.code_of
            codes = [code_of.setdefault(cell, len(code_of)) for cell in cells]
            self.blocks.append(np.array(codes, np.int32))

    @property
    def few(self) -> bool:
        """Whether there are few enough to be names of series."""
        return len(self.code_of) <= _AT_MOST

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


def refuse_mixture(stamps: NDArray[Any], columns: Mapping[str, Labels], source: str) -> None:
    """Refuse a table whose times repeat because a column tells several series apart.

    Parameters
    ----------
    stamps : ndarray of shape (n,)
        Times of all rows.
    columns : mapping of str to Labels
        The columns that are neither time nor value, by name.
    source : str
        The file's name.
    """
    import pandas as pd

    repeats = int(pd.Series(stamps).duplicated().sum())
    if repeats < max(_REPEATED * len(stamps), 1):
        return
    for name, labels in columns.items():
        if not labels.few or len(labels.code_of) < 2:
            continue
        codes = np.concatenate(labels.blocks)
        left = int(pd.DataFrame({"time": stamps, "code": codes}).duplicated().sum())
        if left <= (1.0 - _EXPLAINED) * repeats:
            raise DataError(
                f"{source}: {repeats:,} of {len(stamps):,} rows repeat a time, because column "
                f"{quoted(name)} holds {len(labels.code_of)} series ({labels.listed()}); choose "
                f"one, such as --by {_option(name, labels)}, or say --duplicates mean to average "
                "them"
            )


def _option(name: str, labels: Labels) -> str:
    return quoted(f"{name}={next(iter(labels.code_of)).strip()}")
