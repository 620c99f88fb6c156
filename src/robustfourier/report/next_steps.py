"""What to do next with a result, as exact commands."""

from __future__ import annotations

import shlex
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robustfourier.formatting import SECONDS, number, unit_name
from robustfourier.results import Result
from robustfourier.results.drawing_points import PER_CYCLE

_AHEAD = 0.1  # of the record: how far the example forecast goes, …
_CYCLES = 3.0  # … but at least so many cycles of the strongest pattern
_STEPS = 5000  # of an example, at most
_LONG = 0.5  # of the record: no example goes farther


class Place(NamedTuple):
    """Where a run found its data and put its results."""

    file: str  # with its options for reading, as words of a command
    folder: str


class Step(NamedTuple):
    """What a command is for, and the command."""

    words: str
    command: str


def next_steps(result: Result, place: Place | None) -> list[Step]:
    """Commands that follow from what was found; Python without a `place`, of a model in memory."""
    if place is None:
        return [Step("Keep the model:", 'model.save("model.rfm")')]
    file, folder = place.file, shlex.quote(place.folder)
    again = not file.startswith("-")  # what came through a pipe is gone
    steps = []
    if result.patterns and result.method == "mixture":
        start, stop, every = _ahead(result)
        ahead = f"--from {start} --to {stop} --every {every}"
        steps.append(Step("Forecast:", f"robustfourier predict {folder} {ahead}"))
    if result.method == "mixture" and again:
        words = "How weak a pattern would still have been found:"
        steps.append(Step(words, f"robustfourier inject {file}"))
    if again:
        words = "Which periods this sampling can show:"
        steps.append(Step(words, f"robustfourier check {file}"))
    model = f"{place.folder.rstrip('/')}/model.rfm"
    python = f"from robustfourier import load; model = load({model!r})"
    return [*steps, Step("Continue in Python:", python)]


def _ahead(result: Result) -> tuple[str, str, str]:
    """First time, last time and step of a forecast, as the command line takes them."""
    domain, times = result.domain, result.samples.axis
    length = max(_AHEAD * domain.span, _CYCLES * result.patterns[0].period)
    length = min(length, _LONG * domain.span)
    step = float(np.median(np.diff(domain.offsets(times)))) or length / 100.0
    # Fine enough for the fastest harmonic; rather a shorter forecast than a coarse one.
    step = min(step, domain.span / (PER_CYCLE * float(result.modes.mode.max(initial=1.0))))
    length = min(length, _STEPS * step)
    last = times[-1]
    if not domain.dates:
        span = float(f"{length:.2g}")
        return _plain(float(last)), _plain(float(last) + span), f"{step:.3g}"
    start: Any = pd.Timestamp(last).ceil("min")
    stop = (start + pd.Timedelta(length * SECONDS[domain.unit], "s")).floor("min")
    seconds = step * SECONDS[domain.unit]
    shown = next((u for u in ("day", "hour", "minute") if seconds >= SECONDS[u]), "second")
    count = seconds / SECONDS[shown]
    words = [t.tz_localize(None).isoformat(timespec="minutes") for t in (start, stop)]
    return words[0], words[1], f"{count:.3g}{unit_name(shown, short=True)}"


def _plain(value: float) -> str:
    return number(value, 10).replace(",", "")
