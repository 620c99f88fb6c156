"""The figures of the paper's sections 1 and 5 and of its appendix.

What a figure shows is gathered from the results into a small record, and drawn from it. Blue and
green lines are networks with diagonal layer, dashed red and orange ones without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paper.catalogue import EXAMPLES, SEEDS
from paper.examples import example_data
from paper.network_runs import Results, Row, thinned
from robustfourier.arrays import FloatArray
from robustfourier.network.active_modes import diagonal_sizes
from robustfourier.network.architecture import Architecture
from robustfourier.network.embedding import embedding_layout
from robustfourier.plots.figure_files import save_figure
from robustfourier.plots.style import DOTS, plain_log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The part of θ that is zoomed in.
_BOX, _BOX_OF_SERIES = (0.0, 0.2), (0.0, 0.5)
_TRUTH = "#20262e"
NETWORK_COLOURS = {
    "*u0_diag": "#009e73",
    "u0_diag": "#0b62a8",
    "u1_diag": "#2b8fc9",
    "u2_diag": "#4b3b8f",
    "u1_standard": "#c2410c",
    "u2_standard": "#d98a00",
    "u3_standard": "#a0457f",
}
_TARGET_COLOURS = ("#0b62a8", "#c2410c", "#007a59", "#a0457f", "#b07a00")


@dataclass(frozen=True)
class ErrorCurve:
    """Relative error against iterations, over seeds."""

    step: FloatArray
    low: FloatArray
    median: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class RegressionFigure:
    """What the regression figure and the appendix of an example show."""

    title: str
    theta: FloatArray  # one draw of the noisy target
    y: FloatArray
    truth: FloatArray
    box: tuple[float, float]  # the part of θ that is zoomed in
    predictions: dict[str, FloatArray]  # by network, for the same draw
    curves: dict[str, ErrorCurve]  # by network, over all seeds


@dataclass(frozen=True)
class WeightsFigure:
    """What the figure of the weights shows of ``*u0_diag`` and ``u0_diag``, by network."""

    title: str
    targets: tuple[int, ...]  # modes to mark
    final: dict[str, FloatArray]  # size of the diagonal weights of cosines and sines, (2, m)
    steps: dict[str, FloatArray]  # (R,)
    strengths: dict[str, FloatArray]  # size of each mode at these steps, (R, m)
    phase_ends: dict[str, int]  # step at which the diagonal layer is no longer trained
    dense: FloatArray  # size of each mode in the first dense layer of u1_standard, (width, m)


def network_label(network: str) -> str:
    r"""Return the paper's notation of a network, for matplotlib.

    Examples
    --------
    >>> print(network_label("*u0_diag"))
    $\ast u_0^{\mathrm{diag}}$
    """
    star, rest = (r"\ast ", network[1:]) if network.startswith("*") else ("", network)
    depth, kind = rest[1:].split("_")
    return rf"${star}u_{depth}^{{\mathrm{{{kind}}}}}$"


def draw_regression(shown: RegressionFigure, figure: Figure) -> None:
    """Noisy target with zoom box, the fits inside the box, and the errors over iterations."""
    figure.suptitle(shown.title, x=0.01, ha="left", fontweight="semibold")
    grid = figure.add_gridspec(2, 3, width_ratios=(1, 1, 1.05), height_ratios=(0.8, 1))
    target = figure.add_subplot(grid[0, :2])
    _draw_target(target, shown)
    with_diagonal = figure.add_subplot(grid[1, 0])
    without = figure.add_subplot(grid[1, 1], sharex=with_diagonal, sharey=with_diagonal)
    _draw_zoom(with_diagonal, shown, diagonal=True)
    _draw_zoom(without, shown, diagonal=False)
    with_diagonal.set_title("(b1) with diagonal layer")
    with_diagonal.set_ylabel("value")
    without.set_title("(b2) without")
    without.tick_params(labelleft=False)
    _draw_errors(figure.add_subplot(grid[:, 2]), shown.curves)


def _draw_target(ax: Axes, shown: RegressionFigure) -> None:
    from matplotlib.patches import Rectangle

    many = shown.theta.size > 2000
    ax.plot(
        shown.theta, shown.y, ".", color=DOTS, markersize=2 if many else 4, alpha=0.5, zorder=1,
        markeredgewidth=0, rasterized=True,
    )  # fmt: skip
    ax.plot(shown.theta, shown.truth, color=_TRUTH, linewidth=0.5 if many else 0.9, zorder=2)
    low, high = shown.y.min(), shown.y.max()
    left, right = shown.box
    ax.add_patch(
        Rectangle(
            (left, low), right - left, high - low, facecolor="#ffd75e", alpha=0.35,
            edgecolor="#b07a00", linewidth=1.2, zorder=3,
        )
    )  # fmt: skip
    ax.set(xlim=(-1, 1), xlabel="θ", ylabel="value")
    ax.set_title("(a) noisy samples, truth, and the part shown below")


def _draw_zoom(ax: Axes, shown: RegressionFigure, *, diagonal: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    inside = (shown.theta >= shown.box[0]) & (shown.theta <= shown.box[1])
    theta = shown.theta[inside]
    size, alpha = (2.5, 0.35) if theta.size > 400 else (5.0, 0.6)
    ax.plot(
        theta, shown.y[inside], ".", color=DOTS, markersize=size, alpha=alpha, markeredgewidth=0
    )
    truth: dict[str, Any] = {"color": _TRUTH, "linewidth": 3.2, "alpha": 0.28, "label": "truth"}
    handles = ax.plot(theta, shown.truth[inside], **truth)
    seen = [name for name in shown.predictions if name.endswith("diag") == diagonal]
    for rank, network in enumerate(seen):
        style = _line(network)
        handles.append(Line2D([], [], label=network_label(network), **style))
        style |= _together(rank, len(seen), dashed=not diagonal)
        ax.plot(theta, shown.predictions[network][inside], **style)
    ax.set(xlim=shown.box, xlabel="θ")
    # The last number would touch the first one of the panel beside it.
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=(1, 2, 5, 10), prune="upper"))
    span = np.ptp(shown.truth)
    low, high = shown.truth.min() - 0.25 * span, shown.truth.max() + 0.55 * span
    ax.set_ylim(low, high)
    ax.legend(
        handles=handles, ncols=3, fontsize=8.5, loc="upper center", handlelength=1.8,
        columnspacing=1.0,
    )  # fmt: skip


def _draw_errors(ax: Axes, curves: dict[str, ErrorCurve]) -> None:
    for network, curve in curves.items():
        seen = curve.step > 0
        style = _line(network)
        ax.fill_between(
            curve.step[seen], curve.low[seen], curve.high[seen], color=style["color"], alpha=0.15,
            linewidth=0,
        )  # fmt: skip
        ax.plot(curve.step[seen], curve.median[seen], **(style | {"linewidth": 1.8}))
    _label_ends(ax, curves)
    ax.set(xscale="log", yscale="log", xlabel="iterations", ylabel="relative $L^2$ error")
    plain_log_ticks(ax)
    ax.set_title("(c) error during training\n(median and range over seeds)")


def _together(rank: int, count: int, *, dashed: bool) -> dict[str, Any]:
    """Lines that coincide are all seen: their dashes take turns, or the broad ones lie beneath."""
    if not dashed:
        return {"linewidth": 1.1 + 0.7 * (count - 1 - rank)}
    dash, gap = 4.0, 1.2
    return {"linestyle": (rank * (dash + gap), (dash, (count - 1) * (dash + gap) + gap))}


def _apart(heights: Sequence[float], least: float) -> list[float]:
    """Push heights, given in order, apart where two are closer than `least`."""
    moved = list(heights)
    for _ in range(200):
        for i in range(len(moved) - 1):
            overlap = least - (moved[i + 1] - moved[i])
            if overlap > 0:
                moved[i] -= overlap / 2
                moved[i + 1] += overlap / 2
    return moved


def _label_ends(ax: Axes, curves: dict[str, ErrorCurve]) -> None:
    """Write each network's name at the end of its line, pushed apart where they would touch."""
    ends = sorted((float(np.log(curve.median[-1])), name) for name, curve in curves.items())
    lowest = min(np.log(curve.low[curve.step > 0]).min() for curve in curves.values())
    highest = max(np.log(curve.high[curve.step > 0]).max() for curve in curves.values())
    heights = _apart([height for height, _ in ends], 0.058 * (highest - lowest))
    last = max(float(curve.step[-1]) for curve in curves.values())
    first = min(float(curve.step[curve.step > 0][0]) for curve in curves.values())
    x = last * (last / first) ** 0.03
    for height, (_, name) in zip(heights, ends, strict=True):
        end = curves[name]
        ax.plot(
            [float(end.step[-1]), x], [float(end.median[-1]), float(np.exp(height))],
            color=NETWORK_COLOURS[name], linewidth=0.6, alpha=0.6,
        )  # fmt: skip
        ax.text(
            x * 1.05, float(np.exp(height)), network_label(name), color=NETWORK_COLOURS[name],
            va="center", fontsize=9.5,
        )  # fmt: skip
    ax.set_xlim(first, last * (last / first) ** 0.3)


