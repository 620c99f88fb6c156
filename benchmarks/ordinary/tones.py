"""Sums of sinusoids: dense, near multiples of each other, modulated, at the Nyquist limit."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from benchmarks.ordinary.problem import Period, Problem, Truth, about, part, strict
from robustfourier.arrays import FloatArray
from robustfourier.synthetic import Problem as Mixed
from robustfourier.synthetic import RandomState, random_mixture

RATIOS = (7.985, 10.96, 1.981, 3.02, 4.97, 2.985)


def sinusoids(t: FloatArray, periods: FloatArray, sizes: FloatArray, rng: Generator) -> FloatArray:
    """Sum of sinusoids with random phases."""
    phases = np.outer(t, 1.0 / np.asarray(periods)) + rng.uniform(size=len(periods))
    return np.asarray(np.cos(2 * np.pi * phases) @ np.asarray(sizes))


def exact_line(period: float, t: FloatArray) -> Period:
    """A sinusoid known to all digits, to be found within a third of a mode."""
    return Period(period, period**2 / float(np.ptp(t)) / 3.0, exact=True)


def dense_mixture(count: int, random_state: RandomState) -> Mixed:
    """Draw so many tones within five modes each, 1500 samples with gaps, noise of 0.5."""
    return random_mixture(
        count,
        max_mode=5.0 * count,
        n_samples=1500,
        sampling="gappy",
        integer_modes=False,
        noise=0.5,
        random_state=random_state,
    )


def dense(rng: Generator, count: int) -> Problem:
    """The paper's own model, many tones: each lies in the noise floor of its neighbours."""
    drawn = dense_mixture(count, rng)
    t = np.array(drawn.theta)
    lines = tuple(exact_line(2.0 / k, t) for k in drawn.modes)
    # A tone at nearly twice another may be given to its pattern: patterns are tones, lines count.
    return Problem.of(t, np.array(drawn.y), Truth((), count, lines, lines=lines))


VARIANTS = {f"dense_tones_{count}": partial(dense, count=count) for count in (12, 20)}


def near_multiple(rng: Generator) -> Problem:
    """A pattern, and a weak tone that is nearly one of its harmonics, but within half a mode."""
    t = np.sort(rng.uniform(0.0, 100.0, 800))
    ratio = rng.choice(RATIOS)
    # The tone is off the multiple by 0.15 to 0.45 modes, four and more standard errors.
    slow = 100.0 * abs(ratio - round(ratio)) / rng.uniform(0.15, 0.45)
    periods = slow / np.array([1.0, 2.0, 3.0, ratio])
    if round(ratio) in (2, 3):  # two lines half a mode apart would be one
        periods[1:3] = slow
    y = sinusoids(t, periods, np.array([1.0, 0.4, 0.2, 0.2]), rng) + 0.2 * rng.normal(size=800)
    lines = tuple(exact_line(p, t) for p in periods[[0, 3]])
    return Problem.of(t, y, Truth(lines, 2, lines=lines))


def close_pair(rng: Generator) -> Problem:
    """Two tones 1.3 to 1.6 modes apart, just beyond the resolution."""
    t = np.arange(900) / 10.0
    first = rng.uniform(0.6, 1.4)
    second = first + rng.uniform(1.3, 1.6) / 90.0
    periods = 1.0 / np.array([first, second])
    y = sinusoids(t, periods, np.array([1.0, 0.8]), rng) + 0.3 * rng.normal(size=900)
    lines = tuple(exact_line(p, t) for p in periods)
    return Problem.of(t, y, Truth((), 2, lines, lines=lines))


def modulated_tone(rng: Generator) -> Problem:
    """A carrier whose height follows a second, slower period: a line with two sidebands."""
    t = np.sort(rng.uniform(0.0, 200.0, 900))
    carrier, slow = rng.uniform(2.0, 3.0), rng.uniform(30.0, 50.0)
    height = 1.0 + 0.5 * np.cos(2 * np.pi * (t / slow + rng.uniform()))
    y = height * np.cos(2 * np.pi * (t / carrier + rng.uniform())) + 0.3 * rng.normal(size=900)
    sides = tuple(1.0 / (1.0 / carrier + sign / slow) for sign in (-1.0, 1.0))
    lines = tuple(exact_line(p, t) for p in (carrier, *sides))
    slowly = strict(slow, t)  # where the modulation is named as a base of combination tones
    return Problem.of(t, y, Truth(lines[:1], 3, (*lines, slowly), lines=lines))


def tone_among_harmonics(rng: Generator) -> Problem:
    """A sharp pattern of many harmonics, and a tone of its own between two of them."""
    t = np.sort(rng.uniform(0.0, 120.0, 1200))
    period = rng.uniform(5.0, 7.0)
    phase = (t / period + rng.uniform()) % 1.0
    saw = 2.0 * phase - 1.0
    other = period / (3.0 + rng.uniform(0.3, 0.7))
    tone = 0.4 * np.cos(2 * np.pi * (t / other + rng.uniform()))
    y = saw + tone + 0.2 * rng.normal(size=1200)
    known = (
        strict(period, t, noise=0.2, share=about(np.var(saw) / np.var(y)), exact=True),
        strict(
            other, t, noise=0.2, amplitude=0.4, share=about(np.var(tone) / np.var(y)), exact=True
        ),
    )
    return Problem.of(t, y, Truth(known, 2))


def alternation(rng: Generator) -> Problem:
    """Every other value is high: a period of two samples, at the Nyquist limit."""
    n = 240
    t = np.arange(float(n))
    signal = 0.8 * (t % 2)
    y = signal + 0.2 * rng.normal(size=n)
    known = Period(2.0, 2.0**2 / n / 2.0, part(signal[:210], y[:210]))
    return Problem.of(t, y, Truth((known,), 1), ahead=30)


def weak_among_strong(rng: Generator) -> Problem:
    """A strong pattern with a tone a thirtieth as large, far above the noise."""
    t = np.sort(rng.uniform(0.0, 80.0, 1000))
    strong, weak = rng.uniform(6.0, 8.0), rng.uniform(0.9, 1.1)
    y = 3.0 * np.cos(2 * np.pi * t / strong) + 0.9 * np.cos(4 * np.pi * t / strong + 1.0)
    y += 0.1 * np.cos(2 * np.pi * t / weak + 0.5) + 0.1 * rng.normal(size=1000)
    lines = (exact_line(strong, t), exact_line(weak, t))
    return Problem.of(t, y, Truth(lines[:1], 2, lines, lines=lines))
