"""Columns of a file beside the values: regressors at the samples' times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import InputError
from robustfourier.estimators.regressors import RegressorEffects, with_holidays
from robustfourier.samples import Samples, read_samples


def read_regressors(
    path: str | Path, names: tuple[str, ...], samples: Samples, reading: dict[str, Any]
) -> pd.DataFrame | None:
    """Return columns of a file at the times of samples, NaN where one is missing; None if none."""
    if not names:
        return None
    if str(path) == "-":
        raise InputError("--with reads a file several times; standard input cannot be; save it")
    others = {key: value for key, value in reading.items() if key not in ("value", "error")}
    columns = {}
    for name in names:
        told = read_samples(path, **{**others, "value": name, "duplicates": "mean"})
        known = pd.Series(told.values, index=pd.Index(told.times))
        columns[name] = known.reindex(pd.Index(samples.times)).to_numpy()
    return pd.DataFrame(columns)


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
