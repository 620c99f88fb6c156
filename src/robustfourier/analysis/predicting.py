"""A saved model at new times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robustfourier.analysis.fitting import as_column
from robustfourier.arrays import FloatArray
from robustfourier.domain import DATE_UNITS, Domain
from robustfourier.errors import InputError
from robustfourier.samples import Samples, from_arrays

__all__ = ["grid_samples", "predictions"]


def grid_samples(start: Any, stop: Any, every: float, domain: Domain, at_most: int) -> Samples:
    """Times from start to stop, both included where the step meets it.

    Parameters
    ----------
    start, stop : float or Timestamp
        Ends, of the model's kind of times.
    every : float
        Step in the domain's unit.
    domain : Domain
        The model's.
    at_most : int
        Number of times that is refused.
    """
    if domain.dates:
        length = (stop - start).total_seconds() / DATE_UNITS[domain.unit]
    else:
        length = float(stop) - float(start)
    if length < 0:
        raise InputError(f"--to {stop} lies before --from {start}; exchange them")
    many = np.floor(length / every * (1.0 + 1e-12)) + 1
    if many > at_most:
        raise InputError(f"--every {every:g} makes {many:,.0f} times, more than {at_most:,}")
    count = int(many)
    steps = np.arange(count) * every
    times: Any = float(start) + steps if not domain.dates else None
    if domain.dates:
        micros = np.rint(steps * DATE_UNITS[domain.unit] * 1e6).astype("timedelta64[us]")
        times = pd.DatetimeIndex([start]).as_unit("us").repeat(count) + pd.TimedeltaIndex(micros)
    return from_arrays(times, np.zeros(count), duplicates="keep", unit=domain.unit)


def predictions(model: Any, samples: Samples) -> tuple[FloatArray, FloatArray | None]:
    """Values at the samples' times, with standard errors where the model knows them."""
    if hasattr(model, "components_"):
        return model.predict(samples.axis, return_std=True)
    return model.predict(as_column(samples.axis)), None
