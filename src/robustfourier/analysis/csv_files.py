"""Tables of results and predictions, and their CSV files."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.atomic_files import replacing, write_text
from robustfourier.results.record import BAND, Result
from robustfourier.results.result_tables import (
    components_columns,
    csv_text,
    fit_file,
    fit_table,
    time_column,
)
from robustfourier.samples import Samples, from_arrays
from robustfourier.samples.typed_tables import arrow
from robustfourier.sampling import Completeness


def write_csv(table: Mapping[str, Any] | pd.DataFrame, path: Path) -> None:
    """Write a table; names and text are neutralised, numbers keep all their digits."""
    write_text(path, csv_text(dict(table)))


def write_components(result: Result, folder: Path) -> None:
    """Write the table of components as CSV and, if pyarrow is there, as Parquet."""
    columns = components_columns(result)
    write_csv(columns, folder / "components.csv")
    if find_spec("pyarrow") is not None:
        write_parquet(pd.DataFrame(columns), folder / "components.parquet")


def write_fit(result: Result, folder: Path) -> None:
    """Write the fit at each sample, as CSV or Parquet: see `fit_file`."""
    path, table = folder / fit_file(result), fit_table(result)
    write = write_csv if path.suffix == ".csv" else write_parquet
    write(table, path)


def write_parquet(table: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet, by pyarrow."""
    pa = arrow()
    with replacing(path) as file:
        pa.parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), file)


def prediction_table(
    samples: Samples, values: Any, std: Any, lower: Any = None, upper: Any = None
) -> pd.DataFrame:
    """Predicted values with the 90 % band of the function, for each output of y.

    `lower` and `upper` are the ends of the 90 % interval for new measurements.
    """
    table: dict[str, Any] = {"time": time_column(samples)}
    outputs = [""] if values.ndim == 1 else [f"_{i}" for i in range(values.shape[1])]
    for i, name in enumerate(outputs):
        value = values.reshape(len(values), -1)[:, i]
        table[f"fitted{name}"] = value
        if std is not None:
            error = BAND * std.reshape(len(values), -1)[:, i]
            table[f"band_low{name}"], table[f"band_high{name}"] = value - error, value + error
        if lower is not None:
            ends = (end.reshape(len(values), -1)[:, i] for end in (lower, upper))
            table[f"new_low{name}"], table[f"new_high{name}"] = ends
    return pd.DataFrame(table)


def forecast_table(model: Any, horizon: int | str) -> pd.DataFrame:
    """The columns of `prediction_table` for the steps after a record."""
    ahead = model.forecast(horizon)
    unit = model.domains_[0].unit
    samples = from_arrays(ahead.times, np.zeros(len(ahead.mean)), duplicates="keep", unit=unit)
    return prediction_table(samples, ahead.mean, ahead.std, ahead.lower, ahead.upper)


def completeness_table(completeness: Completeness) -> pd.DataFrame:
    """One row per planted period and amplitude."""
    grid = [
        (period, amplitude, completeness.found[i, j])
        for i, period in enumerate(completeness.period)
        for j, amplitude in enumerate(completeness.amplitude)
    ]
    table = pd.DataFrame(grid, columns=["period", "amplitude", "share_found"])
    return table.assign(planted=completeness.trials)
