"""Waveform smoothing: how much of each harmonic of a family to believe.

A waveform with N harmonics fitted by least squares rings with noise; one cut off at the harmonics
that are significant alone rings with the cut. Instead each harmonic is shrunk by a factor the data
chooses. In a family the coefficient of order n has prior variance

    C · n^(-2s) · e^(-2rn),    C for odd and for even orders apart,

which covers corners (s), analytic links such as tanh(10 x) (r) and half-wave symmetry (one C near
zero). The likelihood of the fitted harmonics is known in closed form for every (C, s, r); the
shrinkage is its average over a grid of them (empirical Bayes without an optimiser, so it is smooth
in the data and the same on every machine). The fundamental is never shrunk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["shrinkage"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

POWERS = np.array([0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0])  # s
RATES = np.array([0.0, 0.03, 0.06, 0.1, 0.15, 0.25, 0.5])  # r
SCALES = 10.0 ** np.arange(-3.0, 10.1, 0.25)  # C over the variance of a coefficient


def shrinkage(
    order: IntArray, squares: FloatArray, variance: FloatArray, parts: int
) -> tuple[FloatArray, float]:
    """Return the factor of each harmonic in (0, 1), and the log evidence of the prior.

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
    for parity in (0, 1):
        same = order % 2 == parity
        if same.any():
            ratio = _prior_over_noise(order[same], variance[same])
            excess = squares[same] / variance[same]
            evidence, kept = _average_over_scales(ratio, excess, parts)
            log_evidence += evidence
            factor[..., same] = kept
    weight = np.exp(log_evidence - log_evidence.max())
    total = float(log_evidence.max() + np.log(weight.mean()))
    return np.tensordot(weight / weight.sum(), factor, axes=2), total


def _prior_over_noise(order: IntArray, variance: FloatArray) -> FloatArray:
    """Prior variance over sampling variance; axes: power s, rate r, scale C, order."""
    n = order.astype(np.float64)
    shape = -2.0 * POWERS[:, None, None] * np.log(n) - 2.0 * RATES[None, :, None] * n
    shape = np.exp(shape - shape.max(-1, keepdims=True)) * (variance.min() / variance)
    return np.asarray(SCALES[:, None] * shape[:, :, None, :])


def _average_over_scales(
    ratio: FloatArray, excess: FloatArray, parts: int
) -> tuple[FloatArray, FloatArray]:
    """Log evidence (s, r) and mean factor (s, r, order), the scale C averaged over its grid."""
    # A coefficient that is N(0, prior + noise) against one that is N(0, noise).
    log_likelihood = 0.5 * (excess * ratio / (1.0 + ratio) - parts * np.log1p(ratio)).sum(-1)
    best = log_likelihood.max(-1, keepdims=True)
    weight = np.exp(log_likelihood - best)
    log_evidence = best[..., 0] + np.log(weight.mean(-1))
    weight = weight / weight.sum(-1, keepdims=True)
    return log_evidence, (weight[..., None] * ratio / (1.0 + ratio)).sum(-2)
