"""`robustfourier fit --band column`: one period in several bands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustfourier.cli import options
from robustfourier.cli.console import Console
from robustfourier.errors import InputError
from robustfourier.fit_config import FitConfig

if TYPE_CHECKING:
    from robustfourier.bands import MultibandMixture


def fit_bands(
    files: list[str],
    band: str,
    reading: dict[str, Any],
    config: FitConfig,
    out: Path | None,
    overwrite: bool,
    console: Console,
) -> None:
    """Find the period that the bands of a file share, and print it."""
    if len(files) != 1 or Path(files[0]).is_dir() or "by" in reading:
        raise InputError("--band takes one file with one object; give one, without --by")
    if len(config.period) > 1:
        raise InputError("--band goes with one --period at most")
    if config.columns or config.holidays:
        raise InputError("--band goes without --with and --holidays")
    from robustfourier.analysis.band_analysis import analyse_bands

    rest = {name: value for name, value in reading.items() if name != "value"}
    model = analyse_bands(
        options.located(files[0]),
        band,
        out=out,
        value=reading.get("value"),
        reading=rest,
        overwrite=overwrite,
        periods=config.period[0] if config.period else None,
        false_alarm=config.false_alarm,
    )
    if console.as_json:
        console.json(_answer(model))
        return
    console.print(model.summary())
    if out is not None:
        console.print(f"Tables and figure: {out}")


def _answer(model: MultibandMixture) -> dict[str, Any]:
    """The answer for scripts."""
    return {
        "period": model.period_,
        "period_error": model.period_error_,
        "unit": model.domain_.unit,
        "false_alarm": model.false_alarm_,
        "shape": model.shape_,
        "bands": model.bands_.to_dict("records"),
        "alternatives": model.alternatives_.to_dict("records"),
        "notes": list(model.notes_),
    }
