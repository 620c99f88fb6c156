"""`notebook`: what a notebook shows of a fitted model; headline, table, small waveforms."""

from __future__ import annotations

from html import escape

import numpy as np

from robustfourier.formatting import number, percent, probability
from robustfourier.results import Outline, Pattern
from robustfourier.results.drawing_points import extreme_points
from robustfourier.results.patterns import notable

_ROWS = 12  # patterns shown
_WIDTH, _HEIGHT = 110, 30
# Seen on white and on black alike.
_COLOURS = ("#2f86c9", "#d9622b", "#1a9e77", "#b8609a", "#4aa5dd", "#b58a1a")
_CELL = 'style="text-align:left;padding:2px 12px 2px 0;white-space:nowrap"'


def notebook(shown: Outline, made_by: str) -> str:
    """Return HTML without any style sheet or script; `made_by` is the estimator, in small print."""
    named = notable(shown.patterns)
    rows = "".join(_row(pattern, i) for i, pattern in enumerate(named[:_ROWS]))
    heads = ("", "Period", "Amplitude", "Share", "False alarm", "Two cycles")
    head = "".join(f"<th {_CELL}>{name}</th>" for name in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    more = len(named) - len(named[:_ROWS])
    left = f"<div>… {more} more: see <code>components_</code></div>" if more > 0 else ""
    noise = f"noise {number(shown.noise, 3)}; " if np.isfinite(shown.noise) else ""
    return (
        f'<div style="max-width:60em"><div style="font-weight:600;margin:4px 0">'
        f"{escape(shown.headline)}</div>{table}{left}"
        f'<div style="opacity:.7;font-size:90%">{noise}<code>{escape(made_by)}</code></div></div>'
    )


def _row(pattern: Pattern, index: int) -> str:
    cells = (
        escape(f"{pattern.label} {pattern.calendar}"),
        escape(pattern.period_words),
        number(pattern.amplitude),
        percent(pattern.share),
        escape(probability(pattern.false_alarm)),
        _wave(pattern, index),
    )
    return f"<tr>{''.join(f'<td {_CELL}>{cell}</td>' for cell in cells)}</tr>"


def _wave(pattern: Pattern, index: int) -> str:
    wave = pattern.waveform.twice()
    low, high = float(wave.y.min()), float(wave.y.max())
    at = extreme_points(wave.y, _WIDTH)
    x, y = wave.x[at], wave.y[at]
    x = 1.0 + (_WIDTH - 2) * x / 2.0
    y = 1.0 + (_HEIGHT - 2) * (high - y) / ((high - low) or 1.0)
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="Waveform of pattern {pattern.label}"><path d="M{path}" fill="none" '
        f'stroke="{_COLOURS[index % len(_COLOURS)]}" stroke-width="1.6"/></svg>'
    )
