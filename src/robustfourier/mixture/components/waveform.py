"""Waveform smoothing: how much of each harmonic of a family to believe.

A waveform with N harmonics fitted by least squares rings with noise; one cut off at the harmonics
that are significant alone rings with the cut. Instead the harmonics are shrunk as the data choose.
In a family the coefficient of order n has prior variance

    C · n^(-2s) · e^(-2rn),    C for odd and for even orders apart,

which covers corners (s), analytic links such as tanh(10 x) (r) and half-wave symmetry (one C near
zero). The fundamental is never shrunk.

What is sharp in a link is often sharp in one place. A jump or kink of g(cos x) at ±x₀ has
coefficients A n^(-s) e^(-rn) cos(nx₀ − c): a *template* with one unknown, the size A. For harmonics
in phase the prior is therefore a mixture, half as above, half with a template besides (x₀ in steps
of a sixteenth of a turn, c a quarter turn or none, A of any size).

The evidence is known in closed form for every prior on a grid of (s, r, C, A); the smoothing is
the average over it, weighted by evidence. There is no optimiser, so it is smooth in the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray, IntArray
from robustfourier.compiling import compiled

__all__ = ["Smoothing", "evidence", "prior_precision", "shrinkage", "smoother"]


POWERS = np.array([0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0])  # s
RATES = np.array([0.0, 0.03, 0.06, 0.1, 0.15, 0.25, 0.5])  # r
SCALES = 10.0 ** np.arange(-3.0, 10.1, 0.5)  # C over the variance of a coefficient
SIZES = 10.0 ** np.arange(0.0, 10.1, 0.5)  # A² over that variance
PLACES = np.linspace(0.0, 0.5 * np.pi, 5)  # x₀; π − x₀ is the same for one parity


@dataclass(frozen=True)
class Smoothing:
    """How to smooth H coefficients, in units of their standard errors.

    Parameters
    ----------
    matrix : ndarray of shape (H, H)
        Symmetric, with eigenvalues in (0, 1): turns coefficients into posterior means; it is also
        the covariance that is left on average.
    spread : ndarray of shape (H, H)
        Covariance of the posterior means of the different priors: what is unknown because the
        prior is.
    log_evidence : float
        Relative to pure noise.
    """

    matrix: FloatArray
    spread: FloatArray
    log_evidence: float

    def doubted(self, weight: float, x: FloatArray) -> Smoothing:
        """Return the smoothing if harmonics are there with probability `weight` only.

        Parameters
        ----------
        weight : float
        x : ndarray of shape (H,)
            The coefficients, in units of their standard errors.

        Examples
        --------
        A coefficient of 4 that is believed as it is, or not at all: 2, give or take 2.

        >>> sure = Smoothing(np.eye(1), np.zeros((1, 1)), 0.0)
        >>> half = sure.doubted(0.5, np.array([4.0]))
        >>> half.matrix @ [4.0], half.spread
        (array([2.]), array([[4.]]))
        """
        mean = self.matrix @ x
        spread = weight * self.spread + weight * (1.0 - weight) * np.outer(mean, mean)
        return Smoothing(weight * self.matrix, spread, self.log_evidence)


def shrinkage(
    order: IntArray, squares: FloatArray, variance: FloatArray, parts: int
) -> tuple[FloatArray, float]:
    """Return the factor of each harmonic in (0, 1) without templates, and the log evidence.

    Parameters
    ----------
    order : ndarray of int of shape (H,)
        Orders n, the fundamental left out.
    squares : ndarray of shape (H,)
        Sum of squares of the fitted coefficients of each order.
    variance : ndarray of shape (H,)
        Sampling variance of each coefficient.
    parts : int
        Coefficients per order that went into `squares`: 2 for cosine and sine, 1 if in phase.

    Returns
    -------
    factor : ndarray of shape (H,)
        Posterior mean over fitted coefficient.
    log_evidence : float
        Relative to pure noise, so that priors on the same coefficients can be compared.

    Examples
    --------
    A clear third harmonic: odd orders are kept, the more so the lower they are; even ones go.

    >>> order = np.array([2, 3, 4, 5])
    >>> factor, evidence = shrinkage(order, np.array([1.0, 500.0, 1.0, 80.0]), np.ones(4), parts=1)
    >>> factor.round(1)
    array([0.2, 1. , 0.1, 1. ])
    """
    log_evidence = np.zeros((len(POWERS), len(RATES)))
    factor = np.zeros((len(POWERS), len(RATES), len(order)))
    for same in _parities(order):
        excess, shape = squares[same] / variance[same], _shape(order[same], variance[same])
        factor[..., same], part = _shrunk(excess, shape, SCALES, parts)
        log_evidence += part
    weight, total = _normalised(log_evidence)
    return np.tensordot(weight, factor, axes=2), total


def smoother(order: IntArray, coefficient: FloatArray, variance: FloatArray) -> Smoothing:
    """Return the smoothing of harmonics in phase, with templates.

    Parameters
    ----------
    order : ndarray of int of shape (H,)
        Orders n, the fundamental left out.
    coefficient : ndarray of shape (H,)
        Fitted signed coefficients along the common phase.
    variance : ndarray of shape (H,)
        Their sampling variances.

    Examples
    --------
    A square wave has coefficients 1, −1/3, 1/5, …: the regular series is believed as a whole,
    also where its members are well below the noise of 0.02.

    >>> order = np.arange(2, 40)
    >>> square = np.where(order % 2 == 1, np.sin(0.5 * np.pi * order) / order, 0.0)
    >>> noise = 0.02 * np.random.default_rng(0).normal(size=38)
    >>> smoothing = smoother(order, square + noise, np.full(38, 0.02**2))
    >>> float(np.std(smoothing.matrix @ (square + noise) - square).round(3)), 0.02
    (0.004, 0.02)
    """
    x, parts = coefficient / np.sqrt(variance), _parities(order)
    cells = [_cells(order[same], x[same], variance[same]) for same in parts]
    log_weight = np.sum([_evidence(*one) for one in cells], axis=0)
    weight, total = _normalised(log_weight)
    matrix, spread = np.zeros((2, len(order), len(order)))
    means = np.zeros((*log_weight.shape, len(order)))  # of each decay (s, r)
    for same, one in zip(parts, cells, strict=True):
        place = np.ix_(same, same)
        matrix[place], spread[place], means[..., same] = _moments(weight, *one)
    off = means - matrix @ x
    spread += np.einsum("sr,srh,srk->hk", weight, off, off)
    return Smoothing(matrix, spread, total)


def evidence(order: IntArray, coefficient: FloatArray, variance: FloatArray) -> float:
    """Return the log evidence of `smoother` alone, which takes a fraction of its time."""
    x, total = coefficient / np.sqrt(variance), np.zeros((len(POWERS), len(RATES)))
    for same in _parities(order):
        total += _evidence(*_cells(order[same], x[same], variance[same]))
    return _normalised(total)[1]


def prior_precision(matrix: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the Gaussian prior under which a smoothing matrix is the posterior mean.

    With noise V and prior precision P the posterior mean is (V⁻¹ + P)⁻¹ V⁻¹; solved for P.

    >>> prior_precision(np.array([[0.8]]), np.array([2.0]))  # 1/8 : prior variance is 4 × noise
    array([[0.125]])
    """
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    kept = np.clip(values, 1e-12, 1.0 - 1e-12)
    root = 1.0 / np.sqrt(variance)
    inner = (vectors * ((1.0 - kept) / kept)) @ vectors.T
    return np.asarray(root[:, None] * inner * root)


