"""Prewhitening with astropy's Lomb-Scargle periodogram: the astronomer's way.

The highest peak is taken, all lines so far are fitted together and subtracted, and the residual is
searched again until Baluev's false-alarm probability exceeds one percent.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from benchmarks.peers.method_interface import Fit, FloatArray, Hints, Method
from benchmarks.peers.sinusoids import fitted, linear_trend, refined

FALSE_ALARM = 0.01
SAMPLES_PER_PEAK = 5  # astropy's default
MOST_LINES = 60


def prewhiten(
    t: FloatArray,
    y: FloatArray,
    hints: Hints | None = None,  # noqa: ARG001
    *,
    backend: str,
    refine: bool,
) -> Fit:
    """Collect lines until the residual looks like noise.

    `t`, `y` (n,): samples. `backend`: method of `astropy.timeseries.LombScargle.power`;
    "fastnifty" is nifty-ls. `refine`: whether all frequencies are refined together after each
    new line.
    """
    if backend == "fastnifty":
        import nifty_ls  # noqa: F401  registers the backend

    trend = linear_trend(t, y)
    rest = y - trend(t)
    span = np.ptp(t)
    grid = np.arange(1.0 / span, t.size / (2.0 * span), 1.0 / (SAMPLES_PER_PEAK * span))
    lines: FloatArray = np.empty(0)
    model = fitted(t, rest, lines)
    note = ""
    while True:
        peak, false_alarm = _highest_peak(t, rest - model(t), grid, backend)
        if false_alarm > FALSE_ALARM:
            break
        if lines.size == MOST_LINES:
            note = f"stopped at {MOST_LINES} lines"
            break
        lines = np.append(lines, peak)
        if refine:
            lines = refined(t, rest, lines)
        model = fitted(t, rest, lines)
    return Fit(lambda times: trend(times) + model(times), 1.0 / lines, note=note)


def _highest_peak(
    t: FloatArray, y: FloatArray, grid: FloatArray, backend: str
) -> tuple[float, float]:
    from astropy.timeseries import LombScargle

    periodogram = LombScargle(t, y)
    power = periodogram.power(grid, method=backend, assume_regular_frequency=True)
    best = int(np.argmax(power))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a false-alarm probability of 0 divides by zero inside
        false_alarm = periodogram.false_alarm_probability(
            power[best], method="baluev", maximum_frequency=grid[-1]
        )
    return float(grid[best]), float(false_alarm)


METHODS = {
    "lombscargle": Method(
        "Lomb-Scargle prewhitening (astropy)",
        ("astropy",),
        partial(prewhiten, backend="fast", refine=False),
    ),
    "lombscargle_refined": Method(
        "Lomb-Scargle prewhitening, refined (astropy)",
        ("astropy",),
        partial(prewhiten, backend="fast", refine=True),
    ),
    "nifty_refined": Method(
        "Lomb-Scargle prewhitening, refined (nifty-ls)",
        ("astropy", "nifty-ls"),
        partial(prewhiten, backend="fastnifty", refine=True),
    ),
}
