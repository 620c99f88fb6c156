"""The answer of a fit as the page needs it: what was found, and how to get it without the app."""

from __future__ import annotations

from typing import Any

from robustfourier.analysis import Analysis
from robustfourier.asked import Asked
from robustfourier.wording import number, percent, probability
from robustfourier.writing import plain

__all__ = ["told"]


def told(analysis: Analysis, asked: Asked, name: str, reading: dict[str, Any]) -> dict[str, Any]:
    """Return the last frame of a fit.

    Parameters
    ----------
    analysis : Analysis
    asked : Asked
    name : str
        What the user calls the file.
    reading : dict
        Options of `read_samples`.
    """
    result = analysis.result
    return {
        "t": "result",
        "headline": result.headline,
        "explained": percent(result.explained),
        "noise": number(result.noise, 3),
        "warnings": list(result.warnings),
        "searched": result.searched_words,
        "unit": result.domain.unit,
        "patterns": [
            {
                "name": one.name,
                "label": one.label,
                "period": result.period_words(one.period, one.period_error, spread=True),
                "exact": plain(float(one.period)),
                "amplitude": number(one.amplitude),
                "share": percent(one.share),
                "harmonics": [int(order) for order in one.harmonics],
                "alarm": probability(one.false_alarm),
                "combination": bool(one.combination),
            }
            for one in result.patterns
        ],
        "command": asked.command(name, reading),
        "python": asked.python(name, reading, result.samples),
        "seconds": plain(analysis.seconds),
    }
