"""Figures of what a fit remembers: lives of patterns, the remainder, what comes next."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.report.svg import Panel
from robustfourier.results import Result
from robustfourier.results.axis import robust_limits
from robustfourier.results.record import BEFORE, Curve

_WIDE, _HEIGHT = 960, 210
_LEFT = 76  # room for ticks of seven characters beside the label


def life_figures(result: Result) -> list[tuple[str, str]]:
    """For each living pattern its words, and its amplitude and phase over time."""
    if result.memory is None:
        return []
    figures = []
    for trace in result.memory.traces:
        both = _over_time(
            result, trace.amplitude, "amplitude", f"Amplitude of pattern {trace.label}"
        )
        both += _over_time(
            result, trace.late, "late by (cycles)", f"Phase of pattern {trace.label}"
        )
        figures.append((f"Pattern {trace.label} {trace.words}.", both))
    return figures


def remainder_figure(result: Result) -> str | None:
    """What neighbours tell of the rest, with its 90 % band; None for white noise."""
    if result.memory is None or result.memory.remainder is None:
        return None
    return _over_time(result, result.memory.remainder, "remainder", "Remainder with memory")


def ahead_figure(result: Result) -> str | None:
    """The end of the record, and what comes next with the interval of new measurements."""
    if result.memory is None:
        return None
    told = result.memory.ahead
    low = float(told.x[0] - BEFORE * (told.x[-1] - told.x[0]))
    here = np.flatnonzero(result.position >= low)
    heights = robust_limits(result.samples.values[here], told.lower, told.upper)
    panel = _panel(result, (low, float(told.x[-1])), np.array(heights), "Forecast")
    panel.band(told.x, told.lower, told.upper, "band")
    panel.points(result.position[here], result.samples.values[here], "data small")
    panel.line(told.x, told.mean, "fit")
    return str(panel)


def _over_time(result: Result, curve: Curve, label: str, title: str) -> str:
    low, high = curve.band()
    ends = (float(curve.x[0]), float(curve.x[-1]))
    panel = _panel(result, ends, np.concatenate([low, high]), title, label)
    panel.band(curve.x, low, high, "band")
    panel.line(curve.x, curve.y, "fit")
    return str(panel)


def _panel(
    result: Result, ends: tuple[float, float], values: FloatArray, title: str, label: str = ""
) -> Panel:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    pad = 0.06 * (high - low) or 1.0
    bottom = 48 if result.axis.dates else 40
    down = result.downwards and not label
    heights = (low - pad, high + pad)
    panel = Panel(_WIDE, _HEIGHT, ends, heights, left=_LEFT, bottom=bottom, down=down, title=title)
    ticks = result.axis.ticks(*ends, 8)
    panel.axes(result.axis.label, label or result.samples.value_name, xticks=ticks)
    return panel
