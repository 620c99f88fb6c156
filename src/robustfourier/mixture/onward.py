"""Onward: the process that tells what lies before and after a record with a trend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.remainder import Remainder

__all__ = ["Onward"]


@dataclass(frozen=True, eq=False)
class Onward(Remainder):
    """What samples tell beyond the ends of their record, strict lines and steps aside.

    The process is a drift, the remainder and living patterns together.

    Parameters
    ----------
    level, level_error : ndarray of shape (q,)
        Around which the drift is, and the standard error of that.
    """

    level: FloatArray
    level_error: FloatArray

    def beyond(self, theta: FloatArray) -> BoolArray:
        """Return which θ lie before the first sample or after the last."""
        samples = self.parts[0].theta
        return np.asarray((theta < samples[0]) | (theta > samples[-1]))

    def mean(self, theta: FloatArray, owner: int = -1) -> FloatArray:
        """Return level, drift and remainder at θ, or a living pattern, shape (n, q)."""
        return super().mean(theta, owner) + (self.level if owner < 0 else 0.0)

    def variance(self, theta: FloatArray, patterns: bool = False) -> FloatArray:
        """Return the variance at θ, of all or of living patterns alone, shape (n, q)."""
        whole = super().variance(theta, patterns)
        for o, part in enumerate(self.parts if not patterns else ()):
            one = part.divided(np.ones((len(part.theta), 1)))
            off = 1.0 - part.across(theta, one)[:, 0]
            whole[:, o] += (self.level_error[o] * off) ** 2
        return whole
