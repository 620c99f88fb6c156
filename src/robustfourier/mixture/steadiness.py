"""Steadiness: whether a pattern keeps its phase and its height, and what errors count it.

The errors of a fit are those of a strictly periodic pattern in noise. Here the record is cut into a
few blocks, and phase and height of each pattern are measured in each. Where they scatter more than
noise alone would let them, the pattern is not strict: the scatter of the blocks, not the noise,
then says how well the period and the waveform are known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.mixture.judge import scatter_p_value
from robustfourier.mixture.model import ColumnModel
from robustfourier.mixture.series import Series

__all__ = ["with_unsteady_errors"]

BLOCKS = 10  # of equal weight; each of them holds a cycle or more
FEWEST = 4  # blocks that can tell a scatter from a slope
UNSTEADY = 0.01  # how often a strict pattern may be called unsteady


def with_unsteady_errors(model: ColumnModel, series: Series) -> ColumnModel:
    """Return the same model; errors of patterns that are not strict count their unsteadiness."""
    theta, count, p = series.theta, len(model.lines), len(model.trend)
    values = series.values * series.scale + series.centre
    left = values - model.evaluate(theta)
    covariance, factor = model.base_covariance.copy(), model.factor.copy()
    for c in range(model.n_components):
        mode = float(model.rows[c] @ model.bases)
        n_blocks = int(min(BLOCKS, mode))
        own = np.flatnonzero((model.component == c) & (model.order > 0))
        side = model.lines.select((model.component == c) & (model.order == 0))
        if n_blocks < FEWEST or not len(own):
            continue
        around = (left + side.evaluate(theta)) / np.maximum(model.noise, np.finfo(float).tiny)
        turned, raised = _derivatives(model, own, theta)
        part = np.cumsum(series.weights) / series.total
        block = np.minimum((part * n_blocks).astype(np.intp), n_blocks - 1)
        scatter, slope = _scatter(turned, around, series.weights, theta, block)
        height, _ = _scatter(raised, around, series.weights, theta, block)
        formal = float(np.sqrt(max(model.rows[c] @ covariance @ model.rows[c], 0.0)))
        if scatter > 1.0 and 0.0 < formal < slope / np.pi:
            ratio = slope / np.pi / formal
            bases = np.flatnonzero(model.rows[c])
            covariance[bases] *= ratio
            covariance[:, bases] *= ratio
            factor[:, np.concatenate([p + 2 * count + own, p + 3 * count + own])] *= ratio
        factor[:, np.concatenate([p + own, p + count + own])] *= np.sqrt(max(scatter, height))
    return replace(model, base_covariance=covariance, factor=factor)


def _derivatives(
    model: ColumnModel, own: IndexArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Change of a pattern over its noise with its phase and with the log of its height, (n, q)."""
    lines = model.lines.select(own)
    order = model.order[own][:, None]
    noise = np.maximum(model.noise, np.finfo(float).tiny)
    turned = replace(lines, cosine=-order * lines.sine, sine=order * lines.cosine)
    return turned.evaluate(theta) / noise, lines.evaluate(theta) / noise


def _scatter(
    change: FloatArray, left: FloatArray, weights: FloatArray, theta: FloatArray, block: IndexArray
) -> tuple[float, float]:
    """Return the scatter of blocks over that of noise, 1 where noise explains it; error of a slope.

    The fit itself has made mean and slope of the blocks vanish: two fewer degrees of freedom.
    """
    weighted = weights[:, None] * change
    information = np.bincount(block, np.sum(weighted * change, axis=1))
    moved = np.bincount(block, np.sum(weighted * left, axis=1))
    square = moved**2 / np.maximum(information, np.finfo(float).tiny)
    freedom = len(square) - 2
    ratio = float(square.sum()) / freedom
    if scatter_p_value(float(square.sum()), freedom) > UNSTEADY:
        return 1.0, 0.0
    place = np.bincount(block, weights * theta) / np.bincount(block, weights)
    place = place - information @ place / information.sum()
    return max(ratio, 1.0), float(np.sqrt(ratio / np.sum(information * place**2)))
