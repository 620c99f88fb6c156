"""Rows: what the tables report of one series, and its page, model and forecast where wanted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.analysis import fit_model
from robustfourier.arrays import FloatArray
from robustfourier.atomic_files import write_text
from robustfourier.domain import Domain
from robustfourier.errors import DataError
from robustfourier.estimators.mixture import PeriodicMixture
from robustfourier.formatting import counted
from robustfourier.many.survey_items import Item, Task, files_of
from robustfourier.mixture.components.component import Component
from robustfourier.results import Pattern, Result, summarise
from robustfourier.samples import Samples

SPARK = 48  # points of the small picture of a series
_AT = np.arange(32) / 32  # phases of the small picture of a pattern
_WORDS = 300  # characters of a message
_SAME = ("label", "combination", "period", "period_error", "frequency", "frequency_error")
_OF_PATTERN = ("amplitude", "share", "false_alarm", "calendar")
_COUNTS = ("rows", "used", "missing", "duplicates")


def rows_of(item: Item, task: Task, samples: list[Samples]) -> list[dict[str, Any]]:
    """Fit the value columns of an item, several of them together; a row for each of them."""
    start = time.thread_time()
    parameters = {**task.parameters, "random_state": task.random_state(item)}
    if len(samples) > 1:
        rows = _together(item, samples, parameters)
    else:
        model = fit_model(samples[0], **parameters)
        result = summarise(samples[0], model)
        rows = [{"id": item.id, **_found(result)}]
        rows[0].update(_files(item, task, result))
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


def _found(result: Result) -> dict[str, Any]:
    patterns = [
        {
            **_named(one, np.interp(_AT, one.waveform.x, one.waveform.y)),
            **{name: getattr(one, name) for name in _OF_PATTERN},
        }
        for one in result.patterns
    ]
    return _row(
        result.samples,
        result.model,
        result.domain,
        patterns,
        headline=result.headline,
        noise=result.noise,
        trend=result.trend_kind,
        explained=result.explained,
    )


def _row(
    samples: Samples, model: PeriodicMixture, domain: Domain, patterns: list[Any], **found: Any
) -> dict[str, Any]:
    """What is reported of every column, fitted alone or together with others."""
    return {
        **{name: getattr(samples.counts, name) for name in _COUNTS},
        "first": str(samples.times[0]),
        "last": str(samples.times[-1]),
        "span": domain.span,
        "unit": domain.unit or samples.unit,
        "value": samples.value_name,
        "spark": _spark(samples),
        "scale": model.scale_,
        "notes": [*samples.notes, *model.notes_],
        "patterns": patterns,
        **found,
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


def _named(one: Pattern | Component, wave: FloatArray) -> dict[str, Any]:
    """What a pattern and a component that outputs share have in common."""
    return {
        **{field: getattr(one, field) for field in _SAME},
        "harmonics": [int(order) for order in one.harmonics],
        "shape": wave.tolist(),
    }


def _files(item: Item, task: Task, result: Result) -> dict[str, Any]:
    """Write model, page and forecast of a series; other data, other names of files."""
    written: dict[str, Any] = {}
    model = result.model
    own, folder = files_of(item.id, task.key(item)), Path(task.folder)
    if task.models:
        written["model"] = own["model"]
        model.save(folder / own["model"])
    if task.reports == "all" or (task.reports == "found" and len(model.components_)):
        from robustfourier.report import render

        shown = {
            "Series": item.id,
            "Input": Path(item.path).name if item.label is None else f"label {item.label}",
            "Search": "; ".join(model.notes_) or "–",
        }
        written["report"] = own["report"]
        write_text(folder / own["report"], render(result, shown))
    if task.forecast is not None:
        from robustfourier.plots.figure_files import save_as
        from robustfourier.plots.forecast_figures import plot_forecast

        written["forecast"] = _forecast_rows(model.forecast(task.forecast))
        written["picture"] = own["picture"]
        save_as(
            [folder / own["picture"]],
            (7.0, 3.0),  # inches
            lambda figure: plot_forecast(model, task.forecast, ax=figure.add_subplot()),
        )
    return written


def _forecast_rows(ahead: Any) -> list[dict[str, Any]]:
    """Rows of a forecast: time as text, mean, and the ends of the interval of new measurements."""
    columns = (ahead.mean, ahead.lower, ahead.upper)
    numbers = zip(*(np.asarray(column, np.float64).tolist() for column in columns), strict=True)
    return [
        {"time": _text(time), "mean": mean, "low": low, "high": high}
        for time, (mean, low, high) in zip(ahead.times, numbers, strict=True)
    ]


def _text(time: Any) -> str:
    """A time as CSV holds it: a number, a period such as 2024-03, a date with its zone."""
    if isinstance(time, (float, np.floating)):
        return repr(float(time))
    if isinstance(time, pd.Period):
        return str(time)
    return pd.Timestamp(time).isoformat().removesuffix("T00:00:00")


def _together(item: Item, samples: list[Samples], parameters: dict[str, Any]) -> list[Any]:
    """Fit several columns as outputs that share their modes; a row for each column."""
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
    who = counted(len(model.components_), "shared pattern")
    rows = []
    for column, each in enumerate(samples):
        patterns = [_shared(model, i, column) for i in range(len(model.components_))]
        row = _row(
            each,
            model,
            model.domains_[0],
            patterns,
            headline=f"{who} of {len(samples)} columns fitted together.",
            noise=float(np.atleast_1d(model.noise_)[column]),
            trend=str(model.models_[0].trend_kind),
            explained=float(min(sum(p["share"] for p in patterns), 1.0)),
        )
        rows.append({"id": f"{item.id}:{each.value_name}", **row})
    return rows


def _shared(model: Any, index: int, column: int) -> dict[str, Any]:
    component, modes = model.components_[index], model.modes_
    wave = np.asarray(component.waveform(_AT))[:, column]
    own = (np.asarray(modes.component) == index) & (np.asarray(modes.harmonic) > 0)
    return {
        **_named(component, wave),
        "amplitude": 0.5 * float(np.ptp(wave)),
        "share": float(np.atleast_1d(component.share)[column]),
        "false_alarm": float(np.asarray(modes.false_alarm)[own].min()),
        "calendar": "",
    }
