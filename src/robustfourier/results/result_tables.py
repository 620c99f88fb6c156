"""Results as tables: modes, patterns, the fit at each sample, and patterns in words.

Text in a CSV file that a spreadsheet would take for a formula is given a leading apostrophe.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.formatting import (
    number,
    order_ranges,
    percent,
    probability,
    readable_frequency,
    with_error,
)
from robustfourier.results.patterns import BAND, Pattern
from robustfourier.results.result import Result
from robustfourier.samples import Samples

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_LONG = 100_000  # rows of which no spreadsheet is made; as Parquet they are read ten times faster
_FINEST = 15  # decimals: a float64 has no more


def neutral(text: str) -> str:
    """Text that no spreadsheet runs as a formula.

    >>> neutral("=cmd()"), neutral("flux")
    ("'=cmd()", 'flux')
    """
    one_line = text.replace("\r", " ").replace("\n", " ").replace("\0", "")
    return f"'{one_line}" if text.startswith(_FORMULA) or one_line[:1] in _FORMULA else one_line


def csv_text(columns: Mapping[str, Any]) -> str:
    """Columns as CSV; names and text are neutralised, numbers keep all their digits.

    >>> print(csv_text({"x": np.array([0.1, np.nan]), "name": ["a,b", "=c"]}), end="")
    x,name
    0.1,"a,b"
    ,'=c
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([neutral(str(name)) for name in columns])
    lists = (c.tolist() if hasattr(c, "tolist") else c for c in columns.values())
    writer.writerows(zip(*(map(_cell, each) for each in lists), strict=True))
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A cell of CSV: what is no number is empty, and no text is a formula."""
    if isinstance(value, str):
        return neutral(value)
    if isinstance(value, float):
        return "" if math.isnan(value) else value
    return value.isoformat() if hasattr(value, "isoformat") else value


def modes_columns(result: Result) -> dict[str, Any]:
    """Every mode with its errors; `component` is the label of its component."""
    letters = [p.label for p in result.patterns]
    names = [letters[i] if i < len(letters) else "" for i in result.owner]
    return {**result.modes.columns(), "component": names}


#: Headings of the table of components in words.
HEADINGS = (
    *("Component", "Period", "Frequency", "Amplitude", "Share", "Harmonics", "False alarm", "SNR"),
    *("Maximum", "Minimum", "Highest", "Coherence", "Name"),
)


def component_words(
    result: Result, patterns: Sequence[Pattern] | None = None
) -> list[dict[str, str]]:
    """One row of words for each component, or for some, the same for terminal, page and app.

    A number and its standard error are one cell, and what nothing is known of is empty.
    """
    return [_words(result, one) for one in (result.patterns if patterns is None else patterns)]


def _words(result: Result, p: Pattern) -> dict[str, str]:
    domain, moment = p.domain, result.axis.moment
    cells = (
        p.label,
        p.period_words,
        readable_frequency(p.frequency, domain.unit, p.frequency_error),
        with_error(p.amplitude, p.amplitude_error),
        percent(p.share),
        order_ranges(p.harmonics, most=6),
        probability(p.false_alarm),
        number(p.snr, 3) if p.snr < 1e4 else "",
        "" if p.epoch_max is None else moment(p.epoch_max, p.epoch_max_error),
        "" if p.epoch_min is None else moment(p.epoch_min, p.epoch_min_error),
        p.peak,
        domain.period_words(p.coherence) if math.isfinite(p.coherence) else "",
        p.name or p.calendar,
    )
    return dict(zip(HEADINGS, cells, strict=True))


def fit_file(result: Result) -> str:
    """Name of the file of the fit at each sample: CSV, or Parquet where there are many."""
    parquet = len(result.samples) > _LONG and find_spec("pyarrow") is not None
    return "fit.parquet" if parquet else "fit.csv"


def fit_table(result: Result) -> pd.DataFrame:
    """The fit at each sample: value, fitted, 90 % band of the function, residual and all parts.

    `predicted` counts what neighbouring samples share besides trend and patterns. Times and values
    are as they were given; all else is rounded to a hundredth of its standard error, or finer.
    """
    samples = result.samples
    table: dict[str, Any] = {
        "fitted": result.fitted,
        "band_low": result.fitted - BAND * result.std,
        "band_high": result.fitted + BAND * result.std,
        "residual": result.residual,
        "trend": result.trend,
    }
    if result.method == "mixture":
        table["predicted"] = result.predicted
    error = float(np.min(result.std)) if len(samples) else 0.0
    around = result.correlated_noise
    if around is not None and around.std is not None:  # beside a sample more is known
        error = min(error, float(np.min(around.std)))
    table = {name: _rounded(column, error) for name, column in table.items()}
    if result.multiplies:  # patterns are factors, about 1
        error /= max(float(np.max(np.abs(samples.values))), 1e-300)
    for pattern, part in zip(result.patterns, result.parts, strict=True):
        table[f"component_{pattern.label}"] = _rounded(part, error)
    return pd.DataFrame({"time": time_column(samples), "value": samples.values, **table})


def _rounded(column: FloatArray, error: float) -> FloatArray:
    """Values with the decimals that count beside an error; all if there is none."""
    decimals = 2 - math.floor(math.log10(error)) if 0.0 < error < math.inf else _FINEST + 1
    return column if decimals > _FINEST else np.round(column, decimals)


def time_column(samples: Samples) -> Any:
    """Times as they were given: numbers, or ISO dates with their offset."""
    if not samples.dates:
        return samples.times
    index = pd.DatetimeIndex(samples.axis)
    precision = "seconds" if (index == index.floor("s")).all() else "auto"
    return np.asarray(index.map(lambda t: t.isoformat(timespec=precision)), dtype=object)
