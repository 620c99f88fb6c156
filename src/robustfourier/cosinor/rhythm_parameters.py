"""From coefficients to what is reported: mesor, amplitude and acrophase, and their differences.

a cos ωt + b sin ωt = A cos(ωt - φ) with A = √(a² + b²) and φ = atan2(b, a). The acrophase is the
time of the maximum, φ / ω, in one cycle after the origin of the times. Errors are those of the
delta method. The interval of the acrophase holds all directions that a t-test does not refuse
(Fieller): ± arcsin(t · error), the whole cycle where the amplitude may be zero.

Groups may have different times, replicates and noise: errors of a difference add in squares, and
its degrees of freedom are those of Welch and Satterthwaite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from robustfourier.arrays import FloatArray
from robustfourier.cosinor.design_matrix import Terms
from robustfourier.cosinor.series_fits import Estimates, zero_test

Columns = dict[str, FloatArray]


@dataclass(frozen=True, eq=False)
class Wave:
    """One harmonic of m series: amplitude and angle φ in radians, each with its standard error."""

    amplitude: FloatArray
    angle: FloatArray
    amplitude_error: FloatArray
    angle_error: FloatArray  # infinite where the amplitude is zero

    @classmethod
    def of(cls, estimates: Estimates, terms: Terms, period: int, order: int = 1) -> Wave:
        """That of a period and order, of all series."""
        own = terms.of_period(period, order)
        a, b = estimates.beta[:, own].T
        c = estimates.covariance[:, own, own]
        amplitude = np.hypot(a, b)
        there = amplitude != 0  # or NaN, which stays so
        u = np.divide(a, amplitude, out=np.ones_like(amplitude), where=there)
        v = np.divide(b, amplitude, out=np.zeros_like(amplitude), where=there)
        along = u * u * c[:, 0, 0] + 2 * u * v * c[:, 0, 1] + v * v * c[:, 1, 1]
        across = v * v * c[:, 0, 0] - 2 * u * v * c[:, 0, 1] + u * u * c[:, 1, 1]
        unknown = np.full_like(amplitude, np.inf)
        turn = np.divide(np.sqrt(np.maximum(across, 0.0)), amplitude, out=unknown, where=there)
        return cls(amplitude, np.arctan2(b, a), np.sqrt(np.maximum(along, 0.0)), turn)


def _reach(error: FloatArray, freedom: FloatArray, coverage: float) -> FloatArray:
    """Half-width of an interval: the quantile of Student's t, times the error."""
    return np.asarray(stdtrit(freedom, 0.5 + 0.5 * coverage) * error)


def _angle_reach(error: FloatArray, freedom: FloatArray, coverage: float) -> FloatArray:
    """Half-width of an interval of directions in radians (Fieller)."""
    bend = _reach(error, freedom, coverage)
    reach = np.where(bend < 1.0, np.arcsin(np.minimum(bend, 1.0)), np.pi)
    return np.where(np.isnan(bend), np.nan, reach)


def _columns(name: str, value: FloatArray, error: FloatArray, reach: FloatArray) -> Columns:
    """A quantity with its standard error and the ends of its interval."""
    ends = {f"{name}_low": value - reach, f"{name}_high": value + reach}
    return {name: value, f"{name}_error": error, **ends}


def _mesor(estimates: Estimates) -> tuple[FloatArray, FloatArray]:
    """The level and its standard error."""
    return estimates.beta[:, 0], np.sqrt(np.maximum(estimates.covariance[:, 0, 0], 0.0))


def mesor_columns(estimates: Estimates, coverage: float) -> Columns:
    """The level of each series."""
    value, error = _mesor(estimates)
    return _columns("mesor", value, error, _reach(error, estimates.freedom, coverage))


