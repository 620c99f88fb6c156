"""How long a fit takes: ten tones in noise, from 10⁴ to 10⁶ samples, and LassoCV beside it.

Seconds of the processor on one core, in a process of its own, after a small fit that loads what
has to be loaded: other work on the machine does not count. Medians over seeds. The tones lie one in
each tenth of the band: two that the record cannot resolve would be another problem, and slower.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.verdicts import Verdict, spread
from robustfourier.plots.figure_files import save_figure
from robustfourier.plots.style import SOFT, colour

FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "speed.png"
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
FIRST_SEED = 100

_MEASURE = """
import json, resource, sys, time
import numpy as np
method, n, top, even, seed = sys.argv[1], *map(int, sys.argv[2:])
rng = np.random.default_rng(seed)
t = np.linspace(-1, 1, n) if even else np.sort(rng.uniform(-1, 1, n))
modes, y = 5 + 0.09 * top * (np.arange(10) + rng.uniform(0.1, 0.9, 10)), rng.normal(size=n)
for mode in modes:
    y += rng.uniform(0.3, 1.0) * np.cos(np.pi * mode * t - rng.uniform(0, 6))
if method == "ours":
    from robustfourier import PeriodicMixture
    model = PeriodicMixture(max_frequency=min(n / 2, 10_000) / 2)
    work = lambda t, y: len(model.fit(t, y).modes_.mode)
else:
    from benchmarks.peers.face import Told
    from benchmarks.peers.methods import lasso_cv
    work = lambda t, y: len(lasso_cv.fit(t, y, Told(np.empty(0), 400.0, True, span=2.0)).periods)
work(t[:: n // 200], y[:: n // 200])
start = time.process_time()
lines = work(t, y)
seconds = time.process_time() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, lines]))
"""


def measured(
    method: str, n: int, top: int, even: bool, seeds: Iterable[int]
) -> tuple[float, float, float]:
    """Median seconds, largest gigabytes and median number of lines over seeds.

    Parameters
    ----------
    method : {"ours", "lasso"}
    n : int
        Samples.
    top : int
        The tones lie below nine tenths of this mode.
    even : bool
        Even or irregular samples.
    seeds : iterable of int
    """
    one_core = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    runs = []
    for seed in seeds:
        numbers = [str(int(number)) for number in (n, top, even, seed)]
        command = [sys.executable, "-c", _MEASURE, method, *numbers]
        runs.append(json.loads(subprocess.check_output(command, text=True, env=one_core)))
    seconds, peak, lines = np.array(runs, dtype=float).T
    return float(np.median(seconds)), float(peak.max()), float(np.median(lines))


def main(quick: bool = False) -> list[Verdict]:
    """Measure all of it."""
    return list(speed_rows(quick))


def speed_rows(quick: bool) -> Iterable[Verdict]:
    """Seconds at 10⁴ samples, LassoCV on the same samples, and growth up to 10⁶."""
    seeds = range(FIRST_SEED, FIRST_SEED + (1 if quick else 5))
    for even in (True, False):
        kind = "even" if even else "irregular"
        seconds, _, lines = measured("ours", 10_000, 5000, even, seeds)
        yield Verdict(
            f"10⁴ {kind} samples, 5000 modes", "≤ 1 s",
            f"{seconds:.2f} s, {lines:.0f} of 10 lines", seconds <= 1.0,
        )  # fmt: skip
        yield lasso_row(kind, seeds)
    yield from growth_rows(SIZES[:2] if quick else SIZES, seeds[:3])


def lasso_row(kind: str, seeds: range) -> Verdict:
    """Time LassoCV on 400 modes and ours on 5000, in turns, on tones that both reach."""
    ours, lasso = (
        np.array(runs)
        for runs in zip(
            *(
                [measured(m, 10_000, 400, kind == "even", [seed]) for m in ("ours", "lasso")]
                for seed in seeds
            ),
            strict=True,
        )
    )
    ratio = float(np.median(lasso[:, 0] / ours[:, 0]))
    (seconds, _, lines), (theirs, _, many) = np.median(ours, axis=0), np.median(lasso, axis=0)
    return Verdict(
        f"10⁴ {kind} samples, LassoCV on 400 modes", "≥ 5 × slower",
        f"{theirs:.2f} s ({many:.0f} lines), ours {seconds:.2f} s ({lines:.0f} of 10): "
        f"{ratio:.1f} ×", ratio >= 5.0,
    )  # fmt: skip


def growth_rows(sizes: tuple[int, ...], seeds: range) -> Iterable[Verdict]:
    """Seconds and memory at the largest size, and the growth against n log n."""
    runs = {
        kind: np.array(
            [
                [measured("ours", n, min(10_000, n // 2), kind == "even", [s]) for s in seeds]
                for n in sizes
            ]
        )
        for kind in ("even", "irregular")
    }
    n = np.array(sizes, dtype=float)
    for kind, rows in runs.items():
        (seconds, _, lines), peak = np.median(rows[-1], axis=0), rows[-1, :, 1].max()
        yield Verdict(
            f"{sizes[-1]:.0e} {kind} samples, 10⁴ modes", "≤ 20 s, ≤ 1.5 GB",
            f"{seconds:.1f} s, {peak:.2f} GB, {lines:.0f} of 10 lines",
            bool(seconds <= 20.0 and peak <= 1.5),
        )  # fmt: skip
        times = np.median(rows[:, :, 0], axis=1)
        exponent = growth_exponent(n, times)
        listed = ", ".join(f"{value:.2f}" for value in times)
        yield Verdict(
            f"time from {sizes[0]:.0e} to {sizes[-1]:.0e} {kind} samples",
            "grows no faster than n log n (fitted exponent of n log n ≤ 1)",
            f"(n log n)^{exponent:.2f}: {listed} s; docs/figures/{FIGURE.name}", exponent <= 1.0,
        )  # fmt: skip
    if sizes[-1] == SIZES[-1]:  # a quick run leaves the figure of the last full one
        draw_growth(n, {kind: rows[:, :, 0] for kind, rows in runs.items()})


def growth_exponent(n: np.ndarray, seconds: np.ndarray) -> float:
    """Return a of the straight line log seconds = a log(n log n) + b through all sizes."""
    return float(np.polyfit(np.log(n * np.log(n)), np.log(seconds), 1)[0])


def draw_growth(n: np.ndarray, seconds: dict[str, np.ndarray]) -> None:
    """Draw seconds of each size and seed, with n log n through the first size, as PNG and PDF."""

    def drawing(figure: Any) -> None:
        axes = figure.add_subplot()
        for i, (kind, values) in enumerate(seconds.items()):
            axes.errorbar(
                *(n, np.median(values, axis=1), spread(values)), fmt="os"[i % 2] + "-",
                color=colour(i), capsize=3, label=f"{kind} samples",
            )  # fmt: skip
        start = min(float(np.median(values[0])) for values in seconds.values())
        law = n * np.log(n)
        axes.plot(n, start * law / law[0], color=SOFT, linestyle=":", label="n log n")
        axes.set(xscale="log", yscale="log", xlabel="samples n", ylabel="seconds of one core")
        axes.set_title("Ten tones in noise, up to 10⁴ modes (median and range of three)")
        axes.legend()

    save_figure(FIGURE, (6.4, 4.4), drawing)
