"""Figures of the theorems' runs, of the two starts and of the open choices."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from paper.examples import TITLES
from paper.network_figures import NETWORK_COLOURS, network_label
from paper.network_runs import Results
from paper.result_store import ResultStore
from paper.theory_claims import gap_by_samples, gaps_of_runs
from paper.theory_runs import TARGETS, TheoryRow, leaky_prediction
from robustfourier.arrays import FloatArray
from robustfourier.network.active_modes import diagonal_sizes
from robustfourier.plots.figure_files import save_figure
from robustfourier.plots.style import ALARM, DOTS, FIT, FLOOR, SOFT, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Sweep, its field, title, name of the axis, whether logarithmic, slope to compare with.
_PANELS = (
    ("r_c", "r_c", "size of the start", "$r_c$", True, 1.0),
    ("B", "batch_size", "batch size", "$B$", True, -0.5),
    ("T", "n_steps", "steps, from a large start", "$T$", False, None),
    ("m", "n_modes", "number of modes", "$m$", True, -0.5),
)


def theory_figures(rows: list[TheoryRow], store: ResultStore, folder: Path) -> dict[str, Path]:
    """Draw the figures of the theory as far as there are results; caption → file."""
    if not rows:
        return {}
    bounds = (
        "Theorem 1. Measured distance of the trained diagonal weights from the prediction, "
        "beside the theorem's bound with the constant from Hoeffding's inequality."
    )
    phases = (
        "The second phase against its number of steps, the generalisation gap against the "
        "number of samples, and the diagonal layer when Assumption 2 is violated: the even "
        "mode 28 raises the modes 14 and 7, which are not there."
    )
    return {
        bounds: save_figure(folder / "theory_bounds.png", (10, 6.4), partial(draw_bounds, rows)),
        phases: save_figure(
            folder / "theory_second_phase.png",
            (11.5, 3.6),
            partial(draw_second_phase, rows, store),
        ),
    }


def comparison_figures(results: Results, folder: Path) -> dict[str, Path]:
    """Draw the symmetric start against Glorot's, and the sweep of open choices."""
    drawn: dict[str, Path] = {}
    if pairs := _paired(results):
        caption = "Our symmetric start against the paper's Glorot start, seed by seed."
        size = (9, 1.1 + 0.42 * len(pairs))
        drawn[caption] = save_figure(
            folder / "symmetric_start.png", size, partial(draw_paired, pairs)
        )
    if sweep := results.select(purpose="sweep"):
        variations = list(dict.fromkeys(row.trial.variation for row in sweep))
        networks = list(dict.fromkeys(row.trial.network for row in sweep))
        found = {(row.trial.network, row.trial.variation): row.final_error for row in sweep}
        errors = {
            network: np.array([found.get((network, v), np.nan) for v in variations])
            for network in networks
        }
        steps = ", ".join(
            f"{row.trial.network} {row.trial.n_steps}" for row in sweep[: len(networks)]
        )
        caption = (
            "Example 3 with one of the choices changed that the paper leaves open; one seed, "
            f"{steps} steps."
        )
        size = (9, 1.2 + 0.3 * len(variations))
        drawn[caption] = save_figure(
            folder / "open_choices.png", size, partial(draw_sweep, variations, errors)
        )
    return drawn


def _paired(results: Results) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Label → errors with Glorot's start and with the symmetric one, seed by seed."""
    pairs = {}
    symmetric = results.select(init="symmetric")
    for example, network in dict.fromkeys((r.trial.example, r.trial.network) for r in symmetric):
        rows = results.matched(
            {"example": example, "network": network, "purpose": "main"},
            {"example": example, "network": network, "init": "symmetric"},
        )
        if rows:
            errors = np.array([[row.final_error for row in pair] for pair in rows]).T
            label = f"{TITLES[example].split(':')[0]}, {network_label(network)}"
            pairs[label] = (errors[0], errors[1])
    return pairs


def draw_bounds(rows: list[TheoryRow], figure: Figure) -> None:
    """Theorem 1: measured deviation, its bound and the size of what is learnt."""
    figure.suptitle(
        "Theorem 1: distance of the trained diagonal weights from the prediction",
        x=0.01, ha="left", fontweight="semibold",
    )  # fmt: skip
    axes = figure.subplots(2, 2)
    for ax, panel, letter in zip(axes.ravel(), _PANELS, "abcd", strict=True):
        sweep, field, title, name, log_x, guide = panel
        chosen = sorted(
            (row for row in rows if row.task.sweep == sweep),
            key=lambda row: getattr(row.task, field),
        )
        ax.set_title(f"({letter}) over the {title}")
        ax.set_xlabel(name)
        ax.set_ylabel(r"$\|w^T - \mathrm{prediction}\|_\infty$")
        if not chosen:
            continue
        ax.set(xscale="log" if log_x else "linear", yscale="log")
        x = np.array([float(getattr(row.task, field)) for row in chosen])
        deviation = np.array([row.deviation for row in chosen])
        ax.plot(x, [r.bound for r in chosen], color=ALARM, label="bound of the theorem")
        ax.plot(
            x, [r.signal for r in chosen], color=SOFT, linestyle=":", label="size of the prediction"
        )
        ax.plot(x, deviation, "o", color=FIT, markersize=4, alpha=0.7, label="measured")
        if guide is not None:
            _draw_guide(ax, x, deviation, guide)
        if log_x:
            _tick_at(ax, x)
    axes[0, 0].legend(fontsize=8.5, loc="upper left")


