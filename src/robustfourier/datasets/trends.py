"""Google Trends: reading an export, and a simulated series of the same kind.

The paper's fourth example takes hourly search interest on 16 weekdays from Google Trends. That
series is not public, but anyone can download one: an hourly export covers a week, so 16 weekdays
need several downloads, saved one after the other into one file or given as several files.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.datasets.dataset import Dataset
from robustfourier.errors import DataError, InputError

BELOW_ONE = 0.5  # "<1" stands for something between 0 and 1
Row = tuple[pd.Timestamp, float]


def read_trends(
    paths: str | Path | Sequence[str | Path], *, weekdays: int | None = None
) -> Dataset:
    """Read one or several Google Trends exports (`multiTimeline.csv`).

    An export begins with a line ``Category: …``, an empty line and a header such as
    ``Time,keyword: (region)``. ``<1`` is read as 0.5. Times that occur more than once (weekly
    downloads overlap) are averaged, and `notes` says how many there were and whether their values
    agreed; if they do not, the downloads were scaled apart by Google, and a jump remains.

    Parameters
    ----------
    paths : path or sequence of paths
        Files; a file may itself hold several exports one after the other.
    weekdays : int, optional
        Keep only the first so many weekdays, with weekends cut out and the days joined (the
        paper: 16). The record must hold that many.

    Returns
    -------
    Dataset
        Times in days from the first sample; with `weekdays`, in joined weekdays.
    """
    files = [Path(p) for p in ([paths] if isinstance(paths, str | Path) else paths)]
    keyword = ""
    rows: list[Row] = []
    for file in files:
        keyword, more = _read_export(file)
        rows += more
    label = ", ".join(str(file) for file in files)
    series, notes = _merge_repeats(rows, label)
    if weekdays is not None:
        series = _first_weekdays(series, weekdays, label)
        days = np.arange(len(series)) / _samples_per_day(series)
    else:
        days = ((series.index - series.index[0]) / pd.Timedelta(days=1)).to_numpy(dtype=np.float64)
    return Dataset(
        name=f"Google Trends, {keyword}",
        times=np.array(days, dtype=np.float64),
        values=series.to_numpy(dtype=np.float64).copy(),
        errors=None,
        unit="day",
        value_name="search interest, 0 to 100",
        periods=(1.0,) if weekdays is not None else (1.0, 7.0),
        source=f"Google Trends export: {label}",
        licence="the user's own download",
        notes=notes,
    )


def simulate_trends(*, weekdays: int = 16, random_state: int = 0) -> Dataset:
    """Simulate hourly search interest for a stock index. Nobody measured this.

    A stand-in with the shape of the paper's fourth example: a sharp rise at the opening of the
    exchange, a second peak at its close, quiet nights, and days of different height. Values are
    rounded and scaled to a maximum of 100 as Google does.

    Parameters
    ----------
    weekdays : int
        Number of joined weekdays, 24 samples each.
    random_state : int
        Seed of the heights of the days.

    Returns
    -------
    Dataset
        With ``simulated=True`` and a name that says so.

    Examples
    --------
    >>> series = simulate_trends()
    >>> series.name, series.values.shape, float(series.values.max())
    ('simulated search interest', (384,), 100.0)
    """
    if weekdays < 2:
        raise InputError(f"weekdays={weekdays!r}: at least 2 days are needed.")
    rng = np.random.default_rng(random_state)
    hour = np.arange(24.0)
    opening = np.exp(-0.5 * ((hour - 10.0) / 1.2) ** 2)
    closing = 0.8 * np.exp(-0.5 * ((hour - 16.0) / 1.6) ** 2)
    office = 0.45 / (1.0 + np.exp(-(hour - 8.0))) / (1.0 + np.exp(hour - 18.0))
    height = 1.0 + 0.15 * np.cumsum(rng.standard_normal(weekdays)) / np.sqrt(weekdays)
    values = np.outer(height, 0.08 + opening + closing + office).ravel()
    return Dataset(
        name="simulated search interest",
        times=np.arange(values.size) / 24.0,
        values=np.round(100.0 * values / values.max()),
        errors=None,
        unit="day",
        value_name="simulated search interest, 0 to 100",
        periods=(1.0,),
        source=f"simulated by robustfourier.datasets.simulate_trends(random_state={random_state})",
        licence="MIT",
        simulated=True,
    )


def _read_export(file: Path) -> tuple[str, list[Row]]:
    """Keyword and rows of a file; the banner and header may come again further down."""
    if not file.is_file():
        raise DataError(f"{file}: no such file; give the path of a Google Trends export.")
    keyword = ""
    rows: list[Row] = []
    with file.open(encoding="utf-8-sig", newline="") as lines:
        for number, cells in _data_lines(lines):
            if _is_header(cells):
                keyword = cells[1].strip()
            elif not keyword:
                raise DataError(
                    f"{file}, line {number}: expected a header 'Time,keyword: (region)' before "
                    f"the values, found {','.join(cells)!r}."
                )
            else:
                rows.append(_parse_row(file, number, cells))
    if not rows:
        raise DataError(f"{file}: no values found; is it a Google Trends export?")
    return keyword, rows


def _data_lines(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines with content, numbered from 1, without the ``Category: …`` banner."""
    for number, cells in enumerate(csv.reader(lines), start=1):
        if any(cell.strip() for cell in cells) and not cells[0].startswith("Category:"):
            yield number, cells


