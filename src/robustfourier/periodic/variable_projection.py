"""Variable projection: least squares on frequencies, coefficients and trend together.

The model y ≈ P τ + Σ_k a_k cos(πkθ) + b_k sin(πkθ) is linear in c = (τ, a, b) once the modes are
given, and the modes are tied by an integer matrix, ``modes = H @ bases``: the identity for free
lines, a row [n] for the n-th harmonic of a family, [1, 1] for a combination tone. So only the bases
f are searched; with columns Φ(f) and an optional prior precision R of the coefficients [1]_,

    ĉ(f) = (ΦᵀWΦ + R)⁻¹ ΦᵀWy,   r(f) = yᵀWy − ĉᵀΦᵀWy,   minimise Σ_outputs log r(f),

the likelihood if each output has its own unknown noise variance σ² and c ~ N(0, σ² R⁻¹). With
D = ∂(Φĉ)/∂f at fixed ĉ and ρ the residual, the gradient of −r/2 is DᵀWρ, and the Hessian is

    DᵀWD + (second derivatives of Φĉ)ᵀWρ − BᵀA⁻¹B,   A = ΦᵀWΦ + R,   B = ΦᵀWD − (∂Φ/∂f)ᵀWρ.

Steps are Newton's, damped after Levenberg; where the Hessian is not positive the terms with ρ are
left out, which is the Gauss-Newton step with Kaufman's simplification [2]_. All of it follows from
`Moments`; nothing is as large as the record. A step moves no mode by more than a fraction of the
resolution of the record (one mode), because the sum of squares has a new local minimum about every
mode: start within about half a mode of the answer.

References
----------
.. [1] Golub & Pereyra 1973, "The differentiation of pseudo-inverses and nonlinear least squares
   problems whose variables separate", SIAM J. Numer. Anal. 10, 413.
.. [2] Kaufman 1975, "A variable projection method for solving separable nonlinear least squares
   problems", BIT 15, 49.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray, Matrix, Vector
from robustfourier.compiling import compiled
from robustfourier.periodic.basis import Lines
from robustfourier.periodic.gram_matrices import Moments, direct_moments
from robustfourier.periodic.semidefinite import REGULAR, Positive
from robustfourier.periodic.uncertainty import FitCovariance, mode_errors

MomentsAt = Callable[[FloatArray], Moments]
# Of any mode in one step: the sum of squares has a new local minimum about every mode.
LARGEST_STEP = 0.25
MOST_COLUMNS = 60  # trend and two for each line; from here on whole matrices are faster
_TINY = float(np.finfo(float).tiny)  # so that no sum of squares is zero
_UPHILL = 1e-9  # least pivot of a matrix with unit diagonal that points downhill
# Sums of squares below this part of those of the data are added up from residuals: as differences
# of sums they would be known to 1e-5 only.
_ROUNDING = 1e-8
# Part of the tolerance below which not even a last step is taken: a tenth in each coordinate. Where
# outliers are pulled in again and again, steps just below the tolerance add up, and are.
_NOT_WORTH = 0.01
_SEEN = 1e-11  # part of a sum of squares by which a step is surely seen to lower it


@dataclass(frozen=True)
class Refined:
    """Lines at a minimum of the weighted sum of squares, with their covariance."""

    bases: FloatArray  # (F,): the frequencies that were searched, as modes
    harmonics: IntArray  # (K, F): integer ties; ``lines.mode == harmonics @ bases``
    lines: Lines  # the K lines
    trend: FloatArray  # (p, q): coefficients of the trend columns
    rss: FloatArray  # (q,): weighted residual sum of squares, the prior's part added
    noise_variance: FloatArray  # (q,): that over (sum of weights − parameters)
    moments: Moments  # at the refined modes
    free: BoolArray  # (F,): which bases were refined
    relative_psd: FloatArray  # (K,): noise power at each line over the mean noise variance
    precision: FloatArray | None  # (p + 2K,): prior precision of the coefficients, in units of 1/σ²
    iterations: int  # Newton steps tried
    converged: bool  # whether the steps became negligible
    exact: bool  # whether residuals are at the level of rounding, so that sums tell nothing of them
    #: ``() -> residuals``: data minus trend minus lines, shape (n, q)
    residuals_of: Callable[[], FloatArray]
    noise_gram: FloatArray | None = None  # (p + 4K, p + 4K): see `FitCovariance`

    @property
    def gram(self) -> FloatArray:
        """Weighted Gram matrix of (trend, cosine, sine), shape (p + 2K, p + 2K)."""
        linear = len(self.trend) + 2 * len(self.lines)
        return self.moments.gram[:linear, :linear]

    @cached_property
    def residuals(self) -> FloatArray:
        """Data minus trend minus lines, shape (n, q)."""
        return self.residuals_of()

    @cached_property
    def covariance(self) -> FitCovariance:
        """Covariance of bases, trend, cosines and sines."""
        coefficients = np.vstack([self.trend, self.lines.cosine, self.lines.sine])
        return FitCovariance(
            self.moments.gram,
            coefficients,
            self.harmonics,
            self.free,
            self.noise_variance,
            self.relative_psd,
            self.precision,
            self.noise_gram,
        )

    @property
    def base_covariance(self) -> FloatArray:
        """Covariance of the bases, zero for fixed ones, shape (F, F)."""
        return self.covariance.bases

    @property
    def mode_error(self) -> FloatArray:
        """Standard error of each line's mode, shape (K,)."""
        return mode_errors(self.harmonics, self.base_covariance)

    @property
    def factor(self) -> FloatArray:
        """Root of the covariance, (q, p + 4K, r); see `periodic.uncertainty`."""
        return self.covariance.root()


