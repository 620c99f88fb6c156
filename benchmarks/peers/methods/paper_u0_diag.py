"""The paper's network u0_diag with our defaults: start, rate, time and modes from the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints

NAME = "FourierNetworkRegressor, u0_diag"
PACKAGES = ("robustfourier",)
BUDGET = "subset"


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:  # noqa: ARG001
    return fit_network(t, y)


def warm_up() -> None:
    """Compile the engine on a few samples."""
    t = np.linspace(0.0, 1.0, 50)
    fit_network(t, np.cos(20.0 * t))


def fit_network(t: FloatArray, y: FloatArray, **options: Any) -> Fit:
    """Fit with the given parameters of the estimator; its periods are those of active modes."""
    from robustfourier import FourierNetworkRegressor

    model = FourierNetworkRegressor(random_state=0, **options)
    model.fit(t[:, None], y)
    modes = model.modes_
    active = np.asarray(modes.active, bool)
    return Fit(
        lambda times: np.asarray(model.predict(times[:, None])),
        np.asarray(modes.period, np.float64)[active],
    )
