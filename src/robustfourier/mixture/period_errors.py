"""Errors of periods where those of a fit in white noise are too small.

*Leftover.* A square wave has harmonics without end; a fit has a few dozen. What is left over is no
white noise: it is large at the samples next to the jumps, the very ones that tell the period. The
errors are then those of leaving out one sample after the other (Quenouille's jackknife, in its
linear form: the residual of a sample is divided by the share that the fit has not absorbed).

*Fringes.* Seen through long gaps a line may fit as well at other places; its error counts them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.search.detection import Detection
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.basis import line_columns
from robustfourier.periodic.semidefinite import Positive

_CLEAR = 2.0  # standard deviations of the jackknife's error by which it must exceed the fit's
_LEAST = 0.02  # share left by the fit below which a residual says nothing any more
_SAME_LINE = 0.5  # modes that a line may have moved while it was tied to others
_CELLS = 1e7  # rows times columns that are worth it, a fifth of a second; beyond, blocks tell


def with_leftover_errors(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; errors of periods count what the waveforms leave over."""
    several = np.bincount(model.component, model.order > 0, minlength=model.n_components) > 1
    free = np.diag(model.base_covariance) > 0.0
    free &= np.any(model.rows[several] != 0, axis=0)
    columns = len(model.trend) + 2 * len(model.lines)
    if not free.any() or model.lines.n_outputs > 1 or columns * len(series.theta) > _CELLS:
        return model
    formal = np.sqrt(np.diag(model.base_covariance)[free])
    errors, worth = _jackknife(model, series, free)
    clear = errors > formal * (1.0 + _CLEAR / np.sqrt(2.0 * worth))
    if not clear.any():
        return model
    ratio = np.ones(len(free))
    ratio[free] = np.where(clear, errors / formal, 1.0)
    return _grown(model, ratio)


def with_fringe_errors(model: ColumnModel, found: Detection) -> ColumnModel:
    """Return the same model; errors of periods count all places that fit as well.

    A pattern with a harmonic that has no fringes is known by that one.
    """
    ratio = np.ones(len(model.bases))
    for c in range(model.n_components if found.fringes else 0):
        own = np.flatnonzero((model.component == c) & np.isfinite(model.false_alarm))
        errors = [
            max((f.error for f in found.fringes if abs(f.mode - mode) < _SAME_LINE), default=0.0)
            for mode in model.lines.mode[own]
        ]
        error = min(np.array(errors) / np.maximum(model.order[own], 1), default=0.0)
        formal = model.mode_error(c)
        if 0.0 < formal < error:
            bases = model.rows[c] != 0
            ratio[bases] = np.maximum(ratio[bases], error / formal)
    return _grown(model, ratio)


def unknown_period(model: ColumnModel) -> FloatArray:
    """Return the modes of all lines of patterns that are unknown: known to no better than half."""
    unknown = [c for c in range(model.n_components) if 2.0 * model.mode_error(c) > model.mode_of(c)]
    return model.lines.mode[np.isin(model.component, unknown)]


def _grown(model: ColumnModel, ratio: FloatArray) -> ColumnModel:
    """Return the same model with the errors of its bases grown, and its bands with them."""
    if np.all(ratio == 1.0):
        return model
    first, count, factor = len(model.trend) + 2 * len(model.lines), len(model.lines), model.factor
    of_line = np.max(np.where(model.rows[model.component] != 0, ratio, 1.0), axis=1)
    factor = factor.copy()
    factor[:, first : first + 2 * count] *= np.tile(of_line, 2)[None, :, None]
    covariance = model.base_covariance * np.outer(ratio, ratio)
    return replace(model, base_covariance=covariance, factor=factor)


def _jackknife(
    model: ColumnModel, series: Series, free: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Errors of the free bases, and how many samples each rests on, shapes (F,)."""
    theta, lines, root = series.theta, model.lines, np.sqrt(series.weights)
    assert model.harmonics is not None
    waves = line_columns(theta, lines.mode)
    cosine, sine = waves[: len(lines)], waves[len(lines) :]
    # A base turns its lines: the sum over them of n b cos − n a sin.
    ties = model.harmonics[:, free]
    turned = (ties * lines.sine).T @ cosine - (ties * lines.cosine).T @ sine
    design = np.vstack([model.trend_columns(theta).T, waves, np.pi * theta * turned])
    design *= root
    system = Positive.of(design @ design.T)
    absorbed = np.einsum("pn,pn->n", half := system.half(design), half)
    values = series.values[:, 0] * series.scale[0] + series.centre[0]
    left = root * (values - model.evaluate(theta)[:, 0]) / np.maximum(1.0 - absorbed, _LEAST)
    ends = np.eye(len(design))[:, len(design) - int(free.sum()) :]
    squares = (system.solve(ends).T @ design * left) ** 2
    whole = squares.sum(axis=1)
    worth = whole**2 / np.maximum(np.sum(squares**2, axis=1), 1e-300)
    return np.sqrt(whole), np.maximum(worth, 1.0)