def draw_weights(shown: WeightsFigure, figure: Figure) -> None:
    """Diagonal weights at the end and during training; the first dense layer without one."""
    figure.suptitle(shown.title, x=0.01, ha="left", fontweight="semibold")
    grid = figure.add_gridspec(2, 3)
    for column, network in enumerate(shown.final):
        name = network_label(network)
        manner = "layer-wise" if network.startswith("*") else "jointly"
        final = figure.add_subplot(grid[0, column])
        _draw_final(final, shown, network)
        final.set_title(f"(a{column + 1}) {name}, trained {manner}", pad=16)
        during = figure.add_subplot(grid[1, column])
        _draw_during(during, shown, network)
        during.set_title(f"(b{column + 1}) {name} during training")
    norms = figure.add_subplot(grid[0, 2])
    _draw_norms(norms, shown)
    _draw_heat(figure.add_subplot(grid[1, 2], sharex=norms), shown, figure)


def _draw_final(ax: Axes, shown: WeightsFigure, network: str) -> None:
    cosines, sines = shown.final[network]
    modes = np.arange(1, cosines.size + 1)
    _mark_targets(ax, shown.targets)
    for values, shift, colour, name in (
        (cosines, -0.2, "#0b62a8", "cosine"),
        (sines, 0.2, "#c2410c", "sine"),
    ):
        ax.vlines(modes + shift, 0, values, color=colour, linewidth=1.3, label=name)
    ax.set(xlim=(0, modes[-1] + 1), xlabel="mode", ylabel="size of diagonal weight")
    ax.set_ylim(0, 1.2 * float(shown.final[network].max()))
    ax.legend(fontsize=8.5, loc="upper right")


