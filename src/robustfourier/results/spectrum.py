"""Amplitude spectra of data and residual, beside the noise floor and the threshold of the fit.

All four are amplitudes: what a sinusoid of that frequency would have, fitted alone. Floor and
threshold are those that the fit used; nothing is judged here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.evidence import Evidence
from robustfourier.mixture.search.robust import pseudo_values
from robustfourier.periodic.periodogram import PeriodogramGrid

_LOWEST = 0.5  # modes; below, cosine and sine are nearly parallel to the level
_PEAKS = 20  # above the line that are counted
_STEPS = 6  # patterns that are taken away one by one; the rest goes at once
_POINTS_AT_MOST = 400_000  # of the grid; more than any screen has


@dataclass(frozen=True)
class Spectrum:
    """Amplitudes against mode, arrays of shape (K,)."""

    mode: FloatArray  # ascending
    data: FloatArray  # of the data without its trend, …
    residual: FloatArray  # … and of what the fit leaves over
    floor: FloatArray | None = None  # that the noise has on the whole
    line: FloatArray | None = None  # that a mode had to reach; NaN where none was enough …
    false_alarm: float = np.nan  # … and the false-alarm probability there
    #: what is left after the first pattern, after the first two, and so on; shape (S, K)
    steps: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def line_top(self) -> float:
        """Height at which the line is seen well; at long periods of wandering noise it soars."""
        if self.line is None or not np.isfinite(self.line).any():
            return 0.0
        return float(min(np.nanmax(self.line), 3.0 * np.nanmedian(self.line)))

    def above(self) -> FloatArray:
        """Modes at which what is left rises above the line, one for each peak, the highest first.

        A peak is as wide as a mode to each side; there are none where there is no line.
        """
        if self.line is None:
            return np.zeros(0)
        over = np.where(np.isfinite(self.line), self.residual / self.line, 0.0)
        peaks: list[float] = []
        for i in np.flatnonzero(over > 1.0)[np.argsort(-over[over > 1.0])]:
            if all(abs(self.mode[i] - peak) > 1.0 for peak in peaks):
                peaks.append(float(self.mode[i]))
            if len(peaks) == _PEAKS:
                break
        return np.array(peaks)


def amplitude_spectrum(
    theta: FloatArray,
    values: FloatArray,
    residual: FloatArray,
    *,
    max_mode: float,
    parts: FloatArray | None = None,
    weights: FloatArray | None = None,
    evidence: Evidence | None = None,
) -> Spectrum:
    """Compute the spectra of one record: of values without their trend, and of the residual.

    `parts` of shape (C, n) are the patterns, which are taken away one after the other; `evidence`
    holds floor and threshold of the fit, if it had any.
    """
    n = len(theta)
    weights = np.ones(n) if weights is None else weights * (n / weights.sum())
    if evidence is not None and evidence.robust:
        # What was judged: outliers pulled in, as in the floor and the threshold.
        pulled = pseudo_values(np.zeros((n, 1)), residual[:, None], weights)[:, 0]
        values, residual = values - residual + pulled, pulled
    max_mode = max(float(max_mode), 2.0)
    spacing = min(max(0.25, max_mode / _POINTS_AT_MOST), 1.0)
    grid = PeriodogramGrid.of(theta, weights, max_mode, spacing)
    keep = grid.modes >= _LOWEST
    modes = grid.modes[keep]
    # Powers are squares: values of size one neither overflow nor vanish.
    size = float(max(np.abs(values).max(initial=0.0), np.abs(residual).max(initial=0.0))) or 1.0
    parts = np.zeros((0, n)) if parts is None else parts
    gone = np.cumsum(parts[:_STEPS], axis=0)[: max(len(parts) - 1, 0)]
    records = [values, residual, *(values - part for part in gone)]
    powers = [grid.power(grid.data_sums(y[:, None] / size))[keep, 0] for y in records]
    data, left, *after = (size * 2.0 * np.sqrt(np.maximum(power, 0.0) / n) for power in powers)
    steps = np.array(after).reshape(len(after), len(modes))
    if evidence is None:
        return Spectrum(modes, data, left, steps=steps)
    floor, line = evidence.floor_amplitude(modes)[:, 0], evidence.threshold_amplitude(modes)[:, 0]
    line = np.where(np.isfinite(line), line, np.nan)
    return Spectrum(modes, data, left, floor, line, evidence.level, steps)
