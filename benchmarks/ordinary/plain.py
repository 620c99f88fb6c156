"""Plain series: noise of several colours, constants, steps and ramps, with and without a day."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from benchmarks.noises import autoregressive
from benchmarks.ordinary.problem import Problem, Truth, nothing, strict
from robustfourier.arrays import FloatArray

STEP = r"\bstep|level shift|\bjump"  # words for a level that changes at once
# A step that was found: named with its place, or in the fit's own list (see `judge.fit`).
FOUND_STEP = r"level shift (of|at)|\nstep\Z"


def white(rng: Generator) -> Problem:
    """White noise on an even grid."""
    return Problem.of(np.arange(500.0), rng.normal(size=500), nothing(must_not_say=(FOUND_STEP,)))


def white_irregular(rng: Generator) -> Problem:
    """White noise at random times."""
    return Problem.of(np.sort(rng.uniform(0.0, 100.0, 300)), rng.normal(size=300), nothing())


def red(rng: Generator) -> Problem:
    """AR(1) noise that forgets after a few samples."""
    y = autoregressive(rng, 600, rng.uniform(2.0, 10.0))
    return Problem.of(np.arange(600.0), y, nothing(must_not_say=(FOUND_STEP,)))


def random_walk(rng: Generator) -> Problem:
    """A sum of independent steps, such as a price."""
    return Problem.of(np.arange(500.0), 100.0 + np.cumsum(rng.normal(size=500)), nothing())


def heavy_tails(rng: Generator) -> Problem:
    """Noise of Student's law with three degrees of freedom."""
    return Problem.of(
        np.arange(500.0), rng.standard_t(3, size=500), nothing(must_not_say=(FOUND_STEP,))
    )


def constant(rng: Generator) -> Problem:
    """The same value every time."""
    y = np.full(200, float(np.round(rng.normal(), 3)))
    return Problem.of(np.arange(200.0), y, nothing(rise=(0.0, 1e-9), noise=(0.0, 1e-9)))


def ramp(rng: Generator) -> Problem:
    """A straight line with noise."""
    t = np.arange(300.0)
    y = 5.0 + 0.02 * t + 0.5 * rng.normal(size=300)
    # A fitted slope is known to √12 σ / √n over the record, 0.1 here: five of them.
    straight = nothing(rise=(0.02 * 299.0, 0.5), noise=(0.4, 0.6), must_not_say=(FOUND_STEP,))
    return Problem.of(t, y, straight)


def step(rng: Generator) -> Problem:
    """A level that changes once, and noise."""
    t = np.arange(400.0)
    at = int(rng.integers(100, 300))
    y = np.where(t < at, 0.0, 3.0) + 0.5 * rng.normal(size=400)
    return Problem.of(t, y, nothing(must_say=(STEP,), noise=(0.4, 0.6)))


def _day_with_steps(rng: Generator, places: FloatArray, sizes: FloatArray) -> Problem:
    t = np.arange(24 * 40) / 24.0
    levels = np.concatenate([[0.0], np.cumsum(sizes)])[np.searchsorted(places, t, side="right")]
    phase = 2 * np.pi * (t + rng.uniform())
    y = levels + np.cos(phase) + 0.3 * np.cos(2.0 * phase + 1.0) + 0.3 * rng.normal(size=len(t))
    # Noise is known to σ/√(2n), 2 %; steps read as drift lifted it from 0.3 to 0.8.
    known = Truth((strict(1.0, t, noise=0.3),), 1, must_say=(STEP,), noise=(0.25, 0.4))
    return Problem.of(t, y, known)


def day_with_step(rng: Generator) -> Problem:
    """A daily pattern on a level that changes once. Times in days."""
    return _day_with_steps(rng, np.array([rng.uniform(10.0, 30.0)]), np.array([2.5]))


def day_with_steps(rng: Generator) -> Problem:
    """A daily pattern on a level that changes three times, up and down."""
    places = np.array([8.0, 18.0, 30.0]) + rng.uniform(-3.0, 3.0, 3)
    return _day_with_steps(rng, places, np.array([2.5, -4.0, 3.0]))


def day_on_ramp(rng: Generator) -> Problem:
    """A daily pattern on a straight rise: no step may be seen in it."""
    t = np.arange(24 * 30) / 24.0
    y = 0.2 * t + np.cos(2 * np.pi * (t + rng.uniform())) + 0.4 * rng.normal(size=len(t))
    # Five times √12 σ / √n of the rise, 0.05.
    return Problem.of(
        t,
        y,
        Truth(
            (strict(1.0, t, noise=0.4),),
            1,
            rise=(0.2 * t[-1], 0.25),
            noise=(0.33, 0.48),
            must_not_say=(FOUND_STEP,),
        ),
    )


def tone_in_red(rng: Generator) -> Problem:
    """A clear sinusoid in AR(1) noise."""
    t = np.arange(800.0)
    period = rng.uniform(15.0, 40.0)
    y = 1.2 * np.cos(2 * np.pi * (t / period + rng.uniform())) + autoregressive(rng, 800, 4.0)
    # At most the power of AR(1) at mode zero: √8 times white noise.
    return Problem.of(t, y, Truth((strict(period, t, noise=np.sqrt(8.0), amplitude=1.2),), 1))
