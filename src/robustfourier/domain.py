"""User time to θ ∈ [-1, 1] and back; modes to frequencies and periods.

This is the only place that knows units. A `Domain` is an interval of the user's time axis, its
start mapped to θ = -1 and its end to θ = +1. Mode k makes k whole cycles over the interval, so its
period is ``span / k``. Differences are taken in exact integers where the input is integers or
dates, and only then turned into float64: unix nanoseconds and Julian dates lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.errors import InputError
from robustfourier.formatting import SECONDS, readable_period, unit_name
from robustfourier.quantities import is_instants, is_quantity, plain_times, unit_text

Endpoint = Literal["included", "excluded"]

#: Seconds in each unit in which frequencies and periods of dates can be given.
DATE_UNITS = {
    unit: SECONDS[unit] for unit in ("second", "minute", "hour", "day", "week", "month", "year")
}

_NANOSECONDS = 1_000_000_000
_EVEN_TOLERANCE = 1e-3  # of one step: what rounding of printed times leaves of an even grid


@dataclass(frozen=True)
class Domain:
    """An interval of user time, mapped to θ ∈ [-1, 1].

    Build one with `Domain.from_times`.

    Parameters
    ----------
    start : int or float
        The time of θ = -1: a number, or nanoseconds since 1970 (UTC) if `dates`.
    span : float
        Length of the interval in `unit`; θ = +1 is ``start + span``.
    unit : str
        Unit of `span`, periods and, inverted, of frequencies. For dates one of
        `DATE_UNITS`; for plain numbers a label, empty if unknown.
    dates : bool
        Whether times are dates.
    timezone : str or None
        Name of the time zone of the dates; None for dates without one.
    clock : str
        What instants of astropy were counted on, such as "mjd/utc"; empty for plain times.

    Examples
    --------
    >>> domain = Domain.from_times([0.0, 2.0, 10.0])
    >>> domain.to_theta([0.0, 5.0, 10.0])
    array([-1.,  0.,  1.])
    >>> domain.period(np.array([5.0]))  # five cycles in ten units of time
    array([2.])
    """

    start: int | float
    span: float
    unit: str = ""
    dates: bool = False
    timezone: str | None = None
    clock: str = ""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.span) and self.span > 0):
            raise InputError(f"span={self.span!r} must be a positive finite number")
        if self.dates and self.unit not in DATE_UNITS:
            raise InputError(f"unit={self.unit!r} must be one of {', '.join(DATE_UNITS)} for dates")

    @classmethod
    def from_times(
        cls,
        times: ArrayLike,
        *,
        period: float | timedelta | np.timedelta64 | None = None,
        endpoint: Endpoint = "included",
        unit: str | None = None,
    ) -> Domain:
        """Span the given times.

        Parameters
        ----------
        times : array-like of shape (n,) or (n, 1)
            Numbers, or dates as numpy datetime64, datetime, pandas or polars columns, or periods
            (by their start), or durations (as numbers in `unit`). At least two different ones.
        period : float or timedelta, optional
            Length of the interval where it is known, in `unit`; otherwise the data's extent.
        endpoint : {"included", "excluded"}
            Whether the last of evenly spaced samples is the end of the interval. "included" is
            the paper's grid, -1 to 1 with both ends. "excluded" is right where the samples cover
            one period once, such as 24 hourly values of a day: the interval then ends one step
            after the last sample. Needs evenly spaced times.
        unit : str, optional
            Unit for frequencies and periods; "day" for dates and durations unless given, a mere
            label for numbers.
        """
        plain = plain_times(times, unit)
        times, unit = plain.values, unit or plain.unit or None
        array = to_array(times)
        if unit is None and array.dtype.kind in "Mm":
            unit = "day"
        stamps = _read_times(times, unit or "")
        if stamps.dates and unit not in DATE_UNITS:
            raise InputError(f"unit={unit!r} must be one of {', '.join(DATE_UNITS)} for dates")
        start = stamps.earliest()
        offsets = stamps.since(start)
        if stamps.dates:
            offsets = offsets / DATE_UNITS[unit or "day"]
        span = _span(offsets, endpoint) if period is None else _length(period, unit, stamps.dates)
        return cls(start, span, unit or "", stamps.dates, stamps.timezone, plain.clock)

    def to_theta(self, times: ArrayLike) -> FloatArray:
        """Map times to θ; times outside the interval map outside [-1, 1].

        Parameters
        ----------
        times : array-like of shape (n,) or (n, 1)
            Times of the same kind as those the domain was made from.

        Returns
        -------
        ndarray of shape (n,)
        """
        return 2.0 * (self.offsets(times) / self.span) - 1.0

    def plain(self, times: Any) -> Any:
        """Times without units or other libraries' types, in `unit` and on the domain's clock."""
        if is_quantity(times) and self.unit not in SECONDS:
            raise InputError(
                f"times are in {unit_text(times)}, but the unit of the times that were fitted is "
                f"{repr(self.unit) if self.unit else 'not known'}; fit with unit='day' or the "
                "like, or give plain numbers"
            )
        if is_instants(times) and not (self.dates or self.clock):
            raise InputError(
                "times are instants (Time), but this model was fitted to plain numbers; give "
                "numbers of the same kind, such as times.mjd or times.jd"
            )
        clock = "datetime64/utc" if self.dates else self.clock
        return plain_times(times, self.unit or None, clock).values

    def offsets(self, times: ArrayLike) -> FloatArray:
        """Time since the start of the interval, in `unit`, shape (n,)."""
        stamps = _read_times(self.plain(times), self.unit)
        if stamps.dates != self.dates:
            given, known = ("dates", "numbers") if stamps.dates else ("numbers", "dates")
            raise InputError(f"times are {given}, but this domain was made from {known}")
        if (stamps.timezone is None) != (self.timezone is None):
            raise InputError(
                f"times have timezone {stamps.timezone}, but this domain was made with "
                f"{self.timezone}; use tz_localize or tz_convert to make them alike"
            )
        offsets = stamps.since(self.start)
        return offsets / DATE_UNITS[self.unit] if self.dates else offsets

    def from_theta(self, theta: ArrayLike) -> Any:
        """Map θ to times: float64 numbers, datetime64, or a DatetimeIndex if there is a zone.

        Returns
        -------
        ndarray of shape (n,) or DatetimeIndex
        """
        offsets = 0.5 * (np.asarray(theta, np.float64) + 1.0) * self.span
        if not self.dates:
            return self.start + offsets
        seconds, nanoseconds = divmod(int(self.start), _NANOSECONDS)
        micros = np.rint((offsets * DATE_UNITS[self.unit] + nanoseconds * 1e-9) * 1e6)
        instants = np.datetime64(seconds, "s") + micros.astype("timedelta64[us]")
        if self.timezone is None:
            return instants
        return pd.DatetimeIndex(instants).tz_localize("UTC").tz_convert(self.timezone)

    def frequency(self, mode: Any) -> Any:
        """Cycles per `unit` of a mode (or array of modes)."""
        return mode / self.span

    def period(self, mode: Any) -> Any:
        """Duration of one cycle of a mode, in `unit`; infinite for mode 0."""
        with np.errstate(divide="ignore"):
            return np.divide(self.span, mode)[()]

    def period_words(self, period: float, error: float | None = None, spread: bool = False) -> str:
        """Return a period in words; see `robustfourier.formatting.readable_period`."""
        return readable_period(period, self.unit, error=error, dates=self.dates, spread=spread)

    @property
    def frequency_label(self) -> str:
        """Name of a frequency axis, with its unit if there is one."""
        per = f" (cycles per {unit_name(self.unit, plural=False)})" if self.unit else ""
        return f"frequency{per}"

    def mode(self, frequency: Any) -> Any:
        """Mode, generally not an integer, of a frequency in cycles per `unit`."""
        return frequency * self.span


@dataclass(frozen=True)
class _Timestamps:
    """Times as exact numbers: `whole` + 1e-9·`nanoseconds`, the latter for dates only."""

    whole: NDArray[Any]  # seconds since 1970 for dates, the numbers themselves otherwise
    nanoseconds: IntArray | None
    timezone: str | None = None

    @property
    def dates(self) -> bool:
        return self.nanoseconds is not None

    def earliest(self) -> int | float:
        if self.nanoseconds is None:
            return self.whole.min().item()
        first = np.lexsort((self.nanoseconds, self.whole))[0]
        return int(self.whole[first]) * _NANOSECONDS + int(self.nanoseconds[first])

    def since(self, start: int | float) -> FloatArray:
        """Exact differences to `start`, then float64: seconds for dates."""
        if self.nanoseconds is None:
            whole = self.whole
            if whole.dtype.kind == "i" and not isinstance(start, int):
                whole = whole.astype(np.float64)
            with np.errstate(over="ignore"):  # an infinite extent is refused where it is used
                return (whole - start).astype(np.float64)
        seconds, nanoseconds = divmod(int(start), _NANOSECONDS)
        return (self.whole - seconds) + 1e-9 * (self.nanoseconds - nanoseconds)


def _read_times(times: Any, unit: str) -> _Timestamps:
    """Take apart whatever the user calls times, or say what is wrong with it.

    Durations become numbers in `unit`.
    """
    timezone = timezone_of(times)
    array = to_array(times)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"times has shape {array.shape}; give one column of shape (n,)")
    if array.size == 0:
        raise InputError("times is empty; at least two different times are needed")
    if array.dtype.kind == "M":
        return _read_dates(array, timezone)
    if array.dtype.kind == "m":
        if unit not in DATE_UNITS:
            raise InputError(
                f"times are durations, but their unit={unit!r} must be one of "
                f"{', '.join(DATE_UNITS)}"
            )
        _require(~np.isnat(array), array)
        array = array / np.timedelta64(1, "s") / DATE_UNITS[unit]
    if array.dtype.kind not in "iuf":
        raise InputError(
            f"times has dtype {array.dtype}; give numbers or dates "
            "(text can be parsed with pandas.to_datetime)"
        )
    if array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max:
        raise InputError(f"times holds {array.max()}, too large for a 64-bit integer")
    if array.dtype.kind == "f":
        _require(np.isfinite(array), array)
        # Narrow floats are widened before any subtraction; long double keeps its digits.
        return _Timestamps(array if array.dtype.itemsize > 8 else array.astype(np.float64), None)
    return _Timestamps(array.astype(np.int64), None)


def _read_dates(array: NDArray[Any], timezone: str | None) -> _Timestamps:
    _require(~np.isnat(array), array)
    try:
        seconds = array.astype("datetime64[s]")
        rest = (array - seconds).astype("timedelta64[ns]").astype(np.int64)
    except OverflowError:  # attoseconds and seconds have no common 64-bit unit
        raise InputError(
            f"times of type {array.dtype} cannot be read; convert them to datetime64[ns]"
        ) from None
    return _Timestamps(seconds.astype(np.int64), rest, timezone)


def _require(good: BoolArray, array: NDArray[Any]) -> None:
    if not good.all():
        at = int(np.argmin(good))
        raise InputError(f"times[{at}] is {array[at]}; drop or fill missing times first")


def to_array(times: Any) -> NDArray[Any]:
    """Dates of any library as datetime64 (UTC if they have a zone), all else as it is.

    Periods, such as the months of a pandas PeriodIndex, are their first instant.
    """
    if not isinstance(times, np.ndarray) and isinstance(times, (pd.Series, pd.Index)):
        if isinstance(times.dtype, pd.DatetimeTZDtype):
            return pd.DatetimeIndex(times).tz_convert("UTC").tz_localize(None).to_numpy()
        if isinstance(times.dtype, pd.PeriodDtype):
            return pd.PeriodIndex(times).to_timestamp().to_numpy()
    array = times.to_numpy() if hasattr(times, "to_numpy") else np.asarray(times)
    if array.dtype == object and array.size and isinstance(array.flat[0], datetime):
        return _datetimes(array)
    if array.dtype == object and array.size and isinstance(array.flat[0], timedelta):
        return pd.to_timedelta(array.ravel()).to_numpy().reshape(array.shape)
    return array


def _datetimes(array: NDArray[Any]) -> NDArray[Any]:
    """Array of datetime objects as datetime64, refusing a mixture of zones."""
    flat = array.ravel()
    if not all(isinstance(value, datetime) for value in flat):
        raise InputError("times mixes dates with other values; give one kind only")
    zones = {str(value.tzinfo) for value in flat}
    if len(zones) > 1:
        raise InputError(
            f"times mixes time zones ({', '.join(sorted(zones))}); convert all to one, "
            "for example with pandas.to_datetime(times, utc=True)"
        )
    index = pd.DatetimeIndex(list(flat))
    if index.tz is not None:
        index = index.tz_convert("UTC").tz_localize(None)
    return index.to_numpy().reshape(array.shape)


def timezone_of(times: Any) -> str | None:
    """Name of the zone of pandas, polars or datetime values; None for naive ones."""
    dtype = getattr(times, "dtype", None)
    if not isinstance(dtype, np.dtype) and isinstance(dtype, pd.DatetimeTZDtype):
        return str(dtype.tz)
    if isinstance(zone := getattr(dtype, "time_zone", None), str):  # polars
        return zone
    if dtype is not None and dtype != np.dtype(object):
        return None
    first = next(iter(np.asarray(times, dtype=object).ravel()), None)
    zone = getattr(first, "tzinfo", None)
    return None if zone is None else str(zone)


def _span(offsets: FloatArray, endpoint: Endpoint) -> float:
    extent = float(offsets.max())
    if not extent > 0:
        raise InputError("times are all equal; at least two different times are needed")
    if not np.isfinite(extent):
        raise InputError("times span more than float64 can hold; rescale them")
    if endpoint == "included":
        return extent
    if endpoint != "excluded":
        raise InputError(f"endpoint={endpoint!r} must be 'included' or 'excluded'")
    steps = np.diff(np.unique(offsets))
    if np.ptp(steps) > _EVEN_TOLERANCE * steps.mean():
        raise InputError(
            "endpoint='excluded' needs evenly spaced times; "
            "give the length of the interval as period= instead"
        )
    return extent + float(steps.mean())


def _length(period: Any, unit: str | None, dates: bool) -> float:
    if isinstance(period, (timedelta, np.timedelta64)):
        if not dates:
            raise InputError(f"period={period!r} is a duration, but times are numbers")
        return pd.Timedelta(period).total_seconds() / DATE_UNITS[unit or "day"]
    try:
        length = float(period)
    except (TypeError, ValueError):
        length = float("nan")
    if not (np.isfinite(length) and length > 0):
        raise InputError(f"period={period!r} must be a positive finite number")
    return length
