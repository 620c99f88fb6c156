"""What a fit reports to its observers, as small JSON frames for the page."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robustfourier.app.reading_controls import in_controls
from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.mixture.waveform_extrema import first_output
from robustfourier.observers import Event
from robustfourier.results.drawing_points import evenly, peak_bins, wave_grid
from robustfourier.results.figure_axes import TimeAxis
from robustfourier.results.patterns import is_magnitude
from robustfourier.samples import Samples

Send = Callable[[dict[str, Any]], None]

_BARS = 360  # weights in one frame, about as many as a phone has points
_DOTS = 1500  # samples of the first picture
_ROWS = 6  # samples that are shown as they were taken
_APART = 0.05  # seconds between two frames of weights; the eye sees no more


def numbers(values: Any) -> list[float]:
    """Return an array as a list of six digits each, enough for any screen."""
    return [float(f"{value:.6g}") for value in np.nan_to_num(np.asarray(values, float)).ravel()]


class Frames:
    """An observer that sends frames; modes become periods of the user's unit."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.domain: Domain | None = None
        self.pending: Mapping[str, Any] | None = None
        self.sent = -np.inf

    def __call__(self, event: Event) -> None:
        """Turn an event into a frame, or into none."""
        if event.what == "weights":
            self.pending = event.facts
            if time.monotonic() - self.sent >= _APART:
                self._send_weights()
            return
        self._send_weights()  # the last ones, which came too soon after others
        if event.what == "began":
            self._began(event)
        elif event.what == "read":
            self.send(_read(event.facts["samples"]))
        elif event.stage == "lines" and "modes" in event.facts:
            self._lines(event)
        elif event.what == "composed":
            self.send({"t": "patterns", "patterns": self._patterns(event.facts["components"])})

    def _began(self, event: Event) -> None:
        frame: dict[str, Any] = {"t": "stage", "stage": event.stage}
        if event.stage == "sums":
            self.domain = event.facts["domain"]
            frame |= {"samples": event.facts["n_samples"], "modes": int(event.facts["max_mode"])}
        self.send(frame)

    def _send_weights(self) -> None:
        facts, self.pending = self.pending, None
        if facts is None:
            return
        weight: FloatArray = np.abs(facts["weight"])
        mode: FloatArray = facts["modes"]
        keep = peak_bins(mode, weight, _BARS)
        frame = {"t": "weights", "trained": float(facts["trained"])}
        self.send(frame | {"mode": numbers(mode[keep]), "weight": numbers(weight[keep])})
        self.sent = time.monotonic()

    def _lines(self, event: Event) -> None:
        facts = event.facts
        frame = {"t": "lines", "what": event.what, "modes": numbers(facts["modes"])}
        if self.domain is not None:
            frame["periods"] = [self._period(mode) for mode in facts["modes"]]
        if "amplitudes" in facts:
            frame["amplitudes"] = numbers(facts["amplitudes"])
        if "false_alarm" in facts:
            frame["alarm"] = numbers(facts["false_alarm"])
        if "reason" in facts:
            frame["reason"] = facts["reason"]
        self.send(frame)

    def _period(self, mode: float) -> str:
        assert self.domain is not None
        return self.domain.period_words(float(self.domain.period(mode)))

    def _patterns(self, components: Any) -> list[dict[str, Any]]:
        return [
            {
                "label": one.label,
                "period": self._period(one.mode),
                "harmonics": [int(order) for order in one.harmonics],
                "share": float(np.mean(one.share)),
                "wave": numbers(first_output(one.waveform(wave_grid(int(max(one.harmonics)))))),
            }
            for one in components
        ]


def _first_rows(samples: Samples, axis: TimeAxis) -> list[list[str]]:
    """The first samples as they were taken: time, value and error."""
    columns = [[axis.when(time) for time in samples.axis[:_ROWS]]]
    for values in (samples.values, samples.errors):
        if values is not None:
            columns.append([f"{value:.6g}" for value in values[:_ROWS]])
    return [list(row) for row in zip(*columns, strict=True)]


def _read(samples: Samples) -> dict[str, Any]:
    """What was taken of a file, and a first picture of it."""
    domain = Domain.from_times(samples.axis, unit=samples.unit or None)
    axis = TimeAxis.of(domain, samples.time_name)
    at, keep = axis.positions(samples.axis), evenly(len(samples), _DOTS)
    counts = samples.counts
    return {
        "t": "read",
        "time": samples.time_name,
        "value": samples.value_name,
        "error": samples.error_name,
        "unit": domain.unit,
        "dates": samples.dates,
        "magnitudes": is_magnitude(samples.value_name),
        "label": axis.label,
        "first": axis.when(samples.axis[0]),
        "last": axis.when(samples.axis[-1]),
        "rows": counts.rows,
        "used": counts.used,
        "missing": counts.missing,
        "duplicates": counts.duplicates,
        "unsorted": counts.out_of_order,
        "notes": [in_controls(note) for note in samples.notes],
        "taken": _first_rows(samples, axis),
        "x": [float(f"{value:.12g}") for value in at[keep]],
        "y": numbers(samples.values[keep]),
    }
