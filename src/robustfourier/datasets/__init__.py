"""Small real series with their sources.

Every loader returns a `Dataset`: times, values, errors where the observer gave them, the unit, the
periods that are known, the source and the licence.
"""

from robustfourier.datasets.bundled import (
    Dataset,
    load_double_mode_cepheid,
    load_electricity_demand,
    load_sunspots,
)

__all__ = [
    "Dataset",
    "load_double_mode_cepheid",
    "load_electricity_demand",
    "load_sunspots",
]
