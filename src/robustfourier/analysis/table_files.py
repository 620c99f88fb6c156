"""Tables of results and predictions, and their files as CSV and Parquet.

Beside that of components: folded curves, O-C, harmonic constants, coloured noise, each where it has
something to show.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.atomic_files import replacing, write_text
from robustfourier.fields.observed_minus_computed import o_minus_c
from robustfourier.fields.red_noise import NoiseColour, noise_colour
from robustfourier.fields.tides import harmonic_constants, is_tide
from robustfourier.formatting import number, with_error
from robustfourier.results import Result
from robustfourier.results.patterns import BAND, pattern_columns
from robustfourier.results.result_tables import (
    HEADINGS,
    component_words,
    csv_text,
    fit_file,
    fit_table,
    time_column,
)
from robustfourier.samples import Samples, from_arrays
from robustfourier.samples.typed_tables import arrow
from robustfourier.sampling import Completeness

#: Shares of AR(1) spectra that stay below the curves people draw.
SHARES = (0.90, 0.95, 0.99)


def write_csv(table: Mapping[str, Any] | pd.DataFrame, path: Path) -> None:
    """Write a table; names and text are neutralised, numbers keep all their digits."""
    write_text(path, csv_text(dict(table)))


def write_components(result: Result, folder: Path) -> None:
    """Write the table of components as CSV and, if pyarrow is there, as Parquet."""
    columns = pattern_columns(result.patterns)
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


def further_tables(result: Result, model: Any) -> dict[str, pd.DataFrame]:
    """Tables by the name of their file, without the empty ones; none for a network."""
    if result.method != "mixture":
        return {}
    tables = {
        "waveforms.csv": model.components_.waveforms(magnitudes=result.downwards),
        "o_minus_c.csv": _timing(result, model),
        "tide.csv": tide(result, model),
        "noise_spectrum.csv": _noise_spectrum(result),
    }
    return {name: table for name, table in tables.items() if len(table)}


def tide(result: Result, model: Any) -> pd.DataFrame:
    """Harmonic constants where the record is a tide; else empty."""
    if result.method != "mixture" or not is_tide([p.name for p in result.patterns]):
        return pd.DataFrame()
    return harmonic_constants(model)


def colour_of(result: Result) -> NoiseColour | None:
    """The colour of what is left over; None where it is white."""
    if result.method != "mixture" or result.noise_kind == "white":
        return None
    return noise_colour(result.domain.offsets(result.samples.axis), result.residual)


def colour_words(colour: NoiseColour, result: Result) -> str:
    """Coloured noise in a sentence, in the words of climate and neuroscience."""
    step = result.domain.period_words(colour.step)
    words = f"AR(1) coefficient {number(colour.coefficient, 2)} at steps of {step}"
    words += f"; power falls as 1/f^{number(colour.exponent, 2)}"
    if colour.knee > 0:
        words += f" below periods of {result.domain.period_words(1.0 / colour.knee)} (the knee)"
    return words


def shown_tables(result: Result, model: Any) -> list[tuple[str, list[str], list[list[str]]]]:
    """Tables that are shown as they are: title, headings and cells in words."""
    rows = component_words(result)
    heads = [head for head in HEADINGS if any(row[head] for row in rows)]
    shown = [("Table of components", heads, [[row[head] for head in heads] for row in rows])]
    constants = tide(result, model)
    if len(constants):
        shown.append(("Harmonic constants of the tide", *tide_words(constants)))
    return [table for table in shown if table[2]]


def tide_words(constants: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Headings and cells of harmonic constants."""
    heads = ["Constituent", "Speed (°/h)", "Amplitude H"]
    dated = "phase" in constants
    heads += ["Greenwich phase g (°)"] if dated else []
    rows = []
    for row in constants.to_dict("records"):
        cells = [row["constituent"], f"{row['speed']:.7f}"]
        cells.append(with_error(row["amplitude"], row["amplitude_error"]))
        cells += [with_error(row["phase"], row["phase_error"])] if dated else []
        rows.append(cells)
    return heads, rows


def _timing(result: Result, model: Any) -> pd.DataFrame:
    """O-C of the components worth a line; none where parts multiply."""
    if getattr(model, "scale_", "linear") == "log":
        return pd.DataFrame()
    tables = []
    for pattern in result.main:
        if pattern.combination:
            continue
        table = o_minus_c(
            *(model, pattern.label, result.samples.axis, result.samples.values, result.downwards)
        )
        table.insert(0, "label", pattern.label)
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _noise_spectrum(result: Result) -> pd.DataFrame:
    """Power of the residual with its AR(1) background, and the curves above it."""
    colour = colour_of(result)
    if colour is None or not len(colour.frequency):
        return pd.DataFrame()
    curves = {f"below_{100 * share:.0f}": colour.curve(share) for share in SHARES}
    columns = {"frequency": colour.frequency, "power": colour.power, "ar1": colour.background}
    return pd.DataFrame({**columns, **curves})
