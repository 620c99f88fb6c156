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

BLOCKS = 30  # of equal weight; each of them holds a cycle or more
FEWEST = 4  # blocks that can tell a scatter from a slope
# A random walk of N steps and unit variance leaves N²/15 squares around its best line, and the line
# is off by √(6N/5) between the ends: 15/N is the ratio of squared steps to squares (von Neumann),
# which is 2 for blocks that are independent.
WALK_RATIO, WALK_SLOPE = 15.0, 1.2
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
        phase, slope = _scatter(turned, around, series.weights, theta, block)
        height, _ = _scatter(raised, around, series.weights, theta, block)
        formal = float(np.sqrt(max(model.rows[c] @ covariance @ model.rows[c], 0.0)))
        if 0.0 < formal < slope / np.pi:
            ratio = slope / np.pi / formal
            bases = np.flatnonzero(model.rows[c])
            covariance[bases] *= ratio
            covariance[:, bases] *= ratio
            factor[:, np.concatenate([p + 2 * count + own, p + 3 * count + own])] *= ratio
        factor = np.concatenate([factor, _common(model, own, phase, height)], axis=2)
    return replace(model, base_covariance=covariance, factor=factor)


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
    lines = model.lines.select(own)
    order = model.order[own][:, None]
    noise = np.maximum(model.noise, np.finfo(float).tiny)
    turned = replace(lines, cosine=-order * lines.sine, sine=order * lines.cosine)
    return turned.evaluate(theta) / noise, lines.evaluate(theta) / noise


def _scatter(
    change: FloatArray, left: FloatArray, weights: FloatArray, theta: FloatArray, block: IndexArray
) -> tuple[float, float]:
    """Return the error of the mean over blocks beyond that of noise, and the error of a slope.

    Both are zero where noise alone explains how the blocks scatter. The fit itself has made mean
    and slope of the blocks vanish: two fewer degrees of freedom. The slope is off by more where the
    blocks wander than where they jitter.
    """
    weighted = weights[:, None] * change
    information = np.bincount(block, np.sum(weighted * change, axis=1))
    moved = np.bincount(block, np.sum(weighted * left, axis=1))
    square = moved**2 / np.maximum(information, np.finfo(float).tiny)
    freedom = len(square) - 2
    if scatter_p_value(float(square.sum()), freedom) > UNSTEADY:
        return 0.0, 0.0
    ratio = float(square.sum()) / freedom
    place = np.bincount(block, weights * theta) / np.bincount(block, weights)
    place = place - information @ place / information.sum()
    beyond = np.sqrt(max(ratio - 1.0, 0.0) / information.sum())
    independent = ratio / np.sum(information * place**2)
    at = moved / np.maximum(information, np.finfo(float).tiny)
    step = float(np.mean(np.diff(at) ** 2))
    neumann, walk = step / max(float(np.mean(at**2)), 1e-300), WALK_RATIO / len(at)
    wanders = float(np.clip((2.0 - neumann) / max(2.0 - walk, 0.5), 0.0, 1.0))
    walked = WALK_SLOPE * len(at) * max(step - 2.0 / float(np.mean(information)), 0.0) / 4.0
    return float(beyond), float(np.sqrt((1.0 - wanders) * independent + wanders * walked))
