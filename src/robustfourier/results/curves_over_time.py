"""Curves over time: quasi-periodic patterns, correlated noise and the forecast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.estimators.forecasting import times_ahead
from robustfourier.mixture.components.component import Component
from robustfourier.results.drawing_points import curve_grid, forecast_reach, sample_grid
from robustfourier.results.figure_axes import TimeAxis
from robustfourier.results.patterns import Curve

#: Times as long as a forecast is what is shown before it.
BEFORE = 3.0

_STRONG = 0.02  # of the variation: components whose cycles are to be seen


@dataclass(frozen=True, eq=False)
class Trace:
    """A quasi-periodic pattern over time."""

    label: str  # of the pattern, such as "A"
    words: str  # how it wanders
    amplitude: Curve  # amplitude of its strongest harmonic, and the cycles by which that is late
    late: Curve


@dataclass(frozen=True, eq=False)
class Ahead:
    """The forecast on the axis, and the share of new measurements between `lower` and `upper`."""

    x: FloatArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray
    coverage: float


def traces_of(model: Any, axis: TimeAxis) -> tuple[Trace, ...]:
    """Curves of the quasi-periodic patterns of a `PeriodicMixture`."""
    level = model.components_.level
    return tuple(
        Trace(one.label, one.wandering, *quasi_periodic_curves(one, axis, level))
        for one in model.components_
        if one.wandering
    )


def forecast_curve(model: Any, axis: TimeAxis, asked: Any = None) -> Ahead:
    """The forecast of a `PeriodicMixture` of one column and one output.

    `asked` is how far to look ahead, as of `PeriodicMixture.forecast`; None is what can be seen.
    """
    domain, last = model.domains_[0], model.models_[0].last
    top = float(model.modes_.mode.max(initial=1.0))
    share = forecast_reach(top, _fastest(model))
    if asked is not None:
        end = float(domain.to_theta(times_ahead(asked, model)[-1:])[0])
        share = 0.5 * (end - last)
    future = domain.from_theta(last + 2.0 * share * curve_grid(top, share)[1:])
    made = model.forecast(times=future)
    return Ahead(axis.positions(future), made.mean, made.lower, made.upper, made.coverage)


def _fastest(model: Any) -> float:
    """The fastest among the strongest lines of the strong components; one if there are none."""
    modes, found = model.modes_, [1.0]
    for i, component in enumerate(model.components_):
        mine = np.flatnonzero(modes.component == i)
        if np.max(component.share) > _STRONG and len(mine):
            found.append(float(modes.mode[mine[np.argmax(modes.amplitude[mine])]]))
    return max(found)


def quasi_periodic_curves(
    component: Component, axis: TimeAxis, level: float = 1.0
) -> tuple[Curve, Curve]:
    """Amplitude of a component over the record, and its delay in cycles."""
    domain = component.domain
    grid = domain.from_theta(2.0 * curve_grid(domain.span / component.coherence) - 1.0)
    x = axis.positions(grid)
    late = (v / (2.0 * np.pi) for v in component.phase_at(grid, return_std=True))
    size = (level * v for v in component.amplitude_at(grid, return_std=True))
    return Curve(x, *size), Curve(x, *late)


def remainder_curve(model: Any, axis: TimeAxis) -> Curve:
    """The correlated noise over the record: the prediction less trend and components."""
    theta = 2.0 * sample_grid(round(2.0 / model.models_[0].spacing)) - 1.0
    grid = model.domains_[0].from_theta(theta)
    value, std = model.predict(grid, return_std=True)
    return Curve(axis.positions(grid), value - model.predict(grid, remainder=False), std)
