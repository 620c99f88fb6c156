"""Nature: tides, sunspots, weather, rivers. Cycles on a continuum, and some that live."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.signal import lfilter

from benchmarks.noises import autoregressive
from benchmarks.ordinary.problem import Period, Problem, Truth, nothing, resolution, strict

YEAR = 365.25
# Constituents: period in hours and amplitude in metres.
CONSTITUENTS = {
    "M2": (12.4206, 1.0),
    "S2": (12.0, 0.4),
    "K1": (23.9345, 0.35),
    "O1": (25.8193, 0.25),
}


def tide(rng: Generator) -> Problem:
    """Two months of hourly sea level: four constituents and weather. Times in hours."""
    n = 24 * 60
    t = np.arange(n, dtype=float)
    y = 0.1 * autoregressive(rng, n, 40.0) + 0.03 * rng.normal(size=n)
    for period, size in CONSTITUENTS.values():
        y += size * np.cos(2 * np.pi * (t / period + rng.uniform()))
    # Weather of 0.1 that forgets in 40 hours has at a day about the power of white noise of 0.1.
    known = tuple(strict(p, t, noise=0.1, amplitude=size) for p, size in CONSTITUENTS.values())
    return Problem.of(t, y, Truth(known, 4))


def sunspots(rng: Generator) -> Problem:
    """Three hundred years of a cycle of 11 years whose lengths scatter by a tenth. In years."""
    t = 1700.0 + np.arange(300.0)
    cycles = 40
    lengths = np.maximum(11.0 * (1.0 + 0.1 * rng.normal(size=cycles)), 8.0)
    edges = t[0] - rng.uniform(0.0, 11.0) + np.concatenate([[0.0], np.cumsum(lengths)])
    phase = np.interp(t, edges, np.arange(cycles + 1))
    height = np.exp(np.log(80.0) + 0.35 * autoregressive(rng, cycles, 2.0))[phase.astype(int)]
    rise = phase % 1.0
    shape = np.where(
        rise < 0.4, np.sin(np.pi * rise / 0.8) ** 2, np.cos(np.pi * (rise - 0.4) / 1.2) ** 2
    )
    y = np.maximum(height * shape + 5.0 + 4.0 * rng.normal(size=len(t)), 0.0)
    mean = 300.0 / float(np.ptp(phase))
    # 27 lengths that scatter by 10 % leave their mean open by 2 %; but what a spectrum shows is
    # the mean weighted by heights squared, which counts about half of them: three of 0.03.
    return Problem.of(t, y, Truth((Period(mean, 0.09 * mean),), 1))


def daily_temperature(rng: Generator) -> Problem:
    """Four years of daily mean temperatures: a year, and weather that forgets in four days."""
    n = 1461
    day = np.arange(float(n))
    y = 9.0 + 9.0 * np.cos(2 * np.pi * (day - 195.0) / YEAR) + 3.5 * autoregressive(rng, n, 4.0)
    # Weather counts n/8 independent values, noise √8 times as large.
    season = strict(YEAR, day, noise=3.5 * np.sqrt(8.0), amplitude=9.0)
    return Problem.of(day, y, Truth((season,), 1))


def river(rng: Generator) -> Problem:
    """Eight years of weekly discharge: high in spring, skewed, with memory."""
    n = 417
    day = 7.0 * np.arange(n)
    season = 0.6 * np.cos(2 * np.pi * (day / YEAR - 0.3)) + 0.2 * np.cos(4 * np.pi * day / YEAR)
    y = 100.0 * np.exp(season + 0.45 * autoregressive(rng, n, 2.0))
    # Memory of two weeks leaves a quarter of the values independent, noise 0.45 · 2.
    known = strict(YEAR, day, noise=0.9, amplitude=0.6)
    return Problem.of(day, y, Truth((known,), 1))


def resonance(rng: Generator) -> Problem:
    """A hump is not a line: an oscillator that forgets within one and a half cycles."""
    n = 600
    t = np.arange(n) / 12.0
    period, keep = 45.0, np.exp(-1.0 / 60.0)
    y = lfilter(
        [1.0], [1.0, -2.0 * keep * np.cos(2 * np.pi / period), keep**2], rng.normal(size=n + 500)
    )
    hump = Period(period / 12.0, 0.4 * period / 12.0)  # half width of the hump: 45 / (2π 60) = 12 %
    return Problem.of(t, y[500:] / np.std(y), Truth((), 1, (hump,)))


def lake_level(rng: Generator) -> Problem:
    """Monthly levels over 40 years: a season of a third of the variance on slow wandering."""
    n = 480
    t = 1970.0 + np.arange(n) / 12.0
    y = 0.5 * np.cos(2 * np.pi * (t - 0.4)) + 0.5 * autoregressive(rng, n, 18.0)
    y += 0.08 * rng.normal(size=n)
    # At one cycle a year, wandering with memory of 18 months has the power of white noise of 0.32.
    return Problem.of(t, y, Truth((strict(1.0, t, noise=0.32, amplitude=0.5),), 1))


def surge(rng: Generator) -> Problem:
    """No pattern: hourly weather at sea, two time scales of memory."""
    n = 1500
    y = (
        0.2 * autoregressive(rng, n, 60.0)
        + 0.1 * autoregressive(rng, n, 6.0)
        + 0.02 * rng.normal(size=n)
    )
    return Problem.of(np.arange(float(n)), y, nothing())


def respiration(rng: Generator) -> Problem:
    """A minute and a half of breathing at 10 Hz whose rate and depth wander slowly. In seconds."""
    t = np.arange(900) / 10.0
    rate = 0.25 * (1.0 + 0.03 * autoregressive(rng, 900, 100.0))
    phase = np.cumsum(rate) / 10.0
    depth = 1.0 + 0.12 * autoregressive(rng, 900, 80.0)
    y = depth * (np.cos(2 * np.pi * phase) + 0.25 * np.cos(4 * np.pi * phase + 1.0))
    y += 0.1 * rng.normal(size=900)
    mean = 90.0 / float(phase[-1] - phase[0])
    return Problem.of(t, y, Truth((Period(mean, resolution(mean, t, 0.7)),), 1))
