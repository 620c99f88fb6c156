"""Us with `frequencies="integer"`: the paper's setting, data that repeats over the span."""

from __future__ import annotations

from benchmarks.peers.face import Fit, FloatArray, NotApplicableError, Told
from benchmarks.peers.methods.ours import fit_mixture

NAME = 'PeriodicMixture(frequencies="integer")'
PACKAGES = ("robustfourier",)
TOLD = "that modes are whole"
BUDGET = "own"


def fit(t: FloatArray, y: FloatArray, told: Told) -> Fit:
    if not told.periodic:
        raise NotApplicableError("modes are not whole")
    return fit_mixture(t, y, frequencies="integer", span=told.span)
