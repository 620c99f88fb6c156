"""Scale: whether trend and patterns add up to the values, or multiply.

On the scale "log" the logarithm of the values is fitted: patterns are factors, and noise is a part
of the value. Growth times season times noise, as in sales or passengers, is a plain mixture there,
while on the scale "linear" its seasons grow and its noise does too.

"auto" stays with "linear" unless "log" is clearly better. First come gates that cost nothing: all
values positive, a spread that lets the two scales differ, and residuals of the linear fit that grow
with the level. Then what was found is read as factors too. What passes is searched a second time,
and both scales predict tenths of the record that their coefficients have not seen. Their densities
are compared as densities of y: that of log y is divided by y. They are compared after one round of
both searches, then by all lines, then by patterns: where lines leave no doubt, the fit of the plain
values ends there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.lapack import dposv

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError
from robustfourier.mixture.draft import Draft, Sketch
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.search.detection import Detection
from robustfourier.periodic.semidefinite import solve_positive
from robustfourier.weighted_rows import weighted_median

SCALES = ("auto", "linear", "log")
# log(m + u) bends away from a straight line by u²/2m²: at a spread of a tenth of the mean, by a
# twentieth of that spread. Below it the two scales tell the same.
_SPREAD = 0.1
# Standard errors by which residuals must grow with the level before a second fit is tried. Of 62
# series whose parts add 3 passed, of 60 whose parts multiply all did.
_GROWS = 1.5
# What "clearly better" is: odds of a thousand to one, which wrong densities reach by chance in one
# of a thousand records (the mean of such odds is one); and no larger error in the user's own unit,
# but for a twentieth by which two equally good fits differ.
_ODDS = float(np.log(1000.0))
_MISS = 1.05
# Lines alone lack weak harmonics, more of them on the scale that is wrong, or on that where a whole
# family can be completed. Of 50 series that were compared with lines and with patterns, odds moved
# by 16 where they were small, and were up to 3.3 times too high where they were clear; errors were
# up to 0.30 too small. Lines that prefer the logarithm by more than that leave no doubt.
_SURE_ODDS, _SURE_MISS = 10.0 * _ODDS, _MISS - 0.3
_BLOCKS = 10
_CORE = 3.0  # deviations; outliers beyond would hide the memory of the rest
_FREEDOM = 4.0  # of Student's t: the noise's tails, of which outliers are part, must not decide
_ROUNDS = 30  # of the width; each brings it closer by a factor of about three
_HUBER = 1.345  # deviations, beyond which a sample counts less; 95 % efficient for Gaussian noise
_ROWS_AT_MOST = 50_000  # rows compared; with 400 columns three seconds
_LARGEST = 600.0  # e^600 is 1e260, which leaves room for its product with a standard error

#: Searches values of shape (n, q) for the lines of all columns.
Start = Callable[[FloatArray], Draft]


@dataclass(frozen=True, eq=False)
class ScaledFit:
    """A fit and the scale it was made on.

    Parameters
    ----------
    scale : {"linear", "log"}
    values : ndarray of shape (n, q)
        What was fitted: y or log y.
    models, found
        One of each per column.
    notes : tuple of str
        Why the logarithm was taken; nothing on the linear scale.
    """

    scale: str
    values: FloatArray
    models: list[ColumnModel]
    found: list[Detection]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """The logarithm against the plain values, on blocks left out.

    Parameters
    ----------
    odds : float
        Natural logarithm of the odds for the logarithm: its density of all y over the other's, as
        of so many rows as the memory of the noise leaves independent.
    miss : float
        Mean absolute error in the unit of y over that of the linear fit.
    """

    odds: float
    miss: float

    @property
    def prefers_log(self) -> bool:
        """Whether the logarithm is clearly better."""
        return self.odds >= _ODDS and self.miss <= _MISS

    @property
    def sure(self) -> bool:
        """Whether patterns will prefer the logarithm, where this is told of lines."""
        return self.odds >= _SURE_ODDS and self.miss <= _SURE_MISS

    @property
    def words(self) -> str:
        """The reason for a note."""
        sure = self.odds > np.log(1e6)
        odds = "more than a million" if sure else f"{np.exp(self.odds):,.0f}"
        return (
            "logarithms of the values were fitted, so that trend, patterns and noise multiply: "
            f"held-out tenths of the record prefer that by {odds} to one, with {self.miss:.2f} "
            "times the error of plain values"
        )


def fit_on_scale(
    scale: str, start: Start, theta: FloatArray, y: FloatArray, weights: FloatArray
) -> ScaledFit:
    """Fit on a given scale, or on the one that the data ask for.

    Parameters
    ----------
    scale : {"auto", "linear", "log"}
    start : callable
        Searches values of shape (n, q) for lines.
    theta : ndarray of shape (n, d)
        Canonical rows, sorted by the first column.
    y : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    """
    if scale not in SCALES:
        raise InputError(f"scale={scale!r} is not one of {', '.join(SCALES)}")
    if scale == "log":
        if not y.min() > 0:
            raise InputError(
                f'scale="log" needs positive values, but the smallest is {y.min():.6g}; '
                'use scale="auto" or "linear"'
            )
        values = np.log(y)
        why = ("logarithms were fitted, as asked",)
        return ScaledFit("log", values, *start(values).fitted, why)
    linear = start(y)
    if scale == "auto" and (log := _better(start, linear, theta, y, weights)):
        return log
    return ScaledFit("linear", y, *linear.fitted)


def _better(
    start: Start, linear: Draft, theta: FloatArray, y: FloatArray, weights: FloatArray
) -> ScaledFit | None:
    """Return a fit of the logarithms if it is clearly better; compared as early as that is sure."""
    log: Draft | None = None
    for look in ("first", "lines", "patterns"):
        blocks = _open(getattr(linear, look), theta, y, weights)
        if blocks is None:
            continue
        log = log or start(np.log(y))
        sketches = getattr(log, look)
        compared = blocks.compared(sketches)
        told = compared.prefers_log if look == "patterns" else compared.sure
        if told and any(map(_varies, sketches)):
            return ScaledFit("log", np.log(y), *log.fitted, (compared.words,))
    return None


def _open(
    linear: list[Sketch], theta: FloatArray, y: FloatArray, weights: FloatArray
) -> _Blocks | None:
    """Return what to compare the logarithm with; None if it cannot pay."""
    if not _may_multiply(linear, theta, y):
        return None
    blocks = _Blocks(linear, theta, y, weights)
    # Where what was found is far less likely as factors, something else would gain little.
    return blocks if blocks.compared(None).odds >= -_ODDS else None


def _varies(sketch: Sketch) -> bool:
    """Whether there is more than a level, which has nothing to multiply."""
    return len(sketch.trend.coefficients) > 1 or len(sketch.lines) > 0


def from_log(values: Any) -> FloatArray:
    """Return exp(values), kept finite: growth told on for ages would overflow."""
    return np.asarray(np.exp(np.minimum(values, _LARGEST)))


def _may_multiply(linear: list[Sketch], theta: FloatArray, y: FloatArray) -> bool:
    """Whether a fit to the logarithm could pay, by what the linear one shows."""
    if not y.min() > 0:
        return False
    unit = y.max(axis=0)
    wide = np.std(y / unit, axis=0) > _SPREAD * np.mean(y / unit, axis=0)
    if not wide.any():
        return False
    trend = sum(one.trend.evaluate(theta[:, j]) for j, one in enumerate(linear)) / unit
    lines = sum(one.lines.evaluate(theta[:, j]) for j, one in enumerate(linear)) / unit
    left = y / unit - trend - lines
    return any(_grows(trend[:, o], lines[:, o], left[:, o]) for o in np.flatnonzero(wide))


def _grows(trend: FloatArray, lines: FloatArray, left: FloatArray) -> bool:
    """Whether residuals are larger, or patterns higher, where the level is.

    The second is Tukey's one degree of freedom for non-additivity: the residual has a part along
    the product of trend and patterns.
    """
    level = trend + lines
    if np.ptp(level) <= 1e-9 * np.max(np.abs(level)):
        return False
    if _rank_correlation(level, np.abs(left)) * np.sqrt(len(left)) > _GROWS:
        return True
    along = left * (trend - trend.mean()) * lines
    size = float(np.sqrt(np.sum(along**2)))
    return size > 0 and float(along.sum()) / size > _GROWS


def _rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Spearman's correlation; equal values share the mean of their ranks."""
    ranks = []
    for values in (x, y):
        _, place, count = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(count) - 0.5 * count)[place])
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def compare(
    linear: list[Sketch],
    log: list[Sketch] | None,
    theta: FloatArray,
    y: FloatArray,
    weights: FloatArray,
) -> Comparison:
    """Compare two fits on blocks that their coefficients have not seen.

    Periods and the kind of trend are those of the whole record, so that no search is repeated;
    amplitudes and levels are fitted anew without each block.

    Parameters
    ----------
    linear, log : list of Sketch, one per column
        Fits of y and of log y; None if lines and trend of the first shall serve both.
    theta : ndarray of shape (n, d)
        Sorted by the first column, which is cut into the blocks.
    y : ndarray of shape (n, q)
        Positive.
    weights : ndarray of shape (n,)
    """
    return _Blocks(linear, theta, y, weights).compared(log)


