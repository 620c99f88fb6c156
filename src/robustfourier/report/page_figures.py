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
from markupsafe import Markup

from robustfourier import plots
from robustfourier.arrays import FloatArray
from robustfourier.plots.figure_files import svg_text
from robustfourier.plots.fit_figures import draw_curve
from robustfourier.plots.forecast_figures import LATE, draw_over_time
from robustfourier.plots.style import LIGHT_INK, limit_values, palette, placed
from robustfourier.results import Curve, Result
from robustfourier.results.drawing_points import evenly

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDE, NARROW = 960, 400
#: Samples that a static figure shows at most.
DOTS = 2500
_FOLDED = 600  # samples behind two cycles of a component
_STEPS = 4  # spectra of what is left that stand beside each other
_SPECTRUM = "Amplitude spectrum with the modes found, the noise floor and the false-alarm line"

_COLOUR = re.compile("|".join(LIGHT_INK))


def _figure(
    width: int, height: int, title: str, drawing: Callable[..., Any], *, bare: bool = False
) -> Markup:
    """SVG of a figure; `drawing` takes the axes as `ax`."""
    svg = svg_text((width, height), lambda ax: drawing(ax=ax), key=title, bare=bare)
    body = _COLOUR.sub(lambda found: f"var({LIGHT_INK[found[0]]})", svg[svg.index(">") + 1 :])
    role = 'aria-hidden="true" preserveAspectRatio="none"' if bare else 'role="img"'
    name = f'aria-label="{escape(title, quote=True)}"' if not bare else ""
    return Markup(f'<svg class="figure" viewBox="0 0 {width} {height}" {role} {name}>{body}')


def static_figures(result: Result) -> dict[str, Markup | None]:
    """Figures of the page by the name that its template gives them; None where one is needless."""
    fit, some = partial(plots.plot_fit, result, max_dots=DOTS), partial(_figure, NARROW, 230)
    residuals = partial(plots.plot_residuals, result, max_dots=DOTS)
    figures: dict[str, Markup | None] = {
        "overview": _figure(WIDE, 52, "", partial(_draw_overview, result), bare=True),
        "fit": _figure(WIDE, 330, "Data and fit", fit),
        "closeup": None,
        "spectrum": _figure(WIDE, 330, _SPECTRUM, partial(plots.plot_spectrum, result)),
        "diagonal": None,
        "residual": _figure(WIDE, 200, "Residuals against time", residuals),
        "histogram": some("Histogram of the residuals", partial(plots.plot_histogram, result)),
        "residual_spectrum": some(
            "Spectrum of the residuals", partial(plots.plot_residual_spectrum, result)
        ),
    }
    if (window := closeup_range(result)) is not None:
        closeup = partial(fit, window=tuple(placed(result.axis, np.array(window))))
        figures["closeup"] = _figure(WIDE, 300, "Data and fit, close up", closeup)
    if result.diagonal is not None and len(result.diagonal.mode):
        weights = partial(plots.plot_diagonal, result)
        figures["diagonal"] = _figure(NARROW, 200, "Weights of the diagonal layer", weights)
    return figures


def _draw_overview(result: Result, ax: Axes) -> None:
    """The whole record as a strip, on which the part that is seen large can be chosen."""
    x, y, curve = result.position, result.samples.values, result.curve
    some = evenly(len(x), WIDE // 2)
    draw_curve(ax, result.axis, curve.x, curve.y, dense=True)
    ax.plot(placed(result.axis, x[some]), y[some], ".", color=palette(ax).dots, alpha=0.6)
    limit_values(ax, placed(result.axis, x[some]), y[some], curve.y, down=result.downwards)
    ax.margins(x=0.01)


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


def step_figures(result: Result) -> list[tuple[str, Markup]]:
    """What is left after one component, after two, …: words and a small spectrum each."""
    figures = []
    for i in range(1, min(len(result.spectrum.steps), _STEPS) + 1):
        words = f"without {', '.join(pattern.label for pattern in result.patterns[:i])}"
        drawing = partial(plots.plot_residual_spectrum, result, i)
        figures.append((words, _figure(NARROW, 150, f"Spectrum {words}", drawing)))
    return figures


def pattern_figures(result: Result, index: int) -> tuple[Markup, Markup | None]:
    """Waveform of a pattern, and its link g of g(cos), where it is no straight line."""
    pattern = result.patterns[index]
    of = f"of pattern {pattern.label}"
    drawing = partial(plots.plot_component, result, index, max_dots=_FOLDED)
    wave = _figure(NARROW, 220, f"Waveform {of}", drawing)
    if pattern.link is None or len(pattern.harmonics) < 2:
        return wave, None
    link = partial(plots.plot_link, result, index)
    return wave, _figure(NARROW, 200, f"Link function {of}", link)


class TimeChart(NamedTuple):
    """A curve with its interval over time, static here and interactive where JavaScript runs."""

    key: str  # of the element on the page
    words: str  # above it
    name: str  # of the value axis; empty for the values themselves
    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    figure: Markup


def forecast_chart(result: Result) -> TimeChart | None:
    """The end of the record, and what comes next with the interval of new measurements."""
    ahead = result.forecast
    if ahead is None:
        return None
    figure = _figure(WIDE, 220, "Forecast", partial(plots.plot_forecast, result))
    words = f"The shaded part holds {100 * ahead.coverage:.0f} % of new measurements."
    return TimeChart("forecast", words, "", ahead.x, ahead.mean, ahead.lower, ahead.upper, figure)


def quasi_periodic_charts(result: Result) -> list[TimeChart]:
    """Amplitude and delay of each quasi-periodic component that is listed."""
    listed = {pattern.label for pattern in (*result.main, *result.weak)}
    charts = []
    for trace in result.traces:
        if trace.label in listed:
            key, of = trace.label.lower(), f"of pattern {trace.label}"
            words = f"Pattern {trace.label} {trace.words}."
            size = ("amplitude", f"Amplitude {of}", f"amplitude-{key}", words)
            late = (LATE, f"Delay {of}", f"delay-{key}", "")
            charts += [
                _over_time(result, trace.amplitude, *size),
                _over_time(result, trace.late, *late),
            ]
    return charts


def noise_chart(result: Result) -> TimeChart | None:
    """The correlated noise with its 90 % band."""
    if result.correlated_noise is None:
        return None
    words = (
        "Neighbouring residuals are alike (correlated noise). The line is the part that they "
        "share, with its 90 % band; it comes on top of trend and patterns."
    )
    names = ("correlated noise", "Correlated noise", "remainder", words)
    return _over_time(result, result.correlated_noise, *names)


def _over_time(
    result: Result, curve: Curve, name: str, title: str, key: str, words: str
) -> TimeChart:
    figure = _figure(WIDE, 210, title, partial(draw_over_time, curve, result.axis, name))
    return TimeChart(key, words, name, curve.x, curve.y, *curve.band(), figure)
