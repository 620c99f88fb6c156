"""Robustness by pseudo-values: outliers are pulled in, everything else stays least squares.

Huber's M-estimator is the fixed point of least squares on y* = fit + ψ(r)/γ, with ψ the clipped
residual and γ the share of residuals that are not clipped. Sums, floor, significance and
covariances computed from y* are then those of the M-estimator. The scale is the median absolute
residual; nothing is asked of the user.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.rows import weighted_median

__all__ = [
    "FAR",
    "FLATTEST",
    "HUBER",
    "clipped",
    "huber_pays",
    "pays",
    "pseudo_values",
    "robust_scale",
]


HUBER = 1.345  # clips at this many standard deviations: 95 % efficient for Gaussian noise
FAR = 4.0  # clips what neither Gaussian noise nor a sum of tones reaches
FLATTEST = 0.25  # of γ: where most residuals are clipped, steps must not grow without end
_REDESCEND = (4.0, 8.0)


def robust_scale(residuals: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the standard deviation of each output from its median absolute residual, (q,).

    Centred at zero, for residuals of a fit with a level. Zero if most residuals are zero.
    """
    columns = np.abs(residuals).T
    return np.array([weighted_median(column, weights) for column in columns]) / 0.6744897501960817


def pseudo_values(
    fitted: FloatArray,
    residuals: FloatArray,
    weights: FloatArray,
    *,
    clip: float = HUBER,
    redescend: bool = False,
) -> FloatArray:
    """Return y* = fit + ψ(r)/γ, shape (n, q).

    Parameters
    ----------
    fitted, residuals : ndarray of shape (n, q)
        A fit and the data minus it.
    weights : ndarray of shape (n,)
    clip : float
        Residuals are clipped at this many deviations.
    redescend : bool
        Whether residuals beyond 4 deviations lose their pull step by step, until beyond 8 they
        have none. One-sided outliers then do not shift the level. Use it near the end only: far
        from the answer a large residual may be signal.

    Notes
    -----
    Outputs whose scale is zero (more than half of the residuals vanish) are left as they are.
    """
    scale = robust_scale(residuals, weights)
    used = scale > 0
    size = np.abs(residuals) / np.where(used, scale, 1.0)
    pull, inside = clipped(size, clip, redescend)
    slope = np.maximum(weights @ inside / weights.sum(), FLATTEST)
    pulled = fitted + np.sign(residuals) * pull * np.where(used, scale, 1.0) / slope
    return np.where(used, pulled, fitted + residuals)


def clipped(size: FloatArray, clip: float, redescend: bool) -> tuple[FloatArray, FloatArray]:
    """Return the pull ψ of residuals of that many deviations, and its derivative."""
    pull = np.minimum(size, clip)
    inside = (size <= clip).astype(float)
    if redescend:
        start, end = _REDESCEND
        pull *= np.clip((end - size) / (end - start), 0.0, 1.0)
        inside -= clip / (end - start) * ((size > start) & (size < end))
    return pull, inside


def huber_pays(residuals: FloatArray, weights: FloatArray, clip: float = HUBER) -> bool:
    """Tell whether clipping lowers the variance of the estimates for residuals like these.

    Compares the asymptotic variances E r² of least squares and E ψ²/γ² of Huber's estimator. For
    Gaussian residuals the second is 5 % larger; outliers and heavy tails make it smaller.
    """
    pulled = pseudo_values(np.zeros_like(residuals), residuals, weights, clip=clip)
    return pays(weights @ residuals**2, weights @ pulled**2)


def pays(squared: FloatArray, huber: FloatArray) -> bool:
    """Tell whether E ψ²/γ² is clearly below E r², both of shape (q,)."""
    used = squared > 0
    ratio = np.maximum(huber[used] / squared[used], np.finfo(float).tiny)
    return bool(np.mean(np.log(ratio)) < -0.05) if used.any() else False
