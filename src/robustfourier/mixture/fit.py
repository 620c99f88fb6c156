"""From samples to model: read this first.

One column is searched for lines (`search`), peaks of noise that rings or drifts are told from them
(`continuum`), the lines are grouped into repeating patterns (`components`), and the result is
brought into the user's units (`model`). With several columns the model is additive,
f(x₁) + g(x₂) + …, fitted by backfitting: each column in turn is fitted to what the others leave
over. What all of them leave over may have a memory, and patterns may live (`remembering`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.mixture.components.compose import Separated, separate
from robustfourier.mixture.continuum import told_from_continuum
from robustfourier.mixture.evidence import Evidence
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.period_errors import (
    unknown_period,
    with_fringe_errors,
    with_leftover_errors,
)
from robustfourier.mixture.remembering import with_memory
from robustfourier.mixture.search.detection import Detection, search_lines
from robustfourier.mixture.search.robust import pseudo_values
from robustfourier.mixture.series import Series, Settings
from robustfourier.mixture.steadiness import with_unsteady_errors
from robustfourier.mixture.tables import shares
from robustfourier.observers import listening, tell
from robustfourier.workers import one_blas_thread

__all__ = ["fit_column", "fit_columns", "remembered"]

SWEEPS = 2  # over the columns; the first finds the lines, the second settles what columns share
ROBUST_ROUNDS = 3  # of pulling outliers in around the smoothed fit


def fit_column(
    domain: Domain, theta: FloatArray, y: FloatArray, weights: FloatArray, settings: Settings
) -> tuple[ColumnModel, Detection]:
    """Fit trend and components to samples of one column.

    Parameters
    ----------
    domain : Domain
    theta : ndarray of shape (n,)
    y : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    settings : Settings
    """
    # One thread and two add up in different orders, and then differ in the last bits.
    with one_blas_thread():
        series = Series.of(theta, y, weights, settings)
        tell("sums", domain=domain, n_samples=len(theta), max_mode=series.max_mode)
        found = told_from_continuum(search_lines(series))
        tell("patterns")
        model, series = _composed(domain, found)
        while len(unknown := unknown_period(model)):
            why = f"{len(unknown)} modes are left out: their errors are more than half of them"
            less = found.without(unknown, why)
            if len(less.known) == len(found.known):
                break
            found = less
            model, series = _composed(domain, found)
        model = model.explaining(series)
        if listening():
            components = model.components(shares([model])[0], 0, 0)
            tell("patterns", "composed", components=components)
        return model, found


def _composed(domain: Domain, found: Detection) -> tuple[ColumnModel, Series]:
    """Return the model of the lines found, with errors that count what a fit cannot know."""
    series, fit = _settled(found, separate(found))
    model = ColumnModel.of(domain, fit, series, Evidence.of(found))
    model = with_leftover_errors(with_unsteady_errors(model, series), series)
    return with_fringe_errors(model, found), series


def _settled(found: Detection, fit: Separated) -> tuple[Series, Separated]:
    """Pull outliers in around the whole waveforms, where the search did so around lines alone."""
    if not found.huber or len(fit.lines) <= len(found.known):
        return found.series, fit
    for _ in range(ROBUST_ROUNDS):
        series = found.series
        fitted = series.trend(found.fit.rung) @ fit.trend + fit.lines.evaluate(series.theta)
        values = pseudo_values(fitted, series.original - fitted, series.weights)
        found = replace(found, series=series.with_values(values))
        fit = separate(found)
    return found.series, fit


def fit_columns(
    domains: list[Domain],
    theta: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    settings: list[Settings],
) -> tuple[list[ColumnModel], list[Detection]]:
    """Fit one model per column by backfitting.

    Parameters
    ----------
    domains : list of Domain, one per column
    theta : ndarray of shape (n, d)
    y : ndarray of shape (n, q)
    weights : ndarray of shape (n,)
    settings : list of Settings, one per column
    """
    n_columns = theta.shape[1]
    models: dict[int, ColumnModel] = {}
    found: dict[int, Detection] = {}
    parts = np.zeros((n_columns, *y.shape))
    for _ in range(SWEEPS if n_columns > 1 else 1):
        for j in range(n_columns):
            rest = y - (parts.sum(axis=0) - parts[j])
            models[j], found[j] = fit_column(domains[j], theta[:, j], rest, weights, settings[j])
            if n_columns > 1:
                parts[j] = models[j].evaluate(theta[:, j])
    return [models[j] for j in range(n_columns)], [found[j] for j in range(n_columns)]


def remembered(models: list[ColumnModel], found: list[Detection]) -> list[ColumnModel]:
    """Return the models that `fit_columns` gave with the memory of what they leave over."""
    with one_blas_thread():
        return with_memory(models, [one.series for one in found])
