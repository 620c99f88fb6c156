"""Marks of missing values: numbers such as -999.9, 99.999 or 1e20 that stand for no measurement.

They are known by what they do, not by a list: one value, repeated exactly, farther from all other
values than these are from one another. Measurements scatter; a cluster of them as far away would
not be one number. Zero is never taken for a mark: no rain, no demand and a machine that is off are
measurements.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.weighted_rows import rounding_step

_MOST = 0.5  # of the values: what is there more often than not is the signal
_LEVELS = 10  # different values of the rest: with fewer, values are states or small counts
_CHANCE = 0.01  # that measurements as far away would all be equal
_ENDS = 2  # marks at either end of the values


def marks_of(values: FloatArray) -> FloatArray:
    """Return the values that are marks of missing ones, ascending; mostly none.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN where missing.

    Notes
    -----
    k measurements that scatter as the others do, over a range of L steps of rounding, are all equal
    with a probability of 1/L^(k-1) or so. This asks for at least two repetitions of numbers that
    are hardly rounded, and for more where they are rounded to few steps.

    Examples
    --------
    >>> magnitudes = np.r_[15.0 + np.random.default_rng(0).normal(0, 0.3, 50), 99.999, 99.999]
    >>> marks_of(magnitudes)
    array([99.999])
    >>> marks_of(np.r_[np.zeros(9), 20.0 + np.arange(30.0)])  # days without demand
    array([], dtype=float64)
    """
    distinct, count = np.unique(values[np.isfinite(values)], return_counts=True)
    ends, total = range(_ENDS + 1), int(count.sum())
    for peeled in range(2 * _ENDS, 0, -1):
        for low in ends:
            high = len(distinct) - (peeled - low)
            if 0 <= peeled - low <= _ENDS and high - low >= _LEVELS:
                marks = np.r_[distinct[:low], distinct[high:]]
                if _are_marks(marks, np.r_[count[:low], count[high:]], distinct[low:high], total):
                    return marks
    return np.zeros(0)


def _are_marks(marks: FloatArray, times: FloatArray, rest: FloatArray, total: int) -> bool:
    """Whether some values are marks, beside the others."""
    spread = float(rest[-1] - rest[0])
    away = np.minimum(np.abs(marks - rest[0]), np.abs(marks - rest[-1]))
    if times.min() < 2 or times.sum() > _MOST * total or np.any(marks == 0):
        return False
    if np.any(away <= spread):
        return False
    step = rounding_step(rest)
    levels = spread / step if step > 0 else np.inf
    return bool(np.all(levels ** (1.0 - times) <= _CHANCE))
