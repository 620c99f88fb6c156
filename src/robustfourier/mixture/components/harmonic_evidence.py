"""Cells: all priors of the harmonics of one parity, and averages over them, compiled.

In units of the noise the prior covariance of a parity is K = D + A² t tᵀ with D diagonal, for every
decay (s, r), scale C, template t and size A, a *cell*; `waveform` says what for. With d = 1/(1 + D)
and q = tᵀ d t, (1 + K)⁻¹ = d − A² (d t)(d t)ᵀ / (1 + A² q), and smoothing is 1 − (1 + K)⁻¹.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray, IntArray, Matrix, Tensor, Vector
from robustfourier.compiling import compiled, inlined

POWERS = np.array([0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0])  # s
RATES = np.array([0.0, 0.03, 0.06, 0.1, 0.15, 0.25, 0.5])  # r
SCALES = 10.0 ** np.arange(-3.0, 10.1, 0.5)  # C over the variance of a coefficient
SIZES = 10.0 ** np.arange(0.0, 10.1, 0.5)  # A² over that variance
PLACES = np.linspace(0.0, 0.5 * np.pi, 5)  # x₀; π − x₀ is the same for one parity
# A template gains most at the largest size, but for the width of its prior, which costs less than
# e¹⁵ there. Of fewer than e¹³ cells those that have e⁻⁶⁰ of the best at most are left out.
_NEGLIGIBLE = 60.0
_UNSEEN = 36.0  # e⁻³⁶ of an average is the rounding of its sum


class Cells(NamedTuple):
    """The cells of one parity.

    Parameters
    ----------
    x : ndarray of shape (H,)
        Coefficients in units of their standard errors.
    decay : ndarray of shape (S, R, H)
    templates : ndarray of shape (T, H)
    scales, sizes : ndarray
    """

    x: FloatArray
    decay: FloatArray
    templates: FloatArray
    scales: FloatArray
    sizes: FloatArray

    @classmethod
    def of(cls, order: IntArray, x: FloatArray, variance: FloatArray) -> Cells:
        """Return the cells of harmonics of some orders, all odd or all even."""
        templates = _templates(tuple(order.tolist()))
        return cls(x, decays(order, variance), templates, SCALES, SIZES)

    def evidence(self) -> FloatArray:
        """Return the log evidence of each decay, relative to pure noise, shape (S, R)."""
        result = np.empty(self.decay.shape[:2])
        _evidence(*self, result)
        return result

    def moments(self, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return smoothing matrix, spread, both averaged over decays, and means of each decay."""
        size = len(self.x)
        matrix, spread = np.zeros((size, size)), np.zeros((size, size))
        means = np.zeros((*weight.shape, size))
        _moments(weight, *self, matrix, spread, means)
        return matrix, spread, means


def decays(order: IntArray, variance: FloatArray) -> FloatArray:
    """Return the decay of prior over sampling variance, 1 at most; axes: power s, rate r, order."""
    return _shapes(tuple(order.tolist())) * (variance.min() / variance)


@lru_cache(maxsize=256)  # patterns of a survey have the same orders
def _shapes(order: tuple[int, ...]) -> FloatArray:
    """Decay of the prior variance of some orders, 1 at most, shape (S, R, H)."""
    n = np.array(order, np.float64)
    log_shape = -2.0 * POWERS[:, None, None] * np.log(n) - 2.0 * RATES[None, :, None] * n
    return np.asarray(np.exp(log_shape - log_shape.max(-1, keepdims=True)))


@lru_cache(maxsize=256)
def _templates(order: tuple[int, ...]) -> FloatArray:
    """Different series cos(nx₀ − c) of mean square one, shape (T, H)."""
    angle = np.multiply.outer(PLACES, order)
    waves = np.stack([np.cos(angle), np.sin(angle)], axis=1).reshape(-1, len(order))
    size = np.sqrt(np.mean(waves**2, axis=1))
    waves = waves[size >= 1e-6] / size[size >= 1e-6, None]
    apart = np.minimum(*(np.ptp(waves[:, None] + s * waves, axis=-1) for s in (-1.0, 1.0)))
    # A series that is like one before it is left out.
    return np.asarray(waves[~np.any(np.tril(apart < 1e-6, -1), axis=1)])


_PARTS: Annotated[Vector, 13] = 1.0 / np.arange(1.0, 14.0)  # of Taylor's series


@compiled
def _exponential(x: float) -> float:
    """e^x for x from −64 to 0, to thirteen digits: what a compiler can do four at a time.

    Taylor's series for the 128th part of x, which is at most a half, then squared seven times.
    """
    result, part = 1.0, x / 128.0
    for k in range(13, 0, -1):
        result = 1.0 + result * (part * _PARTS[k - 1])
    for _ in range(7):
        result *= result
    return result


@inlined
def _fill_waves(decay: Vector, templates: Matrix, waves: Matrix) -> None:
    """Write the templates under a decay, as standard deviations."""
    for t in range(len(templates)):
        for h in range(len(decay)):
            waves[t, h] = np.sqrt(decay[h]) * templates[t, h]


