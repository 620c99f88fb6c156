"""False alarms: how often noise without any period is said to have one.

``python -m benchmarks false_alarms`` draws white noise, noise with memory, a random walk with white
noise, a resonance (a hump is no line), and a pattern that wanders, beside which there is no other
line. Each may be wrong in 1 % of the draws, two standard errors of the count allowed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from benchmarks.verdicts import Verdict, judged, unseen_seeds
from robustfourier import PeriodicMixture

FloatArray = NDArray[np.float64]

SAMPLES, LEVEL, DRAWS = 300, 0.01, 500


def white(rng: np.random.Generator) -> FloatArray:
    """White noise."""
    return rng.normal(size=SAMPLES)


def autoregressive(rng: np.random.Generator) -> FloatArray:
    """Memory of 0.8 from sample to sample."""
    return np.asarray(lfilter([1.0], [1.0, -0.8], rng.normal(size=SAMPLES + 200))[200:])


def random_walk(rng: np.random.Generator) -> FloatArray:
    """A random walk, seen with white noise of three steps."""
    return np.cumsum(rng.normal(size=SAMPLES)) + 3.0 * rng.normal(size=SAMPLES)


def resonance(rng: np.random.Generator) -> FloatArray:
    """A resonance of ten samples that rings for one cycle, with white noise."""
    poles = [1.0, -2.0 * 0.9 * np.cos(2 * np.pi / 10), 0.81]
    hump = lfilter([1.0], poles, rng.normal(size=SAMPLES + 200))[200:]
    return np.asarray(hump + rng.normal(size=SAMPLES))


def beside_life(rng: np.random.Generator) -> FloatArray:
    """A tone of ten samples whose phase walks, with a coherence of eight cycles."""
    late = np.cumsum(np.sqrt(2.0 / 80.0) * rng.normal(size=SAMPLES))
    return np.cos(2 * np.pi * np.arange(SAMPLES) / 10 - late) + 0.4 * rng.normal(size=SAMPLES)


KINDS: dict[str, Callable[[np.random.Generator], FloatArray]] = {
    "white noise": white,
    "autoregressive noise, 0.8": autoregressive,
    "random walk and white noise": random_walk,
    "resonance of quality 3": resonance,
    "beside a living pattern": beside_life,
}


def wrong(kind: str, seed: int) -> bool:
    """Whether a period is told that is none."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    model = PeriodicMixture(scale="linear").fit(np.arange(SAMPLES, dtype=float), KINDS[kind](rng))
    if kind != "beside a living pattern":
        return len(model.components_) > 0
    # Lines far from the pattern and its harmonics are false; how it is told itself is another bar.
    return any(abs(c.period - 10.0) > 2.5 for c in model.components_)


def main(quick: bool = False) -> list[Verdict]:
    """Count false alarms of each kind."""
    draws = 4 if quick else DRAWS
    allowed = LEVEL + 2.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / draws)
    verdicts = []
    for kind in KINDS:
        count = sum(wrong(kind, seed) for seed in unseen_seeds(draws))
        measured = f"{count} of {draws} draws ({count / draws:.1%})"
        print(f"{kind}: {measured}", flush=True)
        bar = f"at most {allowed:.1%}: 1 % and two standard errors"
        verdicts.append(Verdict(kind, bar, measured, judged(count / draws <= allowed, draws)))
    return verdicts
