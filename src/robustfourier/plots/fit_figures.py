"""Figures of one fit, each drawn on the axes it is given, and returned on them; never shown.

Every function takes a `Result`, or a model that was fitted in this process. One from a file does
not hold the data of its fit: give ``model.result(times, values)``. Further keyword arguments go to
matplotlib, for the curve or the dots that the figure is named after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError
from robustfourier.formatting import percent
from robustfourier.plots.style import (
    limit_values,
    line_style,
    looks,
    name_axes,
    new_axes,
    palette,
    placed,
    plain_log_ticks,
    power_label,
)
from robustfourier.results import Pattern, Result, TimeAxis, result_of
from robustfourier.results.calendar_patterns import cycle_of, period_in_words
from robustfourier.results.drawing_points import (
    COLUMNS,
    DOTS_DRAWN,
    WHISKERS,
    curve_grid,
    dots,
    evenly,
    extremes,
    peak_bins,
)
from robustfourier.results.patterns import Curve
from robustfourier.results.result import as_column
from robustfourier.results.variance import deviation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from robustfourier.estimators.base import EstimatorBase
    from robustfourier.results.result import Source

PANELS = 6  # components drawn side by side
_POINTS = 20_000  # of a line; more are drawn as their outline
_BINS = 2 * COLUMNS  # of a spectrum
_RASTER = 5000  # dots, beyond which they are pixels in a vector file


def plot_model(
    model: EstimatorBase,
    times: ArrayLike | None = None,
    values: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    **line: Any,
) -> Axes:
    """Draw the fitted function with its 90 % band, and the data where they are known.

    Parameters
    ----------
    model : PeriodicMixture or FourierNetworkRegressor
        Fitted to one column.
    times, values : array-like of shape (n,), optional
        Data to show behind; those of the fit if not given.
    ax : Axes, optional
        Where to draw; a new figure otherwise.
    **line
        For the curve, as `Axes.plot` takes them.
    """
    if times is not None or getattr(model, "_seen", None) is not None:
        return plot_fit(result_of(model, times, values), ax=ax, **line)
    domain = model.domains_[0]
    top = float(np.max(model.modes_.mode, initial=1.0))
    times = domain.from_theta(2.0 * curve_grid(top) - 1.0)
    axis = TimeAxis.of(domain, "time")
    x = axis.positions(times)
    with looks():
        ax = new_axes(ax)
        if not hasattr(model, "components_"):
            draw_curve(ax, axis, x, model.predict(as_column(times)), **line)
        elif len(x) > _POINTS:
            draw_curve(ax, axis, x, model.predict(times), **line)
        else:
            curve, std = model.predict(times, return_std=True)
            draw_band(ax, axis, x, *Curve(x, curve, std).band())
            draw_curve(ax, axis, x, curve, **line)
        name_axes(ax, axis.label, "value")
    return ax


def draw_curve(
    ax: Axes, axis: TimeAxis, x: FloatArray, y: FloatArray, *, dense: bool = False, **line: Any
) -> None:
    """Draw a curve from enough points, or its outline where its cycles cannot be told apart."""
    if dense or len(x) > _POINTS:
        middle, low, high = extremes(x, y, COLUMNS)
        shade = {"color": palette(ax).fit, "alpha": 0.3, "lw": 0, **_shade(line)}
        ax.fill_between(placed(axis, middle), low, high, **shade)
    else:
        ax.plot(placed(axis, x), y, **line_style(line, color=palette(ax).fit, lw=1.2))


def _shade(line: dict[str, Any]) -> dict[str, Any]:
    """What of the keywords of a line a filled area knows."""
    return {k: v for k, v in line.items() if k in ("color", "alpha", "zorder", "label")}


def draw_band(
    ax: Axes, axis: TimeAxis | None, x: FloatArray, low: FloatArray, high: FloatArray, **area: Any
) -> None:
    """Shade the area between two curves; where they have more points than columns, its outline."""
    middle, bottom, _ = extremes(x, low, COLUMNS)
    _, _, top = extremes(x, high, COLUMNS)
    at = middle if axis is None else placed(axis, middle)
    ax.fill_between(at, bottom, top, **{"color": palette(ax).fit, "alpha": 0.2, "lw": 0, **area})


def plot_fit(
    source: Source,
    *,
    window: tuple[Any, Any] | None = None,
    max_dots: int = DOTS_DRAWN,
    ax: Axes | None = None,
    **line: Any,
) -> Axes:
    """Draw data, fitted function and its 90 % band.

    Parameters
    ----------
    source : Result, PeriodicMixture or FourierNetworkRegressor
    window : (time, time), optional
        First and last time that are shown; the whole record otherwise.
    max_dots : int
        Samples that are drawn; of more, some of each time and the lowest and highest.
    ax : Axes, optional
    **line
        For the curve, as `Axes.plot` takes them.
    """
    result = result_of(source)
    samples, axis, x = result.samples, result.axis, result.position
    ends = np.array([x.min(), x.max()]) if window is None else axis.positions(list(window))
    here = np.flatnonzero((x >= ends[0]) & (x <= ends[1]))
    here = here[dots(samples.values[here], max_dots)]
    curve, dense = result.curve.within(*ends), window is None and result.is_dense
    with looks():
        ax = new_axes(ax)
        ink = palette(ax)
        draw_curve(ax, axis, curve.x, curve.y, dense=dense, **line)
        if not dense and len(curve.x) <= _POINTS:
            if curve.std is not None and np.any(curve.std > 0):
                draw_band(ax, axis, curve.x, *curve.band())
            left = result.correlated_noise
            if left is not None:
                known = curve.y + np.interp(curve.x, left.x, left.y)
                draw_curve(ax, axis, curve.x, known, color=ink.soft, lw=0.8)
        at, y = placed(axis, x[here]), samples.values[here]
        if samples.errors is not None and len(here) <= WHISKERS:
            ax.errorbar(at, y, samples.errors[here], fmt="none", ecolor=ink.dots, elinewidth=0.7)
        ax.plot(
            at,
            y,
            ".",
            color=ink.dots,
            ms=4 if len(here) < 2000 else 2,
            alpha=0.7,
            mew=0,
            zorder=3 if dense else 1.5,
            rasterized=len(here) > _RASTER,
        )
        limit_values(ax, at, y, curve.y, down=result.downwards)
        ax.margins(x=0.01)
        name_axes(ax, axis.label, samples.value_name)
    return ax


def plot_spectrum(source: Source, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the amplitude spectrum with modes, noise floor and false-alarm line.

    Keywords are for the spectrum of the residuals, which is what was judged.
    """
    result = result_of(source)
    s, modes = result.spectrum, result.modes
    frequency = np.asarray(result.domain.frequency(s.mode))
    with looks():
        ax = new_axes(ax)
        ink = palette(ax)
        keep, rest = (peak_bins(s.mode, y, _BINS) for y in (s.data, s.residual))
        ax.plot(frequency[keep], s.data[keep], color=ink.soft, lw=0.8, alpha=0.5, label="data")
        of_rest = line_style(line, color=ink.soft, lw=0.8, label="residuals")
        ax.plot(frequency[rest], s.residual[rest], **of_rest)
        if s.floor is not None and s.line is not None:
            ax.plot(frequency, s.floor, color=ink.floor, lw=1.6, label="noise floor")
            words = f"false-alarm line ({percent(s.false_alarm)})"
            ax.plot(frequency, s.line, color=ink.alarm, lw=1.4, ls="--", label=words)
            ax.legend(loc="upper right", fontsize=9)
        seen = result.shown_modes
        for owner in np.unique(result.owner[seen]):
            mine = seen[result.owner[seen] == owner]
            at, heights = modes.frequency[mine], 1.25 * modes.amplitude[mine]
            ax.plot(at, heights, "v", ms=5, color=ink.component(owner))
        _name_marks(ax, result)
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(lambda value, _: power_label(value))
        bottom = 0.0 if s.floor is None else 0.2 * float(np.median(s.floor))
        top = 3.0 * max(float(s.data.max()), s.line_top)
        ax.set_ylim(max(bottom, 1e-6 * top), top)
        plain_log_ticks(ax)
        ax.margins(x=0.01)
        name_axes(ax, result.domain.frequency_label, f"amplitude of {result.samples.value_name}")
        _period_axis(ax, result)
    return ax


