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
_PARTS = tuple(1.0 / k for k in range(1, 14))  # of Taylor's series
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
        ratio = _prior_over_noise(order[same], variance[same])
        excess = squares[same] / variance[same]
        # A coefficient that is N(0, prior + noise) against one that is N(0, noise).
        log_likelihood = 0.5 * (excess * ratio / (1 + ratio) - parts * np.log1p(ratio)).sum(-1)
        weight, part = _normalised(log_likelihood, log_likelihood[0, 0].size)
        log_evidence += part
        factor[..., same] = (weight[..., None] * ratio / (1.0 + ratio)).sum(-2)
    weight, total = _normalised(log_evidence[None, None], log_evidence.size)
    return np.tensordot(weight[0, 0], factor, axes=2), float(total[0, 0])


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
    x, size = coefficient / np.sqrt(variance), len(order)
    log_evidence = np.zeros((len(POWERS), len(RATES)))
    matrix = np.zeros((*log_evidence.shape, size, size))
    spread = np.zeros((*log_evidence.shape, size, size))
    for same in _parities(order):
        cells = _Cells.of(order[same], x[same], variance[same])
        log_evidence += cells.evidence
        place = (slice(None), slice(None), same[:, None], same)
        matrix[place], spread[place] = cells.moments()
    weight, total = _normalised(log_evidence[None, None], log_evidence.size)
    average = np.tensordot(weight[0, 0], matrix, axes=2)
    off = matrix @ x - average @ x  # means of each (s, r) around the mean of all
    among = np.einsum("sr,srh,srk->hk", weight[0, 0], off, off)
    return Smoothing(
        average, np.tensordot(weight[0, 0], spread, axes=2) + among, float(total[0, 0])
    )


def evidence(order: IntArray, coefficient: FloatArray, variance: FloatArray) -> float:
    """Return the log evidence of `smoother` alone, which takes a fraction of its time."""
    x, total = coefficient / np.sqrt(variance), np.zeros((len(POWERS), len(RATES)))
    for same in _parities(order):
        shape, part = _shape(order[same], variance[same]), np.empty(total.shape)
        _add_cells(x[same], shape, _templates(order[same]), SCALES, SIZES, part)
        total += part
    return float(_normalised(total[None, None], total.size)[1][0, 0])


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


def _prior_over_noise(order: IntArray, variance: FloatArray) -> FloatArray:
    """Prior variance over sampling variance; axes: power s, rate r, scale C, order."""
    return np.asarray(SCALES[:, None] * _shape(order, variance)[:, :, None, :])


