"""Rows of sums and means below a table, which are no samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from robustfourier.samples.date_text import is_time
from robustfourier.samples.header import Rows
from robustfourier.samples.number_parsing import is_number

_WORDS = frozenset(
    """total totals sum subtotal mean average avg median min max minimum maximum std stdev count
    summe gesamt mittel mittelwert anzahl moyenne somme total: sum: mean: average: suma promedio
    media totale somma média soma totaal gemiddelde
    """.split()  # noqa: SIM905
)
_ROWS = 8  # below a table, at most


def without_summary(blocks: Iterable[Rows], left: list[str]) -> Iterator[Rows]:
    """Blocks of rows without the sums and means that follow the last sample.

    Such a row has a word like "Total" where those before it have numbers or times; `left` tells.
    """
    held: Rows | None = None
    for block in blocks:
        if held is not None:
            yield held
        held = block
    if held is None:
        return
    for _ in range(_ROWS):
        if len(held) < 2 or not _sums_up(held[-1][1], held[: -_ROWS - 1 : -1]):
            break
        said = next(cell.strip() for cell in held[-1][1] if cell.strip().lower() in _WORDS)
        left.append(f"the row {said!r} below the table (line {held[-1][0]}) is no sample: left out")
        held = held[:-1]
    yield held


def _sums_up(row: list[str], last: Rows) -> bool:
    said = [j for j, cell in enumerate(row) if cell.strip().lower() in _WORDS]
    return any(
        j < len(above) and (is_number(above[j]) or is_time(above[j]))
        for j in said
        for _, above in last[1:]
    )
