r"""Gaussian processes in linear time, by the Cholesky factor of a semiseparable covariance matrix.

For a `Kernel` the covariance of n samples with white noise, ``K = diag(σ²_i) + k(θ_i − θ_j)``, is
semiseparable: below the diagonal ``K_ij = Σ_p U_ip e^{−c_p(θ_i − θ_j)} V_jp`` with J columns p
(Rybicki & Press [1]_, Ambikasaran [2]_). With φ_i = e^{−c(θ_i − θ_{i−1})} the factor K = L D Lᵀ of
Foreman-Mackey et al. [3]_, and z = L⁻¹ y, take one pass over the rows, O(n J²):

.. math::

    S_i &= \phi_i \phi_i^T \circ (S_{i-1} + d_{i-1} w_{i-1} w_{i-1}^T), \qquad
    f_i = \phi_i \circ (f_{i-1} + w_{i-1} z_{i-1}), \\
    d_i &= K_{ii} - u_i^T S_i u_i, \qquad w_i = (v_i - S_i u_i) / d_i, \qquad
    z_i = y_i - u_i^T f_i.

``log det K = Σ log d_i`` and ``yᵀ K⁻¹ y = Σ z_i² / d_i``. S and f are the state that the samples so
far leave to the rows after them (a Kalman filter in other words). The gradient is the adjoint of
the pass, from the last row to the first, for the price of about two more likelihoods however many
parameters there are; states are kept every `BLOCK` rows and computed again between.

Columns X with coefficients that are marginalised over (trend, strict lines) are further columns y:
``K + X Xᵀ`` by the matrix inversion lemma.

Written here rather than taken from celerite2, which is the reference in the tests: gradients,
marginalised columns and filtered states come from one pass, and no library need be compiled.

References
----------
.. [1] G. B. Rybicki, W. H. Press, "Class of fast methods for processing irregularly sampled or
   otherwise inhomogeneous one-dimensional data", Phys. Rev. Lett. 74, 1060 (1995).
.. [2] S. Ambikasaran, "Generalized Rybicki Press algorithm", Numer. Linear Algebra Appl. 22, 1102
   (2015).
.. [3] D. Foreman-Mackey, E. Agol, S. Ambikasaran, R. Angus, "Fast and scalable Gaussian process
   modeling with applications to astronomical time series", AJ 154, 220 (2017), section 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robustfourier.arrays import (
    BoolArray,
    FloatArray,
    IndexArray,
    IntArray,
    IntVector,
    Matrix,
    Tensor,
    Vector,
)
from robustfourier.compiling import compiled, inlined
from robustfourier.periodic.kernels import Kernel, add_pullback, column_rates, fill_generators

BLOCK = 32  # rows between states that are kept: their S of 18 columns take 80 kB, which a cache has
EVEN = 1e-9  # of a step, by which equal ones may differ
_NUMBERS = 500_000  # held at once for each of the small matrices of some times
_SMALLEST = 1e-300  # scale of values that are all zero


class Observations(NamedTuple):
    """Samples of one series.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Sorted times.
    values : ndarray of shape (n,)
    noise : ndarray of shape (n,)
        White variances, up to a common factor where a likelihood estimates that.

    Examples
    --------
    >>> samples = Observations(np.linspace(-1.0, 1.0, 4), np.ones(4), np.ones(4))
    >>> samples.select(np.array([0, 3])).theta
    array([-1.,  1.])
    >>> samples.log_likelihood(Kernel.zero())[1]  # the white variance
    1.0
    """

    theta: FloatArray
    values: FloatArray
    noise: FloatArray

    def select(self, rows: IndexArray) -> Observations:
        """Return some of them."""
        return Observations(*(column[rows] for column in self))

    @property
    def weights(self) -> FloatArray:
        """One over the noise."""
        return 1.0 / self.noise

    @property
    def variance(self) -> float:
        """Weighted mean square of the values."""
        return float(np.average(self.values**2, weights=self.weights))

    def log_likelihood(
        self, kernel: Kernel, columns: FloatArray | None = None
    ) -> tuple[float, float]:
        """Return `MarginalLikelihood.value`."""
        return MarginalLikelihood(*self, columns).value(kernel)


class MarginalLikelihood:
    r"""The log-likelihood of samples under Gaussian processes, and its gradient.

    .. math::

        y \sim N(0,\; \sigma^2 [\mathrm{diag}(\mathrm{noise}) + K + X X^T]), \qquad
        \log L = -\tfrac12 (n \log \hat\sigma^2 + \log\det[\,\cdot\,]) + \mathrm{const},

    at the scale σ² that maximises it: kernels are over the white variance. Columns X have
    coefficients of variance σ², over which it is marginalised; scale them by their prior deviation.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Sorted.
    values : ndarray of shape (n,)
    noise : ndarray of shape (n,)
        White variance of each sample, up to σ².
    columns : ndarray of shape (n, m), optional
        X.

    Examples
    --------
    >>> from robustfourier.periodic.kernels import sho
    >>> theta = np.linspace(-1.0, 1.0, 50)
    >>> likelihood = MarginalLikelihood(theta, np.sin(9.0 * theta), np.full(50, 0.1))
    >>> wave, _ = likelihood.value(sho([[9.0, 5.0, 1.0]]))
    >>> bool(wave > likelihood.value(Kernel.zero())[0] + 30.0)
    True
    """

    def __init__(
        self,
        theta: FloatArray,
        values: FloatArray,
        noise: FloatArray,
        columns: FloatArray | None = None,
    ) -> None:
        self.theta, self.values, self.noise = (
            np.ascontiguousarray(x, np.float64) for x in (theta, values, noise)
        )
        known = [self.values] if columns is None else [self.values, columns]
        self._known = np.column_stack(known)
        step, lengths = _steps(self.theta)
        blocks = np.arange(-1, len(self.theta), BLOCK)
        self._samples = self.theta, self.noise, self._known, step, lengths, blocks

    def value(self, kernel: Kernel) -> tuple[float, float]:
        """Return the log-likelihood, and σ²; −∞ and one if the covariance is not positive."""
        value, no_gradient = np.empty(2), np.empty((4, 0))
        _likelihood(kernel.coefficients, kernel.n_columns, *self._samples, no_gradient, value)
        if np.isfinite(value[0]) or len(kernel.a):
            return float(value[0]), float(value[1])
        logs = float(np.log(self.noise).sum())
        return -0.5 * (len(self.theta) * float(np.log(_SMALLEST)) + logs), _SMALLEST

    def gradient(self, kernel: Kernel) -> tuple[float, FloatArray]:
        """Return the log-likelihood, and its gradient along a, b, c and d, shape (4, M).

        The kernel has at least one term; `sho_pullback` and its like take the gradient on to the
        parameters. It is zero if the covariance is not positive.
        """
        value, gradient = np.empty(2), np.zeros((4, len(kernel.a)))
        _likelihood(kernel.coefficients, kernel.n_columns, *self._samples, gradient, value)
        return float(value[0]), gradient


def normal_equations(
    kernel: Kernel, theta: FloatArray, noise: FloatArray, columns: FloatArray
) -> tuple[FloatArray, float]:
    """Return ``Xᵀ K⁻¹ X`` and ``log det K``: generalised least squares.

    Put the values beside the columns, and Xᵀ K⁻¹ y and yᵀ K⁻¹ y are among the products. They are
    infinite if K is not positive definite.

    Parameters
    ----------
    kernel : Kernel
    theta, noise : ndarray of shape (n,)
        Sorted times; white variances.
    columns : ndarray of shape (n, p)

    Examples
    --------
    >>> theta = np.linspace(-1.0, 1.0, 5)
    >>> normal_equations(Kernel.zero(), theta, np.full(5, 0.5), np.column_stack([theta, theta**2]))
    (array([[5.   , 0.   ], [0.   , 4.25]]), -3.4657359027997265)
    """
    return _Factor.of(kernel, theta, noise, columns).products()


def marginal_log_likelihood(products: FloatArray, log_determinant: float, n: int) -> float:
    """Return the log-likelihood of `MarginalLikelihood` from `normal_equations`.

    The first column is the values, all others are marginalised over.
    """
    result = np.array([-np.inf, 1.0])
    _marginalise(n, log_determinant, np.array(products), result)
    return float(result[0])


@dataclass(frozen=True, eq=False)
class ConditionedProcess:
    """A Gaussian process, given noisy samples of it.

    Parameters
    ----------
    kernel : Kernel
    theta : ndarray of shape (n,)
        Sorted times of the samples.
    noise : ndarray of shape (n,)
        White variance of each.
    alpha : ndarray of shape (n,)
        K⁻¹ y of the samples y.

    Examples
    --------
    >>> from robustfourier.periodic.kernels import sho
    >>> theta = np.linspace(-1.0, 1.0, 80)
    >>> values = np.sin(9.0 * theta)
    >>> noise = np.full(80, 1e-4)
    >>> given = ConditionedProcess.on(sho([[9.0, 5.0, 1.0]]), theta, noise, values)
    >>> at = np.array([0.013, 5.0])
    >>> np.abs(given.mean(at) - np.sin(9.0 * at)).round(2)  # far away it is zero
    array([0.  , 0.83])
    >>> given.variance(at).round(2)
    array([0., 1.])
    """

    kernel: Kernel
    theta: FloatArray
    noise: FloatArray
    alpha: FloatArray

    @classmethod
    def on(
        cls, kernel: Kernel, theta: FloatArray, noise: FloatArray, values: FloatArray
    ) -> ConditionedProcess:
        """Condition a process on values at θ."""
        blank = cls(kernel, theta, noise, np.zeros(len(theta)))
        return replace(blank, alpha=blank.solve(values[:, None])[:, 0])

    def solve(self, columns: FloatArray) -> FloatArray:
        """Return K⁻¹ times columns of shape (n, r)."""
        factor = _Factor.of(self.kernel, self.theta, self.noise, columns)
        solved = factor.z[1:] / factor.d[1:, None]
        _solve_upper(factor.step, factor.decay, factor.u, factor.w, solved)
        return solved

    def mean(self, at: FloatArray, which: BoolArray | None = None) -> FloatArray:
        """Return the conditional mean of the process, or of the sum of some terms, at θ."""
        return self.cross_product(at, self.alpha[:, None], which)[:, 0]

    def cross_product(
        self,
        at: FloatArray,
        columns: FloatArray,
        which: BoolArray | None = None,
        quadrature: bool = False,
    ) -> FloatArray:
        """Return the covariance of the process at θ with the samples, times columns.

        Parameters
        ----------
        at : ndarray of shape (m,)
        columns : ndarray of shape (n, r)
        which : ndarray of bool of shape (M,), optional
            Terms that count; all by default.
        quadrature : bool
            Whether to take all terms, which are then waves with b = 0, a quarter of a cycle later.
        """
        kernel = self.kernel if which is None else self.kernel.select(which)
        order = np.argsort(at, kind="stable")
        times = np.ascontiguousarray(at[order], np.float64)
        (u, v), (u_at, v_at) = kernel.generators(self.theta), kernel.generators(times)
        if quadrature:
            u_at, v_at = _quarter_cycle(u_at), _quarter_cycle(v_at)
        rates = kernel.per_column(kernel.c)
        before = np.searchsorted(self.theta, times, side="right")
        result, other = np.zeros((2, len(at), columns.shape[1]))
        x = np.ascontiguousarray(columns, np.float64)
        _add_cross(self.theta, rates, v, x, times, u_at, before, result)
        # The samples after each time, with time reversed: U and V change places.
        theta, times, after = -self.theta[::-1], -times[::-1], len(self.theta) - before[::-1]
        u, v_at, x = (array[::-1].copy() for array in (u, v_at, x))
        _add_cross(theta, rates, u, x, times, v_at, after, other)
        result += other[::-1]
        back = np.empty_like(result)
        back[order] = result
        return back

    def variance(self, at: FloatArray, which: BoolArray | None = None) -> FloatArray:
        """Return the conditional variance of the process, or of the sum of some terms, at θ."""
        which = np.ones(len(self.kernel.a), bool) if which is None else which
        result = np.zeros(len(at))
        rows_at_once = max(1, _NUMBERS // max(1, self.kernel.n_columns**2))
        for start in range(0, len(at) if which.any() else 0, rows_at_once):
            rows = slice(start, start + rows_at_once)
            result[rows] = self._variance(np.ascontiguousarray(at[rows], np.float64), which)
        return result

    def _variance(self, at: FloatArray, which: BoolArray) -> FloatArray:
        """Join the states that the samples before and after each θ leave to it.

        With L the samples before, R those after, A and B their generators at θ, and
        K_LR = A Bᵀ, the blockwise inverse needs S = Aᵀ K_LL⁻¹ A and T = Bᵀ K_RR⁻¹ B alone:
        kᵀK⁻¹k = uᵀSu + gᵀ (1 − T S)⁻¹ T g with g = v − S u.
        """
        kernel, n = self.kernel, len(self.theta)
        u, v = (x * kernel.per_column(which) for x in kernel.generators(at))  # others: uncorrelated
        right = np.searchsorted(self.theta, at, side="right")
        s = self._states(right - 1, at, 1)
        t = self._states(n - 1 - right, at, -1)
        su = np.einsum("nij,nj->ni", s, u)
        g = v - su
        tg = np.einsum("nij,nj->ni", t, g)[..., None]
        joined = np.linalg.solve(np.eye(u.shape[1]) - t @ s, tg)[..., 0]
        known = np.einsum("ni,ni->n", u, su) + np.einsum("ni,ni->n", g, joined)
        whole = kernel.select(which).variance
        return np.clip(whole - known, 0.0, whole)

    def _states(self, last: IndexArray, at: FloatArray, direction: int) -> FloatArray:
        """S of the samples up to the `last` row before each θ, at θ; in reversed time if −1."""
        rows, index = np.unique(last, return_inverse=True)
        factor = _Factor.of(
            self.kernel, self.theta, self.noise, np.empty((len(self.theta), 0)), rows=rows,
            direction=direction,
        )  # fmt: skip
        times = direction * self.theta[::direction]
        far = np.where(last >= 0, direction * at - times[np.maximum(last, 0)], 0.0)
        fading = np.exp(-np.multiply.outer(far, self.kernel.per_column(self.kernel.c)))
        return np.asarray(fading[:, :, None] * factor.states[index.ravel()] * fading[:, None, :])

    def leave_one_out(self) -> tuple[FloatArray, FloatArray]:
        """Return how far each sample is from its prediction by all others, and its variance.

        That variance is one over the diagonal of K⁻¹.
        """
        factor = _Factor.of(self.kernel, self.theta, self.noise, np.empty((len(self.theta), 0)))
        variance = np.empty(len(self.theta))
        _inverse_diagonal(factor.step, factor.decay, factor.u, factor.d, factor.w, variance)
        variance = 1.0 / variance
        return self.alpha * variance, variance


class FilteredState(NamedTuple):
    """What samples up to some rows leave to the times after them.

    With A the covariance generators V of these samples, faded on their way to the row, the process
    at a later θ with the generator u (faded from the row to θ) has the mean ``u @ values`` and the
    variance ``k(0) − u @ information @ u``.

    Parameters
    ----------
    values : ndarray of shape (m, J, r)
        Aᵀ K⁻¹ Y.
    information : ndarray of shape (m, J, J)
        Aᵀ K⁻¹ A.
    products : ndarray of shape (r, r)
        Yᵀ K⁻¹ Y of all samples up to the last of the rows.
    """

    values: FloatArray
    information: FloatArray
    products: FloatArray

    @classmethod
    def after(
        cls, rows: IndexArray, kernel: Kernel, theta: FloatArray, noise: FloatArray, y: FloatArray
    ) -> FilteredState:
        """Return the states after some rows, in ascending order, of columns y of shape (n, r)."""
        some = slice(0, int(rows[-1]) + 1)
        return cls._of(_Factor.of(kernel, theta[some], noise[some], y[some], rows=rows))

    @classmethod
    def _of(cls, factor: _Factor) -> FilteredState:
        size = factor.u.shape[1]
        values = np.ascontiguousarray(factor.states[:, size:].transpose(0, 2, 1))
        return cls(values, factor.states[:, :size], factor.products()[0])


class _Factor(NamedTuple):
    """The factor of a covariance matrix; rows of d, w and z are one later than their samples."""

    step: IntArray
    decay: FloatArray
    u: FloatArray
    v: FloatArray
    d: FloatArray
    w: FloatArray
    z: FloatArray
    states: FloatArray
    positive: bool

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        theta: FloatArray,
        noise: FloatArray,
        y: FloatArray,
        *,
        steps: tuple[IntArray, FloatArray] | None = None,
        rows: IndexArray | None = None,
        direction: int = 1,
    ) -> _Factor:
        """Factor a matrix and solve for columns; keep the states after some rows.

        With the direction −1 the last sample is the first row.
        """
        u, v = kernel.generators(theta)
        if direction < 0:
            theta, noise, y = -theta[::-1], noise[::-1], y[::-1]
            u, v = v[::-1].copy(), u[::-1].copy()
        step, lengths = _steps(theta) if steps is None else steps
        rows = np.zeros(0, np.int64) if rows is None else rows.astype(np.int64)
        (n, size), count = u.shape, y.shape[1]
        decay = np.exp(-np.multiply.outer(lengths, kernel.per_column(kernel.c)))
        d, w, z = np.empty(n + 1), np.empty((n + 1, size)), np.empty((n + 1, count))
        states = np.empty((len(rows), size + count, size))
        y, diagonal = np.ascontiguousarray(y, np.float64), noise + kernel.variance
        positive = _factor(step, decay, u, v, diagonal, y, rows, d, w, z, states)
        return cls(step, decay, u, v, d, w, z, states, positive)

    def products(self) -> tuple[FloatArray, float]:
        """Return yᵀ K⁻¹ y, infinite if K is not positive definite, and log det K."""
        if not self.positive:
            return np.full((self.z.shape[1], self.z.shape[1]), np.inf), 0.0
        d, z = self.d[1:], self.z[1:]
        return z.T @ (z / d[:, None]), float(np.log(d).sum())


def _steps(theta: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return which of some steps is before each row, and these steps: equal ones in a row once."""
    step = np.diff(theta, prepend=theta[:1])
    new = np.abs(step - np.roll(step, 1)) > EVEN * step
    new[0] = True
    which, lengths = np.cumsum(new) - 1, step[new]
    if np.any(np.abs(lengths[which] - step) > EVEN * step):  # steps that change little by little
        return np.arange(len(theta)), step
    return which, lengths


