"""The networks as drawings of their layers, made from their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robustfourier.network.architecture import Architecture
from robustfourier.plots.paper import network_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
