"""Many series on one grid at once: one diagonal network each, trained on exact gradients.

All series share θ, and so the features φ and their Gram matrix G = E[φφᵀ]. With Y of one column per
series the gradients of all products z = w·c are E[φY] − G z: one matrix product per step serves
them all. Exact gradients have no scatter, so the rate need not fall; start, rate and time are those
of `calibration`, and each series ends at its own time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.concurrency import cores, one_blas_thread
from robustfourier.errors import InputError
from robustfourier.network.embedding import fourier_features
from robustfourier.training.batches import fixed_sample
from robustfourier.training.calibration import (
    FALSE_ALARM,
    Growth,
    largest_curvature,
    noise_gradient,
    stable_rate,
)

_BLOCK = 128  # series that share a matrix product: whole caches, and bits that no core changes
_CHECKED = 20  # steps between two looks at the noise
_MOST_STEPS = 20_000  # a series without noise ends here at the latest
_FLOW = Growth(product=0.5, speed=2.0)  # w·c of one feature on half the squared residual


@dataclass(frozen=True)
class BatchedTraining:
    """The diagonal networks of many series.

    Attributes
    ----------
    level : ndarray, shape (S,)
        Constant of each series.
    cosine, sine : ndarray, shape (S, m)
        Coefficients of cos πkθ and sin πkθ.
    noise : ndarray, shape (S,)
        Standard deviation of each residual.
    active : ndarray of bool, shape (S, m)
        Modes whose amplitude noise would not reach in 99 of 100 records.
    n_steps : ndarray of int, shape (S,)
    """

    level: FloatArray
    cosine: FloatArray
    sine: FloatArray
    noise: FloatArray
    active: BoolArray
    n_steps: FloatArray

    def predict(self, theta: ArrayLike) -> FloatArray:
        """Return the values of all series, shape (n, S)."""
        phi = fourier_features(np.asarray(theta, dtype=np.float64), self.cosine.shape[1])
        return np.asarray(phi[:, 1::2] @ self.sine.T + phi[:, 2::2] @ self.cosine.T + self.level)


def train_batched(
    theta: ArrayLike, y: ArrayLike, *, n_modes: int = 100, n_jobs: int | None = None
) -> BatchedTraining:
    """Train one diagonal network for each column of y.

    Parameters
    ----------
    theta : array_like, shape (n,)
        In [−1, 1], the same for all series.
    y : array_like, shape (n, S)
    n_modes : int, default 100
    n_jobs : int, optional
        Blocks of series at a time; the cores that this process may use if not given.

    Examples
    --------
    >>> theta = np.linspace(-1, 1, 400)
    >>> waves = np.cos(np.pi * np.outer(theta, [3, 8, 21]))
    >>> noise = np.random.default_rng(0).normal(size=waves.shape)
    >>> end = train_batched(theta, waves + 0.5 * noise, n_modes=40)
    >>> [(np.flatnonzero(active) + 1).tolist() for active in end.active]
    [[3], [8], [21]]
    """
    sample = fixed_sample(theta, y)
    if sample.theta.shape[1] != 1:
        raise InputError(f"theta has {sample.theta.shape[1]} columns; give one, shape (n,)")
    phi = fourier_features(sample.theta[:, 0], n_modes)
    gram = phi.T @ phi / len(phi)
    rate = stable_rate(_FLOW, largest_curvature(sample, n_modes), 1.0)
    starts = range(0, sample.y.shape[1], _BLOCK)
    with one_blas_thread(), ThreadPoolExecutor(n_jobs or cores()) as pool:
        parts = list(
            pool.map(lambda at: _block(phi, gram, sample.y[:, at : at + _BLOCK], rate), starts)
        )
    z, noise, n_steps = (np.concatenate(each) for each in zip(*parts, strict=True))
    level = 2.0 * noise_gradient(1.0, len(phi), n_modes, FALSE_ALARM) * noise
    sine, cosine = z[:, 1::2], z[:, 2::2]
    active = np.hypot(sine, cosine) > level[:, None]
    return BatchedTraining(z[:, 0], cosine, sine, noise, active, n_steps)


def _block(
    phi: FloatArray, gram: FloatArray, y: FloatArray, rate: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coefficients (S, F), noise (S,) and steps (S,) of some series."""
    n, m = len(phi), phi.shape[1] // 2
    offset, size = y.mean(axis=0), y.std(axis=0)
    size = np.where(size > 1e-12 * np.abs(offset), size, 1.0)
    target = (y - offset) / size
    reach, squares = phi.T @ target / n, (target**2).mean(axis=0)
    x_of_one = noise_gradient(1.0, n, m)
    a = _FLOW.start_below(x_of_one, m)
    w, c = np.full_like(reach, a), np.zeros_like(reach)
    w[0] = 1.0  # the level is awake from the start
    running = np.arange(y.shape[1])  # series that are not at their end
    z, noise, steps = np.zeros_like(reach), np.sqrt(squares), np.zeros(y.shape[1])
    for step in range(1, _MOST_STEPS + 1):
        b = reach[:, running] - gram @ (w * c)
        w, c = w + rate * c * b, c + rate * w * b
        if step % _CHECKED == 0 or step == _MOST_STEPS:
            now = w * c
            left = squares[running] - (now * (2.0 * reach[:, running] - gram @ now)).sum(axis=0)
            sigma = np.sqrt(np.maximum(left, 0.0))
            x = np.maximum(sigma, 1e-9) * x_of_one
            time = np.arcsinh(x / (_FLOW.product * a**2)) / (_FLOW.speed * x)
            z[:, running], noise[running], steps[running] = now, sigma, step
            going = step * rate < time
            running, w, c = running[going], w[:, going], c[:, going]
            if not len(running):
                break
    z = z * size
    z[0] += offset
    return z.T, noise * size, steps
