"""Numbers for the interactive figures, in base64.

Samples are float32, times as differences to the first one (6e-8 of the record). Curves are 16-bit
steps between their ends, finer than any screen.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.formatting import LADDER, SECONDS, decimals, unit_name
from robustfourier.periodic.basis import Lines
from robustfourier.report.page_figures import TimeChart, closeup_range
from robustfourier.results import Result
from robustfourier.results.curves_over_time import BEFORE
from robustfourier.results.drawing_points import PER_CYCLE, WHISKERS, curve_grid, evenly, peak_bins
from robustfourier.results.figure_axes import robust_limits
from robustfourier.results.patterns import pattern_columns
from robustfourier.results.result_tables import csv_text, modes_columns
from robustfourier.results.variance import deviation

#: Samples that the interactive figures show at most.
SAMPLES_SENT = 20_000
_SPECTRUM = 3000
_SMOOTH = 400
_STEP = 1200
_SMOOTH_CURVE, _WANDERING = 6000, 40_000  # points of what is left of the curve without its lines
_ENDLESS = 1e300  # JSON has no infinity


def payload(result: Result, charts: Sequence[TimeChart] = ()) -> str:
    """The data of the interactive figures as JSON that is safe inside a script element."""
    content = {
        "time": _time(result),
        "value": result.samples.value_name,
        "places": decimals(0.0, result.noise or 1e-3 * deviation(result.samples.values)),
        "down": result.downwards,
        "samples": _samples(result),
        "curve": _curve(result),
        "lines": _lines(result),
        "spectrum": _spectrum(result),
        "patterns": [p.label for p in result.patterns],
        "file": _stem(result),
        "tables": {
            "modes": csv_text(modes_columns(result)),
            "components": csv_text(pattern_columns(result.patterns)),
        },
        "view": closeup_range(result),
        "before": BEFORE,
        "charts": [_chart(result, chart) for chart in charts],
    }
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    # "</script>" or "<!--" in a column's name must not end the element.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _stem(result: Result) -> str:
    """A word for names of files that the page saves."""
    stem = (result.samples.source or "report").rsplit("/", 1)[-1].split(".")[0]
    return "".join(c if c.isalnum() else "-" for c in stem)[:40] or "report"


def _time(result: Result) -> dict[str, Any]:
    """How times and periods are written: a clock's step or decimals, units with their limits."""
    unit, at, span = result.domain.unit, result.position, result.domain.span
    whole = [step for step in (60.0, 1.0) if np.all(at % step == 0)]
    ladder = [[_ENDLESS, 1.0, unit_name(unit, short=True)]]
    if result.axis.dates:
        ladder = [
            [min(limit, _ENDLESS) / SECONDS[unit], SECONDS[unit] / SECONDS[name],
             unit_name(name, short=True)]
            for name, limit in LADDER
        ]  # fmt: skip
    return {
        "dates": result.axis.dates,
        "label": result.axis.label,
        "step": whole[0] if whole else 1e-3,
        "places": decimals(0.0, 1e-5 * span),
        "ladder": ladder,
    }


def _samples(result: Result) -> dict[str, Any]:
    keep = evenly(len(result.position), SAMPLES_SENT)
    origin, errors = float(result.position.min()), result.samples.errors
    return {
        "origin": origin,
        "x": _packed(result.position[keep] - origin),
        "y": _packed(result.samples.values[keep]),
        "fit": _stepped(result.fitted[keep]),
        "error": "" if errors is None else _packed(errors[keep]),
        "whiskers": WHISKERS,
    }


def _curve(result: Result) -> dict[str, Any]:
    """The fit on a grid of evenly spaced θ, and what of it is not in the lines."""
    curve, lines = result.curve, result.lines
    top = float(result.modes.mode.max(initial=1.0))
    grid = curve_grid(top)
    grid = grid if len(grid) == len(curve.x) else np.linspace(0.0, 1.0, len(curve.x))
    # The rest of a strict component is smooth; that of one which wanders has its cycles.
    wanders = lines is None or bool(result.traces)
    count = min(len(grid), _WANDERING if wanders else _SMOOTH_CURVE)
    few = np.rint(np.linspace(0, len(grid) - 1, count)).astype(np.intp)
    rest, std = curve.y[few], None if curve.std is None else curve.std[few]
    if lines is not None:
        theta = 2.0 * grid[few] - 1.0
        waves = Lines(lines.mode, lines.cosine[:, None], lines.sine[:, None]).evaluate(theta)[:, 0]
        rest = np.log(rest) - waves if lines.multiplies else rest - waves
    return {
        "ends": [float(curve.x[0]), float(curve.x[-1])],
        # Where clocks are changed, the local time does not go on evenly.
        "x": _packed(curve.x[few] - curve.x[0]) if result.domain.timezone else "",
        "rest": _stepped(rest),
        "std": _stepped(np.zeros_like(rest) if std is None else std),
        "cycle": PER_CYCLE,
        "limits": robust_limits(result.samples.values, curve.y),
        "residuals": robust_limits(result.residual, np.zeros(1)),
    }


