"""Drafts: columns whose fit stops at a first look, or at all lines, before patterns are made.

Where a look tells which of two scales to take (`scale`), the fit on the other one ends there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.search.detection import Detection
from robustfourier.periodic.basis import Lines, Trend, line_columns

#: A model for each column, and the lines that it was made of.
Fitted = tuple[list[ColumnModel], list[Detection]]


@dataclass(frozen=True, eq=False)
class Sketch:
    """Trend and lines of one column, in units of what was fitted.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> sketch = Sketch(Trend(5.0 * one), Lines(np.ones(1), 2.0 * one, one))
    >>> sketch.evaluate(np.zeros(1)), sketch.rows(np.zeros(1))[:, 0]
    (array([[7.]]), array([1., 1., 0.]))
    """

    trend: Trend
    lines: Lines

    def evaluate(self, theta: FloatArray) -> FloatArray:
        """Return trend and lines at θ, shape (n, q)."""
        return self.trend.evaluate(theta) + self.lines.evaluate(theta)

    def rows(self, theta: FloatArray) -> FloatArray:
        """Return rows of which trend and lines are combinations, shape (p + 2K, n)."""
        return np.concatenate([self.trend.columns(theta).T, line_columns(theta, self.lines.mode)])


@dataclass(frozen=True, eq=False)
class Draft:
    """Columns whose fit is made as far as it is asked for.

    Parameters
    ----------
    begin, search : callable
        Give a sketch of each column, of the lines of one round of the search and of all lines;
        called once each, if at all.
    compose : callable
        Makes patterns of all lines; called once, if at all.
    """

    begin: Callable[[], list[Sketch]]
    search: Callable[[], list[Sketch]]
    compose: Callable[[], Fitted]

    @cached_property
    def first(self) -> list[Sketch]:
        """Sketches of the lines of the first round."""
        return self.begin()

    @cached_property
    def lines(self) -> list[Sketch]:
        """Sketches of all lines."""
        return self.search()

    @cached_property
    def fitted(self) -> Fitted:
        """The models, with patterns."""
        return self.compose()

    @cached_property
    def patterns(self) -> list[Sketch]:
        """Sketches of the patterns, weak harmonics and all."""
        return sketches_of(self.fitted)


def sketches_of(fitted: Fitted) -> list[Sketch]:
    """Return a sketch of each column's model."""
    return [Sketch(Trend(one.trend, one.steps), one.lines) for one in fitted[0]]
