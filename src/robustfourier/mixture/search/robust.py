"""Robustness by pseudo-values: outliers are pulled in, everything else stays least squares.

Huber's M-estimator is the fixed point of least squares on y* = fit + ψ(r)/γ, with ψ the clipped
residual and γ the share of residuals that are not clipped. Sums, floor, significance and
covariances computed from y* are then those of the M-estimator. The scale is the median absolute
residual; nothing is asked of the user.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from robustfourier.arrays import FloatArray
from robustfourier.mixture.search.line_fit import Fit, fit_lines
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.nufft import direct_sums
from robustfourier.weighted_rows import MEDIAN, robust_scale, weighted_median

HUBER = 1.345  # clips at this many standard deviations: 95 % efficient for Gaussian noise
_TINY = float(np.finfo(float).tiny)
_FARTHEST = 1e100  # deviations, whose square can be taken
FAR = 4.0  # clips what neither Gaussian noise nor a sum of tones reaches
FLATTEST = 0.25  # of γ: where most residuals are clipped, 1/γ must not grow without end
_EXPECTATIONS, _ENOUGH = 20, 10_000  # of expectation maximisation, and rows that it needs
_MULTIPLES = 4  # of the strongest line's frequency at which its outliers may come
_BESIDE = 40  # quarter modes to each side that tell how bursts of outliers lift all of them
_CHANCE = 0.01 / 20  # how often outliers at random seem to keep a phase, asked at every pull
_MASKED = 0.4  # of the variance: in none of 60 draws of Gaussian noise on 30 rows was it as low
_BENT, _PULLS = 0.05, 10  # see `unmasked`; each pull brings a fit several times closer to its end


def whitening(weights: FloatArray) -> FloatArray:
    """Factors that bring residuals to the deviation of the rows with the largest weight, (n, 1).

    A row of weight w has a variance 1/w as large. Rows of one weight have one factor, (1, 1).
    """
    if len(weights) and np.all(weights == weights[0]):
        return np.ones((1, 1))
    return np.sqrt(weights / weights.max(initial=0.0))[:, None]


def pseudo_values(
    fitted: FloatArray,
    residuals: FloatArray,
    weights: FloatArray,
    *,
    clip: float = HUBER,
    redescend: bool = False,
) -> FloatArray:
    """Return y* = fit + ψ(r)/γ, shape (n, q).

    `fitted`, `residuals` (n, q): a fit and the data minus it. `clip`: residuals are clipped at this
    many deviations. `redescend`: whether outliers have no pull at all (`Contaminated`). Those on
    one side then do not shift the level. Use it near the end only: far from the answer a large
    residual may be signal.

    Notes
    -----
    Outputs whose scale is zero (more than half of the residuals vanish) are left as they are.
    """
    root = whitening(weights)
    scale = robust_scale(residuals * root, weights)
    used = scale > 0
    size = np.abs(residuals) * root / np.where(used, scale, 1.0)
    if redescend:
        pulls = [Contaminated.of(column, weights).pull(column) for column in size.T]
        pull, inside = (np.column_stack(both) for both in zip(*pulls, strict=True))
    else:
        pull, inside = clipped(size, clip)
    slope = np.maximum(weights @ inside / weights.sum(), FLATTEST)
    pulled = fitted + np.sign(residuals) * pull / root * np.where(used, scale, 1.0) / slope
    return np.where(used, pulled, fitted + residuals)


def clipped(size: FloatArray, clip: float) -> tuple[FloatArray, FloatArray]:
    """Return Huber's pull ψ of residuals of that many deviations, and its derivative."""
    return np.minimum(size, clip), (size <= clip).astype(float)


def _square(size: FloatArray) -> FloatArray:
    """Return squares of sizes; of the farthest, which have no pull, something that is finite."""
    return np.asarray(np.minimum(size, _FARTHEST) ** 2)


