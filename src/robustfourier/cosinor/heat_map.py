"""What a heat map of rhythmic series shows: values of each, in order of their acrophases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.cosinor.rhythms import Rhythms

_MOST = 2000  # series of one picture: a few of them already share a pixel


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Values of S series against T times."""

    times: FloatArray  # different times, ascending, shape (T,)
    values: FloatArray  # means over replicates, standardised, NaN where missing, shape (S, T)
    acrophase: FloatArray  # ascending, shape (S,)
    names: list[str]


def shown_rows(found: Rhythms, q: float = 0.05, group: str | None = None) -> pd.DataFrame:
    """Rows of the first period that are significant, the strongest first, as many as are drawn."""
    table = found.table[found.table["period"] == found.clock.periods[0]]
    if group is not None:
        table = table[table["group"] == group]
    return table[table["q"] <= q].sort_values("p").head(_MOST)


def heat_map(found: Rhythms, matrix: Any, rows: pd.DataFrame, kept: Any = None) -> HeatMap:
    """Collect the values of the series in `rows`, which `shown_rows` returns.

    `matrix` (n, m) are the values that were tested, `kept` (n,) the rows of the group shown.
    """
    place = {name: i for i, name in enumerate(dict.fromkeys(found.table["id"]))}
    rows = rows.sort_values("acrophase")
    series = np.array([place[name] for name in rows["id"]], np.intp)
    chosen = slice(None) if kept is None else np.asarray(kept)
    values = pd.DataFrame(np.asarray(matrix[:, series], np.float64)[chosen])
    mean = values.replace([np.inf, -np.inf], np.nan).groupby(found.clock.times[chosen]).mean()
    scaled = (mean - mean.mean()) / mean.std(ddof=0)
    times, acrophase = mean.index.to_numpy(np.float64), rows["acrophase"].to_numpy()
    return HeatMap(times, scaled.to_numpy(np.float64).T, acrophase, list(rows["id"]))
