"""Line wings: power beside a line that is not quite steady.

A pulse whose rate wanders, or demand that breathes with the seasons, is surrounded by power above
the noise: a Lorentzian if amplitude and phase are Ornstein-Uhlenbeck processes. Whatever the
modulation, it falls as one over the squared distance once that is larger than its own width, as the
record begins and ends abruptly. What stands on such wings must be judged against them, or one
quasi-periodic pattern would be thirty lines; and its errors are larger than noise alone gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from robustfourier.arrays import ComplexArray, FloatArray
from robustfourier.mixture.significance import wing_p_value
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.noise_spectrum import NoiseFloor
from robustfourier.periodic.variable_projection import Refined

BESIDE = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])  # modes from a line at which its wings show
CLEAR = 0.75  # modes; nearer to a line the fit has emptied the residual
LEVEL = 0.01  # how often noise alone looks like wings


def wing_ratio(
    sums_at: Callable[[FloatArray], ComplexArray],
    total: float,
    modes: FloatArray,
    lines: FloatArray,
    floor: NoiseFloor,
) -> FloatArray:
    """Return the noise power around each mode over the floor; 1 where there are no wings.

    `sums_at`: ``modes -> Σ w r e^{-iπkθ}`` of the residual, shape (m, q). `total`: total weight.
    `modes` (m,): where to look. `lines` (K,): modes that were fitted; places next to them are left
    out.
    """
    if not len(modes):
        return np.ones(0)
    beside = modes[:, None] + BESIDE
    nearest = np.abs(beside[:, :, None] - lines).min(axis=2, initial=np.inf)
    free = (nearest > CLEAR) & (beside > 0) & (beside <= floor.mode[-1])
    sums = sums_at(np.where(free, beside, 1.0).ravel())
    power = np.abs(sums).reshape(*beside.shape, -1) ** 2 / total
    ratio = (power / floor.at(modes)[:, None]).mean(axis=2)
    count = np.maximum(free.sum(axis=1), 1)
    local = np.where(free, ratio, 0.0).sum(axis=1) / count
    return np.where(wing_p_value(local, count) < LEVEL, np.maximum(local, 1.0), 1.0)


def local_noise(
    series: Series,
    refined: Refined,
    modes: FloatArray,
    floor: NoiseFloor,
    variance: FloatArray,
) -> FloatArray:
    """Return the noise power at each line over the variance of the noise, shape (K,).

    The local floor is worth a dozen ordinates or two, and low where the fit of many lines has
    emptied them. Where it does not clearly differ from white noise, it is white noise: its
    logarithm is shrunk to zero by the James-Stein factor. A line that is not quite steady stands
    on wings of its own, which are its noise.

    `refined`: a fit of the series, whose residual shows the wings. `modes` (K,): the lines.
    `variance` (q,): of the noise.
    """
    left = partial(series.residual_sums, refined)
    wings = wing_ratio(left, series.total, modes, modes, floor)
    # The floor goes no lower than rounding does, so neither does what it is compared with.
    white = np.maximum(variance, np.maximum(series.smallest_noise, np.finfo(float).tiny))
    local = np.log((floor.at(modes) / white).mean(axis=1))
    chance = 1.0 / np.maximum(floor.dof_at(modes), 1.0)
    kept = 1.0 - chance / np.maximum(local**2, chance)
    return np.asarray(wings * np.exp(kept * local))
