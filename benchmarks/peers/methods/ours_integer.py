"""Us with `frequencies="integer"`: the paper's setting, data that repeats over the span."""

from __future__ import annotations

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, NotApplicableError
from benchmarks.peers.methods.ours import fit_mixture

NAME = 'PeriodicMixture(frequencies="integer")'
PACKAGES = ("robustfourier",)
HINTS = "that modes are whole"
BUDGET = "own"


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    if not hints.periodic:
        raise NotApplicableError("modes are not whole")
    return fit_mixture(t, y, frequencies="integer", span=hints.span)
