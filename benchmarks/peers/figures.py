"""The figures of the page, drawn from rows in the style of all our figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.catalogue import NOISE, SIZE, Entry
from benchmarks.peers.comparisons import (
    LEVEL,
    LOSES,
    OURS,
    WINS,
    Comparison,
    Results,
    error_lines,
    is_privileged,
    plain_name,
)
from robustfourier.plots.figure_files import save_figure
from robustfourier.plots.style import ALARM, DOTS, FLOOR, plain_log_ticks

CURVES = (
    "ours", "limit", "lombscargle", "nifty_refined", "lasso_cv", "omp_cv", "abess_pairs",
    "prophet",
)  # fmt: skip
TIMED = (
    "ours", "lombscargle", "lombscargle_refined", "nifty_refined", "lasso_cv", "lasso_lars_ic",
    "omp_cv", "skglm_mcp", "abess_pairs", "abess_families", "prophet",
)  # fmt: skip
LEAST_SHOWN = 0.2  # of our error over a rival's
_SIGNS = {WINS: "o", LEVEL: "s", LOSES: "D"}


def draw(results: Results, entries: Sequence[Entry], folder: Path) -> list[Path]:
    """Draw every figure for which there are rows, as PNG and PDF; return the PNGs."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [
        _noise_curve(results, entries, folder / "noise.png"),
        _size_curve(results, entries, folder / "size.png"),
        _rivals(results, entries, folder / "rivals.png"),
    ]
    return [path for path in made if path is not None]