def _draw_during(ax: Axes, shown: WeightsFigure, network: str) -> None:
    steps, strengths = shown.steps[network], shown.strengths[network]
    end = shown.phase_ends[network]
    seen = steps <= end
    targets = [mode for mode in shown.targets if mode <= strengths.shape[1]]
    others = np.delete(strengths, [mode - 1 for mode in targets], axis=1)
    ax.plot(steps[seen], others[seen], color="#b8c0ca", linewidth=0.6)
    ends = sorted((float(strengths[seen, mode - 1][-1]), mode) for mode in targets)
    colours = dict(zip(targets, _TARGET_COLOURS, strict=False))
    heights = _apart([height for height, _ in ends], 0.07 * float(strengths[seen].max()))
    for height, (_, mode) in zip(heights, ends, strict=True):
        ax.plot(steps[seen], strengths[seen, mode - 1], color=colours[mode])
        ax.annotate(
            f"{mode}", (end, height), xytext=(4, 0), textcoords="offset points", va="center",
            color=colours[mode], fontsize=9,
        )  # fmt: skip
    ax.set(xlabel="iterations", ylabel="size of diagonal weights", xlim=(0, end))
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k" if value else "0")


def _draw_norms(ax: Axes, shown: WeightsFigure) -> None:
    norms = np.sqrt((shown.dense**2).sum(axis=0))
    modes = np.arange(1, norms.size + 1)
    _mark_targets(ax, shown.targets)
    ax.vlines(modes, 0, norms, color="#c2410c", linewidth=1.5)
    ax.set(xlim=(0, modes[-1] + 1), xlabel="mode", ylabel="norm over neurons")
    ax.set_ylim(bottom=0)
    ax.set_title(f"(c1) {network_label('u1_standard')}, first dense layer", pad=16)


def _draw_heat(ax: Axes, shown: WeightsFigure, figure: Figure) -> None:
    image = ax.imshow(
        shown.dense, aspect="auto", cmap="magma_r", interpolation="nearest",
        extent=(0.5, shown.dense.shape[1] + 0.5, 0, shown.dense.shape[0]),
        vmin=0, vmax=float(np.quantile(shown.dense, 0.998)),
    )  # fmt: skip
    figure.colorbar(image, ax=ax, pad=0.01, extend="max", label="size of weight")
    ax.grid(False)
    ax.set(xlabel="mode", ylabel="neuron")
    ax.set_title("(c2) its weights")


def _mark_targets(ax: Axes, targets: Sequence[int]) -> None:
    for mode in targets:
        ax.axvline(mode, color="#ffd75e", linewidth=5, alpha=0.55, zorder=0)
        ax.annotate(
            str(mode), (mode, 1.01), xycoords=("data", "axes fraction"), ha="center", va="bottom",
            fontsize=8, color="#8a6500",
        )  # fmt: skip


