"""Robustness by pseudo-values: outliers are pulled in, everything else stays least squares.

Huber's M-estimator is the fixed point of least squares on y* = fit + ψ(r)/γ, with ψ the clipped
residual and γ the share of residuals that are not clipped. Sums, floor, significance and
covariances computed from y* are then those of the M-estimator. The scale is the median absolute
residual; nothing is asked of the user.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robustfourier.mixture.rows import weighted_median

__all__ = ["HUBER", "huber_pays", "pseudo_values", "robust_scale"]

FloatArray = NDArray[np.float64]

HUBER = 1.345  # clips at this many standard deviations: 95 % efficient for Gaussian noise


def robust_scale(residuals: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the standard deviation of each output from its median absolute residual, (q,).

    Centred at zero, for residuals of a fit with a level. Zero if most residuals are zero.
    """
    columns = np.abs(residuals).T
    return np.array([weighted_median(column, weights) for column in columns]) / 0.6744897501960817


def pseudo_values(
    fitted: FloatArray, residuals: FloatArray, weights: FloatArray, clip: float = HUBER
) -> FloatArray:
    """Return y* = fit + ψ(r)/γ, shape (n, q).

    Outputs whose scale is zero (more than half of the residuals vanish) are left as they are.
    """
    limit = clip * robust_scale(residuals, weights)
    limit = np.where(limit > 0, limit, np.inf)
    inside = weights @ (np.abs(residuals) <= limit) / weights.sum()
    return fitted + np.clip(residuals, -limit, limit) / inside


def huber_pays(residuals: FloatArray, weights: FloatArray) -> bool:
    """Tell whether clipping lowers the variance of the estimates for residuals like these.

    Compares the asymptotic variances E r² of least squares and E ψ²/γ² of Huber's estimator. For
    Gaussian residuals the second is 5 % larger; outliers and heavy tails make it smaller.
    """
    clipped = pseudo_values(np.zeros_like(residuals), residuals, weights)
    squared, huber = weights @ residuals**2, weights @ clipped**2
    used = squared > 0
    return bool(np.mean(np.log(huber[used] / squared[used])) < -0.05) if used.any() else False
