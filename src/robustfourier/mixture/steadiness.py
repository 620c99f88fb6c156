"""Steadiness: whether a pattern keeps its phase and its height; larger errors where it does not.

The errors of a fit are those of a strictly periodic pattern in noise. Here the record is cut into a
few blocks, and phase and height of each pattern are measured in each. Where they scatter more than
noise alone would let them, the pattern is not strict: the scatter of the blocks, not the noise,
then says how well the period and the waveform are known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.mixture.blocks import blocks_of, scatter
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.remainder import ROUNDING
from robustfourier.mixture.timeseries import Series
from robustfourier.periodic.basis import Lines


def with_unsteady_errors(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; errors of patterns that are not strict count their unsteadiness."""
    theta, count, p = series.theta, len(model.lines), len(model.trend)
    values = series.values * series.scale + series.centre
    left = values - model.evaluate(theta)
    covariance, factor = model.base_covariance.copy(), model.factor.copy()
    for c in range(model.n_components):
        own = np.flatnonzero((model.component == c) & (model.order > 0))
        phase, slope, height = unsteadiness(model, series, c, left)
        if not len(own):
            continue
        formal = float(np.sqrt(max(model.rows[c] @ covariance @ model.rows[c], 0.0)))
        if 0.0 < formal < slope / np.pi:
            ratio = slope / np.pi / formal
            bases = np.flatnonzero(model.rows[c])
            covariance[bases] *= ratio
            covariance[:, bases] *= ratio
            factor[:, np.concatenate([p + 2 * count + own, p + 3 * count + own])] *= ratio
        factor = np.concatenate([factor, _common(model, own, phase, height)], axis=2)
    return replace(model, base_covariance=covariance, factor=factor)


def unsteadiness(
    model: ColumnModel, series: Series, c: int, left: FloatArray
) -> tuple[float, float, float]:
    """Return what the scatter of blocks adds to the errors of phase, its slope, and height.

    All are zero for a pattern that is strict as far as its blocks tell.

    Parameters
    ----------
    model : ColumnModel
    series : Series
    c : int
        The component.
    left : ndarray of shape (n, q)
        Residual in units of y; its side lines count as unsteadiness.
    """
    block = blocks_of(series, float(model.rows[c] @ model.bases))
    own = np.flatnonzero((model.component == c) & (model.order > 0))
    exact = np.any(model.noise <= ROUNDING * series.scale)  # blocks then scatter by rounding
    if block is None or not len(own) or exact:
        return 0.0, 0.0, 0.0
    side = model.lines.select((model.component == c) & (model.order == 0))
    around = (left + side.evaluate(series.theta)) / model.noise
    turned, raised = _derivatives(model, own, series.theta)
    phase, slope = scatter(turned, around, series.weights, series.theta, block)
    return phase, slope, scatter(raised, around, series.weights, series.theta, block)[0]


def _common(model: ColumnModel, own: IndexArray, phase: float, height: float) -> FloatArray:
    """Changes of all coefficients of a pattern with its phase and its height, (q, p + 4K, 2)."""
    p, count, order = len(model.trend), len(model.lines), model.order[own]
    cosine, sine = model.lines.cosine[own].T, model.lines.sine[own].T
    common = np.zeros((*model.factor.shape[:2], 2))
    common[:, p + own, 0], common[:, p + count + own, 0] = (
        -phase * order * sine,
        phase * order * cosine,
    )
    common[:, p + own, 1], common[:, p + count + own, 1] = height * cosine, height * sine
    return common


def _derivatives(
    model: ColumnModel, own: IndexArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Change of a pattern over its noise with its phase and with the log of its height, (n, q)."""
    lines, order = model.lines.select(own), model.order[own][:, None]
    cosine = np.hstack([-order * lines.sine, lines.cosine])
    sine = np.hstack([order * lines.cosine, lines.sine])
    turned, raised = np.hsplit(Lines(lines.mode, cosine, sine).evaluate(theta), 2)
    return turned / model.noise, raised / model.noise
