"""The paper's networks with our defaults: u0_diag, and u1_diag with a dense layer and pruned.

Of u0_diag start, rate, time and modes follow from the data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, Method

STEPS = 6_000  # of u1_diag before its modes are selected, and as many after it


def u0_diag(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:  # noqa: ARG001
    return fit_network(t, y)


def u1_diag(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    steps = round(hints.effort * STEPS)
    return fit_network(t, y, n_steps=steps, hidden_layer_sizes=(100,), select="ebic")


def warm_up(fit: Callable[[FloatArray, FloatArray, Hints], Fit]) -> None:
    """Compile the engine on a few samples and steps."""
    t = np.linspace(0.0, 1.0, 50)
    fit(t, np.cos(20.0 * t), Hints(np.empty(0), 20.0, effort=10 / STEPS))


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


METHODS = {
    "paper_u0_diag": Method(
        "FourierNetworkRegressor, u0_diag",
        ("robustfourier",),
        u0_diag,
        budget="subset",
        warm_up=partial(warm_up, u0_diag),
    ),
    "paper_u1_diag": Method(
        "FourierNetworkRegressor, u1_diag",
        ("robustfourier",),
        u1_diag,
        budget="subset",
        warm_up=partial(warm_up, u1_diag),
    ),
}
