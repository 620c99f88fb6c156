"""Evidence: what a fit used to decide, kept with the model so that it can be shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.noise import NoiseFloor
from robustfourier.mixture.search.detection import Detection
from robustfourier.mixture.search.robust import robust_scale, whitening

OUTLIER = 6.0  # robust standard deviations: one in a hundred million for Gaussian noise


@dataclass(frozen=True, eq=False)
class Evidence:
    """The range searched, the noise floor, the threshold, the diagonal, and the outliers.

    Parameters
    ----------
    lowest, highest : float
        Range of modes searched.
    rule : str
        Why the range ends there, in words.
    level : float
        False-alarm probability that a line had to pass.
    floor : NoiseFloor
        Noise power against mode at the end of the search, in units of `scale`².
    scale : ndarray of shape (q,)
        A power of two near the typical deviation of y.
    threshold : ndarray of shape (C,)
        At the floor's modes, power over floor at which one output's false alarm is `level`.
    total : float
        Total weight: a sinusoid of amplitude a alone has the power total·a²/4.
    diagonal, diagonal_mode : ndarray of shape (J,)
        Weights of the diagonal layer when it proposed first, and their modes; empty if there was
        nothing to search.
    outlier : ndarray of shape (k,)
        θ of the samples that lie more than six deviations from the fitted lines in any output.
    robust : bool
        Whether outliers were pulled in.
    """

    lowest: float
    highest: float
    rule: str
    level: float
    floor: NoiseFloor
    scale: FloatArray
    threshold: FloatArray
    total: float
    diagonal: FloatArray
    diagonal_mode: FloatArray
    outlier: FloatArray
    robust: bool

    @classmethod
    def of(cls, found: Detection) -> Evidence:
        """Collect what a detection used."""
        series, floor = found.series, found.floor
        level = series.settings.level
        fitted = series.values - found.fit.refined.residuals
        left = (series.original - fitted) * whitening(series.weights)
        size = np.maximum(robust_scale(left, series.weights), 1e-300)
        far = np.abs(left) > OUTLIER * size
        return cls(
            lowest=series.lowest,
            highest=series.max_mode,
            rule=found.limit.rule,
            level=level,
            floor=floor,
            scale=series.scale,
            threshold=series.judge.threshold(level, floor, floor.mode),
            total=series.total,
            diagonal=np.zeros(0) if found.flow is None else found.flow.weight,
            diagonal_mode=np.zeros(0) if found.flow is None else found.flow.modes,
            outlier=series.theta[np.any(far, axis=1) & found.huber],
            robust=found.huber,
        )

    def floor_amplitude(self, modes: FloatArray) -> FloatArray:
        """Amplitude of a line whose power is that of the noise, shape (len(modes), q)."""
        return 2.0 * np.sqrt(self.floor.at(modes) / self.total) * self.scale

    def threshold_amplitude(self, modes: FloatArray) -> FloatArray:
        """Amplitude that a line had to reach at `modes`, shape (len(modes), q)."""
        ratio = np.exp(np.interp(modes, self.floor.mode, np.log(self.threshold)))
        return self.floor_amplitude(modes) * np.sqrt(ratio)[:, None]
