"""Decomposition: a prediction taken apart into trend, patterns and remainder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.estimators.times import time_index
from robustfourier.modes import by_output


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A prediction taken apart.

    Parameters
    ----------
    trend : ndarray of shape (n,) or (n, q)
        Level and slow part, in the unit of y.
    components : ndarray of shape (n, C) or (n, C, q)
        Value of each component, in the order of ``components_``. On the scale "log" a factor,
        such as 1.1 where it lifts the trend by 10 %.
    labels : tuple of str
        Their names.
    scale : {"linear", "log"}
        Whether the parts add up or multiply.
    times : array-like of shape (n,), optional
        Where; the index of `to_frame`. None for several input columns.
    remainder : ndarray of shape (n,) or (n, q), optional
        What neighbouring samples tell about the rest, a factor on the scale "log"; None where the
        noise is white.
    """

    trend: FloatArray
    components: FloatArray
    labels: tuple[str, ...]
    scale: str = "linear"
    times: Any = None
    remainder: FloatArray | None = None

    @property
    def total(self) -> FloatArray:
        """Return what `predict` gives: the sum of all parts, on the scale "log" their product."""
        if self.scale == "log":
            left = 1.0 if self.remainder is None else self.remainder
            return np.asarray(self.trend * self.components.prod(axis=1) * left)
        left = 0.0 if self.remainder is None else self.remainder
        return np.asarray(self.trend + self.components.sum(axis=1) + left)

    def to_frame(self) -> pd.DataFrame:
        """Return a table of the trend, each component and the remainder, by time."""
        frame = by_output("trend", self.trend)
        for c, label in enumerate(self.labels):
            frame |= by_output(label, self.components[:, c])
        if self.remainder is not None:
            frame |= by_output("remainder", self.remainder)
        index = None if self.times is None else time_index(self.times)
        return pd.DataFrame(frame, index=index)
