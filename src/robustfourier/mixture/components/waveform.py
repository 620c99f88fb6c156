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
the average over it, weighted by evidence (`cells`). There is no optimiser, so it is smooth in the
data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray, IntArray, Matrix, Tensor, Vector
from robustfourier.compiling import compiled
from robustfourier.mixture.components.harmonic_evidence import POWERS, RATES, SCALES, Cells, decays


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
        excess, shape = squares[same] / variance[same], decays(order[same], variance[same])
        shrunk, part = np.empty(shape.shape), np.empty(shape.shape[:2])
        _shrunk(excess, shape, SCALES, parts, shrunk, part)
        factor[..., same] = shrunk
        log_evidence += part
    weight, total = _normalised(log_evidence)
    return np.tensordot(weight, factor, axes=2), total


class InPhase:
    """Harmonics in phase, under all priors, with templates and without.

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
    >>> smoothing = InPhase(order, square + noise, np.full(38, 0.02**2)).smoothing()
    >>> float(np.std(smoothing.matrix @ (square + noise) - square).round(3)), 0.02
    (0.004, 0.02)
    """

    def __init__(self, order: IntArray, coefficient: FloatArray, variance: FloatArray) -> None:
        self._x, self._parts = coefficient / np.sqrt(variance), _parities(order)
        self._cells = [Cells.of(order[p], self._x[p], variance[p]) for p in self._parts]

    @cached_property
    def _weighed(self) -> tuple[FloatArray, float]:
        """Weight of each decay (s, r), and the log evidence."""
        return _normalised(np.sum([cells.evidence() for cells in self._cells], axis=0))

    @property
    def log_evidence(self) -> float:
        """Relative to pure noise."""
        return self._weighed[1]

    def smoothing(self) -> Smoothing:
        """Return how to smooth them, which takes longer than the evidence."""
        matrix, spread = np.zeros((2, len(self._x), len(self._x)))
        weight, means = self._weighed[0], np.zeros((len(POWERS), len(RATES), len(self._x)))
        for part, cells in zip(self._parts, self._cells, strict=True):
            place = np.ix_(part, part)
            matrix[place], spread[place], means[..., part] = cells.moments(weight)
        off = means - matrix @ self._x
        spread += np.einsum("sr,srh,srk->hk", weight, off, off)
        return Smoothing(matrix, spread, self.log_evidence)


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


def _normalised(log_weight: FloatArray) -> tuple[FloatArray, float]:
    """Weights that sum to one, and the log of their mean."""
    best = log_weight.max()
    weight = np.exp(log_weight - best)
    total = weight.sum()
    return weight / total, float(best + np.log(total / weight.size))


@compiled
def _shrunk(
    excess: Vector, shape: Tensor, scales: Vector, parts: int, factor: Tensor, evidence: Matrix
) -> None:
    """Write the factor of each coefficient and the log evidence, for each decay (s, r).

    A coefficient that is N(0, prior + noise) against one that is N(0, noise), over all scales C.
    """
    n_powers, n_rates, size = shape.shape
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
            best, total = -np.inf, 0.0
            for c in range(len(scales)):
                best = max(best, logs[c])
            factor[s, r] = 0.0
            for c in range(len(scales)):
                weight = np.exp(logs[c] - best)
                total += weight
                for h in range(size):
                    factor[s, r, h] += weight * (1.0 - 1.0 / (1.0 + scales[c] * shape[s, r, h]))
            for h in range(size):
                factor[s, r, h] /= total
            evidence[s, r] = best + np.log(total / len(scales))
