"""Trend: the level, and a slope or a slow smooth part only where the data asks for it.

The ladder of trends is: level; level and slope; polynomials of degree 2, 3 and 4. A higher rung is
taken only if the decrease of the sum of squares is far more than the noise at the lowest modes
would give. Beyond the ends the trend goes on as a straight line, with its mean slope over the last
30 % of the record: neither its last bend nor what was long ago decides a forecast.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.periodic.basis import RECENT, trend_columns

# Columns of each rung: level, slope, and 1, 2, 3 bumps.
TREND_RUNGS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Trend:
    """A slow function of θ.

    Parameters
    ----------
    coefficients : ndarray of shape (p, q)
        Coefficients of the columns: 1 for a level, 2 with a slope, up to 5 with a smooth part, and
        one for each step, its size.
    steps : ndarray of shape (m,)
        Places of level shifts.
    """

    coefficients: FloatArray
    steps: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def rung(self) -> int:
        """Number of columns, the steps not counted."""
        return len(self.coefficients) - len(self.steps)

    @property
    def kind(self) -> str:
        """Return "level", "slope" or "smooth"."""
        return ("level", "slope", "smooth")[min(self.rung, 3) - 1]

    def columns(self, theta: FloatArray) -> FloatArray:
        """Return the columns at `theta`, shape (n, p)."""
        return trend_columns(theta, self.rung, self.steps)

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return the trend at `theta`, also beyond [-1, 1], shape (n, q)."""
        return self.columns(theta) @ self.coefficients

    def jumps(self, theta: FloatArray) -> FloatArray:
        """Return what the steps add at `theta`, shape (n, q)."""
        return self.columns(theta)[:, self.rung :] @ self.coefficients[self.rung :]

    def wander(self, theta: FloatArray) -> FloatArray:
        """Return the deviation beyond the ends that a slope which goes on changing brings, (n, q).

        A slope that is a random walk and varies by s over the record (2 in θ) walks by 3s² per θ.
        At a distance h beyond the end it has moved the trend by s² h³ in variance, and the mean
        slope of the recent record is off the last one by s² · 0.6.
        """
        inside = np.linspace(-1.0, 1.0, 401)
        smooth = trend_columns(inside, self.rung) @ self.coefficients[: self.rung]
        slope = np.std(np.diff(smooth, axis=0) / np.diff(inside)[:, None], axis=0)
        beyond = np.maximum(np.abs(np.asarray(theta, np.float64)) - 1.0, 0.0)
        return np.sqrt(RECENT * beyond**2 + beyond**3)[:, None] * slope


@dataclass(frozen=True, eq=False)
class LevelShift:
    """A jump of the level.

    Parameters
    ----------
    time : number or date
        Half way between the samples before and after it.
    size, error : ndarray of shape (q,)
        By how much, and the standard error of that.
    """

    time: Any
    size: FloatArray
    error: FloatArray
