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
from robustfourier.mixture.least_squares.covariance import (
    Covariances,
    covariances,
    mode_errors,
    mode_tangents,
)
from robustfourier.mixture.least_squares.lines import Lines
from robustfourier.mixture.least_squares.moments import direct_moments
from robustfourier.mixture.least_squares.projection import (
    TINY,
    MomentsAt,
    Solved,
    damped_step,
    fit_at,
)
from robustfourier.mixture.least_squares.semidefinite import root

# Sums of squares below this part of those of the data are added up from residuals: as differences
# of sums they would be known to 1e-5 only.
_ROUNDING = 1e-8
# Part of the tolerance below which not even a last step is taken: a tenth in each coordinate. Where
# outliers are pulled in again and again, steps just below the tolerance add up, and are.
_NOT_WORTH = 0.01
_SEEN = 1e-11  # part of a sum of squares by which a step is surely seen to lower it


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
        ``colour -> (base, () -> (coefficient, cross))``; most on the way need none of them.
    colour : ndarray of shape (K,)
        Noise power at each line over the mean noise variance.
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
    covariances: Callable[[FloatArray], tuple[FloatArray, Callable[[], Covariances]]]
    colour: FloatArray

    @cached_property
    def residuals(self) -> FloatArray:
        """Data minus trend minus lines, shape (n, q)."""
        return self.left_over()

    @cached_property
    def _known_covariances(self) -> tuple[FloatArray, Callable[[], Covariances]]:
        return self.covariances(self.colour)

    @cached_property
    def _of_coefficients(self) -> Covariances:
        return self._known_covariances[1]()

    @property
    def base_covariance(self) -> FloatArray:
        """Covariance of the bases, zero for fixed ones, shape (F, F)."""
        return self._known_covariances[0]

    @property
    def coefficient_covariance(self) -> FloatArray:
        """Covariance of (trend, cosine, sine) for each output, shape (q, p + 2K, p + 2K).

        The uncertainty of the bases is included.
        """
        return self._of_coefficients[0]

    @property
    def cross_covariance(self) -> FloatArray:
        """Covariance of the bases with those coefficients, shape (q, F, p + 2K)."""
        return self._of_coefficients[1]

    def covariance(self, output: int = 0) -> FloatArray:
        """Covariance of (bases, trend, cosine, sine) of one output, shape (F + p + 2K,) twice."""
        cross = self.cross_covariance[output]
        return np.block(
            [[self.base_covariance, cross], [cross.T, self.coefficient_covariance[output]]]
        )

    @property
    def mode_error(self) -> FloatArray:
        """Standard error of each line's mode, shape (K,)."""
        return mode_errors(self.harmonics, self.base_covariance)

    @property
    def factor(self) -> FloatArray:
        """Roots of the covariances of the outputs, (q, p + 4K, r); see `error_bands`."""
        p, n_lines = len(self.trend), len(self.lines)
        tangents = mode_tangents(self.lines.cosine, self.lines.sine, self.harmonics, p)
        parts = []
        for output, tangent in enumerate(tangents):
            rows = np.hstack([tangent, np.eye(p + 4 * n_lines, p + 2 * n_lines)])
            parts.append(rows @ root(self.covariance(output)))
        return np.stack(parts)


def at_rounding(rss: FloatArray, squares: FloatArray) -> BoolArray:
    """Whether sums of squares that are left over, from sums, are too small to be known by them."""
    return np.asarray(rss <= _ROUNDING * squares + TINY)


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
) -> tuple[Solved, int, bool]:
    """Step to the minimum; the fit there, steps tried, and whether they became negligible."""
    fit = fit_at(moments_at, ties, bases, p, squares)
    damping, iterations, converged = 1e-4, 0, not free.any()
    while not converged and iterations < max_iterations:
        iterations += 1
        step, expected = damped_step(fit, ties, free, damping)
        # Below the rounding of the sums a decrease can no longer be seen: take the step, and stop.
        negligible = expected <= tolerance * len(squares)
        if expected <= _NOT_WORTH * tolerance * len(squares):
            converged = True
            break
        trial = fit_at(moments_at, ties, fit.bases + step, p, squares)
        if negligible or trial.objective < fit.objective:
            fit, damping = trial, damping / 10.0
            converged = negligible or bool(np.all(np.abs(step) < 1e-12))
        elif damping > 1e8:
            converged = True
        else:
            damping *= 10.0
    # Differences of sums of squares drown in rounding before gradients do: who asks for all digits
    # gets a last step on trust, undamped, if it is small enough to be a correction.
    if free.any() and tolerance < _SEEN:
        step, _ = damped_step(fit, ties, free, 0.0)
        if np.max(np.abs(ties @ step), initial=0.0) < 1e-4:
            fit = fit_at(moments_at, ties, fit.bases + step, p, squares)
    return fit, iterations, converged


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

    exact = bool(np.any(at_rounding(rss, squares)))
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
        covariances=partial(covariances, fit, ties, free, noise),
        colour=ratio,
    )
