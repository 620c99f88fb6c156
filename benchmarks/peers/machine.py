"""What this machine can do on one thread: memory traffic, multiply-adds, Fourier transforms."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.fft import rfft

from benchmarks.peers.face import FloatArray
from benchmarks.verdicts import timed

REPEATS = 7
STREAM = 8_000_000  # float64 per array: far beyond any cache
CACHED = 32_768  # float64 in two arrays that stay in the second cache
ACCUMULATORS = 64  # independent sums: enough to hide the latency of any vector unit
SQUARE = 512
BLOCK = 1 << 16  # length of the reference transform


@dataclass(frozen=True)
class Machine:
    """Rates of one thread, each the best of several runs.

    Attributes
    ----------
    triad : float
        Bytes per second of a ← b + s·c on arrays in memory.
    cached : float
        Bytes per second read by a dot product of arrays in cache.
    multiply_add : float
        Floating-point operations per second of independent multiply-adds in a compiled loop.
    product : float
        The same of a product of 512 × 512 matrices, where BLAS uses all that the processor has.
    transform : float
        Operations per second of a real FFT of 65 536 points, counted as 2.5 N log₂ N.
    """

    triad: float
    cached: float
    multiply_add: float
    product: float
    transform: float

    @property
    def arithmetic(self) -> float:
        """The most operations per second that anything here reaches."""
        return max(self.multiply_add, self.product)


def measure() -> Machine:
    """Measure the rates; takes about two seconds."""
    rng = np.random.default_rng(0)
    b, c = rng.random(STREAM), rng.random(STREAM)
    a = np.zeros(STREAM)
    small = rng.random(CACHED)
    sums = np.zeros(ACCUMULATORS)
    turns, loops = 200_000, 200
    signal, matrix = rng.random(BLOCK), rng.random((SQUARE, SQUARE))
    return Machine(
        triad=24.0 * STREAM / best(lambda: _triad(a, b, c, 1.5)),
        cached=16.0 * CACHED * loops / best(lambda: _dots(small, small[::-1].copy(), loops)),
        multiply_add=2.0 * ACCUMULATORS * turns / best(lambda: _multiply_add(sums, turns)),
        product=2.0 * SQUARE**3 / best(lambda: matrix @ matrix),
        transform=real_fft_work(BLOCK) / best(lambda: rfft(signal)),
    )


def real_fft_work(length: int) -> float:
    """Operations of a real FFT by the usual count, 2.5 N log₂ N."""
    return 2.5 * length * float(np.log2(max(length, 2)))


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Shortest processor time of a call, after one to warm up."""
    return min(timed(work, repeats, time.process_time))


@njit(fastmath=True, cache=False)
def _triad(a: FloatArray, b: FloatArray, c: FloatArray, s: float) -> None:
    for i in range(a.size):
        a[i] = b[i] + s * c[i]


@njit(fastmath=True, cache=False)
def _dots(a: FloatArray, b: FloatArray, loops: int) -> float:
    total = 0.0
    for k in range(loops):
        part = 0.0
        for i in range(a.size):
            part += a[i] * b[i]
        total += part * (k + 1)
    return total


@njit(fastmath=True, cache=False)
def _multiply_add(sums: FloatArray, turns: int) -> None:
    x = sums.copy()
    for _ in range(turns):
        for j in range(64):
            x[j] = x[j] * 0.999 + 1e-3
    sums[:] = x