def _quarter_cycle(generator: FloatArray) -> FloatArray:
    """Return U or V of waves a quarter of a cycle later: (x, y) becomes (y, −x)."""
    pairs = generator.reshape(len(generator), -1, 2)
    return np.stack([pairs[..., 1], -pairs[..., 0]], axis=-1).reshape(generator.shape)


@compiled
def _likelihood(
    terms: Matrix, size: int, theta: Vector, noise: Vector, y: Matrix, step: IntVector,
    lengths: Vector, blocks: IntVector, gradient: Matrix, result: Vector,
) -> None:  # fmt: skip
    """Write log-likelihood and σ² of samples, and the gradient along the terms, if it has columns.

    The first column of y is the values, the others are marginalised over.
    """
    (n, count), variance = y.shape, 0.0
    rates = np.zeros(size)
    u, v, diagonal = np.empty((n, size)), np.empty((n, size)), np.empty(n)
    fill_generators(theta, terms, u, v)
    column_rates(terms, rates)
    for m in range(terms.shape[1]):
        variance += terms[0, m]
    for i in range(n):
        diagonal[i] = noise[i] + variance
    decay = np.empty((len(lengths), size))
    for k in range(len(lengths)):
        for p in range(size):
            decay[k, p] = np.exp(-rates[p] * lengths[k])
    kept = len(blocks) if gradient.shape[1] else 0
    rows, states = np.empty(kept, np.int64), np.empty((kept, size + count, size))
    for k in range(kept):
        rows[k] = blocks[k]
    d, w, z = np.empty(n + 1), np.empty((n + 1, size)), np.empty((n + 1, count))
    result[0], result[1] = -np.inf, 1.0
    if not _factor(step, decay, u, v, diagonal, y, rows, d, w, z, states):
        return
    on, logs = np.zeros((count, count)), 0.0
    product = 1.0
    for i in range(1, n + 1):
        over = 1.0 / d[i]
        product *= d[i]  # a logarithm takes longer
        if product > 1e100 or product < 1e-100:
            logs, product = logs + np.log(product), 1.0
        for r in range(count):
            for q in range(r + 1):
                on[r, q] += over * z[i, r] * z[i, q]
    if not _marginalise(n, logs + np.log(product), on, result) or not kept:
        return
    sums = np.zeros((4, size))
    whole = _factor_adjoint(step, decay, theta, u, v, d, w, z, states, on, sums)
    add_pullback(terms, sums, whole, gradient)


