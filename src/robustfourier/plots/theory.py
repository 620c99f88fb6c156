"""Figures of the theory's experiments and of our comparisons, drawn from plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.plots.paper import NETWORK_COLOURS, network_label, plain_log_ticks
from robustfourier.plots.style import ALARM, DOTS, FIT, FLOOR, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class BoundPanel:
    """Measured deviation from Theorem 1's prediction beside its bound, over one quantity.

    Attributes
    ----------
    title, name : str
        The quantity in words, and for the axis.
    x, deviation, bound, signal : ndarray of shape (n,)
        One entry per run.
    log_x : bool
    guide : float or None
        Exponent of a line to compare the slope with.
    """

    title: str
    name: str
    x: FloatArray
    deviation: FloatArray
    bound: FloatArray
    signal: FloatArray
    log_x: bool
    guide: float | None


@dataclass(frozen=True)
class DecayPanel:
    """Something that should fall at least like x^guide.

    Attributes
    ----------
    title, name, value_name : str
    x, y : ndarray of shape (n,)
    guide : float
    runs : tuple of two ndarrays of shape (N,), or None
        What `y` sums up, run by run; None where `y` is the runs themselves.
    """

    title: str
    name: str
    value_name: str
    x: FloatArray
    y: FloatArray
    guide: float
    runs: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True)
class ViolationPanel:
    """Diagonal weights by mode when f has an even mode.

    Attributes
    ----------
    measured, predicted, with_leak : ndarray of shape (m,)
        Size of the weights of each mode: trained, by Theorem 1, and with the leakage added.
    true_modes : tuple of int
    """

    measured: FloatArray
    predicted: FloatArray
    with_leak: FloatArray
    true_modes: tuple[int, ...]


@dataclass(frozen=True)
class PairedErrors:
    """Two errors for each seed.

    Attributes
    ----------
    label : str
    network : str
    before, after : ndarray of shape (number of seeds,)
        With Glorot's start and with the symmetric one.
    """

    label: str
    network: str
    before: FloatArray
    after: FloatArray


def draw_bounds(panels: Sequence[BoundPanel], figure: Figure) -> None:
    """Theorem 1: measured deviation, its bound and the size of what is learnt."""
    figure.suptitle(
        "Theorem 1: distance of the trained diagonal weights from the prediction",
        x=0.01, ha="left", fontweight="semibold",
    )  # fmt: skip
    axes = figure.subplots(2, 2)
    for ax, panel, letter in zip(axes.ravel(), panels, "abcd", strict=False):
        order = np.argsort(panel.x)
        x = panel.x[order]
        ax.plot(x, panel.bound[order], color=ALARM, label="bound of the theorem")
        ax.plot(x, panel.signal[order], color=SOFT, linestyle=":", label="size of the prediction")
        ax.plot(
            x, panel.deviation[order], "o", color=FIT, markersize=4, alpha=0.7, label="measured"
        )
        if panel.guide is not None:
            _draw_guide(ax, x, panel.deviation[order], panel.guide)
        ax.set(xscale="log" if panel.log_x else "linear", yscale="log", xlabel=panel.name)
        if panel.log_x:
            _tick_at(ax, x)
        ax.set_ylabel(r"$\|w^T - \mathrm{prediction}\|_\infty$")
        ax.set_title(f"({letter}) over the {panel.title}")
    axes[0, 0].legend(fontsize=8.5, loc="upper left")


def draw_second_phase(
    decays: Sequence[DecayPanel], violation: ViolationPanel | None, figure: Figure
) -> None:
    """Second phase, generalisation gap, and what happens without Assumption 2."""
    columns = len(decays) + (violation is not None)
    widths = [1.0] * len(decays) + [1.5] * (violation is not None)
    axes = figure.subplots(1, columns, squeeze=False, width_ratios=widths)[0]
    for ax, panel in zip(axes, decays, strict=False):
        if panel.runs is not None:
            ax.plot(*panel.runs, "o", color=DOTS, markersize=3, alpha=0.4, label="single runs")
        name = None if panel.runs is None else "root mean square"
        ax.plot(panel.x, panel.y, "o", color=FIT, markersize=4, alpha=0.8, label=name)
        if name is not None:
            ax.legend(fontsize=8.5, loc="lower left")
        _draw_guide(ax, panel.x, panel.y, panel.guide)
        ax.set(xscale="log", yscale="log", xlabel=panel.name, ylabel=panel.value_name)
        plain_log_ticks(ax)
        _tick_at(ax, panel.x)
        ax.set_title(panel.title)
    if violation is not None:
        _draw_violation(axes[-1], violation)


def _draw_violation(ax: Axes, panel: ViolationPanel) -> None:
    modes = np.arange(1, panel.measured.size + 1)
    for mode in panel.true_modes:
        ax.axvline(mode, color="#ffd75e", linewidth=6, alpha=0.55, zorder=0)
    ax.vlines(modes, 0, panel.measured, color=FIT, linewidth=2, label="trained")
    ax.plot(modes, panel.predicted, "_", color=ALARM, markersize=9, label="Theorem 1")
    ax.plot(
        modes, panel.with_leak, "o", color=FLOOR, markersize=4, fillstyle="none",
        label=r"with $E[f\,|x_j|]$ added",
    )  # fmt: skip
    for index in np.flatnonzero(panel.measured > 0.05 * panel.measured.max()):
        ax.annotate(
            str(index + 1), (index + 1, panel.measured[index]), xytext=(0, 5),
            textcoords="offset points", ha="center", fontsize=8.5,
        )  # fmt: skip
    ax.set(xlabel="mode (shaded: in the target)", ylabel="size of diagonal weights")
    ax.set_ylim(0, 1.15 * float(panel.measured.max()))
    ax.legend(fontsize=8.5, loc="upper right")
    ax.set_title("(c) an even mode, against Assumption 2")


def draw_sweep(variations: Sequence[str], errors: dict[str, FloatArray], figure: Figure) -> None:
    """Errors of a few networks under varied choices, one row per choice.

    Parameters
    ----------
    variations : sequence of str
    errors : dict of str to ndarray of shape (len(variations),)
        By network.
    figure : Figure
    """
    ax = figure.add_subplot()
    rows = np.arange(len(variations))[::-1]
    shifts = np.linspace(0.22, -0.22, len(errors))  # equal errors are seen side by side
    for (network, values), shift in zip(errors.items(), shifts, strict=True):
        marker = "o" if network.endswith("diag") else "s"
        ax.plot(
            values, rows + shift, marker, color=NETWORK_COLOURS[network], markersize=5,
            label=network_label(network),
        )  # fmt: skip
    for between in rows[:-1] - 0.5:
        ax.axhline(between, color="#e4e8ee", linewidth=0.8)
    ax.grid(axis="y", visible=False)
    ax.set_yticks(rows, list(variations))
    ax.set(xscale="log", xlabel="relative $L^2$ error at the end")
    plain_log_ticks(ax, "x")
    ax.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)


def draw_paired(pairs: Sequence[PairedErrors], figure: Figure) -> None:
    """Arrows from the error with Glorot's start to the error with the symmetric start."""
    ax = figure.add_subplot()
    for row, pair in enumerate(reversed(pairs)):
        offsets = np.linspace(-0.25, 0.25, pair.before.size) if pair.before.size > 1 else [0.0]
        for shift, before, after in zip(offsets, pair.before, pair.after, strict=True):
            y = row + float(shift)
            ax.annotate(
                "", (after, y), (before, y),
                arrowprops={"arrowstyle": "->", "color": "#b8c0ca", "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
            ax.plot(before, y, "o", color=ALARM, markersize=4)
            ax.plot(after, y, "o", color=FIT, markersize=4)
    ax.plot([], [], "o", color=ALARM, markersize=4, label="Glorot (the paper's)")
    ax.plot([], [], "o", color=FIT, markersize=4, label="symmetric (ours)")
    labels = [f"{pair.label}, {network_label(pair.network)}" for pair in reversed(pairs)]
    ax.set_yticks(range(len(pairs)), labels)
    ax.set(xlabel="relative $L^2$ error at the end", xscale="log")
    plain_log_ticks(ax, "x")
    ax.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=9)


def _tick_at(ax: Axes, x: FloatArray) -> None:
    """Put the ticks where the measurements are, as far as their numbers have room."""
    from matplotlib.ticker import FixedLocator, NullLocator

    values = np.unique(x)
    places, kept = np.log(values), [0]
    for i in range(1, values.size):
        if places[i] - places[kept[-1]] > 0.08 * (places[-1] - places[0]):
            kept.append(i)
    ax.xaxis.set_major_locator(FixedLocator(values[kept].tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(
        lambda value, _: f"{value / 1e3:g}k" if value >= 1e3 else f"{value:g}"
    )


def _draw_guide(ax: Axes, x: FloatArray, y: FloatArray, exponent: float) -> None:
    """Draw a line of the given slope through the middle of the points."""
    ends = np.array([x.min(), x.max()], dtype=np.float64)
    level = np.median(np.log(y) - exponent * np.log(x))
    ax.plot(ends, np.exp(level) * ends**exponent, color="#20262e", linewidth=0.9, linestyle="--")
    # Where a line that falls begins, or one that rises ends, there is room beside it.
    corner, offset, side = (
        (ends[0], (24, 0), "left") if exponent < 0 else (ends[1], (-4, 9), "right")
    )
    ax.annotate(
        f"slope {exponent:g}".replace("-", "−"),
        (corner, float(np.exp(level) * corner**exponent)),
        xytext=offset,
        textcoords="offset points",
        ha=side,
        fontsize=8.5,
    )
