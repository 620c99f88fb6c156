"""The columns of a cosinor model on one time base: level, trend, and harmonics of known periods.

y(t) = M + Σ_d c_d u^d + Σ_k Σ_n [a_kn cos(2πn t / P_k) + b_kn sin(2πn t / P_k)], where M is the
mesor, the mean level over whole cycles, and u is time scaled to [-1, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.errors import InputError

# Condition number of the columns, all of size one, beyond which they are distinguished by rounding
# errors: half of the digits of float64.
_CONDITION = 1e8


@dataclass(frozen=True)
class Terms:
    """What is fitted, on whatever times."""

    periods: tuple[float, ...]  # in the unit of the times
    harmonics: int = 1  # orders of each period: 1 is a cosine, 2 adds half of the period
    trend: int = 0  # degree of the polynomial beside the level

    @property
    def count(self) -> int:
        """Columns in all."""
        return 1 + self.trend + 2 * self.harmonics * len(self.periods)

    def of_period(self, index: int, order: int | None = None) -> slice:
        """Columns of one period: of all its orders, or of one, cosine before sine."""
        first = 1 + self.trend + 2 * self.harmonics * index
        if order is None:
            return slice(first, first + 2 * self.harmonics)
        return slice(first + 2 * (order - 1), first + 2 * order)

    def columns(self, times: FloatArray) -> FloatArray:
        """Matrix X of shape (n, count), such that the model is X β; the first column is one."""
        middle, half = 0.5 * (times.min() + times.max()), 0.5 * float(np.ptp(times)) or 1.0
        scaled = (times - middle) / half
        parts = [np.ones_like(times), *(scaled**d for d in range(1, self.trend + 1))]
        for period in self.periods:
            for order in range(1, self.harmonics + 1):
                angle = 2.0 * np.pi * order * (times / period)
                parts += [np.cos(angle), np.sin(angle)]
        return np.stack(parts, axis=1)


@dataclass(frozen=True, eq=False)
class TimeBase:
    """Rows at which series are measured: times in any order, equal ones are replicates.

    Rows of one chain follow each other in time and may be correlated: one animal, one sensor. Rows
    of different chains are independent.
    """

    times: FloatArray
    chains: IndexArray

    @classmethod
    def of(cls, times: FloatArray) -> TimeBase:
        """Rows whose chain is the number of the replicate at the same time.

        Examples
        --------
        >>> TimeBase.of(np.array([0.0, 4.0, 4.0, 8.0])).chains
        array([0, 0, 1, 0])
        """
        copy = pd.Series(times).groupby(times).cumcount()
        return cls(times, np.asarray(copy, np.intp))

    def rows(self, kept: IndexArray) -> TimeBase:
        """Some of the rows."""
        return TimeBase(self.times[kept], self.chains[kept])

    @property
    def replicated(self) -> IndexArray:
        """Index of the different time of each row."""
        return np.unique(self.times, return_inverse=True)[1].astype(np.intp)


def is_determined(columns: FloatArray) -> bool:
    """Whether the rows determine all columns, and leave something to estimate the noise from."""
    rows, count = columns.shape
    return rows > count and bool(np.linalg.cond(columns) < _CONDITION)


def require_determined(terms: Terms, times: FloatArray) -> None:
    """Refuse times that cannot show the periods asked for."""
    if is_determined(terms.columns(times)):
        return
    n, different = len(times), len(np.unique(times))
    if n <= terms.count or different < terms.count:
        raise InputError(
            f"times: {n} rows at {different} different times cannot determine {terms.count} "
            f"coefficients and the noise; give at least {terms.count + 1} rows at {terms.count} "
            "different times, fewer periods or fewer harmonics"
        )
    for index, period in enumerate(terms.periods):
        alone = Terms((period,), terms.harmonics, terms.trend)
        if not is_determined(alone.columns(times)):
            raise InputError(
                f"periods: the times cannot show a period of {period:g} with "
                f"harmonics={terms.harmonics}: every cycle is sampled at too few phases, or the "
                "period is far longer than the record"
            )
        if any(np.isclose(period, other, rtol=1e-9) for other in terms.periods[:index]):
            raise InputError(f"periods: {period:g} is given twice")
    raise InputError(
        f"periods={list(terms.periods)} cannot be separated by these times; give fewer, or fewer "
        "harmonics where one period is a multiple of another"
    )