def _parities(order: IntArray) -> list[IndexArray]:
    """Places of even and of odd orders, where there are any."""
    places = [np.flatnonzero(order % 2 == parity) for parity in (0, 1)]
    return [place for place in places if len(place)]


def _shape(order: IntArray, variance: FloatArray) -> FloatArray:
    """Decay of prior over sampling variance, 1 at most; axes: power s, rate r, order."""
    n = order.astype(np.float64)
    log_shape = -2.0 * POWERS[:, None, None] * np.log(n) - 2.0 * RATES[None, :, None] * n
    log_shape = log_shape - log_shape.max(-1, keepdims=True)
    return np.asarray(np.exp(log_shape) * (variance.min() / variance))


def _normalised(log_weight: FloatArray) -> tuple[FloatArray, float]:
    """Weights that sum to one, and the log of their mean."""
    best = log_weight.max()
    weight = np.exp(log_weight - best)
    total = weight.sum()
    return weight / total, float(best + np.log(total / weight.size))


@compiled
def _shrunk(excess: Any, shape: Any, scales: Any, parts: int) -> Any:
    """Return the factor of each coefficient and the log evidence, for each decay (s, r).

    A coefficient that is N(0, prior + noise) against one that is N(0, noise), over all scales C.
    """
    n_powers, n_rates, size = shape.shape
    factor, evidence = np.zeros(shape.shape), np.empty((n_powers, n_rates))
    logs = np.empty(len(scales))
    for s in range(n_powers):
        for r in range(n_rates):
            for c in range(len(scales)):
                logs[c], product = 0.0, 1.0
                for h in range(size):
                    d = 1.0 / (1.0 + scales[c] * shape[s, r, h])
                    logs[c] += 0.5 * excess[h] * (1.0 - d)
                    product *= d
                    if product < 1e-200:
                        logs[c], product = logs[c] + 0.5 * parts * np.log(product), 1.0
                logs[c] += 0.5 * parts * np.log(product)
            best, total = logs.max(), 0.0
            for c in range(len(scales)):
                weight = np.exp(logs[c] - best)
                total += weight
                for h in range(size):
                    factor[s, r, h] += weight * (1.0 - 1.0 / (1.0 + scales[c] * shape[s, r, h]))
            factor[s, r] /= total
            evidence[s, r] = best + np.log(total / len(scales))
    return factor, evidence


