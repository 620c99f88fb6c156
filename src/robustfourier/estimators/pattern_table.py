"""The table of patterns: one row per component, the same columns in Python, CSV, JSON and pages.

=================== ============================================================================
label               A, B, …, the strongest first; ``A+B`` for a combination tone
combination         whether its frequency is a sum or difference of others
period, frequency   with ``*_error``, standard errors, in `unit` and cycles per `unit`
amplitude           half of the distance between highest and lowest value; with its error
share               of the variation around the trend
harmonics           orders that were found
false_alarm         the smallest among its modes
snr                 amplitude of the strongest harmonic over its standard error
epoch_max           the maximum nearest to the middle of the record; of magnitudes the brightest
epoch_min           the minimum nearest to it; errors of both in `unit`
acrophase           hours after midnight of the maximum, for periods of a day; else NaN
coherence           time after which phase and shape are forgotten; infinite if strict
calendar            "day", "week", … if the period is one
peak                when it is highest on the calendar: "at 15:10", "on Saturdays", "in August"
name                what its field calls it: "M2" of a tide, "BPFO" of a bearing
in_phase            whether it is a function of one cosine
=================== ============================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.formatting import SECONDS
from robustfourier.mixture.model import ColumnModel, Component
from robustfourier.periodic.uncertainty import lengths

#: Columns of the table, in their order.
COLUMNS = (
    *("label", "combination", "period", "period_error", "unit", "frequency"),
    *("frequency_error", "amplitude", "amplitude_error", "share", "harmonics", "false_alarm"),
    *("snr", "epoch_max", "epoch_max_error", "epoch_min", "epoch_min_error", "acrophase"),
    *("coherence", "calendar", "peak", "name", "in_phase"),
)

_PHASES = 201  # points of a waveform
_LARGEST = np.log(np.finfo(float).max)
_LEVELS = 201  # places at which a typical level is taken
_NEWTON = 4  # steps from a grid of 201: each doubles the digits
_ANYWHERE = 12.0**-0.5  # of a cycle: the deviation of a phase of which nothing is known


def extreme(component: Component, down: bool) -> tuple[float, float]:
    """Phase at which a waveform is highest (lowest if `down`), and its standard error, in cycles.

    Where the slope is zero: found on a grid, then by Newton's steps. The error is that of the slope
    there over the curvature; a flat top has none, and could be anywhere in the cycle.
    """
    order = component.order
    values = np.concatenate([component.cosine[:, 0], component.sine[:, 0]])
    size = float(np.abs(values).max(initial=0.0)) or 1.0  # squares of huge values overflow
    values = values / size
    phases = np.linspace(0.0, 1.0, _PHASES)
    wave = component.waveform(phases)
    wave = wave if wave.ndim == 1 else wave[:, 0]
    peak = float(phases[np.argmin(wave) if down else np.argmax(wave)])
    rate = 2.0 * np.pi * order
    for _ in range(_NEWTON):
        c, s = np.cos(rate * peak), np.sin(rate * peak)
        slope, bend = (
            np.concatenate([-rate * s, rate * c]),
            -np.tile(rate**2, 2) * np.concatenate([c, s]),
        )
        curvature = float(bend @ values)
        if curvature == 0.0 or (curvature > 0) != down:
            return peak, _ANYWHERE
        step = float(slope @ values) / curvature
        if abs(step) > 1.0 / _PHASES:  # no smooth top within reach of the grid
            return peak, _ANYWHERE
        peak -= step
    error = float(lengths(slope @ (component.factor[0] / size))) / abs(curvature)
    return peak % 1.0, min(error, _ANYWHERE)


def epoch_of(component: Component, phase: float) -> Any:
    """The time nearest to the middle of the record at which a waveform has a phase."""
    cycles = component.phase / (2.0 * np.pi) + phase
    theta = 2.0 * (cycles - round(cycles)) / component.mode
    return component.domain.from_theta(np.array([theta]))[0]


def amplitude_error(component: Component, high: float, low: float) -> float:
    """Standard error of half the distance between the values at two phases."""
    difference = 0.5 * (_columns(component, high) - _columns(component, low))
    return float(lengths(difference @ component.factor[0]))


def signal_to_noise(component: Component) -> float:
    """Amplitude of the strongest harmonic over its standard error."""
    value, error = component.amplitude_at(component.domain.from_theta(np.zeros(1)), return_std=True)
    return float(value[0] / error[0]) if error[0] > 0 else np.inf


def typical_level(model: ColumnModel) -> float:
    """The geometric mean over the record of what a trend of logarithms stands for."""
    trend = np.reshape(model.trend_at(np.linspace(-1.0, 1.0, _LEVELS)), (_LEVELS, -1))
    return float(np.exp(np.minimum(np.mean(trend[:, 0]), _LARGEST)))


def acrophase(epoch: Any, calendar: str, domain: Domain) -> float:
    """Hours after midnight of a maximum, for a period of a day; NaN for any other.

    Of numbers, hours since zero modulo 24.
    """
    if calendar != "day" or epoch is None:
        return np.nan
    if not domain.dates:
        return float(epoch * SECONDS[domain.unit] / 3600.0 % 24.0)
    import pandas as pd

    stamp = pd.Timestamp(epoch)
    return float((stamp - stamp.normalize()) / pd.Timedelta(hours=1))


def row_of(
    component: Component, false_alarm: float, down: bool, level: float = 1.0
) -> dict[str, Any]:
    """The row of a component with one output, without its calendar.

    Parameters
    ----------
    component : Component
    false_alarm : float
    down : bool
        Whether values are magnitudes, of which the smallest is the maximum.
    level : float
        By which amplitudes are multiplied: the typical level where logarithms were fitted.
    """
    (high, high_error), (low, low_error) = extreme(component, down), extreme(component, not down)
    wave = component.waveform(np.array([high, low]))
    heights = wave if wave.ndim == 1 else wave[:, 0]
    return {
        "label": component.label,
        "combination": component.combination,
        "period": component.period,
        "period_error": component.period_error,
        "unit": component.domain.unit,
        "frequency": component.frequency,
        "frequency_error": component.frequency_error,
        "amplitude": level * 0.5 * abs(float(heights[0] - heights[1])),
        "amplitude_error": level * amplitude_error(component, high, low),
        "share": float(np.mean(component.share)),
        "harmonics": " ".join(map(str, component.harmonics)),
        "false_alarm": false_alarm,
        "snr": signal_to_noise(component),
        "epoch_max": epoch_of(component, high),
        "epoch_max_error": high_error * component.period,
        "epoch_min": epoch_of(component, low),
        "epoch_min_error": low_error * component.period,
        "coherence": component.coherence,
        "in_phase": component.link is not None,
    }


def _columns(component: Component, phase: float) -> FloatArray:
    angle = 2.0 * np.pi * phase * component.order
    return np.concatenate([np.cos(angle), np.sin(angle)])
