"""Joint refinement: nonlinear least squares on all modes, coefficients and the trend together.

Variable projection: for given modes the coefficients are linear, so only the bases are searched, by
Newton steps (Gauss-Newton where those would go uphill) with Levenberg damping. Frequencies may be
tied: ``modes = harmonics @ bases`` with an integer matrix (identity for free lines, a row [n] for
the n-th harmonic of a family, [1, 1] for a combination tone). A step moves no mode by more than a
fraction of the resolution of the record (one mode), because the sum of squares has a new local
minimum about every mode: start the search within about half a mode of the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.mixture.least_squares.covariance import covariances
from robustfourier.mixture.least_squares.lines import Lines
from robustfourier.mixture.least_squares.moments import Moments, direct_moments
from robustfourier.mixture.least_squares.newton import (
    MOST_COLUMNS,
    REGULAR,
    project,
    solve_linear,
    solve_step,
)
from robustfourier.mixture.least_squares.semidefinite import Positive

__all__ = ["Refined", "level_column", "refine"]

MomentsAt = Callable[[FloatArray], Moments]
# Sums of squares below this part of those of the data are added up from residuals: as differences
# of sums they would be known to 1e-5 only.
_ROUNDING = 1e-8


@dataclass(frozen=True)
class Refined:
    """Lines at a minimum of the weighted sum of squares, with their covariance.

    Parameters
    ----------
    bases : ndarray of shape (F,)
        The free modes.
    harmonics : ndarray of shape (K, F)
        Integer ties; ``lines.mode == harmonics @ bases``.
    lines : Lines
        The K lines.
    trend : ndarray of shape (p, q)
        Coefficients of the trend columns.
    rss : ndarray of shape (q,)
        Weighted residual sum of squares.
    noise_variance : ndarray of shape (q,)
        That over (sum of weights − parameters).
    gram : ndarray of shape (p + 2K, p + 2K)
        Weighted Gram matrix of (trend, cosine, sine) at the refined modes.
    iterations : int
        Newton steps tried.
    converged : bool
        Whether the steps became negligible.
    exact : bool
        Whether residuals are at the level of rounding, so that sums tell nothing of them.
    left_over : callable
        ``() -> residuals``: data minus trend minus lines, shape (n, q).
    covariances : callable
        ``() -> (base, coefficient, cross)``; most refinements on the way need neither.
    """

    bases: FloatArray
    harmonics: IntArray
    lines: Lines
    trend: FloatArray
    rss: FloatArray
    noise_variance: FloatArray
    gram: FloatArray
    iterations: int
    converged: bool
    exact: bool
    left_over: Callable[[], FloatArray]
    covariances: Callable[[], tuple[FloatArray, FloatArray, FloatArray]]

    @cached_property
    def residuals(self) -> FloatArray:
        """Data minus trend minus lines, shape (n, q)."""
        return self.left_over()

    @cached_property
    def _known_covariances(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.covariances()

    @property
    def base_covariance(self) -> FloatArray:
        """Covariance of the bases, zero for fixed ones, shape (F, F)."""
        return self._known_covariances[0]

    @property
    def coefficient_covariance(self) -> FloatArray:
        """Covariance of (trend, cosine, sine) for each output, shape (q, p + 2K, p + 2K).

        The uncertainty of the bases is included.
        """
        return self._known_covariances[1]

    @property
    def cross_covariance(self) -> FloatArray:
        """Covariance of the bases with those coefficients, shape (q, F, p + 2K)."""
        return self._known_covariances[2]

    def covariance(self, output: int = 0) -> FloatArray:
        """Covariance of (bases, trend, cosine, sine) of one output, shape (F + p + 2K,) twice."""
        cross = self.cross_covariance[output]
        return np.block(
            [[self.base_covariance, cross], [cross.T, self.coefficient_covariance[output]]]
        )

    @property
    def mode_error(self) -> FloatArray:
        """Standard error of each line's mode, shape (K,)."""
        variance = np.einsum("kf,fg,kg->k", self.harmonics, self.base_covariance, self.harmonics)
        return np.sqrt(np.maximum(variance, 0.0))

    @property
    def amplitude_error(self) -> FloatArray:
        """Standard error of each amplitude (first order), shape (K, q)."""
        return self._polar_error(self.lines.cosine, self.lines.sine)

    @property
    def phase_error(self) -> FloatArray:
        """Standard error of each phase in radians (first order), shape (K, q)."""
        amplitude = np.maximum(self.lines.amplitude, np.finfo(float).tiny)
        return self._polar_error(-self.lines.sine, self.lines.cosine) / amplitude

    def _polar_error(self, cosine: FloatArray, sine: FloatArray) -> FloatArray:
        """Return the standard error of the coefficients along (cosine, sine)."""
        p, n_lines = len(self.trend), len(self.lines)
        amplitude = np.maximum(self.lines.amplitude, np.finfo(float).tiny)
        u, v = cosine / amplitude, sine / amplitude
        c = np.arange(p, p + n_lines)
        s = c + n_lines
        covariance = self.coefficient_covariance
        variance = (
            u**2 * covariance[:, c, c].T
            + v**2 * covariance[:, s, s].T
            + 2.0 * u * v * covariance[:, c, s].T
        )
        return np.sqrt(np.maximum(variance, 0.0))


