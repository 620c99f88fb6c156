"""The paper's network u0_diag: embedding, diagonal layer, read-out; our start and pruning, SGD.

The rate is ten times the paper's, which standardised targets allow, for fewer steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.face import Fit, FloatArray, Told

NAME = "FourierNetworkRegressor, u0_diag"
PACKAGES = ("robustfourier", "torch")
TOLD = ""
EVEN_ONLY = False
BUDGET = "subset"
STEPS = 50_000
#: The paper's rate, units and size of the start, on which `benchmarks.paper_training` improves.
PAPER: dict[str, Any] = {
    "n_modes": 100,
    "activation": "relu",
    "init": "symmetric",
    "init_scale": 1.0,
    "learning_rate": 2e-3,
}


def fit(t: FloatArray, y: FloatArray, told: Told) -> Fit:
    return fit_network(t, y, n_steps=round(told.effort * STEPS))


def warm_up() -> None:
    """Compile the engine on a few steps."""
    t = np.linspace(0.0, 1.0, 50)
    fit_network(t, np.cos(20.0 * t), n_steps=10)


def fit_network(t: FloatArray, y: FloatArray, **options: Any) -> Fit:
    """Fit with the given parameters of the estimator; its periods are those of active modes."""
    from robustfourier import FourierNetworkRegressor

    model = FourierNetworkRegressor(random_state=0, **PAPER, **options)
    model.fit(t[:, None], y)
    modes = model.modes_
    active = np.asarray(modes.active, bool)
    return Fit(
        lambda times: np.asarray(model.predict(times[:, None])),
        np.asarray(modes.period, np.float64)[active],
        note=f"{options['n_steps']} steps",
    )
