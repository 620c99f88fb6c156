"""Figures of what wanders and what comes next: amplitude and phase, the remainder, the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robustfourier.errors import InputError, require_choice
from robustfourier.plots.style import FIT, SOFT, looks, name_axes, new_axes, placed
from robustfourier.results import TimeAxis
from robustfourier.results.memory import life_of, remainder_of
from robustfourier.results.record import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 1500


def plot_life(
    model: Any, component: int = 0, *, what: str = "amplitude", ax: Axes | None = None
) -> Axes:
    """Draw the amplitude or the phase of a pattern over time, with its 90 % band.

    Parameters
    ----------
    model : PeriodicMixture
        Fitted to one column of times.
    component : int
        Which of ``components_``.
    what : {"amplitude", "phase"}
        The phase is told in cycles by which the pattern is late.
    ax : Axes, optional
    """
    require_choice("what", what, ("amplitude", "phase"))
    pattern = _mixture(model).components_[component]
    amplitude, late = life_of(pattern, *_times(model))
    title = f"{pattern.label} {pattern.wandering or 'is strict'}"
    if what == "amplitude":
        return _draw(model, amplitude, "amplitude", title, ax)
    return _draw(model, late, "late by (cycles)", title, ax)


def plot_remainder(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what samples tell about the remainder over time, with its 90 % band."""
    white = _mixture(model).remainder_ is None
    title = "what is left over is white noise" if white else "remainder"
    return _draw(model, remainder_of(model, *_times(model)), "remainder", title, ax)


def plot_forecast(model: Any, horizon: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw the last part of the record and what comes next, with the interval of new measurements.

    Parameters
    ----------
    model : PeriodicMixture
        Fitted to one column of times and one of values.
    horizon : float, str or timedelta, optional
        How far; a fifth of the record if not given.
    ax : Axes, optional
    """
    domain, last = _mixture(model).domains_[0], model.models_[0].last
    ahead = model.forecast(0.2 * domain.span if horizon is None else horizon)
    before = domain.from_theta(np.linspace(last - 0.6, last, _POINTS // 2))
    axis = TimeAxis.of(domain, "time")
    with looks():
        ax = new_axes(ax)
        x = placed(axis, axis.positions(before))
        ax.plot(x, model.predict(before), color=SOFT, lw=1.0)
        x = placed(axis, axis.positions(ahead.times))
        share = f"{100 * ahead.level:.0f} % of new measurements"
        ax.fill_between(x, ahead.lower, ahead.upper, color=FIT, alpha=0.15, lw=0, label=share)
        ax.plot(x, ahead.mean, color=FIT, lw=1.4, label="forecast")
        ax.legend(loc="best")
        name_axes(ax, axis.label, "value")
    return ax


def _mixture(model: Any) -> Any:
    """Return the model if it has what these figures show."""
    if not hasattr(model, "remainder_"):
        raise InputError(f"model is a {type(model).__name__}; give a fitted PeriodicMixture")
    return model


def _times(model: Any) -> tuple[Any, Any]:
    domain = model.domains_[0]
    times = domain.from_theta(np.linspace(-1.0, 1.0, _POINTS))
    axis = TimeAxis.of(domain, "time")
    return times, placed(axis, axis.positions(times))


def _draw(model: Any, curve: Curve, label: str, title: str, ax: Any) -> Axes:
    with looks():
        ax = new_axes(ax)
        ax.fill_between(curve.x, *curve.band(), color=FIT, alpha=0.2, lw=0)
        ax.plot(curve.x, curve.y, color=FIT, lw=1.2)
        name_axes(ax, TimeAxis.of(model.domains_[0], "time").label, label)
        ax.set_title(title)
    return ax
