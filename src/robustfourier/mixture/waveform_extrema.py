"""Where a component is highest and lowest: phase, epoch and amplitude, with standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.model import Component
from robustfourier.periodic.uncertainty import lengths

_PHASES = 201  # points of a waveform
_NEWTON = 4  # steps from a grid of 201: each doubles the digits
_ANYWHERE = 12.0**-0.5  # of a cycle: the deviation of a phase of which nothing is known


def first_output(values: FloatArray) -> FloatArray:
    """Values of the first output, shape (n,), of (n,) or (n, q)."""
    return values if values.ndim == 1 else values[:, 0]


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
    wave = first_output(component.waveform(phases))
    peak = float(phases[np.argmin(wave) if down else np.argmax(wave)])
    rate = 2.0 * np.pi * order
    for _ in range(_NEWTON):
        c, s = np.cos(rate * peak), np.sin(rate * peak)
        slope = np.concatenate([-rate * s, rate * c])
        bend = -np.tile(rate**2, 2) * np.concatenate([c, s])
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


def _columns(component: Component, phase: float) -> FloatArray:
    angle = 2.0 * np.pi * phase * component.order
    return np.concatenate([np.cos(angle), np.sin(angle)])
