"""Level shifts: times at which the level jumps and stays, found and tested as part of the trend.

A sensor that was moved, a price that was raised: one jump in a record is power at all slow modes,
and would lift the noise floor under every line there. Jumps are proposed one after the other where
the cumulated residual turns most. A set of them is kept if slow noise would hardly gain as much by
each at the best of all places. A random walk jumps nowhere and drifts everywhere: its slow noise is
large, and no jump passes.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray, IntVector, Matrix, Vector
from robustfourier.compiling import compiled
from robustfourier.mixture.search.line_fit import Fit
from robustfourier.mixture.significance import trend_p_value
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.semidefinite import solve_positive

AT_MOST = 8  # steps; more are a drift
FEWEST = 8  # distinct samples between two steps: fewer are a cluster of outliers
# Modes of the residual that a step has to beat: the lowest that the other steps have not emptied.
# With eight a random walk, whose power falls as one over the square of the mode, would pass.
SLOW_MODES = 4


def find_steps(series: Series, fit: Fit) -> FloatArray:
    """Return the places of level shifts beside the lines of a fit, ascending, shape (m,).

    Parameters
    ----------
    series : Series
    fit : Fit
        Lines and trend so far; the lines stay as they are.
    """
    steps, kept, left = np.zeros(0), np.zeros(0), fit.refined.residuals
    bends, y = np.zeros((0, 0)), np.zeros((0, 0))
    if len(series.steps):
        bends, y = _without_lines(series, fit)
        left = _fitted(series, bends, steps, y)[0]
    while len(steps) < AT_MOST:
        place, gain = _largest_jump(series, left, steps)
        # White noise alone has 2 log n at the best of n places: less is not worth a test.
        if gain < 4.0 * np.log(series.distinct):
            break
        if not len(y):  # most series have no step, and their residual is enough to see it
            bends, y = _without_lines(series, fit)
        steps = np.sort(np.append(steps, place))
        left, base = _fitted(series, bends, steps, y)
        if _all_pass(series, left, base):
            kept = steps
    return kept


def _without_lines(series: Series, fit: Fit) -> tuple[FloatArray, FloatArray]:
    """Return the columns of the bends, (n, rung), and the data without the lines, (n, q)."""
    trend = series.trend(fit.rung)
    return trend[:, : fit.rung], fit.refined.residuals + trend @ fit.refined.trend


def _fitted(
    series: Series, bends: FloatArray, steps: FloatArray, y: FloatArray
) -> tuple[FloatArray, list[FloatArray]]:
    """Return what bends and steps leave over of y, (n, q), and squares left without each step."""
    columns = np.hstack([bends, (series.theta[:, None] >= steps).astype(np.float64)])
    weighted = series.weights[:, None] * columns
    gram, cross, squares = weighted.T @ columns, weighted.T @ y, series.weights @ y**2
    left = y - columns @ solve_positive(gram, cross)
    rests = [np.delete(np.arange(len(gram)), bends.shape[1] + i) for i in range(len(steps))]
    explained = [
        np.sum(cross[rest] * solve_positive(gram[np.ix_(rest, rest)], cross[rest]), axis=0)
        for rest in rests
    ]
    return left, [np.maximum(squares - part, 0.0) for part in explained]


def _all_pass(series: Series, left: FloatArray, base: list[FloatArray]) -> bool:
    """Whether each step gains more than slow noise would give at the best place of all."""
    grid, reach = series.slow_grid, 0.5 * (len(base) + 1)
    power = grid.power(grid.data_sums(left))[grid.modes > reach][:SLOW_MODES]
    squares = series.weights @ left**2
    noise = power.mean(axis=0) if len(power) > 1 else squares / series.total
    noise = np.maximum(noise, 1e-20 * base[0] + 1e-300)
    dof = max(len(power) * series.share, 1.0)
    p_values = [trend_p_value(before - squares, 1, noise, dof) for before in base]
    return max(p_values) * series.distinct <= series.settings.level


def _largest_jump(series: Series, left: FloatArray, taken: FloatArray) -> tuple[float, float]:
    """Return where one step more would lower the sum of squares most, and by how many variances."""
    weights, theta = series.weights, series.theta
    variance = np.einsum("n,nq,nq->q", weights, left, left) / series.total
    scale = 1.0 / np.sqrt(np.maximum(variance, 1e-300))
    # Distinct positions before each step there is, the ends counted as two.
    before = [np.count_nonzero(np.diff(theta[: np.searchsorted(theta, step)])) for step in taken]
    ends = np.array([-1, *before, series.distinct - 1], dtype=np.int64)
    gain = np.empty(1)
    best = _turning(theta, weights, left, scale, series.total, ends, gain)
    return 0.5 * float(theta[best] + theta[best + 1]), float(gain[0])


@compiled
def _turning(
    theta: Vector, weights: Vector, left: Matrix, scale: Vector, total: float, ends: IntVector,
    gained: Vector,
) -> int:  # fmt: skip
    """Return after which sample the cumulated residual turns most, and write how much.

    `ends` are the numbers of distinct positions, ascending, next to which no step may stand.
    """
    best, highest, below, count = 0, -1.0, 0.0, 0
    moved = np.zeros(left.shape[1])
    for i in range(len(theta) - 1):
        below += weights[i]
        square = 0.0
        for o in range(len(moved)):
            moved[o] += weights[i] * left[i, o] * scale[o]
            square += moved[o] * moved[o]
        if theta[i + 1] > theta[i]:
            gain = square / (below * (1.0 - below / total))
            if gain > highest:
                free = True
                for j in range(len(ends)):
                    free &= abs(ends[j] - count) >= FEWEST
                if free:
                    best, highest = i, gain
            count += 1
    gained[0] = highest
    return best
