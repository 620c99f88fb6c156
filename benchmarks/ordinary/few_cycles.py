"""Two to four cycles, and slow changes that are no cycle at all."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from benchmarks.ordinary.calendars import dates
from benchmarks.ordinary.problem import Period, Problem, Truth, nothing, part, resolution
from robustfourier.arrays import FloatArray


def few(period: float, t: FloatArray, signal: FloatArray, y: FloatArray) -> Period:
    """A period of few cycles: a fifth of the resolution, since a trend takes a part of it.

    Two cycles beside a parabola leave about twice the error that they have beside a level.
    """
    return Period(period, resolution(period, t, 0.2), part(signal, y), exact=True)


def circadian_gene(rng: Generator) -> Problem:
    """A gene over two days, every two hours, three replicates, amplitude six times the noise."""
    t = np.repeat(np.arange(0.0, 48.0, 2.0), 3)
    period = rng.uniform(22.5, 25.5)
    signal = 6.0 * np.cos(2 * np.pi * (t / period + rng.uniform()))
    y = 10.0 + signal + rng.normal(size=len(t))
    return Problem.of(t, y, Truth((few(period, t, signal, y),), 1))


def circadian_sparse(rng: Generator) -> Problem:
    """A gene over two days, every four hours, two replicates, amplitude five times the noise."""
    t = np.repeat(np.arange(0.0, 49.0, 4.0), 2)
    period = rng.uniform(23.0, 25.0)
    signal = 5.0 * np.cos(2 * np.pi * (t / period + rng.uniform()))
    y = 10.0 + signal + rng.normal(size=len(t))
    # Noise of a fifth in 26 samples leaves 0.04 resolutions: five of them.
    return Problem.of(t, y, Truth((few(period, t, signal, y),), 1))


def parabola_few_cycles(rng: Generator) -> Problem:
    """Two to three cycles on a parabola eight times as high."""
    t = np.linspace(0.0, 10.0, 240)
    cycles = rng.uniform(2.2, 3.2)
    period = 10.0 / cycles
    signal = np.cos(2 * np.pi * (t / period + rng.uniform()))
    bend = rng.choice([-1.0, 1.0]) * 8.0 * (t / 5.0 - 1.0) ** 2 / 2.0
    y = bend + signal + 0.25 * rng.normal(size=240)
    return Problem.of(t, y, Truth((few(period, t, signal, y - bend),), 1))


def thirty_months(rng: Generator) -> Problem:
    """Two and a half years of monthly values, a season of three times the noise."""
    n = 30
    times = (np.datetime64("2019-03", "M") + np.arange(n)).astype("datetime64[s]")
    signal = 3.0 * np.cos(2 * np.pi * (np.arange(n) / 12.0 + rng.uniform()))
    y = 50.0 + signal + rng.normal(size=n)
    year = Period(365.25, resolution(365.25, times, 0.2), part(signal, y))
    return Problem.of(times, y, Truth((year,), 1))


def s_curve(rng: Generator) -> Problem:
    """Growth from one level to another: nothing repeats."""
    t = np.arange(200.0)
    middle, width = rng.uniform(70.0, 130.0), rng.uniform(10.0, 25.0)
    y = 10.0 / (1.0 + np.exp(-(t - middle) / width)) + 0.3 * rng.normal(size=200)
    return Problem.of(t, y, nothing())


def s_curve_with_season(rng: Generator) -> Problem:
    """Eight years of monthly values that grow from one level to another, with a season."""
    n = 96
    t = 2010.0 + np.arange(n) / 12.0
    rise = 30.0 / (1.0 + np.exp(-(t - rng.uniform(2012.5, 2015.5)) / rng.uniform(0.4, 0.9)))
    season = 3.0 * np.cos(2 * np.pi * (t + rng.uniform()))
    y = 20.0 + rise + season + 0.8 * rng.normal(size=n)
    known = Period(1.0, resolution(1.0, t, 0.1), exact=True)
    return Problem.of(t, y, Truth((known,), 1))


def one_event(rng: Generator) -> Problem:
    """A level with one event that comes and goes: nothing repeats."""
    t = np.arange(300.0)
    at, width = rng.uniform(80.0, 220.0), rng.uniform(8.0, 20.0)
    y = 5.0 + 4.0 * np.exp(-0.5 * ((t - at) / width) ** 2) + 0.4 * rng.normal(size=300)
    return Problem.of(t, y, nothing())


def cooling(rng: Generator) -> Problem:
    """A decay to a level: nothing repeats."""
    t = np.arange(250) / 10.0
    y = 20.0 + 60.0 * np.exp(-t / rng.uniform(2.0, 6.0)) + 0.5 * rng.normal(size=250)
    return Problem.of(t, y, nothing())


def six_weeks_daily(rng: Generator) -> Problem:
    """Six weeks of daily visits, weekends at two thirds: forecast of the next two weeks."""
    n = 56
    week = np.array([1.0, 1.02, 1.0, 0.98, 0.95, 0.66, 0.68])[np.arange(n) % 7]
    y = np.round(1000.0 * week * (1.0 + 0.05 * rng.normal(size=n)))
    times = dates("2023-01-02", n, "1D")
    known = Period(7.0, resolution(7.0, times[:42], 0.1), part(1000.0 * week[:42], y[:42]))
    return Problem.of(times, y, Truth((known,), 1), ahead=14)
