"""Records that go on: the last part is held out, and the stated interval has to hold it."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from benchmarks.noises import autoregressive
from benchmarks.ordinary.calendars import YEAR, dates, week_and_day
from benchmarks.ordinary.nature import CONSTITUENTS
from benchmarks.ordinary.problem import Period, Problem, Truth, part, resolution, strict


def quarterly_trips(rng: Generator) -> Problem:
    """Twenty years of quarterly trips: a season on a level that walks; eight quarters ahead."""
    n = 80
    times = (np.datetime64("2000-01", "M") + 3 * np.arange(n)).astype("datetime64[s]")
    season = np.array([40.0, -10.0, -25.0, -5.0])[np.arange(n) % 4]
    level = 300.0 + 3.0 * np.cumsum(rng.normal(size=n))
    y = level + season + 12.0 * rng.normal(size=n)
    known = Period(YEAR, resolution(YEAR, times, 0.1))
    return Problem.of(times, y, Truth((known,), 1), ahead=8)


def hourly_demand(rng: Generator) -> Problem:
    """Four weeks of hourly demand, workdays and weekends; two days ahead."""
    n = 24 * 30
    days = np.arange(n) / 24.0
    y = 800.0 + 500.0 * week_and_day(days) + 30.0 * autoregressive(rng, n, 6.0)
    times = dates("2023-09-04", n, "1h")
    week, day = (Period(p, resolution(p, times[: 24 * 28], 0.15)) for p in (7.0, 1.0))
    return Problem.of(times, y, Truth((week,), 2, (day,)), ahead=48)


def sensor_drift(rng: Generator) -> Problem:
    """A day in a sensor that drifts away in a straight line; three days ahead. In hours."""
    n = 24 * 23
    t = np.arange(float(n))
    signal = 2.0 * np.cos(2 * np.pi * (t / 24.0 + rng.uniform())) + 0.5 * np.cos(np.pi * t / 6.0)
    slope = 0.01 * t
    y = signal + slope + 0.4 * rng.normal(size=n)
    known = strict(24.0, t, noise=0.4, amplitude=2.0, share=part(signal, y - slope), exact=True)
    return Problem.of(t, y, Truth((known,), 1), ahead=72)


def growing_sales(rng: Generator) -> Problem:
    """Eight years of monthly sales that grow by a tenth a year, season and noise with them."""
    n = 96 + 12
    t = 2010.0 + np.arange(n) / 12.0
    season = 0.15 * np.cos(2 * np.pi * (t + rng.uniform())) + 0.06 * np.cos(4 * np.pi * t)
    y = 200.0 * np.exp(0.1 * (t - t[0]) + season + 0.04 * rng.normal(size=n))
    known = strict(1.0, t, noise=0.04, amplitude=0.15, exact=True)
    return Problem.of(t, y, Truth((known,), 1), ahead=12)


def low_counts(rng: Generator) -> Problem:
    """Three years of weekly cases, few each, more in winter; half a year ahead."""
    n = 156 + 26
    phase = 7.0 * np.arange(n) / YEAR
    rate = 4.0 * np.exp(0.8 * np.cos(2 * np.pi * (phase - 0.05)))
    y = rng.poisson(rate).astype(float)
    times = dates("2016-01-04", n, "7D")
    known = Period(YEAR, resolution(YEAR, times, 0.15), part(rate, y))
    return Problem.of(times, y, Truth((known,), 1), ahead=26)


def missing_blocks(rng: Generator) -> Problem:
    """Two patterns of which six tenths are lost in blocks; the next 60 samples ahead."""
    n = 1500 + 60
    t = np.arange(n) / 10.0
    first, second = rng.uniform(7.0, 9.0), rng.uniform(1.4, 1.9)
    y = np.cos(2 * np.pi * (t / first + rng.uniform()))
    y += 0.7 * np.cos(2 * np.pi * (t / second + rng.uniform())) + 0.3 * rng.normal(size=n)
    lost = np.repeat(rng.uniform(size=n // 15) < 0.6, 15)
    keep = ~lost | (np.arange(n) >= 1500)
    t, y = t[keep], y[keep]
    known = tuple(
        strict(p, t, noise=0.3, amplitude=size, exact=True)
        for p, size in ((first, 1.0), (second, 0.7))
    )
    return Problem.of(t, y, Truth(known, 2), ahead=60)


def jittered_clock(rng: Generator) -> Problem:
    """A tone sampled nearly evenly, with errors from a tenth to three times the noise."""
    n = 440
    t = np.arange(n) + 0.1 * rng.normal(size=n)
    period = rng.uniform(6.0, 12.0)
    errors = 0.5 * np.exp(rng.uniform(np.log(0.1), np.log(3.0), n))
    y = np.cos(2 * np.pi * (t / period + rng.uniform())) + errors * rng.normal(size=n)
    order = np.argsort(t)
    known = strict(period, t, noise=0.3, exact=True)
    return Problem.of(t[order], y[order], Truth((known,), 1), errors[order])


def month_of_tide(rng: Generator) -> Problem:
    """Twenty-nine days of hourly sea level and two days ahead: four constituents, little surge."""
    n = 24 * 31
    t = np.arange(float(n))
    y = 0.05 * autoregressive(rng, n, 20.0) + 0.03 * rng.normal(size=n)
    for period, size in CONSTITUENTS.values():
        y = y + size * np.cos(2 * np.pi * (t / period + rng.uniform()))
    # Surge of 0.05 that forgets in 20 hours has at a day the power of white noise of 0.08.
    known = tuple(
        strict(p, t, noise=0.08, amplitude=size, exact=True) for p, size in CONSTITUENTS.values()
    )
    return Problem.of(t, y, Truth(known, 4), ahead=48)


def two_machines(rng: Generator) -> Problem:
    """Two sharp patterns of their own periods, a third apart; five cycles ahead."""
    n = 1600 + 80
    t = np.arange(n) / 10.0
    first = rng.uniform(3.0, 4.0)
    second = first * rng.uniform(1.25, 1.4)
    y = 0.2 * rng.normal(size=n)
    for period, size in ((first, 1.0), (second, 0.8)):
        phase = (t / period + rng.uniform()) % 1.0
        y += size * np.exp(-0.5 * ((phase - 0.5) / 0.1) ** 2)
    known = tuple(strict(p, t, noise=0.2, amplitude=0.3, exact=True) for p in (first, second))
    return Problem.of(t, y, Truth(known, 2), ahead=80)


def outage(rng: Generator) -> Problem:
    """A day in hourly visits with one outage of two days at zero; two days ahead."""
    n = 24 * 32
    hour = np.arange(n)
    signal = 300.0 * week_and_day((hour / 24.0) % 1.0)
    y = rng.poisson(100.0 + signal).astype(float)
    start = int(rng.integers(24 * 8, 24 * 20))
    wild = (hour >= start) & (hour < start + 48)
    y[wild] = 0.0
    times = dates("2023-01-02", n, "1h")
    share = part(signal[~wild], y[~wild])
    known = Period(1.0, resolution(1.0, times, 0.1), share, exact=True)
    return Problem.of(times, y, Truth((known,), 1), wild=wild, ahead=48)
