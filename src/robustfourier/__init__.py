"""Find the periods that are really there in noisy data, and the shape of each.

The names listed here are the public ones; `robustfourier.nn` (torch layers) and
`robustfourier.training` are for researchers. Everything loads on first use: importing the package
loads neither torch nor matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "1.0.0rc1"

#: Public name to the module that defines it.
_HOME = {
    "Domain": "robustfourier.domain",
    "FourierFeatures": "robustfourier.estimators.fourier_features",
    "FourierNetworkRegressor": "robustfourier.estimators.network",
    "ModeTable": "robustfourier.modes",
    "MultibandMixture": "robustfourier.bands",
    "PeriodicMixture": "robustfourier.estimators.mixture",
    "fit_cells": "robustfourier.analysis.grid_cells",
    "fit_large": "robustfourier.large",
    "fit_many": "robustfourier.many",
    "load": "robustfourier.persistence",
    "read_samples": "robustfourier.samples",
    "rhythm": "robustfourier.cosinor",
}
_SUBMODULES = ("datasets", "errors", "nn", "plots", "synthetic", "theory", "training")

__all__ = ["__version__", *_HOME, *_SUBMODULES]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _SUBMODULES:
        return import_module(f"robustfourier.{name}")
    raise AttributeError(f"module 'robustfourier' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