def _normalised(log_weight: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Weights that sum to one over the axes after the first two, and the log of their mean."""
    axes = tuple(range(2, log_weight.ndim))
    best = log_weight.max(axis=axes, keepdims=True)
    weight = np.exp(log_weight - best)
    total = weight.sum(axis=axes, keepdims=True)
    return weight / total, np.asarray(np.squeeze(best + np.log(total / count), axis=axes))


def _templates(order: IntArray) -> FloatArray:
    """Different series cos(nx₀ − c) of mean square one, shape (T, H)."""
    angle = np.multiply.outer(PLACES, order)
    waves = np.stack([np.cos(angle), np.sin(angle)], axis=1).reshape(-1, len(order))
    size = np.sqrt(np.mean(waves**2, axis=1))
    waves = waves[size >= 1e-6] / size[size >= 1e-6, None]
    apart = np.minimum(*(np.ptp(waves[:, None] + s * waves, axis=-1) for s in (-1.0, 1.0)))
    # A series that is like one before it is left out.
    return np.asarray(waves[~np.any(np.tril(apart < 1e-6, -1), axis=1)])


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
def _add_cells(x: Any, shape: Any, templates: Any, scales: Any, sizes: Any, result: Any) -> None:
    """Write the log evidence of each decay (s, r), as `_Cells` has it, without keeping the cells.

    A template gains most at the largest size, but for the width of its prior, which costs less than
    e¹⁵ there. Of fewer than e¹³ cells those that have e⁻⁶⁰ of the best at most are left out. With
    next to no noise, rounding is larger than the differences: no cell is better than the best.
    """
    n_scales, count, cells = len(scales), len(templates), len(templates) * len(sizes)
    u2, q, most = np.empty((3, n_scales, count))
    plain, d, waves = np.empty(n_scales), np.empty(len(x)), np.empty(templates.shape)
    for s in range(shape.shape[0]):
        for r in range(shape.shape[1]):
            best = -np.inf
            for t in range(count):
                for h in range(len(x)):
                    waves[t, h] = np.sqrt(shape[s, r, h]) * templates[t, h]
            for c in range(n_scales):
                total, product = 0.0, 1.0
                for h in range(len(x)):
                    d[h] = 1.0 / (1.0 + scales[c] * shape[s, r, h])
                    total += x[h] * x[h] * (1.0 - d[h])
                    product *= d[h]
                    if product < 1e-200:
                        total, product = total + np.log(product), 1.0
                plain[c] = 0.5 * (total + np.log(product))
                best = max(best, plain[c])
                for t in range(count):
                    along, across = 0.0, 0.0
                    for h in range(len(x)):
                        along += d[h] * x[h] * waves[t, h]
                        across += d[h] * waves[t, h] * waves[t, h]
                    u2[c, t], q[c, t] = along * along, across
                    most[c, t] = 0.5 * sizes[-1] * u2[c, t] / (1.0 + sizes[-1] * q[c, t])
                    best = max(best, plain[c] + most[c, t])
            weight = 0.0
            for c in range(n_scales):
                start = plain[c] - best
                weight += 0.5 * np.exp(start)
                for t in range(count):
                    if start + most[c, t] < -60.0:
                        continue
                    some = 0.0
                    for k in range(len(sizes)):
                        over = 1.0 / (1.0 + sizes[k] * q[c, t])
                        part = start + 0.5 * sizes[k] * u2[c, t] * over
                        some += _exponential(min(max(part, -64.0), 0.0)) * np.sqrt(over)
                    weight += 0.5 / cells * some
            result[s, r] = best + np.log(max(weight, 1e-300) / n_scales)


@dataclass(frozen=True)
class _Cells:
    """One parity with templates, for every decay (s, r), scale C, template T and size A.

    In units of the noise the prior covariance is K = D + A² t tᵀ, D diagonal; with d = 1/(1 + D)
    and q = tᵀ d t, (1 + K)⁻¹ = d − A² (d t)(d t)ᵀ / (1 + A² q), and smoothing is 1 − (1 + K)⁻¹.
    """

    x: FloatArray
    evidence: FloatArray  # its logarithm; s, r
    weight: FloatArray  # of no template and of each (T, A); s, r, C, 1 + T·A
    diagonal: FloatArray  # d; s, r, C, order
    template: FloatArray  # s, r, T, order
    u: FloatArray  # tᵀ d x; s, r, C, T
    growth: FloatArray  # 1 + A² q; s, r, C, T, A

    @classmethod
    def of(cls, order: IntArray, x: FloatArray, variance: FloatArray) -> _Cells:
        shape = _shape(order, variance)
        diagonal = 1.0 / (1.0 + SCALES[:, None] * shape[:, :, None, :])  # d; axes s, r, C, order
        template = np.sqrt(shape)[:, :, None, :] * _templates(order)  # s, r, T, order
        plain = 0.5 * (x**2 * (1.0 - diagonal) + np.log(diagonal)).sum(-1)  # s, r, C
        u = np.einsum("srch,srth->srct", diagonal * x, template)
        q = np.einsum("srch,srth->srct", diagonal, template**2)
        growth = 1.0 + SIZES * q[..., None]
        gain = 0.5 * (SIZES * u[..., None] ** 2 / growth - np.log(growth))  # s, r, C, T, A
        count = gain.shape[3] * gain.shape[4]
        both = np.concatenate(
            [
                plain[..., None] + np.log(0.5),
                (plain[..., None, None] + gain + np.log(0.5 / count)).reshape(*plain.shape, count),
            ],
            axis=-1,
        )
        weight, evidence = _normalised(both, len(SCALES))
        return cls(x, evidence, weight, diagonal, template, u, growth)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return smoothing matrix and spread of the means, both (s, r, H, H)."""
        x, diagonal, growth, weight = self.x, self.diagonal, self.growth, self.weight
        share = weight[..., 1:].reshape(growth.shape)  # s, r, C, T, A
        push = SIZES * self.u[..., None] / growth  # the mean of a cell is (1 − d) x + push · d t
        own = (1.0 - diagonal) * x
        matrix = np.einsum("src,srch->srh", weight.sum(-1), 1.0 - diagonal)[..., None]
        matrix = matrix * np.eye(len(x))
        second = np.einsum("srch,srck->srhk", weight.sum(-1)[..., None] * own, own)
        for t in range(self.template.shape[2]):
            turned = diagonal * self.template[:, :, None, t]  # d t; s, r, C, order
            cells, moved = share[:, :, :, t], push[:, :, :, t]
            scaled = (cells * SIZES / growth[:, :, :, t]).sum(-1)[..., None] * turned
            crossed = (cells * moved).sum(-1)[..., None] * own + 0.5 * (
                (cells * moved**2).sum(-1)[..., None] * turned
            )
            matrix = matrix + np.einsum("srch,srck->srhk", scaled, turned, optimize=True)
            half = np.einsum("srch,srck->srhk", crossed, turned, optimize=True)
            second = second + half + half.swapaxes(-1, -2)
        mean = matrix @ x
        return matrix, second - mean[..., :, None] * mean[..., None, :]
