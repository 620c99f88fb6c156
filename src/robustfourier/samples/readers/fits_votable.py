"""FITS and VOTable, by astropy."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from robustfourier.errors import DataError
from robustfourier.samples.data_frames import Frame
from robustfourier.samples.objects import frame_of

if TYPE_CHECKING:
    from robustfourier.samples.text_tables import ReadOptions


def read_fits(path: str | os.PathLike[str], name: str, options: ReadOptions) -> Frame:
    """The table of a FITS file; where it has several, ``--sheet`` names the extension."""
    from astropy.io import fits
    from astropy.table import Table

    with _quietly(), fits.open(path) as units:
        tables = {
            str(i): unit.name or f"extension {i}"
            for i, unit in enumerate(units)
            if isinstance(unit, (fits.BinTableHDU, fits.TableHDU))
        }
        chosen = _chosen(tables, name, options.sheet)
        table = Table.read(units[int(chosen)], format="fits")
    return _frame(table, tables, chosen)


def read_votable(path: str | os.PathLike[str], name: str, options: ReadOptions) -> Frame:
    """The table of a VOTable file; where it has several, ``--sheet`` chooses by number."""
    from astropy.io import votable

    with _quietly():
        found = list(votable.parse(str(path)).iter_tables())
        tables = {str(i): each.name or f"table {i}" for i, each in enumerate(found, start=1)}
        chosen = _chosen(tables, name, options.sheet)
        table = found[int(chosen) - 1].to_table(use_names_over_ids=True)
    return _frame(table, tables, chosen)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without warnings of deviations from the standards, which are many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _chosen(tables: dict[str, str], name: str, sheet: str | None) -> str:
    """Number of the table that is meant."""
    listed = ", ".join(f"{number} ({title})" for number, title in tables.items())
    if not tables:
        raise DataError(f"{name}: holds no table; a picture has no times")
    if sheet is None:
        return next(iter(tables))
    wanted = sheet.strip().lower()
    found = [n for n, title in tables.items() if wanted in (n, title.lower())]
    if len(found) != 1:
        raise DataError(f"{name}: no table {sheet!r} (--sheet); there are {listed}")
    return found[0]


def _frame(table: Any, tables: dict[str, str], chosen: str) -> Frame:
    frame = frame_of(table)
    assert frame is not None  # a table of astropy is known
    if len(tables) == 1:
        return frame
    several = f"table {tables[chosen]!r}, one of {len(tables)} (see --sheet)"
    return frame.noting(several)
