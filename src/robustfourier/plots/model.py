"""Figures of one fit, each drawn on the axes it is given, and returned on them; never shown.

Every function takes a `Result`, or a model that was fitted in this process. One from a file does
not hold the data of its fit: give ``model.result(times, values)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from robustfourier.errors import InputError
from robustfourier.plots.style import (
    ALARM,
    DOTS,
    FIT,
    FLOOR,
    SOFT,
    colour,
    looks,
    name_axes,
    new_axes,
    placed,
)
from robustfourier.results import Result, TimeAxis, result_of
from robustfourier.results.calendar import spoken
from robustfourier.results.record import BAND, WHISKERS
from robustfourier.results.spectrum import peak_bins
from robustfourier.results.spread import deviation
from robustfourier.results.thinning import DOTS_DRAWN, dots, evenly, extremes
from robustfourier.results.views import as_column
from robustfourier.wording import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = 6  # patterns drawn side by side


def plot_model(
    model: Any, times: Any = None, values: Any = None, *, ax: Axes | None = None
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
    """
    if times is not None or getattr(model, "_seen", None) is not None:
        return plot_fit(result_of(model, times, values), ax=ax)
    domain = model.domains_[0]
    times = domain.from_theta(np.linspace(-1.0, 1.0, 2000))
    axis = TimeAxis.of(domain, "time")
    x = placed(axis, axis.positions(times))
    with looks():
        ax = new_axes(ax)
        if hasattr(model, "components_"):
            curve, std = model.predict(times, return_std=True)
            ax.fill_between(x, curve - BAND * std, curve + BAND * std, color=FIT, alpha=0.2, lw=0)
        else:
            curve = model.predict(as_column(times))
        ax.plot(x, curve, color=FIT, lw=1.4)
        name_axes(ax, axis.label, "value")
    return ax


def plot_fit(source: Any, *, ax: Axes | None = None) -> Axes:
    """Draw data, fitted function and its 90 % band."""
    result = result_of(source)
    curve = result.curve
    with looks():
        ax = new_axes(ax)
        x = placed(result.axis, curve.x)
        # More cycles than can be seen at once would be a solid block: their outline, behind.
        dense = result.is_dense
        if dense:
            middle, low, high = extremes(curve.x, curve.y, 900)
            ax.fill_between(placed(result.axis, middle), low, high, color=FIT, alpha=0.3, lw=0)
        else:
            if curve.std is not None and np.any(curve.std > 0):
                ax.fill_between(x, *curve.band(), color=FIT, alpha=0.2, lw=0)
            ax.plot(x, curve.y, color=FIT, lw=1.2)
            if result.memory is not None and result.memory.remainder is not None:
                known = result.predicted  # what neighbours tell besides
                some = dots(known)
                ax.plot(placed(result.axis, result.position[some]), known[some], color=SOFT, lw=0.8)
        if result.samples.errors is not None and len(result.samples) <= WHISKERS:
            x, y = placed(result.axis, result.position), result.samples.values
            ax.errorbar(x, y, result.samples.errors, fmt="none", ecolor=DOTS, elinewidth=0.7)
        some = dots(result.samples.values)
        ax.plot(
            placed(result.axis, result.position[some]),
            result.samples.values[some],
            ".",
            color="#39424e" if dense else DOTS,
            ms=4 if len(result.samples) < 2000 else 2,
            alpha=0.7,
            mew=0,
            zorder=3 if dense else 1.5,
            rasterized=len(result.samples) > 5000,
        )
        ax.margins(x=0.01)
        _turned(ax, result)
        name_axes(ax, result.axis.label, result.samples.value_name)
    return ax