def level_column(theta: FloatArray) -> FloatArray:
    """Return the trend columns of a mere level: ones, shape (n, 1)."""
    return np.ones((len(theta), 1))


def refine(
    theta: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    bases: FloatArray,
    harmonics: IntArray | None = None,
    *,
    trend: FloatArray | None = None,
    fixed: BoolArray | None = None,
    colour: FloatArray | None = None,
    moments_at: MomentsAt | None = None,
    max_step: float = 0.25,
    max_iterations: int = 50,
    tolerance: float = 1e-13,
) -> Refined:
    """Refine bases, coefficients and trend together from a nearby start.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Sample positions in [-1, 1].
    y : ndarray of shape (n, q)
        Values, of a magnitude whose square does not overflow.
    weights : ndarray of shape (n,)
        Positive weights; weight 2 is the row twice.
    bases : ndarray of shape (F,)
        Starting modes, each within about half a mode of its answer.
    harmonics : ndarray of shape (K, F), optional
        Integer ties, ``modes = harmonics @ bases``. Default: the identity, every line free.
    trend : ndarray of shape (n, p), optional
        Columns fitted beside the lines. Default: a level.
    fixed : ndarray of bool of shape (F,), optional
        Bases that are known and stay where they are.
    colour : ndarray of shape (K,), optional
        Noise power at each line over the mean noise variance; 1 for white noise (default). The
        covariance is then the sandwich for noise that is coloured but locally flat.
    moments_at : callable, optional
        ``modes -> Moments`` for the same data and trend; default adds them up directly.
    max_step : float
        Largest move of any mode in one step.
    max_iterations : int
        Largest number of steps.
    tolerance : float
        Stop when a step promises to lower the sum of squares by no more than this part of it.

    Examples
    --------
    >>> import numpy as np
    >>> theta = np.linspace(-1, 1, 400)
    >>> y = 2.0 + np.cos(np.pi * 7.3 * theta - 0.4)[:, None]
    >>> found = refine(theta, y, np.ones(400), np.array([7.1]))
    >>> found.bases.round(6), found.lines.amplitude.round(6), found.trend.round(6)
    (array([7.3]), array([[1.]]), array([[2.]]))
    """
    bases = np.array(bases, dtype=np.float64)
    ties = np.eye(len(bases), dtype=np.int64) if harmonics is None else np.asarray(harmonics)
    columns = level_column(theta) if trend is None else trend
    free = np.ones(len(bases), bool) if fixed is None else ~np.asarray(fixed, bool)
    squares = weights @ y**2
    fit, iterations, converged = _search(
        moments_at or partial(direct_moments, theta, y, weights, columns),
        bases,
        ties=ties,
        free=free,
        squares=squares,
        p=columns.shape[1],
        tolerance=tolerance,
        max_iterations=max_iterations,
        max_step=max_step,
    )
    how = iterations, converged
    return _summary(theta, y, weights, columns, ties, free, fit, squares, colour, *how)


