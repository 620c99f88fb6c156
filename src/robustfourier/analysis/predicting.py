"""A saved model at new times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robustfourier.arrays import FloatArray
from robustfourier.domain import DATE_UNITS, Domain
from robustfourier.errors import InputError
from robustfourier.estimators.calendar_steps import CalendarStep
from robustfourier.estimators.forecasting import calendar_step_of
from robustfourier.results.result import as_column
from robustfourier.samples import Samples, from_arrays


def grid_samples(
    start: Any, stop: Any, every: float | CalendarStep, domain: Domain, at_most: int
) -> Samples:
    """Times from start to stop, both included where the step meets it; at most so many.

    `every` is a step in the domain's unit, or on the calendar.
    """
    if domain.dates:
        length = (stop - start).total_seconds() / DATE_UNITS[domain.unit]
    else:
        length = float(stop) - float(start)
    if length < 0:
        raise InputError(f"--to {stop} lies before --from {start}; exchange them")
    if isinstance(every, CalendarStep):
        days = length * DATE_UNITS[domain.unit] / DATE_UNITS["day"]
        more = every.after(start, int(min(days / every.mean_days + 2.0, at_most)))
        dates = pd.DatetimeIndex([start]).append(more)
        dates = dates[dates <= stop]
        return from_arrays(dates, np.zeros(len(dates)), duplicates="keep", unit=domain.unit)
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


def next_time(model: Any, needed: bool) -> tuple[Any, float | CalendarStep]:
    """Return the first time after the record and its step, in its unit or on the calendar.

    A model that does not know them is refused if they are `needed`.
    """
    if not hasattr(model, "components_"):
        if needed:
            raise InputError(
                "a network does not hold the step of its samples; give --from, --to, --every"
            )
        return None, 0.0
    column, domain = model.models_[0], model.domains_[0]
    if (calendar := calendar_step_of(model)) is not None:
        last = pd.Timestamp(domain.from_theta(np.array([column.last]))[0])
        return calendar.after(last, 1)[0], calendar
    first = domain.from_theta(np.array([column.last + column.spacing]))[0]
    step = 0.5 * column.spacing * domain.span
    return (pd.Timestamp(first) if domain.dates else float(first)), step


def needed_columns(model: Any) -> tuple[str, ...]:
    """Names of the regressors whose values a forecast needs; holidays it knows."""
    effects = getattr(model, "regressors_", None)
    if effects is None:
        return ()
    names = (name for name, used in zip(effects.names, effects.used, strict=True) if used)
    return tuple(name for name in names if name != f"holiday {model.holidays}")


def predictions(
    model: Any, samples: Samples, regressors: pd.DataFrame | None = None
) -> tuple[FloatArray | None, ...]:
    """Values at the samples' times, standard errors, ends of the interval for new measurements.

    All but the values are None where the model does not know them.
    """
    if hasattr(model, "components_"):
        ahead = model.forecast(times=samples.axis, regressors=regressors)
        return ahead.mean, ahead.std, ahead.lower, ahead.upper
    return model.predict(as_column(samples.axis)), None, None, None
