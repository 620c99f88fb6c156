"""What a sampling can show: resolution and limits, aliases, and which planted tones are found."""

from robustfourier.sampling.injection_recovery import (
    Completeness,
    detection_limit,
    inject,
    measure_completeness,
)
from robustfourier.sampling.resolution import Sampling, check_sampling, spectral_window

__all__ = [
    "Completeness",
    "Sampling",
    "check_sampling",
    "detection_limit",
    "inject",
    "measure_completeness",
    "spectral_window",
]