@compiled
def _marginalise(n: int, logs: float, on: Matrix, result: Vector) -> bool:
    """Write the log-likelihood and σ² of products, and put their gradient in their place.

    The first column is the values. With G = XᵀK⁻¹X and h = XᵀK⁻¹y of the others,
    log det(K + XXᵀ) = log det K + log det(1 + G), and yᵀ(K + XXᵀ)⁻¹y = yᵀK⁻¹y − hᵀ(1 + G)⁻¹h. Only
    the lower half of the products is read. Return whether there is a likelihood.
    """
    count = len(on)
    root, inverse, mean = np.zeros((count, count)), np.zeros((count, count)), np.zeros(count)
    left, log_determinant = on[0, 0], logs
    for p in range(1, count):
        for q in range(1, p + 1):
            whole = on[p, q] + (1.0 if p == q else 0.0)
            for r in range(1, q):
                whole -= root[p, r] * root[q, r]
            if p == q:
                whole = whole if whole > 1.0 else 1.0  # exactly so, but for rounding: G ≥ 0
                root[p, p] = np.sqrt(whole)
                log_determinant += np.log(whole)
            else:
                root[p, q] = whole / root[q, q]
    for q in range(1, count):
        for p in range(q, count):
            whole = 1.0 if p == q else 0.0
            for r in range(q, p):
                whole -= root[p, r] * inverse[r, q]
            inverse[p, q] = whole / root[p, p]
    for p in range(1, count):
        for q in range(1, p + 1):
            whole = 0.0
            for r in range(p, count):
                whole += inverse[r, p] * inverse[r, q]
            root[p, q], root[q, p] = whole, whole
    for p in range(1, count):
        for q in range(1, count):
            mean[p] += root[p, q] * on[q, 0]
        left -= mean[p] * on[p, 0]
    scale = left / n
    if not (scale > 0.0 and scale < np.inf and abs(log_determinant) < np.inf):
        return False
    result[0], result[1] = -0.5 * (n * np.log(scale) + log_determinant), scale
    mean[0] = -1.0
    for p in range(count):
        for q in range(count):
            own = root[p, q] if p > 0 and q > 0 else 0.0
            on[p, q] = -0.5 * (own + mean[p] * mean[q] / scale)
    return True


