"""Us with `loss="huber"`, for outliers and heavy tails."""

from __future__ import annotations

from benchmarks.peers.face import Fit, FloatArray, Told
from benchmarks.peers.methods.ours import fit_mixture

NAME = 'PeriodicMixture(loss="huber")'
PACKAGES = ("robustfourier",)
TOLD = ""
EVEN_ONLY = False
BUDGET = "all"


def fit(t: FloatArray, y: FloatArray, told: Told) -> Fit:  # noqa: ARG001
    return fit_mixture(t, y, loss="huber")
