"""O-C: observed less computed times of a component, cycle by cycle.

What observers of stars and clocks draw to see whether a period changes: a straight line is a wrong
period, a parabola one that changes, a wave a companion.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import InputError
from robustfourier.formatting import SECONDS
from robustfourier.mixture.waveform_extrema import extreme

_LEAST = 4  # samples of a cycle
_COVERED = 0.25  # of the information of an evenly sampled cycle: fewer say nothing of its time
_CLIP = 0.25  # cycles: what is shifted by more is no longer near its template


def o_minus_c(
    model: Any, label: str = "A", times: Any = None, values: Any = None, magnitudes: bool = False
) -> pd.DataFrame:
    """Observed and computed times of maximum of a component, one row for each cycle with samples.

    In each cycle the waveform w is shifted by δ until it fits best, with all other parts of the
    model taken away: δ = -Σ w'(t) r(t) / Σ w'(t)², r what is left over. The error is that of least
    squares with the model's noise.

    Parameters
    ----------
    model : PeriodicMixture
        Of one column and one output.
    label : str
        Of the component.
    times, values : array-like of shape (n,), optional
        Samples; by default those of the fit.
    magnitudes : bool
        Whether values are magnitudes, of which the smallest is the maximum.

    Returns
    -------
    DataFrame
        cycle (0 at the maximum nearest to the middle of the record), observed, computed (times as
        the model has them), difference and error: in days for dates, else in the unit of time, as
        `unit` says.

    Examples
    --------
    >>> from robustfourier import PeriodicMixture
    >>> t = np.linspace(0.0, 100.0, 800)
    >>> late = 0.3 * np.sin(2 * np.pi * t / 100)  # in the unit of time
    >>> y = np.cos(2 * np.pi * (t - late) / 5) + 0.02 * np.random.default_rng(0).normal(size=800)
    >>> table = o_minus_c(PeriodicMixture(periods=[5.0]).fit(t, y))
    >>> list(table)
    ['cycle', 'observed', 'computed', 'difference', 'error', 'unit']
    """
    found = [c for c in model.components_ if c.label == label]
    if not found or not model.single_output_:
        there = ", ".join(c.label for c in model.components_) or "none"
        raise InputError(f"label={label!r} is no component of one output; there are: {there}")
    if times is None or values is None:
        times, values, _ = getattr(model, "_seen", None) or (None, None, None)
    if times is None:
        raise InputError("times and values are needed: the model was loaded from a file")
    component = found[0]
    theta = component.domain.to_theta(times)
    peak = extreme(component, magnitudes)[0]
    start = component.phase / (2.0 * np.pi) + peak
    cycles = 0.5 * component.mode * theta - start
    step = 1e-4
    slope = (
        component.waveform(cycles + peak + step) - component.waveform(cycles + peak - step)
    ) / (2.0 * step)
    rest = np.ravel(np.asarray(values, np.float64)) - model.predict(times, remainder=False)
    if getattr(model, "scale_", "linear") == "log":
        raise InputError("O-C needs components that add up; fit with scale='linear'")
    number, own = np.unique(np.round(cycles).astype(np.int64), return_inverse=True)
    count, weight, pull = (
        np.bincount(own, each, minlength=len(number))
        for each in (np.ones(len(slope)), slope**2, slope * rest)
    )
    known = (count >= _LEAST) & (weight >= _COVERED * count * np.mean(slope**2))
    late = -pull / np.where(known, weight, 1.0)
    known &= np.abs(late) <= _CLIP
    whole, delay = number[known].astype(np.float64), component.period * late[known]
    error = component.period * float(model.noise_) / weight[known] ** 0.5
    at = 2.0 * (whole + start) / component.mode
    shift = 2.0 * delay / component.domain.span
    dated = component.domain.dates
    unit = "day" if dated else component.domain.unit
    factor = SECONDS[component.domain.unit] / SECONDS["day"] if dated else 1.0
    return pd.DataFrame(
        {
            "cycle": whole.astype(np.int64),
            "observed": component.domain.from_theta(at + shift),
            "computed": component.domain.from_theta(at),
            "difference": factor * delay,
            "error": factor * error,
            "unit": unit,
        }
    )
