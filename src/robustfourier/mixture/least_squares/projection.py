"""Variable projection: at given bases solve for the coefficients, and say where the bases step to.

With few lines compiled loops do it (`newton`); here are the same equations for any number, and the
choice between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.least_squares.moments import Moments
from robustfourier.mixture.least_squares.newton import (
    MOST_COLUMNS,
    project,
    solve_linear,
    solve_step,
)
from robustfourier.mixture.least_squares.semidefinite import REGULAR, Positive

MomentsAt = Callable[[FloatArray], Moments]
# Of any mode in one step: the sum of squares has a new local minimum about every mode.
LARGEST_STEP = 0.25
TINY = float(np.finfo(float).tiny)  # so that no sum of squares is zero


@dataclass(frozen=True)
class Solved:
    """Coefficients, moments and objective at one set of bases."""

    bases: FloatArray
    coefficients: FloatArray  # (p + 2K, q)
    moments: Moments
    linear_part: Positive  # Gram matrix of trend, cosines and sines
    n_linear: int  # p + 2K
    rss: FloatArray  # (q,)
    objective: float


def fit_at(
    moments_at: MomentsAt,
    ties: IntArray,
    bases: FloatArray,
    p: int,
    squares: FloatArray,
) -> Solved:
    """Solve the linear part at given bases.

    The objective is Σ_o log RSS_o: the likelihood when each output has its own unknown noise, so
    that rescaling one output changes nothing.
    """
    moments = moments_at(ties @ bases)
    linear = p + 2 * len(ties)
    gram, cross = moments.gram[:linear, :linear], moments.cross[:linear]
    linear_part, coefficients, rss = solved_for(gram, cross, squares)
    objective = float(np.sum(np.log(rss)))
    return Solved(bases, coefficients, moments, linear_part, linear, rss, objective)


def solved_for(
    gram: FloatArray, cross: FloatArray, squares: FloatArray
) -> tuple[Positive, FloatArray, FloatArray]:
    """Return the Gram matrix factored, coefficients, and what they leave of the squares, (q,)."""
    given = gram, cross, squares
    linear_part, coefficients, rss = _few_solved(*given) or _solved(*given)
    return linear_part, coefficients, np.maximum(rss, 1e-30 * squares + TINY)


def _solved(
    gram: FloatArray, cross: FloatArray, squares: FloatArray
) -> tuple[Positive, FloatArray, FloatArray]:
    """Factor the Gram matrix; coefficients and residual sum of squares."""
    linear_part = Positive.of(gram)
    coefficients = linear_part.solve(cross)
    explained = np.sum(coefficients * (2.0 * cross - gram @ coefficients), 0)
    return linear_part, coefficients, squares - explained


def _few_solved(
    gram: FloatArray, cross: FloatArray, squares: FloatArray
) -> tuple[Positive, FloatArray, FloatArray] | None:
    """Return the same by compiled loops; None for many columns, or if they are not independent."""
    if len(gram) > MOST_COLUMNS:
        return None
    factor, scale, rss = np.empty(gram.shape), np.empty(len(gram)), squares.copy()
    coefficients = np.empty(cross.shape)
    if solve_linear(gram, cross, factor, scale, coefficients, rss) <= REGULAR:
        return None
    return Positive(scale, factor, None), coefficients, rss


def damped_step(
    fit: Solved, ties: IntArray, free: BoolArray, damping: float
) -> tuple[FloatArray, float]:
    """Return one Levenberg step of the bases and the relative decrease it promises."""
    step, found = np.zeros(len(free)), None
    # Far from the answer the second derivatives may point uphill; there they are left out.
    for curved in (True, False):
        given = fit, ties, curved
        normal, diagonal, gradient = _few_projected(*given) or projected_normal(*given)
        if not free.all():
            normal, diagonal, gradient = normal[np.ix_(free, free)], diagonal[free], gradient[free]
        normal += np.diag(damping * diagonal)
        if (found := _solved_downhill(normal, gradient)) is not None:
            break
    step[free] = Positive.of(normal).solve(gradient) if found is None else found
    expected = float(gradient @ step[free])
    largest = np.max(np.abs(ties @ step), initial=0.0)
    return step * min(1.0, LARGEST_STEP / max(largest, TINY)), expected


def _solved_downhill(normal: FloatArray, gradient: FloatArray) -> FloatArray | None:
    """Solve for a step; None if the matrix is not safely positive."""
    if len(normal) <= MOST_COLUMNS:
        step = gradient[:, None].copy()
        return step[:, 0] if solve_step(normal, step) else None
    regular = Positive.regular(normal)
    return None if regular is None else regular.solve(gradient)


def _few_projected(
    fit: Solved, ties: IntArray, curved: bool
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return `projected_normal` by compiled loops; None where those are not for this fit."""
    moments, part, n_bases = fit.moments, fit.linear_part, ties.shape[1]
    if fit.n_linear > MOST_COLUMNS or part.factor is None:
        return None
    normal, diagonal, gradient = np.zeros((n_bases, n_bases)), np.zeros(n_bases), np.zeros(n_bases)
    left = moments.cross - moments.gram[:, : fit.n_linear] @ fit.coefficients
    given = moments.gram, moments.bend, left, fit.coefficients, part.factor, part.scale, fit.rss
    project(*given, ties.astype(np.float64), curved, normal, diagonal, gradient)
    return normal, diagonal, gradient