def _search(
    moments_at: MomentsAt,
    bases: FloatArray,
    *,
    ties: IntArray,
    free: BoolArray,
    squares: FloatArray,
    p: int,
    tolerance: float,
    max_iterations: int,
    max_step: float,
) -> tuple[Solved, int, bool]:
    """Step to the minimum; the fit there, steps tried, and whether they became negligible."""
    fit = _fit_at(moments_at, ties, bases, p, squares)
    damping, iterations, converged = 1e-4, 0, not free.any()
    while not converged and iterations < max_iterations:
        iterations += 1
        step, expected = _damped_step(fit, ties, free, damping, max_step)
        trial = _fit_at(moments_at, ties, fit.bases + step, p, squares)
        # Below the rounding of the sums a decrease can no longer be seen: take the step, and stop.
        negligible = expected <= tolerance * len(squares)
        if negligible or trial.objective < fit.objective:
            fit, damping = trial, damping / 10.0
            converged = negligible or bool(np.all(np.abs(step) < 1e-12))
        elif damping > 1e8:
            converged = True
        else:
            damping *= 10.0
    # Differences of sums of squares drown in rounding before gradients do: the last step is taken
    # on trust, undamped, if it is small enough to be a correction.
    if free.any():
        step, _ = _damped_step(fit, ties, free, 0.0, max_step)
        if np.max(np.abs(ties @ step), initial=0.0) < 1e-4:
            fit = _fit_at(moments_at, ties, fit.bases + step, p, squares)
    return fit, iterations, converged


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


