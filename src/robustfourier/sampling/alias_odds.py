"""Aliases of a period that samples in a rhythm leave possible, with the odds of the runner-up.

Observers of stars see the sky at night: a frequency f looks like f ± 1/day, f ± 2/day, … Which of
them it is, the likelihood of the whole family of harmonics says: at a wrong alias the fundamental
may fit as well, but its harmonics do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray, IntArray

_TURNS = 2  # multiples of the rhythm to each side
_REACH = 0.6  # modes around an alias that are searched: the rhythm is known no better
_STEP = 0.1  # modes: a tenth of the width of a line
_LEAST = 1.5  # cycles in the record: slower ones are a trend
_MOST = 20_000  # samples; of more, the aliases differ by far


@dataclass(frozen=True)
class RunnerUp:
    """The likeliest alias of a line."""

    mode: float  # cycles over the record
    #: natural logarithm of how much likelier the line is than this alias, for white noise
    log_odds: float


def runner_up(
    theta: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    noise: float,
    mode: float,
    harmonics: IntArray,
    rhythms: FloatArray,
) -> RunnerUp | None:
    """The likeliest alias of a family of harmonics; None where no rhythm makes one.

    With χ²(k) of the least-squares fit of all harmonics of mode k, the odds are exp((χ²(alias) -
    χ²(own)) / 2): both have as many coefficients. `values` are the data without all other parts,
    `weights` have mean one, `noise` is the standard deviation at weight one, and `rhythms` are
    modes of the peaks of the spectral window.
    """
    turns = np.outer(rhythms, np.arange(1, _TURNS + 1)).ravel()
    aliases = np.unique(np.abs(np.concatenate([mode + turns, mode - turns])))
    aliases = aliases[(aliases > _LEAST) & (np.abs(aliases - mode) > 1.0)]
    if not len(aliases) or not 0.0 < noise < np.inf or len(theta) > _MOST:
        return None
    steps = np.arange(-_REACH, _REACH + 0.5 * _STEP, _STEP)
    own = _explained(theta, values, weights, mode + 0.1 * steps, harmonics).max()
    places = (aliases[:, None] + steps).ravel()
    explained = _explained(theta, values, weights, places, harmonics)
    best = int(np.argmax(explained))
    return RunnerUp(float(places[best]), float(own - explained[best]) / (2.0 * noise**2))


def _explained(
    theta: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    modes: FloatArray,
    harmonics: IntArray,
) -> FloatArray:
    """Weighted sum of squares that all harmonics and a level explain, for each fundamental."""
    total = np.zeros(len(modes))
    root = np.sqrt(weights)
    for i, mode in enumerate(modes):
        angle = np.pi * mode * np.outer(theta, harmonics)
        design = np.hstack([np.ones((len(theta), 1)), np.cos(angle), np.sin(angle)])
        q, _ = np.linalg.qr(root[:, None] * design)
        total[i] = float(np.sum((q.T @ (root * values)) ** 2))
    return total
