"""Text of a cell to a number, exactly, or the knowledge that it is none.

`to_numbers` turns a list of cells into float64, with NaN for marks of a missing value. The fast
way is Python's own correctly rounding ``float``; whatever it refuses is looked at cell by cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robustfourier.arrays import FloatArray, IndexArray

#: Cells that mean "no value", in lower case.
MISSING = frozenset(
    [
        *("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "---", "?", ".", "..."),
        *("missing", "nat", "<na>", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity"),
        *("-nan", "1.#qnan", "#value!", "#div/0!", "#ref!", "#num!"),
    ]
)

# No two parts can match the same digits, so that refusing a cell takes one pass over it.
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eEdD][+-]?\d+)?", re.ASCII)
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?", re.ASCII)


@dataclass(frozen=True)
class NumberFormat:
    """How a table writes numbers."""

    decimal: str = "."  # ".", ","; the decimal mark
    grouped: bool = False  # whether thousands are set apart by the other mark
    missing: frozenset[str] = MISSING  # cells that mean "no value", in lower case


_ANY_FORMAT = (NumberFormat(".", True), NumberFormat(",", True))


def is_missing(cell: str, marks: frozenset[str] = MISSING) -> bool:
    """Whether a cell means "no value"."""
    return cell.strip().lower() in marks


def parse_number(cell: str, form: NumberFormat) -> float | None:
    """Read one cell; None if it is no number.

    >>> parse_number("1.234,5", NumberFormat(decimal=",", grouped=True))
    1234.5
    >>> parse_number("1,5", NumberFormat()) is None
    True
    """
    text = cell.strip().replace("−", "-")  # the typographic minus sign
    if form.decimal == ",":
        text = text.translate({ord(","): ".", ord("."): ","})
    if form.grouped and _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    if not _PLAIN.fullmatch(text):
        return None
    return float(text.replace("d", "e").replace("D", "e"))  # Fortran writes 1.0D+03


def is_number(cell: str) -> bool:
    """Whether a cell is a number in any of the formats we read."""
    return any(parse_number(cell, form) is not None for form in _ANY_FORMAT)


def to_numbers(cells: Sequence[str], form: NumberFormat) -> tuple[FloatArray, IndexArray]:
    """Read cells as numbers, NaN where missing; and the indices of cells that are no numbers."""
    import numpy as np  # late: whoever asks about cells alone does without

    bad: list[int] = []
    try:
        if form.decimal != "." or form.missing != MISSING or any("_" in cell for cell in cells):
            raise ValueError  # float() takes 1_000, which is no number here
        numbers = np.array(list(map(float, cells)), np.float64)
    except ValueError:  # look cell by cell
        numbers = np.full(len(cells), np.nan)
        for i, cell in enumerate(cells):
            if not is_missing(cell, form.missing):
                number = parse_number(cell, form)
                numbers[i] = np.nan if number is None else number
                bad += [i] if number is None else []
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers, np.array(bad, np.intp)