def refine(
    theta: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    bases: FloatArray,
    harmonics: IntArray | None = None,
    *,
    trend: FloatArray | None = None,
    fixed: BoolArray | None = None,
    relative_psd: FloatArray | None = None,
    precision: FloatArray | None = None,
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
    relative_psd : ndarray of shape (K,), optional
        Noise power at each line over the mean noise variance; 1 for white noise (default). The
        covariance is then the sandwich for noise that is coloured but locally flat.
    precision : ndarray of shape (p + 2K,), optional
        Prior precision of trend, cosine and sine coefficients in units of 1/σ²: a ridge, the prior
        being N(0, σ²/precision). Default: none. `rss` and the covariance include it.
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
    harmonics = np.eye(len(bases), dtype=np.int64) if harmonics is None else np.asarray(harmonics)
    columns = np.ones((len(theta), 1)) if trend is None else trend
    problem = Problem(
        moments_at or partial(direct_moments, theta, y, weights, columns),
        harmonics,
        np.ones(len(bases), bool) if fixed is None else ~np.asarray(fixed, bool),
        weights @ y**2,
        columns.shape[1],
        precision,
    )
    fit, iterations, converged = _minimise(problem, bases, tolerance, max_iterations)
    p, n_lines = problem.p, len(harmonics)
    lines = Lines(
        harmonics @ fit.bases, fit.coefficients[p : p + n_lines], fit.coefficients[p + n_lines :]
    )
    level, rss = fit.coefficients[:p], fit.rss

    def residuals() -> FloatArray:
        return np.asarray(y - columns @ level - lines.evaluate(theta))

    exact = bool(np.any(at_rounding(rss, problem.squares)))
    if exact:
        rss = weights @ residuals() ** 2
    spent = p + 2 * n_lines + np.count_nonzero(problem.free) / y.shape[1]
    return Refined(
        bases=fit.bases,
        harmonics=harmonics,
        lines=lines,
        trend=level,
        rss=rss,
        noise_variance=rss / max(float(weights.sum()) - spent, 1.0),
        moments=fit.moments,
        free=problem.free,
        relative_psd=np.ones(n_lines) if relative_psd is None else np.asarray(relative_psd, float),
        precision=precision,
        iterations=iterations,
        converged=converged,
        exact=exact,
        residuals_of=residuals,
    )


def at_rounding(rss: FloatArray, squares: FloatArray) -> BoolArray:
    """Whether sums of squares that are left over, from sums, are too small to be known by them."""
    return np.asarray(rss <= _ROUNDING * squares + _TINY)


@dataclass(frozen=True)
class Problem:
    """What does not change while bases are searched."""

    moments_at: MomentsAt  # ``modes -> Moments``
    harmonics: IntArray  # (K, F)
    free: BoolArray  # (F,)
    squares: FloatArray  # (q,): Σ w y²
    p: int  # trend columns
    precision: FloatArray | None = None  # (p + 2K,)


@dataclass(frozen=True)
class LinearFit:
    """Coefficients, moments and objective Σ_outputs log RSS at one set of bases."""

    bases: FloatArray
    coefficients: FloatArray  # (p + 2K, q)
    moments: Moments
    linear_part: Positive  # Gram matrix of trend, cosines and sines, with the prior
    rss: FloatArray  # (q,)
    objective: float


def linear_fit(problem: Problem, bases: FloatArray) -> LinearFit:
    """Solve for the coefficients at given bases."""
    moments, linear = problem.moments_at(problem.harmonics @ bases), problem.p
    linear += 2 * len(problem.harmonics)
    gram, cross = moments.gram[:linear, :linear], moments.cross[:linear]
    if problem.precision is not None:
        gram = gram + np.diag(problem.precision)
    linear_part, coefficients, rss = solve_normal_equations(gram, cross, problem.squares)
    objective = float(np.sum(np.log(rss)))
    return LinearFit(bases, coefficients, moments, linear_part, rss, objective)


def solve_normal_equations(
    gram: FloatArray, cross: FloatArray, squares: FloatArray
) -> tuple[Positive, FloatArray, FloatArray]:
    """Return the Gram matrix factored, coefficients, and what they leave of the squares, (q,)."""
    coefficients, rss, linear_part = np.empty(cross.shape), squares.copy(), None
    if len(gram) <= MOST_COLUMNS:
        factor, scale = np.empty(gram.shape), np.empty(len(gram))
        if _solve(gram, cross, factor, scale, coefficients, rss) > REGULAR:
            linear_part = Positive(scale, factor, None)
    if linear_part is None:  # many columns, or columns that are not independent
        linear_part = Positive.of(gram)
        coefficients = linear_part.solve(cross)
        rss = squares - np.sum(coefficients * (2.0 * cross - gram @ coefficients), 0)
    return linear_part, coefficients, np.maximum(rss, 1e-30 * squares + _TINY)


def _minimise(
    problem: Problem, bases: FloatArray, tolerance: float, max_iterations: int
) -> tuple[LinearFit, int, bool]:
    """Step to the minimum; the fit there, steps tried, and whether they became negligible."""
    fit, n_outputs = linear_fit(problem, bases), len(problem.squares)
    damping, iterations, converged = 1e-4, 0, not problem.free.any()
    while not converged and iterations < max_iterations:
        iterations += 1
        step, expected = damped_step(problem, fit, damping)
        # Below the rounding of the sums a decrease can no longer be seen: take the step, and stop.
        negligible = expected <= tolerance * n_outputs
        if expected <= _NOT_WORTH * tolerance * n_outputs:
            converged = True
            break
        trial = linear_fit(problem, fit.bases + step)
        if negligible or trial.objective < fit.objective:
            fit, damping = trial, damping / 10.0
            converged = negligible or bool(np.all(np.abs(step) < 1e-12))
        elif damping > 1e8:
            converged = True
        else:
            damping *= 10.0
    # Differences of sums of squares drown in rounding before gradients do: who asks for all digits
    # gets a last step on trust, undamped, if it is small enough to be a correction.
    if problem.free.any() and tolerance < _SEEN:
        step, _ = damped_step(problem, fit, 0.0)
        if np.max(np.abs(problem.harmonics @ step), initial=0.0) < 1e-4:
            fit = linear_fit(problem, fit.bases + step)
    return fit, iterations, converged


def damped_step(problem: Problem, fit: LinearFit, damping: float) -> tuple[FloatArray, float]:
    """Return one Levenberg step of the bases and the relative decrease it promises."""
    free, step, found = problem.free, np.zeros(len(problem.free)), None
    # Far from the answer the second derivatives may point uphill; there they are left out.
    for curved in (True, False):
        normal, diagonal, gradient = reduced_normal(fit, problem.harmonics, curved)
        if not free.all():
            normal, diagonal, gradient = normal[np.ix_(free, free)], diagonal[free], gradient[free]
        normal += np.diag(damping * diagonal)
        if (found := _solved_downhill(normal, gradient)) is not None:
            break
    step[free] = Positive.of(normal).solve(gradient) if found is None else found
    expected = float(gradient @ step[free])
    largest = np.max(np.abs(problem.harmonics @ step), initial=0.0)
    return step * min(1.0, LARGEST_STEP / max(largest, _TINY)), expected


def _solved_downhill(normal: FloatArray, gradient: FloatArray) -> FloatArray | None:
    """Solve for a step; None if the matrix is not safely positive."""
    if len(normal) > MOST_COLUMNS:
        regular = Positive.regular(normal)
        return None if regular is None else regular.solve(gradient)
    scale, step = np.empty(len(normal)), np.empty((len(normal), 1))
    pivot = _solve(normal, gradient[:, None], np.empty(normal.shape), scale, step, np.zeros(1))
    return step[:, 0] if pivot > _UPHILL else None


def reduced_normal(
    fit: LinearFit, harmonics: IntArray, curved: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a matrix for steps of the bases, the linear part projected out, and their gradient.

    It is the Hessian if `curved`, and else the normal matrix of Gauss and Newton, which leaves out
    residual times second derivatives. For a weak line, or one that is not steady, these are as
    large as the rest: without them steps are twice too long, or far too short. Between the two
    stands the diagonal without them and before anything is projected out, (F,), by which steps are
    damped. Outputs are weighted by 1/RSS_o, the gradient of the logarithm in the objective.
    """
    moments, linear, n_bases = fit.moments, len(fit.coefficients), harmonics.shape[1]
    normal, diagonal, gradient = np.zeros((n_bases, n_bases)), np.zeros(n_bases), np.zeros(n_bases)
    left = moments.cross - moments.gram[:, :linear] @ fit.coefficients  # EᵀW residual, (p + 4K, q)
    if linear <= MOST_COLUMNS and fit.linear_part.factor is not None:
        factored = fit.linear_part.factor, fit.linear_part.scale
        given = moments.gram, moments.second, left, fit.coefficients, *factored, fit.rss
        _reduce_few(*given, harmonics.astype(np.float64), curved, normal, diagonal, gradient)
    else:
        _reduce_many(fit, left, harmonics, curved, normal, diagonal, gradient)
    return normal, diagonal, gradient


def _reduce_many(
    fit: LinearFit,
    left: FloatArray,
    harmonics: IntArray,
    curved: bool,
    normal: FloatArray,
    diagonal: FloatArray,
    gradient: FloatArray,
) -> None:
    """Add what `reduced_normal` returns, in terms of whole matrices."""
    gram, second, linear, n_lines = fit.moments.gram, fit.moments.second, len(left), len(harmonics)
    linear -= 2 * n_lines
    # Lines that are free have the identity for ties; no need to multiply by it.
    untied = harmonics.shape == (n_lines, n_lines) and np.array_equal(harmonics, np.eye(n_lines))
    on_cosine, on_sine = slice(linear, linear + n_lines), slice(linear + n_lines, None)
    line, p, n_outputs = np.arange(n_lines), linear - 2 * n_lines, len(fit.rss)
    for o in range(n_outputs):
        # Derivative of each line with respect to its mode: π (b θC − a θS).
        c = fit.coefficients[:, o]
        a, b = np.pi * c[p : p + n_lines], np.pi * c[p + n_lines :]
        moved = gram[on_cosine] * b[:, None] - gram[on_sine] * a[:, None]
        square = moved[:, on_cosine] * b - moved[:, on_sine] * a
        against = moved[:, :linear].T  # of the derivatives with the linear part, (p + 2K, K)
        slope = b * left[on_cosine, o] - a * left[on_sine, o]
        own = square if untied else harmonics.T @ square @ harmonics
        diagonal += np.diag(own) / fit.rss[o]
        if curved:
            against[p + line, line] += np.pi * left[on_sine, o]
            against[p + n_lines + line, line] -= np.pi * left[on_cosine, o]
            # [θ²C, θ²S]ᵀ W residual; θ²C times C is θC times θC.
            bent = second[:, second.shape[1] - n_outputs + o] - second[:, :p] @ c[:p]
            bent = bent - gram[linear:, linear:] @ c[p:]
            curve = np.pi * (a * bent[:n_lines] + b * bent[n_lines:])
            own = own + (np.diag(curve) if untied else (harmonics.T * curve) @ harmonics)
        half = fit.linear_part.half(against if untied else against @ harmonics)
        normal += (own - half.T @ half) / fit.rss[o]
        gradient += (slope if untied else harmonics.T @ slope) / fit.rss[o]


@compiled
def _reduce_few(
    gram: Matrix, second: Matrix, left: Matrix, coefficients: Matrix, factor: Matrix, scale: Vector,
    rss: Vector, harmonics: Matrix, curved: bool, normal: Matrix, diagonal: Vector,
    gradient: Vector,
) -> None:  # fmt: skip
    """Do the same by loops: with few lines, calling for each product is most of the time."""
    count, n_bases = harmonics.shape
    linear, q = coefficients.shape
    p = linear - 2 * count
    moved, turned = np.empty((linear, n_bases)), np.empty(linear + 2 * count)
    for o in range(q):
        moved[:] = 0.0
        for k in range(count):
            a, b = np.pi * coefficients[p + k, o], np.pi * coefficients[p + count + k, o]
            cosine, sine = linear + k, linear + count + k
            for i in range(linear + 2 * count):  # EᵀW of the line's derivative: π (b θC − a θS)
                turned[i] = gram[cosine, i] * b - gram[sine, i] * a
            curve = 0.0
            if curved:
                bent = second.shape[1] - q + o
                on_cosine, on_sine = second[k, bent], second[count + k, bent]
                for c in range(p):
                    on_cosine -= second[k, c] * coefficients[c, o]
                    on_sine -= second[count + k, c] * coefficients[c, o]
                for j in range(2 * count):
                    on_cosine -= gram[cosine, linear + j] * coefficients[p + j, o]
                    on_sine -= gram[sine, linear + j] * coefficients[p + j, o]
                curve = np.pi * (a * on_cosine + b * on_sine)
            for f in range(n_bases):
                tie = harmonics[k, f]
                if tie == 0.0:
                    continue
                gradient[f] += tie * (b * left[cosine, o] - a * left[sine, o]) / rss[o]
                for i in range(linear):
                    moved[i, f] += tie * turned[i]
                if curved:
                    moved[p + k, f] += tie * np.pi * left[sine, o]
                    moved[p + count + k, f] -= tie * np.pi * left[cosine, o]
                for g in range(n_bases):
                    normal[g, f] += tie * harmonics[k, g] * curve / rss[o]
                for m in range(count):
                    square = np.pi * coefficients[p + count + m, o] * turned[linear + m]
                    square -= np.pi * coefficients[p + m, o] * turned[linear + count + m]
                    diagonal[f] += harmonics[m, f] * tie * square / rss[o]
                    for g in range(n_bases):
                        normal[g, f] += harmonics[m, g] * tie * square / rss[o]
        _forward(factor, scale, moved)
        for i in range(linear):
            for f in range(n_bases):
                part = moved[i, f] / rss[o]
                for g in range(n_bases):
                    normal[f, g] -= part * moved[i, g]


@compiled
def _solve(
    gram: Matrix, cross: Matrix, factor: Matrix, scale: Vector, coefficients: Matrix, rss: Vector
) -> float:
    """Factor a matrix, solve with it, and lower `rss` by what that explains; the least pivot."""
    linear = len(factor)
    for i in range(linear):
        for j in range(linear):
            factor[i, j] = gram[i, j]
        for o in range(len(rss)):
            coefficients[i, o] = cross[i, o]
    pivot = _factored(factor, scale)
    if pivot > 0.0:
        _forward(factor, scale, coefficients)
        _backward(factor, scale, coefficients)
        for o in range(len(rss)):
            for i in range(linear):
                left = 2.0 * cross[i, o]
                for j in range(linear):
                    left -= gram[i, j] * coefficients[j, o]
                rss[o] -= coefficients[i, o] * left
    return pivot


@compiled
def _factored(matrix: Matrix, scale: Vector) -> float:
    """Turn a matrix into the Cholesky factor of itself with unit diagonal; the least pivot."""
    least, largest = 1.0, 0.0
    for i in range(len(matrix)):
        largest = max(largest, matrix[i, i])
    for i in range(len(matrix)):
        if 0.0 < matrix[i, i] <= 1e-26 * largest:
            return 0.0
        scale[i] = np.sqrt(matrix[i, i]) if matrix[i, i] > 0.0 else 1.0
    for i in range(len(matrix)):
        for j in range(i + 1):
            value = matrix[i, j] / (scale[i] * scale[j])
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            if j < i:
                matrix[i, j] = value / matrix[j, j]
            elif matrix[i, i] == 0.0:  # a column that vanishes gets no coefficient
                matrix[i, i] = 1.0
            elif value <= 0.0:
                return 0.0
            else:
                matrix[i, i], least = np.sqrt(value), min(least, value)
    return least


@compiled
def _forward(factor: Matrix, scale: Vector, right: Matrix) -> None:
    """Replace `right` by L⁻¹ of it, rows scaled first."""
    for i in range(len(right)):
        for c in range(right.shape[1]):
            right[i, c] /= scale[i]
        for j in range(i):
            part = factor[i, j]
            for c in range(right.shape[1]):
                right[i, c] -= part * right[j, c]
        for c in range(right.shape[1]):
            right[i, c] /= factor[i, i]


@compiled
def _backward(factor: Matrix, scale: Vector, right: Matrix) -> None:
    """Replace `right` by L⁻ᵀ of it, rows scaled after."""
    for i in range(len(right) - 1, -1, -1):
        for c in range(right.shape[1]):
            right[i, c] /= factor[i, i]
        for j in range(i):
            part = factor[i, j]
            for c in range(right.shape[1]):
                right[j, c] -= part * right[i, c]
    for i in range(len(right)):
        for c in range(right.shape[1]):
            right[i, c] /= scale[i]