@compiled
def _log_cells(
    x: Vector,
    decay: Vector,
    templates: Matrix,
    scales: Vector,
    sizes: Vector,
    u: Matrix,
    q: Matrix,
    cell: Tensor,
) -> float:
    """Write the log evidence of all cells of one decay, but for ½ log(1 + A² q); the largest.

    `cell` has shape (C, 1 + T, A); first, in [C, 0, 0], that without a template.
    """
    bound, d, waves = -np.inf, np.empty(len(x)), np.empty((len(templates), len(x)))
    _fill_waves(decay, templates, waves)
    largest = sizes[len(sizes) - 1]
    for c in range(len(scales)):
        total, product = 0.0, 1.0
        for h in range(len(x)):
            d[h] = 1.0 / (1.0 + scales[c] * decay[h])
            total += x[h] * x[h] * (1.0 - d[h])
            product *= d[h]
            if product < 1e-200:
                total, product = total + np.log(product), 1.0
        plain = 0.5 * (total + np.log(product))
        cell[c, 0, 0], bound = plain, max(bound, plain)
        for t in range(len(templates)):
            along, across = 0.0, 0.0
            for h in range(len(x)):
                along += d[h] * x[h] * waves[t, h]
                across += d[h] * waves[t, h] * waves[t, h]
            u[c, t], q[c, t] = along, across
            most = 0.5 * largest * along * along / (1.0 + largest * across)
            cell[c, 1 + t, 0], bound = most, max(bound, plain + most)
    best, last = -np.inf, len(sizes) - 1
    for c in range(len(scales)):
        plain = cell[c, 0, 0]
        best = max(best, plain)
        for t in range(len(templates)):
            if plain + cell[c, 1 + t, 0] < bound - _NEGLIGIBLE:
                cell[c, 1 + t] = -np.inf
                continue
            for a in range(len(sizes)):
                growth = 1.0 + sizes[a] * q[c, t]
                cell[c, 1 + t, a] = plain + 0.5 * sizes[a] * u[c, t] * u[c, t] / growth
            best = max(best, cell[c, 1 + t, last])  # the largest size gains most
    return best


@compiled
def _evidence(
    x: Vector, shape: Tensor, templates: Matrix, scales: Vector, sizes: Vector, result: Matrix
) -> None:
    """Write the log evidence of each decay (s, r), the mean over its cells."""
    count, cells = len(templates), len(templates) * len(sizes)
    u, q = np.empty((len(scales), count)), np.empty((len(scales), count))
    cell, last = np.empty((len(scales), 1 + count, len(sizes))), len(sizes) - 1
    for s in range(shape.shape[0]):
        for r in range(shape.shape[1]):
            best = _log_cells(x, shape[s, r], templates, scales, sizes, u, q, cell)
            weight = 0.0
            for c in range(len(scales)):
                weight += 0.5 * np.exp(cell[c, 0, 0] - best)
                for t in range(count):
                    if cell[c, 1 + t, last] == -np.inf:
                        continue
                    some = 0.0
                    for a in range(len(sizes)):
                        less = _exponential(max(cell[c, 1 + t, a] - best, -64.0))
                        some += less / np.sqrt(1.0 + sizes[a] * q[c, t])
                    weight += 0.5 / cells * some
            result[s, r] = best + np.log(weight / len(scales))


@compiled
def _moments(
    weight: Matrix, x: Vector, shape: Tensor, templates: Matrix, scales: Vector, sizes: Vector,
    matrix: Matrix, spread: Matrix, means: Tensor,
) -> None:  # fmt: skip
    """Add smoothing matrix and spread, averaged over decays; write the mean of each decay.

    The mean of a cell is (1 − d) x + p d t, with p = A² tᵀdx / (1 + A² q).
    """
    size, count, cells = len(x), len(templates), len(templates) * len(sizes)
    u, q = np.empty((len(scales), count)), np.empty((len(scales), count))
    cell = np.empty((len(scales), 1 + count, len(sizes)))
    d, turned, waves = np.empty(size), np.empty(size), np.empty((count, size))
    one, second = np.empty((size, size)), np.empty((size, size))
    last = len(sizes) - 1
    for s in range(shape.shape[0]):
        for r in range(shape.shape[1]):
            if weight[s, r] < np.exp(-_UNSEEN):
                continue
            best = _log_cells(x, shape[s, r], templates, scales, sizes, u, q, cell)
            one[:], second[:], total = 0.0, 0.0, 0.0
            _fill_waves(shape[s, r], templates, waves)
            for c in range(len(scales)):
                for h in range(size):
                    d[h] = 1.0 / (1.0 + scales[c] * shape[s, r, h])
                whole = 0.5 * np.exp(cell[c, 0, 0] - best)
                for t in range(count):
                    if cell[c, 1 + t, last] < best - _UNSEEN:  # the largest size gains most
                        continue
                    shrunk = pushed = twice = 0.0
                    for a in range(len(sizes)):
                        growth = 1.0 + sizes[a] * q[c, t]
                        part = _exponential(max(cell[c, 1 + t, a] - best, -64.0))
                        part *= 0.5 / cells / np.sqrt(growth)
                        push = sizes[a] * u[c, t] / growth
                        whole += part
                        shrunk += part * sizes[a] / growth
                        pushed += part * push
                        twice += part * push * push
                    for h in range(size):
                        turned[h] = d[h] * waves[t, h]
                    for h in range(size):
                        crossed = pushed * (1.0 - d[h]) * x[h] + 0.5 * twice * turned[h]
                        for k in range(size):
                            one[h, k] += shrunk * turned[h] * turned[k]
                            second[h, k] += crossed * turned[k]
                total += whole
                for h in range(size):
                    one[h, h] += whole * (1.0 - d[h])
                    own = 0.5 * whole * (1.0 - d[h]) * x[h]
                    for k in range(size):
                        second[h, k] += own * (1.0 - d[k]) * x[k]
            for h in range(size):
                mean = 0.0
                for k in range(size):
                    mean += one[h, k] * x[k]
                means[s, r, h] = mean / total
            share = weight[s, r]
            for h in range(size):
                for k in range(size):
                    matrix[h, k] += share * one[h, k] / total
                    both = (second[h, k] + second[k, h]) / total
                    spread[h, k] += share * (both - means[s, r, h] * means[s, r, k])
