"""How one mode grows behind a diagonal layer, and when training has to stop.

Under gradient flow of ½‖y − Σ Re w_k c_k e^{iπkθ}‖²/n from w = α, c = 0, modes that are orthogonal
on the samples grow alone. With b the modulus of the gradient at the start, z = |w c| obeys

    dz/dt = √(α⁴ + 4z²) (b − z/2),    z(t) = α² s / (1 − s²),    s = 2b τ / (κ + ½α² τ),

with κ = √(4b² + ¼α⁴) and τ = tanh(κt/2). Early on z = (α²/2) sinh 2bt, at the end z = 2b, the
amplitude in the data: strong modes awake first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import FloatArray


def grown_amplitude(gradient: ArrayLike, time: ArrayLike, start: float) -> FloatArray:
    """Return the amplitude z of modes after a time t of training, broadcast against the gradient.

    The gradient b = |Σ y e^{−iπkθ}|/n is half the amplitude of the mode in the data, `start` is α²,
    the square of the diagonal weights at the start.

    Examples
    --------
    >>> early, late = grown_amplitude(0.25, [1.0, 200.0], start=1e-5)
    >>> bool(np.isclose(early, 0.5e-5 * np.sinh(0.5))), round(float(late), 6)
    (True, 0.5)
    """
    b, t = np.asarray(gradient, np.float64), np.asarray(time, np.float64)
    half = 0.5 * start
    kappa = np.hypot(2.0 * b, half)
    tau = np.tanh(0.5 * kappa * t)
    s = 2.0 * b * tau / (kappa + half * tau)
    # 1 − s² loses its digits near one: there it is ½α²s/b by the equation of the fixed point.
    gap = np.maximum(1.0 - s**2, half * s / np.maximum(b, np.finfo(float).tiny))
    return np.asarray(start * s / gap)


def stopping_time(noise_gradient: ArrayLike, start: float) -> FloatArray:
    """Return T at which a constant gradient x of noise would have grown to x: (α²/2) sinh 2xT = x.

    Examples
    --------
    >>> time = stopping_time(0.01, start=1e-5)
    >>> round(float(0.5e-5 * np.sinh(2 * 0.01 * time)), 6)
    0.01
    """
    x = np.asarray(noise_gradient, np.float64)
    return np.asarray(np.arcsinh(2.0 * x / start) / (2.0 * x))