def _is_header(cells: list[str]) -> bool:
    return len(cells) >= 2 and cells[0].strip().lower() in {"time", "day", "week", "month"}


def _parse_row(file: Path, number: int, cells: list[str]) -> Row:
    if len(cells) < 2:
        raise DataError(f"{file}, line {number}: expected 'time,value', found {','.join(cells)!r}.")
    time = pd.to_datetime(cells[0].strip(), errors="coerce")
    if not isinstance(time, pd.Timestamp):
        raise DataError(f"{file}, line {number}, column 1: {cells[0]!r} is not a time.")
    text = cells[1].strip()
    try:
        value = BELOW_ONE if text.startswith("<") else float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise DataError(f"{file}, line {number}, column 2: {cells[1]!r} is not a number.")
    return time.tz_localize(None), value


def _merge_repeats(rows: list[Row], label: str) -> tuple[pd.Series, tuple[str, ...]]:
    series = pd.Series([v for _, v in rows], index=pd.DatetimeIndex([t for t, _ in rows]))
    groups = series.groupby(level=0)
    repeated = groups.size() > 1
    if not repeated.any():
        return groups.mean(), ()
    spread = (groups.max() - groups.min())[repeated]
    note = f"{label}: {int(repeated.sum())} times occur more than once (overlapping downloads); "
    if spread.max() > 0:
        note += (
            f"{int((spread > 0).sum())} of them with different values, by up to {spread.max():g}: "
            "each download is scaled to its own maximum. Their mean was taken."
        )
    else:
        note += "their values agree."
    return groups.mean(), (note,)


def _first_weekdays(series: pd.Series, weekdays: int, label: str) -> pd.Series:
    index = pd.DatetimeIndex(series.index)
    kept = series[index.day_of_week < 5]
    days = pd.DatetimeIndex(kept.index).normalize()
    wanted: NDArray[np.datetime64] = np.unique(days.to_numpy())[:weekdays]
    if weekdays < 1 or wanted.size < weekdays:
        raise InputError(
            f"weekdays={weekdays!r}: {label} holds {wanted.size} weekdays; download more weeks or "
            "ask for fewer days."
        )
    return kept[np.isin(days.to_numpy(), wanted)]


def _samples_per_day(series: pd.Series) -> float:
    steps = np.diff(pd.DatetimeIndex(series.index).to_numpy())
    return float(np.timedelta64(1, "D") / np.median(steps))
