"""What a problem is: times and values, and what may and must be said about them.

Tolerances. The resolution of a record in period is P² / span: one cycle more or less over the
record. A strict pattern must be told to within a tenth of it, a drift of a tenth of a cycle from
end to end, which is what the eye sees on a folded plot; or within five standard errors of a
sinusoid, √6 σ / (π A √n) resolutions each, where noise makes that larger. A pattern that lives has
no sharper period than its own wandering, and each such problem says how wide that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray

DRIFT = 0.1  # of a cycle over the record: what the eye sees on a folded plot
SURE = 5.0  # standard errors; one in two million strict patterns lies outside


@dataclass(frozen=True)
class Period:
    """One period that is right.

    Parameters
    ----------
    value, tolerance : float
        In the unit in which periods are told: that of the times, days for dates.
    share : tuple of float
        Least and most share of the variance that may be told for it.
    instead : tuple of Period
        Honest other readings, any of which counts as this one: half or double a period where the
        shape leaves both open.
    """

    value: float
    tolerance: float
    share: tuple[float, float] = (0.0, 1.0)
    instead: tuple[Period, ...] = ()

    def fits(self, period: float) -> bool:
        """Whether a reported period is this one, or an honest other reading of it."""
        near = abs(period - self.value) <= self.tolerance
        return near or any(other.fits(period) for other in self.instead)


@dataclass(frozen=True)
class Truth:
    """What an expert would say from the data alone.

    Parameters
    ----------
    fundamentals : tuple of Period
        Patterns that must be found.
    most : int
        So many patterns may have more than 1 % of the variance.
    allowed : tuple of Period
        Further patterns that are not false, such as the day told beside its week.
    must_say, must_not_say : tuple of str
        Regular expressions looked for in notes and summary, without regard to case.
    rise : tuple of float or None
        Change of the trend from the first sample to the last, and its tolerance.
    noise : tuple of float or None
        Least and most standard deviation of the noise that may be told.
    """

    fundamentals: tuple[Period, ...]
    most: int
    allowed: tuple[Period, ...] = ()
    must_say: tuple[str, ...] = ()
    must_not_say: tuple[str, ...] = ()
    rise: tuple[float, float] | None = None
    noise: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """A series as a user would bring it, and the truth about it.

    Parameters
    ----------
    name : str
        The kind, and the seed where it was drawn.
    kind : str
    seed : int
    times : ndarray of shape (n,)
        Numbers, or datetime64.
    values : ndarray of shape (n,)
    errors : ndarray of shape (n,) or None
        Standard errors of the values, where the user has them.
    truth : Truth
    """

    name: str
    kind: str
    seed: int
    times: Any
    values: FloatArray
    errors: FloatArray | None
    truth: Truth

    def __post_init__(self) -> None:
        for array in (self.times, self.values, self.errors):
            if array is not None:
                array.setflags(write=False)


@dataclass(frozen=True, eq=False)
class Drawn:
    """What the function of a kind returns; the catalogue makes a `Problem` of it."""

    times: Any
    values: FloatArray
    truth: Truth
    errors: FloatArray | None = None


def resolution(period: float, times: Any, part: float) -> float:
    """Return a part of the resolution P² / span, in the unit of the period (days for dates)."""
    span = np.ptp(times)
    days = span / np.timedelta64(1, "D") if np.issubdtype(span.dtype, np.timedelta64) else span
    return float(part * period**2 / days)


def strict(
    period: float,
    times: Any,
    *,
    noise: float = 0.0,
    amplitude: float = 1.0,
    share: tuple[float, float] = (0.0, 1.0),
) -> Period:
    """A strict period with its tolerance (see the module).

    Parameters
    ----------
    period : float
    times : ndarray of shape (n,)
    noise, amplitude : float
        Standard deviation of the noise, and amplitude of the pattern's strongest harmonic.
    share : tuple of float
        See `Period`.
    """
    error = np.sqrt(6.0 / len(times)) * noise / (np.pi * amplitude)
    return Period(period, resolution(period, times, max(DRIFT, SURE * error)), share)


def about(*shares: float) -> tuple[float, float]:
    """Return the range around true shares in which a told one is right.

    Several are given where the answer depends on the scale (values or logarithms) or on what it is
    a share of (all variation, or that around the trend). A tenth is two
    standard errors √(2/n) of a variance at n = 800, and covers what shrinking and robust losses do
    at fewer samples.
    """
    return max(min(shares) - 0.1, 0.0), min(max(shares) + 0.1, 1.0)


def nothing(**said: Any) -> Truth:
    """The truth about a series in which nothing repeats."""
    return Truth((), 0, **said)
