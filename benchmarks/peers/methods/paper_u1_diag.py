"""The paper's network u1_diag, a dense layer behind the diagonal, with our defaults and pruned."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints
from benchmarks.peers.methods.paper_u0_diag import fit_network

NAME = "FourierNetworkRegressor, u1_diag"
PACKAGES = ("robustfourier",)
BUDGET = "subset"
STEPS = 6_000  # before the modes are selected, and as many after it


def warm_up() -> None:
    """Compile the engine on a few steps."""
    t = np.linspace(0.0, 1.0, 50)
    _fit(t, np.cos(20.0 * t), 10)


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    return _fit(t, y, round(hints.effort * STEPS))


def _fit(t: FloatArray, y: FloatArray, n_steps: int) -> Fit:
    return fit_network(t, y, n_steps=n_steps, hidden_layer_sizes=(100,), select="ebic")