def wave_columns(
    wave: Wave, freedom: FloatArray, coverage: float, cycle: float, origin: float, tail: str = ""
) -> Columns:
    """Amplitude and acrophase of each series; `tail` ends their names.

    The interval of the amplitude ends at zero. The acrophase lies within one `cycle` after
    `origin`; the ends of its interval may lie in those beside.
    """
    height, error = wave.amplitude, wave.amplitude_error
    found = _columns(f"amplitude{tail}", height, error, _reach(error, freedom, coverage))
    found[f"amplitude{tail}_low"] = np.maximum(found[f"amplitude{tail}_low"], 0.0)
    per_radian = cycle / (2.0 * np.pi)
    when = np.mod(wave.angle * per_radian - origin, cycle)
    error = np.minimum(wave.angle_error, np.pi) * per_radian
    reach = _angle_reach(wave.angle_error, freedom, coverage) * per_radian
    return found | _columns(f"acrophase{tail}", when, error, reach)


def welch_freedom(variances: list[FloatArray], freedoms: list[FloatArray]) -> FloatArray:
    """Degrees of freedom of a difference, from the variances of both sides.

    Examples
    --------
    >>> float(welch_freedom([np.array(1.0)] * 2, [np.array(9.0)] * 2))
    18.0
    """
    first, second = variances
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (first + second) ** 2 / (first**2 / freedoms[0] + second**2 / freedoms[1])
    return np.asarray(np.where(np.isfinite(freedom), freedom, np.minimum(*freedoms)))


def difference_columns(
    pair: list[Estimates], terms: Terms, period: int, cycle: float, coverage: float
) -> Columns:
    """Differences of two groups, second minus first, with p-values.

    `cycle` is the length of the period in the unit in which acrophases are reported.
    """
    freedoms = [each.freedom for each in pair]
    waves = [Wave.of(each, terms, period) for each in pair]
    levels = [_mesor(each) for each in pair]
    heights = [(wave.amplitude, wave.amplitude_error) for wave in waves]
    columns: Columns = {}
    for name, (first, second) in (("mesor", levels), ("amplitude", heights)):
        value, errors = second[0] - first[0], [first[1], second[1]]
        freedom = welch_freedom([error**2 for error in errors], freedoms)
        error = np.hypot(*errors)
        reach = _reach(error, freedom, coverage)
        columns |= _columns(f"{name}_difference", value, error, reach)
        columns[f"p_{name}_difference"] = _two_sided(value, error, freedom)
    errors = [wave.angle_error for wave in waves]
    freedom = welch_freedom([np.minimum(error, 1e150) ** 2 for error in errors], freedoms)
    error = np.hypot(*errors)
    turn = np.angle(np.exp(1j * (waves[1].angle - waves[0].angle)))
    # Beyond a quarter of a cycle the sine falls again, the evidence against equality does not.
    sine = np.where(np.abs(turn) < 0.5 * np.pi, np.abs(np.sin(turn)), 1.0)
    numbers = turn, np.minimum(error, np.pi), _angle_reach(error, freedom, coverage)
    per_radian = cycle / (2.0 * np.pi)
    columns |= _columns("acrophase_difference", *(per_radian * number for number in numbers))
    columns["p_acrophase_difference"] = _two_sided(sine, error, freedom)
    columns["p_rhythm_difference"] = _joint(pair, terms.of_period(period))
    return columns


def _two_sided(value: FloatArray, error: FloatArray, freedom: FloatArray) -> FloatArray:
    """p-value by Student's t; without an error, only zero is zero."""
    exact = np.where(value == 0, 0.0, np.inf)
    ratio = np.divide(np.abs(value), error, out=exact, where=error != 0)
    ratio = np.where(np.isnan(value), np.nan, ratio)
    return np.minimum(2.0 * stdtr(freedom, -ratio), 1.0)


def _joint(pair: list[Estimates], own: slice) -> FloatArray:
    """p-value of equal coefficients of a period, all its orders together."""
    covariances = [each.covariance[:, own, own] for each in pair]
    traces = [np.trace(each, axis1=1, axis2=2) for each in covariances]
    freedom = welch_freedom(traces, [each.freedom for each in pair])
    # Between subjects a whole covariance matrix is estimated, not one variance.
    between = np.isfinite(pair[0].between) & np.isfinite(pair[1].between)
    apart = pair[1].beta[:, own] - pair[0].beta[:, own]
    return zero_test(apart, covariances[0] + covariances[1], freedom, between)
