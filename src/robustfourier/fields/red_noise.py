"""What is left over as coloured noise: AR(1), or an exponent with a knee, and significance curves.

Climatologists state the remainder as the lag-1 coefficient of an AR(1) process with curves that a
share of such spectra stays below [1]_; neuroscientists as P(f) = c / (k + f^χ), the exponent χ and
the knee k^(1/χ) [2]_.

References
----------
.. [1] M. Mann and J. Lees, Robust estimation of background noise and signal detection in climatic
       time series, Climatic Change 33 (1996).
.. [2] T. Donoghue et al., Parameterizing neural power spectra into periodic and aperiodic
       components, Nat. Neurosci. 23 (2020).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from robustfourier.arrays import FloatArray

_BETTER = 6.0  # by which the deviance must fall for a knee
_PLACES = 1 << 22  # of the spectrum: what memory holds
_BINS = 400  # of frequency, in which a smooth spectrum is as good as constant


@dataclass(frozen=True)
class NoiseColour:
    """Coloured noise in the words of two fields.

    Parameters
    ----------
    coefficient : float
        Lag-1 coefficient of AR(1), for the median step of the samples.
    exponent : float
        χ of the power P ∝ 1 / (1 + (f / knee)^χ); 0 is white, 2 a random walk.
    knee : float
        Frequency below which the spectrum is flat, in cycles per unit of time; 0 if none is seen.
    step : float
        Time between the places of the spectrum: the median step of the samples.
    frequency, power, background : ndarray of shape (K,)
        Frequencies, and power of the residual and of AR(1) there, in units of its mean power.
    """

    coefficient: float
    exponent: float
    knee: float
    step: float
    frequency: FloatArray
    power: FloatArray
    background: FloatArray

    def curve(self, share: float) -> FloatArray:
        """Power that a share of AR(1) spectra stays below: -log(1 - share) times."""
        return np.asarray(-np.log1p(-share) * self.background)


def noise_colour(times: FloatArray, residual: FloatArray) -> NoiseColour:
    """Read the colour of what a fit leaves over.

    Parameters
    ----------
    times : ndarray of shape (n,)
        Ascending, in any spacing; the spectrum is that of means over the median step (over a four
        millionth of the record where that is longer).
    residual : ndarray of shape (n,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.zeros(4000)
    >>> for i in range(1, 4000):
    ...     x[i] = 0.8 * x[i - 1] + rng.normal()
    >>> colour = noise_colour(np.arange(4000.0), x)
    >>> round(colour.coefficient, 1)
    0.8
    """
    times, residual = np.asarray(times, np.float64), np.asarray(residual, np.float64)
    step = float(np.median(np.diff(times)[np.diff(times) > 0]))
    step = max(step, float(times[-1] - times[0]) / _PLACES)
    place = np.round((times - times[0]) / step).astype(np.int64)
    scale = float(np.std(residual)) or 1.0
    rest = (residual - residual.mean()) / scale
    pairs = np.flatnonzero(np.diff(place) == 1)
    coefficient = 0.0
    if len(pairs) > 2:
        coefficient = float(rest[pairs] @ rest[pairs + 1] / np.mean(rest**2) / len(pairs))
    coefficient = float(np.clip(coefficient, 0.0, 0.999))
    count = int(place[-1]) + 1
    even = np.zeros(count)
    np.add.at(even, place, rest)
    filled = np.bincount(place, minlength=count)
    even = np.where(filled > 0, even / np.maximum(filled, 1), 0.0)
    power = np.abs(np.fft.rfft(even)) ** 2 / max((filled > 0).sum(), 1)
    cycles: FloatArray = np.fft.rfftfreq(count).astype(np.float64)
    frequency, power = cycles[1:-1] / step, power[1:-1]
    angle = 2.0 * np.pi * cycles[1:-1]
    background = (1.0 - coefficient**2) / (1.0 + coefficient**2 - 2 * coefficient * np.cos(angle))
    slow = frequency <= 0.5 * frequency.max(initial=0.0)  # above, sampling flattens a spectrum
    exponent, knee = _exponent(frequency[slow], power[slow])
    return NoiseColour(coefficient, exponent, knee, step, frequency, power, background)


def _binned(frequency: FloatArray, power: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean frequency and power within bins of equal ratio, and how many each holds."""
    edges = np.geomspace(frequency[0], frequency[-1], _BINS)
    bins = np.unique(np.searchsorted(edges, frequency, side="right"), return_inverse=True)[1]
    count = np.bincount(bins).astype(np.float64)
    return np.bincount(bins, frequency) / count, np.bincount(bins, power) / count, count


def _exponent(frequency: FloatArray, power: FloatArray) -> tuple[float, float]:
    """Exponent and knee by Whittle's likelihood; the knee is 0 where it does not pay."""
    if len(frequency) < 16:
        return 0.0, 0.0
    frequency, power, count = _binned(frequency, power)
    log_f = np.log(frequency)
    log_p = np.log(np.maximum(power, 1e-12 * power.max(initial=1e-300)))

    def deviance(parameters: FloatArray, bent: bool) -> float:
        model = parameters[0] - (
            np.logaddexp(0.0, parameters[1] * (log_f - parameters[2]))
            if bent
            else parameters[1] * log_f
        )
        return float(2.0 * count @ (np.minimum(np.exp(log_p - model), 1e12) + model))

    line = np.polyfit(log_f, log_p, 1)
    plain = minimize(deviance, [line[1] + 0.58, -line[0]], args=(False,), method="Nelder-Mead")
    bent = min(
        (
            minimize(
                deviance,
                [float(np.log(power[: max(len(power) // 20, 2)].mean())), 2.0, log_f[int(at)]],
                args=(True,),
                method="Nelder-Mead",
            )
            for at in np.linspace(0.1, 0.7, 3) * len(log_f)
        ),
        key=lambda found: found.fun,
    )
    if plain.fun - bent.fun > _BETTER:
        return float(bent.x[1]), float(np.exp(bent.x[2]))
    return float(plain.x[1]), 0.0