def plot_spectrum(source: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the amplitude spectrum with modes, noise floor and false-alarm line."""
    result = result_of(source)
    s = result.spectrum
    keep = peak_bins(s.mode, s.data, 8000)
    frequency = np.asarray(result.domain.frequency(s.mode))
    with looks():
        ax = new_axes(ax)
        ax.plot(frequency[keep], s.data[keep], color=SOFT, lw=0.8, alpha=0.5)
        rest = peak_bins(s.mode, s.residual, 8000)
        ax.plot(frequency[rest], s.residual[rest], color=SOFT, lw=0.8, label="what is left")
        if s.floor is not None and s.line is not None:
            ax.plot(frequency, s.floor, color=FLOOR, lw=1.6, label="noise floor")
            words = f"false-alarm line ({percent(s.level)})"
            ax.plot(frequency, s.line, color=ALARM, lw=1.4, ls="--", label=words)
            ax.legend(loc="upper right", fontsize=9)
        modes = result.modes
        for i, owner in enumerate(result.owner.tolist()):
            ax.plot(modes.frequency[i], 1.25 * modes.amplitude[i], "v", ms=5, color=colour(owner))
        _name_marks(ax, result)
        ax.set_yscale("log")
        bottom = 0.0 if s.floor is None else 0.2 * float(np.median(s.floor))
        top = 3.0 * max(float(s.data.max()), s.line_top)
        ax.set_ylim(max(bottom, 1e-6 * top), top)
        ax.margins(x=0.01)
        name_axes(ax, result.domain.frequency_label, f"amplitude of {result.samples.value_name}")
        _period_axis(ax, result)
    return ax


def _name_marks(ax: Axes, result: Result) -> None:
    """Write the letter of each pattern above its strongest line, where no other letter stands."""
    taken: list[float] = []
    modes, width = result.modes, float(np.ptp(ax.get_xlim())) or 1.0
    for owner, pattern in enumerate(result.patterns[:8]):
        rows = np.flatnonzero(result.owner == owner)
        if not len(rows):
            continue
        top = int(rows[np.argmax(modes.amplitude[rows])])
        if any(abs(modes.frequency[top] - at) < 0.012 * width for at in taken):
            continue
        taken.append(float(modes.frequency[top]))
        place = (modes.frequency[top], 1.25 * modes.amplitude[top])
        ax.annotate(
            pattern.name, place, (0, 6), textcoords="offset points",
            ha="center", fontsize=9, color=colour(owner),
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


def plot_component(source: Any, index: int = 0, *, ax: Axes | None = None) -> Axes:
    """Draw two cycles of a pattern with its band, the folded data behind it."""
    result = result_of(source)
    pattern = _pattern(result, index)
    with looks():
        ax = new_axes(ax, 4.5, 3.0)
        folded, wave = pattern.folded.twice(), pattern.waveform.twice()
        some = evenly(len(folded.x), DOTS_DRAWN)
        x, y = folded.x[some], folded.y[some]
        ax.plot(x, y, ".", color=DOTS, ms=3, alpha=0.35, mew=0, rasterized=True)
        if wave.std is not None:
            ax.fill_between(wave.x, *wave.band(), color=colour(index), alpha=0.25, lw=0)
        ax.plot(wave.x, wave.y, color=colour(index), lw=2)
        ax.set_xlim(-0.02, 2.02)
        low, high = np.quantile(folded.y, [0.005, 0.995])
        pad = 0.1 * (high - low) or 1.0
        ax.set_ylim(min(low, wave.y.min()) - pad, max(high, wave.y.max()) + pad)
        words = spoken(pattern, result.domain)
        _turned(ax, result)
        ax.set_title(f"{pattern.name}: {words}, {percent(pattern.share)}", parse_math=False)
        name_axes(ax, f"cycles of {words}", result.samples.value_name)
    return ax


def plot_components(source: Any, *, axes: Any = None) -> Any:
    """Draw the patterns of 1 % or more, six at most, side by side; returns an array of Axes."""
    result = result_of(source)
    main = {pattern.name for pattern in result.main}
    shown = [i for i, pattern in enumerate(result.patterns) if pattern.name in main][:PANELS]
    count = len(shown)
    with looks():
        if axes is None:
            from matplotlib import pyplot

            rows = max((count + 1) // 2, 1)
            figure = pyplot.figure(figsize=(9.0, 3.0 * rows), layout="constrained")
            axes = figure.subplots(rows, 2 if count > 1 else 1, squeeze=False)
        flat = np.asarray(axes).ravel()
        for i, ax in enumerate(flat):
            if i < count:
                plot_component(result, shown[i], ax=ax)
            else:
                ax.set_axis_off()
    return axes


def plot_link(source: Any, index: int = 0, *, ax: Axes | None = None) -> Axes:
    """Draw the link g of a pattern g(cos), where it has one."""
    result = result_of(source)
    link = _pattern(result, index).link
    if link is None:
        raise InputError(
            f"pattern {index} has no link: its harmonics are not in phase; see plot_component"
        )
    with looks():
        ax = new_axes(ax, 4.5, 3.0)
        ax.fill_between(link.x, *link.band(), color=colour(index), alpha=0.25, lw=0)
        ax.plot(link.x, link.y, color=colour(index), lw=2)
        _turned(ax, result)
        name_axes(ax, "cosine of the cycle", result.samples.value_name)
    return ax


def plot_diagonal(source: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the weights of the diagonal layer against mode, as the paper does."""
    result = result_of(source)
    if result.diagonal is None:
        raise InputError("this model has no diagonal layer; fit with diagonal=True")
    with looks():
        ax = new_axes(ax, 9.0, 2.6)
        mode = result.diagonal.mode
        for j, name in enumerate(result.diagonal.names):
            weight = result.diagonal.weight[:, j]
            ax.vlines(mode, 0.0, weight, color=colour(j), lw=0.9)
            tall = weight > 0.1 * weight.max()
            ax.plot(mode[tall], weight[tall], "o", ms=4, color=colour(j), label=name)
        if len(result.diagonal.names) > 1:
            ax.legend(fontsize=9)
        ax.set_ylim(bottom=0.0)
        ax.margins(x=0.01)
        name_axes(ax, "mode (cycles over the record)", "diagonal weight")
    return ax


def plot_residuals(source: Any, *, ax: Axes | None = None) -> Axes:
    """Draw what the fit leaves over against time."""
    result = result_of(source)
    with looks():
        ax = new_axes(ax, 9.0, 2.4)
        ax.axhline(0.0, color=FIT, lw=1)
        some = dots(result.residual)
        x, y = placed(result.axis, result.position[some]), result.residual[some]
        ax.plot(x, y, ".", color=DOTS, ms=3, alpha=0.6, mew=0, rasterized=True)
        ax.margins(x=0.01)
        _turned(ax, result)
        name_axes(ax, result.axis.label, "residual")
    return ax


def plot_histogram(source: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the histogram of the residuals with the normal curve of the same deviation."""
    result = result_of(source)
    spread = deviation(result.residual) or 1.0
    with looks():
        ax = new_axes(ax, 4.5, 3.0)
        count = int(np.clip(np.sqrt(len(result.residual)), 8, 60))
        ends = (-5.0 * spread, 5.0 * spread)
        ax.hist(result.residual, bins=count, range=ends, density=True, color=DOTS, alpha=0.5)
        x = np.linspace(*ends, 200)
        ax.plot(
            x, np.exp(-0.5 * (x / spread) ** 2) / (spread * np.sqrt(2 * np.pi)), color=FIT, lw=1.6
        )
        name_axes(ax, "residual", "density")
    return ax


def _turned(ax: Axes, result: Result) -> None:
    """Let magnitudes grow downwards."""
    if result.downwards and not ax.yaxis_inverted():
        ax.invert_yaxis()


def _pattern(result: Result, index: int) -> Any:
    if not 0 <= index < len(result.patterns):
        raise InputError(
            f"index={index} must be below the number of patterns, {len(result.patterns)}"
        )
    return result.patterns[index]
