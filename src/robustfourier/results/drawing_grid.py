"""How finely curves are drawn: the one place that decides, for figures, page, notebook and app.

A straight line between points that are 1/p of a cycle apart is off by at most 1 − cos(π/p) of the
amplitude, 1.9 % for p = 16, which is 1 % of the range. A curve that has more points than a picture
has columns is drawn as the outline of each column (`thinning.extremes`), never thinned.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray

#: Points in a cycle of the fastest harmonic.
PER_CYCLE = 16
#: Columns of a picture, beyond which a curve is drawn as its outline.
COLUMNS = 900

_CURVE = (1500, 200_000)  # points of a curve over the whole record, at least and at most
_SAMPLES = 6000  # places at which correlated noise is evaluated, at most
_PART = 400  # points of a part of it, at least
_WAVE = (200, 4000)  # points of one cycle of a component


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


def horizon(top: float, fastest: float, share: float = 0.1) -> float:
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