def draw_appendix(shown: RegressionFigure, figure: Figure) -> None:
    """Fit and error of every network over the whole span, one row each (appendix)."""
    figure.suptitle(shown.title, x=0.01, ha="left", fontweight="semibold")
    networks = list(shown.predictions)
    axes = figure.subplots(
        len(networks), 2, sharex=True, sharey="col", squeeze=False, width_ratios=(1.6, 1)
    )
    size = float(np.linalg.norm(shown.truth))
    for (fit, rest), network in zip(axes, networks, strict=True):
        values, colour = shown.predictions[network], NETWORK_COLOURS[network]
        fit.plot(shown.theta, shown.truth, color=_TRUTH, linewidth=1.6, alpha=0.25)
        fit.plot(shown.theta, values, color=colour, linewidth=0.6)
        residual = values - shown.truth
        rest.plot(shown.theta, residual, color=colour, linewidth=0.5)
        for ax, words, y in (
            (fit, network_label(network), "value"),
            (rest, f"relative error {np.linalg.norm(residual) / size:.3f}", "fit − truth"),
        ):
            ax.annotate(
                words, (0.005, 0.98), xycoords="axes fraction", va="top", fontsize=9.5,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0},
            )  # fmt: skip
            ax.set_ylabel(y, fontsize=9)
    axes[0, 0].set_title("(a) fit (colour) and truth (grey)")
    axes[0, 1].set_title("(b) what is left")
    for ax in axes[0]:  # room for the words above the curves; the others share it
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.3 * (high - low))
    for ax in axes[-1]:
        ax.set(xlabel="θ", xlim=(-1, 1), xticks=(-1, -0.5, 0, 0.5, 1))


def _line(network: str) -> dict[str, Any]:
    dashed = not network.endswith("diag")
    return {
        "color": NETWORK_COLOURS[network],
        "linewidth": 1.4,
        "linestyle": (0, (4, 1.2)) if dashed else "-",
    }


