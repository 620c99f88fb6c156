"""Samples that are read as a process: where they are, their values and their white variances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.mixture.process import Waves, log_likelihood


class Sampled(NamedTuple):
    """Samples of one output.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Sorted.
    values : ndarray of shape (n,)
    noise : ndarray of shape (n,)
        White variances up to a factor.

    Examples
    --------
    >>> samples = Sampled(np.linspace(-1.0, 1.0, 4), np.ones(4), np.ones(4))
    >>> samples.some(np.array([0, 3])).theta
    array([-1.,  1.])
    >>> samples.likelihood(Waves.none())[1]  # the white variance
    1.0
    """

    theta: FloatArray
    values: FloatArray
    noise: FloatArray

    def some(self, rows: IndexArray) -> Sampled:
        """Return some of them."""
        return Sampled(*(column[rows] for column in self))

    def with_values(self, values: FloatArray) -> Sampled:
        """Return the same places with other values."""
        return self._replace(values=values)

    @property
    def weights(self) -> FloatArray:
        """One over the noise."""
        return 1.0 / self.noise

    @property
    def variance(self) -> float:
        """Mean square of the values."""
        return float(np.average(self.values**2, weights=self.weights))

    def likelihood(self, waves: Waves, columns: FloatArray | None = None) -> tuple[float, float]:
        """Return the log-likelihood of a process, and the white variance; see `log_likelihood`."""
        return log_likelihood(waves, *self, columns=columns)
