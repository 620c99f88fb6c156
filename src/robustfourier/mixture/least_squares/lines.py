"""Lines: a finite set of sinusoids with real-valued modes.

A line with mode k, cosine coefficient a and sine coefficient b is
``a cos(πkθ) + b sin(πkθ) = A cos(πkθ − φ)`` with ``A = hypot(a, b)`` and ``φ = atan2(b, a)``.
Several outputs share the modes and have their own coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.spectral.kernels import add_lines, turns


@dataclass(frozen=True)
class Lines:
    """A sum of K sinusoids for q outputs.

    Parameters
    ----------
    mode : ndarray of shape (K,)
        Cycles over the span θ ∈ [-1, 1]; any positive real number.
    cosine, sine : ndarray of shape (K, q)
        The coefficients of cos(πkθ) and sin(πkθ), one column per output.

    Examples
    --------
    >>> import numpy as np
    >>> lines = Lines(np.array([5.5]), np.array([[3.0]]), np.array([[4.0]]))
    >>> lines.amplitude
    array([[5.]])
    >>> lines.evaluate(np.array([0.0]))
    array([[3.]])
    """

    mode: FloatArray
    cosine: FloatArray
    sine: FloatArray

    @classmethod
    def empty(cls, n_outputs: int = 1) -> Lines:
        """No line at all; evaluates to zero."""
        none = np.zeros((0, n_outputs))
        return cls(np.zeros(0), none, none)

    def __len__(self) -> int:
        return len(self.mode)

    @property
    def n_outputs(self) -> int:
        """Number of outputs q."""
        return self.cosine.shape[1]

    @property
    def amplitude(self) -> FloatArray:
        """Amplitude of each line, shape (K, q)."""
        return np.hypot(self.cosine, self.sine)

    @property
    def phase(self) -> FloatArray:
        """Phase φ of each line in A cos(πkθ − φ), in (-π, π], shape (K, q)."""
        return np.arctan2(self.sine, self.cosine)

    def select(self, which: BoolArray | IndexArray) -> Lines:
        """Return the lines picked by a mask or by indices."""
        return Lines(self.mode[which], self.cosine[which], self.sine[which])

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return the sum of all lines at `theta`, shape (n, q)."""
        theta = np.ascontiguousarray(theta, dtype=np.float64)
        values = np.zeros((self.n_outputs, len(theta)))
        add_lines(theta, self.mode, self.cosine, self.sine, values)
        return values.T


def waves_at(theta: FloatArray, modes: FloatArray) -> FloatArray:
    """Return the cosines cos(πkθ) of all modes, then their sines, shape (2K, n)."""
    theta, waves = np.ascontiguousarray(theta), np.empty((2, len(modes), len(theta)))
    for k, mode in enumerate(modes):
        turns(theta, mode, waves[0, k], waves[1, k])
    return waves.reshape(2 * len(modes), len(theta))
