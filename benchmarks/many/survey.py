"""Simulated light curves, a tenth of which vary: rate, overhead and false discoveries."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.verdicts import Verdict, judged
from robustfourier import fit_many

VARIABLE = 0.1  # part of the curves that have a period
OVERHEAD = 0.15


def light_curves(count: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Curves of 100 to 300 rows over two years with their errors; and the truth."""
    rng, frames, truth = np.random.default_rng(seed), [], []
    for i in range(count):
        n = int(rng.integers(100, 301))
        night = np.sort(rng.choice(730, n, replace=False)) + rng.uniform(0.0, 0.35, n)
        error = rng.uniform(0.7, 1.4, n) * 0.05
        period, height = 0.0, 0.0
        magnitude = 15.0 + error * rng.normal(size=n)
        if rng.uniform() < VARIABLE:
            period = float(np.exp(rng.uniform(np.log(0.3), np.log(100.0))))
            height = 0.05 * float(rng.uniform(0.5, 3.0))
            angle = 2 * np.pi * (night / period + rng.uniform())
            magnitude += height * (np.cos(angle) + 0.3 * np.cos(2 * angle))
        columns = {"star": f"V{i:06d}", "mjd": 59000.0 + night, "mag": magnitude, "e_mag": error}
        frames.append(pd.DataFrame(columns))
        truth.append({"id": f"V{i:06d}", "true_period": period, "height": height})
    return pd.concat(frames, ignore_index=True), pd.DataFrame(truth)


def survey(folder: Path, count: int, seed: int, jobs: int) -> list[Verdict]:
    """Fit them and count."""
    table, truth = light_curves(count, seed)
    before, clock = sum(os.times()[:4]), time.monotonic()
    found = fit_many(table, by="star", out=folder, jobs=jobs, reports="found", observe=_print)
    seconds, spent = time.monotonic() - clock, sum(os.times()[:4]) - before
    rows = found.series.merge(truth, on="id")
    fits = float(rows["seconds"].sum())
    overhead = max(1.0 - fits / spent, 0.0)
    claimed = rows[rows["q_value"] <= 0.05]
    false = int((claimed["true_period"] == 0).sum())
    raw = rows[rows["patterns"] > 0]
    falsely = int((raw["true_period"] == 0).sum())
    real = rows[rows["true_period"] > 0]
    seen = int((real["q_value"] <= 0.05).sum())
    case = f"{count:,} light curves, {jobs} processes"
    return [
        Verdict(
            case,
            "reported",
            f"{fits / count:.2f} s of processor per series (median "
            f"{rows['seconds'].median():.2f}), {count / seconds:.2f} series/s by the clock",
            None,
        ),
        Verdict(
            f"{case}: overhead",
            f"≤ {OVERHEAD:.0%} of all processor time",
            f"{overhead:.1%} of {spent:.0f} s",
            overhead <= OVERHEAD,
        ),
        Verdict(
            f"{case}: false discoveries",
            "≤ 5 % at q ≤ 0.05",
            f"{false} of {len(claimed)} ({false / max(len(claimed), 1):.1%}); without q "
            f"{falsely} of {len(raw)}; {seen} of {len(real)} variables found",
            # The expected share is 5 %; what is counted scatters around it as a Poisson number.
            judged(false <= 0.05 * len(claimed) + 2.0 * np.sqrt(0.05 * len(claimed)), len(claimed)),
        ),
    ]


def _print(progress: object) -> None:
    print(progress, flush=True)
