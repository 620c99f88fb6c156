"""Us: `PeriodicMixture` with defaults, and where modes are whole numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, Method, NotApplicableError


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:  # noqa: ARG001
    return fit_mixture(t, y)


def fit_whole_modes(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    """The paper's setting: data that repeats over the span."""
    if not hints.periodic:
        raise NotApplicableError("modes are not whole")
    return fit_mixture(t, y, frequencies="integer", span=hints.span)


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


METHODS = {
    "ours": Method("**PeriodicMixture**", ("robustfourier",), fit, budget="own"),
    "ours_integer": Method(
        'PeriodicMixture(frequencies="integer")',
        ("robustfourier",),
        fit_whole_modes,
        hints="that modes are whole",
        budget="own",
    ),
}
