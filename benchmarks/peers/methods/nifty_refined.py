"""The same prewhitening on nifty-ls, the fast backend of astropy's Lomb-Scargle periodogram."""

from __future__ import annotations

from benchmarks.peers.method_interface import Fit, FloatArray, Hints
from benchmarks.peers.prewhitening import prewhiten

NAME = "Lomb-Scargle prewhitening, refined (nifty-ls)"
PACKAGES = ("astropy", "nifty-ls")


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:  # noqa: ARG001
    import nifty_ls  # noqa: F401  registers the backend

    return prewhiten(t, y, backend="fastnifty", refine=True)
