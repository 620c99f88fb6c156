"""Cusps: noise that a line brings with it.

A strong line that is not quite steady (a tide modulated by the seasons) leaves a cusp of residual
power around itself, far above the noise floor. What stands in a cusp must be judged against it.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.judge import cusp_p_value
from robustfourier.mixture.noise import NoiseFloor
from robustfourier.spectral.realmodes import RealModeSums

__all__ = ["cusp_ratio"]


BESIDE = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])  # modes from a line at which its cusp shows
CLEAR = 0.75  # modes; nearer to a line the fit has emptied the residual
LEVEL = 0.01  # how often noise alone looks like a cusp


def cusp_ratio(
    theta: FloatArray,
    weights: FloatArray,
    residuals: FloatArray,
    modes: FloatArray,
    lines: FloatArray,
    floor: NoiseFloor,
) -> FloatArray:
    """Return the noise power around each mode over the floor; 1 where there is no cusp.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    weights : ndarray of shape (n,)
    residuals : ndarray of shape (n, q)
    modes : ndarray of shape (m,)
        Where to look.
    lines : ndarray of shape (K,)
        Modes that were fitted; places next to them are left out.
    floor : NoiseFloor
    """
    if not len(modes):
        return np.ones(0)
    beside = modes[:, None] + BESIDE
    nearest = np.abs(beside[:, :, None] - lines).min(axis=2, initial=np.inf)
    free = (nearest > CLEAR) & (beside > 0) & (beside <= floor.mode[-1])
    top = float(beside.max()) + 1.0
    sums = RealModeSums.of(theta, weights[:, None] * residuals, top).at(beside.ravel())
    power = np.abs(sums).reshape(*beside.shape, -1) ** 2 / float(weights.sum())
    ratio = (power / floor.at(modes)[:, None]).mean(axis=2)
    count = np.maximum(free.sum(axis=1), 1)
    local = np.where(free, ratio, 0.0).sum(axis=1) / count
    return np.where(cusp_p_value(local, count) < LEVEL, np.maximum(local, 1.0), 1.0)