class _Blocks:
    """What a linear fit leaves over in blocks left out, with which others are compared.

    Parameters
    ----------
    linear, theta, y, weights
        As in `compare`.
    """

    def __init__(
        self, linear: list[Sketch], theta: FloatArray, y: FloatArray, weights: FloatArray
    ) -> None:
        thin = slice(None, None, -(-len(y) // _ROWS_AT_MOST))
        self.theta, self.y, self.weights = theta[thin], y[thin], weights[thin]
        self.linear = linear

    @cached_property
    def rows(self) -> FloatArray:
        """Those of the linear fit, see `_rows`."""
        return _rows(self.linear, self.theta)

    @cached_property
    def adding(self) -> FloatArray:
        """What the linear fit leaves over in each block, shape (n, q)."""
        left = self.y - _fitted(self.linear, self.theta)
        return _held_out(self.rows, self.y, left, self.weights)

    def compared(self, log: list[Sketch] | None) -> Comparison:
        """Compare with a fit of the logarithms; None for the linear one's lines as factors."""
        y, weights, logs = self.y, self.weights, np.log(self.y)
        if log is None:
            rows, root = self.rows, np.sqrt(weights)
            inside = rows * root  # so that half of the products are enough
            left = logs - rows.T @ solve_positive(inside @ inside.T, inside @ (root * logs.T).T)
        else:
            rows, left = _rows(log, self.theta), logs - _fitted(log, self.theta)
        multiplying, adding = _held_out(rows, logs, left, weights), self.adding
        gain = _log_density(multiplying, weights) - logs - _log_density(adding, weights)
        rows_for_one = np.minimum(_memory(adding), _memory(multiplying))
        odds = float(np.sum((weights @ gain) / rows_for_one))
        missed = np.abs(y * np.expm1(np.minimum(-multiplying, _LARGEST)))
        miss = (weights @ missed) / np.maximum(weights @ np.abs(adding), 1e-300)
        return Comparison(odds, float(miss.max()))


def _fitted(sketches: list[Sketch], theta: FloatArray) -> FloatArray:
    parts = [sketch.evaluate(theta[:, j]) for j, sketch in enumerate(sketches)]
    return np.asarray(np.sum(parts, axis=0))


def _held_out(
    rows: FloatArray, values: FloatArray, left: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return what fits without each block leave over in it, shape (n, q).

    `left` is what a fit of all samples leaves over.
    """
    pairs = zip(values.T, left.T, strict=True)
    parts = [_left_over(rows, one, weights * _robust(apart, weights)) for one, apart in pairs]
    return np.stack(parts, axis=1)


def _rows(sketches: list[Sketch], theta: FloatArray) -> FloatArray:
    """Rows whose combinations are the trends and lines of all columns, shape (Σ p + 2K, n)."""
    return np.concatenate([sketch.rows(theta[:, j]) for j, sketch in enumerate(sketches)])


def _robust(left: FloatArray, weights: FloatArray) -> FloatArray:
    """Weights that pull outliers in, by Huber's rule."""
    size = 1.4826 * weighted_median(np.abs(left), weights)
    reach = _HUBER * size if size > 0 else np.inf
    return np.minimum(1.0, reach / np.maximum(np.abs(left), 1e-300))


def _left_over(rows: FloatArray, values: FloatArray, weights: FloatArray) -> FloatArray:
    """Residuals in each block of least squares without it, by taking its sums away."""
    root = np.sqrt(weights)
    inside, own = rows * root, values * root
    blocks = np.array_split(np.arange(len(values)), _BLOCKS)
    parts = [slice(block[0], block[-1] + 1) for block in blocks if len(block)]
    grams = [inside[:, part] @ inside[:, part].T for part in parts]
    crosses = [inside[:, part] @ own[part] for part in parts]
    gram, cross = np.sum(grams, axis=0), np.sum(crosses, axis=0)
    # Lines that the other blocks cannot tell apart must not run away.
    gram += 1e-9 * np.trace(gram) / len(gram) * np.eye(len(gram))
    left = np.empty_like(values)
    for part, own_gram, own_cross in zip(parts, grams, crosses, strict=True):
        rest, right = gram - own_gram, cross - own_cross
        _, found, failed = dposv(rest, right)
        found = np.linalg.solve(rest, right) if failed else found
        left[part] = values[part] - found @ rows[:, part]
    return left


def _log_density(left: FloatArray, weights: FloatArray) -> FloatArray:
    """Log density of residuals by Student's t of the likeliest width, up to a constant, (n, q)."""
    part = weights / weights.sum()
    density = np.empty_like(left)
    for o, column in enumerate(left.T):
        size, square = max(1.4826 * weighted_median(np.abs(column), weights), 1e-300), column**2
        for _ in range(_ROUNDS):
            pulled = (_FREEDOM + 1.0) / (_FREEDOM + (column / size) ** 2)
            size = max(float(np.sqrt(part @ (pulled * square))), 1e-300)
        tail = np.log1p((column / size) ** 2 / _FREEDOM)
        density[:, o] = -np.log(size) - 0.5 * (_FREEDOM + 1.0) * tail
    return density


def _memory(left: FloatArray) -> FloatArray:
    """Return how many rows are worth one where densities add up, shape (q,).

    Log densities follow squares of the residuals. If those are correlated by ρ from row to row, as
    in noise with exponential memory, their squares are by ρ², and (1 + ρ²) / (1 − ρ²) rows are
    worth one. What the wrong scale leaves over has more memory than the noise: take the smaller.
    """
    size = np.maximum(1.4826 * np.median(np.abs(left), axis=0), 1e-300)
    core = np.clip(left / size, -_CORE, _CORE)
    rho = np.sum(core[1:] * core[:-1], axis=0) / np.maximum(np.sum(core**2, axis=0), 1e-300)
    square = np.clip(rho, 0.0, 0.99) ** 2
    return np.asarray((1.0 + square) / (1.0 - square))
