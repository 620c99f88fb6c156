"""Columns of a file beside the values: regressors at the samples' times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import DataError, InputError
from robustfourier.estimators.regressors import RegressorEffects, with_holidays
from robustfourier.samples import Samples, read_samples


def read_regressors(
    samples: Samples, path: str | Path, names: tuple[str, ...], **reading: Any
) -> pd.DataFrame | None:
    """Return columns of a file at the times of samples, NaN where one is missing; None if none.

    Parameters
    ----------
    samples : Samples
    path : str or Path
    names : tuple of str
        Of the columns.
    **reading
        Options of `read_samples`.
    """
    if not names:
        return None
    if str(path) == "-":
        raise InputError("--with reads a file several times; standard input cannot be; save it")
    others = {key: value for key, value in reading.items() if key not in ("value", "error")}
    times = pd.Index(samples.times)
    columns = {}
    for name in names:
        if name in (samples.time_name, samples.value_name):
            raise InputError(
                f"--with {name!r} is the time or the value of the fit; name another column"
            )
        try:
            found = read_samples(path, **{**others, "value": name, "duplicates": "mean"})
        except DataError as problem:
            words = str(problem).replace("--value", "--with")
            raise DataError(f"--with {name!r}: {words}") from None
        columns[name] = pd.Series(found.values, pd.Index(found.times)).reindex(times).to_numpy()
    return pd.DataFrame(columns)


def future_regressors(
    samples: Samples, path: str | Path, names: tuple[str, ...], **reading: Any
) -> pd.DataFrame | None:
    """Return the columns that a forecast needs, at all of its times."""
    needs = f"the model was fitted --with {','.join(names)}: --at needs their values at each time"
    try:
        table = read_regressors(replace(samples, value_name=""), path, names, **reading)
    except DataError as problem:
        raise DataError(f"{problem}; {needs}") from None
    for name in () if table is None else table:
        if len(gaps := np.flatnonzero(~np.isfinite(table[name]))):
            raise InputError(
                f"--at {path}: column {name!r} has no number at {len(gaps)} of {len(table)} times, "
                f"the first {pd.Index(samples.times)[gaps[0]]}; {needs}"
            )
    return table


def without_effects(samples: Samples, model: Any, table: pd.DataFrame | None) -> Samples:
    """Return samples with the effects of a model's regressors taken off, for figures and pages."""
    effects: RegressorEffects | None = getattr(model, "regressors_", None)
    if effects is None:
        return samples
    columns = with_holidays(model.holidays, samples.axis, table, len(samples))
    values = columns[list(effects.names)].to_numpy()
    keep = np.isfinite(values).all(axis=1)
    effect = effects.mean(values[keep])[:, 0]
    left = samples.values[keep]
    return replace(
        samples,
        times=samples.times[keep],
        values=left / np.exp(effect) if model.scale_ == "log" else left - effect,
        errors=None if samples.errors is None else samples.errors[keep],
    )
