"""astropy's Lomb-Scargle prewhitening, all frequencies refined together after each line."""

from __future__ import annotations

from benchmarks.peers.face import Fit, FloatArray, Told
from benchmarks.peers.prewhitening import prewhiten

NAME = "Lomb-Scargle prewhitening, refined (astropy)"
PACKAGES = ("astropy",)


def fit(t: FloatArray, y: FloatArray, told: Told) -> Fit:  # noqa: ARG001
    return prewhiten(t, y, backend="fast", refine=True)
