"""Links as small networks: one for each fundamental mode, of its cosine and sine alone.

The paper's functions are sums f = Σ g_k(cos πkθ) + h_k(sin πkθ) of link functions. A `LinkNetwork`
is such a link,

    net_k(θ) = a·cos πkθ + b·sin πkθ + Σ_u v_u σ_u(p_u·cos πkθ + q_u·sin πkθ + r_u),

with units σ that saturate (tanh) or rectify (max(·, 0)). A linear link has no units. The whole is a
level plus the sum of its links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.network.embedding import mode_pair


@dataclass(frozen=True)
class LinkNetwork:
    """The link of one fundamental mode.

    Attributes
    ----------
    mode : int
        The fundamental mode k.
    linear : ndarray, shape (2, q)
        Weights of sin πkθ and cos πkθ themselves.
    inner : ndarray, shape (U, 3)
        Weights of sin πkθ, cos πkθ and 1 inside each unit.
    rectified : ndarray of bool, shape (U,)
        Units that rectify; the others saturate.
    outer : ndarray, shape (U, q)
        Weight of each unit.

    Examples
    --------
    >>> import numpy as np
    >>> square = LinkNetwork(5, np.zeros((2, 1)), np.array([[0.0, 10.0, 0.0]]),
    ...                      np.array([False]), np.ones((1, 1)))  # tanh(10 cos 5πθ)
    >>> square.predict([0.0, 0.2]).ravel().round(3)
    array([ 1., -1.])
    """

    mode: int
    linear: FloatArray
    inner: FloatArray
    rectified: BoolArray
    outer: FloatArray

    @property
    def is_linear(self) -> bool:
        """Whether the link is a plain sinusoid."""
        return len(self.inner) == 0

    def predict(self, theta: ArrayLike) -> FloatArray:
        """Return the link's part of the function, shape (n, q)."""
        pair = mode_pair(theta, self.mode)
        units = unit_values(pair, self.inner, self.rectified)[0]
        return np.asarray(pair @ self.linear + units @ self.outer)

    def waveform(self, phase: ArrayLike) -> FloatArray:
        """Return the same over the cycle, at phases in [0, 2π), shape (n, q)."""
        return self.predict(np.asarray(phase, dtype=np.float64) / (np.pi * self.mode))


@dataclass(frozen=True)
class Links:
    """A level and the links of all fundamentals.

    `level` (q,). `links`: by ascending mode.
    """

    level: FloatArray
    links: tuple[LinkNetwork, ...]

    def predict(self, theta: FloatArray) -> FloatArray:
        """Return the sum, shape (n, q), for θ of shape (n, 1)."""
        parts = (link.predict(theta[:, 0]) for link in self.links)
        return np.asarray(sum(parts, np.zeros((len(theta), 1)) + self.level))


def unit_values(
    pair: FloatArray, inner: FloatArray, rectified: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the units' values and their slopes, both of shape (n, U), for pairs (n, 2)."""
    at = pair @ inner[:, :2].T + inner[:, 2]
    saturated = np.tanh(at)
    values = np.where(rectified, np.maximum(at, 0.0), saturated)
    return values, np.where(rectified, at > 0, 1.0 - saturated**2)


def fundamentals(modes: ArrayLike) -> list[int]:
    """Return the modes that are no whole multiples of another one.

    Examples
    --------
    >>> fundamentals([5, 15, 29, 61, 87, 122])
    [5, 29, 61]
    """
    ascending = sorted({int(mode) for mode in np.ravel(np.asarray(modes))})
    return [
        mode
        for i, mode in enumerate(ascending)
        if not any(mode % lower == 0 for lower in ascending[:i])
    ]
