"""How small a start, how fast a rate and how long a training: from the data, in closed form.

A feature φ of a diagonal network without dense layers is fitted by a product z = w·c of two
weights. From w = a, c = 0, and as long as its gradient b = E[rφ] stays as it is, gradient descent
gives

    z(t) = P sinh(v b t),

with t the sum of the learning rates. A pair of linear units on ±φ has P = a² and v = 4, a pair of
rectified ones P = a²/2 and v = 2; losses of half the slope have half the v, and q outputs share
one gradient. Strong features awake first, take their part of the residual, and the others see what
is left.

**Time.** Noise of standard deviation σ in n rows gives M modes gradients whose largest exceeds
x = σ√(log(M/p)/n) with probability p. Training ends when this gradient would have grown to itself:

    P sinh(v x t) = x,

with p = 0.1: a smaller p serves whole modes better, a larger one modes between whole numbers, whose
leakage is weak and wide (error over that of p = 0.01 on development seeds: 1.03 on the paper's
example 1 and 0.91 on five real-valued tones; 1.05 and 0.87 with p = 0.2).

What is weaker than noise is not learnt, and there is no number of modes, no threshold and no
held-out part to choose. σ is that of the residual, and the time is worked out anew while it falls.

**Active modes.** A wave of amplitude A has the gradient A/2. A mode is active if its amplitude
exceeds 2x with p = 0.01: noise alone makes any mode active in one record of a hundred.

**Start.** A feature of gradient g ends at about x(2P/x)^(1−g/x). Most features of pure noise have
g near x/3 (σ/√(2n), where log(M/p) ≈ 7), so M of them leave M x²(2P/x)^1.3 of variance in all.
P = x/2000 keeps that below 0.02 x² for M = 100, a twentieth of what the noise of one fitted mode
costs, 2σ²/n ≈ 0.4x²; with more modes P falls like M^(−1/1.3). A larger start is nearer to ridge
regression, a smaller one nearer to the lasso [1]_, at the price of a longer training, which grows
like log 1/P.

**Rate.** The product follows the gradient at the speed v|z|, so that steps are stable up to
2 / (v max|z| λ) with λ the largest eigenvalue of E[φφᵀ]; a fifth of that is taken, since batches
scatter. And each row must be seen ten times at least: batches bring noise of their own, which is
η·n/(B·t) of the data's.

Notes
-----
Where rectified pairs are trained (``activation="relu"``), a feature that is awake brings |φ| along:
both share their diagonal weights. That costs as many parameters again as features are awake.

References
----------
.. [1] Woodworth et al., "Kernel and rich regimes in overparametrized models", COLT 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.network.architecture import Architecture
from robustfourier.network.embedding import all_features
from robustfourier.training.batches import FixedSample
from robustfourier.training.losses import Loss

FALSE_ALARM = 0.01
"""Probability that noise alone makes any mode active."""

GROWN_NOISE = 0.1
"""Probability that noise alone brings any mode up to the gradient that the time follows from."""

_START, _START_MODES, _START_POWER = 2000.0, 100, 1.3  # x / P for so many modes, derived above
_STABLE = 0.2  # of the largest stable rate
_PASSES = 10.0  # times that each row is seen at least
_LARGEST = np.sqrt(2.0)  # amplitude of one wave that is all of a standardised y
_CURVATURE_ROWS, _CURVATURE_STEPS = 2000, 20  # rows and power steps that λ is estimated from


@dataclass(frozen=True)
class Growth:
    """How a product of two weights grows: z(t) = P sinh(v b t).

    Attributes
    ----------
    product : float
        P, for diagonal weights a = 1; it grows like a².
    speed : float
        v.

    Examples
    --------
    >>> pair = Growth(product=1.0, speed=4.0)
    >>> time = pair.time_to(0.01, gradient=0.01, start=1e-3)
    >>> float(pair.grown(0.01, time, start=1e-3).round(6))
    0.01
    """

    product: float
    speed: float

    @classmethod
    def of(cls, architecture: Architecture, loss: Loss) -> Growth:
        """Return the growth in a network without dense layers."""
        linear = architecture.activation == "identity"
        slope = 1.0 if loss.name == "mean_squared" else 0.5
        speed = (4.0 if linear else 2.0) * slope / architecture.n_outputs
        return cls(1.0 if linear else 0.5, speed)

    def grown(self, gradient: float, time: float, start: float) -> FloatArray:
        """Return z after `time`, from diagonal weights `start`."""
        return np.asarray(self.product * start**2 * np.sinh(self.speed * gradient * time))

    def time_to(self, size: float, gradient: float, start: float) -> float:
        """Return the time after which a constant gradient has brought z to `size`."""
        product = self.product * start**2
        gradient = max(gradient, 1e-3 * product)  # without noise the time stays finite
        return float(np.arcsinh(size / product) / (self.speed * gradient))

    def start_below(self, size: float, n_modes: int) -> float:
        """Return diagonal weights whose product is `size` / 2000, or less with many modes."""
        more = max(1.0, n_modes / _START_MODES) ** (1.0 / _START_POWER)
        return float(np.sqrt(size / (_START * more) / self.product))


def noise_gradient(sigma: float, n_rows: float, n_modes: int, level: float = GROWN_NOISE) -> float:
    """Return x = σ√(log(M/p)/n), which noise exceeds anywhere with probability p.

    Examples
    --------
    >>> round(noise_gradient(1.0, 10_000, 100), 4)
    0.0263
    """
    return float(sigma * np.sqrt(np.log(n_modes / level) / n_rows))


def largest_curvature(sample: FixedSample, n_modes: int, mixed_modes: int = 0) -> float:
    """Return the largest eigenvalue of E[φφᵀ] over the sines and cosines, about 1/2 on a grid."""
    few = np.random.default_rng(0).permutation(len(sample))[:_CURVATURE_ROWS]
    phi = all_features(sample.theta[few], n_modes, mixed_modes)
    phi = phi[:, np.ptp(phi, axis=0) > 0]  # without the constants, which y has not
    weight = sample.weight[few, None] / sample.weight[few].sum()
    vector: FloatArray = np.random.default_rng(1).normal(size=(phi.shape[1],))
    value = 0.0
    for _ in range(_CURVATURE_STEPS):
        vector = vector / np.linalg.norm(vector)
        moved = phi.T @ (weight[:, 0] * (phi @ vector))
        value, vector = float(vector @ moved), moved
    return value


def stable_rate(growth: Growth, curvature: float, size: float) -> float:
    """Return a fifth of the rate at which a step would overshoot, for y of deviation `size`."""
    return _STABLE * 2.0 / (growth.speed * _LARGEST * size * curvature)


def rate_for_passes(time: float, n_rows: int, batch_size: int) -> float:
    """Return the largest rate at which a training of `time` sees each row ten times."""
    return time * batch_size / (_PASSES * n_rows)
