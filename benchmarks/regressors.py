"""Forecasts with another column: simulated load with temperature, against an oracle.

``python -m benchmarks.regressors --seeds 0-5`` draws eight weeks of hours: a day, weekends, weather
that wanders, an effect of the temperature and a price without any. The oracle is least squares that
is given day, weekend and that temperature counts. Both are given the next week's temperature; the
bar is a root mean square error of at most 1.1 times the oracle's.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.verdicts import markdown
from robustfourier import PeriodicMixture

FloatArray = NDArray[np.float64]
KNOWN, AHEAD, BAR = 1344, 168, 1.1


def draw(seed: int) -> tuple[FloatArray, pd.DataFrame]:
    """Return the load, and temperature and price beside it."""
    rng, count = np.random.default_rng(seed), KNOWN + AHEAD
    t, pushes, weather = np.arange(count), rng.normal(size=count), np.zeros(count)
    for i in range(1, count):
        weather[i] = 0.97 * weather[i - 1] + 0.7 * pushes[i]
    temperature = 12 + 4 * np.cos(2 * np.pi * (t - 15) / 24) + weather
    day = 3 * np.cos(2 * np.pi * t / 24 + 0.4) + 1.2 * np.cos(4 * np.pi * t / 24)
    price = rng.normal(size=count)
    noise = 0.8 * rng.normal(size=count)
    load = 50 + day - 3.0 * _weekend(t) - 0.8 * temperature + noise
    return load, pd.DataFrame({"temperature": temperature, "price": price})


def _weekend(t: NDArray[np.int64]) -> FloatArray:
    return ((t // 24) % 7 >= 5).astype(float)


def oracle(load: FloatArray, temperature: FloatArray) -> FloatArray:
    """Return the week ahead by least squares that know what counts."""
    t = np.arange(len(load))
    waves = [f(2 * np.pi * k * t / 24) for k in (1, 2) for f in (np.cos, np.sin)]
    design = np.column_stack([np.ones(len(t)), *waves, _weekend(t), temperature])
    best = np.linalg.lstsq(design[:KNOWN], load[:KNOWN], rcond=None)[0]
    return np.asarray(design[KNOWN:] @ best)


def measure(seed: int) -> tuple[int, float, float, float]:
    """Return the seed, both errors and the part of new values in the 90 % interval."""
    load, columns = draw(seed)
    hours = pd.date_range("2024-01-01", periods=len(load), freq="h")
    model = PeriodicMixture().fit(hours[:KNOWN], load[:KNOWN], regressors=columns[:KNOWN])
    ahead, new = model.forecast(AHEAD, regressors=columns[KNOWN:]), load[KNOWN:]
    known = oracle(load, columns["temperature"].to_numpy())
    errors = (float(np.sqrt(np.mean((mean - new) ** 2))) for mean in (ahead.mean, known))
    return seed, *errors, float(np.mean((new >= ahead.lower) & (new <= ahead.upper)))  # type: ignore[return-value]


def main(arguments: list[str] | None = None) -> int:
    """Measure all seeds and print the table; 1 if the bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regressors", description=__doc__)
    parser.add_argument("--seeds", default="0-5", help="first and last seed")
    first, last = map(int, parser.parse_args(arguments).seeds.split("-"))
    rows = [measure(seed) for seed in range(first, last + 1)]
    ratio = float(np.mean([ours / best for _, ours, best, _ in rows]))
    body = [(s, f"{a:.3f}", f"{b:.3f}", f"{a / b:.3f}", f"{c:.0%}") for s, a, b, c in rows]
    print(markdown(("seed", "error", "oracle", "ratio", "in the 90 % interval"), body))
    print(f"mean ratio {ratio:.3f}, bar {BAR}: {'PASS' if ratio <= BAR else 'FAIL'}")
    return int(ratio > BAR)


if __name__ == "__main__":
    sys.exit(main())
