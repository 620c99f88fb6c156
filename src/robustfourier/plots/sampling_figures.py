"""Figures about what a record can show: its spectral window, and planted tones found again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robustfourier.domain import Domain
from robustfourier.formatting import number
from robustfourier.plots.style import line_style, looks, name_axes, new_axes, palette
from robustfourier.results.drawing_points import peak_bins
from robustfourier.sampling import Completeness, Sampling

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_window(sampling: Sampling, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the spectral window; side peaks say which frequencies could be mistaken."""
    window = sampling.window
    keep = peak_bins(window.mode, window.height, 8000)
    with looks():
        ax = new_axes(ax, 9.0, 2.8)
        frequency = np.asarray(sampling.domain.frequency(window.mode))
        ink = palette(ax)
        ax.plot(frequency[keep], window.height[keep], **line_style(line, color=ink.soft, lw=0.8))
        peaks = np.asarray(sampling.domain.frequency(window.peak_mode))
        ax.plot(peaks, window.peak_height, "v", color=ink.fit, ms=6)
        ax.set_ylim(0.0, 1.05)
        ax.margins(x=0.01)
        name_axes(ax, sampling.domain.frequency_label, "spectral window")
    return ax


def plot_completeness(
    completeness: Completeness, domain: Domain, *, ax: Axes | None = None, **image: Any
) -> Axes:
    """Draw the share of planted tones found, by period and amplitude."""
    with looks():
        ax = new_axes(ax, 7.0, 4.0)
        style = {"origin": "lower", "aspect": "auto", "cmap": "cividis", "vmin": 0, "vmax": 1}
        shown = ax.imshow(completeness.found.T, **{**style, **image})
        for (i, j), share in np.ndenumerate(completeness.found):
            ax.text(i, j, f"{100 * share:.0f}", ha="center", va="center", fontsize=9,
                    color="white" if share < 0.6 else "black")  # fmt: skip
        periods = [domain.period_words(period) for period in completeness.period]
        ax.set_xticks(range(len(periods)), periods)
        ax.set_yticks(
            range(len(completeness.amplitude)), [number(a, 3) for a in completeness.amplitude]
        )
        ax.grid(visible=False)
        name_axes(ax, "period", "amplitude planted")
        ax.set_title("Planted tones found (%)")
        ax.figure.colorbar(shown, ax=ax, label="share found")
    return ax
