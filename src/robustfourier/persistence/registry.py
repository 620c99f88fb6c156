"""Classes that a file may hold: a tag that stands in files for ever, and where each lives now.

A class that moves or gets another name changes its line here and keeps its tag. A class that gets a
new field gives it a default, so that earlier files still load.
"""

from __future__ import annotations

from importlib import import_module

from robustfourier.errors import ModelFormatError

#: Estimators, which are whole models.
MODELS = ("PeriodicMixture", "FourierNetworkRegressor")

#: Tag to module and class: estimators, frozen dataclasses, and one kind of tuple.
_PLACES = {
    "Added": "robustfourier.large.passes:Added",
    "Architecture": "robustfourier.network.architecture:Architecture",
    "Checkpoint": "robustfourier.training.checkpoint:Checkpoint",
    "Breaks": "robustfourier.periodic.basis:Breaks",
    "ColumnModel": "robustfourier.mixture.model:ColumnModel",
    "Component": "robustfourier.mixture.components.component:Component",
    "Components": "robustfourier.estimators.components:Components",
    "ConditionedProcess": "robustfourier.periodic.semiseparable:ConditionedProcess",
    "Domain": "robustfourier.domain:Domain",
    "Evidence": "robustfourier.mixture.evidence:Evidence",
    "Facts": "robustfourier.large.passes:Facts",
    "FourierNetworkRegressor": "robustfourier.estimators.network:FourierNetworkRegressor",
    "History": "robustfourier.training.history:History",
    "Kernel": "robustfourier.periodic.kernels:Kernel",
    "Lines": "robustfourier.periodic.basis:Lines",
    "LinkNetwork": "robustfourier.network.link_networks:LinkNetwork",
    "Links": "robustfourier.network.link_networks:Links",
    "Link": "robustfourier.mixture.components.links:Link",
    "LogEvidence": "robustfourier.mixture.evidence:LogEvidence",
    "MixedModes": "robustfourier.network.fourier_coefficients:MixedModes",
    "ModeTable": "robustfourier.modes:ModeTable",
    "NoiseFloor": "robustfourier.periodic.noise_spectrum:NoiseFloor",
    "Onward": "robustfourier.periodic.forecast:Extrapolation",
    "PeriodicMixture": "robustfourier.estimators.mixture:PeriodicMixture",
    "QuasiPeriodicTrace": "robustfourier.mixture.components.component:QuasiPeriodicTrace",
    "RegressorEffects": "robustfourier.estimators.regressors:RegressorEffects",
    "Remainder": "robustfourier.periodic.residual_process:Remainder",
    "SaveCheckpoint": "robustfourier.training.callbacks:SaveCheckpoint",
    "LastShift": "robustfourier.periodic.exponential_smoothing:LastShift",
    "Smoothing": "robustfourier.periodic.exponential_smoothing:Smoothing",
    "SmoothingMixture": "robustfourier.periodic.exponential_smoothing:SmoothingMixture",
    "StopWhenStalled": "robustfourier.training.callbacks:StopWhenStalled",
    "Sums": "robustfourier.large.condense:Sums",
    "Weights": "robustfourier.network.weights:Weights",
}
_TAGS = {place: tag for tag, place in _PLACES.items()}


def tag_of(cls: type) -> str | None:
    """The tag of a class, or None if a file cannot hold it."""
    return _TAGS.get(f"{cls.__module__}:{cls.__qualname__}")


def class_of(tag: object) -> type:
    """The class of a tag.

    >>> class_of("Domain")
    <class 'robustfourier.domain.Domain'>
    """
    if not isinstance(tag, str) or tag not in _PLACES:
        raise ModelFormatError(f"it holds a {tag!r}, a class that robustfourier does not have")
    module, _, cls = _PLACES[tag].partition(":")
    return getattr(import_module(module), cls)
