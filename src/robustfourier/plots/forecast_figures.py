"""Figures of what wanders and what comes next: amplitude and phase, the remainder, the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robustfourier.errors import InputError, require_choice
from robustfourier.plots.fit_figures import draw_curve
from robustfourier.plots.style import looks, name_axes, new_axes, palette, placed
from robustfourier.results import TimeAxis
from robustfourier.results.drawing_grid import curve_grid
from robustfourier.results.memory import life_of, remainder_of
from robustfourier.results.record import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 1500


def plot_life(
    model: Any,
    component: int = 0,
    *,
    what: str = "amplitude",
    ax: Axes | None = None,
    **line: Any,
) -> Axes:
    """Draw the amplitude or the phase of a component over time, with its 90 % band.

    Parameters
    ----------
    model : PeriodicMixture
        Fitted to one column of times.
    component : int
        Which of ``components_``.
    what : {"amplitude", "phase"}
        The phase is in cycles by which the component is late.
    ax : Axes, optional
    **line
        For the curve, as `Axes.plot` takes them.
    """
    require_choice("what", what, ("amplitude", "phase"))
    one = _mixture(model).components_[component]
    amplitude, late = life_of(one, *_times(model))
    title = f"{one.label} {one.wandering or 'is strictly periodic'}"
    if what == "amplitude":
        return _draw(model, amplitude, "amplitude", title, ax, line)
    return _draw(model, late, "late by (cycles)", title, ax, line)


def plot_remainder(model: Any, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the part of the residuals that neighbouring samples share, with its 90 % band."""
    white = _mixture(model).remainder_ is None
    title = "the residuals are white noise" if white else "correlated noise"
    return _draw(model, remainder_of(model, *_times(model)), "correlated noise", title, ax, line)


def plot_forecast(model: Any, horizon: Any = None, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the last part of the record and what comes next, with the interval of new measurements.

    Parameters
    ----------
    model : PeriodicMixture
        Fitted to one column of times and one of values.
    horizon : int, str or timedelta, optional
        How many steps, or how far; a fifth of the record if not given.
    ax : Axes, optional
    **line
        For the forecast, as `Axes.plot` takes them.
    """
    domain, last = _mixture(model).domains_[0], model.models_[0].last
    if horizon is None:
        horizon = max(round(0.4 / model.models_[0].spacing), 1)
    end = float(domain.to_theta(model.forecast(horizon).times[-1:])[0])
    top = float(model.modes_.mode.max(initial=1.0))
    grid = curve_grid(top, max(0.5 * (end - last), 1e-9))
    ahead = model.forecast(times=domain.from_theta(last + (end - last) * grid[1:]))
    before = domain.from_theta(last - 0.6 + 0.6 * curve_grid(top, 0.3))
    axis = TimeAxis.of(domain, "time")
    with looks():
        ax = new_axes(ax)
        ink = palette(ax)
        draw_curve(ax, axis, axis.positions(before), model.predict(before), color=ink.soft, lw=1.0)
        x = axis.positions(ahead.times)
        share = f"{100 * ahead.coverage:.0f} % of new measurements"
        band = (ahead.lower, ahead.upper)
        ax.fill_between(placed(axis, x), *band, color=ink.fit, alpha=0.15, lw=0, label=share)
        draw_curve(ax, axis, x, ahead.mean, **{"lw": 1.4, "label": "forecast", **line})
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


def _draw(model: Any, curve: Curve, label: str, title: str, ax: Any, line: Any) -> Axes:
    with looks():
        ax = new_axes(ax)
        fit = palette(ax).fit
        ax.fill_between(curve.x, *curve.band(), color=fit, alpha=0.2, lw=0)
        ax.plot(curve.x, curve.y, **{"color": fit, "lw": 1.2, **line})
        name_axes(ax, TimeAxis.of(model.domains_[0], "time").label, label)
        ax.set_title(title)
    return ax
