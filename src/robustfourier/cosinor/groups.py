"""Two groups compared: differences of mesor, amplitude and acrophase, and of the whole rhythm.

Groups may have different times, replicates and noise: errors add in squares, and the degrees of
freedom are those of Welch and Satterthwaite.
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc, stdtr

from robustfourier.arrays import FloatArray
from robustfourier.cosinor.answers import Answer, Wave, mesor, quantile
from robustfourier.cosinor.design import Terms
from robustfourier.cosinor.series_fits import Estimates


def welch_freedom(
    first: FloatArray, second: FloatArray, first_freedom: FloatArray, second_freedom: FloatArray
) -> FloatArray:
    """Degrees of freedom of a difference, from the variances of both sides.

    Examples
    --------
    >>> float(welch_freedom(np.array(1.0), np.array(1.0), np.array(9.0), np.array(9.0)))
    18.0
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (first + second) ** 2 / (first**2 / first_freedom + second**2 / second_freedom)
    least = np.minimum(first_freedom, second_freedom)
    return np.asarray(np.where(np.isfinite(freedom), freedom, least))


def compare(
    first: Estimates, second: Estimates, terms: Terms, period: int, cycle: float, coverage: float
) -> dict[str, FloatArray]:
    """Columns of differences, second minus first, with p-values.

    Parameters
    ----------
    first, second : Estimates
        Of the same m series.
    terms : Terms
    period : int
        Which period.
    cycle : float
        Its length in the unit in which acrophases are reported.
    coverage : float
        Of the intervals.
    """
    waves = [Wave.of(each, terms, period) for each in (first, second)]
    levels = [mesor(each, coverage) for each in (first, second)]
    freedoms = first.freedom, second.freedom
    columns: dict[str, FloatArray] = {}
    for name, values, errors in (
        ("mesor", [a.value for a in levels], [a.error for a in levels]),
        ("amplitude", [w.amplitude for w in waves], [w.amplitude_error for w in waves]),
    ):
        columns |= _difference(values[1] - values[0], errors, freedoms, coverage, name)
    columns |= _turned(waves, freedoms, coverage, cycle)
    columns["p_rhythm_difference"] = _joint(first, second, terms.of_period(period))
    return columns


def _difference(
    value: FloatArray,
    errors: list[FloatArray],
    freedoms: tuple[FloatArray, FloatArray],
    coverage: float,
    name: str,
) -> dict[str, FloatArray]:
    """A difference with error, interval and p-value by Student's t."""
    freedom = welch_freedom(errors[0] ** 2, errors[1] ** 2, *freedoms)
    error = np.hypot(*errors)
    reach = quantile(freedom, coverage) * error
    answer = Answer(value, error, value - reach, value + reach)
    p = _two_sided(value, error, freedom)
    return answer.columns(f"{name}_difference") | {f"p_{name}_difference": p}


def _turned(
    waves: list[Wave], freedoms: tuple[FloatArray, FloatArray], coverage: float, cycle: float
) -> dict[str, FloatArray]:
    """Difference of acrophases, within half a cycle; refused directions as in `acrophase`."""
    turn = np.angle(np.exp(1j * (waves[1].angle - waves[0].angle)))
    errors = [wave.angle_error for wave in waves]
    squares = [np.minimum(e, 1e150) ** 2 for e in errors]
    freedom = welch_freedom(squares[0], squares[1], *freedoms)
    error = np.hypot(*errors)
    # Beyond a quarter of a cycle the sine falls again, the evidence against equality does not.
    sine = np.where(np.abs(turn) < 0.5 * np.pi, np.abs(np.sin(turn)), 1.0)
    bend = quantile(freedom, coverage) * error
    reach = np.where(bend < 1.0, np.arcsin(np.minimum(bend, 1.0)), np.pi)
    reach = np.where(np.isnan(bend), np.nan, reach)
    per = cycle / (2.0 * np.pi)
    error = np.where(np.isnan(error), np.nan, np.minimum(error, np.pi))
    answer = Answer(turn * per, error * per, (turn - reach) * per, (turn + reach) * per)
    return answer.columns("acrophase_difference") | {
        "p_acrophase_difference": _two_sided(sine, np.hypot(*errors), freedom)
    }


def _two_sided(value: FloatArray, error: FloatArray, freedom: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(error > 0, np.abs(value) / error, np.where(value == 0, 0.0, np.inf))
    ratio = np.where(np.isnan(value) | np.isnan(error), np.nan, ratio)
    return np.minimum(2.0 * stdtr(freedom, -ratio), 1.0)


def _joint(first: Estimates, second: Estimates, own: slice) -> FloatArray:
    """p-value of equal coefficients of a period, all its orders together."""
    d = own.stop - own.start
    apart = second.beta[:, own] - first.beta[:, own]
    one, two = first.covariance[:, own, own], second.covariance[:, own, own]
    traces = [np.trace(each, axis1=1, axis2=2) for each in (one, two)]
    freedom = welch_freedom(traces[0], traces[1], first.freedom, second.freedom)
    joint, p = one + two, np.full(len(apart), np.nan)
    sound = np.flatnonzero(np.isfinite(apart).all(axis=1) & np.isfinite(freedom))
    sound = sound[np.linalg.matrix_rank(joint[sound], hermitian=True) == d] if len(sound) else sound
    square = np.einsum(
        "mc,mc->m", apart[sound], np.linalg.solve(joint[sound], apart[sound][:, :, None])[:, :, 0]
    )
    ratio, rest = square / d, freedom[sound]
    # Between subjects a whole covariance matrix is estimated, not one variance: Hotelling's T².
    whole = np.isfinite(first.between[sound]) & np.isfinite(second.between[sound])
    ratio = np.where(whole, ratio * (rest - d + 1.0) / rest, ratio)
    p[sound] = fdtrc(d, np.where(whole, rest - d + 1.0, rest), ratio)
    return p
