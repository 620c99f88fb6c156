"""Text of a cell to a number, exactly, or the knowledge that it is none; units beside numbers.

`to_numbers` turns a list of cells into float64, with NaN for marks of a missing value. The fast
way is Python's own correctly rounding ``float``; whatever it refuses is looked at cell by cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robustfourier.formatting import unit_called

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


# Units beside numbers: a cell with another unit than its column is no number of it.

# Symbols and words that stand under a header or behind a number, in lower case. Units of time are
# known to `unit_called`; what has a degree, percent, power or slash in it is known by that.
_KNOWN = frozenset(
    """m mm cm km nm um ft in yd mi hz khz mhz ghz rpm v mv kv uv volt volts a ma ua amp amps w mw
    kw gw wh kwh mwh gwh va j kj mj k c f degc degf celsius fahrenheit kelvin pa hpa kpa mpa mbar
    bar psi atm mmhg g kg mg ug t lb lbs oz l ml dl hl n kn nm rad deg degrees mas arcsec mag mags
    jy mjy ujy ppm ppb ppt psu ntu db dba lux lx ph bpm count counts cts adu dn pixel pixels px
    usd eur gbp chf jpy unitless none date ts rn utc
    """.split()  # noqa: SIM905
)
_SYMBOL = re.compile(r"[\[(].{0,20}[\])]|.{0,12}[%‰°º²³⁻µ].{0,12}|[^\W\d_]{1,6}\^?-?\d?/.{1,12}")
_WRITTEN = re.compile(r"[YyMDdHhmSs]{2,4}([-/. :T][YyMDdHhmSs]{1,4}){1,6}")  # dd/mm/yyyy hh:mm
_MONEY = "$€£¥₹₽"
_WITH_UNIT = re.compile(
    rf"""(?P<sign>[+−-]?)\s*(?:(?P<before>[{_MONEY}])\s*)?
         (?P<number>[+−-]?(?:\d[\d.,]*|\.\d+)(?:[eE][+-]?\d+)?)
         (?P<gap>\s*)(?P<after>[%‰{_MONEY}]|[°º]\s?[^\W\d_]?|[^\W\d_][^\s,;]{{0,9}})?""",
    re.VERBOSE,
)


def looks_like_unit(text: str) -> bool:
    """Whether a word names a unit of measurement, or how dates are written.

    >>> [looks_like_unit(word) for word in ("°C", "[mag]", "m/s", "hours", "station")]
    [True, True, True, True, False]
    """
    word = text.strip()
    known = word.lower() in _KNOWN or bool(unit_called(word))
    return known or bool(_SYMBOL.fullmatch(word) or _WRITTEN.fullmatch(word))


def split_unit(cell: str) -> tuple[str, str]:
    """Text of a number and of its unit; the cell itself and nothing if there is none.

    >>> split_unit("15.8 %"), split_unit("-$19.2"), split_unit("20.1 °C"), split_unit("7")
    (('15.8', '%'), ('-19.2', '$'), ('20.1', '°C'), ('7', ''))
    """
    text = cell.strip()
    match = _WITH_UNIT.fullmatch(text)
    if match is None:
        return text, ""
    before, after = match["before"] or "", (match["after"] or "").replace(" ", "").replace("º", "°")
    glued = after and not match["gap"] and after[0].isalpha()
    if bool(before) == bool(after) or (glued and not looks_like_unit(after)):
        return text, ""
    if match["sign"] and match["number"][0] in "+−-":
        return text, ""
    return match["sign"] + match["number"], before or after


def common_unit(cells: Sequence[str], missing: frozenset[str]) -> str:
    """The unit that stands beside most numbers of a column; empty if none does.

    >>> common_unit(["1 %", "2 %", "", "3 mV"], frozenset([""]))
    '%'
    """
    known = [cell for cell in cells if not is_missing(cell, missing)]
    pairs = [split_unit(cell) for cell in known]
    units = Counter(unit for number, unit in pairs if unit and is_number(number))
    unit, count = units.most_common(1)[0] if units else ("", 0)
    return unit if count > 0.5 * len(known) else ""


def without_unit(cells: Sequence[str], unit: str) -> list[str]:
    """Cells without this unit; those with another one stay as they are."""
    pairs = ((cell, *split_unit(cell)) for cell in cells)
    return [number if found == unit else cell for cell, number, found in pairs]
