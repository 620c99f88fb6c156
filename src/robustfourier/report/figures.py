"""The static figures of the page: those of `plots`, with colours that follow the page.

They are seen without JavaScript and in print; where JavaScript runs, those over time and the
spectrum give way to interactive ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robustfourier import plots
from robustfourier.arrays import FloatArray
from robustfourier.plots.figure_files import svg_text
from robustfourier.plots.fit_figures import draw_curve
from robustfourier.plots.forecast_figures import LATE, draw_over_time
from robustfourier.plots.style import LIGHT_INK, limit_values, palette, placed
from robustfourier.results import Pattern, Result
from robustfourier.results.record import Curve
from robustfourier.results.thinning import evenly

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE, NARROW = 960, 400
#: Samples that a static figure shows at most.
DOTS = 2500
_FOLDED = 300  # samples behind one cycle of a component
_STEPS = 4  # spectra of what is left that stand beside each other

_COLOUR = re.compile("|".join(LIGHT_INK))


def _figure(
    width: int, height: int, title: str, drawing: Callable[..., Any], *, bare: bool = False
) -> str:
    """SVG of a figure; `drawing` takes the axes as `ax`."""
    svg = svg_text((width, height), lambda ax: drawing(ax=ax), key=title, bare=bare)
    body = _COLOUR.sub(lambda found: f"var({LIGHT_INK[found[0]]})", svg[svg.index(">") + 1 :])
    role = 'aria-hidden="true" preserveAspectRatio="none"' if bare else 'role="img"'
    name = f'aria-label="{escape(title, quote=True)}"' if not bare else ""
    return f'<svg class="figure" viewBox="0 0 {width} {height}" {role} {name}>{body}'


def fit_figure(result: Result, window: tuple[float, float] | None = None) -> str:
    """Data with fit and band, all of it or in a window of the axis."""
    title = "Data and fit" if window is None else "Data and fit, close up"
    times = None if window is None else tuple(placed(result.axis, np.array(window)))
    drawing = partial(plots.plot_fit, result, window=times, max_dots=DOTS)
    return _figure(WIDE, 300 if window else 330, title, drawing)


def overview_figure(result: Result) -> str:
    """The whole record as a strip, on which the part that is seen large can be chosen."""
    x, y, curve = result.position, result.samples.values, result.curve
    some = evenly(len(x), WIDE // 2)

    def drawing(ax: Axes) -> None:
        draw_curve(ax, result.axis, curve.x, curve.y, dense=True)
        ax.plot(placed(result.axis, x[some]), y[some], ".", color=palette(ax).dots, alpha=0.6)
        limit_values(ax, placed(result.axis, x[some]), y[some], curve.y, down=result.downwards)
        ax.margins(x=0.01)

    return _figure(WIDE, 52, "", drawing, bare=True)


def closeup_range(result: Result) -> tuple[float, float] | None:
    """A window of some cycles of the strongest patterns, where samples are; None if needless."""
    if not result.patterns or not result.is_dense:
        return None
    scale, x = result.axis.scale(), result.position
    whole = float(x.max() - x.min())
    strongest = [p for p in result.patterns if not p.combination][:2] or result.patterns[:1]
    shown = [p.period / p.beat for p in strongest]
    width = 5.0 * max(shown) if max(shown) < 8 * min(shown) else 14.0 * min(shown)
    # Sparse samples: wide enough for thirty of them, as long as single cycles can be seen.
    width = scale * max(width, min(30.0 * result.domain.span / len(x), 25.0 * min(shown)))
    if width > 0.7 * whole:
        return None
    starts = np.linspace(x.min(), x.max() - width, 41)
    counts = np.searchsorted(x, starts + width) - np.searchsorted(x, starts)
    best = np.flatnonzero(counts >= 0.9 * counts.max())
    start = float(starts[best[len(best) // 2]])
    return start, start + width


def spectrum_figure(result: Result) -> str:
    """Amplitude spectrum with modes, noise floor and false-alarm line."""
    title = "Amplitude spectrum with the modes found, the noise floor and the false-alarm line"
    return _figure(WIDE, 330, title, partial(plots.plot_spectrum, result))


def step_figures(result: Result) -> list[tuple[str, str]]:
    """What is left after one component, after two, …: words and a small spectrum each."""
    figures = []
    for i in range(1, min(len(result.spectrum.steps), _STEPS) + 1):
        words = f"without {', '.join(pattern.label for pattern in result.patterns[:i])}"
        drawing = partial(plots.plot_residual_spectrum, result, i)
        figures.append((words, _figure(NARROW, 150, f"Spectrum {words}", drawing)))
    return figures


def diagonal_figure(result: Result) -> str | None:
    """Weights of the diagonal layer against mode."""
    if result.diagonal is None or not len(result.diagonal.mode):
        return None
    title = "Weights of the diagonal layer"
    return _figure(NARROW, 200, title, partial(plots.plot_diagonal, result))


def waveform_figure(result: Result, pattern: Pattern, index: int) -> str:
    """Two cycles of a component, or a turn of its calendar, the folded data behind it."""
    drawing = partial(plots.plot_component, result, index, max_dots=2 * _FOLDED)
    return _figure(NARROW, 220, f"Waveform of pattern {pattern.label}", drawing)


def link_figure(result: Result, pattern: Pattern, index: int) -> str | None:
    """The link g of g(cos), where the component has one that is not a straight line."""
    if pattern.link is None or len(pattern.harmonics) < 2:
        return None
    drawing = partial(plots.plot_link, result, index)
    return _figure(NARROW, 200, f"Link function of pattern {pattern.label}", drawing)


def residual_figure(result: Result) -> str:
    """What the fit leaves over, against time."""
    drawing = partial(plots.plot_residuals, result, max_dots=DOTS)
    return _figure(WIDE, 200, "Residuals against time", drawing)


def histogram_figure(result: Result) -> str:
    """Histogram of the residuals with the normal curve of the same noise."""
    drawing = partial(plots.plot_histogram, result)
    return _figure(NARROW, 230, "Histogram of the residuals", drawing)


def residual_spectrum_figure(result: Result) -> str:
    """Spectrum of the residual: nothing should rise above the false-alarm line."""
    drawing = partial(plots.plot_residual_spectrum, result)
    return _figure(NARROW, 230, "Spectrum of the residuals", drawing)


class TimeChart(NamedTuple):
    """A curve with its interval over time, static here and interactive where JavaScript runs.

    Parameters
    ----------
    key : str
        Of the element on the page.
    words : str
        What is said above it.
    name : str
        Of the value axis; empty for the values themselves.
    x, y, low, high : ndarray of shape (m,)
        On the time axis.
    figure : str
        SVG.
    """

    key: str
    words: str
    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    figure: str


def forecast_chart(result: Result) -> TimeChart | None:
    """The end of the record, and what comes next with the interval of new measurements."""
    if result.memory is None:
        return None
    ahead = result.memory.ahead
    figure = _figure(WIDE, 220, "Forecast", partial(plots.plot_forecast, result))
    words = f"The shaded part holds {100 * ahead.coverage:.0f} % of new measurements."
    return TimeChart("forecast", words, "", ahead.x, ahead.mean, ahead.lower, ahead.upper, figure)


def life_charts(result: Result) -> list[TimeChart]:
    """Amplitude and delay of each quasi-periodic component that is listed."""
    listed = {pattern.label for pattern in (*result.main, *result.weak)}
    charts = []
    for trace in () if result.memory is None else result.memory.traces:
        if trace.label in listed:
            key, of = trace.label.lower(), f"of pattern {trace.label}"
            words = f"Pattern {trace.label} {trace.words}."
            curve = trace.amplitude
            charts += [
                _over_time(
                    result, curve, "amplitude", f"Amplitude {of}", f"amplitude-{key}", words
                ),
                _over_time(result, trace.late, LATE, f"Delay {of}", f"delay-{key}", ""),
            ]
    return charts


def remainder_chart(result: Result) -> TimeChart | None:
    """The correlated noise with its 90 % band."""
    if result.memory is None or result.memory.remainder is None:
        return None
    words = (
        "Neighbouring residuals are alike (correlated noise). The line is the part that they "
        "share, with its 90 % band; it comes on top of trend and patterns."
    )
    left, title = result.memory.remainder, "Correlated noise"
    return _over_time(result, left, "correlated noise", title, "remainder", words)


def _over_time(
    result: Result, curve: Curve, name: str, title: str, key: str, words: str
) -> TimeChart:
    figure = _figure(WIDE, 210, title, partial(draw_over_time, curve, result.axis, name))
    return TimeChart(key, words, name, curve.x, curve.y, *curve.band(), figure)
