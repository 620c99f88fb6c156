"""Known periods: power beside the plain cosinor F-test, p of noise, false discoveries, speed.

Every row draws its series anew and is measured on all of them as one survey.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy import stats

from benchmarks.verdicts import Verdict, fresh_start
from robustfourier import rhythm
from robustfourier.arrays import FloatArray

HOURS = np.arange(0.0, 48.0, 4.0)
DESIGNS = {
    "every 4 h for 2 d": HOURS,
    "every 2 h for 2 d": np.arange(0.0, 48.0, 2.0),
    "every 4 h, 2 replicates": np.repeat(HOURS, 2),
}
LEVEL = 0.01  # of the tests whose power is counted


def main(quick: bool = False) -> list[Verdict]:
    """Run all rows."""
    seed = fresh_start()
    print(f"seed {seed}", flush=True)
    rng = np.random.default_rng(seed)
    verdicts = []
    for row in (power_row, noise_row, discovery_row, cells_row):
        for verdict in row(rng, quick):
            print(f"{verdict.word}: {verdict.case}: {verdict.measured}", flush=True)
            verdicts.append(verdict)
    return verdicts


def plain_p(times: FloatArray, values: FloatArray) -> FloatArray:
    """The cosinor F-test at 24 h."""
    angle = 2 * np.pi * times / 24
    full = np.stack([np.ones_like(times), np.cos(angle), np.sin(angle)], axis=1)
    freedom = len(times) - 3
    rest = np.sum((values - full @ np.linalg.lstsq(full, values, rcond=None)[0]) ** 2, axis=0)
    total = np.sum((values - values.mean(axis=0)) ** 2, axis=0)
    return np.asarray(stats.f.sf((total - rest) / 2 / (rest / freedom), 2, freedom))


def cosines(times: FloatArray, rng: Generator, count: int, amplitude: float) -> FloatArray:
    """Cosines of 24 h with phases at random."""
    return amplitude * np.cos(2 * np.pi * (times[:, None] - rng.uniform(0, 24, count)) / 24)


def ar1(rng: Generator, n: int, count: int, rho: float) -> FloatArray:
    """Noise of unit variance whose neighbours are correlated."""
    found = rng.normal(size=(n, count))
    for i in range(1, n):
        found[i] = rho * found[i - 1] + np.sqrt(1 - rho**2) * found[i]
    return found


def power_row(rng: Generator, quick: bool) -> list[Verdict]:
    """Share of series of amplitude 2 σ whose rhythm is found."""
    count, verdicts = 200 if quick else 2000, []
    for name, times in DESIGNS.items():
        values = cosines(times, rng, count, 2.0) + rng.normal(size=(len(times), count))
        ours = float((rhythm(times, values, 24.0).table["p"] < LEVEL).mean())
        plain = float((plain_p(times, values) < LEVEL).mean())
        measured = f"{ours:.3f} beside {plain:.3f} ({count} series, p < {LEVEL})"
        case = f"power at 2 σ, {name}"
        verdicts.append(Verdict(case, "≥ F-test − 0.01", measured, ours >= plain - 0.01))
    return verdicts


def noise_row(rng: Generator, quick: bool) -> list[Verdict]:
    """Uniformity of p under white and AR(1) noise."""
    count, verdicts = 200 if quick else 2000, []
    for name, times in DESIGNS.items():
        chains = 1 + int(len(np.unique(times)) < len(times))
        for rho in (0.0, 0.3, 0.6, 0.9):
            parts = [ar1(rng, len(times) // chains, count, rho) for _ in range(chains)]
            values = np.stack(parts, axis=1).reshape(len(times), count)
            p = rhythm(times, values, 24.0).table["p"]
            same = float(stats.kstest(p, "uniform").pvalue)
            measured = f"KS p {same:.3f}; p < 0.05 in {(p < 0.05).mean():.3f}"
            case = f"noise alone, ρ = {rho}, {name}"
            verdicts.append(Verdict(case, "KS p > 0.01", measured, same > 0.01))
    return verdicts


def discovery_row(rng: Generator, quick: bool) -> list[Verdict]:
    """12,868 genes of which 2,000 cycle: seconds, and the share of false ones at q = 0.05."""
    count, cycling = (1286, 200) if quick else (12868, 2000)
    values = rng.normal(size=(12, count))
    values[:, :cycling] += cosines(HOURS, rng, cycling, 3.0)
    start = time.perf_counter()
    found = rhythm(HOURS, values, 24.0)
    seconds = time.perf_counter() - start
    hits = found.significant(0.05)["id"].astype(int)
    false = float((hits >= cycling).mean())
    # Benjamini and Hochberg promise 0.05 · 10868 / 12868 on average; three standard errors more.
    bound = 0.05 + 3 * np.sqrt(0.05 / max(len(hits), 1))
    return [
        Verdict(f"{count:,} × 12", "≤ 60 s", f"{seconds:.2f} s", seconds <= 60),
        Verdict("q ≤ 0.05", "5 % false", f"{false:.3f} of {len(hits):,}", false <= bound),
    ]


def cells_row(rng: Generator, quick: bool) -> list[Verdict]:
    """10⁶ cells × 1,000 times from a file: seconds by the clock and of the processor, memory."""
    count = 10_000 if quick else 1_000_000
    times, memory = np.arange(1000.0), [0.0]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cells.npy"
        cells = np.lib.format.open_memmap(path, "w+", np.float32, (1000, count))
        for i in range(1000):
            cells[i] = rng.standard_normal(count, np.float32)
        del cells
        stored = np.load(path, mmap_mode="r")
        start = time.perf_counter(), time.process_time()
        found = rhythm(times, stored, 24.0, observe=lambda *_: memory.append(own_memory()))
        memory.append(own_memory())
        wall, seconds = time.perf_counter() - start[0], time.process_time() - start[1]
    p = found.table["p"][:: max(count // 2000, 1)]
    same = float(stats.kstest(p, "uniform").pvalue)
    parts = f"{wall:.1f} s ({seconds:.1f} s of the processor)"
    measured = f"{parts}, {max(memory):.2f} GB, KS p {same:.2f}"
    passed = wall <= 60 and max(memory) <= 2.0
    return [Verdict(f"{count:,} cells × 1,000 times", "≤ 60 s, ≤ 2 GB", measured, passed)]


def own_memory() -> float:
    """Gigabytes of this process that are no pages of files, which the system may drop."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 2**20
    return float("nan")
