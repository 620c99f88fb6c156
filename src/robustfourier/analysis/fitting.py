"""`fit_model`: samples to a fitted estimator, with what a file needs beyond what an array does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robustfourier.errors import DataError, require_choice
from robustfourier.estimators.mixture import PeriodicMixture
from robustfourier.observers import emit
from robustfourier.results.result import as_column
from robustfourier.samples import Samples

METHODS = ("mixture", "network")
_AT_LEAST = 8  # samples; fewer cannot bear a single mode and a noise level


def fit_model(
    samples: Samples, method: str = "mixture", *, regressors: Any = None, **parameters: Any
) -> Any:
    """Fit one of the two estimators to samples.

    Parameters
    ----------
    samples : Samples
        The record.
    method : {"mixture", "network"}
        `PeriodicMixture`, or the paper's network.
    regressors : DataFrame, optional
        Other columns at the samples' times, of the mixture.
    **parameters
        Of the estimator's constructor.

    Raises
    ------
    DataError
        If the record is too short, or holds one time only.
    """
    name = samples.source or "data"
    if len(samples) < _AT_LEAST:
        few = "sample is" if len(samples) == 1 else "samples are"
        raise DataError(
            f"{name}: {len(samples)} {few} too few; at least {_AT_LEAST} are needed to tell "
            "a pattern from noise"
        )
    if len(np.unique(samples.times)) < 2:
        raise DataError(f"{name}: all times are equal; choose another column with --time")
    require_choice("method", method, METHODS)
    if method == "mixture":
        model = PeriodicMixture(unit=samples.unit or None, **parameters)
        values = pd.Series(samples.values, name=samples.value_name)
        return model.fit(samples.axis, values, y_err=samples.errors, regressors=regressors)
    return _fit_network(samples, parameters)


def _fit_network(samples: Samples, parameters: dict[str, Any]) -> Any:
    from robustfourier.estimators.network import FourierNetworkRegressor

    emit("training")
    network = FourierNetworkRegressor(**parameters)
    weights = None if samples.errors is None else (samples.errors.min() / samples.errors) ** 2
    return network.fit(as_column(samples.axis), samples.values, sample_weight=weights)
