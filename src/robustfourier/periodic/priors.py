"""Prices and priors of the model's parts, all in nats, in one place.

A part stays if it raises the log-likelihood by more than its price.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray

#: Deviations of the data: the prior of a trend's coefficients.
TREND_WIDTH = 2.0
#: Quality of two cycles of coherence: what keeps its phase for longer is quasi-periodic, not noise.
LONGEST = 2.0 * np.pi
#: Quality of one cycle and a quarter: what is beyond doubt steadier than that may be reported as
#: quasi-periodic.
FORGETFUL = 1.25 * np.pi
#: Quality below which an oscillator has no frequency of its own: its covariance does not swing.
OVERDAMPED = 0.7
#: Red noise tunes no frequency; a resonance does. Calibrated together with the price of a line on
#: short records of noise (`python -m benchmarks.false_alarms`).
RED_NOISE, RESONANCE = 1.0, 2.5


def noise_price(oscillators: FloatArray) -> float:
    """Return the price of oscillators, given as logarithms of frequency, quality and variance."""
    quality = np.exp(oscillators[1::3])
    return float(np.sum(np.where(quality < OVERDAMPED, RED_NOISE, RESONANCE)))


def narrowest(log_frequency: FloatArray) -> FloatArray:
    """Return the logarithm of the largest quality at which an oscillator is two modes wide.

    The width of its spectrum at half height is frequency over quality. What is narrower than two
    modes (twice the Rayleigh resolution) is not resolved from a line over this record.
    """
    return np.log(np.clip(0.5 * np.exp(log_frequency) / np.pi, 0.5, LONGEST))


def line_price(gain: FloatArray, width: FloatArray, false_alarm: float) -> FloatArray:
    """Return log(W √z / p), the price of a line of gain z at a frequency that was searched for.

    Under noise the largest gain anywhere exceeds z with probability W √z e^{−z} (Davies 1987;
    Baluev 2008): gain and price are equal where that is the false-alarm probability p.
    """
    return np.log(np.maximum(width, 1.0) * np.sqrt(np.maximum(gain, 1.0)) / false_alarm)
