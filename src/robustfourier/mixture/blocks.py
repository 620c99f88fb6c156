"""Blocks: how phase and height of a line or a pattern scatter over the record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit

from robustfourier.arrays import FloatArray, IndexArray, IntVector, Matrix, Vector
from robustfourier.compiling import compiled
from robustfourier.mixture.judge import scatter_p_value
from robustfourier.mixture.series import Series
from robustfourier.periodic.variable_projection import Refined

BLOCKS = 30  # of equal weight; each of them holds a cycle or more
FEWEST = 4  # blocks that can tell a scatter from a slope
# A random walk of N steps and unit variance leaves N²/15 squares around its best line, and the line
# is off by √(6N/5) between the ends: 15/N is the ratio of squared steps to squares (von Neumann),
# which is 2 for blocks that are independent.
WALK_RATIO, WALK_SLOPE = 15.0, 1.2
UNSTEADY = 0.01  # how often a strict pattern may be called unsteady


def blocks_of(series: Series, mode: float) -> IndexArray | None:
    """Return the rows at which the blocks of a pattern of that mode begin, and the last one ends.

    None if it has too few cycles.
    """
    count = int(min(BLOCKS, mode))
    if count < FEWEST:
        return None
    starts = np.searchsorted(series.part, np.arange(count) / count)
    return np.append(starts, len(series.theta))


def wandering(series: Series, refined: Refined) -> FloatArray:
    """Return how far each line's mode may be off because its phase wanders, (K,); 0 if steady.

    Whether lines are harmonics of one pattern is judged by their errors; with those of noise alone
    a pattern that wanders would be taken apart.
    """
    noise = np.sqrt(np.maximum(refined.noise_variance, np.finfo(float).tiny))
    left, lines, errors = refined.residuals / noise, refined.lines, np.zeros(len(refined.lines))
    for i in range(len(lines)):
        block = blocks_of(series, float(lines.mode[i]))
        if block is not None:
            line = lines.select(np.array([i]))
            turned = replace(line, cosine=-line.sine, sine=line.cosine)
            change = turned.evaluate(series.theta) / noise
            errors[i] = scatter(change, left, series.weights, series.theta, block)[1] / np.pi
    return errors


def scatter(
    change: FloatArray, left: FloatArray, weights: FloatArray, theta: FloatArray, block: IndexArray
) -> tuple[float, float]:
    """Return the error of the mean over blocks beyond that of noise, and the error of a slope.

    Both are zero where noise alone explains how the blocks scatter. The fit itself has made mean
    and slope of the blocks vanish: two fewer degrees of freedom. The slope is off by more where the
    blocks wander than where they jitter.
    """
    information, moved, whole, place = np.zeros((4, len(block) - 1))
    _add_blocks(change, left, weights, theta, block, information, moved, whole, place)
    square = moved**2 / np.maximum(information, np.finfo(float).tiny)
    freedom = len(square) - 2
    if scatter_p_value(float(square.sum()), freedom) > UNSTEADY:
        return 0.0, 0.0
    ratio = float(square.sum()) / freedom
    place = place / np.maximum(whole, np.finfo(float).tiny)
    place = place - information @ place / information.sum()
    beyond = np.sqrt(max(ratio - 1.0, 0.0) / information.sum())
    independent = ratio / np.sum(information * place**2)
    at = moved / np.maximum(information, np.finfo(float).tiny)
    step = float(np.mean(np.diff(at) ** 2))
    neumann, walk = step / max(float(np.mean(at**2)), 1e-300), WALK_RATIO / len(at)
    wanders = float(np.clip((2.0 - neumann) / max(2.0 - walk, 0.5), 0.0, 1.0))
    walked = WALK_SLOPE * len(at) * max(step - 2.0 / float(np.mean(information)), 0.0) / 4.0
    return float(beyond), float(np.sqrt((1.0 - wanders) * independent + wanders * walked))


def walk_error(rate: float) -> float:
    """Return how far the mode of a pattern may be off that forgets its phase at this rate per θ.

    The phase walks by twice the rate: over the record, two in θ, nothing tells the frequency
    better than that. The rate is known from as many forgettings as the record holds, and so the
    distance has Student's law: the error is such that 1.645 of it hold nine tenths.

    >>> round(walk_error(60.0) / (60.0**0.5 / 3.14159), 3), round(walk_error(2.0) * 3.14159, 3)
    (1.008, 1.833)
    """
    forgettings = max(2.0 * rate, 2.0)  # with fewer the law has no width
    return float(np.sqrt(rate) / np.pi * stdtrit(forgettings, 0.95) / ndtri(0.95))


@compiled
def _add_blocks(
    change: Matrix, left: Matrix, weights: Vector, theta: Vector, block: IntVector,
    information: Vector, moved: Vector, whole: Vector, place: Vector,
) -> None:  # fmt: skip
    """Add up w change², w change·left, w and wθ of each block."""
    for b in range(len(block) - 1):
        start, end = block[b], block[b + 1]
        for o in range(change.shape[1]):  # sums of their own, which are added up several at once
            square = product = 0.0
            for i in range(start, end):
                weighted = weights[i] * change[i, o]
                square += weighted * change[i, o]
                product += weighted * left[i, o]
            information[b] += square
            moved[b] += product
        weight = moment = 0.0
        for i in range(start, end):
            weight += weights[i]
            moment += weights[i] * theta[i]
        whole[b], place[b] = weight, moment
