"""Stars with few epochs, long gaps or odd shapes. Times in days."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.random import Generator

from benchmarks.ordinary.problem import Period, Problem, Truth, about, resolution, strict
from benchmarks.ordinary.stars import YEAR, harmonics, nights
from robustfourier.arrays import FloatArray


def epochs(rng: Generator, n: int, seasons: int = 9) -> FloatArray:
    """Draw n epochs over so many seasons of 80 days, the star high at about the same hour.

    As in Stripe 82 of SDSS: one visit a night, most seasons with few, the last ones with many.
    """
    weight = np.linspace(0.3, 1.7, seasons)
    per_season = rng.multinomial(n, weight / weight.sum())
    days = [
        rng.choice(80, count, replace=False) + round(season * YEAR)
        for season, count in enumerate(per_season)
    ]
    night = np.sort(np.concatenate(days)).astype(float)
    # A star crosses the meridian four minutes earlier each night: two hours in a month.
    return night + 0.3 - (night % YEAR) / YEAR + rng.uniform(-0.05, 0.05, len(night))


def _star(
    rng: Generator, t: FloatArray, shape: FloatArray, noise: float, period: float, *, half: bool
) -> Problem:
    errors = noise * np.exp(0.2 * rng.normal(size=len(t)))
    y = 17.0 + shape + errors * rng.normal(size=len(t))
    known = replace(strict(period, t, noise=noise, amplitude=0.2), exact=True)
    if half:
        known = replace(known, instead=(strict(0.5 * period, t, noise=noise, amplitude=0.2),))
    # Between few epochs a shape has room; what is reported may not pass all of it.
    return Problem.of(t, y, Truth((replace(known, share=(0.7, 1.0)),), 1), errors)


def sparse_rr_lyrae(rng: Generator) -> Problem:
    """Forty to ninety epochs of an RR Lyrae over nine seasons."""
    t = epochs(rng, int(rng.integers(40, 91)))
    period = rng.uniform(0.45, 0.68)
    sizes, lags = [0.36, 0.18, 0.13, 0.09, 0.05], [0.0, 3.9, 1.8, 5.9, 3.7]
    return _star(rng, t, harmonics(t / period + rng.uniform(), sizes, lags), 0.02, period,
                 half=False)  # fmt: skip


def sparse_cepheid(rng: Generator) -> Problem:
    """Forty to ninety epochs of a Cepheid over nine seasons."""
    t = epochs(rng, int(rng.integers(40, 91)))
    period = rng.uniform(3.0, 15.0)
    shape = harmonics(t / period + rng.uniform(), [0.35, 0.14, 0.06], [0.0, 4.4, 2.6])
    return _star(rng, t, shape, 0.02, period, half=False)


def sparse_contact_binary(rng: Generator) -> Problem:
    """Sixty to ninety epochs of a contact binary: two dips that are nearly alike."""
    t = epochs(rng, int(rng.integers(60, 91)))
    period = rng.uniform(0.28, 0.45)
    shape = harmonics(t / period + rng.uniform(), [0.01, 0.25, 0.01, 0.05], [0.0, 0.0, 0.0, 0.0])
    return _star(rng, t, shape, 0.02, period, half=True)


def two_seasons_apart(rng: Generator) -> Problem:
    """Two seasons five years apart: many periods fit, and the error has to say so."""
    first = np.sort(rng.uniform(0.0, 120.0, 120))
    t = np.concatenate([first, 5.0 * YEAR + np.sort(rng.uniform(0.0, 120.0, 120))])
    period = rng.uniform(2.0, 6.0)
    y = 12.0 + harmonics(t / period + rng.uniform(), [0.25, 0.12, 0.05], [0.0, 1.0, 2.0])
    y += 0.05 * rng.normal(size=len(t))
    # Each season knows the period to a few hundredths of its own resolution, P²/120; which of the
    # places P²/1826 apart it is may stay open, if the stated error covers it.
    known = Period(period, 0.05 * period**2 / 120.0, (0.8, 1.0), exact=True)
    return Problem.of(t, y, Truth((known,), 1, total=1))


def binary_without_harmonic(rng: Generator) -> Problem:
    """An eclipsing binary one of whose harmonics is missing; nothing else is there."""
    t = nights(rng, 450, 4.0)
    period = rng.uniform(0.9, 3.4)
    order = np.arange(1, 13)
    sizes = 0.2 * np.exp(-((order / 7.0) ** 2))
    sizes[rng.integers(2, 6)] = 0.0
    sizes[0::2] *= 0.4
    shape = harmonics(t / period + rng.uniform(), list(sizes), [0.0] * 12)
    y = 14.0 + shape + 0.015 * rng.normal(size=len(t))
    known = strict(period, t, noise=0.015, amplitude=0.2, share=(0.9, 1.0), exact=True)
    return Problem.of(t, y, Truth((known,), 1, total=1), np.full(len(t), 0.015))


def mira_few_cycles(rng: Generator) -> Problem:
    """Three and a half cycles of a Mira, on nights of seven months a year."""
    t = nights(rng, 250, 3.6)
    period = YEAR * 3.6 / rng.uniform(3.3, 4.2)
    phase = t / period + rng.uniform()
    y = 10.0 + harmonics(phase, [2.0, 0.5], [0.0, 4.5]) + 0.15 * rng.normal(size=len(t))
    known = Period(period, resolution(period, t, 0.2), (0.75, 1.0), exact=True)
    return Problem.of(t, y, Truth((known,), 1))


def detached_binary(rng: Generator) -> Problem:
    """Two narrow eclipses of different depth: what distinguishes them is in many weak harmonics."""
    t = np.sort(rng.uniform(0.0, 400.0, 500))
    period = rng.uniform(1.5, 4.0)
    phase = (t / period + rng.uniform()) % 1.0
    dips = 0.4 * np.exp(-0.5 * ((phase - 0.25) / 0.02) ** 2)
    dips += 0.2 * np.exp(-0.5 * ((phase - 0.75) / 0.02) ** 2)
    return _star(rng, t, dips, 0.02, period, half=False)


def transits(rng: Generator) -> Problem:
    """A planet before its star: dips of three hours, every ten minutes for 27 days."""
    t = np.arange(27 * 144) / 144.0
    t = t[(t < 13.0) | (t > 14.2)]
    period = rng.uniform(1.5, 3.5)
    phase = (t - rng.uniform(0.0, period)) / period
    dip = np.abs((phase + 0.5) % 1.0 - 0.5) * period < 1.5 / 24.0
    y = 1000.0 - 3.0 * dip + rng.normal(size=len(t))
    known = Period(period, resolution(period, t, 0.1), about(float(np.var(3.0 * dip) / np.var(y))),
                  exact=True)  # fmt: skip
    return Problem.of(t, y, Truth((known,), 1))


def blazhko(rng: Generator) -> Problem:
    """An RR Lyrae whose height changes over 60 days by a quarter: sidebands at every harmonic."""
    t = nights(rng, 500, 2.5)
    period, slow = rng.uniform(0.5, 0.6), rng.uniform(50.0, 70.0)
    height = 1.0 + 0.25 * np.cos(2 * np.pi * (t / slow + rng.uniform()))
    shape = harmonics(t / period + rng.uniform(), [0.36, 0.18, 0.1], [0.0, 3.9, 1.8])
    y = 15.0 + height * shape + 0.02 * rng.normal(size=len(t))
    known = strict(period, t, noise=0.05, amplitude=0.36)
    sides = tuple(
        Period(p, resolution(p, t, 0.25))
        for order in (1.0, 2.0, 3.0)
        for sign in (-1.0, 1.0)
        for p in (1.0 / (order / period + sign / slow),)
    )
    return Problem.of(t, y, Truth((known,), 5, (*sides, strict(slow, t))), np.full(len(t), 0.02))
