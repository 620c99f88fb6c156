"""Prices and priors of the parts of the model, in nats, all in one place.

A part stays if it raises the log-likelihood by more than its price. The prices are calibrated
together: a resonance that costs too much turns coloured noise into lines, one that costs too little
turns lines into noise.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray, IntArray

#: Deviations of the data: the width of the prior of a trend's coefficients.
TREND_WIDTH = 1.0
#: The same of a change of slope, (θ − τ)₊: in the middle of the record that column has a deviation
#: of 1/√48 around a straight line, so that such a change may be as large as the data.
SLOPE_CHANGE_WIDTH = float(np.sqrt(48.0))
#: Red noise tunes no frequency, a resonance does. In a trial with dense
#: matrices, 1.5 log n for both gave lines in an eighth of short AR(1) records, a quarter of AR(2).
RED_NOISE, RESONANCE = 1.0, 2.5
#: Wings of a line, in units of log n: a coherence and a strength, half of that each (BIC).
WINGS = 1.0
#: Quality below which an oscillator has no frequency of its own: its spectrum has no peak.
OVERDAMPED = float(np.sqrt(0.5))
#: Quality of two cycles of coherence (Q/π): what keeps its phase for longer is no noise.
LONGEST = 2.0 * np.pi
#: Quality of one cycle and a quarter. An oscillation that is beyond doubt steadier than that is
#: reported as quasi-periodic.
FORGETFUL = 1.25 * np.pi
#: Beyond doubt: odds of ten to one.
STEADIER = float(np.log(10.0))


#: Modes: a drift of one degree at the ends of the record, less than any model is worth.
SMALLEST_MODE_ERROR = 0.005
#: Odds, as a logarithm, against two lines being harmonics of one period, beside what their modes
#: say; and against a combination tone, which few signals have.
FAMILY, COMBINATION = float(np.log(10.0)), float(np.log(50.0))


def harmonic_share(gap: int) -> float:
    """Return the prior of an order whose next lower one in its family is `gap` below.

    A third each for 1 and 2 (patterns whose halves mirror each other have odd orders only) and
    1 / (d (d + 1)) from d = 3 on, which adds up to one and lets a long series continue.

    >>> [round(harmonic_share(gap), 3) for gap in (1, 2, 3, 4)]
    [0.333, 0.333, 0.083, 0.05]
    """
    return 1.0 / 3.0 if gap < 3 else 1.0 / (gap * (gap + 1))


def lowest_order_share(order: int) -> float:
    """Return the prior of the lowest order of a family: few lack their fundamental.

    >>> [lowest_order_share(order) for order in (1, 2)]
    [1.0, 0.025]
    """
    return 1.0 if order == 1 else 0.2 / order**3


def combination_share(first: IntArray, second: IntArray) -> FloatArray:
    """Return the prior 4^(1 − |n₁| − |n₂|) of a combination tone of two bases."""
    return np.asarray(4.0 ** (1.0 - np.abs(first) - np.abs(second)))


def line_price(gain: FloatArray, width: FloatArray, false_alarm: float) -> FloatArray:
    """Return log(W √z / p), the price of a line of gain z at a frequency that was searched for.

    Under noise the largest gain anywhere exceeds z with probability W √z e^{−z} [1]_, [2]_: gain
    and price are equal where that is the false-alarm probability p.

    References
    ----------
    .. [1] R. B. Davies, Biometrika 74 (1987) 33.
    .. [2] R. V. Baluev, MNRAS 385 (2008) 1279.

    Examples
    --------
    >>> line_price(np.array([16.0]), np.array([100.0]), 0.01)
    array([10.59...])
    """
    return np.log(np.maximum(width, 1.0) * np.sqrt(np.maximum(gain, 1.0)) / false_alarm)


def known_place_price(places: FloatArray, false_alarm: float) -> FloatArray:
    """Return log(N / p), the price of a line at one of N places: no frequency was searched for.

    Of a period of the calendar N is their number, of a harmonic one over its prior.
    """
    return np.asarray(np.log(np.maximum(places, 1.0) / false_alarm))


def trend_widths(trend_size: int, orders: IntArray) -> FloatArray:
    """Return the widths of the priors of a trend's coefficients, those of its breaks last."""
    breaks = np.where(orders == 0, TREND_WIDTH, SLOPE_CHANGE_WIDTH)
    return np.append(np.full(trend_size, TREND_WIDTH), breaks)


def breaks_price(count: int, places: int) -> float:
    """Return m log(2N), the price of m breaks of the trend, of level or slope, at N places.

    Their sizes are coefficients of the trend, and integrated over like the others.
    """
    return float(count * np.log(2.0 * max(places, 1)))


def noise_price(oscillators: FloatArray) -> float:
    """Return the price of oscillators, given as logarithms of frequency, quality and variance."""
    overdamped = oscillators[1::3] < np.log(OVERDAMPED)
    return float(np.sum(np.where(overdamped, RED_NOISE, RESONANCE)))


def largest_quality(log_frequency: FloatArray) -> FloatArray:
    """Return the logarithm of the largest quality that an oscillator of the noise may have.

    Its spectrum, of the width frequency over quality at half height, is then two modes wide: twice
    the Rayleigh resolution. What is narrower is not resolved from a line over this record.
    """
    return np.log(np.clip(0.5 * np.exp(log_frequency) / np.pi, 0.5, LONGEST))
