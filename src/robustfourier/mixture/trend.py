"""Trend: the level, and a slope or a slow smooth part only where the data asks for it.

The ladder of trends is: level; level and slope; polynomials of degree 2, 3 and 4. A higher rung is
taken only if the decrease of the sum of squares is far more than the noise at the lowest modes
would give. Beyond the ends the curved part fades into the straight line that fits it best within
them, so that the trend goes on as the best line through the whole record: neither its last bend nor
where its ends happen to lie decides a forecast.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robustfourier.arrays import FloatArray

__all__ = ["TREND_RUNGS", "Trend", "trend_columns"]


# Columns of each rung: level, slope, and 1, 2, 3 bumps.
TREND_RUNGS = (1, 2, 3, 4, 5)
_FADING = 0.25  # in θ, an eighth of the record


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


def trend_columns(theta: FloatArray, n_columns: int, steps: FloatArray | None = None) -> FloatArray:
    """Return the columns of a trend: 1, θ, then (1 − θ²) times 1, θ and 5θ² − 1; then steps.

    The three are bumps that vanish at the ends. Beyond, they fade into their best straight
    lines over [-1, 1], which are 2/3, 2θ/5 and 0.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    n_columns : int
        1 to 5, the steps not counted.
    steps : ndarray of shape (m,), optional
        Places of level shifts; the column of each is 0 before and 1 after it.

    Examples
    --------
    >>> import numpy as np
    >>> trend_columns(np.array([-1.0, 0.0, 1.0]), 3)
    array([[ 1., -1.,  0.],
           [ 1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    >>> trend_columns(np.array([10.0]), 5).round(3)
    array([[ 1. , 10. , 0.667, 4. , 0. ]])
    """
    theta = np.asarray(theta, dtype=np.float64)
    bump = np.maximum(1.0 - theta**2, 0.0)
    beyond = -np.expm1(-np.maximum(np.abs(theta) - 1.0, 0.0) / _FADING)
    columns = [
        np.ones_like(theta),
        theta,
        bump + beyond * 2.0 / 3.0,
        bump * theta + beyond * 0.4 * theta,
        bump * (5.0 * theta**2 - 1.0),
    ]
    columns = columns[:n_columns]
    columns += [(theta >= step).astype(np.float64) for step in ([] if steps is None else steps)]
    return np.stack(columns, axis=1)
