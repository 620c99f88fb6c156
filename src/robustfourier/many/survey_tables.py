"""The tables of a survey, gathered from its shards: of series, of patterns, of forecasts.

At a false-alarm probability of 0.01, a hundred of ten thousand series of pure noise show a pattern.
The q-value of a pattern (Benjamini and Hochberg) is the expected share of false ones among all
patterns at least as significant: keep those up to q = 0.05, and one in twenty of them is false.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from robustfourier.analysis.table_files import write_csv, write_parquet
from robustfourier.arrays import FloatArray
from robustfourier.many.shards import read_shards, schema

_STRONGEST = ("period", "period_error", "amplitude", "share", "false_alarm", "calendar")


def gather(
    folder: Path, keys: list[str], unread: list[tuple[str, str]]
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the tables of series, of patterns and of forecasts, in the order of the plan.

    `keys` are those of all series that are asked for: what a shard holds beyond them is left out.
    `unread` are parts of the input that could not be read, and why.
    """
    place = {key: i for i, key in enumerate(keys)}
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for found in read_shards(folder):
        for row in found:
            at = (place.get(row["key"], -1), row["id"])
            # A series may have two rows: one says that its worker died, the other its end.
            if at[0] >= 0 and (at not in rows or row["status"] == "ok"):
                rows[at] = row
    ordered = [rows[at] for at in sorted(rows)]
    patterns = pd.DataFrame(
        [{"id": row["id"], **one} for row in ordered for one in row["patterns"] or ()],
        columns=["id", *(field.name for field in schema().field("patterns").type.value_type)],
    )
    fitted = sum(row["status"] == "ok" for row in ordered)
    q = q_values(patterns["false_alarm"].to_numpy(np.float64), len(patterns) + fitted)
    patterns.insert(list(patterns.columns).index("false_alarm") + 1, "q_value", q)
    ahead = [{"id": row["id"], **one} for row in ordered for one in row.get("forecast") or ()]
    forecasts = pd.DataFrame(ahead, columns=["id", "time", "mean", "low", "high"])
    return _series(ordered, patterns, unread), patterns, forecasts


def q_values(p: FloatArray, tests: int) -> FloatArray:
    """Return the q-values of false-alarm probabilities that passed, of so many tests.

    Each search ends with a test that did not pass, whose probability is taken as one.

    >>> q_values(np.array([0.001, 0.04, 0.002]), tests=10)
    array([0.01      , 0.13333333, 0.01      ])
    """
    everything = np.concatenate([p, np.ones(tests - len(p))])
    return np.asarray(false_discovery_control(everything)[: len(p)]) if tests else p


def _series(
    rows: list[dict[str, Any]], patterns: pd.DataFrame, unread: list[tuple[str, str]]
) -> pd.DataFrame:
    """One row per series, with its strongest pattern and its smallest q-value."""
    lost = [
        {"key": "", "id": name, "status": "DataError", "message": why, "notes": [], "patterns": []}
        for name, why in unread
    ]
    records = []
    smallest = patterns.groupby("id")["q_value"].min().to_dict()
    for row in [*rows, *lost]:
        found = row["patterns"] or []
        first = found[0] if found else {}
        record = {k: value for k, value in row.items() if k not in ("patterns", "forecast")}
        record |= {"patterns": len(found), **{name: first.get(name) for name in _STRONGEST}}
        records.append(record | {"q_value": smallest.get(row["id"]), "shape": first.get("shape")})
    table = pd.DataFrame(records)
    for name in ("period", "period_error", "amplitude", "share", "false_alarm", "q_value"):
        if name in table:
            table[name] = table[name].astype(np.float64)
    return table


def write_tables(
    folder: Path, series: pd.DataFrame, patterns: pd.DataFrame, forecasts: pd.DataFrame
) -> None:
    """Write all tables as Parquet and as CSV, each whole or not at all; forecasts if there are."""
    own = series.drop(columns=["key", "spark", "shape"], errors="ignore")
    write_csv(_flat(own), folder / "series.csv")
    write_csv(_flat(patterns.drop(columns="shape")), folder / "patterns.csv")
    if len(forecasts):
        write_csv(forecasts, folder / "forecasts.csv")
    write_parquet(series, folder / "series.parquet")
    write_parquet(patterns, folder / "patterns.parquet")


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    """A table for CSV: lists as words with blanks, sentences with semicolons between."""
    marks = {"harmonics": " ", "notes": "; "}
    joined = {
        name: [marks[name].join(map(str, () if cell is None else cell)) for cell in table[name]]
        for name in marks
        if name in table
    }
    text = table.select_dtypes(exclude=["number", "bool"]).columns.difference(list(joined))
    clean = {name: ["" if pd.isna(cell) else cell for cell in table[name]] for name in text}
    return table.assign(**joined, **clean)
