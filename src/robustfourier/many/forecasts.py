"""Forecasts of a survey: one table of all series, and a picture of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.estimators.forecasting import Forecast
from robustfourier.plots.figure_files import save_as

COLUMNS = ("id", "time", "mean", "low", "high")
_SIZE = (7.0, 3.0)  # inches of a picture


def forecast_rows(ahead: Forecast) -> list[dict[str, Any]]:
    """Rows of a forecast: time as text, mean, and the ends of the interval of new measurements."""
    columns = (ahead.mean, ahead.lower, ahead.upper)
    numbers = zip(*(np.asarray(column, np.float64).tolist() for column in columns), strict=True)
    times = [_text(time) for time in ahead.times]
    return [
        {"time": time, "mean": mean, "low": low, "high": high}
        for time, (mean, low, high) in zip(times, numbers, strict=True)
    ]


def _text(time: Any) -> str:
    """A time as CSV holds it: a number, a period such as 2024-03, a date with its zone."""
    if isinstance(time, (float, np.floating)):
        return repr(float(time))
    if isinstance(time, pd.Period):
        return str(time)
    return pd.Timestamp(time).isoformat().removesuffix("T00:00:00")


def draw_forecast(model: Any, horizon: Any, path: Path) -> None:
    """Draw the last part of the record and what comes next into a PNG."""
    from robustfourier.plots.forecast_figures import plot_forecast

    save_as([path], _SIZE, lambda figure: plot_forecast(model, horizon, ax=figure.add_subplot()))


def forecast_table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """One table of the forecasts of all series, in the order of the rows of shards."""
    found = [{"id": row["id"], **one} for row in rows for one in row.get("forecast") or ()]
    return pd.DataFrame(found, columns=list(COLUMNS))
