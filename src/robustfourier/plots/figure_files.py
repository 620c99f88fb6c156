"""Figures to files: every figure of a result folder, without pyplot and its global state."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robustfourier.atomic_files import replacing
from robustfourier.plots import fit_figures as draw
from robustfourier.plots.forecast_figures import plot_forecast
from robustfourier.plots.style import looks
from robustfourier.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DPI = 120
# No date and no version in a file: the same result gives the same bytes.
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
_DOT = 2.4  # units of a page: width of the smallest dot that is seen well
_SIZES: Any = [f"{axis}tick.{which}.size" for axis in "xy" for which in ("major", "minor")]
_PAGE: Any = {"font.size": 11.0, **dict.fromkeys(_SIZES, 0.0)}
_SVG_METADATA = ("Creator", "Date", "Format", "Type")


def save_figure(path: Path, size: tuple[float, float], drawing: Callable[[Any], Any]) -> Path:
    """Draw one figure of a page and write it as PNG, and beside it as PDF for print.

    Of a size in inches; `drawing` draws on the figure it is given. Returns the path of the PNG.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    with looks(files=True):
        figure = Figure(figsize=size, dpi=_DPI, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        drawing(figure)
        canvas.draw()
        figure.set_layout_engine("none")  # everything has its place; twice would take twice as long
        with replacing(path.with_suffix(".pdf")) as file:
            figure.savefig(file, format="pdf", metadata=_METADATA["pdf"])
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    with replacing(path) as file:
        few_colours(image).save(file, format="png", optimize=True)
    return path


def few_colours(image: Any, count: int = 256) -> Any:
    """Return a picture of flat colours with a palette, which makes its file three times smaller.

    Rare colours stay, such as that of one small mark: the palette starts from the corners of the
    colours that are there, and not from their numbers.
    """
    from PIL import Image

    return image.quantize(
        count, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )


def save_figures(result: Result, folder: Path, formats: tuple[str, ...] = ("png",)) -> list[Path]:
    """Draw every figure of a fit into a folder, in formats matplotlib knows; return the paths."""
    figures: dict[str, tuple[tuple[float, float], Callable[[Any], Any]]] = {
        name: (size, lambda f, plot=plot: plot(result, ax=f.add_subplot()))  # type: ignore[misc]
        for name, size, plot, is_there in (
            ("fit", (9.0, 3.4), draw.plot_fit, True),
            ("spectrum", (9.0, 3.6), draw.plot_spectrum, True),
            ("residuals", (9.0, 2.4), draw.plot_residuals, True),
            ("diagonal", (9.0, 2.6), draw.plot_diagonal, result.diagonal is not None),
            ("forecast", (9.0, 3.2), plot_forecast, result.forecast is not None),
        )
        if is_there
    }
    if count := min(len(result.main), draw.PANELS):
        rows, columns = (count + 1) // 2, min(count, 2)
        figures["components"] = (
            (9.0, 2.9 * rows),
            lambda f: draw.plot_components(result, axes=f.subplots(rows, columns, squeeze=False)),
        )
    written = []
    for name, (size, drawing) in figures.items():
        paths = [folder / f"{name}.{ending}" for ending in formats]
        save_as(paths, size, drawing)
        written += paths
    return written


def svg_text(
    size: tuple[float, float], drawing: Callable[[Axes], object], *, key: str, bare: bool = False
) -> str:
    """Draw one figure and return it as SVG without any address, for a page that holds it.

    Of a size in units of the page; `drawing` draws on the axes that it is given, `key` makes the
    ids of this figure its own, and a `bare` figure has neither axes nor margins.
    """
    import matplotlib
    from matplotlib.figure import Figure

    text = io.StringIO()
    with looks(files=True), matplotlib.rc_context({**_PAGE, "svg.hashsalt": key}):
        figure = Figure(figsize=(size[0] / 72.0, size[1] / 72.0))
        ax = figure.add_subplot()
        drawing(ax)
        ax.set_title("")
        figure.patch.set_visible(False)  # the page has its own paper
        for each in figure.axes:
            each.patch.set_visible(False)
        if bare:
            ax.set_axis_off()
            figure.subplots_adjust(0.0, 0.0, 1.0, 1.0)
        else:
            _margins(figure, (size[0] / 72.0, size[1] / 72.0))
        figure.savefig(text, format="svg", metadata=dict.fromkeys(_SVG_METADATA))
    return _compact(text.getvalue())


def _compact(svg: str) -> str:
    """SVG with tenths of a unit, without addresses, fonts and names; dots as one path."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<style.*?</style>| transform=\"rotate\(-0 [^\"]*\"", "", svg)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"| version="[^"]*"', "", svg)
    svg = re.sub(r'(<g) id="[^"]*"|font-family: [^;"]*;? ?', r"\1", svg)
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d)\d+(?=[ \"\n)])", r"\1", tag[0]), svg)
    svg = re.sub(r"(?<=[\d>]) *\n *", " ", svg).replace("> <", "><").replace(" z ", "z")
    svg = re.sub(r'(?<= d=")M ([^"CMz]*)(?=[z"])', lambda line: f"m{_moves(line[1], ' ')}", svg)
    return re.sub(r"(?:<use [^>]*/>){30,}", lambda run: _as_one_path(run[0], svg), svg)


def _as_one_path(run: str, svg: str) -> str:
    """Equal marks as one path of round strokes without length, a tenth of the size."""
    first = re.match(r'<use xlink:href="#(\w+)" x="[^"]*" y="[^"]*" style="([^"]*)"', run)
    radius = first and re.search(rf'id="{first[1]}" d="M 0 ([\d.]+) C', svg)
    colour = first and re.search(r"fill: ([^;]*)", first[2])
    if not first or not radius or not colour:
        return run
    places = " ".join(re.findall(r' [xy]="([^"]*)"', run))
    steps = f"m{_moves(places, 'h0m')}h0"
    faded = re.search(r"opacity: ([\d.]+)", first[2])
    style = (
        f"stroke: {colour[1]}; stroke-width: {max(2.0 * float(radius[1]), _DOT):.1f}; fill: none"
    )
    opacity = f"; stroke-opacity: {faded[1]}" if faded else ""
    return f'<path d="{steps}" style="{style}; stroke-linecap: round{opacity}"/>'


def _moves(places: str, join: str) -> str:
    """Steps from place to place in tenths, which are shorter than the places."""
    at = np.array(places.replace("L", " ").split(), np.float64).reshape(-1, 2)
    steps = np.diff(np.rint(10.0 * at), axis=0, prepend=0.0) / 10.0
    return join.join(f"{x:g} {y:g}" for x, y in steps.tolist())


def _margins(figure: Any, size: tuple[float, float]) -> None:
    """Leave room for labels, in inches: a layout engine would draw every figure twice."""
    width, height = size
    widest = max(
        len(text)
        for ax in figure.axes
        for text in (*ax.yaxis.get_major_formatter().format_ticks(ax.yaxis.get_majorticklocs()), "")
    )
    figure.subplots_adjust(
        left=(0.45 + 0.085 * max(widest, 4)) / width,
        right=1.0 - 0.2 / width,
        bottom=0.55 / height,
        top=1.0 - 0.3 / height,
        wspace=0.32,
        hspace=0.45,
    )


def save_as(paths: list[Path], size: tuple[float, float], drawing: Callable[[Any], Any]) -> None:
    """Draw one figure into files of several formats; by margins of our own, twice as fast."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with looks(files=True):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        drawing(figure)
        _margins(figure, size)
        for path in paths:
            ending = path.suffix[1:]
            metadata = _METADATA.get(ending, {"Software": None})
            with replacing(path) as file:
                figure.savefig(file, format=ending, dpi=_DPI, metadata=metadata)
