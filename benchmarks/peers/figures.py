"""The figures of the page, drawn from rows; matplotlib is imported here only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.catalogue import LINKED, MIXTURES, NOISE, SIZE, Entry
from benchmarks.peers.comparisons import OURS, Measure, Results, is_told, plain_name

CURVES = (
    "ours", "limit", "lombscargle", "nifty_refined", "lasso_cv", "omp_cv", "abess_pairs",
    "prophet_told",
)  # fmt: skip
TIMED = (
    "ours", "lombscargle", "lombscargle_refined", "nifty_refined", "lasso_cv", "lasso_lars_ic",
    "omp_cv", "skglm_mcp", "abess_pairs", "abess_families", "prophet_told",
)  # fmt: skip
DPI = 110


def draw(results: Results, entries: Sequence[Entry], folder: Path) -> list[Path]:
    """Draw every figure for which there are rows; return the files."""
    import matplotlib as mpl

    mpl.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    made = [
        _noise_curve(results, entries, folder / "noise.png"),
        _size_curve(results, entries, folder / "size.png"),
        _ratios(results, entries, folder / "ratios.png"),
        _periods(results, entries, folder / "periods.png"),
    ]
    return [path for path in made if path is not None]


def _noise_curve(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Error, recall and precision against the noise."""
    levels = [(e.noise, e.name) for e in entries if e.group == NOISE and e.noise is not None]
    levels = [(x, name) for x, name in levels if name in results.problems()]
    if not levels:
        return None
    figure, axes = _panels(3, 4.3)
    for axis, column in zip(axes, ("error", "recall", "precision"), strict=True):
        for key in _present(results, CURVES):
            if column == "error":
                values = [results.median(name, key, column) for _, name in levels]
            else:
                values = [results.mean([name], key, column) for _, name in levels]
            if np.isfinite(values).any():
                axis.plot([x for x, _ in levels], values, label=plain_name(key), **_style(key))
        axis.set_xscale("log")
        axis.set_xticks([x for x, _ in levels], [f"{x:g}" for x, _ in levels])
        axis.minorticks_off()
        axis.set_xlabel("noise / signal (standard deviations)")
        axis.set_title(column if column == "error" else f"{column} of the periods", loc="left")
    axes[0].set_yscale("log")
    for axis in axes[1:]:
        axis.set_ylim(-0.03, 1.05)
    return _save(figure, axes, path)


