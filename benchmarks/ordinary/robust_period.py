"""The synthetic protocol of RobustPeriod, as data: one or three periods, trend, noise, outliers.

Length 1000; sine, square or triangle waves of amplitude 1 and period 100, or 20, 50 and 100
together; a triangle trend of amplitude 10; Gaussian noise of a given variance; a given part of the
samples moved by ±10.

References
----------
.. [1] Q. Wen, K. He, L. Sun, Y. Zhang, M. Ke and H. Xu, "RobustPeriod: Robust time-frequency mining
   for multiple periodicity detection", SIGMOD 2021, section 4.1.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.ordinary.problem import Problem, Truth, strict
from robustfourier.arrays import FloatArray

Shape = Literal["sine", "square", "triangle"]
SHAPES: tuple[Shape, ...] = ("sine", "square", "triangle")
LENGTH, TREND, SPIKE = 1000, 10.0, 10.0
SINGLE, TRIPLE = (100,), (20, 50, 100)
#: Variance of the noise and part of the samples that are outliers, from mild to severe.
SEVERITY = ((0.1, 0.01), (1.0, 0.1), (2.0, 0.2))


def wave(shape: Shape, phase: FloatArray) -> FloatArray:
    """A wave of amplitude one at a phase in cycles; edges lie on samples, so no sine is asked."""
    turn = phase % 1.0
    if shape == "sine":
        return np.asarray(np.sin(2 * np.pi * turn))
    return np.where(turn < 0.5, 1.0, -1.0) if shape == "square" else 1.0 - 4.0 * np.abs(turn - 0.5)


def protocol(
    rng: Generator, periods: tuple[int, ...], shape: Shape, variance: float, outliers: float
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return times, values, the trend and which values are outliers, each of shape (1000,)."""
    t = np.arange(float(LENGTH))
    y = sum((wave(shape, t / period) for period in periods), np.zeros(LENGTH))
    y = y + np.sqrt(variance) * rng.normal(size=LENGTH)
    trend = TREND * (1.0 - np.abs(2.0 * t / (LENGTH - 1) - 1.0))
    wild = np.zeros(LENGTH, bool)
    wild[rng.choice(LENGTH, round(outliers * LENGTH), replace=False)] = True
    y[wild] += SPIKE * rng.choice([-1.0, 1.0], int(wild.sum()))
    return t, y + trend, trend, wild


def protocol_problem(
    rng: Generator, periods: tuple[int, ...], shape: Shape, severity: tuple[float, float]
) -> Problem:
    """One cell of the protocol as a problem."""
    t, y, _, wild = protocol(rng, periods, shape, *severity)
    size = 1.0 if shape == "sine" else 0.8  # of the fundamental of a triangle
    known = tuple(strict(p, t, noise=np.sqrt(severity[0]), amplitude=size) for p in periods)
    return Problem.of(t, y, Truth(known, len(periods)), wild=wild)


_CELLS: dict[str, tuple[tuple[int, ...], Shape, tuple[float, float]]] = {
    "three_sines": (TRIPLE, "sine", SEVERITY[0]),
    "three_squares": (TRIPLE, "square", SEVERITY[0]),
    "triangle_many_outliers": (SINGLE, "triangle", SEVERITY[2]),
    "sine_some_outliers": (SINGLE, "sine", SEVERITY[1]),
}
VARIANTS = {
    name: partial(protocol_problem, periods=periods, shape=shape, severity=severity)
    for name, (periods, shape, severity) in _CELLS.items()
}
