"""Surprise: how much farther off a process was from its own record than it said.

From places in the second half of the record the samples up to there tell of the samples after it,
by the process as it was found on all of them. Their squared distances over the variances that the
process gives them should be one on average. Where they are more, so many steps ahead, forecasts are
wider by that.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.periodic.semiseparable import ConditionedProcess, FilteredState

#: Ends of the bins of horizons, in parts of the record.
HORIZONS = (0.025, 0.05, 0.1, 0.2)
_ORIGINS = np.linspace(0.5, 0.95, 20)  # places from which is forecast, in parts of the rows
_TIMES = 15  # samples looked at in each bin: neighbours tell the same


def surprise_of(process: ConditionedProcess, values: FloatArray) -> FloatArray:
    """Return factors of the standard error at the horizons, at least one and never falling.

    Parameters
    ----------
    process : ConditionedProcess
    values : ndarray of shape (n,)
        What it was conditioned on.

    Examples
    --------
    >>> from robustfourier.periodic.kernels import sho
    >>> t = np.linspace(-1, 1, 400)
    >>> y = np.cumsum(np.random.default_rng(0).normal(size=400))
    >>> quiet = ConditionedProcess.on(sho([[2.0, 0.1, 1.0]]), t, np.full(400, 0.1), y)
    >>> bool((surprise_of(quiet, y) > 5).all())
    True
    """
    squares = _standardised(process, values)
    means = [float(np.mean(s)) if len(s) else 1.0 for s in squares]
    return np.sqrt(np.maximum.accumulate(np.maximum(means, 1.0)))


def _standardised(process: ConditionedProcess, values: FloatArray) -> list[FloatArray]:
    """Squared distances over variances, of all origins, for each bin of horizons."""
    theta, noise, kernel = process.theta, process.noise, process.kernel
    origins = np.unique((_ORIGINS * len(theta)).astype(int))
    told, known, _ = FilteredState.after(origins - 1, kernel, theta, noise, values[:, None])
    rows, counts = _ahead(theta, origins)
    u, _ = kernel.generators(theta)
    far = theta[rows] - theta[origins - 1, None]
    seen = u[rows] * np.exp(-np.multiply.outer(far, kernel.per_column(kernel.c)))
    off = values[rows] - (seen @ told)[:, :, 0]
    spread = kernel.variance - np.einsum("mni,mni->mn", seen @ known, seen)
    squared = off**2 / (np.maximum(spread, 0.0) + noise[rows])
    bins = (x.reshape(len(origins), len(HORIZONS), _TIMES) for x in (squared, counts))
    return [some[which] for some, which in zip(*(x.swapaxes(0, 1) for x in bins), strict=True)]


def _ahead(theta: FloatArray, origins: IndexArray) -> tuple[IndexArray, BoolArray]:
    """Rows after each origin, `_TIMES` in each bin of horizons, and which of them count.

    A row counts once, and none does where a bin is empty.
    """
    ends = theta[origins - 1, None] + 2.0 * np.array((0.0, *HORIZONS))  # the record is 2 in θ
    edges = np.maximum(np.searchsorted(theta, ends, side="right"), origins[:, None])
    low, high = edges[:, :-1, None], edges[:, 1:, None] - 1
    rows = (low + np.arange(_TIMES) * ((high - low) / (_TIMES - 1))).astype(int)
    rows[..., -1:] = high
    counts = (np.diff(rows, axis=2, prepend=-1) > 0) & (high >= low)
    return np.clip(rows, 0, len(theta) - 1).reshape(len(origins), -1), counts