def _noise_curve(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Error, recall and precision against the noise, with what half of the seeds lie in."""
    levels = [(e.noise, e.name) for e in entries if e.group == NOISE and e.noise is not None]
    levels = [(x, name) for x, name in levels if name in results.problems()]
    if not levels:
        return None
    keys = _present(results, CURVES)
    x = np.array([level for level, _ in levels])

    def drawing(figure: Any) -> None:
        axes = figure.subplots(1, 3)
        names = {"error": "relative error", "recall": "recall of the periods",
                 "precision": "precision of the periods"}  # fmt: skip
        for axis, (column, name) in zip(axes, names.items(), strict=True):
            for rank, key in enumerate(keys):
                values = [results.values(problem, key, column) for _, problem in levels]
                # Side by side, so that what is equal is not hidden.
                beside = x * 1.016 ** (rank - 0.5 * len(keys))
                middle = np.median if column == "error" else np.mean
                _curve(axis, beside, values, middle, _style(key) | {"label": plain_name(key)})
            axis.set(xscale="log", xlabel="noise / signal (standard deviations)", ylabel=name)
            axis.set_xticks(x, [f"{level:g}" for level in x])
            axis.minorticks_off()
        axes[0].set_yscale("log")
        axes[0].set_title("bars: half of the seeds", fontsize=9.5, fontweight="normal")
        for axis in axes[1:]:
            axis.set_ylim(-0.03, 1.05)
        _legend(figure, axes)

    return save_figure(path, (12.9, 4.5), drawing)


def _curve(
    axis: Any, x: np.ndarray, values: Sequence[Sequence[float]], middle: Any, style: dict[str, Any]
) -> np.ndarray:
    """A line through the middles, with bars from the lower to the upper quartile of the seeds."""
    found = [np.asarray(seeds, dtype=float) for seeds in values]
    heights = np.array([middle(seeds) if seeds.size else np.nan for seeds in found])
    if np.isfinite(heights).any():
        quartiles = np.array(
            [
                np.quantile(seeds, (0.25, 0.75)) if seeds.size else (np.nan, np.nan)
                for seeds in found
            ]
        )
        ends = np.abs(quartiles - heights[:, None]).T
        thin = {"elinewidth": 1.0, "capsize": 2.0, "capthick": 1.0}
        axis.errorbar(x, heights, np.maximum(ends, 0.0), **thin, **style)
    return heights


def _size_curve(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Seconds and memory against the number of samples; a cross where a curve had to stop."""
    sizes = [(e.size, e.name) for e in entries if e.group == SIZE and e.size is not None]
    sizes = [(n, name) for n, name in sizes if name in results.problems()]
    if not sizes:
        return None
    n = np.array([size for size, _ in sizes], dtype=float)

    def drawing(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        titles = {"seconds": "seconds on one core", "megabytes": "peak memory, MB"}
        for axis, (column, title) in zip(axes, titles.items(), strict=True):
            least = 1e-3 if column == "seconds" else 1.0
            for key in _present(results, TIMED):
                values = [results.values(name, key, column) for _, name in sizes]
                shown = [np.maximum(seeds, least) for seeds in values]
                named = _style(key) | {"label": plain_name(key)}
                heights = _curve(axis, n, shown, np.median, named)
                there = np.flatnonzero(np.isfinite(heights))
                if there.size and stopped(
                    results, [name for _, name in sizes[there[-1] + 1 :]], key
                ):
                    cross = {"marker": "x", "ms": 11, "mew": 2, "color": _style(key)["color"]}
                    axis.plot(n[there[-1]], heights[there[-1]], zorder=6, **cross)
            axis.set(xscale="log", yscale="log", xlabel="samples n", ylabel=title)
        words = "bars: half of the seeds; ×: the next size takes too long"
        axes[0].set_title(words, fontsize=9.5, fontweight="normal")
        end = results.median(sizes[-1][1], OURS, "seconds")
        if np.isfinite(end):
            slope = end * n * np.log(n) / (n[-1] * np.log(n[-1]))
            axes[0].plot(n, slope, color="0.6", lw=1, ls=":", label="n log n", zorder=1)
        _legend(figure, axes)

    return save_figure(path, (11.2, 4.5), drawing)


def stopped(results: Results, names: Sequence[str], key: str) -> bool:
    """Whether a method was tried on some of these problems and has no number on any."""
    tried = any(results.rows(name, key) for name in names)
    return tried and not any(results.values(name, key, "seconds") for name in names)


def _rivals(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Our error over that of the best rival, problem by problem: the comparison at a glance."""
    lines = {line.case.removesuffix(": error"): line for line in error_lines(results, entries)}
    shown = [e for e in entries if (line := lines.get(e.name)) and np.isfinite(line.ours)]
    if not shown:
        return None

    def drawing(figure: Any) -> None:
        axis = figure.add_subplot()
        for y, entry in enumerate(shown):
            line = lines[entry.name]
            low, middle, high = _seed_ratios(results, entry.name, line)
            better = {WINS: FLOOR, LEVEL: DOTS, LOSES: ALARM}[line.verdict]
            if middle < LEAST_SHOWN:  # an arrow with the number, else the others would be a wall
                words = {"color": better, "fontsize": 8.5, "va": "center"}
                axis.text(1.03 * LEAST_SHOWN, y, f"◀ {middle:.2g}", **words)
                continue
            axis.plot([low, high], [y, y], color=better, lw=2.0, alpha=0.35, zorder=2)
            axis.plot(middle, y, _SIGNS[line.verdict], color=better, ms=6, zorder=3)
        for y in range(1, len(shown)):
            if shown[y].group != shown[y - 1].group:
                axis.axhline(y - 0.5, color="#b8c0ca", lw=0.8)
        axis.axvline(1.0, color="#39424e", lw=1.0, zorder=1)
        axis.set(xscale="log", ylim=(len(shown) - 0.4, -0.6))
        axis.set_xlim(left=LEAST_SHOWN)
        axis.set_xlabel("our error / error of the best rival (left of 1: ours is smaller)")
        axis.set_yticks(range(len(shown)), [entry.name for entry in shown], fontsize=8.5)
        plain_log_ticks(axis, "x")
        axis.grid(axis="y", visible=False)
        for verdict, words in (
            (WINS, "ours is better"),
            (LEVEL, "within 10 %"),
            (LOSES, "a rival is better"),
        ):
            ink = {WINS: FLOOR, LEVEL: DOTS, LOSES: ALARM}[verdict]
            axis.plot([], [], _SIGNS[verdict], color=ink, ms=6, label=words)
        axis.plot([], [], color=DOTS, lw=2.0, alpha=0.4, label="half of the seeds")
        figure.legend(loc="outside upper center", ncols=4, fontsize=9)

    return save_figure(path, (7.6, 1.3 + 0.2 * len(shown)), drawing)


def _seed_ratios(results: Results, problem: str, line: Comparison) -> tuple[float, float, float]:
    """The ratio of the line, with the quartiles of the same ratio over single seeds."""
    key = next(key for key in results.methods() if plain_name(key) == line.rival_name)
    theirs = {row.seed: row.error for row in results.rows(problem, key) if row.error}
    ours = {row.seed: row.error for row in results.rows(problem, OURS) if row.error}
    single = [ours[seed] / theirs[seed] for seed in sorted(ours.keys() & theirs.keys())]
    middle = line.ours / line.rival
    low, high = np.quantile(single, (0.25, 0.75)) if single else (middle, middle)
    return float(min(low, middle)), middle, float(max(high, middle))


def _present(results: Results, keys: Sequence[str]) -> list[str]:
    return [key for key in keys if key in results.methods()]


# Kin share a hue and differ in lightness; the markers differ within a hue.
_COLOURS = {
    "ours": "#c1121f", "limit": "#000000", "lombscargle": "#56b4e9",
    "lombscargle_refined": "#0072b2", "nifty_refined": "#03045e", "lasso_cv": "#8338ec",
    "lasso_lars_ic": "#c77dff", "omp_cv": "#2a9d8f", "skglm_mcp": "#ff5da2",
    "abess_pairs": "#f4a261", "abess_families": "#8a5a00", "prophet": "#6c757d",
}  # fmt: skip
_MARKERS = {
    "limit": "s", "lombscargle": "^", "lombscargle_refined": "v", "nifty_refined": "D",
    "lasso_cv": "s", "lasso_lars_ic": "P", "omp_cv": "X", "skglm_mcp": "<", "abess_pairs": ">",
    "abess_families": "h", "prophet": "p",
}  # fmt: skip


def _style(key: str) -> dict[str, Any]:
    """Ours is broad and lies beneath, so that what coincides with it can be seen."""
    return {
        "color": _COLOURS.get(key, "0.5"),
        "lw": 4.5 if key == OURS else 1.4,
        "ls": "--" if is_privileged(key) else "-",
        "marker": _MARKERS.get(key, "o"),
        "ms": 9 if key == OURS else 5,
        "zorder": 2 if key == OURS else 3,
    }


def _legend(figure: Any, axes: Any) -> None:
    """One legend for all panels, below them."""
    entries: dict[str, Any] = {}
    for axis in axes:
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(
        entries.values(), entries.keys(), loc="outside lower center", ncols=4, fontsize=8.5
    )
