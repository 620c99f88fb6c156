"""Rows of several bands: each with its own times, level, amplitude and noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.errors import InputError

FEWEST = (
    6  # rows from which on a band has a say in the search: level, cosine, sine and as many more
)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows (time, value, band), sorted by band.

    Parameters
    ----------
    times, values : ndarray of shape (n,)
    band : ndarray of int, shape (n,)
        Index of the band.
    weights : ndarray of shape (n,)
        One over the square of the error, with the mean one in each band; ones without errors.
    names : tuple of str
        Of the bands.
    level, deviation : ndarray of shape (B,)
        Weighted mean and standard deviation of each band.
    constant : tuple of str
        Bands that were left out because they never change.
    """

    times: FloatArray
    values: FloatArray
    band: IndexArray
    weights: FloatArray
    names: tuple[str, ...]
    level: FloatArray
    deviation: FloatArray
    constant: tuple[str, ...] = ()

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
        weight = weight / (np.bincount(codes, weight) / counts)[codes]
        level = np.bincount(codes, weight * y) / counts
        square = np.bincount(codes, weight * (y - level[codes]) ** 2) / counts
        flat = np.array([np.ptp(y[codes == b]) == 0.0 for b in range(len(names))], bool)
        deviation = np.where(flat, 0.0, np.sqrt(square))
        rows = cls(t, y, codes, weight, tuple(map(str, names)), level, deviation)
        rows._require()
        return rows._without_constants()

    def _without_constants(self) -> Rows:
        """Leave out bands of enough rows that never change: they say nothing of the period."""
        out = (self.counts >= FEWEST) & (self.deviation == 0)
        kept = np.flatnonzero(~out)
        at = ~out[self.band]
        return replace(
            self,
            times=self.times[at],
            values=self.values[at],
            band=np.searchsorted(kept, self.band[at]).astype(np.intp),
            weights=self.weights[at],
            names=tuple(self.names[b] for b in kept),
            level=self.level[kept],
            deviation=self.deviation[kept],
            constant=tuple(self.names[b] for b in np.flatnonzero(out)),
        )

    def _require(self) -> None:
        if not len(self.names):
            raise InputError("no row has a time, a value and a band; nothing to fit")
        if not len(self.searched):
            most = int(self.counts.max())
            raise InputError(
                f"band: no band has {FEWEST} rows that differ (the largest has {most}); join "
                "bands, or give more rows"
            )
        if not np.ptp(self.times) > 0:
            raise InputError("times are all equal; at least two different times are needed")

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
