"""Figures to files: every figure of a result folder, without pyplot and its global state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robustfourier.atomic_files import replacing
from robustfourier.domain import Domain
from robustfourier.plots import fit_figures as draw
from robustfourier.plots.forecast_figures import plot_ahead
from robustfourier.plots.sampling_figures import plot_completeness, plot_window
from robustfourier.plots.style import looks
from robustfourier.results import Result
from robustfourier.sampling import Completeness, Sampling

_DPI = 120
# No date and no version in a file: the same result gives the same bytes.
_METADATA = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save_figure(path: Path, size: tuple[float, float], drawing: Callable[[Any], Any]) -> Path:
    """Draw one figure of a page and write it as PNG, and beside it as PDF for print.

    Parameters
    ----------
    path : Path
        Of the PNG.
    size : (float, float)
        In inches.
    drawing : callable
        Draws on the figure it is given.

    Returns
    -------
    Path
        Of the PNG.
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
    """Draw every figure of a fit into a folder and return the files.

    Parameters
    ----------
    result : Result
    folder : Path
        Exists.
    formats : tuple of str
        Endings that matplotlib knows, such as png, svg, pdf.
    """
    figures: dict[str, tuple[tuple[float, float], Callable[[Any], Any]]] = {
        "fit": ((9.0, 3.4), lambda f: draw.plot_fit(result, ax=f.add_subplot())),
        "spectrum": ((9.0, 3.6), lambda f: draw.plot_spectrum(result, ax=f.add_subplot())),
        "residuals": ((9.0, 2.4), lambda f: draw.plot_residuals(result, ax=f.add_subplot())),
    }
    if result.diagonal is not None:
        figures["diagonal"] = (
            (9.0, 2.6),
            lambda f: draw.plot_diagonal(result, ax=f.add_subplot()),
        )
    if result.memory is not None:
        figures["forecast"] = ((9.0, 3.2), lambda f: plot_ahead(result, ax=f.add_subplot()))
    count = min(len(result.main), draw.PANELS)
    if count:
        rows = (count + 1) // 2
        figures["components"] = (
            (9.0, 2.9 * rows),
            lambda f: draw.plot_components(
                result, axes=f.subplots(rows, min(count, 2), squeeze=False)
            ),
        )
    written = []
    for name, (size, drawing) in figures.items():
        paths = [folder / f"{name}.{ending}" for ending in formats]
        _save(paths, size, drawing)
        written += paths
    return written


def save_window(sampling: Sampling, path: Path) -> None:
    """Draw the spectral window into a file."""
    _save([path], (9.0, 2.8), lambda f: plot_window(sampling, ax=f.add_subplot()))


def save_completeness(completeness: Completeness, path: Path, domain: Domain) -> None:
    """Draw a completeness map into a file."""
    _save([path], (7.0, 4.0), lambda f: plot_completeness(completeness, domain, ax=f.add_subplot()))


def _save(paths: list[Path], size: tuple[float, float], drawing: Callable[[Any], Any]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with looks(files=True):
        # Margins in inches: a layout engine would draw every figure twice.
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        drawing(figure)
        width, height = size
        figure.subplots_adjust(
            left=0.95 / width,
            right=1.0 - 0.2 / width,
            bottom=0.55 / height,
            top=1.0 - 0.3 / height,
            wspace=0.32,
            hspace=0.45,
        )
        for path in paths:
            ending = path.suffix[1:]
            metadata = _METADATA.get(ending, {"Software": None})
            with replacing(path) as file:
                figure.savefig(file, format=ending, dpi=_DPI, metadata=metadata)
