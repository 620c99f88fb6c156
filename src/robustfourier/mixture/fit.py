"""From samples to model: read this first.

One column is searched for lines, with the trend and the noise that leave the highest evidence
(`search`), the lines are grouped into repeating patterns (`components`), and the result is
brought into the user's units (`model`). With several columns the model is additive,
f(x₁) + g(x₂) + …, fitted by backfitting: each column in turn is fitted to what the others leave
over. What all of them leave over may be coloured, and patterns quasi-periodic (`posterior`).

Where two scales are tried (`transform`), a fit goes on only while it may still be taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.mixture.components.compose import Separated, separate
from robustfourier.mixture.evidence import Evidence
from robustfourier.mixture.model import ColumnModel, shares
from robustfourier.mixture.posterior import (
    unknown_period,
    with_degenerate_errors,
    with_sandwich_errors,
    with_tie_errors,
)
from robustfourier.mixture.search.detection import SAME_LINE, Detection, LineSearch
from robustfourier.mixture.search.robust import pseudo_values
from robustfourier.mixture.timeseries import Series, Settings
from robustfourier.mixture.transform import ColumnFits, Fitted
from robustfourier.observers import emit, listening

SWEEPS = 2  # over the columns; the first finds the lines, the second settles what columns share
ROBUST_ROUNDS = 3  # of pulling outliers in around the smoothed fit


def fit_column(
    domain: Domain, theta: FloatArray, y: FloatArray, weights: FloatArray, settings: Settings
) -> tuple[ColumnModel, Detection]:
    """Fit trend and components to samples of one column."""
    return _patterns(domain, _begun(domain, theta, y, weights, settings).whole)


def _begun(
    domain: Domain, theta: FloatArray, y: FloatArray, weights: FloatArray, settings: Settings
) -> LineSearch:
    """Return the search for the lines of one column."""
    series = Series.of(theta, y, weights, settings)
    emit("sums", domain=domain, n_samples=len(theta), max_mode=series.max_mode)
    return LineSearch(series)


def _patterns(domain: Domain, found: Detection) -> tuple[ColumnModel, Detection]:
    """Return the model of the lines that were found, and those of them that it is made of."""
    emit("patterns")
    model, series = _composed(domain, found)
    while len(unknown := unknown_period(model)):
        many = len(unknown) > 1
        words = (
            "modes are left out: their standard errors are"
            if many
            else "mode is left out: its standard error is"
        )
        why = f"{len(unknown)} {words} more than half of the frequency"
        less = found.without(unknown, why)
        if len(less.known) == len(found.known):  # its lines were found elsewhere: in no other
            others = np.setdiff1d(model.lines.mode, unknown)
            apart = np.abs(found.fit.modes[:, None] - others).min(axis=1, initial=np.inf)
            less = found.without(found.fit.modes[apart >= SAME_LINE], why)
        if len(less.known) == len(found.known):
            break
        found = less
        model, series = _composed(domain, found)
    model = model.explaining(series)
    if listening():
        components = model.components(shares([model])[0], 0, 0)
        emit("patterns", "composed", components=components)
    return model, found


def _composed(domain: Domain, found: Detection) -> tuple[ColumnModel, Series]:
    """Return the model of the lines found, with errors that count what a fit cannot know."""
    series, fit = _settled(found, separate(found))
    model = ColumnModel.of(domain, fit, series, Evidence.of(found))
    model = with_tie_errors(with_sandwich_errors(model, series), fit.grouping)
    return with_degenerate_errors(model, found), series


def _settled(found: Detection, fit: Separated) -> tuple[Series, Separated]:
    """Pull outliers in around the whole waveforms, where the search did so around lines alone."""
    if not found.huber or len(fit.lines) <= len(found.known):
        return found.series, fit
    for _ in range(ROBUST_ROUNDS):
        series = found.series
        fitted = series.trend(found.fit.trend_size) @ fit.trend + fit.lines.evaluate(series.theta)
        values = pseudo_values(fitted, series.original - fitted, series.weights)
        found = replace(found, series=series.with_values(values))
        fit = separate(found)
    return found.series, fit


def begin_columns(
    domains: list[Domain],
    theta: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    settings: list[Settings],
) -> ColumnFits:
    """Search for the lines of one column, or fit one model per column by backfitting."""
    if theta.shape[1] > 1:
        fitted = _backfitted(domains, theta, y, weights, settings)
        return ColumnFits(lambda: fitted[1], lambda: fitted[1], lambda: fitted)
    searched = _begun(domains[0], theta[:, 0], y, weights, settings[0])

    def composed() -> Fitted:
        model, kept = _patterns(domains[0], searched.whole)
        return [model], [kept]

    return ColumnFits(lambda: [searched.first], lambda: [searched.whole], composed)


def _backfitted(
    domains: list[Domain],
    theta: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    settings: list[Settings],
) -> Fitted:
    """Fit each column in turn to what the others leave over."""
    n_columns = theta.shape[1]
    models: dict[int, ColumnModel] = {}
    found: dict[int, Detection] = {}
    parts = np.zeros((n_columns, *y.shape))
    for _ in range(SWEEPS):
        for j in range(n_columns):
            rest = y - (parts.sum(axis=0) - parts[j])
            models[j], found[j] = fit_column(domains[j], theta[:, j], rest, weights, settings[j])
            parts[j] = models[j].evaluate(theta[:, j])
    return [models[j] for j in range(n_columns)], [found[j] for j in range(n_columns)]
