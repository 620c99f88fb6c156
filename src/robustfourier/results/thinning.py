"""Fewer points that look the same: what a figure a thousand pixels wide can show."""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray

DOTS_DRAWN = 20_000  # in a figure of a thousand columns more cover each other
_COLUMNS = 250  # each with its outermost two


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
    return np.union1d(evenly(n, count), _outermost(y, _COLUMNS))


def _outermost(y: FloatArray, columns: int) -> IndexArray:
    """Where the extremes of so many columns are: two of each, in their order."""
    edges = np.linspace(0, len(y), columns + 1).astype(np.intp)
    column = np.repeat(np.arange(columns), np.diff(edges))
    places = []
    for extreme in (np.minimum, np.maximum):
        reached = np.flatnonzero(y == extreme.reduceat(y, edges[:-1])[column])
        places.append(reached[np.unique(column[reached], return_index=True)[1]])
    return np.sort(places, axis=0).T.ravel()


def envelope(x: FloatArray, y: FloatArray, columns: int) -> tuple[FloatArray, FloatArray]:
    """A line that looks like y(x) on so many columns of pixels: each keeps its extremes.

    >>> envelope(np.arange(6.0), np.array([0.0, 9.0, 1.0, 2.0, -5.0, 3.0]), 2)
    (array([0., 1., 4., 5.]), array([ 0.,  9., -5.,  3.]))
    """
    at = extreme_points(y, columns)
    return x[at], y[at]


def extreme_points(y: FloatArray, columns: int) -> IndexArray:
    """Indices of the lowest and the highest point of each of so many columns, ascending."""
    return np.arange(len(y)) if len(y) <= 2 * columns else _outermost(y, columns)


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
