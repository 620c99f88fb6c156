"""Series of which all is known, to count how often forecasts hold what they promise."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.verdicts import markdown

FloatArray = NDArray[np.float64]

SAMPLES, AHEAD = 300, 30
PERIOD = 12.3


def _walk(steps: FloatArray) -> FloatArray:
    return np.cumsum(steps)


def _slope_that_changes(rng: np.random.Generator, n: int, change: float) -> FloatArray:
    return _walk(_walk(change * rng.normal(size=n))) + 0.5 * rng.normal(size=n)


def _first_order(rng: np.random.Generator, n: int) -> FloatArray:
    """Noise that keeps 0.8 of itself from one sample to the next."""
    left = rng.normal(size=n)
    left[0] /= 0.6  # as large as it becomes: √(1 − 0.8²)
    for i in range(1, n):
        left[i] += 0.8 * left[i - 1]
    return left


def _living(rng: np.random.Generator, n: int) -> FloatArray:
    """A cycle that forgets amplitude and phase in 60 samples, about five cycles."""
    kept = np.exp(-1.0 / 60.0)
    pushes = (rng.normal(size=n) + 1j * rng.normal(size=n)) * np.sqrt(0.5)
    swing = pushes.copy()
    for i in range(1, n):
        swing[i] = kept * swing[i - 1] + np.sqrt(1.0 - kept**2) * pushes[i]
    wave = 2.0 * np.real(swing * np.exp(2j * np.pi * np.arange(n) / PERIOD))
    return np.asarray(wave + 0.3 * rng.normal(size=n))


def _strict(rng: np.random.Generator, n: int) -> FloatArray:
    """A pattern with a harmonic, of random phases."""
    angle, phase = 2 * np.pi * np.arange(n) / PERIOD, rng.uniform(0, 2 * np.pi, 2)
    return np.asarray(2.0 * np.cos(angle + phase[0]) + 0.8 * np.cos(2 * angle + phase[1]))


#: What is drawn, in words, and how.
KINDS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "pattern, white noise": lambda rng, n: _strict(rng, n) + rng.normal(size=n),
    "pattern, AR(1) noise of 0.8": lambda rng, n: _strict(rng, n) + _first_order(rng, n),
    "pattern on a random walk": lambda rng, n: (
        _strict(rng, n) + _walk(0.3 * rng.normal(size=n)) + 0.5 * rng.normal(size=n)
    ),
    "pattern on a slope that changes": lambda rng, n: (
        _strict(rng, n) + _slope_that_changes(rng, n, 0.01)
    ),
    "pattern on growth that bends a little": lambda rng, n: (
        _strict(rng, n) + 0.02 * np.arange(n) + _slope_that_changes(rng, n, 0.003)
    ),
    "living pattern": _living,
}


def draw(kind: str, seed: int) -> FloatArray:
    """Return the samples that are known and, after them, those that are not."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    return KINDS[kind](rng, SAMPLES + AHEAD)


def measure(kind: str, seeds: range, forecast: Callable[..., Any]) -> dict[str, str]:
    """Forecast of each seed's last samples; the part of them inside, and its standard error."""
    start, inside = time.process_time(), []
    for seed in seeds:
        values = draw(kind, seed)
        _, lower, upper = forecast(values[:SAMPLES], AHEAD, ())
        new = values[SAMPLES:]
        inside.append(float(np.mean((new >= lower) & (new <= upper))))
    row = {
        "kind": kind,
        "seeds": f"{seeds[0]}–{seeds[-1]}",
        "coverage": f"{np.mean(inside):.4f}",
        "error": f"{np.std(inside, ddof=1) / np.sqrt(len(inside)):.4f}",
        "seconds": f"{time.process_time() - start:.1f}",
    }
    print(row, flush=True)
    return row


def told(rows: list[dict[str, str]]) -> list[str]:
    """The table of intervals on simulated series, in Markdown."""
    if not rows:
        return []
    lines = [
        "",
        f"Series of which all is known, {SAMPLES} samples and {AHEAD} ahead, seeds",
        f"{rows[0]['seeds']}: the 90 % interval should hold 87 to 93 % of new measurements",
        "(in brackets the standard error).",
        "",
    ]
    body = []
    for row in rows:
        inside, error = float(row["coverage"]), float(row["error"])
        word = "holds" if 0.87 <= inside <= 0.93 else "too wide" if inside > 0.93 else "too narrow"
        body.append((row["kind"], f"{inside:.1%} ({error:.1%})", word))
    mean = float(np.mean([float(row["coverage"]) for row in rows]))
    body.append(("all", f"{mean:.1%}", "holds" if 0.87 <= mean <= 0.93 else "does not hold"))
    return [*lines, markdown(("kind", "inside", "verdict"), body)]
