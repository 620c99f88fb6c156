"""Curves of quasi-periodic components, of correlated noise and of the forecast."""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.domain import Domain
from robustfourier.estimators.forecasting import times_ahead
from robustfourier.mixture.model import Component
from robustfourier.results.axis import TimeAxis
from robustfourier.results.drawing_grid import curve_grid, horizon, sample_grid
from robustfourier.results.record import Ahead, Curve, Memory, Trace

_STRONG = 0.02  # of the variation: components whose cycles are to be seen


def memory_of(
    model: Any, domain: Domain, axis: TimeAxis, level: float = 1.0, asked: Any = None
) -> Memory:
    """Curves over time and the forecast of a `PeriodicMixture` of one column and one output.

    Amplitudes are given at a `level` where logarithms were fitted; `asked` is how far to look
    ahead, as of `PeriodicMixture.forecast`; None is what can be seen.
    """
    rest = None if model.remainder_ is None else remainder_curve(model, domain, axis)
    traces = [
        Trace(one.label, one.wandering, *life_curves(one, domain, axis, level))
        for one in model.components_
        if one.wandering
    ]
    last = model.models_[0].last
    top, fastest = float(model.modes_.mode.max(initial=1.0)), _fastest(model)
    share = horizon(top, fastest)
    if asked is not None:
        end = float(domain.to_theta(times_ahead(asked, model)[-1:])[0])
        share = 0.5 * (end - last)
    future = domain.from_theta(last + 2.0 * share * curve_grid(top, share)[1:])
    made = model.forecast(times=future)
    ahead = Ahead(axis.positions(future), made.mean, made.lower, made.upper, made.coverage)
    return Memory(rest, tuple(traces), ahead)


def _fastest(model: Any) -> float:
    """The fastest among the strongest lines of the strong components; one if there are none."""
    modes, found = model.modes_, [1.0]
    for i, component in enumerate(model.components_):
        mine = np.flatnonzero(modes.component == i)
        if np.max(component.share) > _STRONG and len(mine):
            found.append(float(modes.mode[mine[np.argmax(modes.amplitude[mine])]]))
    return max(found)


def life_curves(
    component: Component, domain: Domain, axis: TimeAxis, level: float = 1.0
) -> tuple[Curve, Curve]:
    """Amplitude of a component over the record, and its delay in cycles."""
    grid = domain.from_theta(2.0 * curve_grid(domain.span / component.coherence) - 1.0)
    x = axis.positions(grid)
    late = (v / (2.0 * np.pi) for v in component.phase_at(grid, return_std=True))
    size = (level * v for v in component.amplitude_at(grid, return_std=True))
    return Curve(x, *size), Curve(x, *late)


def remainder_curve(model: Any, domain: Domain, axis: TimeAxis) -> Curve:
    """The correlated noise over the record: the prediction less trend and components."""
    grid = domain.from_theta(2.0 * sample_grid(round(2.0 / model.models_[0].spacing)) - 1.0)
    value, std = model.predict(grid, return_std=True)
    return Curve(axis.positions(grid), value - model.predict(grid, remainder=False), std)
