"""Several bands, one period: rows (time, value, band[, error]) with times of their own.

`band_rows` (checked and sorted), `search` (the joint periodogram and its false alarm), `shape`
(shared or own, and the evidence of a frequency), `estimator` (`MultibandMixture`).
"""

from robustfourier.bands.estimator import MultibandMixture

__all__ = ["MultibandMixture"]
