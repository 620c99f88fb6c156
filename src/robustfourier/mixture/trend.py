"""Trend: the level, and a slope or a slow smooth part only where the data asks for it.

The ladder of trends is: level; level and slope; natural cubic splines with 3, 4 and 5 even knots.
A higher rung is taken only if the decrease of the sum of squares is far more than the noise
at the lowest modes would give. Beyond the ends the curved part is zero and the line through the
ends goes on, so that a forecast cannot run away faster than the data did.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

__all__ = ["TREND_RUNGS", "Trend", "trend_columns"]

FloatArray = NDArray[np.float64]

# Columns of each rung: level, slope, and 1, 2, 3 bumps.
TREND_RUNGS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Trend:
    """A slow function of θ.

    Parameters
    ----------
    coefficients : ndarray of shape (p, q)
        Coefficients of `trend_columns(theta, p)`; p is 1 for a level, 2 with a slope, up to 5 with
        a smooth part.
    """

    coefficients: FloatArray

    @property
    def kind(self) -> str:
        """Return "level", "slope" or "smooth"."""
        return ("level", "slope", "smooth")[min(len(self.coefficients), 3) - 1]

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return the trend at `theta`, also beyond [-1, 1], shape (n, q)."""
        return trend_columns(theta, len(self.coefficients)) @ self.coefficients


def trend_columns(theta: FloatArray, n_columns: int) -> FloatArray:
    """Return the columns of a trend: 1, θ, then bumps of a natural spline that vanish at the ends.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    n_columns : int
        1 to 5.

    Examples
    --------
    >>> import numpy as np
    >>> trend_columns(np.array([-1.0, 0.0, 2.0]), 3)
    array([[ 1., -1.,  0.],
           [ 1.,  0.,  1.],
           [ 1.,  2.,  0.]])
    """
    theta = np.asarray(theta, dtype=np.float64)
    columns = [np.ones_like(theta), theta][:n_columns]
    n_bumps = max(n_columns - 2, 0)
    if n_bumps:
        knots = np.linspace(-1.0, 1.0, n_bumps + 2)
        heights = np.eye(n_bumps + 2)[:, 1:-1]
        bumps = CubicSpline(knots, heights, bc_type="natural")(np.clip(theta, -1.0, 1.0))
        columns.extend(bumps.T)
    return np.stack(columns, axis=1)