def _fit_at(
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
    linear_part, coefficients, rss = _few_solved(gram, cross, squares) or _solved(
        gram, cross, squares
    )
    rss = np.maximum(rss, 1e-30 * squares + np.finfo(float).tiny)
    objective = float(np.sum(np.log(rss)))
    return Solved(bases, coefficients, moments, linear_part, linear, rss, objective)


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


def _damped_step(
    fit: Solved, ties: IntArray, free: BoolArray, damping: float, max_step: float
) -> tuple[FloatArray, float]:
    """Return one Levenberg step of the bases and the relative decrease it promises."""
    gauss, newton, gradient = _few_projected(fit, ties) or _projected_normal(fit, ties)
    if not free.all():
        gauss, gradient = gauss[np.ix_(free, free)], gradient[free]
        newton = None if newton is None else newton[np.ix_(free, free)]
    step = np.zeros(len(free))
    step[free] = _solved_step(gauss, newton, gradient, damping)
    expected = float(gradient @ step[free])
    largest = np.max(np.abs(ties @ step), initial=0.0)
    return step * min(1.0, max_step / max(largest, np.finfo(float).tiny)), expected


def _solved_step(
    gauss: FloatArray, newton: FloatArray | None, gradient: FloatArray, damping: float
) -> FloatArray:
    """Solve for the damped step of the free bases."""
    if newton is not None and len(gauss) <= MOST_COLUMNS:
        step = np.empty((len(gauss), 1))
        if solve_step(gauss, newton, gradient, damping, step):
            return step[:, 0]
    ridge = damping * np.diag(np.diag(gauss))
    normal = Positive.of(gauss + ridge)
    if newton is not None:
        # Far from the answer the second derivatives may point uphill; there they are left out.
        curved = Positive.of(newton + ridge)
        normal = curved if curved.factor is not None else normal
    return normal.solve(gradient)


def _few_projected(fit: Solved, ties: IntArray) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return `_projected_normal` by compiled loops; None where those are not for this fit."""
    moments, part, n_bases = fit.moments, fit.linear_part, ties.shape[1]
    if fit.n_linear > MOST_COLUMNS or part.factor is None or moments.bend is None:
        return None
    gauss, newton = np.zeros((n_bases, n_bases)), np.zeros((n_bases, n_bases))
    gradient = np.zeros(n_bases)
    left = moments.cross - moments.gram[:, : fit.n_linear] @ fit.coefficients
    given = moments.gram, moments.bend, left, fit.coefficients, part.factor, part.scale, fit.rss
    project(*given, ties.astype(np.float64), gauss, newton, gradient)
    return gauss, newton + gauss, gradient


def _projected_normal(
    fit: Solved, ties: IntArray
) -> tuple[FloatArray, FloatArray | None, FloatArray]:
    """Return normal matrix, Hessian and gradient of the bases, the linear part projected out.

    The normal matrix of Gauss and Newton leaves out residual times second derivatives. For a weak
    line, or one that is not steady, these are as large as the rest: without them steps are twice
    too long, or far too short. Outputs are weighted by 1/RSS_o, the gradient of the logarithm in
    the objective.
    """
    gram, linear, n_lines = fit.moments.gram, fit.n_linear, len(ties)
    left = fit.moments.cross - gram[:, :linear] @ fit.coefficients  # EᵀW residual, (p + 4K, q)
    # Lines that are free have the identity for ties; no need to multiply by it.
    untied = ties.shape[0] == ties.shape[1] and np.array_equal(ties, np.eye(n_lines))
    gauss, newton = np.zeros((2, ties.shape[1], ties.shape[1]))
    gradient = np.zeros(ties.shape[1])
    on_cosine, on_sine = slice(linear, linear + n_lines), slice(linear + n_lines, None)
    line, p = np.arange(n_lines), linear - 2 * n_lines
    for o in range(len(fit.rss)):
        # Derivative of each line with respect to its mode: π (b θC − a θS).
        a, b = np.pi * fit.coefficients[p : p + n_lines, o], np.pi * fit.coefficients[-n_lines:, o]
        moved = gram[:, on_cosine] * b - gram[:, on_sine] * a  # EᵀW of the derivatives, (·, K)
        square = b[:, None] * moved[on_cosine] - a[:, None] * moved[on_sine]
        slope = b * left[on_cosine, o] - a * left[on_sine, o]
        moved = moved[:linear]
        parts = [(gauss, moved, square)]
        if (bent := _bent(fit, o)) is not None:
            curved, bow = moved.copy(), square.copy()
            curved[p + line, line] += np.pi * left[on_sine, o]
            curved[p + n_lines + line, line] -= np.pi * left[on_cosine, o]
            bow[line, line] += np.pi * (a * bent[:n_lines] + b * bent[n_lines:])
            parts.append((newton, curved, bow))
        for total, against, own in parts:
            if not untied:
                against, own = against @ ties, ties.T @ own @ ties
            total += (own - against.T @ fit.linear_part.solve(against)) / fit.rss[o]
        gradient += (slope if untied else ties.T @ slope) / fit.rss[o]
    return gauss, newton if fit.moments.bend is not None else None, gradient


def _bent(fit: Solved, output: int) -> FloatArray | None:
    """Return [θ²C, θ²S]ᵀ W residual of one output, shape (2K,), if the moments tell it."""
    bend, linear = fit.moments.bend, fit.n_linear
    if bend is None:
        return None
    n_lines, n_outputs = len(bend) // 2, len(fit.rss)
    p, coefficients = linear - 2 * n_lines, fit.coefficients[:, output]
    data = bend[:, bend.shape[1] - n_outputs + output] - bend[:, :p] @ coefficients[:p]
    # θ²C times C is θC times θC.
    return np.asarray(data - fit.moments.gram[linear:, linear:] @ coefficients[p:])


def _summary(
    theta: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    trend: FloatArray,
    ties: IntArray,
    free: BoolArray,
    fit: Solved,
    squares: FloatArray,
    colour: FloatArray | None,
    iterations: int,
    converged: bool,
) -> Refined:
    """Evaluate residuals and noise at the end of the search."""
    p, n_lines = trend.shape[1], len(ties)
    lines = Lines(
        ties @ fit.bases, fit.coefficients[p : p + n_lines], fit.coefficients[p + n_lines :]
    )
    coefficients, rss = fit.coefficients[:p], fit.rss

    def left_over() -> FloatArray:
        return np.asarray(y - trend @ coefficients - lines.evaluate(theta))

    exact = bool(np.any(rss <= _ROUNDING * squares + np.finfo(float).tiny))
    if exact:
        rss = weights @ left_over() ** 2
    spent = fit.n_linear + np.count_nonzero(free) / y.shape[1]
    noise = rss / max(float(weights.sum()) - spent, 1.0)
    ratio = np.ones(n_lines) if colour is None else np.asarray(colour, float)
    return Refined(
        bases=fit.bases,
        harmonics=ties,
        lines=lines,
        trend=coefficients,
        rss=rss,
        noise_variance=noise,
        gram=fit.moments.gram[: fit.n_linear, : fit.n_linear],
        iterations=iterations,
        converged=converged,
        exact=exact,
        left_over=left_over,
        covariances=partial(covariances, fit, ties, free, noise, ratio),
    )
