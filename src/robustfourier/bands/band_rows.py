"""Rows of several bands: each with its own times, level, amplitude and noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.errors import InputError

# Rows from which on a band is searched: level, cosine, sine and as many more.
FEWEST = 6


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows (time, value, band), sorted by band."""

    times: FloatArray
    values: FloatArray
    band: IndexArray  # index of the band
    weights: FloatArray  # 1 / error², with the mean one in each band; ones without errors
    names: tuple[str, ...]  # of the bands
    level: FloatArray  # weighted mean of each band
    deviation: FloatArray  # weighted standard deviation of each band
    constant: tuple[str, ...] = ()  # bands that were left out because they never change

    @classmethod
    def of(cls, times: FloatArray, values: Any, band: Any, errors: Any = None) -> Rows:
        """Check and sort; rows that lack something are left out."""
        y = np.asarray(values, np.float64)
        labels = np.asarray(pd.Series(np.asarray(band, object)).map(str), object)
        err = np.ones_like(y) if errors is None else np.asarray(errors, np.float64)
        for name, column in (("y", y), ("band", labels), ("y_err", err)):
            if column.shape != times.shape:
                raise InputError(
                    f"{name} has shape {column.shape}; give one for each of {len(times)} times"
                )
        good = np.isfinite(times) & np.isfinite(y) & np.isfinite(err) & (err > 0)
        good &= np.array([bool(pd.notna(b)) for b in np.asarray(band, object)], bool)
        codes, names = pd.factorize(labels[good], sort=True)
        order = np.lexsort((times[good], codes))
        codes = codes[order].astype(np.intp)
        t, y, weight = times[good][order], y[good][order], err[good][order] ** -2.0
        counts = np.bincount(codes, minlength=len(names))
        flat = np.array([np.ptp(y[codes == b]) == 0.0 for b in range(len(names))], bool)
        _require_variation(t, counts, flat)
        # Bands of enough rows that never change say nothing of the period.
        varied = ~flat | (counts < FEWEST)
        kept, at = np.flatnonzero(varied), varied[codes]
        codes, counts = np.searchsorted(kept, codes[at]).astype(np.intp), counts[kept]
        t, y, weight = t[at], y[at], weight[at]
        weight = weight / (np.bincount(codes, weight) / counts)[codes]
        level = np.bincount(codes, weight * y) / counts
        square = np.bincount(codes, weight * (y - level[codes]) ** 2) / counts
        deviation = np.where(flat[kept], 0.0, np.sqrt(square))
        constant = tuple(str(name) for name in np.delete(names, kept))
        return cls(t, y, codes, weight, tuple(map(str, names[kept])), level, deviation, constant)

    @property
    def counts(self) -> IndexArray:
        """Rows of each band."""
        return np.bincount(self.band, minlength=len(self.names)).astype(np.intp)

    @property
    def searched(self) -> IndexArray:
        """Bands with enough rows that vary."""
        return np.flatnonzero((self.counts >= FEWEST) & (self.deviation > 0))

    def of_band(self, b: int) -> NDArray[np.bool_]:
        """Which rows are those of a band."""
        return np.asarray(self.band == b)


def _require_variation(times: FloatArray, counts: IndexArray, flat: NDArray[np.bool_]) -> None:
    """Refuse rows in which no band varies."""
    if not len(counts):
        raise InputError("no row has a time, a value and a band; nothing to fit")
    if not ((counts >= FEWEST) & ~flat).any():
        raise InputError(
            f"band: no band has {FEWEST} rows that differ (the largest has {counts.max()}); join "
            "bands, or give more rows"
        )
    if not np.ptp(times) > 0:
        raise InputError("times are all equal; at least two different times are needed")
