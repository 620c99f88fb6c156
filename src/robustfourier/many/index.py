"""The index page of a survey: a table of all series that sorts, searches and opens their reports.

The page itself holds no data. Columns that are sorted and searched come in one script, the small
pictures in chunks that are fetched when their rows are seen; so ten thousand series open at once,
from a disk as well as from a server.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.atomic_files import plain, write_text
from robustfourier.formatting import unit_name, with_error

_TABLES = ("series.csv", "patterns.csv", "forecasts.csv", "series.parquet", "patterns.parquet")
CHUNK = 250  # series whose pictures come together: 100 kB


def write_index(folder: Path, series: pd.DataFrame) -> None:
    """Write ``index.html`` and the scripts that it fetches, of the table that `gather` returns."""
    count = len(series)
    for start in range(0, count, CHUNK):
        rows = series.iloc[start : start + CHUNK]
        pictures = [
            [_scaled(row.get("spark")), _scaled(row.get("shape"))]
            for row in rows.to_dict("records")
        ]
        _write_script(folder / "index" / f"{start // CHUNK}.js", "chunk", pictures)
    _write_script(folder / "index" / "columns.js", "columns", _columns(series))
    for old in (folder / "index").glob("[0-9]*.js"):  # of a larger survey before
        if int(old.stem) * CHUNK >= count:
            old.unlink()
    page = (files("robustfourier.many") / "page" / "index.html").read_text(encoding="utf-8")
    links = [name for name in _TABLES if (folder / name).exists()]
    shown = " · ".join(f'<a href="{name}" download>{name}</a>' for name in links)
    write_text(folder / "index.html", page.replace("<!-- downloads -->", shown))


def _columns(series: pd.DataFrame) -> dict[str, Any]:
    ok = series["status"] == "ok"
    columns: dict[str, Any] = {
        "chunk": CHUNK,
        "id": list(series["id"]),
        "told": list(series["headline"].where(ok, series["message"])) if len(series) else [],
        "status": list(series["status"]),
        "words": [_period(row) for row in series.to_dict("records")],
        "patterns": [int(n) for n in series["patterns"]],
    }
    for name in ("used", "period", "share", "false_alarm", "q_value", "noise", "report", "picture"):
        values = series[name] if name in series else [None] * len(series)
        columns[name] = [_rounded(value) for value in values]
    return columns


def _period(row: dict[Any, Any]) -> str:
    period = row.get("period")
    if period is None or not np.isfinite(period):
        return ""
    error = row.get("period_error")
    unit = unit_name(row.get("unit") or "")
    exact = with_error(float(period), float(error) if error and np.isfinite(error) else None, unit)
    word = row.get("calendar")
    return f"{'an' if word == 'hour' else 'a'} {word} ({exact})" if word else exact


def _scaled(values: Any) -> list[int | None]:
    """A small picture as whole numbers from 0 to 99."""
    if values is None or isinstance(values, float) or len(values) == 0:
        return []
    array = np.array([np.nan if v is None else v for v in values], np.float64)
    known = array[np.isfinite(array)]
    if not len(known):
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        width = float(np.ptp(known)) or 1.0
        level = np.clip(99.0 * ((array - known.min()) / width), 0.0, 99.0)
    return [None if not np.isfinite(v) else round(v) for v in level]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    return plain(value)


def _write_script(path: Path, name: str, content: Any) -> None:
    """Write data as a script; what could end a script or a line in it is escaped."""
    number = f"{path.stem}, " if name == "chunk" else ""
    text = json.dumps(plain(content), separators=(",", ":"))  # ASCII, all else as \\uXXXX
    write_text(path, f"rf.{name}({number}{text.replace('<', chr(92) + 'u003c')});\n")
