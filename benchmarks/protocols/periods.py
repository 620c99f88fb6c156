"""RobustPeriod's synthetic protocol: precision, recall and F1 of the periods that are reported.

``python -m benchmarks.protocols periods`` draws every cell of shape × periods × severity (see
`benchmarks.ordinary.robust_period`) and asks each method for the periods. A reported period is
right if it is the true one after rounding (±0) or within 2 %; each true one can be found once.

Settings. Ours: `PeriodicMixture()`, patterns above 1 % of the variance, with
the periods reported within them. pyriodicity: Autoperiod,
SAZED and RobustPeriod with their defaults (linear detrending), the first two raw and after a
Hodrick-Prescott filter whose smoothing parameter halves the amplitude at a period of 400 samples,
(2 sin(π/400))⁻⁴ = 1.6e7; RobustPeriod is given the same parameter for its own filter.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.sparse import diags, eye
from scipy.sparse.linalg import spsolve

from benchmarks.ordinary.robust_period import SEVERITY, SHAPES, SINGLE, TRIPLE, protocol
from benchmarks.protocols.installed_methods import chosen
from benchmarks.rows import Row, keep
from benchmarks.verdicts import fresh_start, markdown
from robustfourier.arrays import FloatArray

SMOOTHING = float((2.0 * np.sin(np.pi / 400.0)) ** -4)
TOLERANCES = (0.0, 0.02)
KEY = ("method", "shape", "periods", "variance", "start", "draws")


def without_trend(y: FloatArray, smoothing: float = SMOOTHING) -> FloatArray:
    """Take off the trend of Hodrick and Prescott, (1 + λ D'D)⁻¹ y with second differences D."""
    n = len(y)
    second = diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(n - 2, n))
    return np.asarray(y - spsolve((eye(n) + smoothing * second.T @ second).tocsc(), y))


def ours(y: FloatArray) -> list[float]:
    """Patterns of `PeriodicMixture` above 1 %, and the periods reported within them."""
    from robustfourier import PeriodicMixture

    found = PeriodicMixture().fit(np.arange(float(len(y))), y).components_
    return [float(p) for c in found if c.share > 0.01 for p in (c.period, *c.nested)]


def autoperiod(y: FloatArray) -> list[float]:
    """Autoperiod with its defaults."""
    from pyriodicity import Autoperiod

    return [float(period) for period in Autoperiod.detect(y, seed=0)]


def sazed(y: FloatArray) -> list[float]:
    """SAZED with its defaults: one period, or none."""
    from pyriodicity import SAZED

    period = SAZED.detect(y)
    return [] if period is None else [float(period)]


def robust_period(y: FloatArray) -> list[float]:
    """RobustPeriod as pyriodicity has it."""
    from pyriodicity import RobustPeriod

    return [float(p) for p in RobustPeriod.detect(y, lamb=SMOOTHING, max_worker_count=1)]


METHODS: dict[str, tuple[str, Callable[[FloatArray], list[float]]]] = {
    "PeriodicMixture": ("robustfourier", ours),
    "Autoperiod": ("pyriodicity", autoperiod),
    "Autoperiod, detrended": ("pyriodicity", lambda y: autoperiod(without_trend(y))),
    "SAZED": ("pyriodicity", sazed),
    "SAZED, detrended": ("pyriodicity", lambda y: sazed(without_trend(y))),
    "RobustPeriod": ("pyriodicity", robust_period),
}


def matched(reported: Sequence[float], truth: Sequence[float], tolerance: float) -> int:
    """Count true periods that are reported; each reported one stands for one.

    Examples
    --------
    >>> matched([99.7, 99.9, 21.0], [20, 100], 0.0), matched([98.5, 21.0], [20, 100], 0.02)
    (1, 1)
    """
    left = list(reported)
    count = 0
    for period in truth:
        near = [p for p in left if abs((round(p) if tolerance == 0.0 else p) - period)
                <= tolerance * period]  # fmt: skip
        if near:
            left.remove(min(near, key=lambda p: abs(p - period)))
            count += 1
    return count


def cell(method: str, shape: str, periods: tuple[int, ...], severity: int, start: int,
         draws: int) -> Row:  # fmt: skip
    """Run one cell; a method that fails reports nothing."""
    variance, outliers = SEVERITY[severity]
    reported, failed = [], 0
    clock = time.process_time()
    for seed in range(start, start + draws):
        key = crc32(f"{shape}/{periods}/{severity}".encode())
        _, y, _, _ = protocol(np.random.default_rng([seed, key]), periods, shape, variance,
                              outliers)  # fmt: skip
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reported.append(METHODS[method][1](y))
        except Exception:
            failed += 1
            reported.append([])
    hits = {tol: sum(matched(found, periods, tol) for found in reported) for tol in TOLERANCES}
    return {
        "method": method, "shape": shape, "periods": len(periods), "variance": variance,
        "outliers": outliers, "start": start, "draws": draws, "failed": failed,
        "reported": sum(map(len, reported)), "true": draws * len(periods),
        "right_0": hits[0.0], "right_2": hits[0.02],
        "seconds": round((time.process_time() - clock) / draws, 4),
    }  # fmt: skip


def f1(rows: Sequence[Row], name: str) -> tuple[float, float, float]:
    """Precision, recall and F1 over rows; `name` is right_0 or right_2."""
    right, found, true = (sum(row[key] for row in rows) for key in (name, "reported", "true"))
    precision, recall = right / found if found else 0.0, right / true
    return precision, recall, 2.0 * right / (found + true)


def table(rows: Sequence[Row]) -> str:
    """One line per method: one period and three, by severity; precision / recall / F1 at ±2 %."""
    cells = [(count, variance) for count in (1, 3) for variance, _ in SEVERITY]
    head = ["method"]
    head += [f"{'one' if c == 1 else 'three'}, noise {v:g}" for c, v in cells]
    head += ["F1, ±2 %", "F1, ±0", "seconds"]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        line = [method]
        for count, variance in cells:
            here = [r for r in mine if r["periods"] == count and r["variance"] == variance]
            line.append(" / ".join(f"{x:.2f}" for x in f1(here, "right_2")) if here else "–")
        line += [f"{f1(mine, name)[2]:.2f}" for name in ("right_2", "right_0")]
        lines.append([*line, f"{np.mean([row['seconds'] for row in mine]):.2f}"])
    return markdown(head, lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the protocol and print the table of all rows in the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.protocols periods",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--draws", type=int, default=10, help="of each of 18 cells (default: 10)")
    parser.add_argument("--start", type=int, help="first seed (default: a fresh one)")
    parser.add_argument("--methods", default="", help=f"of {', '.join(METHODS)}, by semicolons")
    parser.add_argument("--rows", type=Path, help="file of rows, one JSON object per line")
    options = parser.parse_args(arguments)
    packages = {name: package for name, (package, _) in METHODS.items()}
    methods = chosen(parser, options.methods, packages)
    start = fresh_start() if options.start is None else options.start
    print(f"seeds from {start}", flush=True)
    rows: list[Row] = []
    for method in methods:
        for shape in SHAPES:
            for periods in (SINGLE, TRIPLE):
                for severity in range(len(SEVERITY)):
                    rows.append(cell(method, shape, periods, severity, start, options.draws))
        print(f"{method}: F1 {f1([r for r in rows if r['method'] == method], 'right_2')[2]:.2f}",
              flush=True)  # fmt: skip
        everything = keep(options.rows, rows, KEY)
    print("\nPrecision / recall / F1 at ±2 %:\n\n" + table(everything))
    return 0
