"""At how many points curves and samples are drawn, in figures, page, notebook and app.

A straight line between points that are 1/p of a cycle apart is off by at most 1 − cos(π/p) of the
amplitude, 1.9 % for p = 16, which is 1 % of the range. A curve that has more points than a picture
has columns is drawn as the outline of each column (`extremes`), never thinned.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray

#: Points in a cycle of the fastest harmonic.
PER_CYCLE = 16
#: Columns of a picture, beyond which a curve is drawn as its outline.
COLUMNS = 900
#: Samples seen at once whose measured errors are drawn; more would be a grey wall.
WHISKERS = 400
#: Samples in a figure; of a thousand columns, more cover each other.
DOTS_DRAWN = 20_000

_CURVE = (1500, 200_000)  # points of a curve over the whole record, at least and at most
_SAMPLES = 6000  # places at which correlated noise is evaluated, at most
_PART = 400  # points of a part of it, at least
_WAVE = (200, 4000)  # points of one cycle of a component
_OUTERMOST = 250  # columns, of which the lowest and highest sample are always drawn


def curve_grid(top: float, share: float = 1.0) -> FloatArray:
    """Places between 0 and 1, ascending, at which a curve is evaluated whose fastest mode is `top`.

    `share` is the part of the record that is drawn. Where even the largest number of points is too
    few, each lies at random within its share of the axis: the outline of a column then has no beats
    that the curve does not have.

    >>> len(curve_grid(500.0)), len(curve_grid(2.0))
    (8001, 1501)
    """
    least = _CURVE[0] if share == 1.0 else _PART
    return _grid(int(np.ceil(PER_CYCLE * top * share)), (least, _CURVE[1]))


def sample_grid(count: int) -> FloatArray:
    """Places between 0 and 1 at which correlated noise is evaluated: two for each sample.

    It follows the samples and bends at them; beyond 6000 places they lie at random, as above.

    >>> len(sample_grid(100)), len(sample_grid(2500)), len(sample_grid(10**6))
    (1501, 5001, 6001)
    """
    return _grid(2 * count, (_CURVE[0], _SAMPLES))


def _grid(wanted: int, ends: tuple[int, int]) -> FloatArray:
    count = int(np.clip(wanted, *ends))
    grid = np.linspace(0.0, 1.0, count + 1)
    if wanted > count:
        grid[1:-1] += np.random.default_rng(0).uniform(-0.5, 0.5, count - 1) / count
    return grid


def forecast_reach(top: float, fastest: float, share: float = 0.1) -> float:
    """Return how far a page looks ahead, as a part of the record, at most `share` of it.

    6000 points have to show the mode `top`, and 40 cycles of the fastest of the strong modes can be
    seen side by side.
    """
    return float(min(share, 40.0 / max(fastest, 1e-9), 6000.0 / (PER_CYCLE * max(top, 1e-9))))


def wave_grid(order: int) -> FloatArray:
    """Phases from 0 to 1 at which one cycle is evaluated, whose highest harmonic is `order`.

    >>> len(wave_grid(1)), len(wave_grid(50))
    (201, 801)
    """
    return np.linspace(0.0, 1.0, int(np.clip(PER_CYCLE * order, *_WAVE)) + 1)


def evenly(n: int, count: int) -> IndexArray:
    """Indices of at most `count` of n points; a fixed shuffle, so that rhythms do not alias.

    >>> evenly(5, 10)
    array([0, 1, 2, 3, 4])
    >>> len(evenly(100_000, 500))
    500
    """
    if n <= count:
        return np.arange(n)
    chosen = np.random.default_rng(0).permutation(n)[:count]
    return np.sort(chosen)


def dots(y: FloatArray, count: int = DOTS_DRAWN) -> IndexArray:
    """Indices of the dots that stand for all: some of each time, and the lowest and highest.

    >>> y = np.zeros(100_000)
    >>> y[777] = 9.0  # an outlier is always drawn
    >>> chosen = dots(y)
    >>> 777 in chosen, len(chosen) <= 20_500
    (True, True)
    """
    n = len(y)
    if n <= count:
        return np.arange(n)
    return np.union1d(evenly(n, count), extreme_points(y, _OUTERMOST))


def extreme_points(y: FloatArray, columns: int) -> IndexArray:
    """Indices of the lowest and the highest point of each of so many columns, ascending.

    >>> extreme_points(np.array([0.0, 9.0, 1.0, 2.0, -5.0, 3.0]), 2)
    array([0, 1, 4, 5])
    """
    if len(y) <= 2 * columns:
        return np.arange(len(y))
    edges = np.linspace(0, len(y), columns + 1).astype(np.intp)
    column = np.repeat(np.arange(columns), np.diff(edges))
    places = []
    for extreme in (np.minimum, np.maximum):
        reached = np.flatnonzero(y == extreme.reduceat(y, edges[:-1])[column])
        places.append(reached[np.unique(column[reached], return_index=True)[1]])
    return np.sort(places, axis=0).T.ravel()


def extremes(
    x: FloatArray, y: FloatArray, columns: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Middle, lowest and highest y of so many columns: the outline of what is too dense to see.

    >>> extremes(np.arange(6.0), np.array([0.0, 9.0, 1.0, 2.0, -5.0, 3.0]), 2)
    (array([1., 4.]), array([ 0., -5.]), array([9., 3.]))
    """
    edges = np.linspace(0, len(x), min(columns, len(x)) + 1).astype(np.intp)[:-1]
    middle = np.add.reduceat(x, edges) / np.diff(np.append(edges, len(x)))
    return middle, np.minimum.reduceat(y, edges), np.maximum.reduceat(y, edges)


def peak_bins(x: FloatArray, y: FloatArray, count: int) -> IndexArray:
    """Indices of at most `count` points that keep every peak: the largest y of each bin of x.

    >>> peak_bins(np.arange(6.0), np.array([0.0, 5.0, 1.0, 0.0, 0.0, 7.0]), 2)
    array([1, 5])
    """
    if len(x) <= count:
        return np.arange(len(x))
    first = np.linspace(0, len(x), count + 1).astype(np.intp)
    size = np.diff(first)
    # Bins differ by one point at most: the last point of a shorter one counts twice.
    inside = first[:-1, None] + np.minimum(np.arange(size.max()), size[:, None] - 1)
    return np.asarray(first[:-1] + np.argmax(y[inside], axis=1))
