"""Known periods tested in the data that an estimator was fitted to, or in others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from robustfourier.cosinor.rhythms import Rhythms, rhythm
from robustfourier.errors import InputError
from robustfourier.estimators.inputs import given_data


def periods_of_model(model: Any, periods: Any, times: Any, values: Any, **options: Any) -> Rhythms:
    """Test periods with the options of `rhythm`; see `robustfourier.PeriodicMixture.test`."""
    unit = model.unit or None
    if times is None:
        check_is_fitted(model)
        times, values, _ = getattr(model, "_seen", None) or (None, None, None)
        unit = model.domains_[0].unit or None
        if times is None:
            raise InputError(
                "times and values are needed to test periods with a model that was loaded from a "
                "file or fitted to several columns; give those it was fitted to: "
                "model.test(periods, times, values)"
            )
    else:
        given = given_data(times, values, None, None, unit)
        times, values, unit = given.times, given.values, unit or given.unit or None
    if isinstance(values, pd.Series):
        values = values.to_frame(values.name if values.name is not None else "value")
    names = [str(name) for name in getattr(values, "columns", ())] or None
    matrix = np.asarray(values, np.float64)
    if getattr(model, "scale_", "linear") == "log":
        if not (matrix > 0).all():
            raise InputError("values must be positive: the model was fitted to their logarithms")
        matrix = np.log(matrix)
    return rhythm(times, matrix, periods, names=names, unit=unit, **options)
