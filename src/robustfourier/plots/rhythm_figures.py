"""Figures of known periods: rhythmic series in order of their phase, and acrophases on a dial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robustfourier.cosinor.heat_map import HeatMap
from robustfourier.formatting import unit_name
from robustfourier.plots.style import colour, label, looks, name_axes, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED = 40  # series up to which each has its name beside its row
_HOURS = 8  # marks of a dial
_SPREAD = 30.0  # of the largest amplitude to the median, from which on the radius is logarithmic


def plot_heat_map(
    shown: HeatMap, *, unit: str = "", title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw values of rhythmic series against time, the earliest acrophase at the top.

    Parameters
    ----------
    shown : HeatMap
    unit : str
        Of the times.
    title : str
    ax : Axes, optional
    """
    with looks():
        ax = new_axes(ax, 7.0, 5.0)
        edges = _edges(shown.times)
        mesh = ax.pcolormesh(edges, np.arange(len(shown.values) + 1), shown.values,
                             cmap="RdBu_r", vmin=-2.0, vmax=2.0, rasterized=True)  # fmt: skip
        ax.set_ylim(max(len(shown.values), 1), 0)
        ax.grid(visible=False)
        named = len(shown.names) <= _NAMED
        if named:
            ax.set_yticks(np.arange(len(shown.names)) + 0.5, [label(n, 24) for n in shown.names])
            for text in ax.get_yticklabels():
                text.set_parse_math(False)
        name_axes(ax, f"time ({unit_name(unit)})" if unit else "time", "" if named else "series")
        ax.set_title(label(title), parse_math=False)
        ax.figure.colorbar(mesh, ax=ax, label="standard deviations from the mean")
    return ax


def plot_acrophases(
    table: pd.DataFrame, cycle: float, *, unit: str = "", title: str = "", ax: Any = None
) -> Axes:
    """Draw acrophases around a dial of one cycle; the radius is the amplitude.

    Parameters
    ----------
    table : DataFrame
        Rows with acrophase and amplitude; a column group colours them.
    cycle : float
        Length of the period, in the unit of the acrophases.
    unit : str
    title : str
    ax : PolarAxes, optional
    """
    with looks():
        if ax is None:
            from matplotlib import pyplot

            figure = pyplot.figure(figsize=(5.0, 5.0), layout="constrained")
            ax = figure.add_subplot(projection="polar")
        ax.set_theta_zero_location("N")
        ax.set_theta_direction(-1)
        groups = table.groupby("group") if "group" in table else [("", table)]
        for i, (name, rows) in enumerate(groups):
            ax.scatter(2 * np.pi * rows["acrophase"] / cycle, rows["amplitude"], s=14,
                       alpha=0.6, lw=0, color=colour(i), label=label(str(name), 24))  # fmt: skip
        marks = np.arange(_HOURS) / _HOURS
        ax.set_xticks(2 * np.pi * marks, [f"{cycle * mark:.4g}" for mark in marks])
        words = f" ({unit_name(unit)})" if unit else ""
        ax.set_xlabel(f"acrophase{words}; radius: amplitude")
        typical = float(table["amplitude"].median()) if len(table) else 0.0
        if typical > 0 and table["amplitude"].max() > _SPREAD * typical:
            ax.set_rscale("symlog", linthresh=typical)
        ax.set_title(label(title), parse_math=False)
        if "group" in table and len(table):
            ax.legend(loc="lower left", bbox_to_anchor=(-0.1, -0.1))
    return ax


def _edges(times: Any) -> Any:
    """Edges of cells whose middles are the times."""
    if len(times) < 2:
        return np.array([times[0] - 0.5, times[0] + 0.5])
    middle = 0.5 * (times[1:] + times[:-1])
    first, last = times[0] - 0.5 * (times[1] - times[0]), times[-1] + 0.5 * (times[-1] - times[-2])
    return np.concatenate([[first], middle, [last]])
