"""What samples in a rhythm leave in doubt: the likeliest alias of a pattern, with its odds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.fields.alias_odds import runner_up
from robustfourier.sampling import Sampling

if TYPE_CHECKING:
    from robustfourier.results.summary import Brief

_HIGH = 0.6  # of the spectral window: a lower peak makes no alias that could win
_STATED = 2  # patterns, the strongest
_LARGEST = 100.0  # power of ten that is printed


class AliasWords(NamedTuple):
    """Sentences on aliases: warnings on those that are possible, remarks on excluded ones."""

    possible: list[str]
    excluded: list[str]


def alias_words(
    brief: Brief, sampling: Sampling, weights: FloatArray | None, false_alarm: float
) -> AliasWords:
    """One sentence for each of the strongest patterns of a record that was sampled in a rhythm.

    An alias is excluded where its odds against the pattern are below the false-alarm probability
    of the fit: it is then no more likely than the pattern is to be noise.

    Parameters
    ----------
    brief : Brief
        Patterns, noise and the parts of the fit.
    sampling : Sampling
    weights : ndarray of shape (n,), optional
    false_alarm : float
        Probability that the fit was asked for.
    """
    window, words = sampling.window, AliasWords([], [])
    rhythms = window.peak_mode[window.peak_height >= _HIGH]
    if sampling.even or not len(rhythms):
        return words
    theta, flat = brief.theta, brief.flat
    even = np.ones(len(theta)) if weights is None else weights / np.mean(weights)
    in_words = sampling.domain.period_words
    rhythm = in_words(float(sampling.domain.period(rhythms[0])))
    for pattern, part in zip(brief.patterns[:_STATED], flat.parts, strict=False):
        mode = sampling.domain.span * pattern.frequency
        orders = np.asarray(pattern.harmonics)
        found = runner_up(
            *(theta, flat.residual + part, even, brief.noise, mode, orders), rhythms[:1]
        )
        if pattern.combination or found is None:
            continue
        sure = found.log_odds > -math.log(false_alarm)
        (words.excluded if sure else words.possible).append(
            f"The samples come in a rhythm of {rhythm}: pattern {pattern.label} "
            f"({in_words(pattern.period)}) {_odds(found.log_odds, sure)} than its next likeliest "
            f"alias, {in_words(float(sampling.domain.period(found.mode)))}."
        )
    return words


def _odds(log_odds: float, sure: bool) -> str:
    """How much likelier, in words.

    Examples
    --------
    >>> _odds(1.0, False), _odds(6.0, True), _odds(50.0, True)
    ('is only 2.7 times likelier', 'is 403 times likelier', 'is 10^22 times likelier')
    """
    if log_odds < 0.0:
        return "is no likelier"
    power = log_odds / math.log(10.0)
    if power < 4.0:
        return (
            f"is {'' if sure else 'only '}{math.exp(log_odds):.{3 if sure else 2}g} times likelier"
        )
    more = "more than " if power > _LARGEST else ""
    return f"is {more}10^{min(power, _LARGEST):.0f} times likelier"
