"""Onward: the process that tells what lies before and after a record with a trend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.remainder import Remainder
from robustfourier.mixture.trend import trend_columns

__all__ = ["Onward"]


@dataclass(frozen=True, eq=False)
class Onward(Remainder):
    """What samples tell beyond the ends of their record, strict lines and steps aside.

    The process is a drift, the remainder and living patterns together.

    Parameters
    ----------
    line : ndarray of shape (k, q)
        Level, and slope if k = 2, around which the drift is.
    line_factor : ndarray of shape (q, k, k)
        Their covariance is ``line_factor @ line_factor.T``.
    """

    line: FloatArray
    line_factor: FloatArray

    def beyond(self, theta: FloatArray) -> BoolArray:
        """Return which θ lie before the first sample or after the last."""
        samples = self.parts[0].theta
        return np.asarray((theta < samples[0]) | (theta > samples[-1]))

    def line_at(self, theta: FloatArray) -> FloatArray:
        """Return the line at θ, shape (n, q)."""
        return trend_columns(theta, len(self.line)) @ self.line

    def mean(self, theta: FloatArray, owner: int = -1) -> FloatArray:
        """Return line, drift and remainder at θ, or a living pattern, shape (n, q)."""
        told = super().mean(theta, owner)
        return told + self.line_at(theta) if owner < 0 else told

    def variance(self, theta: FloatArray, patterns: bool = False) -> FloatArray:
        """Return the variance at θ, of all or of living patterns alone, shape (n, q)."""
        whole = super().variance(theta, patterns)
        if patterns:
            return whole
        count = len(self.line)
        off = self.joined_errors(theta, lambda at: trend_columns(at, count), self.line_factor)
        return whole + off**2
