"""What a problem is: times and values, and what may and must be said about them.

Tolerances. The resolution of a record in period is P² / span: one cycle more or less over the
record. A strict pattern must be reported to within a tenth of it, a drift of a tenth of a cycle
from end to end, which is what the eye sees on a folded plot; or within five standard errors of a
sinusoid, √6 σ / (π A √n) resolutions each, where noise makes that larger. A quasi-periodic pattern
has no sharper period than its own wandering, and each such problem says how wide that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray

DRIFT = 0.1  # of a cycle over the record: what the eye sees on a folded plot
SURE = 5.0  # standard errors; one in two million strict patterns lies outside


@dataclass(frozen=True)
class Period:
    """One period that is right.

    Parameters
    ----------
    value, tolerance : float
        In the unit in which periods are reported: that of the times, days for dates.
    share : tuple of float
        Least and most share of the variance that may be reported for it.
    instead : tuple of Period
        Honest other readings, any of which counts as this one: half or double a period where the
        shape leaves both open.
    exact : bool
        Whether this is the period to all digits: a reported one must then lie within four of its
        own standard errors.
    wanders : bool
        Whether it loses its phase within the record: it must not be reported as strict.
    """

    value: float
    tolerance: float
    share: tuple[float, float] = (0.0, 1.0)
    instead: tuple[Period, ...] = ()
    exact: bool = False
    wanders: bool = False

    def fits(self, period: float) -> bool:
        """Whether a reported period is this one, or an honest other reading of it."""
        near = abs(period - self.value) <= self.tolerance
        return near or any(other.fits(period) for other in self.instead)

    def pull(self, period: float, error: float) -> float:
        """Distance of a reported period from the nearest reading, in its own standard errors."""
        away = min(abs(period - reading.value) for reading in (self, *self.instead))
        # A period that is right to rounding needs no error.
        return 0.0 if away <= 1e-9 * period else away / error if error > 0.0 else np.inf


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
        Further patterns that are not false, such as the day reported beside its week.
    must_say, must_not_say : tuple of str
        Regular expressions looked for in notes and summary, without regard to case.
    rise : tuple of float or None
        Change of the trend from the first sample to the last, and its tolerance.
    noise : tuple of float or None
        Least and most standard deviation of the noise that may be reported.
    lines : tuple of Period
        Sinusoids that must be among the modes, whatever pattern they were given to.
    total : int or None
        So many patterns may be reported in all, however weak.
    """

    fundamentals: tuple[Period, ...]
    most: int
    allowed: tuple[Period, ...] = ()
    must_say: tuple[str, ...] = ()
    must_not_say: tuple[str, ...] = ()
    rise: tuple[float, float] | None = None
    noise: tuple[float, float] | None = None
    lines: tuple[Period, ...] = ()
    total: int | None = None


@dataclass(frozen=True, eq=False)
class Ahead:
    """What comes after the record, to judge a forecast by: times and values of shape (m,)."""

    times: Any
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """A series as a user would bring it, and the truth about it.

    Parameters
    ----------
    times : ndarray of shape (n,)
        Numbers, or datetime64.
    values : ndarray of shape (n,)
    truth : Truth
    errors : ndarray of shape (n,) or None
        Standard errors of the values, where the user has them.
    wild : ndarray of bool of shape (n,) or None
        Values that are wild by construction: what is explained is measured on the others.
    ahead : Ahead or None
        What comes after, where a forecast makes sense.
    kind : str
    seed : int
    """

    times: Any
    values: FloatArray
    truth: Truth
    errors: FloatArray | None = None
    wild: NDArray[np.bool_] | None = None
    ahead: Ahead | None = None
    kind: str = ""
    seed: int = 0

    def __post_init__(self) -> None:
        for array in (self.times, self.values, self.errors):
            if array is not None:
                array.setflags(write=False)

    @classmethod
    def of(
        cls,
        times: Any,
        values: FloatArray,
        truth: Truth,
        errors: FloatArray | None = None,
        wild: NDArray[np.bool_] | None = None,
        ahead: int = 0,
    ) -> Problem:
        """Return a record whose last `ahead` samples are held out for the forecast."""
        n = len(values) - ahead
        after = Ahead(times[n:], values[n:]) if ahead else None
        errors, wild = (None if each is None else each[:n] for each in (errors, wild))
        return cls(times[:n], values[:n], truth, errors, wild, after)


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
    exact: bool = False,
) -> Period:
    """A strict period with its tolerance (see the module).

    `times` (n,). `noise`, `amplitude`: standard deviation of the noise, and amplitude of the
    pattern's strongest harmonic. `share`, `exact`: see `Period`.
    """
    error = np.sqrt(6.0 / len(times)) * noise / (np.pi * amplitude)
    return Period(period, resolution(period, times, max(DRIFT, SURE * error)), share, exact=exact)


def about(*shares: float) -> tuple[float, float]:
    """Return the range around true shares in which a reported one is right.

    Several are given where the answer depends on the scale (values or logarithms) or on what it is
    a share of (all variation, or that around the trend). A tenth is two
    standard errors √(2/n) of a variance at n = 800, and covers what shrinking and robust losses do
    at fewer samples.
    """
    return max(min(shares) - 0.1, 0.0), min(max(shares) + 0.1, 1.0)


def part(signal: FloatArray, around: FloatArray) -> tuple[float, float]:
    """Return the range of right shares of a signal that is known, around a trend that is known.

    In few samples signal and noise are correlated by chance: what it is alone, and what is missing
    without it, are both right.
    """
    variance = float(np.var(around))
    return about(float(np.var(signal)) / variance, 1.0 - float(np.var(around - signal)) / variance)


def nothing(**more: Any) -> Truth:
    """The truth about a series in which nothing repeats."""
    return Truth((), 0, **more)
