"""Public holidays as a regressor, from the package `holidays`, which is an extra."""

from __future__ import annotations

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError, MissingDependencyError


def holiday_column(times: pd.Index, country: str) -> FloatArray:
    """Return 1 for times on a public holiday, on the clock of the times, and 0 for others.

    Parameters
    ----------
    times : DatetimeIndex or PeriodIndex
    country : str
        ISO code, such as "DE", or with a part of the country, such as "DE-BY".
    """
    if isinstance(times, pd.PeriodIndex):
        times = times.to_timestamp()
    if not isinstance(times, pd.DatetimeIndex):
        raise InputError(f"holidays={country!r} needs dates; times are {times.dtype}")
    try:
        import holidays
    except ImportError:
        raise MissingDependencyError(
            f"holidays={country!r} needs the package holidays; install it with: "
            'pip install "robustfourier[holidays]"'
        ) from None
    name, _, part = country.partition("-")
    years = range(int(times.year.min()), int(times.year.max()) + 1)
    try:
        days = holidays.country_holidays(name, subdiv=part or None, years=years)
    except NotImplementedError:
        raise InputError(
            f'holidays={country!r} is no country that holidays knows; give a code such as "DE"'
        ) from None
    known = {day.toordinal() for day in days}
    return np.array([float(day.toordinal() in known) for day in times.date])