def draw_networks(shapes: Sequence[Architecture], figure: Figure) -> None:
    """The layers of some networks, one row each, from θ on the left to the output (figure 1)."""
    ax = figure.add_subplot()
    ax.set_axis_off()
    for row, shape in enumerate(shapes):
        layers = network_layers(shape)
        y = -1.6 * row
        ax.text(-0.9, y, network_label(shape.name), ha="right", va="center", fontsize=13)
        for x, (name, size, colour) in enumerate(layers):
            ax.text(
                1.75 * x, y, f"{name}\n{size}", ha="center", va="center", fontsize=9.5,
                bbox={"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "#5b6675"},
            )  # fmt: skip
            if x:
                ax.annotate(
                    "", (1.75 * x - 0.62, y), (1.75 * x - 1.13, y),
                    arrowprops={"arrowstyle": "->", "color": "#5b6675"},
                )  # fmt: skip
    longest = max(len(network_layers(shape)) for shape in shapes)
    ax.set(xlim=(-1.8, 1.75 * longest - 0.8), ylim=(-1.6 * len(shapes) + 0.7, 0.9))


def network_layers(shape: Architecture) -> list[tuple[str, str, str]]:
    """Return name, size and colour of each layer of a network, θ first.

    Examples
    --------
    >>> [layer[:2] for layer in network_layers(Architecture(100, hidden_layer_sizes=(50,)))]
    [('θ', '1'), ('Fourier', '402'), ('diagonal, σ', '402'), ('dense, σ', '50'), ('output', '1')]
    """
    sigma = ", σ" if shape.activation == "relu" else ""
    size = str(shape.embedding_size)
    layers = [("θ", str(shape.n_columns), "#ffffff"), ("Fourier", size, "#e4e8ee")]
    if shape.diagonal:
        layers.append((f"diagonal{sigma}", size, "#ffd75e"))
    layers += [(f"dense{sigma}", str(width), "#cfe3f3") for width in shape.hidden_layer_sizes]
    return [*layers, ("output", str(shape.n_outputs), "#ffffff")]


def example_figures(
    results: Results, example: str, folder: Path, *, csv: Path | None = None
) -> dict[str, Path]:
    """Draw the three figures of an example as far as there are results.

    Returns
    -------
    dict of str to Path
        Caption → file.
    """
    regression = regression_figure(results, example, csv=csv)
    if regression is None:
        return {}
    stem = f"example{example}" if example.isdigit() else f"example4_{example}"
    drawn = {
        "Noisy target, regression in the box, and relative error against iterations.": save_figure(
            folder / f"{stem}_regression.png", (11.5, 5.6), partial(draw_regression, regression)
        )
    }
    weights = weights_figure(results, example, csv=csv)
    if weights is not None:
        caption = (
            "Weights of the diagonal layer at the end and during training, and of the first dense "
            "layer of the standard network."
        )
        drawn[caption] = save_figure(
            folder / f"{stem}_weights.png", (11.5, 5.6), partial(draw_weights, weights)
        )
    drawn["Regression results over the whole span (the paper's appendix)."] = save_figure(
        folder / f"{stem}_appendix.png",
        (11.5, 0.7 + 1.15 * len(regression.predictions)),
        partial(draw_appendix, regression),
    )
    return drawn


def networks_figure(folder: Path) -> dict[str, Path]:
    """Draw the two kinds of networks (the paper's figure 1); caption → file."""
    shapes = [Architecture(100, hidden_layer_sizes=(100,), diagonal=d) for d in (True, False)]
    caption = (
        "The two networks (the paper's figure 1), with the number of outputs of each layer: with a "
        "diagonal layer behind the Fourier embedding, and without."
    )
    return {caption: save_figure(folder / "networks.png", (9, 2.6), partial(draw_networks, shapes))}


def regression_figure(
    results: Results, example: str, *, csv: Path | None = None
) -> RegressionFigure | None:
    """Gather the regression figure, or None if nothing has finished."""
    first = {
        network: row
        for network in EXAMPLES[example]
        if (row := _of_first_seed(results, example, network)) is not None
    }
    if not first:
        return None
    any_trial = next(iter(first.values())).trial
    data = example_data(example, any_trial.seed, noise=any_trial.noise, csv=csv)
    return RegressionFigure(
        title=data.title,
        theta=data.theta,
        y=data.y,
        truth=data.truth,
        box=_BOX if example in ("1", "2", "3") else _BOX_OF_SERIES,
        predictions={
            network: np.interp(
                data.theta,
                data.theta[thinned(data.theta.size)],
                results.curves(row)["prediction"].astype(np.float64),
            )
            for network, row in first.items()
        },
        curves={network: _error_curve(results, example, network) for network in first},
    )


def weights_figure(
    results: Results, example: str, *, csv: Path | None = None
) -> WeightsFigure | None:
    """Gather the figure of the weights, or None if one of its networks has not finished."""
    rows = {
        network: _of_first_seed(results, example, network)
        for network in ("*u0_diag", "u0_diag", "u1_standard")
    }
    layerwise, joint, standard = rows.values()
    if layerwise is None or joint is None or standard is None:
        return None
    data = example_data(example, joint.trial.seed, csv=csv)
    final, steps, strengths, ends = {}, {}, {}, {}
    for network, row in (("*u0_diag", layerwise), ("u0_diag", joint)):
        curves = results.curves(row)
        final[network] = _by_kind(curves["diagonal"], row.trial.n_modes)
        steps[network] = curves["step"].astype(np.float64)
        strengths[network] = curves["sizes"].astype(np.float64)
        ends[network] = row.trial.n_steps
    targets = data.targets
    if example == "3":
        targets += (3 * 29,)  # the third harmonic of tanh(10 cos 29πθ) is as real
    if not example.isdigit() or example == "4":
        # The daily pattern's harmonics are as real as its fundamental.
        targets = tuple(t * n for t in data.targets for n in (1, 2, 3))
    return WeightsFigure(
        title=data.title,
        targets=targets,
        final=final,
        steps=steps,
        strengths=strengths,
        phase_ends=ends,
        dense=results.curves(standard)["neurons"].astype(np.float64),
    )


def _of_first_seed(results: Results, example: str, network: str) -> Row | None:
    """The row of the first seed, the one whose curves hold what is drawn."""
    wanted = {"example": example, "network": network, "purpose": "main", "seed": SEEDS[0]}
    return next(iter(results.select(**wanted)), None)


def _error_curve(results: Results, example: str, network: str) -> ErrorCurve:
    rows = results.select(example=example, network=network, purpose="main")
    curves = [results.curves(row) for row in rows]
    errors = np.stack([curve["error"] for curve in curves])
    return ErrorCurve(
        step=curves[0]["step"].astype(np.float64),
        low=errors.min(axis=0),
        median=np.median(errors, axis=0),
        high=errors.max(axis=0),
    )


def _by_kind(diagonal: NDArray[Any], n_modes: int) -> FloatArray:
    """Diagonal weights → size for cosine and sine of each mode, shape (2, m)."""
    sine = embedding_layout(n_modes).is_sine
    pair = [diagonal_sizes(np.where(sine == kind, diagonal, 0), n_modes) for kind in (False, True)]
    return np.stack(pair)