@compiled
def _factor(
    step: IntVector, decay: Matrix, u: Matrix, v: Matrix, diagonal: Vector, y: Matrix,
    rows: IntVector, d: Vector, w: Matrix, z: Matrix, states: Tensor,
) -> bool:  # fmt: skip
    """Write d, w and z, each with an empty row before the first, and the states after some rows.

    A state is S above f, without what fades on the way to the next row; row −1 has none. Return
    whether the matrix is positive definite. S is symmetric, and its lower half is kept; two rows of
    it at a time keep the processor busy without a loop unrolled for each size.
    """
    n, size = u.shape
    count, place = y.shape[1], 0
    s, su = np.zeros((size, size)), np.zeros(size)
    f = np.zeros((count, size))
    d[0], w[0], z[0] = 0.0, 0.0, 0.0
    if len(rows) and rows[0] < 0:
        states[0] = 0.0
        place = 1
    for i in range(n):
        k = step[i]
        for p in range(0, size, 2):
            g0, g1, u0, u1 = decay[k, p], decay[k, p + 1], u[i, p], u[i, p + 1]
            x0, x1 = d[i] * w[i, p], d[i] * w[i, p + 1]
            t0, t1 = 0.0, 0.0
            for q in range(p):
                y0 = g0 * decay[k, q] * (s[p, q] + x0 * w[i, q])
                y1 = g1 * decay[k, q] * (s[p + 1, q] + x1 * w[i, q])
                s[p, q], s[p + 1, q] = y0, y1
                t0 += y0 * u[i, q]
                t1 += y1 * u[i, q]
                su[q] += y0 * u0 + y1 * u1
            s00 = g0 * g0 * (s[p, p] + x0 * w[i, p])
            s10 = g1 * g0 * (s[p + 1, p] + x1 * w[i, p])
            s11 = g1 * g1 * (s[p + 1, p + 1] + x1 * w[i, p + 1])
            s[p, p], s[p + 1, p], s[p + 1, p + 1] = s00, s10, s11
            su[p] = t0 + s00 * u0 + s10 * u1
            su[p + 1] = t1 + s10 * u0 + s11 * u1
        pivot = diagonal[i]
        for p in range(0, size, 2):
            pivot -= u[i, p] * su[p] + u[i, p + 1] * su[p + 1]
        if not pivot > 0.0:
            return False
        over = 1.0 / pivot
        d[i + 1] = pivot
        for p in range(0, size, 2):
            w[i + 1, p] = (v[i, p] - su[p]) * over
            w[i + 1, p + 1] = (v[i, p + 1] - su[p + 1]) * over
        for r in range(count):
            left, before = y[i, r], z[i, r]
            for p in range(0, size, 2):
                x0 = decay[k, p] * (f[r, p] + w[i, p] * before)
                x1 = decay[k, p + 1] * (f[r, p + 1] + w[i, p + 1] * before)
                f[r, p], f[r, p + 1] = x0, x1
                left -= u[i, p] * x0 + u[i, p + 1] * x1
            z[i + 1, r] = left
        if place < len(rows) and i == rows[place]:
            for p in range(size):
                for q in range(p + 1):
                    x = s[p, q] + pivot * w[i + 1, p] * w[i + 1, q]
                    states[place, p, q] = x
                    states[place, q, p] = x
                for r in range(count):
                    states[place, size + r, p] = f[r, p] + w[i + 1, p] * z[i + 1, r]
            place += 1
    return True


