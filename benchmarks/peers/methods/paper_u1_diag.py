"""The paper's network u1_diag: a dense layer behind the diagonal."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.face import Fit, FloatArray, Told
from benchmarks.peers.methods.paper_u0_diag import fit_network

NAME = "FourierNetworkRegressor, u1_diag"
PACKAGES = ("robustfourier", "torch")
TOLD = ""
EVEN_ONLY = False
BUDGET = "subset"
STEPS = 12_000


def warm_up() -> None:
    """Compile the engine on a few steps."""
    t = np.linspace(0.0, 1.0, 50)
    fit_network(t, np.cos(20.0 * t), n_steps=10, hidden_layer_sizes=(100,))


def fit(t: FloatArray, y: FloatArray, told: Told) -> Fit:
    return fit_network(t, y, n_steps=round(told.effort * STEPS), hidden_layer_sizes=(100,))
