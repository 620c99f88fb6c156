"""One long record as a Parquet data set: rate, memory, and growth with the number of rows."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.verdicts import Verdict
from robustfourier import fit_large

PART = 2_000_000  # rows of a file
MEMORY, GROWTH = 1.5, 1.05  # GB, and exponent
PERIODS = (7.31, 3.131, 0.5171)


def write_record(folder: Path, rows: int, seed: int) -> None:
    """Write a record of three patterns and noise, part by part."""
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, rows, PART):
        rng = np.random.default_rng([seed, start])
        count = min(PART, rows - start)
        t = 1000.0 / rows * (start + np.arange(count) + rng.uniform(size=count))
        y = np.cos(2 * np.pi * t / PERIODS[0]) + 0.4 * np.cos(4 * np.pi * t / PERIODS[0] + 1.0)
        y += 0.3 * np.cos(2 * np.pi * t / PERIODS[1]) + 0.1 * np.cos(2 * np.pi * t / PERIODS[2])
        y += 2.0 * rng.normal(size=count)
        frame = pd.DataFrame({"t": t, "y": y})
        frame.to_parquet(folder / f"{start // PART:05d}.parquet", index=False)


def measure(folder: Path, rows: int, loss: str) -> dict[str, float]:
    """Fit in a process of its own; processor seconds of passes and of the fit, and memory."""
    code = f"from benchmarks.many.record import _child; _child({str(folder)!r}, {loss!r})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return {"rows": rows, **json.loads(done.stdout.splitlines()[-1])}


def _child(folder: str, loss: str) -> None:
    stamps: list[tuple[str, float]] = []
    start = time.process_time()
    found = fit_large(
        folder,
        time="t",
        value="y",
        loss=loss,
        observe=lambda what: stamps.append(
            (f"{what} after {_gigabytes():.2f} GB", time.process_time())
        ),
    )
    stamps.append(("end", time.process_time()))
    spans = [(a, u - t) for (a, t), (_, u) in pairwise(stamps)]
    scan = sum(s for what, s in spans if what.startswith("pass"))
    errors = [
        abs(c.period - truth) / c.period_error
        for c, truth in zip(found.model.components_, PERIODS, strict=False)
    ]
    print([what for what, _ in stamps], file=sys.stderr)
    report = {
        "passes": found.passes,
        "passing": scan,
        "fitting": sum(s for what, s in spans if what.startswith("fitting")),
        "seconds": time.process_time() - start,
        "gigabytes": _gigabytes(),
        "patterns": len(found.model.components_),
        "worst": max(errors, default=np.nan),
        "cores": len(os.sched_getaffinity(0)),
    }
    print(json.dumps(report))


def _gigabytes() -> float:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def record(folder: Path, sizes: list[int], seed: int, loss: str) -> list[Verdict]:
    """Write, fit and judge records of several lengths."""
    runs = []
    for rows in sizes:
        place = folder / f"{rows}"
        if not place.exists():
            write_record(place, rows, seed)
        runs.append(measure(place, rows, loss))
        print(runs[-1], flush=True)
    verdicts = [
        Verdict(
            f"{run['rows']:,.0f} rows, {loss} loss",
            f"≤ {MEMORY} GB",
            f"{run['passes']} passes, {run['rows'] * run['passes'] / run['passing'] / 1e6:.2f} "
            f"million rows/s per core, {run['fitting']:.0f} s for the fit, "
            f"{run['gigabytes']:.2f} GB, {run['patterns']} of 3 patterns, periods off by at most "
            f"{run['worst']:.1f} standard errors",
            run["gigabytes"] <= MEMORY,
        )
        for run in runs
    ]
    if len(runs) > 1:
        first, last = runs[0], runs[-1]
        ratio = np.log(last["rows"] / first["rows"])
        whole = np.log(last["seconds"] / first["seconds"]) / ratio
        passing = np.log(last["passing"] / first["passing"]) / ratio
        verdicts.append(
            Verdict(
                f"growth from {first['rows']:,.0f} to {last['rows']:,.0f} rows",
                f"exponent ≤ {GROWTH}",
                f"{whole:.2f} in all, {passing:.2f} of the passes alone",
                bool(max(whole, passing) <= GROWTH),
            )
        )
    return verdicts
