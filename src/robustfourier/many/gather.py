"""Gathering: the shards of a survey to its two tables, one row per series and one per pattern."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.analysis.csv_files import write_csv
from robustfourier.atomic_files import replacing
from robustfourier.many.discoveries import q_values
from robustfourier.many.forecasts import forecast_table
from robustfourier.many.shards import read_shards, schema
from robustfourier.samples.typed_tables import arrow

_STRONGEST = ("period", "period_error", "amplitude", "share", "false_alarm", "calendar")


def gather(
    folder: Path, keys: list[str], unread: list[tuple[str, str]]
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the tables of series, of patterns and of forecasts, in the order of the plan.

    Parameters
    ----------
    folder : Path
        The survey's folder.
    keys : list of str
        Of all series that are asked for; what a shard holds beyond them is left out.
    unread : list of pairs of str
        Parts of the input that could not be read, and why.
    """
    place = {key: i for i, key in enumerate(keys)}
    rows: dict[tuple[int, str], dict[str, Any]] = {}
    for found in read_shards(folder):
        for row in found:
            at = (place.get(row["key"], -1), row["id"])
            # A series may have two rows: one tells that its worker died, the other its end.
            if at[0] >= 0 and (at not in rows or row["status"] == "ok"):
                rows[at] = row
    ordered = [rows[at] for at in sorted(rows)]
    patterns = pd.DataFrame(
        [{"id": row["id"], **one} for row in ordered for one in row["patterns"] or ()],
        columns=["id", *(field.name for field in schema().field("patterns").type.value_type)],
    )
    fitted = sum(row["status"] == "ok" for row in ordered)
    q = q_values(patterns["false_alarm"].to_numpy(np.float64), len(patterns) + fitted)
    after = list(patterns.columns).index("false_alarm") + 1
    patterns.insert(after, "q_value", q)
    return _series(ordered, patterns, unread), patterns, forecast_table(ordered)


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
        found = row["patterns"] or [{}]
        best = {name: found[0].get(name) for name in _STRONGEST}
        record = {k: value for k, value in row.items() if k not in ("patterns", "forecast")}
        record |= {"patterns": len(row["patterns"] or []), **best}
        records.append(
            record | {"q_value": smallest.get(row["id"]), "shape": found[0].get("shape")}
        )
    table = pd.DataFrame(records)
    for name in ("period", "period_error", "amplitude", "share", "false_alarm", "q_value"):
        if name in table:
            table[name] = table[name].astype(np.float64)
    return table


def write_tables(
    folder: Path, series: pd.DataFrame, patterns: pd.DataFrame, forecasts: pd.DataFrame
) -> None:
    """Write all tables as Parquet and as CSV, each whole or not at all; forecasts if there are."""
    pa = arrow()
    write_csv(
        _flat(series.drop(columns=["key", "spark", "shape"], errors="ignore")),
        folder / "series.csv",
    )
    write_csv(_flat(patterns.drop(columns="shape")), folder / "patterns.csv")
    if len(forecasts):
        write_csv(forecasts, folder / "forecasts.csv")
    for name, table in (("series", series), ("patterns", patterns)):
        with replacing(folder / f"{name}.parquet") as file:
            pa.parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), file)


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    """A table for CSV: lists as words with blanks, sentences with semicolons between."""
    lists = [name for name in ("harmonics", "notes") if name in table]
    mark = {"harmonics": " ", "notes": "; "}
    joined = {
        name: [mark[name].join(map(str, () if cell is None else cell)) for cell in table[name]]
        for name in lists
    }
    text = table.select_dtypes(exclude=["number", "bool"]).columns.difference(lists)
    clean = {name: ["" if pd.isna(cell) else cell for cell in table[name]] for name in text}
    return table.assign(**joined, **clean)
