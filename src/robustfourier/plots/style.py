"""Looks of all figures: one palette that the colour-blind can tell apart, user text as it is."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from robustfourier.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from robustfourier.results import TimeAxis

FIT, DOTS, SOFT, FLOOR, ALARM = "#0b62a8", "#6b7786", "#5b6675", "#009e73", "#c2410c"
_COLOURS = (FIT, ALARM, "#007a59", "#a0457f", "#2b8fc9", "#b07a00")

_LOOKS: Any = {
    "axes.edgecolor": "#b8c0ca",
    "axes.labelcolor": "#39424e",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e8ee",
    "grid.linewidth": 0.8,
    "xtick.color": "#5b6675",
    "ytick.color": "#5b6675",
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.titleweight": "semibold",
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "figure.facecolor": "white",
    "pdf.fonttype": 42,  # letters as journals ask for them, not as drawings
    "svg.fonttype": "none",
    "svg.hashsalt": "robustfourier",
}


def colour(index: int) -> str:
    """Colour of a pattern."""
    return _COLOURS[index % len(_COLOURS)]


def label(text: str, limit: int = 60) -> str:
    """User text for a figure: one line, no longer than `limit`, without unprintable characters."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


@contextmanager
def looks() -> Iterator[None]:
    """Draw in our style, whatever the user's settings; missing glyphs are no reason to warn."""
    import matplotlib

    for noisy in ("matplotlib.font_manager", "fontTools"):  # the second puts letters into PDFs
        logging.getLogger(noisy).setLevel(logging.ERROR)
    with matplotlib.rc_context(_LOOKS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", message=".*Matplotlib currently does not support")
        yield
        interactive = matplotlib.is_interactive()
    # A notebook becomes interactive when pyplot is first loaded, which may have been in here.
    matplotlib.interactive(interactive)


def new_axes(ax: Axes | None, width: float = 9.0, height: float = 3.4) -> Axes:
    """Return the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    figure: Figure = pyplot.figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot()


def placed(axis: TimeAxis, positions: FloatArray) -> Any:
    """Positions on the time axis as matplotlib wants them: those of dates as dates."""
    return (positions * 1e6).astype("datetime64[us]") if axis.dates else positions


def name_axes(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Name both axes; dollar signs and backslashes of user text are only characters."""
    from matplotlib.ticker import ScalarFormatter

    ax.set_xlabel(label(xlabel), parse_math=False)
    for axis in (ax.xaxis, ax.yaxis):
        formatter = axis.get_major_formatter()
        if isinstance(formatter, ScalarFormatter):
            formatter.set_useOffset(False)
            formatter.set_scientific(np.abs(axis.get_view_interval()).max() >= 1e8)
    ax.set_ylabel(label(ylabel, 40), parse_math=False)
