"""Cycles of which a part is never sampled, one record at several rates, values that are equal."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from benchmarks.noises import autoregressive
from benchmarks.ordinary.calendars import YEAR, dates, week_and_day, weekday_share
from benchmarks.ordinary.problem import Period, Problem, Truth, about, resolution, strict


def daytime_temperatures(rng: Generator) -> Problem:
    """Hourly temperatures from 8 to 18 h over sixty days: the nights are never seen."""
    day = np.repeat(np.arange(60.0), 11)
    hour = np.tile(np.arange(8.0, 19.0), 60)
    n = len(day)
    weather = 2.0 * autoregressive(rng, 60, 3.0)[day.astype(int)]
    signal = 6.0 * np.cos(2 * np.pi * (hour - 15.0) / 24.0)
    y = 15.0 + signal + weather + 0.5 * rng.normal(size=n)
    times = np.datetime64("2022-05-01", "s") + (24.0 * day + hour).astype(int) * np.timedelta64(
        1, "h"
    )
    # Of the variance the visible part of the day is reported, or that of a whole day.
    whole = 18.0 / (18.0 + 4.25)
    share = about(float(np.var(signal) / np.var(y)), whole)
    known = Period(1.0, resolution(1.0, times, 0.1), share, exact=True)
    return Problem.of(times, y, Truth((known,), 1))


def office_hours(rng: Generator) -> Problem:
    """Calls per hour, Monday to Friday from 9 to 17 h, for twelve weeks."""
    days = np.arange(84 * 24) / 24.0
    hour = np.rint(days % 1.0 * 24.0)
    days = days[(days % 7.0 < 5.0) & (hour >= 9.0) & (hour <= 17.0)]
    hour = np.rint(days % 1.0 * 24.0)
    shape = np.exp(-0.5 * ((hour - 10.5) / 1.5) ** 2) + 0.8 * np.exp(
        -0.5 * ((hour - 15.0) / 1.3) ** 2
    )
    rate = 20.0 + 60.0 * shape * np.array([1.3, 1.0, 0.95, 0.95, 0.8])[(days % 7.0).astype(int)]
    y = rng.poisson(rate).astype(float)
    times = np.datetime64("2023-01-02", "s") + np.rint(days * 24).astype(int) * np.timedelta64(
        1, "h"
    )
    week, day = (Period(p, resolution(p, times, 0.1)) for p in (7.0, 1.0))
    # One pattern of a week holds the day; the day alone is most of it.
    known = Period(1.0, day.tolerance, instead=(week,))
    return Problem.of(times, y, Truth((known,), 2, (week,)))


def without_weekends(rng: Generator) -> Problem:
    """Half-hourly load on workdays alone: a day, and gaps of two days each week."""
    days = np.arange(48 * 42) / 48.0
    days = days[days % 7.0 < 5.0]
    signal = 20.0 * week_and_day(days % 1.0)
    y = 50.0 + signal + 1.5 * rng.normal(size=len(days))
    times = np.datetime64("2023-02-06", "s") + np.rint(days * 1440).astype(int) * np.timedelta64(
        1, "m"
    )
    share = about(float(np.var(signal) / np.var(y)))
    known = Period(1.0, resolution(1.0, times, 0.1), share, exact=True)
    return Problem.of(times, y, Truth((known,), 1))


def three_weeks(rng: Generator, per_day: int) -> Problem:
    """Three weeks of a room's power, read so many times a day: the same week at any rate.

    Weekends are lower by a third; what people do forgets in three hours.
    """
    n = 21 * per_day
    days = np.arange(n) / per_day
    signal = 400.0 * week_and_day(days)
    y = 200.0 + signal + 25.0 * autoregressive(rng, n, per_day / 8.0) + 10.0 * rng.normal(size=n)
    times = np.datetime64("2023-05-01", "s") + np.arange(n) * np.timedelta64(86400 // per_day, "s")
    week, day = (Period(p, resolution(p, times, 0.15)) for p in (7.0, 1.0))
    return Problem.of(times, y, Truth((week,), 2, (day,)))


VARIANTS = {
    "three_weeks_hourly": partial(three_weeks, per_day=24),
    "three_weeks_ten_minutes": partial(three_weeks, per_day=144),
    "three_weeks_two_minutes": partial(three_weeks, per_day=720),
}


def rain(rng: Generator) -> Problem:
    """Four years of daily rain: dry on half of the days, wetter and more often in winter."""
    n = 1461 + 60
    day = np.arange(n)
    season = np.cos(2 * np.pi * (day / YEAR - 0.05))
    wet = rng.uniform(size=n) < 0.45 + 0.3 * season
    y = np.round(np.where(wet, rng.gamma(0.8, 7.0 * (1.0 + 0.5 * season)), 0.0), 1)
    mean = (0.45 + 0.3 * season) * 0.8 * 7.0 * (1.0 + 0.5 * season)
    share = about(float(np.var(mean) / np.var(y)))
    times = dates("2018-01-01", n, "1D")
    known = Period(YEAR, resolution(YEAR, times, 0.25), share)
    return Problem.of(times, y, Truth((known,), 1), ahead=60)


def intermittent_demand(rng: Generator) -> Problem:
    """A spare part, two years: sold on some days, mostly Mondays and Fridays, a few at a time."""
    n = 730 + 56
    weekday = np.arange(n) % 7
    chance = np.array([0.75, 0.3, 0.25, 0.3, 0.7, 0.1, 0.05])[weekday]
    y = np.where(rng.uniform(size=n) < chance, 1.0 + rng.poisson(2.0, n), 0.0)
    times = dates("2021-01-04", n, "1D")
    known = Period(7.0, resolution(7.0, times, 0.1), about(weekday_share(y)))
    return Problem.of(times, y, Truth((known,), 1), ahead=56)


def solar_power(rng: Generator) -> Problem:
    """Sixty days of hourly output: nothing at night, less under clouds."""
    n = 24 * 64
    hour = np.arange(n) % 24
    sun = np.maximum(np.cos(2 * np.pi * (hour - 12.5) / 24.0) + 0.1, 0.0) / 1.1
    clear = 1.0 - 0.6 * (autoregressive(rng, n, 20.0) > 0.6) * rng.uniform(0.5, 1.0, n)
    y = np.round(5.0 * sun * clear, 2)
    times = dates("2023-06-01", n, "1h")
    mean = 5.0 * sun * clear.mean()
    known = Period(1.0, resolution(1.0, times, 0.1), about(float(np.var(mean) / np.var(y))))
    return Problem.of(times, y, Truth((known,), 1), ahead=96)


def saturated(rng: Generator) -> Problem:
    """A gauge that stops at its upper limit, where a third of the values lie."""
    n = 900
    t = np.arange(n) / 10.0
    period = rng.uniform(2.5, 4.5)
    clean = np.cos(2 * np.pi * (t / period + rng.uniform())) + 0.15 * rng.normal(size=n)
    y = np.minimum(clean, 0.5)
    known = strict(period, t, noise=0.15, share=(0.85, 1.0), exact=True)
    return Problem.of(t, y, Truth((known,), 1), ahead=90)


def duty_cycle(rng: Generator) -> Problem:
    """A compressor that runs a quarter of the time, two readings a minute, off is exactly zero."""
    n = 1440
    t = np.arange(n) / 2.0
    period = rng.uniform(17.0, 29.0)
    on = (t / period + rng.uniform()) % 1.0 < 0.25
    y = np.where(on, 1.5 + 0.05 * rng.normal(size=n), 0.0)
    known = strict(period, t, noise=0.05, amplitude=0.6, share=(0.85, 1.0), exact=True)
    return Problem.of(t, y, Truth((known,), 1), ahead=120)
