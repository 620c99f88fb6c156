"""Figures of what wanders and what comes next: amplitude and phase, the remainder, the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robustfourier.errors import InputError, require_choice
from robustfourier.plots.fit_figures import draw_band, draw_curve
from robustfourier.plots.style import (
    limit_values,
    line_style,
    looks,
    name_axes,
    new_axes,
    palette,
    placed,
)
from robustfourier.results import Result, TimeAxis
from robustfourier.results.curves_over_time import (
    BEFORE,
    Ahead,
    forecast_curve,
    quasi_periodic_curves,
    remainder_curve,
)
from robustfourier.results.drawing_points import curve_grid
from robustfourier.results.patterns import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robustfourier.results.result import Source

#: Name of the axis of a phase over time.
LATE = "delay (cycles)"


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
    axis = TimeAxis.of(model.domains_[0], "time")
    amplitude, late = quasi_periodic_curves(one, axis, model.components_.level)
    title = f"{one.label} {one.wandering or 'is strictly periodic'}"
    curve, name = (amplitude, "amplitude") if what == "amplitude" else (late, LATE)
    return draw_over_time(curve, axis, name, ax=new_axes(ax), title=title, **line)


def plot_remainder(model: Any, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the part of the residuals that neighbouring samples share, with its 90 % band."""
    white = _mixture(model).remainder_ is None
    title = "the residuals are white noise" if white else "correlated noise"
    axis = TimeAxis.of(model.domains_[0], "time")
    curve = remainder_curve(model, axis)
    return draw_over_time(curve, axis, "correlated noise", ax=new_axes(ax), title=title, **line)


def plot_forecast(
    source: Source, horizon: Any = None, *, ax: Axes | None = None, **line: Any
) -> Axes:
    """Draw the last part of the record and what comes next, with the interval of new measurements.

    Parameters
    ----------
    source : PeriodicMixture or Result
        Fitted to one column of times and one of values; of a result, the forecast of its page
        behind the samples.
    horizon : int, str or timedelta, optional
        How many steps, or how far; a fifth of the record if not given.
    ax : Axes, optional
    **line
        For the forecast, as `Axes.plot` takes them.
    """
    if isinstance(source, Result):
        return _draw_page_forecast(source, new_axes(ax), line)
    domain, column = _mixture(source).domains_[0], source.models_[0]
    axis = TimeAxis.of(domain, "time")
    steps = max(round(0.4 / column.spacing), 1) if horizon is None else horizon
    ahead = forecast_curve(source, axis, steps)
    grid = curve_grid(float(source.modes_.mode.max(initial=1.0)), 0.3)
    before = domain.from_theta(column.last - 0.6 + 0.6 * grid)
    with looks():
        ax = new_axes(ax)
        past = axis.positions(before)
        draw_curve(ax, axis, past, source.predict(before), color=palette(ax).soft, lw=1.0)
        _draw_ahead(ax, axis, ahead, line)
        name_axes(ax, axis.label, "value")
    return ax


def _draw_page_forecast(result: Result, ax: Axes, line: dict[str, Any]) -> Axes:
    if result.forecast is None:
        raise InputError("this result has no forecast; fit a PeriodicMixture")
    ahead = result.forecast
    low = float(ahead.x[0] - BEFORE * (ahead.x[-1] - ahead.x[0]))
    here = np.flatnonzero(result.position >= low)
    with looks():
        x, y = placed(result.axis, result.position[here]), result.samples.values[here]
        ax.plot(x, y, ".", color=palette(ax).dots, ms=3, alpha=0.6, mew=0)
        _draw_ahead(ax, result.axis, ahead, line)
        limit_values(ax, x, y, ahead.lower, ahead.upper, down=result.downwards)
        name_axes(ax, result.axis.label, result.samples.value_name)
    return ax


def _draw_ahead(ax: Axes, axis: TimeAxis, ahead: Ahead, line: dict[str, Any]) -> None:
    share = f"{100 * ahead.coverage:.0f} % of new measurements"
    draw_band(ax, axis, ahead.x, ahead.lower, ahead.upper, label=share)
    draw_curve(ax, axis, ahead.x, ahead.mean, **line_style(line, lw=1.4, label="forecast"))
    ax.legend(loc="best")


def draw_over_time(
    curve: Curve, axis: TimeAxis, name: str, *, ax: Axes, title: str = "", **line: Any
) -> Axes:
    """Draw a curve with its 90 % band against time."""
    with looks():
        draw_band(ax, axis, curve.x, *curve.band())
        draw_curve(ax, axis, curve.x, curve.y, **line)
        ax.margins(x=0.01)
        name_axes(ax, axis.label, name)
        ax.set_title(title)
    return ax


def _mixture(model: Any) -> Any:
    """Return the model if it has what these figures show."""
    if not hasattr(model, "remainder_"):
        raise InputError(f"model is a {type(model).__name__}; give a fitted PeriodicMixture")
    return model