@compiled
def _factor_adjoint(
    step: IntVector, decay: Matrix, theta: Vector, u: Matrix, v: Matrix, d: Vector, w: Matrix,
    z: Matrix, states: Tensor, on: Matrix, sums: Matrix,
) -> float:  # fmt: skip
    """Add up the gradient along U, V and c; return the one along a constant on the diagonal.

    `on` is the gradient along zᵀ D⁻¹ z, shape (r, r); the log determinant counts by −1/2. `states`
    are those before each block of rows, from which S and f are computed again. A name ``on_x`` is
    the derivative along x. Between two rows to fade by e^{−c(θ_i − θ_j)} is to be multiplied by
    e^{−cθ_i} in U and by e^{cθ_j} in V, which gives the gradient along c.
    """
    n, size = u.shape
    count = z.shape[1]
    s, f = np.zeros((BLOCK + 1, size, size)), np.zeros((BLOCK + 1, count, size))
    on_s, on_f = np.zeros((size, size)), np.zeros((count, size))
    on_z, on_w, on_u, on_v = np.zeros(count), np.zeros(size), np.zeros(size), np.zeros(size)
    half = np.zeros(size)
    on_d, whole = 0.0, 0.0
    for i in range(n - 1, -1, -1):
        place = i % BLOCK
        if i == n - 1 or place == BLOCK - 1:
            first = i - place
            _states_again(first, place + 1, step, decay, d, w, z, states, s, f)
        place += 1
        k, over = step[i], 1.0 / d[i + 1]
        slope = on_d - 0.5 * over
        for r in range(count):
            along = 0.0
            for q in range(count):
                along += on[r, q] * z[i + 1, q]
            on_z[r] += 2.0 * over * along
            slope -= over * over * along * z[i + 1, r]
        for p in range(size):
            slope -= w[i + 1, p] * on_w[p] * over
        whole += slope
        for p in range(size):
            on_v[p] = on_w[p] * over
            half[p] = -0.5 * (on_v[p] + slope * u[i, p])
            on_u[p] = -2.0 * slope * (v[i, p] - d[i + 1] * w[i + 1, p])
            on_w[p] = 0.0
        for r in range(count):
            own, before, more = on_z[r], z[i, r], 0.0
            for p in range(0, size, 2):
                on_u[p] -= own * f[place, r, p]
                on_u[p + 1] -= own * f[place, r, p + 1]
                x0 = decay[k, p] * (on_f[r, p] - own * u[i, p])
                x1 = decay[k, p + 1] * (on_f[r, p + 1] - own * u[i, p + 1])
                on_f[r, p], on_f[r, p + 1] = x0, x1
                on_w[p] += x0 * before
                on_w[p + 1] += x1 * before
                more += x0 * w[i, p] + x1 * w[i, p + 1]
            on_z[r] = more
        on_d = _adjoint_of_update(i, k, place, decay, u, w, d, s, half, on_v, on_s, on_u, on_w)
        t = theta[i]
        for p in range(0, size, 2):
            a0, a1, b0, b1 = on_u[p], on_u[p + 1], on_v[p], on_v[p + 1]
            x0, x1, u0, u1 = v[i, p], v[i, p + 1], u[i, p], u[i, p + 1]
            sums[0, p] += a0
            sums[0, p + 1] += a1
            sums[1, p] += a0 * x0 + a1 * x1
            sums[1, p + 1] += a0 * x1 - a1 * x0
            sums[2, p] += t * (b0 * x0 - a0 * u0)
            sums[2, p + 1] += t * (b1 * x1 - a1 * u1)
            sums[3, p] += t * (a1 * u0 - a0 * u1 + b1 * x0 - b0 * x1)
    return whole


