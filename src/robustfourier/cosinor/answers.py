"""From coefficients to what is reported: mesor, amplitude and acrophase, with errors and intervals.

a cos ωt + b sin ωt = A cos(ωt - φ) with A = √(a² + b²) and φ = atan2(b, a). The acrophase is the
time of the maximum, φ / ω, in one cycle after the origin of the times. Errors are those of the
delta method. The interval of the acrophase holds all directions that a t-test does not refuse
(Fieller): ± arcsin(t · error), the whole cycle where the amplitude may be zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from robustfourier.arrays import FloatArray
from robustfourier.cosinor.design import Terms
from robustfourier.cosinor.series_fits import Estimates


@dataclass(frozen=True, eq=False)
class Answer:
    """A quantity of m series with its standard error and the ends of its interval, shape (m,)."""

    value: FloatArray
    error: FloatArray
    low: FloatArray
    high: FloatArray

    def columns(self, name: str) -> dict[str, FloatArray]:
        """Columns of a table."""
        return {
            name: self.value,
            f"{name}_error": self.error,
            f"{name}_low": self.low,
            f"{name}_high": self.high,
        }


@dataclass(frozen=True, eq=False)
class Wave:
    """One harmonic of a period: amplitude, and angle φ in radians, with standard errors.

    Parameters
    ----------
    amplitude, angle : ndarray of shape (m,)
    amplitude_error, angle_error : ndarray of shape (m,)
        The second is infinite where the amplitude is zero.
    """

    amplitude: FloatArray
    angle: FloatArray
    amplitude_error: FloatArray
    angle_error: FloatArray

    @classmethod
    def of(cls, estimates: Estimates, terms: Terms, period: int, order: int = 1) -> Wave:
        """That of a period and order, of all series."""
        own = terms.of_period(period, order)
        a, b = estimates.beta[:, own].T
        c = estimates.covariance[:, own, own]
        amplitude = np.hypot(a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v = (
                np.where(amplitude > 0, a / amplitude, 1.0),
                np.where(amplitude > 0, b / amplitude, 0),
            )
            u, v = np.where(np.isnan(a), np.nan, u), np.where(np.isnan(a), np.nan, v)
            along = u * u * c[:, 0, 0] + 2 * u * v * c[:, 0, 1] + v * v * c[:, 1, 1]
            across = v * v * c[:, 0, 0] - 2 * u * v * c[:, 0, 1] + u * u * c[:, 1, 1]
            turn = np.sqrt(np.maximum(across, 0.0)) / amplitude
        turn = np.where(amplitude == 0, np.inf, turn)
        return cls(amplitude, np.arctan2(b, a), np.sqrt(np.maximum(along, 0.0)), turn)


def quantile(freedom: FloatArray, coverage: float) -> FloatArray:
    """Half-width of an interval in standard errors: the quantile of Student's t."""
    return np.asarray(stdtrit(freedom, 0.5 + 0.5 * coverage))


def mesor(estimates: Estimates, coverage: float) -> Answer:
    """The level."""
    value = estimates.beta[:, 0]
    error = np.sqrt(np.maximum(estimates.covariance[:, 0, 0], 0.0))
    reach = quantile(estimates.freedom, coverage) * error
    return Answer(value, error, value - reach, value + reach)


def amplitude(wave: Wave, freedom: FloatArray, coverage: float) -> Answer:
    """The amplitude; its interval ends at zero."""
    reach = quantile(freedom, coverage) * wave.amplitude_error
    low = np.maximum(wave.amplitude - reach, 0.0)
    return Answer(wave.amplitude, wave.amplitude_error, low, wave.amplitude + reach)


def acrophase(
    wave: Wave, freedom: FloatArray, coverage: float, cycle: float, origin: float = 0.0
) -> Answer:
    """Time of the maximum within one cycle; the ends of its interval may lie in those beside.

    Parameters
    ----------
    cycle : float
        Length of one cycle of this harmonic.
    origin : float
        Time at which the clock reads zero.
    """
    per_radian = cycle / (2.0 * np.pi)
    value = np.mod(wave.angle * per_radian - origin, cycle)
    error = np.minimum(wave.angle_error, np.pi) * per_radian
    bend = quantile(freedom, coverage) * wave.angle_error
    reach = np.where(bend < 1.0, np.arcsin(np.minimum(bend, 1.0)), np.pi) * per_radian
    reach = np.where(np.isnan(bend), np.nan, reach)
    return Answer(value, error, value - reach, value + reach)
