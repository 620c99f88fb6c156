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
    "omp_cv", "abess_pairs", "prophet_told",
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
    """Seconds and memory against the number of samples."""
    sizes = [(e.size, e.name) for e in entries if e.group == SIZE and e.size is not None]
    sizes = [(n, name) for n, name in sizes if name in results.problems()]
    if not sizes:
        return None
    figure, axes = _panels(2, 5.0)
    titles = {"seconds": "seconds on one core", "megabytes": "peak memory, MB"}
    for axis, (column, title) in zip(axes, titles.items(), strict=True):
        for key in _present(results, TIMED):
            values = np.array([results.median(name, key, column) for _, name in sizes])
            if np.isfinite(values).any():
                n = [size for size, _ in sizes]
                floor = 1e-3 if column == "seconds" else 1.0
                shown = np.maximum(values, floor)
                axis.plot(n, shown, label=plain_name(key), **_style(key))
        axis.set(xscale="log", yscale="log", xlabel="samples n")
        axis.set_title(title, loc="left")
    start = results.median(sizes[0][1], OURS, "seconds")
    if np.isfinite(start):
        n = np.array([size for size, _ in sizes], dtype=float)
        slope = start * n * np.log(n) / (n[0] * np.log(n[0]))
        axes[0].plot(n, slope, color="0.7", lw=1, ls=":", label="n log n")
    return _save(figure, axes, path)


def _ratios(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Error of every method over ours, on every problem."""
    from matplotlib.colors import TwoSlopeNorm

    names = [e.name for e in entries if e.group != SIZE and results.values(e.name, OURS, "error")]
    keys = [key for key in results.methods() if key != OURS]
    if not names or not keys:
        return None
    ratio = np.array([[_error_ratio(results, name, key) for key in keys] for name in names])
    figure, axis = _figure(2.6 + 0.42 * len(keys), 1.9 + 0.24 * len(names))
    with np.errstate(divide="ignore"):
        shade = np.clip(np.log2(ratio), -2, 4)
    image = axis.imshow(shade, cmap="RdBu", norm=TwoSlopeNorm(0.0, -2.0, 4.0), aspect="auto")
    for i, j in np.argwhere(np.isfinite(ratio)):
        dark = shade[i, j] > 2.6 or shade[i, j] < -1.3
        text = f"{ratio[i, j]:.2g}" if ratio[i, j] < 100 else "≫"
        axis.text(j, i, text, ha="center", va="center", fontsize=6, color="w" if dark else "k")
    axis.set_yticks(range(len(names)), names, fontsize=7)
    labels = [plain_name(key) + (" †" if is_told(key) else "") for key in keys]
    axis.set_xticks(range(len(keys)), labels, rotation=60, ha="right", fontsize=7)
    axis.set_title("error / error of PeriodicMixture (red: less than ours)", loc="left", fontsize=9)
    bar = figure.colorbar(image, ax=axis, pad=0.01, fraction=0.03)
    bar.set_ticks([-2, -1, 0, 1, 2, 3, 4], labels=["¼", "½", "1", "2", "4", "8", "16"])
    figure.savefig(path, dpi=DPI, bbox_inches="tight")
    return path


def _error_ratio(results: Results, problem: str, key: str) -> float:
    """Their median error over ours, on the seeds both have."""
    ours, theirs = Measure(results, (problem,), "error", "error", "").paired(OURS, key)
    return theirs / ours


def _periods(results: Results, entries: Sequence[Entry], path: Path) -> Path | None:
    """Precision against recall, for sinusoids and for links."""
    figure, axes = _panels(2, 4.6)
    drawn = False
    for axis, group in zip(axes, (MIXTURES, LINKED), strict=True):
        names = [e.name for e in entries if e.group == group]
        for key in results.methods():
            recall = results.mean(names, key, "recall")
            precision = results.mean(names, key, "precision")
            if np.isfinite(recall) and np.isfinite(precision) and not is_told(key):
                drawn = True
                axis.plot(recall, precision, label=plain_name(key), **_marker(key))
        axis.set(xlabel="recall of the fundamentals", xlim=(-0.03, 1.05), ylim=(-0.03, 1.05))
        axis.set_title(group, loc="left")
    axes[0].set_ylabel("precision of the periods")
    return _save(figure, axes, path) if drawn else None


def _present(results: Results, keys: Sequence[str]) -> list[str]:
    return [key for key in keys if key in results.methods()]


_COLOURS = {
    "ours": "#c1121f", "ours_integer": "#e76f51", "limit": "#000000", "lombscargle": "#8ecae6",
    "lombscargle_refined": "#219ebc", "nifty_refined": "#023047", "fft_threshold": "#7f5539",
    "lasso_cv": "#8338ec", "lasso_lars_ic": "#b388eb", "omp_cv": "#2a9d8f", "skglm_mcp": "#ff70a6",
    "abess_pairs": "#f4a261", "abess_families": "#bc6c25", "pyriodicity_auto": "#606c38",
    "prophet_told": "#6c757d", "paper_u0_diag": "#ffb703", "paper_u1_diag": "#fb8500",
}  # fmt: skip


def _style(key: str) -> dict[str, Any]:
    return {
        "color": _COLOURS.get(key, "0.5"),
        "lw": 2.4 if key == OURS else 1.3,
        "ls": "--" if is_told(key) else "-",
        "marker": "o",
        "ms": 5 if key == OURS else 3,
        "zorder": 5 if key == OURS else 2,
    }


def _marker(key: str) -> dict[str, Any]:
    shape = "*" if key == OURS else "os^vDPX<>"[sum(map(ord, key)) % 9]
    return {
        "color": _COLOURS.get(key, "0.5"), "marker": shape, "ls": "none", "alpha": 0.9,
        "ms": 14 if key == OURS else 8,
    }  # fmt: skip


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _panels(count: int, width: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * count, 3.9), layout="constrained")
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
        entries.values(), entries.keys(), loc="outside lower center", ncols=3, fontsize=8,
        frameon=False,
    )  # fmt: skip
    figure.savefig(path, dpi=DPI)
    return path
