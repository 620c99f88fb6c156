"""A fit as a job of the page: what was found, and how to get it without the app."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from robustfourier.analysis import Analysis, analyse
from robustfourier.analysis.table_files import forecast_table, write_csv
from robustfourier.app.progress_frames import Frames, Send, numbers
from robustfourier.atomic_files import plain
from robustfourier.errors import DataError
from robustfourier.fit_config import FitConfig
from robustfourier.formatting import number, percent, probability
from robustfourier.observers import Event, observed_by
from robustfourier.results.curves_over_time import forecast_curve
from robustfourier.results.drawing_points import extreme_points
from robustfourier.results.result_tables import fit_file

_POINTS = 2000  # columns of a forecast in its figure, each with its extremes


def run_fit(order: dict[str, Any], send: Send) -> dict[str, Any]:
    """Fit as an order says, with frames on the way; return the answer for the page."""
    path, name, reading = Path(order["path"]), order["name"], order["reading"]
    config, ahead = FitConfig.of(order["asked"]), order.get("forecast")

    def few_enough(event: Event) -> None:
        if event.what == "read" and len(event.facts["samples"]) > order["rows"]:
            count = len(event.facts["samples"])
            raise DataError(
                f"{name}: {count:,} samples; this app takes {order['rows']:,} at most, so use "
                "`robustfourier fit`, or raise --rows"
            )

    with observed_by(few_enough, Frames(send)):
        analysis = analyse(
            path,
            out=Path(order["out"]),
            reading=reading,
            parameters=config.parameters,
            regressors=config.columns,
            overwrite=True,
            formats=("png", "svg"),
            magnitudes=order.get("magnitudes"),
            name=name,
            called=name,
        )
    result = analysis.result
    return {
        "headline": result.headline,
        "explained": percent(result.explained),
        "noise": number(result.noise, 3),
        "warnings": list(result.warnings),
        "searched": result.searched_words,
        "unit": result.domain.unit,
        "patterns": [
            {
                "label": one.label,
                "period": one.period_words,
                "exact": plain(float(one.period)),
                "amplitude": number(one.amplitude),
                "share": percent(one.share),
                "harmonics": [int(order) for order in one.harmonics],
                "alarm": probability(one.false_alarm),
                "combination": bool(one.combination),
                "lines": _lines(result.modes, index),
            }
            for index, one in enumerate(result.patterns)
        ],
        "effects": _effects(analysis.model),
        "ahead": None if ahead is None else _ahead(analysis, ahead),
        "fit_file": fit_file(result),
        "command": config.command(name, reading),
        "python": config.python(name, reading, result.samples),
        "seconds": plain(analysis.seconds),
    }


def _lines(modes: Any, pattern: int) -> list[float]:
    """Periods of the lines of a pattern, exactly."""
    if modes.component is None:
        return []
    return [float(period) for period in modes.period[modes.component == pattern]]


def _effects(model: Any) -> list[dict[str, str]]:
    """What other columns do to the values."""
    effects = getattr(model, "regressors_", None)
    if effects is None:
        return []
    table = effects.to_frame()
    return [
        {
            "name": str(name),
            "coefficient": f"{number(row.coefficient, 3)} ± {number(row.error, 2)}" if used else "",
            "share": percent(row.share) if used else "",
            "alarm": probability(row.false_alarm),
            "words": "in the fit" if used else "left out: chance explains as much",
        }
        for (name, row), used in zip(table.iterrows(), effects.used, strict=True)
    ]


def _ahead(analysis: Analysis, text: str) -> dict[str, Any]:
    """The forecast of a model, as numbers for a figure and as a table beside the result."""
    assert analysis.folder is not None
    write_csv(forecast_table(analysis.model, text), analysis.folder.with_name("forecast.csv"))
    axis = analysis.result.axis
    # The figure has points enough for the fastest harmonic, whatever the steps of the table.
    ahead = forecast_curve(analysis.model, axis, text)
    keep = extreme_points(ahead.mean, _POINTS)
    return {
        "coverage": ahead.coverage,
        "label": axis.label,
        "dates": axis.dates,
        "x": [float(f"{x:.12g}") for x in ahead.x[keep]],
        "mean": numbers(ahead.mean[keep]),
        "lower": numbers(ahead.lower[keep]),
        "upper": numbers(ahead.upper[keep]),
    }