def plot_residual_spectrum(
    source: Source, without: int | None = None, *, ax: Axes | None = None, **line: Any
) -> Axes:
    """Draw the spectrum of the residuals with the false-alarm line, which nothing should exceed.

    Parameters
    ----------
    source : Result, PeriodicMixture or FourierNetworkRegressor
    without : int, optional
        How many components are taken away, the strongest first; all of them if not given.
    ax : Axes, optional
    **line
        For the spectrum, as `Axes.plot` takes them.
    """
    result = result_of(source)
    s = result.spectrum
    if without is not None and not 1 <= without <= len(s.steps):
        raise InputError(f"without={without} must be between 1 and {len(s.steps)}")
    left = s.residual if without is None else s.steps[without - 1]
    frequency = np.asarray(result.domain.frequency(s.mode))
    with looks():
        ax = new_axes(ax, 4.5, 3.0)
        keep = peak_bins(s.mode, left, COLUMNS // 2)
        ax.plot(frequency[keep], left[keep], **line_style(line, color=palette(ax).soft, lw=0.8))
        if s.line is not None:
            few = np.unique(np.linspace(0, len(s.mode) - 1, 300).astype(int))
            ax.plot(frequency[few], s.line[few], color=palette(ax).alarm, lw=1.4, ls="--")
        ax.set_ylim(0.0, 1.1 * max(float(left.max()), s.line_top) or 1.0)
        ax.margins(x=0.01)
        name_axes(ax, result.domain.frequency_label, "amplitude")
    return ax


def _name_marks(ax: Axes, result: Result) -> None:
    """Write the letter of each component above its strongest line, where no other letter stands."""
    taken: list[float] = []
    modes, width = result.modes, float(np.ptp(ax.get_xlim())) or 1.0
    for owner, pattern in enumerate(result.patterns[:8]):
        rows = result.shown_modes[result.owner[result.shown_modes] == owner]
        if not len(rows):
            continue
        top = int(rows[np.argmax(modes.amplitude[rows])])
        if any(abs(modes.frequency[top] - at) < 0.012 * width for at in taken):
            continue
        taken.append(float(modes.frequency[top]))
        place = (modes.frequency[top], 1.25 * modes.amplitude[top])
        ax.annotate(
            pattern.label, place, (0, 6), textcoords="offset points",
            ha="center", fontsize=9, color=palette(ax).component(owner),
        )  # fmt: skip


def _period_axis(ax: Axes, result: Result) -> None:
    """Write the periods of the ticks of a frequency axis above it."""
    low, high = ax.get_xlim()
    at = [tick for tick in ax.get_xticks() if max(low, 0.0) < tick <= high]
    above = ax.secondary_xaxis("top")
    words = [result.domain.period_words(float(f"{1.0 / tick:.3g}")) for tick in at]
    above.set_xticks(at, words, fontsize=8.5)
    above.tick_params(length=0)
    above.spines["top"].set_visible(False)


def plot_component(
    source: Source,
    index: int = 0,
    *,
    max_dots: int = DOTS_DRAWN,
    ax: Axes | None = None,
    **line: Any,
) -> Axes:
    """Draw two cycles of a component with its band, the folded data behind it.

    A day, a week or a year is drawn as one turn of the calendar.
    """
    result = result_of(source)
    pattern = _pattern(result, index)
    with looks():
        ax = new_axes(ax, 4.5, 3.0)
        cycle = cycle_of(pattern, result.downwards)
        if cycle is None:
            folded, wave = pattern.folded.twice(), pattern.waveform.twice()
        else:
            folded, wave = cycle.dots(pattern.folded), cycle.wave(pattern.waveform)
            ax.set_xticks(cycle.ticks, cycle.labels)
        shade = palette(ax).component(index)
        some = evenly(len(folded.x), max_dots)
        x, y = folded.x[some], folded.y[some]
        style: dict[str, Any] = {"color": palette(ax).dots, "ms": 3, "alpha": 0.35, "mew": 0}
        ax.plot(x, y, ".", **style, rasterized=len(x) > _RASTER)
        if wave.std is not None:
            draw_band(ax, None, wave.x, *wave.band(), color=shade)
        ax.plot(wave.x, wave.y, **line_style(line, color=shade, lw=2))
        ax.set_xlim(*((-0.02, 2.02) if cycle is None else (0.0, 1.0)))
        if cycle is None:
            ax.set_xticks(np.linspace(0.0, 2.0, 5))
        limit_values(ax, x, y, wave.y, down=result.downwards)
        words = period_in_words(pattern)
        ax.set_title(f"{pattern.label}: {words}, {percent(pattern.share)}", parse_math=False)
        along = f"cycles of {words}" if cycle is None else cycle.label
        name_axes(ax, along, result.samples.value_name)
    return ax


def plot_components(
    source: Source, *, axes: NDArray[Any] | None = None, **line: Any
) -> NDArray[Any]:
    """Draw the components of 1 % or more, six at most, side by side; returns an array of Axes."""
    result = result_of(source)
    main = {pattern.label for pattern in result.main}
    shown = [i for i, pattern in enumerate(result.patterns) if pattern.label in main][:PANELS]
    count = len(shown)
    with looks():
        if axes is None:
            from matplotlib import pyplot

            rows = max((count + 1) // 2, 1)
            figure = pyplot.figure(figsize=(9.0, 3.0 * rows), layout="constrained")
            axes = figure.subplots(rows, 2 if count > 1 else 1, squeeze=False)
        for i, ax in enumerate(np.asarray(axes).ravel()):
            if i < count:
                plot_component(result, shown[i], ax=ax, **line)
            else:
                ax.set_axis_off()
    return np.asarray(axes)


def plot_link(source: Source, index: int = 0, *, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the link g of a component g(cos), where it has one."""
    result = result_of(source)
    link = _pattern(result, index).link
    if link is None:
        raise InputError(
            f"component {index} has no link: its harmonics are not in phase; see plot_component"
        )
    with looks():
        ax = new_axes(ax, 4.5, 3.0)
        shade = palette(ax).component(index)
        draw_band(ax, None, link.x, *link.band(), color=shade)
        ax.plot(link.x, link.y, **line_style(line, color=shade, lw=2))
        if result.downwards:
            ax.yaxis.set_inverted(True)
        name_axes(ax, "cosine of the phase", result.samples.value_name)
    return ax


def plot_diagonal(source: Source, *, ax: Axes | None = None, **stems: Any) -> Axes:
    """Draw the weights of the diagonal layer against mode, as the paper does."""
    result = result_of(source)
    if result.diagonal is None:
        raise InputError("this model has no diagonal layer; fit with diagonal=True")
    with looks():
        ax = new_axes(ax, 9.0, 2.6)
        mode = result.diagonal.mode
        for j, name in enumerate(result.diagonal.names):
            weight, shade = result.diagonal.weight[:, j], palette(ax).component(j)
            keep = peak_bins(mode, weight, COLUMNS)
            y = np.outer(weight[keep], [0.0, 1.0, np.nan]).ravel()  # stems as one line with gaps
            ax.plot(np.repeat(mode[keep], 3), y, **line_style(stems, color=shade, lw=0.9))
            tall = keep[weight[keep] > 0.1 * weight.max()]
            ax.plot(mode[tall], weight[tall], "o", ms=4, color=shade, label=name)
        if len(result.diagonal.names) > 1:
            ax.legend(fontsize=9)
        ax.set_ylim(bottom=0.0)
        ax.margins(x=0.01)
        name_axes(ax, "mode (cycles over the record)", "diagonal weight")
    return ax


def plot_residuals(
    source: Source, *, max_dots: int = DOTS_DRAWN, ax: Axes | None = None, **points: Any
) -> Axes:
    """Draw what the fit leaves over against time."""
    result = result_of(source)
    with looks():
        ax = new_axes(ax, 9.0, 2.4)
        ax.axhline(0.0, color=palette(ax).fit, lw=1)
        some = dots(result.residual, max_dots)
        x, y = placed(result.axis, result.position[some]), result.residual[some]
        style = {"color": palette(ax).dots, "ms": 3, "alpha": 0.6, "mew": 0}
        ax.plot(x, y, ".", **line_style(points, rasterized=len(some) > _RASTER, **style))
        limit_values(ax, x, y, np.zeros(1), down=result.downwards)
        ax.margins(x=0.01)
        name_axes(ax, result.axis.label, "residual")
    return ax


def plot_histogram(source: Source, *, ax: Axes | None = None, **bars: Any) -> Axes:
    """Draw the histogram of the residuals with the normal curve of the same deviation."""
    result = result_of(source)
    spread = deviation(result.residual) or 1.0
    with looks():
        ax = new_axes(ax, 4.5, 3.0)
        count = int(np.clip(np.sqrt(len(result.residual)), 8, 60))
        ends = (-5.0 * spread, 5.0 * spread)
        style = {"bins": count, "range": ends, "color": palette(ax).dots, "alpha": 0.5}
        ax.hist(result.residual, density=True, **{**style, **bars})
        x = np.linspace(*ends, 200)
        normal = np.exp(-0.5 * (x / spread) ** 2) / (spread * np.sqrt(2 * np.pi))
        ax.plot(x, normal, color=palette(ax).fit, lw=1.6)
        name_axes(ax, "residual", "density")
    return ax


def _pattern(result: Result, index: int) -> Pattern:
    if not 0 <= index < len(result.patterns):
        raise InputError(
            f"index={index} must be below the number of components, {len(result.patterns)}"
        )
    return result.patterns[index]
