"""What a fit remembers, as arrays: lives of patterns, the remainder, and what comes next."""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.domain import Domain
from robustfourier.mixture.component import Component
from robustfourier.results.axis import TimeAxis
from robustfourier.results.drawing_grid import curve_grid, horizon
from robustfourier.results.record import Ahead, Curve, Memory, Trace

_POINTS = 600  # places at which curves are told, more than a figure has
_STRONG = 0.02  # of the variation: components whose cycles are to be seen


def memory_of(model: Any, domain: Domain, axis: TimeAxis) -> Memory:
    """Tell what a `PeriodicMixture` of one column and one output remembers.

    Parameters
    ----------
    model : PeriodicMixture
    domain : Domain
    axis : TimeAxis
    """
    grid = domain.from_theta(np.linspace(-1.0, 1.0, _POINTS))
    x = axis.positions(grid)
    rest = None if model.remainder_ is None else remainder_of(model, grid, x)
    traces = [
        Trace(one.label, one.wandering, *life_of(one, grid, x))
        for one in model.components_
        if one.wandering
    ]
    last = model.models_[0].last
    top, fastest = float(model.modes_.mode.max(initial=1.0)), _fastest(model)
    share = horizon(top, fastest)
    future = domain.from_theta(last + 2.0 * share * curve_grid(top, share)[1:])
    told = model.forecast(times=future)
    ahead = Ahead(axis.positions(future), told.mean, told.lower, told.upper, told.coverage)
    return Memory(rest, tuple(traces), ahead)


def _fastest(model: Any) -> float:
    """The fastest among the strongest lines of the strong components; one if there are none."""
    modes, found = model.modes_, [1.0]
    for i, component in enumerate(model.components_):
        mine = np.flatnonzero(modes.component == i)
        if np.max(component.share) > _STRONG and len(mine):
            found.append(float(modes.mode[mine[np.argmax(modes.amplitude[mine])]]))
    return max(found)


def life_of(component: Component, grid: Any, x: Any) -> tuple[Curve, Curve]:
    """Amplitude of a pattern, and the cycles by which it is late, at times `grid` drawn at `x`."""
    late = (v / (2.0 * np.pi) for v in component.phase_at(grid, return_std=True))
    return Curve(x, *component.amplitude_at(grid, return_std=True)), Curve(x, *late)


def remainder_of(model: Any, grid: Any, x: Any) -> Curve:
    """What samples tell about the remainder at times `grid` drawn at `x`."""
    value, std = model.predict(grid, return_std=True)
    return Curve(x, value - model.predict(grid, remainder=False), std)
