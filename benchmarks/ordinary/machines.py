"""Machines and signals: vibration, hum, pulses, heart beats, clean waveforms. Times in seconds."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from benchmarks.noises import autoregressive
from benchmarks.ordinary.problem import Period, Problem, Truth, resolution, strict
from robustfourier.arrays import FloatArray


def vibration(rng: Generator) -> Problem:
    """A shaft near 25 turns a second whose speed drifts by a few parts in a thousand."""
    t = np.arange(3000) / 1000.0
    speed = rng.uniform(23.0, 27.0) * (1.0 + 0.002 * autoregressive(rng, len(t), 1500.0))
    turn = np.cumsum(speed) / 1000.0
    y = np.cos(2 * np.pi * turn) + 0.5 * np.cos(4 * np.pi * turn + 1.0)
    y += 0.3 * np.cos(8 * np.pi * turn + 2.0) + 0.3 * rng.normal(size=len(t))
    period = 3.0 / float(turn[-1] - turn[0])
    # 0.2 % of 75 turns is 0.15 of a turn, two to three times as large at the ends.
    return Problem.of(t, y, Truth((Period(period, resolution(period, t, 0.5)),), 1))


def two_hums(rng: Generator) -> Problem:
    """Two machines some four modes apart, each with a second harmonic."""
    t = np.arange(2400) / 300.0
    first = rng.uniform(24.0, 25.0)
    second = first + rng.uniform(3.0, 5.0) / 8.0
    y = 0.4 * rng.normal(size=len(t))
    for frequency, size in ((first, 1.0), (second, 0.7)):
        phase = 2 * np.pi * (frequency * t + rng.uniform())
        y += size * (np.cos(phase) + 0.4 * np.cos(2.0 * phase + 1.0))
    known = tuple(strict(1.0 / f, t, noise=0.4, amplitude=0.7) for f in (first, second))
    return Problem.of(t, y, Truth(known, 2))


def close_hums(rng: Generator) -> Problem:
    """Two sinusoids two modes apart: a slow beat."""
    t = np.arange(1200) / 100.0
    first = rng.uniform(8.0, 9.0)
    second = first + rng.uniform(1.8, 2.5) / 12.0
    y = np.cos(2 * np.pi * (first * t + rng.uniform()))
    y += 0.8 * np.cos(2 * np.pi * (second * t + rng.uniform())) + 0.3 * rng.normal(size=len(t))
    known = tuple(strict(1.0 / f, t, noise=0.3, amplitude=0.8) for f in (first, second))
    return Problem.of(t, y, Truth(known, 2))


def pulses(rng: Generator) -> Problem:
    """Sharp pulses, a fiftieth of the period wide."""
    t = np.arange(2000) / 100.0
    period = rng.uniform(0.7, 1.1)
    phase = (t / period + rng.uniform()) % 1.0 - 0.5
    y = np.exp(-0.5 * (phase / 0.02) ** 2) + 0.08 * rng.normal(size=len(t))
    return Problem.of(t, y, Truth((strict(period, t, noise=0.08, amplitude=0.1),), 1))


def heart_beats(rng: Generator) -> Problem:
    """Forty seconds of beats whose rate wanders by 3 %, as it does with breath."""
    t = np.arange(2000) / 50.0
    rate = rng.uniform(1.0, 1.4)
    breath = np.sin(2 * np.pi * 0.23 * t + rng.uniform(0, 6.3))
    phase = (
        np.cumsum(rate * (1.0 + 0.02 * breath + 0.02 * autoregressive(rng, len(t), 400.0))) / 50.0
    )
    beat = phase % 1.0
    y = np.exp(-0.5 * ((beat - 0.3) / 0.03) ** 2) + 0.3 * np.exp(-0.5 * ((beat - 0.6) / 0.07) ** 2)
    y += 0.05 * rng.normal(size=len(t))
    period = 40.0 / float(phase[-1] - phase[0])
    # Wandering of 2 % with a memory of 8 s moves the mean over 40 s by 2 % · √(16/40) = 1.3 %,
    # and the strongest stretch of beats may stand for all: within 2 %.
    return Problem.of(t, y, Truth((Period(period, 0.02 * period),), 1))


def waveform(rng: Generator, shape: str, noise: float = 0.1) -> Problem:
    """Half up and half down, a ramp that falls back, or whether a sine is positive."""
    t = np.arange(600) / 20.0
    period = rng.uniform(1.7, 3.3)
    phase = (t / period + rng.uniform()) % 1.0
    y: FloatArray = {
        "square": np.where(phase < 0.5, 1.0, -1.0),
        "sawtooth": 2.0 * phase - 1.0,
        "positive": (np.sin(2 * np.pi * phase) > 0).astype(float),
    }[shape]
    y = y + noise * rng.normal(size=len(t))
    share = (0.85, 1.0) if noise < 0.2 else (0.0, 1.0)
    return Problem.of(t, y, Truth((strict(period, t, noise=noise, amplitude=0.6, share=share),), 1))


VARIANTS = {
    "square_wave": partial(waveform, shape="square"),
    "sawtooth": partial(waveform, shape="sawtooth"),
    "sine_positive": partial(waveform, shape="positive", noise=0.01),
}


def rounded(rng: Generator) -> Problem:
    """A sine of amplitude 1.5 read from a display without decimals."""
    t = np.arange(800) / 10.0
    period = rng.uniform(3.0, 7.0)
    y = np.round(
        1.5 * np.sin(2 * np.pi * (t / period + rng.uniform())) + 0.3 * rng.normal(size=800)
    )
    known = strict(period, t, noise=0.5, amplitude=1.5, share=(0.7, 1.0))
    return Problem.of(t, y, Truth((known,), 1))


def outliers(rng: Generator) -> Problem:
    """Two patterns, and one value in twenty that is wild."""
    t = np.sort(rng.uniform(0.0, 60.0, 700))
    slow, fast = rng.uniform(6.0, 8.0), rng.uniform(1.2, 1.5)
    y = np.sin(2 * np.pi * t / slow) + 0.6 * np.cos(2 * np.pi * t / fast)
    y += 0.2 * rng.normal(size=700)
    wild = rng.uniform(size=700) < 0.05
    y[wild] += 20.0 * rng.normal(size=int(wild.sum()))
    # Of the variance without the wild values, 0.72, the two have 69 and 25 %.
    known = (
        strict(slow, t, noise=0.4, amplitude=1.0, share=(0.4, 0.9)),
        strict(fast, t, noise=0.4, amplitude=0.6, share=(0.12, 0.45)),
    )
    return Problem.of(t, y, Truth(known, 2), wild=wild)


def irregular_tones(rng: Generator) -> Problem:
    """Three sinusoids at irregular times with a gap."""
    t = np.sort(np.concatenate([rng.uniform(0.0, 40.0, 250), rng.uniform(60.0, 100.0, 250)]))
    periods = (rng.uniform(7.0, 9.0), rng.uniform(3.0, 3.5), rng.uniform(1.1, 1.3))
    y = 0.5 * rng.normal(size=500)
    for period in periods:
        y += np.cos(2 * np.pi * (t / period + rng.uniform()))
    return Problem.of(t, y, Truth(tuple(strict(p, t, noise=0.5) for p in periods), 3))


def few_samples(rng: Generator) -> Problem:
    """Eighty samples of one sinusoid, twice the noise."""
    t = np.sort(rng.uniform(0.0, 20.0, 80))
    period = rng.uniform(1.5, 4.0)
    y = np.cos(2 * np.pi * (t / period + rng.uniform())) + 0.5 * rng.normal(size=80)
    return Problem.of(t, y, Truth((strict(period, t, noise=0.5),), 1))
