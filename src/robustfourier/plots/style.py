"""Looks of all figures: one palette that the colour-blind can tell apart, user text as it is."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.results.figure_axes import TimeAxis, robust_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIT, DOTS, SOFT, FLOOR, ALARM = "#0b62a8", "#6b7786", "#5b6675", "#009e73", "#c2410c"

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


class Palette(NamedTuple):
    """Colours of what is drawn; `series` are those of components."""

    fit: str
    dots: str
    soft: str
    floor: str
    alarm: str
    series: tuple[str, ...]

    def component(self, index: int) -> str:
        """Colour of a component."""
        return self.series[index % len(self.series)]


_LIGHT = Palette(
    *(FIT, DOTS, SOFT, FLOOR, ALARM), (FIT, ALARM, "#007a59", "#a0457f", "#2b8fc9", "#b07a00")
)
_DARK = Palette(
    *("#6db8f2", "#93a0b0", "#a7b1bf", "#3cc79a", "#ff9257"),
    ("#6db8f2", "#ff9257", "#3cc79a", "#e79bc8", "#a5daf8", "#f0c14f"),
)


#: Every colour of a figure on white, and the variable of the report's style sheet that it is.
LIGHT_INK = {
    **{colour: f"--c{i}" for i, colour in enumerate(_LIGHT.series)},
    **{DOTS: "--dots", SOFT: "--soft", FLOOR: "--floor"},
    **{"#39424e": "--soft", "#b8c0ca": "--rule", "#e4e8ee": "--rule", "#000000": "--ink"},
}


def palette(ax: Axes) -> Palette:
    """Colours that are seen on the background of these axes."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(ax.get_facecolor())
    return _LIGHT if 0.3 * red + 0.6 * green + 0.1 * blue > 0.4 else _DARK


def colour(index: int) -> str:
    """Colour of a series on white."""
    return _LIGHT.component(index)


def label(text: str, limit: int = 60) -> str:
    """User text for a figure: one line, no longer than `limit`, without unprintable characters."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


@contextmanager
def looks(*, files: bool = False) -> Iterator[None]:
    """Draw in our style where the user has chosen no other; missing glyphs are no reason to warn.

    With `files`, figures look the same whatever the user's settings.
    """
    import matplotlib

    for noisy in ("matplotlib.font_manager", "fontTools"):  # the second puts letters into PDFs
        logging.getLogger(noisy).setLevel(logging.ERROR)
    now: Any = matplotlib.rcParams
    usual: Any = matplotlib.rcParamsDefault
    free: Any = {k: v for k, v in _LOOKS.items() if files or now[k] == usual[k]}
    with matplotlib.rc_context(), warnings.catch_warnings():
        if files:
            matplotlib.rcdefaults()
        matplotlib.rcParams.update(free)
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        warnings.filterwarnings("ignore", message=".*Matplotlib currently does not support")
        yield
        interactive = matplotlib.is_interactive()
    # A notebook becomes interactive when pyplot is first loaded, which may have been in here.
    matplotlib.interactive(interactive)


def line_style(given: dict[str, Any], **usual: Any) -> dict[str, Any]:
    """Keywords of a line: those that are given, else the usual ones; "lw" is "linewidth"."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**normalize_kwargs(usual, Line2D), **normalize_kwargs(given, Line2D)}


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


def limit_values(ax: Axes, x: Any, y: FloatArray, *curves: FloatArray, down: bool = False) -> None:
    """Let outliers not set the value axis; they are marked at its edge.

    `x` and `y` are the samples that are drawn, `curves` have to be seen whole, and `down` turns the
    axis, as for magnitudes.
    """
    low, high = robust_limits(y, *curves)
    for far, edge, marker in ((y < low, low, "v"), (y > high, high, "^")):
        if np.any(far):
            shape = {"v": "^", "^": "v"}[marker] if down else marker
            ax.plot(x[far], np.full(int(far.sum()), edge), shape, ms=5, mew=0,
                    color=palette(ax).alarm, clip_on=False, zorder=4)  # fmt: skip
    ax.set_ylim((high, low) if down else (low, high))


def name_axes(ax: Axes, xlabel: str, ylabel: str) -> None:
    """Name both axes; dollar signs and backslashes of user text are only characters."""
    from matplotlib.dates import AutoDateFormatter, AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import AutoLocator, MaxNLocator, ScalarFormatter

    ax.set_xlabel(label(xlabel), parse_math=False)
    for axis in (ax.xaxis, ax.yaxis):
        formatter = axis.get_major_formatter()
        if isinstance(formatter, ScalarFormatter):
            if axis is ax.xaxis and isinstance(axis.get_major_locator(), AutoLocator):
                inches = ax.bbox.width / ax.figure.dpi
                axis.set_major_locator(
                    MaxNLocator(int(np.clip(1.3 * inches, 3, 9)), steps=[1, 2, 2.5, 5, 10])
                )
            formatter.set_useOffset(False)
            formatter.set_scientific(not 1e-4 <= np.abs(axis.get_view_interval()).max() < 1e8)
        elif isinstance(formatter, AutoDateFormatter):  # short labels: room for them in 6 inches
            locator = AutoDateLocator(minticks=3, maxticks=8)
            axis.set_major_locator(locator)
            axis.set_major_formatter(ConciseDateFormatter(locator))
    ax.set_ylabel(label(ylabel, 40), parse_math=False)


def power_label(value: float) -> str:
    """A power of ten on a logarithmic axis: 0.01, 1,000, 10⁻⁹.

    Examples
    --------
    >>> power_label(0.01), power_label(1e-9)
    ('0.01', '10⁻⁹')
    """
    power = round(np.log10(value)) if value > 0 else 0
    if -4 <= power <= 5:
        return f"{value:,.{max(-power, 0)}f}"
    return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def plain_log_ticks(ax: Axes, which: Literal["x", "y"] = "y") -> None:
    """Write 0.05 and 0.1 on a logarithmic axis, instead of powers of ten that are too few."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis = ax.xaxis if which == "x" else ax.yaxis
    low, high = axis.get_view_interval()
    if high > 200.0 * low:
        return
    between = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0) if high < 10.0 * low else (1.0, 2.0, 3.0, 5.0)
    axis.set_major_locator(LogLocator(subs=between))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())
