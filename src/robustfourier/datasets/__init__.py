"""Small real series with their sources, read from the CSV files beside this module.

Every loader returns a `Dataset`: times, values, errors where the observer gave them, the unit, the
periods that are known, the source and the licence.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError

__all__ = [
    "Dataset",
    "load_double_mode_cepheid",
    "load_electricity_demand",
    "load_sunspots",
]

HALF_HOURS_PER_DAY = 48
WEEKDAYS_IN_RECORD = 60  # twelve weeks that begin on a Monday


@dataclass(frozen=True)
class Dataset:
    """A time series with its provenance.

    Attributes
    ----------
    name : str
        What to call it.
    times : ndarray of shape (n,)
        Sample times in `unit`, ascending, read-only.
    values : ndarray of shape (n,)
        Measured values, read-only.
    errors : ndarray of shape (n,) or None
        One-sigma errors of the values, where the observer gave them; read-only.
    unit : str
        Unit of the times and periods.
    value_name : str
        Name and unit of the values.
    periods : tuple of float
        Periods known from the literature or by the calendar, in `unit`.
    source : str
        Where the numbers come from.
    licence : str
        Terms under which they may be passed on.
    """

    name: str
    times: FloatArray
    values: FloatArray
    errors: FloatArray | None
    unit: str
    value_name: str
    periods: tuple[float, ...]
    source: str
    licence: str

    def __post_init__(self) -> None:
        for array in (self.times, self.values, self.errors):
            if array is not None:
                array.setflags(write=False)


def load_electricity_demand(weekdays: int | None = None) -> Dataset:
    """Half-hourly electricity demand in England and Wales, 5 June to 27 August 2000.

    Parameters
    ----------
    weekdays : int, optional
        Keep only the first so many weekdays, with weekends cut out and the days joined, as the
        paper does with its Google Trends series (there: 16). By default all twelve weeks.

    Returns
    -------
    Dataset
        Times in days from the first sample; with `weekdays`, in weekdays.

    Examples
    --------
    >>> load_electricity_demand().values.shape, load_electricity_demand(weekdays=16).values.shape
    ((4032,), (768,))
    """
    demand = _columns("electricity_demand.csv", usecols=(1,))[0]
    days = np.arange(demand.size) / HALF_HOURS_PER_DAY
    periods: tuple[float, ...] = (1.0, 7.0)
    name = "electricity demand, England and Wales"
    if weekdays is not None:
        if not 1 <= weekdays <= WEEKDAYS_IN_RECORD:
            raise InputError(
                f"weekdays={weekdays!r}: the record holds 1 to {WEEKDAYS_IN_RECORD} weekdays."
            )
        # The record begins on a Monday, so days 5 and 6 of each week are the weekend.
        demand = demand[days.astype(int) % 7 < 5][: weekdays * HALF_HOURS_PER_DAY]
        days = np.arange(demand.size) / HALF_HOURS_PER_DAY
        periods = (1.0,)
        name += f", {weekdays} weekdays"
    return Dataset(
        name=name,
        times=days,
        values=demand,
        errors=None,
        unit="day",
        value_name="demand in MW",
        periods=periods,
        source="J. W. Taylor (2003), Journal of the Operational Research Society 54, 799-805; "
        "as distributed in the Python package pmdarima 2.1.1",
        licence="MIT (pmdarima)",
    )


def load_double_mode_cepheid() -> Dataset:
    """Magnitudes of a Cepheid that pulsates in two modes at once (OGLE 175210).

    Returns
    -------
    Dataset
        191 irregular nights with errors; periods 1.3495 and 1.8405 days (the frequencies 0.7410152
        and 0.5433353 per day given by the distributor, from a generalised Lomb-Scargle search).

    Examples
    --------
    >>> star = load_double_mode_cepheid()
    >>> star.times.shape, star.periods
    ((191,), (1.3495, 1.8405))
    """
    times, magnitude, error = _columns("double_mode_cepheid.csv")
    return Dataset(
        name="double-mode Cepheid OGLE 175210",
        times=times,
        values=magnitude,
        errors=error,
        unit="day",
        value_name="magnitude",
        periods=(1.0 / 0.7410152, 1.0 / 0.5433353),
        source="OGLE; as distributed in the Python package iar 1.2.9 (data set dmcep)",
        licence="MIT (iar)",
    )


def load_sunspots() -> Dataset:
    """Yearly sunspot numbers, 1700 to 2008.

    Returns
    -------
    Dataset
        309 years; the cycle of about 11 years is not strictly periodic.

    Examples
    --------
    >>> load_sunspots().times[[0, -1]]
    array([1700., 2008.])
    """
    years, sunspots = _columns("sunspots.csv")
    return Dataset(
        name="yearly sunspot numbers",
        times=years,
        values=sunspots,
        errors=None,
        unit="year",
        value_name="sunspot number",
        periods=(11.0,),
        source="National Geophysical Data Center; as distributed in statsmodels 0.15.0",
        licence="public domain",
    )


def _columns(file: str, usecols: tuple[int, ...] | None = None) -> FloatArray:
    """Columns of a bundled CSV file as rows of an array."""
    with (files("robustfourier.datasets") / file).open(encoding="utf-8") as lines:
        return np.loadtxt(
            lines, delimiter=",", skiprows=1, usecols=usecols, unpack=True, ndmin=2
        ).copy()
