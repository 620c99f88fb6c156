"""Figures of several bands with one period: each folded on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robustfourier.bands import MultibandMixture
from robustfourier.plots.style import colour, label, looks, name_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PHASES = 400


def plot_bands(model: MultibandMixture, *, axes: Any = None) -> Figure:
    """Draw each band folded on the common period, with its fitted waveform, over two cycles.

    Parameters
    ----------
    model : MultibandMixture
        Fitted; without a period the rows are drawn against time.
    axes : Figure, optional
        Where to draw; a new one otherwise.
    """
    rows = model.rows_
    with looks():
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.figure(figsize=(7.0, 1.4 + 1.5 * len(rows.names)), layout="constrained")
        panels = axes.subplots(len(rows.names), 1, sharex=True, squeeze=False)[:, 0]
        for b, (name, ax) in enumerate(zip(rows.names, panels, strict=True)):
            at = rows.of_band(b)
            x, y = rows.times[at], rows.values[at]
            if model.frequency_:
                phase = x * model.frequency_ % 1.0
                x, y = np.concatenate([phase, phase + 1.0]), np.concatenate([y, y])
                grid = np.linspace(0.0, 2.0, _PHASES)
                ax.plot(grid, model.waveform(grid, name), color=colour(b), lw=1.5)
            ax.plot(x, y, ".", ms=4, color=colour(b), alpha=0.6)
            name_axes(ax, "", label(name, 20))
        name_axes(panels[-1], "phase" if model.frequency_ else "time", label(rows.names[-1], 20))
    return axes
