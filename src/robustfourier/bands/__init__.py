"""Several bands, one period: rows (time, value, band[, error]) with times of their own."""

from robustfourier.bands.multiband_mixture import MultibandMixture

__all__ = ["MultibandMixture"]
