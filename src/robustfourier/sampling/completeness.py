"""`Completeness`: the share of planted tones that were found, by period and amplitude."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray


@dataclass(frozen=True)
class Completeness:
    """Share of planted tones that were found.

    Parameters
    ----------
    mode : ndarray of shape (P,)
        Modes around which tones were planted, ascending.
    period : ndarray of shape (P,)
        Their periods in the domain's unit.
    amplitude : ndarray of shape (A,)
        Amplitudes planted, ascending.
    found : ndarray of shape (P, A)
        Share found.
    trials : int
        Tones planted per cell.
    false_modes : float
        Modes per trial that were found elsewhere.
    """

    mode: FloatArray
    period: FloatArray
    amplitude: FloatArray
    found: FloatArray
    trials: int
    false_modes: float

    def amplitude_for(self, share: float) -> FloatArray:
        """Smallest amplitude from which on the given share is found, NaN if none, shape (P,)."""
        limits = np.full(len(self.mode), np.nan)
        for i, row in enumerate(np.minimum.accumulate(self.found[:, ::-1], axis=1)[:, ::-1]):
            enough = np.flatnonzero(row >= share)
            if not enough.size:
                continue
            j = enough[0]
            if j == 0:
                limits[i] = self.amplitude[0]
                continue
            part = (share - row[j - 1]) / (row[j] - row[j - 1])
            low, high = np.log(self.amplitude[j - 1 : j + 1])
            limits[i] = np.exp(low + part * (high - low))
        return limits