def _size_curve(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Seconds and memory against the number of samples; a cross where a curve had to stop."""
    sizes = [(e.size, e.name) for e in entries if e.group == SIZE and e.size is not None]
    sizes = [(n, name) for n, name in sizes if name in results.problems()]
    if not sizes:
        return None
    figure, axes = _panels(2, 5.6)
    titles = {"seconds": "seconds on one core", "megabytes": "peak memory, MB"}
    n = np.array([size for size, _ in sizes], dtype=float)
    for axis, (column, title) in zip(axes, titles.items(), strict=True):
        for key in _present(results, TIMED):
            values = np.array([results.median(name, key, column) for _, name in sizes])
            there = np.flatnonzero(np.isfinite(values))
            if there.size:
                shown = np.maximum(values, 1e-3 if column == "seconds" else 1.0)
                axis.plot(n, shown, label=plain_name(key), **_style(key))
                last = there[-1]
                if stopped(results, [name for _, name in sizes[last + 1 :]], key):
                    cross = {"marker": "x", "ms": 11, "mew": 2, "color": _style(key)["color"]}
                    axis.plot(n[last], shown[last], zorder=6, **cross)
        axis.set(xscale="log", yscale="log", xlabel="samples n")
        axis.set_title(f"{title} (×: the next size takes too long)", loc="left", fontsize=10)
    end = results.median(sizes[-1][1], OURS, "seconds")
    if np.isfinite(end):
        slope = end * n * np.log(n) / (n[-1] * np.log(n[-1]))
        axes[0].plot(n, slope, color="0.6", lw=1, ls=":", label="n log n", zorder=1)
    return _save(figure, axes, path)


def stopped(results: Results, names: Sequence[str], key: str) -> bool:
    """Whether a method was tried on some of these problems and has no number on any."""
    tried = any(results.rows(name, key) for name in names)
    return tried and not any(results.values(name, key, "seconds") for name in names)


def _ratios(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Error of every method over ours, on every problem."""
    from matplotlib.colors import TwoSlopeNorm

    shown = [e for e in entries if e.group != SIZE and results.values(e.name, OURS, "error")]
    names = [entry.name for entry in shown]
    keys = [key for key in results.methods() if key != OURS]
    if not names or not keys:
        return None
    ratio = np.array([[_error_ratio(results, name, key) for key in keys] for name in names])
    figure, axis = _figure(3.2 + 0.5 * len(keys), 2.4 + 0.27 * len(names))
    with np.errstate(divide="ignore"):
        shade = np.clip(np.log2(ratio), -2, 4)
    norm = TwoSlopeNorm(0.0, -2.0, 4.0)
    image = axis.imshow(shade, cmap="RdBu", norm=norm, aspect="auto")
    for i, j in np.argwhere(np.isfinite(ratio)):
        dark = shade[i, j] > 2.6 or shade[i, j] < -1.3
        text = f"{ratio[i, j]:.2g}" if ratio[i, j] < 100 else "≫"
        axis.text(j, i, text, ha="center", va="center", fontsize=7.5, color="w" if dark else "k")
    for i in range(1, len(shown)):
        if shown[i].group != shown[i - 1].group:
            axis.axhline(i - 0.5, color="0.35", lw=0.8)
    axis.set_yticks(range(len(names)), names, fontsize=8.5)
    labels = [plain_name(key) + (" †" if is_told(key) else "") for key in keys]
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    axis.set_xticks(range(len(keys)), labels, fontsize=8.5, **turned)
    axis.tick_params(length=0)
    title = "error / error of PeriodicMixture, on the seeds both have (red: less than ours)"
    axis.set_title(title, loc="left", fontsize=10)
    bar = figure.colorbar(image, ax=axis, pad=0.01, fraction=0.025)
    bar.set_ticks([-2, -1, 0, 1, 2, 3, 4], labels=["≤ ¼", "½", "1", "2", "4", "8", "≥ 16"])
    figure.savefig(path, dpi=DPI, bbox_inches="tight")
    return path


def _error_ratio(results: Results, problem: str, key: str) -> float:
    """Their median error over ours, on the seeds both have."""
    ours, theirs = Measure(results, (problem,), "error", "error", "").paired(OURS, key)
    return theirs / ours


def _periods(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Precision and recall of every method, for sinusoids and for links."""
    groups = {
        group: [e.name for e in entries if e.group == group and e.name in results.problems()]
        for group in (MIXTURES, LINKED)
    }
    every = [name for names in groups.values() for name in names]
    keys = [
        key
        for key in results.methods()
        if not is_told(key) and np.isfinite(results.mean(every, key, "recall"))
    ]
    if not keys:
        return None
    figure, axes = _panels(2, 5.6, 1.6 + 0.27 * len(keys))
    for axis, (group, names) in zip(axes, groups.items(), strict=True):
        for y, key in enumerate(keys):
            recall = results.mean(names, key, "recall")
            precision = results.mean(names, key, "precision")
            colour = _COLOURS["ours"] if key == OURS else "#023047"
            axis.plot([recall, precision], [y, y], color="0.75", lw=2, zorder=1)
            labels = ("precision of the periods", "recall of the fundamentals")
            first = y == 0
            axis.plot(
                precision, y, "o", ms=8, color=colour, zorder=3, label=labels[0] if first else None
            )
            axis.plot(
                recall, y, "D", ms=8, mfc="none", mec=colour, mew=1.8, zorder=4,
                label=labels[1] if first else None,
            )  # fmt: skip
            ran = sum(bool(results.values(name, key, "recall")) for name in names)
            if 0 < ran < len(names):
                axis.text(1.08, y, f"{ran} of {len(names)}", va="center", fontsize=7, color="0.4")
        axis.set(xlim=(-0.04, 1.06), ylim=(len(keys) - 0.5, -0.5))
        axis.set_title(f"{group}", loc="left")
    axes[0].set_yticks(range(len(keys)), [plain_name(key) for key in keys], fontsize=9)
    axes[1].set_yticks(range(len(keys)), [""] * len(keys))
    return _save(figure, axes, path)


def _present(results: Results, keys: Sequence[str]) -> list[str]:
    return [key for key in keys if key in results.methods()]


# Kin share a hue and differ in lightness; the markers differ within a hue.
_COLOURS = {
    "ours": "#c1121f", "limit": "#000000", "lombscargle": "#56b4e9",
    "lombscargle_refined": "#0072b2", "nifty_refined": "#03045e", "lasso_cv": "#8338ec",
    "lasso_lars_ic": "#c77dff", "omp_cv": "#2a9d8f", "skglm_mcp": "#ff5da2",
    "abess_pairs": "#f4a261", "abess_families": "#8a5a00", "prophet_told": "#6c757d",
}  # fmt: skip
_MARKERS = {
    "limit": "s", "lombscargle": "^", "lombscargle_refined": "v", "nifty_refined": "D",
    "lasso_cv": "s", "lasso_lars_ic": "P", "omp_cv": "X", "skglm_mcp": "<", "abess_pairs": ">",
    "abess_families": "h", "prophet_told": "p",
}  # fmt: skip


def _style(key: str) -> dict[str, Any]:
    """Ours is broad and lies beneath, so that what coincides with it can be seen."""
    return {
        "color": _COLOURS.get(key, "0.5"),
        "lw": 4.5 if key == OURS else 1.4,
        "ls": "--" if is_told(key) else "-",
        "marker": _MARKERS.get(key, "o"),
        "ms": 9 if key == OURS else 5,
        "zorder": 2 if key == OURS else 3,
    }


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _panels(count: int, width: float, height: float = 4.3) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * count, height), layout="constrained")
    return figure, figure.subplots(1, count)


def _save(figure: Any, axes: Any, path: Path) -> Path:
    """Save with one legend for all panels, below them."""
    entries: dict[str, Any] = {}
    for axis in axes:
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(
        entries.values(), entries.keys(), loc="outside lower center", ncols=4, fontsize=8.5,
        frameon=False,
    )  # fmt: skip
    figure.savefig(path, dpi=DPI)
    return path