@dataclass(frozen=True)
class Contaminated:
    """Residuals of which some are outliers: p N(0, σ²) + (1 − p) N(0, τ²).

    Outliers are few, at most a quarter, and stand apart, τ ≥ 4σ: else they are the shape of the
    noise, or of a pattern that is not known yet.
    """

    #: σ², τ² and p
    inside: float
    wide: float
    part: float
    gain: float  # log-likelihood over that of one normal distribution

    @classmethod
    def of(cls, size: FloatArray, weights: FloatArray) -> Contaminated:
        """Fit residuals, in units of about σ, by expectation maximisation."""
        some = slice(None, None, len(size) // _ENOUGH + 1)
        square, total = _square(size[some]), weights[some] * (len(size) / weights.sum())
        whole = max(float(np.average(square, weights=total)), _TINY)
        best = cls(1.0, max(FAR**2, 4.0 * whole), 0.9, 0.0)
        for _ in range(_EXPECTATIONS):
            sure = best.narrow(square)
            own, others = total * sure, total * (1.0 - sure)
            part = float(np.clip(own.sum() / total.sum(), 0.75, 1.0 - 1.0 / len(total)))
            inside = max(float(own @ square / max(own.sum(), _TINY)), _TINY)
            wide = max(float(others @ square / max(others.sum(), _TINY)), FAR**2 * inside)
            best = cls(inside, wide, part, 0.0)
        one = -0.5 * (square / whole + np.log(whole))
        both = np.logaddexp(
            np.log(best.part) - 0.5 * (square / best.inside + np.log(best.inside)),
            np.log(1.0 - best.part) - 0.5 * (square / best.wide + np.log(best.wide)),
        )
        factor = len(size) / len(square)
        return replace(best, gain=factor * float(total @ (both - one)))

    def narrow(self, square: FloatArray) -> FloatArray:
        """Return the probability π that residuals belong to the narrow distribution."""
        odds = np.log(self.part / (1.0 - self.part)) + 0.5 * np.log(self.wide / self.inside)
        return np.asarray(expit(odds - 0.5 * square * (1.0 / self.inside - 1.0 / self.wide)))

    def pull(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the pull ψ = πr and its derivative: of outliers that stand apart nothing."""
        square = _square(size)
        sure = self.narrow(square)
        fall = (1.0 / self.inside - 1.0 / self.wide) * square
        return sure * size, sure - sure * (1.0 - sure) * fall


def outliers_pay(residuals: FloatArray, weights: FloatArray) -> bool:
    """Tell whether the residuals of any output are two normal distributions rather than one.

    Two numbers more, the part and the width of the second, cost half of log n each (BIC).
    """
    sizes = np.abs(residuals) * whitening(weights)
    scale = robust_scale(residuals * whitening(weights), weights)
    return any(
        Contaminated.of(size / unit, weights).gain > np.log(len(size))
        for size, unit in zip(sizes.T, scale, strict=True)
        if unit > 0
    )


def outlier_cost(residuals: FloatArray, pulled: FloatArray, weights: FloatArray) -> float:
    """Return by how many nats residuals with outliers are less likely than those pulled in.

    The first by the best mixture of two normal distributions, the second by one each.

    `residuals`, `pulled` (n, q): around one fit, as they are and with outliers pulled in.
    """
    squares, inside = weighted_squares(residuals, weights), weighted_squares(pulled, weights)
    sizes = np.abs(residuals) * whitening(weights)
    scale = robust_scale(residuals * whitening(weights), weights)
    return sum(
        0.5 * len(size) * float(np.log(max(square, _TINY) / max(within, _TINY)))
        - Contaminated.of(size / unit, weights).gain
        for size, unit, square, within in zip(sizes.T, scale, squares, inside, strict=True)
        if unit > 0
    )


def huber_pays(
    residuals: FloatArray, weights: FloatArray, clip: float = HUBER, factor: float = 0.95
) -> bool:
    """Tell whether clipping lowers the variance of the estimates for residuals like these.

    Compares the asymptotic variances E r² of least squares and E ψ²/γ² of Huber's estimator. For
    Gaussian residuals the second is 5 % larger; outliers and heavy tails make it smaller.
    """
    # The sums of squares of `pseudo_values` around zero, which themselves are not needed.
    size = np.abs(residuals)
    size *= whitening(weights)
    most = clip * np.array([weighted_median(column, weights) for column in size.T]) / MEDIAN
    used = most > 0
    slope = np.maximum(weights @ (size <= most) / weights.sum(), FLATTEST)
    np.minimum(size, most, out=size)
    pulled = weights.max(initial=0.0) * np.einsum("nq,nq->q", size, size) / slope**2
    squares = weighted_squares(residuals, weights)
    return pays(squares, np.where(used, pulled, squares), factor)


def weighted_squares(residuals: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted sum of squares of each output, shape (q,)."""
    return np.einsum("n,nq,nq->q", weights, residuals, residuals)


def pays(squared: FloatArray, huber: FloatArray, factor: float = 0.95) -> bool:
    """Tell whether E ψ²/γ² is below a factor of E r², both of shape (q,)."""
    used = squared > 0
    ratio = np.maximum(huber[used] / squared[used], np.finfo(float).tiny)
    return bool(np.mean(np.log(ratio)) < np.log(factor)) if used.any() else False


def unmasked(series: Series, fit: Fit) -> tuple[Series, Fit] | None:
    """Return the series and fit with outliers pulled in, if they pay off once they are known.

    Least squares that has many numbers for its rows bends towards outliers, and around the bent fit
    they are none: with six of them among thirty rows, what is left over looks Gaussian, but wide.
    So where fitted numbers are more than a twentieth of the rows, `huber_pays` is asked around the
    fixed point of Huber's estimator, too. There some of few Gaussian residuals look like outliers,
    so the variance must become much smaller.
    """
    if not len(fit.modes) or fit.trend_size + 3 * len(fit.modes) < _BENT * series.total:
        return None
    for _ in range(_PULLS):
        fitted = series.values - fit.refined.residuals
        values = pseudo_values(fitted, series.original - fitted, series.weights)
        series = series.with_values(values)
        fit = fit_lines(series, fit.modes, fit.known, fit.trend_size)
    residuals = series.original - (series.values - fit.refined.residuals)
    if not huber_pays(residuals, series.weights, factor=_MASKED):
        return None
    return None if keeps_phase(series, fit.refined.lines, residuals) else (series, fit)


def keeps_phase(series: Series, lines: Lines, residuals: FloatArray) -> bool:
    """Tell whether what looks like outliers is periodic.

    Outliers come at random: Σ u e^{-iπkθ} of their probabilities u = 1 − π (`Contaminated`),
    around their mean, has a squared length of Σ u² times an exponential variable at any mode k
    (Schuster's test). Pulses, and what a fit leaves over of the jumps of a square wave, or of
    eclipses, look like outliers too, but come at one phase, and pulling them in would fake an exact
    fit. Outliers that come in bursts lift all modes: the median around the highest is the unit.
    Multiples of the strongest line are few places, and need less.
    """
    weights, left = series.weights, residuals * whitening(series.weights)
    scale = robust_scale(left, weights)
    size = np.minimum(np.abs(left[:, scale > 0]) / scale[scale > 0], _FARTHEST)
    outlying = [one - Contaminated.of(one, weights).pull(one)[0] for one in size.T]
    grid = series.grid
    first = int(np.ceil(series.lowest / grid.spacing))
    if not outlying or grid.size <= first:
        return False
    around = np.array([u - np.average(u, weights=weights) for u in outlying]).T
    unit = np.maximum(np.sum((weights[:, None] * around) ** 2, axis=0), _TINY)
    if len(lines):
        strongest = float(lines.mode[np.argmax(np.sum(lines.amplitude**2, axis=1))])
        multiples = strongest * np.arange(1.0, _MULTIPLES + 1.0)
        sums = direct_sums(series.theta, weights[:, None] * around, multiples)
        if np.any(np.abs(sums) ** 2 > unit * np.log(_MULTIPLES * len(unit) / _CHANCE)):
            return True
    power = np.abs(grid.data_sums(around)[first:]) ** 2 / unit
    highest, output = np.unravel_index(np.argmax(power), power.shape)
    beside = power[max(highest - _BESIDE, 0) : highest + _BESIDE, output]
    level = max(float(np.median(beside)) / np.log(2.0), 1.0)
    chance = _CHANCE / (max(series.max_mode, 1.0) * len(unit))
    return bool(power[highest, output] > -level * np.log(chance))