def _templates(order: IntArray) -> FloatArray:
    """Different series cos(nx₀ − c) of mean square one, shape (T, H)."""
    angle = np.multiply.outer(PLACES, order)
    waves = np.stack([np.cos(angle), np.sin(angle)], axis=1).reshape(-1, len(order))
    size = np.sqrt(np.mean(waves**2, axis=1))
    waves = waves[size >= 1e-6] / size[size >= 1e-6, None]
    apart = np.minimum(*(np.ptp(waves[:, None] + s * waves, axis=-1) for s in (-1.0, 1.0)))
    # A series that is like one before it is left out.
    return np.asarray(waves[~np.any(np.tril(apart < 1e-6, -1), axis=1)])


def _cells(order: IntArray, x: FloatArray, variance: FloatArray) -> Any:
    """Return what `_evidence` needs of one parity: x, decays, templates, scales and sizes."""
    return x, _shape(order, variance), _templates(order), SCALES, SIZES


# One parity with templates. In units of the noise the prior covariance is K = D + A² t tᵀ with D
# diagonal, for every decay (s, r), scale C, template t and size A, a *cell*. With d = 1/(1 + D) and
# q = tᵀ d t, (1 + K)⁻¹ = d − A² (d t)(d t)ᵀ / (1 + A² q), and smoothing is 1 − (1 + K)⁻¹.
# A template gains most at the largest size, but for the width of its prior, which costs less than
# e¹⁵ there. Of fewer than e¹³ cells those that have e⁻⁶⁰ of the best at most are left out.
_NEGLIGIBLE = 60.0
_UNSEEN = 36.0  # e⁻³⁶ of an average is the rounding of its sum


_PARTS = tuple(1.0 / k for k in range(1, 14))  # of Taylor's series


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


@compiled
def _log_cells(
    x: Any, decay: Any, templates: Any, scales: Any, sizes: Any, u: Any, q: Any, cell: Any
) -> float:
    """Write the log evidence of all cells of one decay, but for ½ log(1 + A² q); the largest.

    `cell` has shape (C, 1 + T, A); first, in [C, 0, 0], that without a template.
    """
    bound, d, waves = -np.inf, np.empty(len(x)), np.sqrt(decay) * templates
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
            most = 0.5 * sizes[-1] * along * along / (1.0 + sizes[-1] * across)
            cell[c, 1 + t, 0], bound = most, max(bound, plain + most)
    best = -np.inf
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
            best = max(best, cell[c, 1 + t, -1])  # the largest size gains most
    return best


@compiled
def _evidence(x: Any, shape: Any, templates: Any, scales: Any, sizes: Any) -> Any:
    """Return the log evidence of each decay (s, r), the mean over its cells."""
    count, cells = len(templates), len(templates) * len(sizes)
    u, q = np.empty((len(scales), count)), np.empty((len(scales), count))
    cell, result = np.empty((len(scales), 1 + count, len(sizes))), np.empty(shape.shape[:2])
    for s in range(shape.shape[0]):
        for r in range(shape.shape[1]):
            best = _log_cells(x, shape[s, r], templates, scales, sizes, u, q, cell)
            weight = 0.0
            for c in range(len(scales)):
                weight += 0.5 * np.exp(cell[c, 0, 0] - best)
                for t in range(count):
                    if cell[c, 1 + t, -1] == -np.inf:
                        continue
                    some = 0.0
                    for a in range(len(sizes)):
                        less = _exponential(max(cell[c, 1 + t, a] - best, -64.0))
                        some += less / np.sqrt(1.0 + sizes[a] * q[c, t])
                    weight += 0.5 / cells * some
            result[s, r] = best + np.log(weight / len(scales))
    return result


@compiled
def _moments(weight: Any, x: Any, shape: Any, templates: Any, scales: Any, sizes: Any) -> Any:
    """Return smoothing matrix and spread, averaged over decays, and the mean of each decay.

    The mean of a cell is (1 − d) x + p d t, with p = A² tᵀdx / (1 + A² q).
    """
    size, count, cells = len(x), len(templates), len(templates) * len(sizes)
    u, q = np.empty((len(scales), count)), np.empty((len(scales), count))
    cell, d = np.empty((len(scales), 1 + count, len(sizes))), np.empty(size)
    matrix, spread = np.zeros((size, size)), np.zeros((size, size))
    means = np.zeros((*weight.shape, size))
    for s in range(shape.shape[0]):
        for r in range(shape.shape[1]):
            if weight[s, r] < np.exp(-_UNSEEN):
                continue
            best = _log_cells(x, shape[s, r], templates, scales, sizes, u, q, cell)
            one, second, total = np.zeros((size, size)), np.zeros((size, size)), 0.0
            for c in range(len(scales)):
                d[:] = 1.0 / (1.0 + scales[c] * shape[s, r])
                whole = 0.5 * np.exp(cell[c, 0, 0] - best)
                for t in range(count):
                    if cell[c, 1 + t, -1] < best - _UNSEEN:  # the largest size gains most
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
                    turned = d * np.sqrt(shape[s, r]) * templates[t]
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
            one, second = one / total, second / total
            mean = one @ x
            means[s, r] = mean
            matrix += weight[s, r] * one
            spread += weight[s, r] * (second + second.T - np.outer(mean, mean))
    return matrix, spread, means
