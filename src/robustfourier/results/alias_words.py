"""What samples in a rhythm leave in doubt: the likeliest alias of a pattern, with its odds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.fields.alias_odds import runner_up
from robustfourier.sampling import Sampling

if TYPE_CHECKING:
    from robustfourier.results.summary import Brief

_HIGH = 0.6  # of the spectral window: a lower peak makes no alias that could win
_TOLD = 2  # patterns, the strongest
_SURE = 1000.0  # odds beyond which nobody doubts
_LARGEST = 100.0  # power of ten that is told


def runner_up_words(brief: Brief, sampling: Sampling, weights: FloatArray | None) -> list[str]:
    """One sentence for each of the strongest patterns of a record that was sampled in a rhythm.

    Parameters
    ----------
    brief : Brief
        Patterns, noise and the parts of the fit.
    sampling : Sampling
    weights : ndarray of shape (n,), optional
    """
    window = sampling.window
    rhythms = window.peak_mode[window.peak_height >= _HIGH]
    if sampling.even or not len(rhythms):
        return []
    theta, flat = brief.theta, brief.flat
    even = np.ones(len(theta)) if weights is None else weights / np.mean(weights)
    said = []
    for pattern, part in zip(brief.patterns[:_TOLD], flat.parts, strict=False):
        mode = sampling.domain.span * pattern.frequency
        orders = np.asarray(pattern.harmonics)
        found = runner_up(
            *(theta, flat.residual + part, even, brief.noise, mode, orders), rhythms[:1]
        )
        if pattern.combination or found is None:
            continue
        told = sampling.domain.period_words
        rhythm = told(float(sampling.domain.period(rhythms[0])))
        alias = told(float(sampling.domain.period(found.mode)))
        said.append(
            f"The samples come in a rhythm of {rhythm}: pattern {pattern.label} "
            f"({told(pattern.period)}) {_odds(found.log_odds)} than its next likeliest alias, "
            f"{alias}."
        )
    return said


def _odds(log_odds: float) -> str:
    """How much likelier, in words.

    Examples
    --------
    >>> _odds(1.0), _odds(50.0)
    ('is only 2.7 times likelier', 'is 10^22 times likelier')
    """
    if log_odds < 0.0:
        return "is no likelier"
    if log_odds < math.log(_SURE):
        return f"is only {math.exp(log_odds):.2g} times likelier"
    power = log_odds / math.log(10.0)
    more = "more than " if power > _LARGEST else ""
    return f"is {more}10^{min(power, _LARGEST):.0f} times likelier"
