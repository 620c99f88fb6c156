"""The report's figures as SVG, each from a `Result`."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.report.svg import Panel
from robustfourier.results import Pattern, Result
from robustfourier.results.axis import even_ticks, robust_limits
from robustfourier.results.calendar import spoken
from robustfourier.results.calendar_cycle import cycle_of
from robustfourier.results.record import WHISKERS
from robustfourier.results.spectrum import peak_bins
from robustfourier.results.spread import deviation
from robustfourier.results.thinning import envelope, evenly, extremes

WIDE, NARROW = 960, 400
#: Samples that a static figure shows at most.
DOTS = 2500
_FOLDED = 480
_STEPS = 4  # spectra of what is left that stand beside each other


def fit_figure(result: Result, window: tuple[float, float] | None = None) -> str:
    """Data with fit and band, all of it or in a window of the axis."""
    x, y = result.position, result.samples.values
    low, high = window or (float(x.min()), float(x.max()))
    here = np.flatnonzero((x >= low) & (x <= high))
    here = here[evenly(len(here), DOTS)]
    curve = result.curve
    seen = (curve.x >= low) & (curve.x <= high)
    panel = Panel(
        WIDE,
        300 if window else 330,
        _padded(low, high, 0.01),
        robust_limits(y[here], curve.y[seen]),
        bottom=48 if result.axis.dates else 40,
        down=result.downwards,
        title="Data and fit" if window is None else "Data and fit, close up",
    )
    panel.axes(result.axis.label, result.samples.value_name, xticks=result.axis.ticks(low, high, 8))
    dense = window is None and result.is_dense
    if dense:
        panel.band(*extremes(curve.x[seen], curve.y[seen], 450), "envelope")
    if result.samples.errors is not None and len(here) <= WHISKERS:
        panel.whiskers(x[here], y[here], result.samples.errors[here], "whisker")
    panel.points(x[here], y[here], "data" if window else "data small")
    if not dense and seen.sum() > 2:
        below, above = curve.band()
        x, bottom, _ = extremes(curve.x[seen], below[seen], 900)
        _, _, top = extremes(curve.x[seen], above[seen], 900)
        panel.band(x, bottom, top, "band")
        panel.line(*envelope(curve.x[seen], curve.y[seen], 900), "fit")
    return str(panel)


def overview_figure(result: Result) -> str:
    """The whole record as a strip, on which the part that is seen large can be chosen."""
    x, y, curve = result.position, result.samples.values, result.curve
    keep = evenly(len(x), WIDE)
    ends = _padded(float(x.min()), float(x.max()), 0.01)
    size = robust_limits(y[keep], curve.y)
    panel = Panel(WIDE, 52, ends, size, left=0, right=0, top=0, bottom=0, down=result.downwards)
    panel.band(*extremes(curve.x, curve.y, 320), "envelope")
    panel.points(x[keep], y[keep], "data small")
    return str(panel).replace('role="img"', 'aria-hidden="true" preserveAspectRatio="none"')


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
    s = result.spectrum
    keep = peak_bins(s.mode, s.data, 1600)
    frequency = np.asarray(result.domain.frequency(s.mode))
    bottom = 0.0 if s.floor is None else 0.2 * float(np.median(s.floor))
    top = 2.0 * max(float(s.data.max()), s.line_top)
    panel = Panel(
        WIDE,
        330,
        (0.0, float(frequency[-1])),
        (max(bottom, 1e-6 * top), top),
        log=True,
        top=38,
        title="Amplitude spectrum with the modes found, the noise floor and the false-alarm line",
    )
    panel.axes(result.domain.frequency_label, f"amplitude of {result.samples.value_name}")
    at = even_ticks(0.0, float(frequency[-1]), 9)[1:]
    panel.top_axis(at, [result.domain.period_words(1.0 / f) for f in at], "period")
    panel.line(frequency[keep], s.data[keep], "spectrum")
    rest = peak_bins(s.mode, s.residual, 900)
    panel.line(frequency[rest], s.residual[rest], "rest")
    _judged_by(panel, result, ("floor", s.floor), ("alarm", s.line))
    _mark_modes(panel, result)
    return str(panel)


def step_figures(result: Result) -> list[tuple[str, str]]:
    """What is left after one pattern, after two, …: words and a small spectrum each."""
    s, names = result.spectrum, [pattern.label for pattern in result.patterns]
    frequency = np.asarray(result.domain.frequency(s.mode))
    figures = []
    for i, step in enumerate(s.steps[:_STEPS]):
        words = f"without {', '.join(names[: i + 1])}"
        top = 1.15 * max(float(step.max()), s.line_top)
        panel = Panel(
            NARROW, 150, (0.0, float(frequency[-1])), (0.0, top), title=f"Spectrum {words}"
        )
        panel.axes(result.domain.frequency_label, "amplitude")
        keep = peak_bins(s.mode, step, 500)
        panel.line(frequency[keep], step[keep], "rest")
        _judged_by(panel, result, ("alarm", s.line), points=150)
        figures.append((words, str(panel)))
    return figures


def _judged_by(
    panel: Panel, result: Result, *lines: tuple[str, FloatArray | None], points: int = 300
) -> None:
    """Draw the floor and the threshold that the fit used, where it used any."""
    mode = result.spectrum.mode
    rough = np.unique(np.linspace(0, len(mode) - 1, points).astype(int))
    for name, line in lines:
        if line is not None:
            here = rough[np.isfinite(line[rough])]
            panel.line(np.asarray(result.domain.frequency(mode[here])), line[here], name)


def _mark_modes(panel: Panel, result: Result) -> None:
    modes = result.modes
    names = {i: pattern.label for i, pattern in enumerate(result.patterns)}
    for i, owner in enumerate(result.owner[:60].tolist()):
        base = modes.harmonic is None or int(modes.harmonic[i]) == 1
        text = names.get(owner, "") if base and owner < 8 else ""
        panel.mark(float(modes.frequency[i]), float(modes.amplitude[i]), text, f"c{owner % 6}")


def diagonal_figure(result: Result) -> str | None:
    """Weights of the diagonal layer against mode."""
    diagonal = result.diagonal
    if diagonal is None or not len(diagonal.mode):
        return None
    panel = Panel(
        NARROW,
        200,
        (0.0, float(diagonal.mode[-1]) * 1.01),
        (0.0, 1.08 * float(diagonal.weight.max()) or 1.0),
        title="Weights of the diagonal layer",
    )
    panel.axes("mode (cycles over the record)", "diagonal weight")
    for j in range(diagonal.weight.shape[1]):
        weight = diagonal.weight[:, j]
        keep = peak_bins(diagonal.mode, weight, 900)
        panel.stems(diagonal.mode[keep], weight[keep], f"stem c{j}")
        tall = keep[weight[keep] > 0.1 * weight.max()]
        panel.points(diagonal.mode[tall], weight[tall], f"stemtop c{j}")
    return str(panel)


_CYCLES = (np.linspace(0.0, 2.0, 5), ["0", "½", "1", "1½", "2"])


def waveform_figure(result: Result, pattern: Pattern, index: int) -> str:
    """Two cycles of a pattern, or a turn of its calendar, with band and folded data behind it."""
    wave, folded = pattern.waveform, pattern.folded
    cycle = cycle_of(pattern, result.domain, result.downwards)
    if cycle is not None:
        wave, folded = cycle.wave(wave), cycle.dots(folded)
    keep = evenly(len(folded.x), _FOLDED)
    panel = Panel(
        NARROW,
        220,
        (-0.02, 2.02) if cycle is None else (0.0, 1.0),
        robust_limits(folded.y[keep], wave.y),
        down=result.downwards,
        title=f"Waveform of pattern {pattern.label}",
    )
    panel.axes(
        f"cycles of {spoken(pattern, result.domain)}" if cycle is None else cycle.label,
        result.samples.value_name,
        xticks=_CYCLES if cycle is None else (cycle.ticks, list(cycle.labels)),
    )
    panel.points(folded.x[keep], folded.y[keep], "data small")
    if wave.std is not None:
        panel.band(wave.x, *wave.band(), f"band c{index % 6}")
    panel.line(wave.x, wave.y, f"wave c{index % 6}")
    if cycle is None:
        panel.repeat(f"wave-{pattern.label}", 1.0)
    return str(panel)


def link_figure(result: Result, pattern: Pattern, index: int) -> str | None:
    """The link g of g(cos), where the pattern has one that is not a straight line."""
    link = pattern.link
    if link is None or len(pattern.harmonics) < 2:
        return None
    panel = Panel(
        NARROW,
        200,
        (-1.0, 1.0),
        _padded(*_extent(*link.band())),
        down=result.downwards,
        title=f"Link function of pattern {pattern.label}",
    )
    panel.axes("cosine of the cycle", result.samples.value_name)
    panel.band(link.x, *link.band(), f"band c{index % 6}")
    panel.line(link.x, link.y, f"wave c{index % 6}")
    return str(panel)


def residual_figure(result: Result) -> str:
    """What the fit leaves over, against time."""
    x, residual = result.position, result.residual
    keep = evenly(len(x), DOTS)
    low, high = float(x.min()), float(x.max())
    panel = Panel(
        WIDE,
        200,
        _padded(low, high, 0.01),
        robust_limits(residual, np.zeros(1)),
        bottom=48 if result.axis.dates else 40,
        down=result.downwards,
        title="Residuals against time",
    )
    panel.axes(result.axis.label, "residual", xticks=result.axis.ticks(low, high, 8))
    panel.rule(0.0, "zero")
    panel.points(x[keep], residual[keep], "data small")
    return str(panel)


def histogram_figure(result: Result) -> str:
    """Histogram of the residuals with the normal curve of the same noise."""
    residual = result.residual
    spread = deviation(residual) or 1.0
    inside = residual[np.abs(residual) <= 5.0 * spread]
    count = int(np.clip(np.sqrt(len(inside)), 8, 60))
    heights, edges = np.histogram(inside, bins=count)
    x = np.linspace(edges[0], edges[-1], 161)
    width = edges[1] - edges[0]
    normal = len(inside) * (width / spread) * np.exp(-0.5 * (x / spread) ** 2) / np.sqrt(2 * np.pi)
    panel = Panel(
        NARROW,
        230,
        (float(edges[0]), float(edges[-1])),
        (0.0, 1.08 * max(float(heights.max()), float(normal.max()))),
        title="Histogram of the residuals",
    )
    panel.axes("residual", "samples")
    panel.bars(edges, heights, "bars")
    panel.line(x, normal, "fit")
    return str(panel)


def residual_spectrum_figure(result: Result) -> str:
    """Spectrum of the residual: nothing should rise above the false-alarm line."""
    s = result.spectrum
    keep = peak_bins(s.mode, s.residual, 700)
    frequency = np.asarray(result.domain.frequency(s.mode))
    panel = Panel(
        NARROW,
        230,
        (0.0, float(frequency[-1])),
        (0.0, 1.1 * max(float(s.residual.max()), s.line_top)),
        title="Spectrum of the residuals",
    )
    panel.axes(result.domain.frequency_label, "amplitude")
    panel.line(frequency[keep], s.residual[keep], "rest")
    _judged_by(panel, result, ("alarm", s.line), points=200)
    return str(panel)


def _extent(*arrays: FloatArray) -> tuple[float, float]:
    filled = [a for a in arrays if len(a)]
    return min(float(a.min()) for a in filled), max(float(a.max()) for a in filled)


def _padded(low: float, high: float, share: float = 0.06) -> tuple[float, float]:
    pad = share * (high - low)
    return low - pad, high + pad
