"""The scale of y: SGD with a given learning rate wants targets of size one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.weighted_rows import weighted_median


@dataclass(frozen=True)
class Scaling:
    """y = offset + scale · (what is trained on).

    Attributes
    ----------
    offset, scale : ndarray, shape (q,)
    """

    offset: FloatArray
    scale: FloatArray

    @classmethod
    def none(cls, n_outputs: int) -> Scaling:
        """Leave y as it is."""
        return cls(np.zeros(n_outputs), np.ones(n_outputs))

    @classmethod
    def mean(cls, y: FloatArray, weight: FloatArray) -> Scaling:
        """Mean and standard deviation."""
        # squares of 1e300 overflow, of 1e-300 vanish; powers of two change no bit of the others
        _, exponent = np.frexp(np.max(np.abs(y), axis=0, initial=0.0))
        unit = np.ldexp(1.0, np.clip(exponent, -1020, 1020))
        offset = np.average(y / unit, axis=0, weights=weight)
        scale = np.sqrt(np.average((y / unit - offset) ** 2, axis=0, weights=weight))
        # a constant y leaves rounding behind, which must not be blown up to size one
        constant = scale <= 1e-12 * np.abs(offset)
        level = np.abs(offset) * unit
        size = np.where(level > 0, np.clip(1.0, 1e-12 * level, level), 1.0)
        return cls(offset * unit, np.where(constant | (scale == 0), size, scale * unit))

    @classmethod
    def robust(cls, y: FloatArray, weight: FloatArray) -> Scaling:
        """Median and 1.4826 times the median absolute deviation, which outliers do not move."""
        plain = cls.mean(y, weight)
        offset = np.array([weighted_median(column, weight) for column in y.T])
        spread = np.array([weighted_median(column, weight) for column in np.abs(y - offset).T])
        # where more than half of y is one number, the spread is told by the rest alone
        return cls(offset, np.where(spread > 0, 1.4826 * spread, plain.scale))

    def apply(self, y: FloatArray) -> FloatArray:
        """Return (y − offset) / scale, shape (n, q)."""
        return (y - self.offset) / self.scale
