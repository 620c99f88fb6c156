r"""The log evidence of a fitted structure, with what it is made of.

.. math::

    \log E = \log p(y \mid \text{lines}, \text{noise}) - \text{prices of noise, lines and breaks},

the coefficients of the trend being integrated over (`search.score`). It is a density of the values
in their own unit, so that fits of y and of log y, whose density is divided by y, can be compared.
Values that were pulled in count as what they were, with the tails of Huber's density:
c |u| − c² / 2 beyond c deviations, in place of u² / 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.mixture.search.detection import Detection
from robustfourier.mixture.search.noise_evidence import NoiseEvidence, line_prices
from robustfourier.mixture.search.robust import HUBER
from robustfourier.periodic.priors import breaks_price, noise_price


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
    priced = sum(noise_price(one) for one in noise.oscillators)
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
