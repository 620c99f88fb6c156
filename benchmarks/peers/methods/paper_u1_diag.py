"""The paper's network u1_diag: a dense layer behind the diagonal, fewer steps for the time."""

from __future__ import annotations

from benchmarks.peers.face import Fit, FloatArray, Told
from benchmarks.peers.methods.paper_u0_diag import fit_network

NAME = "FourierNetworkRegressor, u1_diag"
PACKAGES = ("robustfourier", "torch")
TOLD = ""
EVEN_ONLY = False
BUDGET = "subset"
STEPS = 3_000


def fit(t: FloatArray, y: FloatArray, told: Told) -> Fit:  # noqa: ARG001
    return fit_network(t, y, n_steps=STEPS, hidden_layer_sizes=(100,))
