"""Living patterns, simulated: told as one pattern, with a true period and a true coherence or not.

``python -m benchmarks living`` draws patterns of three harmonics whose amplitude,
phase or shape wanders, over 60 cycles, with three coherences, on even and irregular samples.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.living_limit import known_coherence
from benchmarks.verdicts import Verdict, judged, unseen_seeds
from robustfourier import PeriodicMixture

FloatArray = NDArray[np.float64]

KINDS = ("amplitude", "phase", "shape")
COHERENCES = (5.0, 15.0, 45.0)
CYCLES, SAMPLES, NOISE = 60.0, 1000, 0.3
HEIGHTS = (1.0, 0.5, 0.25)
MODULATION = 0.6  # of the amplitude, where that wanders
QUANTILE = 1.645


def wandering(t: FloatArray, coherence: float, rng: np.random.Generator) -> FloatArray:
    """Exponential memory of unit variance (Ornstein and Uhlenbeck) at sorted times."""
    x = np.empty(len(t))
    x[0] = rng.normal()
    for i, kept in enumerate(np.exp(-np.diff(t) / coherence)):
        x[i + 1] = kept * x[i] + np.sqrt(1.0 - kept**2) * rng.normal()
    return x


def draw(
    kind: str, coherence: float, even: bool, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Times in cycles, values, and the phases of the three harmonics."""
    rng = np.random.default_rng([seed, KINDS.index(kind), int(coherence), even])
    t = np.linspace(0, CYCLES, SAMPLES) if even else np.sort(rng.uniform(0, CYCLES, SAMPLES))
    phases = rng.uniform(0, 2 * np.pi, 3)
    angle = 2 * np.pi * t
    y = np.zeros(SAMPLES)
    swell = 1.0 + MODULATION * wandering(t, coherence, rng)
    steps = np.sqrt(2.0 * np.diff(t, prepend=t[0]) / coherence)
    late = np.cumsum(steps * rng.normal(size=SAMPLES))
    for n, (height, phase) in enumerate(zip(HEIGHTS, phases, strict=True), start=1):
        if kind == "amplitude":
            y += height * swell * np.cos(n * angle - phase)
        elif kind == "phase":
            y += height * np.cos(n * (angle - late) - phase)
        else:
            c, s = wandering(t, coherence, rng), wandering(t, coherence, rng)
            y += height * ((1 + MODULATION * c) * np.cos(n * angle - phase))
            y += height * MODULATION * s * np.sin(n * angle - phase)
    return t, y + NOISE * rng.normal(size=SAMPLES), phases


def judge(kind: str, coherence: float, even: bool, seed: int) -> dict[str, float]:
    """One draw: how many patterns, whether period and coherence are right."""
    t, y, phases = draw(kind, coherence, even, seed)
    known = known_coherence(kind, t, y, phases, HEIGHTS, NOISE)
    limit = float(0.5 < known / coherence < 2.0)
    model = PeriodicMixture(scale="linear").fit(t, y)
    own = [c for c in model.components_ if abs(c.period - 1.0) < 0.1]
    if not own:
        return {"one": 0.0, "period": np.nan, "coherence": np.nan, "limit": limit}
    first = max(own, key=lambda c: c.share)
    off = abs(first.period - 1.0) / max(first.period_error, 1e-300)
    return {
        "one": float(len(model.components_) == 1),
        "period": float(off < QUANTILE),
        "coherence": float(0.5 < first.coherence / coherence < 2.0),
        "limit": limit,
        "ratio": float(first.coherence / coherence),
        "off": float(off),
        "patterns": float(len(model.components_)),
    }


def main(quick: bool = False) -> list[Verdict]:
    """Run all cells and judge the sums."""
    seeds = unseen_seeds(1 if quick else 30)
    rows: list[dict[str, float]] = []
    for kind, coherence, even in product(KINDS, COHERENCES, (True, False)):
        cell = [judge(kind, coherence, even, seed) for seed in seeds]
        rows += cell
        one, period, kept = (_mean(cell, name) for name in ("one", "period", "coherence"))
        sampling = "even" if even else "irregular"
        ratio = np.nanmedian([row.get("ratio", np.nan) for row in cell])
        print(
            f"{kind:10s} {coherence:4.0f} cycles, {sampling:9s}: one pattern {one:.2f}, "
            f"period {period:.2f}, coherence {kept:.2f} (median {ratio:.2f} of the truth; "
            f"told all else: {_mean(cell, 'limit'):.2f})",
            flush=True,
        )
    bars = {
        "one": ("told as one pattern", 0.90),
        "period": ("period in its 90 % interval", 0.87),
        "coherence": ("coherence within a factor of 2", 0.80),
    }
    print(f"told all but the coherence, within a factor of 2: {_mean(rows, 'limit'):.1%}")
    return [
        Verdict(
            f"living patterns, {len(rows)} draws",
            f"{words} in {bar:.0%}",
            f"{_mean(rows, name):.1%}",
            judged(_mean(rows, name) >= bar, len(rows)),
        )
        for name, (words, bar) in bars.items()
    ]


def _mean(rows: list[dict[str, Any]], name: str) -> float:
    values = [row[name] for row in rows]
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan
