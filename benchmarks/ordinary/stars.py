"""Stars, as surveys see them: one point per clear night, seven months a year. Times in days."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from benchmarks.ordinary.problem import Period, Problem, Truth, nothing, resolution, strict
from robustfourier.arrays import FloatArray

YEAR = 365.25
SEASON = 210.0  # days of a year in which the star is up at night


def nights(rng: Generator, n: int, years: float, spread: float = 0.14) -> FloatArray:
    """Draw n times on different nights, within `spread` days of midnight, with seasonal gaps."""
    night = np.arange(int(years * YEAR))
    night = night[night % YEAR < SEASON]
    night = np.sort(rng.choice(night, min(n, len(night)), replace=False))
    return night + 0.5 + rng.uniform(-spread, spread, len(night))


def harmonics(phase: FloatArray, amplitudes: list[float], lags: list[float]) -> FloatArray:
    """Sum of cosines of orders 1, 2, …, with their lags in radians."""
    orders = np.arange(1, len(amplitudes) + 1)
    return np.cos(2 * np.pi * np.outer(phase, orders) + np.array(lags)) @ np.array(amplitudes)


def _star(
    rng: Generator, t: FloatArray, signal: FloatArray, noise: float, period: float, size: float
) -> Problem:
    """One strict pattern with white noise, which is all but `noise` of the variance."""
    y = 15.0 + signal + noise * rng.normal(size=len(t))
    share = float(np.var(signal) / np.var(y))
    # A share is known to the sampling error of two variances, √(2/n) each; 0.15 is three of them
    # at n = 800 and two at n = 350; shapes sampled on few nights need as much.
    known = strict(period, t, noise=noise, amplitude=size, share=(share - 0.15, 1.0))
    return Problem.of(t, y, Truth((known,), 1), np.full(len(t), noise))


def cepheid(rng: Generator) -> Problem:
    """Fast rise, slow decline; phases of the harmonics as in Cepheids of a few days."""
    t = nights(rng, int(rng.integers(120, 200)), 3.0)
    period = rng.uniform(3.0, 15.0)
    shape = harmonics(t / period + rng.uniform(), [0.35, 0.14, 0.06], [0.0, 4.4, 2.6])
    return _star(rng, t, shape, 0.03, period, 0.35)


def cepheid_one_season(rng: Generator) -> Problem:
    """A strong Cepheid on 87 nights."""
    t = nights(rng, 87, SEASON / YEAR)
    period = rng.uniform(3.0, 10.0)
    shape = harmonics(t / period + rng.uniform(), [0.35, 0.14, 0.06], [0.0, 4.4, 2.6])
    return _star(rng, t, shape, 0.05, period, 0.35)


def rr_lyrae(rng: Generator) -> Problem:
    """About half a day: the nightly aliases are as strong as the truth."""
    t = nights(rng, int(rng.integers(250, 400)), 3.0)
    period = rng.uniform(0.45, 0.65)
    sizes, lags = [0.36, 0.18, 0.13, 0.09, 0.05], [0.0, 3.9, 1.8, 5.9, 3.7]
    return _star(rng, t, harmonics(t / period + rng.uniform(), sizes, lags), 0.04, period, 0.36)


def eclipsing_binary(rng: Generator) -> Problem:
    """Two eclipses of different depth, each a tenth of the period."""
    t = nights(rng, 500, 4.0)
    period = rng.uniform(0.8, 3.5)
    phase = (t / period + rng.uniform()) % 1.0
    away = np.minimum(phase, 1.0 - phase)
    width = rng.uniform(0.04, 0.06)
    dips = 0.6 * np.exp(-0.5 * (away / width) ** 2)
    dips += 0.25 * np.exp(-0.5 * ((phase - 0.5) / width) ** 2)
    return _star(rng, t, dips, 0.02, period, 0.1)


def delta_scuti(rng: Generator) -> Problem:
    """A period of 0.0653 days: fifteen cycles between two nights, amplitude 15 times the noise."""
    t = nights(rng, 170, 1.6)
    shape = 0.15 * np.cos(2 * np.pi * (t / 0.0653 + rng.uniform()))
    return _star(rng, t, shape, 0.01, 0.0653, 0.15)


def double_mode(rng: Generator) -> Problem:
    """Fundamental and first overtone of a Cepheid, with their sum frequency."""
    t = nights(rng, 300, 3.0)
    slow = rng.uniform(1.6, 4.5)
    fast = slow * rng.uniform(0.70, 0.74)
    first, second = t / slow + rng.uniform(), t / fast + rng.uniform()
    y = harmonics(first, [0.14, 0.05], [0.0, 4.2]) + harmonics(second, [0.12, 0.02], [0.0, 4.0])
    y += 0.03 * np.cos(2 * np.pi * (first + second))
    y += 15.0 + 0.015 * rng.normal(size=len(t))
    both = tuple(strict(period, t, noise=0.015, amplitude=0.1) for period in (slow, fast))
    sums = (1.0 / (1.0 / slow + 1.0 / fast), 1.0 / (1.0 / fast - 1.0 / slow))
    return Problem.of(t, y, Truth(both, 4, tuple(strict(period, t) for period in sums)))


def mira(rng: Generator) -> Problem:
    """Ten years of a long period whose cycles differ by a tenth in height and 2 % in length."""
    t = nights(rng, 400, 10.0)
    period = rng.uniform(210.0, 450.0)
    cycles = int(np.ceil(t[-1] / period)) + 2
    lengths = period * (1.0 + 0.02 * rng.normal(size=cycles))
    edges = np.concatenate([[-rng.uniform(0.0, period)], np.zeros(cycles)])
    edges[1:] = edges[0] + np.cumsum(lengths)
    phase = np.interp(t, edges, np.arange(cycles + 1))
    height = np.interp(phase, np.arange(cycles) + 0.5, 2.5 + 0.25 * rng.normal(size=cycles))
    y = 9.0 + height * harmonics(phase, [1.0, 0.25], [0.0, 4.5]) + 0.1 * rng.normal(size=len(t))
    mean = float((t[-1] - t[0]) / np.ptp(phase))
    # N cycle lengths that scatter by 2 % leave the phase at the end open by 0.02 √N cycles
    # (0.1 at N = 17); five of those are half a resolution.
    known = Period(mean, resolution(mean, t, 0.5), (0.7, 1.0))
    return Problem.of(t, y, Truth((known,), 1))


def drifting_star(rng: Generator) -> Problem:
    """No pattern: slow irregular change over months, whose images lie at one day."""
    t = nights(rng, 300, 3.0)
    grid = np.arange(0.0, t[-1] + 2.0)
    memory = np.exp(-1.0 / 150.0)
    steps = np.sqrt(1.0 - memory**2) * rng.normal(size=len(grid))
    walk = np.zeros(len(grid))
    for i in range(1, len(grid)):
        walk[i] = memory * walk[i - 1] + steps[i]
    y = 15.0 + 0.1 * np.interp(t, grid, walk) + 0.02 * rng.normal(size=len(t))
    return Problem.of(t, y, nothing())


def quiet_star(rng: Generator) -> Problem:
    """No pattern: white noise on clear nights, with errors that differ."""
    t = nights(rng, 250, 2.5)
    errors = 0.02 * np.exp(0.4 * rng.normal(size=len(t)))
    return Problem.of(t, 15.0 + errors * rng.normal(size=len(t)), nothing(), errors)
