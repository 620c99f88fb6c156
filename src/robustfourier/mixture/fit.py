"""One input column from samples to model: detect lines, separate components, rescale.

With several columns the model is additive, f(x₁) + g(x₂) + …, fitted by backfitting: each column in
turn is fitted to what the others leave over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.mixture.components.compose import Separated, separate
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.rows import canonical_rows
from robustfourier.mixture.search.detect import Detection, detect
from robustfourier.mixture.search.noise import NoiseFloor
from robustfourier.mixture.search.robust import pseudo_values
from robustfourier.mixture.trend import trend_columns

__all__ = ["Settings", "additive", "decompose"]


SWEEPS = 2  # over the columns; the first finds the lines, the second settles what columns share
ROBUST_ROUNDS = 3  # of pulling outliers in around the smoothed fit


@dataclass(frozen=True)
class Settings:
    """What the user may set, in modes.

    Parameters
    ----------
    level : float
    frequencies : {"real", "integer"}
    loss : {"auto", "squared", "huber"}
    modes : ndarray of shape (F,)
        Known modes.
    max_mode : float or None
    seed : int
    """

    level: float
    frequencies: str
    loss: str
    modes: FloatArray
    max_mode: float | None
    seed: int


def decompose(
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
    found = detect(
        theta,
        y,
        weights,
        level=settings.level,
        max_mode=settings.max_mode,
        frequencies=settings.frequencies,
        modes=settings.modes,
        loss=settings.loss,
        random_state=settings.seed,
    )
    centre = found.trend.coefficients[0]
    values = (found.values - centre) / found.scale
    fit = _separate(found, values, settings)
    if found.huber and len(fit.lines) > len(found.lines):
        # Outliers were pulled in around the lines alone; now around the whole waveforms.
        _, original, _ = canonical_rows(theta, y, weights)
        original = (original - centre) / found.scale
        for _ in range(ROBUST_ROUNDS):
            fitted = trend_columns(found.theta, len(fit.trend)) @ fit.trend
            fitted = fitted + fit.lines.evaluate(found.theta)
            values = pseudo_values(fitted, original - fitted, found.weights)
            fit = _separate(found, values, settings)
    return ColumnModel.of(domain, fit, found.scale, centre), found


def _separate(found: Detection, values: FloatArray, settings: Settings) -> Separated:
    """Hand the detected lines to `separate`, in units of the detection's scale."""
    noise = (found.noise / found.scale) ** 2
    floor = found.floor or NoiseFloor(np.ones(1), np.maximum(noise, 1e-300)[None], np.ones(1))
    return separate(
        found.theta,
        values,
        found.weights,
        found.lines.mode,
        found.mode_error,
        found.strength,
        found.false_alarm,
        trend=trend_columns(found.theta, len(found.trend.coefficients)),
        floor=floor,
        noise=noise,
        highest=float(max(found.limit.max_mode, found.limit.nyquist or 0.0)),
        level=settings.level,
        fixed=found.known,
        integer=settings.frequencies == "integer",
        folding=found.limit.nyquist if settings.max_mode is None else None,
    )


def additive(
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
    if n_columns == 1:
        model, detection = decompose(domains[0], theta[:, 0], y, weights, settings[0])
        return [model], [detection]
    parts = np.zeros((n_columns, *y.shape))
    for _ in range(SWEEPS):
        for j in range(n_columns):
            rest = y - (parts.sum(axis=0) - parts[j])
            models[j], found[j] = decompose(domains[j], theta[:, j], rest, weights, settings[j])
            parts[j] = models[j].evaluate(theta[:, j])
    return [models[j] for j in range(n_columns)], [found[j] for j in range(n_columns)]
