"""The transform of the values: whether trend and patterns add up to them, or multiply.

On the scale "log" the logarithm of the values is fitted: patterns are factors, and noise is a part
of the value. Growth times season times noise, as in sales or passengers, is a plain mixture there,
while on the scale "linear" its seasons grow and its noise does too.

"auto" takes the logarithm where its log evidence, as a density of y, is higher by log 1000. Where
that cannot be, no second search is made: values that are not all positive, a spread in which the
two scales hardly differ, residuals that do not grow with the level. The two are compared after one
round of both searches, and by all lines where that leaves a doubt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError
from robustfourier.mixture.evidence import log_evidence
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.search.detection import Detection

SCALES = ("auto", "linear", "log")
# log(m + u) bends away from a straight line by u²/2m²: at a spread of a tenth of the mean, by a
# twentieth of that spread. Below it the two scales are the same.
_SPREAD = 0.1
# Standard errors by which residuals must grow with the level before a second fit is tried. Of 62
# series whose parts add 3 passed, of 60 whose parts multiply all did.
_GROWS = 1.5
_PRICE = float(np.log(1000.0))  # of logarithms: a thousand to one
_SURE = 10.0  # prices by which one round of both searches leaves no doubt
_LARGEST = 600.0  # e^600 is 1e260, which leaves room for its product with a standard error

#: A model for each column, and the lines that it was made of.
Fitted = tuple[list[ColumnModel], list[Detection]]


@dataclass(frozen=True, eq=False)
class ColumnFits:
    """Fits of all columns on one scale, made as far as they are asked for."""

    #: give what one round of the searches has found, and what all of them have; called once each,
    #: if at all
    begin: Callable[[], list[Detection]]
    search: Callable[[], list[Detection]]
    compose: Callable[[], Fitted]  # makes models of all lines; called once, if at all

    @cached_property
    def first(self) -> list[Detection]:
        """What one round has found."""
        return self.begin()

    @cached_property
    def whole(self) -> list[Detection]:
        """All that was found."""
        return self.search()

    @cached_property
    def fitted(self) -> Fitted:
        """The models."""
        return self.compose()


#: Begins to fit values of shape (n, q).
Start = Callable[[FloatArray], ColumnFits]


@dataclass(frozen=True, eq=False)
class ScaledFit:
    """A fit and the scale it was made on."""

    scale: str  # {"linear", "log"}
    values: FloatArray  # (n, q): what was fitted: y or log y
    #: one of each per column
    models: list[ColumnModel]
    found: list[Detection]
    notes: tuple[str, ...] = ()  # why the logarithm was taken; nothing on the linear scale


def fit_on_scale(scale: str, start: Start, theta: FloatArray, y: FloatArray) -> ScaledFit:
    """Fit on a given scale, or on the one that the data ask for.

    `start`: begins to fit values of shape (n, q). `theta` (n, d): canonical rows, sorted by the
    first column.
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
    if scale == "auto" and (log := _better(start, linear, theta, y)):
        return log
    return ScaledFit("linear", y, *linear.fitted)


def _better(start: Start, linear: ColumnFits, theta: FloatArray, y: FloatArray) -> ScaledFit | None:
    """Return a fit of the logarithms if it is clearly better; compared as early as that is sure."""
    early = may_multiply(linear.first, theta, y)
    if not early and not may_multiply(linear.whole, theta, y):
        return None
    log = start(np.log(y))
    sure, gain, found = _SURE * _PRICE, log_odds(linear.first, log.first, y), log.first
    if gain < -sure:
        return None
    if gain < sure or not any(map(_varies, found)):
        if early and not may_multiply(linear.whole, theta, y):
            return None
        gain, found = log_odds(linear.whole, log.whole, y), log.whole
        if gain < _PRICE or not any(map(_varies, found)):
            return None
    return ScaledFit("log", np.log(y), *log.fitted, (_words(gain),))


def log_odds(linear: list[Detection], log: list[Detection], y: FloatArray) -> float:
    """Return by how much the log evidence of log y is above that of y.

    `linear`, `log`: each column was fitted to what the others leave over; the last one sees what
    all leave.
    """
    logs = np.log(y)
    one, other = log_evidence(linear[-1]), log_evidence(log[-1], logs)
    beside = [sum(log_evidence(each).lines for each in fits[:-1]) for fits in (linear, log)]
    return other.total + beside[1] - one.total - beside[0]


def _words(gain: float) -> str:
    """The reason for a note."""
    odds = "more than a million" if gain > np.log(1e6) else f"{np.exp(gain):,.0f}"
    return (
        "logarithms of the values were fitted, so that trend, patterns and noise multiply: the "
        f"evidence prefers that by {odds} to one"
    )


def _varies(found: Detection) -> bool:
    """Whether there is more than a level, which has nothing to multiply."""
    return len(found.trend.coefficients) > 1 or len(found.lines) > 0


def from_log(values: Any) -> FloatArray:
    """Return exp(values), kept finite: growth that goes on for ages would overflow."""
    return np.asarray(np.exp(np.minimum(values, _LARGEST)))


def may_multiply(linear: list[Detection], theta: FloatArray, y: FloatArray) -> bool:
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
