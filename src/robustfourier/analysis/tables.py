"""Results as tables: modes, components, the fit at each sample; and their CSV files.

Text in a CSV file that a spreadsheet would take for a formula is given a leading apostrophe.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.results import Result
from robustfourier.samples import Samples
from robustfourier.sampling import Completeness
from robustfourier.writing import replacing

__all__ = [
    "completeness_table",
    "components_table",
    "fit_table",
    "modes_table",
    "neutral",
    "prediction_table",
    "write_csv",
]

_BAND = 1.645  # standard errors to each side of a 90 % band
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def neutral(text: str) -> str:
    """Text that no spreadsheet runs as a formula.

    Examples
    --------
    >>> neutral("=cmd()"), neutral("flux")
    ("'=cmd()", 'flux')
    """
    one_line = text.replace("\r", " ").replace("\n", " ").replace("\0", "")
    return f"'{one_line}" if text.startswith(_FORMULA) or one_line[:1] in _FORMULA else one_line


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table; names and text are neutralised, numbers keep all their digits."""
    table = table.rename(columns=lambda name: neutral(str(name)))
    for name in table.select_dtypes(include=["object", "string"]).columns:
        table[name] = [neutral(v) if isinstance(v, str) else v for v in table[name]]
    with replacing(path) as file:
        table.to_csv(file, index=False, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)


def modes_table(result: Result) -> pd.DataFrame:
    """Every mode with its errors; `pattern` is the letter of the report."""
    table = result.modes.to_frame()
    owner = table["component"] if "component" in table else pd.Series(range(len(table)))
    letters = [p.name for p in result.patterns]
    table.insert(0, "pattern", [letters[int(i)] if int(i) < len(letters) else "" for i in owner])
    return table


def components_table(result: Result) -> pd.DataFrame:
    """One row per repeating pattern."""
    table = pd.DataFrame(
        {
            "pattern": p.name,
            "label": p.label,
            "combination": p.combination,
            "period": p.period,
            "period_error": p.period_error,
            "unit": result.domain.unit,
            "frequency": p.frequency,
            "frequency_error": p.frequency_error,
            "amplitude": p.amplitude,
            "share_of_variance": p.share,
            "harmonics": " ".join(map(str, p.harmonics)),
            "false_alarm": p.false_alarm,
            "in_phase": p.link is not None,
        }
        for p in result.patterns
    )
    empty = ["pattern", "label", "period", "unit", "share_of_variance"]
    return table if len(table) else pd.DataFrame(columns=empty)


def fit_table(result: Result) -> pd.DataFrame:
    """The fit at each sample: value, fitted, 90 % band of the function, residual and all parts."""
    samples = result.samples
    table: dict[str, Any] = {
        "time": time_column(samples),
        "value": samples.values,
        "fitted": result.fitted,
        "band_low": result.fitted - _BAND * result.std,
        "band_high": result.fitted + _BAND * result.std,
        "residual": result.residual,
        "trend": result.trend,
    }
    for pattern, part in zip(result.patterns, result.parts, strict=True):
        table[f"pattern_{pattern.name}"] = part
    return pd.DataFrame(table)


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
            error = _BAND * std.reshape(len(values), -1)[:, i]
            table[f"band_low{name}"], table[f"band_high{name}"] = value - error, value + error
        if lower is not None:
            ends = (end.reshape(len(values), -1)[:, i] for end in (lower, upper))
            table[f"new_low{name}"], table[f"new_high{name}"] = ends
    return pd.DataFrame(table)


def completeness_table(completeness: Completeness) -> pd.DataFrame:
    """One row per planted period and amplitude."""
    grid = [
        (period, amplitude, completeness.found[i, j])
        for i, period in enumerate(completeness.period)
        for j, amplitude in enumerate(completeness.amplitude)
    ]
    table = pd.DataFrame(grid, columns=["period", "amplitude", "share_found"])
    return table.assign(planted=completeness.trials)


def time_column(samples: Samples) -> Any:
    """Times as they were given: numbers, or ISO dates with their offset."""
    if not samples.dates:
        return samples.times
    index = pd.DatetimeIndex(samples.axis)
    precision = "seconds" if (index == index.floor("s")).all() else "auto"
    return np.asarray(index.map(lambda t: t.isoformat(timespec=precision)), dtype=object)