@compiled
def _states_again(
    first: int, count: int, step: IntVector, decay: Matrix, d: Vector, w: Matrix, z: Matrix,
    states: Tensor, s: Tensor, f: Tensor,
) -> None:  # fmt: skip
    """Write S and f at each row of a block, one place later, from the state before the block."""
    size, columns = w.shape[1], z.shape[1]
    for p in range(size):
        for q in range(size):
            s[0, p, q] = states[first // BLOCK, p, q]
        for r in range(columns):
            f[0, r, p] = states[first // BLOCK, size + r, p]
    for j in range(count):
        m = first + j
        k, lift = step[m], 1.0 if j else 0.0  # the state before the block has its last row in it
        for p in range(0, size, 2):
            g0, g1 = decay[k, p], decay[k, p + 1]
            x0, x1 = lift * d[m] * w[m, p], lift * d[m] * w[m, p + 1]
            for q in range(p + 2):
                s[j + 1, p, q] = g0 * decay[k, q] * (s[j, p, q] + x0 * w[m, q])
                s[j + 1, p + 1, q] = g1 * decay[k, q] * (s[j, p + 1, q] + x1 * w[m, q])
        for r in range(columns):
            x = lift * z[m, r]
            for p in range(size):
                f[j + 1, r, p] = decay[k, p] * (f[j, r, p] + w[m, p] * x)


@inlined
def _adjoint_of_update(
    i: int, k: int, place: int, decay: Matrix, u: Matrix, w: Matrix, d: Vector, s: Tensor,
    half: Vector, on_v: Vector, on_s: Matrix, on_u: Vector, on_w: Vector,
) -> float:  # fmt: skip
    """Carry the derivative along S from one row to the one before; return the one along its d.

    `half` is half of the derivative along S u.
    """
    on_d = 0.0
    for p in range(0, u.shape[1], 2):
        g0, g1, u0, u1 = decay[k, p], decay[k, p + 1], u[i, p], u[i, p + 1]
        half0, half1, w0, w1 = half[p], half[p + 1], w[i, p], w[i, p + 1]
        v0, v1 = on_v[p], on_v[p + 1]
        t0, t1, c0, c1 = 0.0, 0.0, 0.0, 0.0
        for q in range(p):
            h, a, b = decay[k, q], half[q], u[i, q]
            x = g0 * h * (on_s[p, q] + half0 * b + u0 * a)
            y = g1 * h * (on_s[p + 1, q] + half1 * b + u1 * a)
            on_s[p, q], on_s[p + 1, q] = x, y
            t0 += x * w[i, q]
            t1 += y * w[i, q]
            both = x * w0 + y * w1
            on_w[q] += 2.0 * d[i] * both
            on_d += both * w[i, q]
            c0 += s[place, p, q] * on_v[q]
            c1 += s[place, p + 1, q] * on_v[q]
            on_u[q] -= s[place, p, q] * v0 + s[place, p + 1, q] * v1
        x00 = g0 * g0 * (on_s[p, p] + 2.0 * half0 * u0)
        x10 = g1 * g0 * (on_s[p + 1, p] + half1 * u0 + u1 * half0)
        x11 = g1 * g1 * (on_s[p + 1, p + 1] + 2.0 * half1 * u1)
        on_s[p, p], on_s[p + 1, p], on_s[p + 1, p + 1] = x00, x10, x11
        t0 += x00 * w0 + x10 * w1
        t1 += x10 * w0 + x11 * w1
        on_w[p] += 2.0 * d[i] * t0
        on_w[p + 1] += 2.0 * d[i] * t1
        on_d += t0 * w0 + t1 * w1
        s00, s10, s11 = s[place, p, p], s[place, p + 1, p], s[place, p + 1, p + 1]
        on_u[p] -= c0 + s00 * v0 + s10 * v1
        on_u[p + 1] -= c1 + s10 * v0 + s11 * v1
    return on_d


@compiled
def _solve_upper(step: IntVector, decay: Matrix, u: Matrix, w: Matrix, x: Matrix) -> None:
    """Turn x into L⁻ᵀ x, from the last row to the first: x_i −= w_iᵀ g_i, g fading as f does."""
    (n, count), size = x.shape, u.shape[1]
    g = np.zeros((count, size))
    for i in range(n - 1, -1, -1):
        for r in range(count):
            left = x[i, r]
            for p in range(size):
                left -= w[i + 1, p] * g[r, p]
            x[i, r] = left
            for p in range(size):
                g[r, p] = decay[step[i], p] * (g[r, p] + u[i, p] * left)


@compiled
def _add_cross(
    theta: Vector,
    rates: Vector,
    v: Matrix,
    x: Matrix,
    at: Vector,
    u: Matrix,
    before: IntVector,
    result: Matrix,
) -> None:
    """Add the covariance with the samples before each of the sorted times, times the columns x."""
    size, count, i = v.shape[1], x.shape[1], 0
    q = np.zeros((size, count))
    for m in range(len(at)):
        for j in range(i, before[m]):
            for p in range(size):
                fade = np.exp(-rates[p] * (theta[j] - theta[max(j - 1, 0)]))
                for r in range(count):
                    q[p, r] = fade * q[p, r] + v[j, p] * x[j, r]
        i = before[m]
        for p in range(size if i else 0):
            factor = u[m, p] * np.exp(-rates[p] * (at[m] - theta[i - 1]))
            for r in range(count):
                result[m, r] += factor * q[p, r]


@compiled
def _inverse_diagonal(
    step: IntVector, decay: Matrix, u: Matrix, d: Vector, w: Matrix, diagonal: Vector
) -> None:
    """Write the diagonal of K⁻¹ = L⁻ᵀ D⁻¹ L⁻¹, from the last row to the first.

    A row passes on a vector f to those after it; fᵀ · `after` · f is what that adds to the sum of
    their squares.
    """
    n, size = u.shape
    after, along = np.zeros((size, size)), np.zeros(size)
    for i in range(n - 1, -1, -1):
        own = 1.0 / d[i + 1]
        for p in range(size):
            along[p] = 0.0
            for q in range(size):
                along[p] += after[p, q] * w[i + 1, q]
            own += w[i + 1, p] * along[p]
        diagonal[i] = own
        for p in range(size):
            for q in range(size):
                passed = after[p, q] - u[i, p] * along[q] - along[p] * u[i, q]
                passed += own * u[i, p] * u[i, q]
                after[p, q] = decay[step[i], p] * decay[step[i], q] * passed