def projected_normal(
    fit: Solved, ties: IntArray, curved: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a matrix for steps of the bases, the linear part projected out, and their gradient.

    It is the Hessian if `curved`, and else the normal matrix of Gauss and Newton, which leaves out
    residual times second derivatives. For a weak line, or one that is not steady, these are as
    large as the rest: without them steps are twice too long, or far too short. Between the two
    stands the diagonal without them and before anything is projected out, (F,), by which steps are
    damped. Outputs are weighted by 1/RSS_o, the gradient of the logarithm in the objective.
    """
    gram, linear, n_lines = fit.moments.gram, fit.n_linear, len(ties)
    left = fit.moments.cross - gram[:, :linear] @ fit.coefficients  # EᵀW residual, (p + 4K, q)
    # Lines that are free have the identity for ties; no need to multiply by it.
    untied = ties.shape[0] == ties.shape[1] and np.array_equal(ties, np.eye(n_lines))
    n_bases = ties.shape[1]
    normal, diagonal, gradient = np.zeros((n_bases, n_bases)), np.zeros(n_bases), np.zeros(n_bases)
    on_cosine, on_sine = slice(linear, linear + n_lines), slice(linear + n_lines, None)
    line, p = np.arange(n_lines), linear - 2 * n_lines
    for o in range(len(fit.rss)):
        # Derivative of each line with respect to its mode: π (b θC − a θS).
        a, b = np.pi * fit.coefficients[p : p + n_lines, o], np.pi * fit.coefficients[-n_lines:, o]
        moved = gram[on_cosine] * b[:, None] - gram[on_sine] * a[:, None]
        square = moved[:, on_cosine] * b - moved[:, on_sine] * a
        against = moved[:, :linear].T  # of the derivatives with the linear part, (p + 2K, K)
        slope = b * left[on_cosine, o] - a * left[on_sine, o]
        own = square if untied else ties.T @ square @ ties
        diagonal += np.diag(own) / fit.rss[o]
        if curved:
            against[p + line, line] += np.pi * left[on_sine, o]
            against[p + n_lines + line, line] -= np.pi * left[on_cosine, o]
            bent = _bent(fit, o)
            curve = np.pi * (a * bent[:n_lines] + b * bent[n_lines:])
            own = own + (np.diag(curve) if untied else (ties.T * curve) @ ties)
        half = fit.linear_part.half(against if untied else against @ ties)
        normal += (own - half.T @ half) / fit.rss[o]
        gradient += (slope if untied else ties.T @ slope) / fit.rss[o]
    return normal, diagonal, gradient


def _bent(fit: Solved, output: int) -> FloatArray:
    """Return [θ²C, θ²S]ᵀ W residual of one output, shape (2K,)."""
    bend, linear = fit.moments.bend, fit.n_linear
    n_lines, n_outputs = len(bend) // 2, len(fit.rss)
    p, coefficients = linear - 2 * n_lines, fit.coefficients[:, output]
    data = bend[:, bend.shape[1] - n_outputs + output] - bend[:, :p] @ coefficients[:p]
    # θ²C times C is θC times θC.
    return np.asarray(data - fit.moments.gram[linear:, linear:] @ coefficients[p:])
