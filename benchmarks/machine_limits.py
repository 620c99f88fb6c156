"""What the machine can do at best on one core: a streaming triad and a multiply-add loop."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.verdicts import timed

_DEGREE = 32
_REPEATS = 9


@njit(fastmath=True)
def _triad(a, b, c, scale):  # type: ignore[no-untyped-def]
    for i in range(a.size):
        a[i] = b[i] + scale * c[i]


@njit(fastmath={"contract"})  # nothing may be simplified away
def _multiply_adds(x, scale, shift, rounds):  # type: ignore[no-untyped-def]
    # four chains for each of many numbers: enough in flight to hide the latency of one
    for _ in range(rounds):
        for i in range(x.size):
            p = q = r = s = x[i]
            for _ in range(8):
                p = p * scale + shift
                q = q * shift + scale
                r = r * scale + scale
                s = s * shift + shift
            x[i] = p + q + r + s


def triad_bandwidth(n_bytes: int, dtype: str) -> float:
    """Return bytes per second of a = b + s·c on arrays that take `n_bytes` together."""
    number = np.dtype(dtype).type
    n = max(n_bytes // (3 * np.dtype(dtype).itemsize), 1)
    a, b, c = (np.ones(n, dtype) for _ in range(3))
    rounds = max(1, 50_000_000 // n_bytes)

    def work() -> None:
        for _ in range(rounds):
            _triad(a, b, c, number(0.5))

    return rounds * 3 * a.nbytes / min(timed(work, _REPEATS))


def multiply_add_rate(dtype: str) -> float:
    """Return multiply-adds per second on numbers that stay in the nearest cache."""
    number = np.dtype(dtype).type
    x, rounds = np.ones(1024, dtype), 400

    def work() -> None:
        _multiply_adds(x, number(0.999), number(0.001), rounds)

    return rounds * x.size * _DEGREE / min(timed(work, _REPEATS))
