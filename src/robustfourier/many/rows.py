"""Rows: what the tables say of one series, and its page and model file where they are wanted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from robustfourier.analysis import fit_model
from robustfourier.arrays import FloatArray
from robustfourier.atomic_files import write_text
from robustfourier.errors import DataError
from robustfourier.formatting import counted
from robustfourier.many.forecasts import draw_forecast, forecast_rows
from robustfourier.many.item import Item, Task, file_stem
from robustfourier.mixture.model import Component
from robustfourier.results import Pattern, Result, summarise
from robustfourier.samples import Samples

SPARK = 48  # points of the small picture of a series
PHASES = 32  # points of the small picture of a pattern
_WORDS = 300  # characters of a message
_SAME = ("label", "combination", "period", "period_error", "frequency", "frequency_error")


def rows_of(item: Item, task: Task, samples: list[Samples]) -> list[dict[str, Any]]:
    """Fit an item and tell what was found, one row for each of its value columns.

    Parameters
    ----------
    item : Item
    task : Task
    samples : list of Samples
        One for each value column; several are fitted together.
    """
    start = time.thread_time()
    parameters = {**task.parameters, "random_state": task.random_state(item)}
    if len(samples) > 1:
        rows = _together(item, samples, parameters)
    else:
        model = fit_model(samples[0], **parameters)
        result = summarise(samples[0], model)
        rows = [{"id": item.id, **_told(result)}]
        rows[0].update(_files(item, task, result))
        rows[0].update(_forecast(item, task, model))
    seconds = (time.thread_time() - start) / len(rows)
    key = task.key(item)
    return [{"key": key, "status": "ok", "message": "", **row, "seconds": seconds} for row in rows]


def failed_row(item: Item, task: Task, error: BaseException, seconds: float) -> dict[str, Any]:
    """The row of a series that could not be fitted."""
    message = str(error).splitlines()[0] if str(error) else type(error).__name__
    return {
        "key": task.key(item),
        "id": item.id,
        "status": type(error).__name__,
        "message": message[:_WORDS],
        "headline": "",
        "notes": [],
        "patterns": [],
        "seconds": seconds,
    }


def _told(result: Result) -> dict[str, Any]:
    samples, model = result.samples, result.model
    return {
        **_record(samples, result.domain.span, result.domain.unit),
        "headline": result.headline,
        "noise": result.noise,
        "trend": result.trend_kind,
        "scale": model.scale_,
        "explained": result.explained,
        "notes": [*samples.notes, *model.notes_],
        "patterns": [_pattern(pattern) for pattern in result.patterns],
    }


def _record(samples: Samples, span: float, unit: str) -> dict[str, Any]:
    counts = samples.counts
    return {
        "rows": counts.rows,
        "used": counts.used,
        "missing": counts.missing,
        "duplicates": counts.duplicates,
        "first": str(samples.times[0]),
        "last": str(samples.times[-1]),
        "span": span,
        "unit": unit,
        "value": samples.value_name,
        "spark": _spark(samples),
    }


def _spark(samples: Samples) -> list[float | None]:
    """Means over equal parts of the record, None where there are no samples."""
    times = samples.times.astype(np.int64 if samples.dates else np.float64).astype(np.float64)
    first, length = times[0], max(float(times[-1] - times[0]), np.finfo(float).tiny)
    place = np.minimum(((times - first) / length * SPARK).astype(np.intp), SPARK - 1)
    count = np.bincount(place, minlength=SPARK)
    middle = float(np.median(samples.values))  # so that the mean of huge values stays finite
    total = np.bincount(place, samples.values - middle, minlength=SPARK)
    means = middle + total / np.maximum(count, 1)
    return [float(m) if n else None for m, n in zip(means, count, strict=True)]


def _pattern(pattern: Pattern) -> dict[str, Any]:
    at = np.arange(PHASES) / PHASES
    wave: FloatArray = np.interp(at, pattern.waveform.x, pattern.waveform.y)
    return {
        **_named(pattern, wave),
        "amplitude": pattern.amplitude,
        "share": pattern.share,
        "false_alarm": pattern.false_alarm,
        "calendar": pattern.calendar,
    }


def _named(one: Pattern | Component, wave: FloatArray) -> dict[str, Any]:
    """What is told alike of a pattern and of a component that outputs share."""
    return {
        **{field: getattr(one, field) for field in _SAME},
        "harmonics": [int(order) for order in one.harmonics],
        "shape": wave.tolist(),
    }


def _files(item: Item, task: Task, result: Result) -> dict[str, Any]:
    """Write the model and the page of a series; other data, other names of files."""
    written: dict[str, Any] = {}
    model = result.model
    name, folder = file_stem(item.id, task.key(item)), Path(task.folder)
    if task.models:
        model.save(folder / "models" / f"{name}.rfm")
        written["model"] = f"models/{name}.rfm"
    if task.reports == "all" or (task.reports == "found" and len(model.components_)):
        from robustfourier.report import render

        shown = {
            "Series": item.id,
            "Input": Path(item.path).name if item.label is None else f"label {item.label}",
            "Search": "; ".join(model.notes_) or "–",
        }
        page = render(result, shown)
        write_text(folder / "reports" / f"{name}.html", page)
        written["report"] = f"reports/{name}.html"
    return written


def _forecast(item: Item, task: Task, model: Any) -> dict[str, Any]:
    """Forecast a series and draw the picture."""
    if task.forecast is None:
        return {}
    ahead = model.forecast(task.forecast)
    name = f"forecasts/{file_stem(item.id, task.key(item))}.png"
    draw_forecast(model, task.forecast, Path(task.folder) / name)
    return {"forecast": forecast_rows(ahead), "picture": name}


def _together(item: Item, samples: list[Samples], parameters: dict[str, Any]) -> list[Any]:
    """Fit several columns as outputs that share their modes; a row for each column."""
    from robustfourier.estimators.mixture import PeriodicMixture

    shared = samples[0].times
    for each in samples[1:]:
        shared = np.intersect1d(shared, each.times)
    if len(shared) < 8:
        raise DataError(
            f"{item.id}: only {len(shared)} times have a value in all of {len(samples)} columns; "
            "fit the columns one by one, without --together"
        )
    first, kept = samples[0], [np.searchsorted(each.times, shared) for each in samples]
    values = np.stack([s.values[at] for s, at in zip(samples, kept, strict=True)], axis=1)
    model = PeriodicMixture(unit=first.unit or None, **parameters)
    model.fit(first.axis[kept[0]], values)
    domain, rows = model.domains_[0], []
    for column, each in enumerate(samples):
        patterns = [_shared(model, i, column) for i in range(len(model.components_))]
        who = counted(len(patterns), "shared pattern")
        rows.append(
            {
                "id": f"{item.id}:{each.value_name}",
                **_record(each, domain.span, domain.unit or first.unit),
                "headline": f"{who} of {len(samples)} columns fitted together.",
                "noise": float(np.atleast_1d(model.noise_)[column]),
                "trend": str(model.models_[0].trend_kind),
                "scale": model.scale_,
                "explained": float(min(sum(p["share"] for p in patterns), 1.0)),
                "notes": [*each.notes, *model.notes_],
                "patterns": patterns,
            }
        )
    return rows


def _shared(model: Any, index: int, column: int) -> dict[str, Any]:
    component, modes = model.components_[index], model.modes_
    wave = np.asarray(component.waveform(np.arange(PHASES) / PHASES))[:, column]
    own = (np.asarray(modes.component) == index) & (np.asarray(modes.harmonic) > 0)
    return {
        **_named(component, wave),
        "amplitude": 0.5 * float(np.ptp(wave)),
        "share": float(np.atleast_1d(component.share)[column]),
        "false_alarm": float(np.asarray(modes.false_alarm)[own].min()),
        "calendar": "",
    }