def draw_second_phase(rows: list[TheoryRow], store: ResultStore, figure: Figure) -> None:
    """Second phase, generalisation gap, and what happens without Assumption 2."""
    phase, gap, violation = figure.subplots(1, 3, width_ratios=(1.0, 1.0, 1.5))
    second = [row for row in rows if row.task.sweep == "second phase"]
    excess = np.array([row.empirical_risk - row.least_risk for row in second])
    x = np.array([float(row.task.n_output_steps) for row in second])
    phase.set_title("(a) second phase")
    _draw_decay(phase, x, excess, "steps, $T'$", r"$\hat R(c^{T'}) - \hat R(\hat c)$")
    every, single = gaps_of_runs(rows)
    gap.plot(every, np.abs(single), "o", color=DOTS, markersize=3, alpha=0.4, label="single runs")
    gap.set_title("(b) generalisation gap")
    _draw_decay(
        gap, *gap_by_samples(rows), "samples, $TB$", r"$|R - \hat R|$", label="root mean square"
    )
    gap.legend(fontsize=8.5, loc="lower left")
    _draw_violation(violation, rows, store)


def _draw_decay(
    ax: Axes, x: FloatArray, y: FloatArray, name: str, value_name: str, label: str | None = None
) -> None:
    """Something that should fall at least like x^(−1/2)."""
    ax.plot(x, y, "o", color=FIT, markersize=4, alpha=0.8, label=label)
    ax.set(xlabel=name, ylabel=value_name)
    if x.size:
        ax.set(xscale="log", yscale="log")
        _draw_guide(ax, x, y, -0.5)
        plain_log_ticks(ax)
        _tick_at(ax, x)


def _draw_violation(ax: Axes, rows: list[TheoryRow], store: ResultStore) -> None:
    """Diagonal weights by mode when f has an even mode: trained, by Theorem 1, with leakage."""
    ax.set_title("(c) an even mode, against Assumption 2")
    ax.set(xlabel="mode (shaded: in the target)", ylabel="size of diagonal weights")
    chosen = [r for r in rows if r.task.sweep == "violation" and r.task.target == "even"]
    if not chosen:
        return
    task, curves = chosen[0].task, store.curves(chosen[0].task.key)
    with_leak = leaky_prediction(task, curves["alpha"], curves["c0"], curves["w"])
    measured, predicted, leaked = (
        diagonal_sizes(each, task.n_modes, "symmetrised")
        for each in (curves["w"], curves["predicted"], with_leak)
    )
    modes = np.arange(1, measured.size + 1)
    for component in TARGETS[task.target].components:
        ax.axvline(component.mode, color="#ffd75e", linewidth=6, alpha=0.55, zorder=0)
    ax.vlines(modes, 0, measured, color=FIT, linewidth=2, label="trained")
    ax.plot(modes, predicted, "_", color=ALARM, markersize=9, label="Theorem 1")
    ax.plot(
        modes, leaked, "o", color=FLOOR, markersize=4, fillstyle="none",
        label=r"with $E[f\,|x_j|]$ added",
    )  # fmt: skip
    for index in np.flatnonzero(measured > 0.05 * measured.max()):
        ax.annotate(
            str(index + 1), (index + 1, measured[index]), xytext=(0, 5),
            textcoords="offset points", ha="center", fontsize=8.5,
        )  # fmt: skip
    ax.set_ylim(0, 1.15 * float(measured.max()))
    ax.legend(fontsize=8.5, loc="upper right")


def draw_sweep(variations: list[str], errors: dict[str, FloatArray], figure: Figure) -> None:
    """Errors of a few networks under varied choices, one row per choice."""
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


def draw_paired(pairs: dict[str, tuple[FloatArray, FloatArray]], figure: Figure) -> None:
    """Arrows from the error with Glorot's start to the error with the symmetric start."""
    ax = figure.add_subplot()
    for row, errors in enumerate(reversed(pairs.values())):
        n = errors[0].size
        offsets = np.linspace(-0.25, 0.25, n) if n > 1 else [0.0]
        for shift, before, after in zip(offsets, *errors, strict=True):
            y = row + float(shift)
            ax.annotate(
                "", (after, y), (before, y),
                arrowprops={"arrowstyle": "->", "color": "#b8c0ca", "shrinkA": 0, "shrinkB": 0},
            )  # fmt: skip
            ax.plot(before, y, "o", color=ALARM, markersize=4)
            ax.plot(after, y, "o", color=FIT, markersize=4)
    ax.plot([], [], "o", color=ALARM, markersize=4, label="Glorot (the paper's)")
    ax.plot([], [], "o", color=FIT, markersize=4, label="symmetric (ours)")
    ax.set_yticks(range(len(pairs)), list(reversed(pairs)))
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
