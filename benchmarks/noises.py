"""Eight kinds of noise without any period, at any times.

A process with memory is drawn on a grid 16 times finer than the mean distance of the samples, and
read off at the grid point next to each sample. Memories and periods are in mean distances, so that
a kind is the same on an even grid, at irregular times and in nights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator
from scipy.signal import lfilter

from robustfourier.arrays import FloatArray

FINE = 16  # grid points per mean distance of samples


def autoregressive(rng: Generator, n: int, memory: float) -> FloatArray:
    """Return n values of an AR(1) process of variance one; correlations are exp(−lag / memory)."""
    keep = np.exp(-1.0 / memory)
    steps = np.sqrt(1.0 - keep**2) * rng.normal(size=n)
    steps[0] = rng.normal()
    return np.asarray(lfilter([1.0], [1.0, -keep], steps))


def resonance(rng: Generator, n: int, period: float, memory: float) -> FloatArray:
    """Return n values of an AR(2) process of variance one, a hump of width 1/(2π memory)."""
    keep = np.exp(-1.0 / memory)
    poles = [1.0, -2.0 * keep * np.cos(2 * np.pi / period), keep**2]
    burn = int(10 * memory)
    y = lfilter([1.0], poles, rng.normal(size=n + burn))[burn:]
    # Yule and Walker: the variance of an AR(2) process driven by noise of variance one.
    first, second = -poles[1], -poles[2]
    r1 = first / (1.0 - second)
    return np.asarray(y * np.sqrt(1.0 - first * r1 - second * (first * r1 + second)))


def flicker(rng: Generator, n: int) -> FloatArray:
    """Return n values of noise with power 1/f, of variance one over the record."""
    spectrum = rng.normal(size=n // 2 + 1) + 1j * rng.normal(size=n // 2 + 1)
    spectrum[1:] /= np.sqrt(np.arange(1, n // 2 + 1))
    spectrum[0] = 0.0
    y = np.fft.irfft(spectrum, n)
    return np.asarray(y / np.std(y))


def _on_grid(process: Callable[[int], FloatArray], t: FloatArray) -> FloatArray:
    """Values at t, in mean distances from the first sample, of a process drawn on the fine grid."""
    place = np.rint(FINE * t).astype(int)
    return process(int(place.max()) + 1)[place]


def white(rng: Generator, t: FloatArray) -> FloatArray:
    """White noise."""
    return rng.normal(size=len(t))


def heavy_tails(rng: Generator, t: FloatArray) -> FloatArray:
    """Student's law with three degrees of freedom."""
    return rng.standard_t(3, size=len(t))


def changing_size(rng: Generator, t: FloatArray) -> FloatArray:
    """White noise whose deviation changes slowly by a factor of two either way."""
    size = _on_grid(lambda n: autoregressive(rng, n, FINE * len(t) / 5.0), t)
    return np.exp(0.7 * size) * rng.normal(size=len(t))


def ar_90(rng: Generator, t: FloatArray) -> FloatArray:
    """AR(1) noise of 0.9 from sample to sample."""
    return _on_grid(lambda n: autoregressive(rng, n, -FINE / np.log(0.9)), t)


def ar_97(rng: Generator, t: FloatArray) -> FloatArray:
    """AR(1) noise of 0.97 from sample to sample."""
    return _on_grid(lambda n: autoregressive(rng, n, -FINE / np.log(0.97)), t)


def walk(rng: Generator, t: FloatArray) -> FloatArray:
    """A random walk, seen with white noise of three steps."""
    path = _on_grid(lambda n: np.cumsum(rng.normal(size=n)) / np.sqrt(FINE), t)
    return path + 3.0 * rng.normal(size=len(t))


def hump(rng: Generator, t: FloatArray) -> FloatArray:
    """A resonance of nine samples that rings for one cycle (AR(2), poles of modulus 0.9)."""
    return _on_grid(lambda n: resonance(rng, n, 9.0 * FINE, -FINE / np.log(0.9)), t)


def pink(rng: Generator, t: FloatArray) -> FloatArray:
    """Flicker noise, power 1/f."""
    return _on_grid(lambda n: flicker(rng, n), t)


KINDS: dict[str, Callable[[Generator, FloatArray], FloatArray]] = {
    kind.__name__: kind
    for kind in (white, heavy_tails, changing_size, ar_90, ar_97, walk, hump, pink)
}


def even(rng: Generator, n: int) -> FloatArray:  # noqa: ARG001
    """Whole numbers."""
    return np.arange(float(n))


def irregular(rng: Generator, n: int) -> FloatArray:
    """Uniform random times."""
    return np.sort(rng.uniform(0.0, float(n), n))


def nightly(rng: Generator, n: int) -> FloatArray:
    """Five samples within eight hours, night by night, with every fifth night lost to clouds."""
    nights = int(np.ceil(n / 5 * 1.25))
    clear = np.sort(rng.choice(nights, int(np.ceil(n / 5)), replace=False))
    t = (clear[:, None] + rng.uniform(0.0, 1.0 / 3.0, (len(clear), 5))).ravel()[:n]
    return np.sort(t) * n / nights


SAMPLINGS: dict[str, Callable[[Generator, int], FloatArray]] = {
    sampling.__name__: sampling for sampling in (even, irregular, nightly)
}
