"""Patterns that change: rates that drift, modes that ring, and noise that looks like a period."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from benchmarks import noises
from benchmarks.ordinary.problem import Period, Problem, Truth, about, nothing, resolution, strict


def drifting_heart(rng: Generator) -> Problem:
    """A minute of heart beats whose rate rises by a fifth, as in somebody who stands up."""
    t = np.arange(3000) / 50.0
    rate = rng.uniform(1.0, 1.3) * (1.0 + 0.2 * t / 60.0)
    rate *= 1.0 + 0.01 * noises.autoregressive(rng, 3000, 400.0)
    phase = np.cumsum(rate) / 50.0
    beat = phase % 1.0
    y = np.exp(-0.5 * ((beat - 0.3) / 0.03) ** 2) + 0.3 * np.exp(-0.5 * ((beat - 0.6) / 0.07) ** 2)
    y += 0.05 * rng.normal(size=3000)
    mean = 60.0 / float(phase[-1] - phase[0])
    known = Period(mean, 0.11 * mean, wanders=True)  # the rates of the record, ten percent each way
    return Problem.of(t, y, Truth((known,), 1))


def ringing_modes(rng: Generator) -> Problem:
    """Seven modes, each rung by noise and damped within ten cycles: none of them is a line."""
    n = 3000
    t = np.arange(n) / 10.0
    periods = 1.0 / (0.5 + 0.35 * np.arange(7) + 0.02 * rng.normal(size=7))
    y = 0.1 * rng.normal(size=n)
    for period in periods:
        y += noises.resonance(rng, n, 10.0 * period, 100.0 * period)
    # Half width of a hump that is damped within ten cycles: 1/(2π 10) of its frequency; four each.
    known = tuple(Period(p, 4.0 * p / (20.0 * np.pi), wanders=True) for p in periods)
    return Problem.of(t, y, Truth((), 7, known))


def chirp(rng: Generator) -> Problem:
    """A tone whose frequency doubles over the record: no period is strict."""
    t = np.arange(1200) / 20.0
    low = rng.uniform(0.4, 0.7)
    y = np.cos(2 * np.pi * low * (t + t**2 / 120.0)) + 0.3 * rng.normal(size=1200)
    middle = 1.0 / (1.5 * low)
    known = Period(middle, 0.55 * middle, wanders=True)
    return Problem.of(t, y, Truth((), 1, (known,)))


def phase_jump(rng: Generator) -> Problem:
    """A clock that is set forward by a third of a cycle midway."""
    n = 800
    t = np.arange(n) / 10.0
    period = rng.uniform(2.0, 4.0)
    late = np.where(t > rng.uniform(30.0, 50.0), 1.0 / 3.0, 0.0)
    y = np.cos(2 * np.pi * (t / period + late + rng.uniform())) + 0.3 * rng.normal(size=n)
    known = Period(period, resolution(period, t, 0.5), wanders=True)
    return Problem.of(t, y, Truth((known,), 1))


def fading(rng: Generator) -> Problem:
    """A bell struck once: one tone whose height falls to a tenth, period strict."""
    n = 1000
    t = np.arange(n) / 20.0
    period = rng.uniform(0.8, 1.4)
    signal = np.exp(-2.3 * t / t[-1]) * np.cos(2 * np.pi * (t / period + rng.uniform()))
    y = signal + 0.1 * rng.normal(size=n)
    share = (about(float(np.var(signal) / np.var(y)))[0] - 0.3, 1.0)  # its mean height, or all
    return Problem.of(t, y, Truth((Period(period, resolution(period, t, 0.2), share),), 1))


def noise_alone(rng: Generator, kind: str, sampling: str, n: int) -> Problem:
    """One of `noises`, in which nothing repeats."""
    t = noises.SAMPLINGS[sampling](rng, n)
    return Problem.of(t, noises.KINDS[kind](rng, t), nothing())


VARIANTS = {
    "short_hump": partial(noise_alone, kind="hump", sampling="even", n=60),
    "short_red": partial(noise_alone, kind="ar_97", sampling="even", n=60),
    "red_nights": partial(noise_alone, kind="ar_90", sampling="nightly", n=200),
    "flicker_nights": partial(noise_alone, kind="pink", sampling="nightly", n=400),
}


def pulses(rng: Generator) -> Problem:
    """One sample in 40 to 90 is high by seven to thirteen times the noise, always at one phase."""
    t = np.arange(2000.0)
    period = float(rng.integers(40, 90))
    signal = rng.uniform(2.0, 4.0) * (t % period == rng.integers(period))
    y = signal + 0.3 * rng.normal(size=len(t))
    return Problem.of(t, y, Truth((strict(period, t),), 1))


def seasonal_noise(rng: Generator) -> Problem:
    """Noise whose size follows the year around a constant mean: no value repeats. In years."""
    t = np.arange(520) / 52.0
    y = 10.0 + np.exp(0.7 * np.cos(2 * np.pi * t)) * rng.normal(size=520)
    return Problem.of(t, y, nothing())


def week_with_steps_and_outliers(rng: Generator) -> Problem:
    """A year of daily values: a week, two changes of level, and four in a hundred values wild."""
    n = 365 + 28
    day = np.arange(float(n))
    week = np.array([0.0, 0.3, 0.4, 0.3, 0.1, -0.9, -0.2])[np.arange(n) % 7]
    level = np.where(day < rng.uniform(90, 150), 0.0, 3.0) - np.where(
        day < rng.uniform(220, 290), 0.0, 1.5
    )
    y = 20.0 + level + week + 0.25 * rng.normal(size=n)
    wild = (rng.uniform(size=n) < 0.04) & (day < 365)
    y[wild] += rng.choice([-1.0, 1.0], int(wild.sum())) * rng.uniform(4.0, 12.0, int(wild.sum()))
    share = about(float(np.var(week) / np.var((y - level)[~wild])))
    known = strict(7.0, day, noise=0.25, amplitude=0.4, share=share, exact=True)
    return Problem.of(day, y, Truth((known,), 1), wild=wild, ahead=28)
