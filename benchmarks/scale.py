"""Adding or multiplying: how often `PeriodicMixture(scale="auto")` takes logarithms, and its gain.

Positive series of many kinds are drawn whose parts add, or multiply. Then growth times season is
predicted in blocks that the fit has not seen, on either scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator

from benchmarks.ordinary.catalogue import problem
from benchmarks.ordinary.nature import wander
from benchmarks.verdicts import Verdict, judged, unseen_seeds
from robustfourier import PeriodicMixture
from robustfourier.arrays import FloatArray

Draw = Callable[[FloatArray, Generator], FloatArray]
BLOCKS = 6  # of two years each


def main(quick: bool = False) -> list[Verdict]:
    """Run all rows."""
    verdicts = []
    for verdict in (
        chosen_row("values that add", ADDING, 1 if quick else 8, most=0.02),
        chosen_row("values that multiply", MULTIPLYING, 1 if quick else 10, least=0.9),
        blocks_row(1 if quick else 5),
    ):
        print(f"{verdict.word}: {verdict.case}: {verdict.measured}", flush=True)
        verdicts.append(verdict)
    return verdicts


def season(t: FloatArray, rng: Generator) -> FloatArray:
    """A yearly shape of two harmonics."""
    first, second = rng.uniform(size=2)
    return np.cos(2 * np.pi * (t + first)) + 0.4 * np.cos(4 * np.pi * (t + second))


def ramp(t: FloatArray, rng: Generator, low: float, high: float) -> FloatArray:
    """A straight rise by a random height."""
    return rng.uniform(low, high) * t / t[-1]


def outliers(n: int, rng: Generator) -> FloatArray:
    """One sample in thirty far above."""
    return np.where(rng.uniform(size=n) < 1 / 30, rng.uniform(2.0, 6.0, n), 0.0)


# Functions that add up, up to a level that makes them positive; the noise is 0.4 or like it.
ADDING: dict[str, Draw] = {
    "season": lambda t, r: season(t, r) + 0.4 * r.normal(size=len(t)),
    "season and rise": lambda t, r: season(t, r) + ramp(t, r, 0, 4) + 0.4 * r.normal(size=len(t)),
    "noise with memory": lambda t, r: (
        2 * season(t, r) + ramp(t, r, 0, 4) + 0.7 * wander(r, len(t), 6.0)
    ),
    "heavy tails": lambda t, r: (
        season(t, r) + ramp(t, r, 0, 4) + 0.3 * r.standard_t(3, size=len(t))
    ),
    "noise alone": lambda t, r: 1.2 * r.normal(size=len(t)),
    "outliers above": lambda t, r: (
        season(t, r) + ramp(t, r, 0, 4) + 0.4 * r.normal(size=len(t)) + outliers(len(t), r)
    ),
    "two patterns": lambda t, r: (
        season(t, r) + 0.8 * np.cos(2 * np.pi * t / 0.37) + 0.4 * r.normal(size=len(t))
    ),
    "triangle": lambda t, r: (
        4 * np.abs((t + r.uniform()) % 1.0 - 0.5) + 0.2 * r.normal(size=len(t))
    ),
}
# Logarithms of the values.
MULTIPLYING: dict[str, Draw] = {
    "growth": lambda t, r: 0.25 * season(t, r) + ramp(t, r, 0.5, 2) + 0.1 * r.normal(size=len(t)),
    "noise with memory": lambda t, r: (
        0.25 * season(t, r) + ramp(t, r, 0.5, 2) + 0.1 * wander(r, len(t), 6.0)
    ),
    "two patterns": lambda t, r: (
        0.5 * season(t, r) + 0.2 * np.cos(2 * np.pi * t / 0.37) + 0.2 * r.normal(size=len(t))
    ),
    "heavy tails": lambda t, r: (
        0.25 * season(t, r) + ramp(t, r, 0.5, 2) + 0.05 * r.standard_t(3, size=len(t))
    ),
    "no growth": lambda t, r: 0.5 * season(t, r) + 0.2 * r.normal(size=len(t)),
    "decay": lambda t, r: 0.25 * season(t, r) - ramp(t, r, 0.5, 2) + 0.05 * r.normal(size=len(t)),
}


def drawn(draw: Draw, multiply: bool, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Times and positive values: 120 to 500 months, every second record at irregular times."""
    n = int(rng.integers(120, 500))
    t = np.arange(n) / 12.0 if rng.integers(2) else np.sort(rng.uniform(0, n / 12.0, n))
    values = draw(t, rng)
    return t, 100.0 * np.exp(values) if multiply else values - values.min() + rng.uniform(0.2, 3.0)


def chosen_row(
    case: str, kinds: dict[str, Draw], seeds: int, *, least: float = 0.0, most: float = 1.0
) -> Verdict:
    """How often logarithms are taken."""
    taken = dict.fromkeys(kinds, 0)
    for number, (name, draw) in enumerate(kinds.items()):
        for seed in unseen_seeds(seeds):
            rng = np.random.default_rng([seed, number])
            model = PeriodicMixture().fit(*drawn(draw, kinds is MULTIPLYING, rng))
            taken[name] += model.scale_ == "log"
    total, trials = sum(taken.values()), seeds * len(kinds)
    wrong = {name: n for name, n in taken.items() if n != (seeds if least else 0)}
    detail = "".join(f", {name} {n} of {seeds}" for name, n in wrong.items())
    bar = f"logarithms taken in at {f'least {least:.0%}' if least else f'most {most:.0%}'}"
    passed = least <= total / trials <= most
    return Verdict(case, bar, f"{total} of {trials}{detail}", judged(passed, trials))


def blocks_row(seeds: int) -> Verdict:
    """Error in blocks left out of growth times season, over the deviation of the values."""
    errors = {scale: [block_error(seed, scale) for seed in unseen_seeds(seeds)] for scale in SCALES}
    plain, auto = (float(np.median(errors[scale])) for scale in SCALES)
    measured = f"linear {plain:.3f}, auto {auto:.3f}"
    return Verdict(
        "passengers, blocks left out", "error below 0.75 of linear", measured, auto < 0.75 * plain
    )


SCALES = ("linear", "auto")


def block_error(seed: int, scale: str) -> float:
    """Root mean square error over all blocks, each predicted by a fit without it."""
    task = problem("passengers", seed)
    left = np.concatenate(list(_blocks(task.times, task.values, scale)))
    return float(np.sqrt(np.mean(left**2)) / np.std(task.values))


def _blocks(times: FloatArray, values: FloatArray, scale: str) -> Iterator[FloatArray]:
    for block in np.array_split(np.arange(len(times)), BLOCKS):
        rest = np.setdiff1d(np.arange(len(times)), block)
        model = PeriodicMixture(scale=scale).fit(times[rest], values[rest])  # type: ignore[arg-type]
        yield values[block] - model.predict(times[block])
