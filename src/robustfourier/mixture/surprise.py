"""Surprise: how much farther off a process was from its own record than it said.

From places in the second half of the record the samples up to there tell of the samples after it,
by the process as it was found on all of them. Their squared distances over the variances that the
process gives them should be one on average. Where they are more, so many steps ahead, forecasts are
wider by that.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.mixture.process import Conditioned

__all__ = ["HORIZONS", "surprise_of"]

#: Ends of the bins of horizons, in parts of the record.
HORIZONS = (0.025, 0.05, 0.1, 0.2)
_ORIGINS = np.linspace(0.5, 0.95, 20)  # places from which is forecast, in parts of the rows
_TIMES = 15  # samples looked at in each bin: neighbours tell the same


def surprise_of(process: Conditioned, values: FloatArray) -> FloatArray:
    """Return factors of the standard error at the horizons, at least one and never falling.

    Parameters
    ----------
    process : Conditioned
    values : ndarray of shape (n,)
        What it was conditioned on.

    Examples
    --------
    >>> from robustfourier.mixture.process import oscillator
    >>> t = np.linspace(-1, 1, 400)
    >>> y = np.cumsum(np.random.default_rng(0).normal(size=400))
    >>> quiet = Conditioned.on(oscillator(2.0, 0.1, 1.0), t, np.full(400, 0.1), y)
    >>> bool((surprise_of(quiet, y) > 5).all())
    True
    """
    squares = _standardised(process, values)
    means = [float(np.mean(s)) if len(s) else 1.0 for s in squares]
    return np.sqrt(np.maximum.accumulate(np.maximum(means, 1.0)))


def _standardised(process: Conditioned, values: FloatArray) -> list[FloatArray]:
    """Squared distances over variances, of all origins, for each bin of horizons.

    What samples up to an origin tell is one vector for the mean and one matrix for the variance;
    both fade on the way to the next origin, and gather what the samples between tell.
    """
    from celerite2 import driver

    theta, noise = process.theta, process.noise
    c, a, u, v = process.waves.matrices(theta, noise)
    d, w = driver.factor(theta, c, a.copy(), u, v, a.copy(), v.copy())
    z = values[:, None].copy()
    z = driver.solve_lower(theta, c, u, w, z, z)[:, 0]
    told, known = np.zeros(len(c)), np.zeros((len(c), len(c)))
    squares: list[list[FloatArray]] = []
    before = 0
    for origin in np.unique((_ORIGINS * len(theta)).astype(int)):
        new = slice(before, origin)
        here = theta[origin - 1]
        fading = np.exp(-c * (here - theta[max(before - 1, 0)]))
        gathered = np.exp(-np.multiply.outer(here - theta[new], c)) * w[new]
        told = fading * told + gathered.T @ z[new]
        known = np.outer(fading, fading) * known + gathered.T @ (d[new, None] * gathered)
        before = origin
        bins = _ahead(theta, origin)
        rows = np.concatenate(bins)
        seen = u[rows] * np.exp(-np.multiply.outer(theta[rows] - here, c))
        off = values[rows] - seen @ told
        spread = process.waves.variance - np.einsum("ni,ni->n", seen @ known, seen)
        squared = off**2 / (np.maximum(spread, 0.0) + noise[rows])
        squares.append(np.split(squared, np.cumsum([len(each) for each in bins])[:-1]))
    return [np.concatenate(squared) for squared in zip(*squares, strict=True)]


def _ahead(theta: FloatArray, origin: int) -> list[IntArray]:
    """Rows in each bin of horizons after an origin."""
    ends = theta[origin - 1] + 2.0 * np.array((0.0, *HORIZONS))  # the record is 2 in θ
    rows = np.maximum(np.searchsorted(theta, ends, side="right"), origin)
    return [
        np.unique(np.linspace(lo, hi - 1, _TIMES).astype(int)) if hi > lo else np.zeros(0, int)
        for lo, hi in pairwise(rows)
    ]
