"""`analyse_bands`: one period in the bands of a file, and a folder with what came out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.analysis.table_files import write_csv
from robustfourier.atomic_files import plain, write_text
from robustfourier.bands import MultibandMixture
from robustfourier.result_folders import BANDS, claimed, exchanged
from robustfourier.samples import ReadOptions
from robustfourier.samples.partitions import ERROR, LABEL, TIME, VALUE, Layout, parts_of, read_parts


def analyse_bands(
    path: str,
    band: str,
    *,
    out: Path | None = None,
    value: str | None = None,
    reading: dict[str, Any] | None = None,
    overwrite: bool = False,
    **parameters: Any,
) -> MultibandMixture:
    """Read rows (time, value, band[, error]), find their period; write a folder if `out` is given.

    `band` is the column that tells bands apart, `reading` holds options of `read_samples`,
    `parameters` are those of `MultibandMixture`.
    """
    options = ReadOptions(**{k: v for k, v in (reading or {}).items() if k != "duplicates"})
    times, values, errors, bands, unit = _read(path, band, options, [value] if value else None)
    model = MultibandMixture(unit=unit or None, **parameters)
    identity = plain({"source": str(Path(path).resolve()), "band": band, "value": value})
    identity |= plain({"reading": reading or {}, "parameters": parameters})
    with claimed(BANDS, out, identity, [Path(path)], overwrite=overwrite):
        model.fit(times, values, band=bands, y_err=errors)
        if out is not None:
            with exchanged(BANDS, out, {"identity": identity}) as draft:
                write_csv(model.bands_, draft / "bands.csv")
                write_csv(period_table(model), draft / "periods.csv")
                write_text(draft / "summary.txt", model.summary() + "\n")
                _draw(model, draft / "bands.png")
    return model


def period_table(model: MultibandMixture) -> pd.DataFrame:
    """The period with its error, and those that are nearly as likely."""
    if not model.frequency_:
        return pd.DataFrame({"period": [], "error": [], "probability": []})
    other = model.alternatives_
    return pd.DataFrame(
        {
            "period": [model.period_, *other["period"]],
            "error": [model.period_error_, *[np.nan] * len(other)],
            "probability": [1.0 - other["probability"].sum(), *other["probability"]],
        }
    )


def _read(
    path: str, band: str, options: ReadOptions, value: Sequence[str] | None
) -> tuple[Any, Any, Any, Any, str]:
    """Times, values, errors or None, bands, and the unit of the times."""
    parts = parts_of(path)
    layout = Layout.of(parts[0], options, value, band)
    rows = read_parts(parts, layout)
    rows = rows[rows[TIME].notna() if layout.dates else np.isfinite(rows[TIME])]
    errors = rows[ERROR].to_numpy() if ERROR in rows else None
    unit = options.unit or ("" if layout.dates else layout.unit)
    return rows[TIME].to_numpy(), rows[f"{VALUE}0"].to_numpy(), errors, rows[LABEL].to_numpy(), unit


def _draw(model: MultibandMixture, path: Path) -> None:
    from robustfourier.plots.band_figures import plot_bands
    from robustfourier.plots.figure_files import save_figure

    count = len(model.rows_.names)
    save_figure(path, (7.0, 1.4 + 1.5 * count), lambda f: plot_bands(model, axes=f))
