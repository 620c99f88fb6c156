"""Known periods in a million series: seconds and memory.

Power, levels and false discoveries are promised by `tests/cosinor/test_rhythm.py`.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.verdicts import Verdict, fresh_start
from robustfourier import rhythm


def main(quick: bool = False) -> list[Verdict]:
    """10⁶ cells × 1,000 times from a file: seconds by the clock and of the processor, memory."""
    seed = fresh_start()
    print(f"seed {seed}", flush=True)
    rng = np.random.default_rng(seed)
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
