"""Series that follow the calendar: people, sales, weather. Times are dates, periods are in days."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from benchmarks.noises import autoregressive
from benchmarks.ordinary.problem import Period, Problem, Truth, about, resolution, strict
from robustfourier.arrays import FloatArray

YEAR = 365.25
# Load over a day, hour by hour, as fractions of its range: night, morning rise, evening peak.
WORKDAY = np.array([20, 14, 10, 8, 9, 16, 36, 62, 80, 86, 88, 89, 88, 86, 84, 83, 86, 94, 100, 95,
                    84, 70, 50, 32]) / 100.0  # fmt: skip
RESTDAY = np.array([24, 17, 12, 9, 8, 9, 12, 20, 34, 48, 56, 60, 62, 58, 52, 50, 52, 60, 68, 70,
                    66, 58, 46, 34]) / 100.0  # fmt: skip


def dates(start: str, n: int, step: str) -> Any:
    """Return n dates from `start`, such as ``dates("2021-01-04", 10, "1D")``."""
    count, unit = int(step[:-1]), step[-1]
    return np.datetime64(start, "s") + np.arange(n) * np.timedelta64(count, unit)


def week_and_day(days: FloatArray) -> FloatArray:
    """Workdays and rest days, each with its own shape over the hours; days count from a Monday."""
    hour = (days % 1.0) * 24.0
    ring = np.arange(25)
    work = np.interp(hour, ring, np.append(WORKDAY, WORKDAY[0]))
    rest = np.interp(hour, ring, np.append(RESTDAY, RESTDAY[0]))
    return np.where(days % 7.0 < 5.0, work, rest)


def weekday_share(y: FloatArray, mean: Any = np.mean) -> float:
    """Share of the variance of a daily series that the means of the seven weekdays explain."""
    weekday = np.arange(len(y)) % 7
    means = np.array([mean(y[weekday == day]) for day in range(7)])
    return float(np.var(means[weekday]) / np.var(y))


def a_week(times: Any) -> Truth:
    """The truth about a week of different days: a week; its day may be reported beside it.

    The family of a week holds the day as its order 7, so one pattern is enough. Breathing and noise
    with memory leave a tenth of the resolution open.
    """
    week, day = (Period(length, resolution(length, times, 0.1)) for length in (7.0, 1.0))
    return Truth((week,), 2, (day,))


def cloudy_days(rng: Generator) -> Problem:
    """Sixty days of hourly temperatures: the day is weaker under clouds, which stay for days."""
    n = 24 * 60
    hour = np.arange(n)
    clouds = np.exp(0.45 * autoregressive(rng, n, 48.0))
    shape = np.cos(2 * np.pi * (hour - 15) / 24.0) + 0.2 * np.cos(4 * np.pi * (hour - 14) / 24.0)
    y = 18.0 + 4.0 * clouds * shape + 2.0 * autoregressive(rng, n, 72.0) + 0.2 * rng.normal(size=n)
    times = dates("2022-06-01", n, "1h")
    return Problem.of(times, y, Truth((strict(1.0, times),), 1))


def road_traffic(rng: Generator) -> Problem:
    """Eight weeks of vehicles per hour; on three holidays a workday looks like a Sunday."""
    n = 24 * 56
    days = np.arange(n) / 24.0
    free = rng.choice(np.flatnonzero(np.arange(56) % 7 < 5), 3, replace=False)
    shape = week_and_day(np.where(np.isin(np.floor(days), free), days % 1.0 + 6.0, days))
    y = rng.poisson(80.0 + 900.0 * shape * np.exp(0.08 * autoregressive(rng, n, 3.0))).astype(float)
    times = dates("2022-04-04", n, "1h")
    return Problem.of(times, y, a_week(times))


def weekly_sales(rng: Generator) -> Problem:
    """Five years of weekly sales with a yearly season, a peak in December and missing weeks."""
    times = dates("2017-01-02", 261, "7D")
    phase = np.arange(261) * 7.0 / YEAR
    away = np.abs((phase - 0.955 + 0.5) % 1.0 - 0.5)
    y = 1000.0 * (
        1.0 + 0.15 * np.cos(2 * np.pi * (phase - 0.5)) + 0.5 * np.exp(-((away / 0.035) ** 2))
    )
    y *= 1.0 + 0.05 * rng.normal(size=261)
    keep = rng.uniform(size=261) > rng.uniform(0.05, 0.12)
    times, y = times[keep], y[keep]
    return Problem.of(times, y, Truth((strict(YEAR, times, noise=50.0, amplitude=150.0),), 1))


def temperature_clock_change(rng: Generator) -> Problem:
    """Ten weeks of hourly temperatures in local time, one hour skipped or repeated midway."""
    n, change = 24 * 70, 24 * 35 + 2
    true = np.arange(n)
    weather = 1.5 * autoregressive(rng, n, 60.0)
    y = 14.0 + 4.0 * np.cos(2 * np.pi * (true - 15) / 24.0) + np.cos(4 * np.pi * (true - 14) / 24.0)
    y = y + weather + 0.3 * rng.normal(size=n)
    autumn = bool(rng.integers(2))
    hours = true + np.where(true >= change, -1 if autumn else 1, 0)
    start = np.datetime64("2022-09-25" if autumn else "2022-02-20", "s")
    times = start + hours * np.timedelta64(1, "h")
    # The clock moves 1/24 of a cycle, below a tenth. That it moved is for the reader of the file
    # to notice; the fit sees one repeated or one missing time. What adds must not be multiplied.
    return Problem.of(times, y, Truth((strict(1.0, times),), 1, must_not_say=("logarithm",)))


def electricity_half_hourly(rng: Generator) -> Problem:
    """Six weeks of demand every half hour: a week whose day breathes, with slow drift."""
    n = 48 * 42
    days = np.arange(n) / 48.0
    breath = 1.0 + 0.12 * autoregressive(rng, n, 48.0 * 10.0)
    y = 30e3 + 15e3 * breath * week_and_day(days) + 600.0 * autoregressive(rng, n, 48.0 * 4.0)
    y += 150.0 * rng.normal(size=n)
    times = dates("2021-06-07", n, "30m")
    return Problem.of(times, y, a_week(times))


def electricity_hourly(rng: Generator) -> Problem:
    """Twelve weeks of hourly load, higher in the cold."""
    n = 24 * 84
    days = np.arange(n) / 24.0
    breath = 1.0 + 0.2 * autoregressive(rng, n, 24.0 * 20.0)
    y = 500.0 + 300.0 * breath * week_and_day(days) + 15.0 * autoregressive(rng, n, 72.0)
    y += 6.0 * rng.normal(size=n)
    times = dates("2020-10-05", n, "1h")
    return Problem.of(times, y, a_week(times))


def web_daily(rng: Generator) -> Problem:
    """Two years of daily visits: weekends low, holidays lower, growth, memory in the noise."""
    n = 730
    day = np.arange(n)
    week = np.array([1.0, 1.06, 1.08, 1.05, 0.95, 0.62, 0.66])[day % 7]
    y = 2000.0 * np.exp(0.4 * day / n + 0.05 * autoregressive(rng, n, 5.0)) * week
    holidays = rng.choice(n, 20, replace=False)
    y[holidays] *= 0.6
    y = np.round(y * np.exp(0.04 * rng.normal(size=n)))
    times = dates("2021-01-04", n, "1D")
    around = y - np.polyval(np.polyfit(day, y, 2), day)
    share = about(weekday_share(y), weekday_share(np.log(y)), weekday_share(around))
    # No upper bound: to whom the holidays are outliers, the week is nearly all.
    wild = np.isin(day, holidays)
    return Problem.of(times, y, Truth((strict(7.0, times, share=(share[0], 1.0)),), 1), wild=wild)


def web_hourly(rng: Generator) -> Problem:
    """Five weeks of hourly visits, counted."""
    n = 24 * 35
    days = np.arange(n) / 24.0
    y = 60.0 + 400.0 * week_and_day(days) * np.exp(0.06 * autoregressive(rng, n, 48.0))
    times = dates("2023-03-06", n, "1h")
    return Problem.of(times, rng.poisson(y).astype(float), a_week(times))


def retail_week_and_year(rng: Generator) -> Problem:
    """Three years of daily sales: a week and a year that have nothing to do with each other."""
    n = 1096
    day = np.arange(n)
    week = np.array([-0.10, -0.14, -0.10, -0.03, 0.07, 0.30, 0.0])[day % 7]
    season = 0.25 * np.cos(2 * np.pi * (day / YEAR - 0.9)) + 0.08 * np.cos(4 * np.pi * day / YEAR)
    y = 100.0 * (3.0 + week + season + 0.08 * rng.normal(size=n))
    times = dates("2019-01-07", n, "1D")
    both = (
        strict(7.0, times, noise=8.0, amplitude=10.0, share=about(1e4 * np.var(week) / np.var(y))),
        strict(
            YEAR, times, noise=8.0, amplitude=25.0, share=about(1e4 * np.var(season) / np.var(y))
        ),
    )
    return Problem.of(times, y, Truth(both, 2))


def long_tailed_week(rng: Generator) -> Problem:
    """One loud day a week, whose height follows a lognormal law."""
    n = 365
    day = np.arange(n)
    y = 20.0 + 2.0 * rng.normal(size=n)
    y += np.where(day % 7 == rng.integers(7), 40.0 * np.exp(0.4 * rng.normal(size=n)), 0.0)
    times = dates("2022-01-03", n, "1D")
    # Mean heights or, to whom outliers do not count, median ones; and if the scatter of the heights
    # is left out of the variation too, nearly all of it.
    share = (about(weekday_share(y), weekday_share(y, np.median))[0], 1.0)
    week = strict(7.0, times, noise=8.0, amplitude=12.0, share=share)
    return Problem.of(times, y, Truth((week,), 1))


def counts(rng: Generator) -> Problem:
    """Admissions per day, a handful each, fewer at weekends."""
    n = 450
    rate = np.array([6.0, 5.4, 5.0, 4.8, 4.6, 2.6, 2.8])[np.arange(n) % 7]
    times = dates("2021-02-01", n, "1D")
    y = rng.poisson(rate).astype(float)
    week = strict(7.0, times, noise=2.1, amplitude=1.4, share=about(weekday_share(y)))
    return Problem.of(times, y, Truth((week,), 1))


def co2(rng: Generator) -> Problem:
    """Monthly concentrations over 25 years: a bending rise and a season of two harmonics."""
    n = 300
    t = np.arange(n) / 12.0
    rise = 1.3 * t + 0.014 * t**2
    y = 330.0 + rise + 2.8 * np.cos(2 * np.pi * (t - 0.38)) + 0.8 * np.cos(4 * np.pi * (t - 0.1))
    y += 0.35 * autoregressive(rng, n, 8.0) + 0.15 * rng.normal(size=n)
    times = np.datetime64("1975-01", "M") + np.arange(n)
    times = times.astype("datetime64[D]").astype("datetime64[s]")
    # Months of 28 to 31 days put dates up to two days off an even year; noise with memory 0.35
    # at both ends, five times, is 2.5.
    season = strict(YEAR, times, noise=0.4, amplitude=2.8)
    rises = (float(rise[-1] - rise[0]), 2.5)
    return Problem.of(times, y, Truth((season,), 1, rise=rises, must_not_say=("logarithm",)))


def passengers(rng: Generator) -> Problem:
    """Twelve years of monthly passengers: growth times season. Times in years."""
    n = 144
    t = 1949.0 + np.arange(n) / 12.0
    factor = np.array([-9, -12, 2, 0, -1, 12, 22, 21, 7, -7, -20, -8])[np.arange(n) % 12] / 100.0
    y = 120.0 * np.exp(0.12 * (t - t[0]) + factor + 0.04 * autoregressive(rng, n, 6.0))
    y = np.round(y * np.exp(0.02 * rng.normal(size=n)))
    # The season, 0.124 times the mean of 270, squared is 8 % of the variance of the values, 116²;
    # of the logarithms it is 0.0155 of 0.19, 8 % as well. Around the trend it is nearly all: of the
    # logarithms 0.0155 against 0.0016 + 0.0004 of noise.
    # Sizes that grow with the level are to be reported as such.
    season = strict(1.0, t, share=about(0.08, 0.89))
    return Problem.of(t, y, Truth((season,), 1, must_say=("logarithm",)))


def passengers_by_date(rng: Generator) -> Problem:
    """The same, as files have it: the first day of each month, whose lengths differ."""
    drawn = passengers(rng)
    months = np.datetime64("1949-01", "M") + np.arange(len(drawn.values))
    times = months.astype("datetime64[s]")
    season = strict(YEAR, times, share=about(0.08, 0.89))
    return Problem.of(times, drawn.values, Truth((season,), 1, must_say=("logarithm",)))


def growing_seasons(rng: Generator) -> Problem:
    """Three clean yearly cycles whose height grows along a linear trend."""
    n = 157
    times = dates("2020-01-06", n, "7D")
    u = np.arange(n) / n
    phase = np.arange(n) * 7.0 / YEAR + rng.uniform()
    y = 50.0 + 20.0 * u + (4.0 + 8.0 * u) * np.cos(2 * np.pi * phase) + rng.normal(size=n)
    # A height that doubles twice over leaves the middle of the record where it is: strict.
    return Problem.of(times, y, Truth((strict(YEAR, times, noise=1.0, amplitude=8.0),), 1))


def two_years_temperature(rng: Generator) -> Problem:
    """Two years of temperatures every six hours: a year, a day, and weather."""
    n = 2922
    days = np.arange(n) / 4.0
    y = 10.0 + 8.0 * np.cos(2 * np.pi * (days - 200.0) / YEAR)
    y += 3.0 * np.cos(2 * np.pi * (days - 0.6)) + 2.5 * autoregressive(rng, n, 12.0)
    y += 0.5 * rng.normal(size=n)
    times = dates("2018-01-01", n, "6h")
    # Weather of 2.5 that forgets in 3 days is 120 independent values, noise 0.31 per amplitude:
    # five standard errors √(6/120)/π · 0.31 are 0.11 resolutions; two cycles beside a trend
    # double that.
    year = Period(YEAR, resolution(YEAR, times, 0.22))
    both = (year, strict(1.0, times, noise=2.5, amplitude=3.0))
    return Problem.of(times, y, Truth(both, 2))


def week_summed_by_month(rng: Generator) -> Problem:
    """Twelve years of monthly sums of a daily series that has a week: 87.4 days is the calendar."""
    days = np.datetime64("2008-01-01", "D") + np.arange(4383)
    weekday = (days.astype(int) + 3) % 7
    daily = np.array([1.1, 1.1, 1.1, 1.1, 1.2, 0.9, 0.2])[weekday] + 0.1 * rng.normal(size=4383)
    month = days.astype("datetime64[M]")
    times, place = np.unique(month, return_inverse=True)
    length = np.bincount(place)
    y = 100.0 * np.bincount(place, daily) / length
    times = times.astype("datetime64[s]")
    month_days = YEAR / 12.0
    image = 1.0 / (5.0 / month_days - 1.0 / 7.0), 1.0 / (1.0 / 7.0 - 4.0 / month_days)
    known = Period(image[1], resolution(image[1], times, 0.5), instead=(
        Period(7.0, resolution(7.0, times, 0.5)),))  # fmt: skip
    # Months of different lengths smear the image, and put further ones beside it.
    other = tuple(Period(value, 0.02 * value) for value in (image[0], 348.0, YEAR))
    return Problem.of(times, y, Truth((known,), 3, other, must_say=(r"week|calendar|trading",)))
