"""Us: `PeriodicMixture` with defaults."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints

NAME = "**PeriodicMixture**"
PACKAGES = ("robustfourier",)
BUDGET = "own"


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:  # noqa: ARG001
    return fit_mixture(t, y)


def fit_mixture(t: FloatArray, y: FloatArray, **options: Any) -> Fit:
    """Fit with the given parameters of the estimator."""
    from robustfourier import PeriodicMixture

    model = PeriodicMixture(**options).fit(t, y)
    modes = model.modes_
    return Fit(
        model.predict,
        np.asarray(modes.period, np.float64),
        np.array([component.period for component in model.components_]),
        None if modes.period_error is None else np.asarray(modes.period_error, np.float64),
        function=partial(model.predict, remainder=False),
    )
