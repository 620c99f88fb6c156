r"""The log evidence of a fitted structure, with what it is made of.

.. math::

    \log E = \log p(y \mid \text{lines}, \text{noise}) - \text{prices of noise, lines and breaks},

the coefficients of the trend being integrated over (`search.score`). It is a density of the values
in their own unit, so that fits of y and of log y, whose density is divided by y, can be compared.
Values that were pulled in count as what they were, with the tails of Huber's density:
c |u| − c² / 2 beyond c deviations, in place of u² / 2.

`Evidence` keeps it with the rest that decided, so that a report shows what was used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.search.detection import Detection
from robustfourier.mixture.search.noise_evidence import NoiseEvidence, line_prices
from robustfourier.mixture.search.robust import HUBER, robust_scale, whitening
from robustfourier.periodic.noise_spectrum import NoiseFloor
from robustfourier.periodic.priors import breaks_price, noise_price

OUTLIER = 6.0  # robust standard deviations: one in a hundred million for Gaussian noise


@dataclass(frozen=True)
class LogEvidence:
    """Log evidence, in nats, as a sum.

    Parameters
    ----------
    likelihood : float
        Of what the lines leave over, the trend integrated over.
    noise, lines, breaks : float
        Prices of oscillators and wings, of lines, and of breakpoints, all negative or zero.
    """

    likelihood: float
    noise: float
    lines: float
    breaks: float

    @property
    def total(self) -> float:
        """The sum."""
        return self.likelihood + self.noise + self.lines + self.breaks

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """What it is the sum of, in words, and the sum; prices of nothing are left out."""
        prices = (
            ("price of the lines", self.lines),
            ("price of coloured noise", self.noise),
            ("price of breakpoints", self.breaks),
        )
        paid = tuple((words, value) for words, value in prices if value)
        return (("log likelihood", self.likelihood), *paid, ("log evidence", self.total))


def log_evidence(found: Detection, logarithms: FloatArray | None = None) -> LogEvidence:
    """Return the log evidence of what a search has found.

    `logarithms` (n, q): log y, if that was searched: the density is then that of y.
    """
    series, fit, start = found.series, found.fit, found.noise_model
    evidence = NoiseEvidence(series, fit)
    start = None if start is None or not start.coloured else start
    noise, score = evidence.best(start, fresh=False)
    priced = evidence.factor * sum(noise_price(one) for one in noise.oscillators)
    # From the density of values of order one to that of y, and tails that were pulled in.
    unit = len(series.theta) * float(np.log(series.scale).sum())
    if logarithms is not None:
        # Their mean, as rows of one column that are equal are one.
        unit += len(series.theta) * float(np.mean(logarithms, axis=0).sum())
    root = np.sqrt(series.weights)[:, None] / np.sqrt(np.maximum(noise.white, 1e-300))
    tails = HUBER * float(np.sum(root * np.abs(series.original - series.values)))
    lines = 0.0
    if found.assessment is not None:
        lines = float(line_prices(series, fit, found.assessment).sum()) * len(noise.white)
    return LogEvidence(
        likelihood=score + priced - unit - tails,
        noise=-priced,
        lines=-lines,
        breaks=-breaks_price(len(series.breaks), series.distinct),
    )


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
    log_evidence : LogEvidence, optional
        Of the lines, trend and noise that the search ended with, of the values that were fitted.
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
    log_evidence: LogEvidence | None = None

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
            log_evidence=log_evidence(found),
        )

    def floor_amplitude(self, modes: FloatArray) -> FloatArray:
        """Amplitude of a line whose power is that of the noise, shape (len(modes), q)."""
        return 2.0 * np.sqrt(self.floor.at(modes) / self.total) * self.scale

    def threshold_amplitude(self, modes: FloatArray) -> FloatArray:
        """Amplitude that a line had to reach at `modes`, shape (len(modes), q)."""
        ratio = np.exp(np.interp(modes, self.floor.mode, np.log(self.threshold)))
        return self.floor_amplitude(modes) * np.sqrt(ratio)[:, None]