def _chart(result: Result, chart: TimeChart) -> dict[str, Any]:
    """A curve with its interval; that of the values stands behind the samples."""
    few = evenly(len(chart.x), _WANDERING)
    start = chart.x[0] - BEFORE * (chart.x[-1] - chart.x[0])
    values = () if chart.name else (result.samples.values[result.position >= start],)
    return {
        "key": chart.key,
        "name": chart.name,
        "origin": float(chart.x[0]),
        "x": _packed(chart.x[few] - chart.x[0]),
        "curves": [_stepped(part[few]) for part in (chart.y, chart.low, chart.high)],
        "limits": robust_limits(np.concatenate([np.zeros(0), *values]), chart.low, chart.high),
    }


def _lines(result: Result) -> dict[str, Any]:
    """Sinusoids of the fit, in float64: a phase is off by π times the error of a mode."""
    lines = result.lines
    if lines is None:
        return {"lines": ["", "", ""], "owner": [], "log": False}
    columns = (lines.mode, lines.cosine, lines.sine)
    packed = [base64.b64encode(c.astype("<f8").tobytes()).decode("ascii") for c in columns]
    return {"lines": packed, "owner": lines.component.tolist(), "log": lines.multiplies}


def _spectrum(result: Result) -> dict[str, Any]:
    s = result.spectrum
    frequency = np.asarray(result.domain.frequency(s.mode))
    keep, rest = (peak_bins(s.mode, y, _SPECTRUM) for y in (s.data, s.residual))
    judged = s.floor is not None and s.line is not None
    rough = np.unique(np.linspace(0, len(s.mode) - 1, _SMOOTH if judged else 0).astype(int))
    if s.line is not None:
        rough = rough[np.isfinite(s.line[rough])]
    marks = []
    for i in result.shown_modes[:200].tolist():
        owner = int(result.owner[i])
        marks.append(
            {
                "f": _finite(result.modes.frequency[i]),
                "a": _finite(result.modes.amplitude[i]),
                "o": owner,
                "t": result.patterns[owner].label if owner < len(result.patterns) else "",
                "h": 1 if result.modes.harmonic is None else int(result.modes.harmonic[i]),
                "p": result.domain.period_words(float(result.modes.period[i])),
            }
        )
    return {
        "label": result.domain.frequency_label,
        "places": decimals(0.0, 0.1 / result.domain.span),
        "rest": [_packed(frequency[rest]), _packed(s.residual[rest])],
        "x": _packed(frequency[keep]),
        "y": _packed(s.data[keep]),
        "smooth": _packed(frequency[rough]),
        "floor": _packed(np.zeros(0) if s.floor is None else s.floor[rough]),
        "top": max(float(s.data.max()), s.line_top),
        "line": _packed(np.zeros(0) if s.line is None else s.line[rough]),
        "marks": marks,
        "steps": [_step(frequency, step) for step in s.steps],
    }


def _step(frequency: FloatArray, step: FloatArray) -> list[Any]:
    keep = peak_bins(frequency, step, _STEP)
    return [_stepped(frequency[keep]), _stepped(np.log(np.maximum(step[keep], 1e-300)))]


def _finite(value: Any) -> float:
    number = float(value)
    return number if np.isfinite(number) else 0.0


def _packed(values: FloatArray) -> str:
    """Little-endian float32 in base64; values too large for it become its largest."""
    limit = np.finfo(np.float32).max
    clipped = np.clip(np.nan_to_num(values), -limit, limit)
    return base64.b64encode(clipped.astype("<f4").tobytes()).decode("ascii")


def _stepped(values: FloatArray) -> dict[str, Any]:
    """Values as 16-bit steps between their smallest and largest."""
    filled = np.nan_to_num(values)
    low, high = float(filled.min()), float(filled.max())
    steps = np.rint((filled - low) / ((high - low) or 1.0) * 65535.0)
    text = base64.b64encode(steps.astype("<u2").tobytes()).decode("ascii")
    return {"low": low, "high": high, "steps": text}
