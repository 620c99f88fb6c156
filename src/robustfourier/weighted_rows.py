"""Weighted rows: one canonical form, in which order and repetition cannot matter; medians."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray

# No row has more than this part of the weight: a hundred rows outnumber the numbers of a usual fit,
# so it cannot simply pass through the few that dominate. Among fewer than 400 rows four times the
# mean weight is allowed, an error bar half as long as usual. Measured with 40 of 400 error bars
# five times shorter, 20 draws: 1 false pattern, and 14 with limits twice as high.
_LARGEST_PART = 0.01
_LARGEST_OVER_MEAN = 4.0

#: Deviations in units of the spread are cut off here: far beyond every outlier that could still be
#: distinguished from another in float64, and the third power does not overflow.
FARTHEST = 1e100
MEDIAN = 0.6744897501960817  # of the absolute value of a standard normal variable


def canonical_rows(
    theta: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Drop rows of weight zero, sort, and merge rows equal in θ and y by adding their weights.

    Rows in any order, or twice instead of weight 2, give the same arrays bit for bit.

    >>> import numpy as np
    >>> theta, y = np.array([1.0, -1.0, 1.0]), np.array([[2.0], [0.0], [2.0]])
    >>> [a.ravel().tolist() for a in canonical_rows(theta, y, np.ones(3))]
    [[-1.0, 1.0], [0.0, 2.0], [1.0, 2.0]]
    """
    first = theta if theta.ndim == 1 else theta[:, 0]
    if np.all(weights > 0) and np.all(first[1:] > first[:-1]):
        return theta, y, weights
    kept = weights > 0
    theta, y, weights = theta[kept], y[kept], weights[kept]
    rows = np.column_stack([theta, y])
    # Weights are the last key: equal rows are then always added in the same order.
    order = np.lexsort((weights, *rows.T[::-1]))
    new = np.ones(len(rows), bool)
    new[1:] = np.any(np.diff(rows[order], axis=0) != 0, axis=1)
    theta, y, weights = theta[order], y[order], weights[order]
    if new.all():
        return theta, y, weights
    return theta[new], y[new], np.add.reduceat(weights, np.flatnonzero(new))


def effective_rows(weights: FloatArray) -> float:
    """Return how many rows of equal weight average noise as well as these: (Σw)² / Σw².

    >>> effective_rows(np.array([3.0, 3.0, 3.0])), effective_rows(np.array([1.0, 1e-9]))
    (3.0, 1.000000002)
    """
    largest = weights.max()  # so that no square overflows or vanishes
    return float((weights / largest).sum() ** 2 / np.sum((weights / largest) ** 2))


def limited_weights(weights: FloatArray) -> tuple[FloatArray, int]:
    """Return weights of which none dominates, and how many had to be lowered.

    A fit passes exactly through rows that have most of the weight, and then takes their vanishing
    residuals for the noise. The largest weights are lowered to a common limit c, a fixed part of
    the new total: c = part · Σ min(w, c).

    >>> weights, lowered = limited_weights(np.append(np.ones(399), 1e6))
    >>> float(weights[-1].round(2)), lowered
    (4.03, 1)
    """
    part = max(_LARGEST_PART, _LARGEST_OVER_MEAN / len(weights))
    if weights.max() <= part * weights.sum():
        return weights, 0
    descending = np.sort(weights)[::-1]
    rest = np.cumsum(descending[::-1])[::-1]  # the weight of the k-th row and of all after it
    lowered = np.arange(1, min(len(weights), int(np.ceil(1.0 / part - 1e-9))))
    limits = part * rest[lowered] / (1.0 - part * lowered)
    first = int(np.argmax(limits >= descending[lowered]))
    return np.minimum(weights, limits[first]), int(lowered[first])


def weighted_deviation(left: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the root of the mean square of each column of residuals, of any size, shape (q,)."""
    size = np.maximum(np.max(np.abs(left), axis=0, initial=0.0), np.finfo(float).tiny)
    return np.asarray(size * np.sqrt(weights @ (left / size) ** 2 / weights.sum()))


def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """Return the median of `values`, each repeated `weights` times.

    The mean of the two middle values where half of the weight lies exactly on each side, as for
    an even number of rows.
    """
    if len(weights) and np.all(weights == weights[0]):
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    half = 0.5 * below[-1]
    low = int(np.searchsorted(below, half * (1.0 - 1e-12)))
    high = int(np.searchsorted(below, half * (1.0 + 1e-12)))
    return float(0.5 * (values[order[low]] + values[order[min(high, len(values) - 1)]]))


def robust_scale(residuals: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the standard deviation of each output from its median absolute residual, (q,).

    Centred at zero, for residuals of a fit with a level. Zero if most residuals are zero.
    """
    columns = np.abs(residuals).T
    return np.array([weighted_median(column, weights) for column in columns]) / MEDIAN


def centre_and_scale(y: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return median and spread of each output; the spread is a power of two, so exact."""
    centre = np.array([weighted_median(column, weights) for column in y.T])
    largest = np.max(np.abs(y - centre), axis=0, initial=0.0)
    # The typical deviation: a single huge outlier would make all else vanish beside it. Where a
    # tenth of the rows or more are beyond all bounds, they are no outliers but the signal.
    usual = np.array([weighted_median(column, weights) for column in np.abs(y - centre).T])
    beyond = weights @ (1.0 / FARTHEST * np.abs(y - centre) > usual) / weights.sum()
    spread = np.where((usual > 0) & (beyond < 0.1), usual, largest)
    exponent = np.where(spread > 0, np.log2(np.where(spread > 0, spread, 1.0)), 0.0)
    return centre, np.exp2(np.clip(np.round(exponent), -1020.0, 1020.0))


def rounding_step(values: FloatArray) -> float:
    """Return the step of the even grid that values were rounded to; 0 if they lie on none.

    A grid with more than a million steps between the smallest and the largest value is none: its
    rounding errors matter to nobody.

    >>> round(rounding_step(np.array([0.2, 0.7, 0.4, 12.4])), 9)
    0.1
    >>> rounding_step(np.random.default_rng(0).normal(size=9))
    0.0
    """
    distinct = np.unique(values)
    if len(distinct) < 2 or not np.isfinite(distinct[-1] - distinct[0]):
        return 0.0
    gaps = np.diff(distinct)
    finest = max(1e-6 * (distinct[-1] - distinct[0]), np.finfo(float).tiny)
    exact = 4.0 * np.finfo(float).eps * np.max(np.abs(distinct))
    step = float(gaps.min())
    while step > finest:  # Euclid's algorithm, of all gaps at once
        rest = np.abs(gaps - step * np.round(gaps / step))
        off = rest > exact * (1.0 + gaps / step)
        if not off.any():
            return step
        step = float(rest[off].min())
    return 0.0
