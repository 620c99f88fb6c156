"""Standard deviation and shares of variance, safe for values of any size."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray


def deviation(values: FloatArray) -> float:
    """Standard deviation, without overflow in the squares.

    >>> deviation(np.array([1e300, -1e300]))
    1e+300
    """
    size = float(np.abs(values).max(initial=0.0))
    return size * float(np.std(values / size)) if size > 0 else 0.0


def share_of_variance(part: FloatArray, whole: FloatArray) -> float:
    """Variance of a part over that of the whole; 0 if the whole does not vary."""
    size = float(np.abs(whole).max(initial=0.0))
    spread = float(np.var(whole / size)) if size > 0 else 0.0
    # What rounding leaves of a constant is no variation.
    if spread <= 1e-28:
        return 0.0
    return float(np.var(part / size)) / spread
