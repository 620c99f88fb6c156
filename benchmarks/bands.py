"""Several bands, one period: simulated RR Lyrae at a cadence like that of Stripe 82.

55 nights in 9 autumns, each near the same sidereal time, five bands; all of them every night
(dense), or one band a night (sparse). Nothing is given of the period.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.random import Generator

from benchmarks.verdicts import Verdict, fresh_start, judged
from robustfourier import MultibandMixture
from robustfourier.arrays import FloatArray

NIGHTS, SEASONS = 55, 9
#: Amplitude over that of g, error in magnitudes, and phase against g, of u, g, r, i, z.
BANDS = {
    "u": (0.95, 0.035, 0.010),
    "g": (1.00, 0.020, 0.0),
    "r": (0.70, 0.020, -0.010),
    "i": (0.56, 0.020, -0.015),
    "z": (0.52, 0.030, -0.020),
}
#: Relative amplitudes and phases of six harmonics, of types ab and c.
AB = (np.array([1, 0.48, 0.34, 0.22, 0.14, 0.09]), np.array([0, 3.9, 1.9, 6.0, 4.0, 2.0]))
C = (np.array([1, 0.15, 0.06, 0, 0, 0]), np.array([0, 4.8, 3.0, 0, 0, 0]))


def main(quick: bool = False, stars: int = 500) -> list[Verdict]:
    """Run both rows."""
    start = fresh_start()
    print(f"seeds from {start}", flush=True)
    count = 4 if quick else stars
    verdicts = []
    for sparse, bar in ((False, 0.92), (True, 0.80)):
        verdict = row(start, count, sparse, bar)
        print(f"{verdict.word}: {verdict.case}: {verdict.measured}", flush=True)
        verdicts.append(verdict)
    return verdicts


def nights(rng: Generator) -> FloatArray:
    """Times of nights: 90 days of each autumn, within two hours of one sidereal time."""
    days = np.zeros(0)
    while len(days) < NIGHTS:
        more = 365.25 * rng.integers(0, SEASONS, NIGHTS) + rng.uniform(0, 90, NIGHTS)
        days = np.unique(np.concatenate([days, np.floor(more)]))
    days = np.sort(rng.choice(days, NIGHTS, replace=False))
    return np.asarray(days * 365.25 / 366.25 + 0.3 + rng.uniform(-0.08, 0.08, NIGHTS))


def star(
    rng: Generator, sparse: bool
) -> tuple[FloatArray, FloatArray, FloatArray, list[str], float]:
    """Times, magnitudes, errors, bands and the true period."""
    night, ab = nights(rng), rng.random() < 0.75
    ratios, phases = AB if ab else C
    period = rng.uniform(0.45, 0.8) if ab else rng.uniform(0.26, 0.42)
    height = rng.uniform(0.3, 0.65) if ab else rng.uniform(0.18, 0.28)
    phases = phases + rng.normal(0, 0.15, 6) + 2 * np.pi * rng.uniform() * np.arange(1, 7)
    chosen = rng.integers(0, len(BANDS), NIGHTS)
    rows: list[tuple[FloatArray, ...]] = []
    for b, (ratio, error, shift) in enumerate(BANDS.values()):
        kept = chosen == b if sparse else np.ones(NIGHTS, bool)
        times = night[kept] + b * 72.0 / 86400.0
        own = height * ratio * ratios * np.append(1.0, rng.normal(1, 0.05, 5))
        angle = 2 * np.pi * (times / period + shift)
        wave = sum(own[k] * np.cos((k + 1) * angle + phases[k]) for k in range(6))
        errors = error * rng.uniform(0.8, 1.6, len(times))
        rows.append((times, 17 - 0.3 * b + wave + errors * rng.normal(size=len(times)), errors))
    names = [name for name, (times, *_) in zip(BANDS, rows, strict=True) for _ in times]
    joined = [np.concatenate(each) for each in zip(*rows, strict=True)]
    return joined[0], joined[1], joined[2], names, float(period)


def row(start: int, count: int, sparse: bool, bar: float) -> Verdict:
    """Share of stars whose period is right to one cycle over the record, and errors in units."""
    right, scaled, began = 0, [], time.process_time()
    for seed in range(start, start + count):
        times, values, errors, band, period = star(np.random.default_rng(seed), sparse)
        model = MultibandMixture(unit="day").fit(times, values, band=band, y_err=errors)
        off = abs(model.frequency_ - 1 / period) * np.ptp(times)
        right += off < 1
        if off < 1:
            scaled.append((model.period_ - period) / model.period_error_)
    share = right / count
    inside = float(np.mean(np.abs(scaled) < 1)) if scaled else float("nan")
    seconds = (time.process_time() - began) / count
    name = "one band a night" if sparse else "five bands every night"
    measured = f"{share:.1%} of {count}; {inside:.0%} within one error; {seconds:.2f} s each"
    return Verdict(f"RR Lyrae, {name}", f"≥ {bar:.0%} exact", measured, judged(share >= bar, count))
