"""A Gaussian process on the line: a covariance that is a sum of damped waves, in linear time.

``k(τ) = Σ e^{−c|τ|} (a cos dτ + b sin d|τ|)``: damped oscillators driven by noise, exponential
memory, strict waves (c = 0) and their sums. celerite2 (Foreman-Mackey et al. 2017) factors the
covariance of n samples and white noise in O(n J²), where J counts two numbers per wave and one per
plain exponential. What it lacks, variances in linear time, is here: the samples before a time and
those after it tell of it by one small matrix each, and the two are joined.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.compiling import compiled
from robustfourier.mixture.factoring import averaged, inverse_diagonal
from robustfourier.periodic.basis import cos_sin

CLOSEST = 1e-6  # to 1/2, where the two formulas of an oscillator meet: this keeps both finite
_NUMBERS = 500_000  # held at once for each of the small matrices of some times


@dataclass(frozen=True, eq=False)
class Waves:
    """The covariance, term by term.

    Parameters
    ----------
    a, b, c, d : ndarray of shape (M,)
        See above; time is θ. A term with d = 0 is a plain exponential.
    owner : ndarray of int of shape (M,)
        Component that a term belongs to; −1 for the remainder.
    """

    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray
    owner: IntArray

    @classmethod
    def joined(cls, parts: list[Waves]) -> Waves:
        """Return the sum of several covariances."""
        some = [part for part in parts if len(part.a)]
        if len(some) < 2:
            return some[0] if some else cls.none()
        names = ("a", "b", "c", "d", "owner")
        return cls(*(np.concatenate([getattr(part, name) for part in some]) for name in names))

    def select(self, which: BoolArray) -> Waves:
        """Return some of the terms."""
        return Waves(self.a[which], self.b[which], self.c[which], self.d[which], self.owner[which])

    def scaled(self, factor: float) -> Waves:
        """Return the covariance times a factor."""
        return replace(self, a=factor * self.a, b=factor * self.b)

    @classmethod
    def none(cls) -> Waves:
        """Return the covariance without terms, which is zero."""
        zero = np.zeros(0)
        return cls(zero, zero, zero, zero, np.zeros(0, np.int64))

    @property
    def numbers(self) -> FloatArray:
        """The numbers a, b, c and d, shape (4, M)."""
        return np.stack([self.a, self.b, self.c, self.d])

    @property
    def variance(self) -> float:
        """The covariance at τ = 0."""
        return float(self.a.sum())

    def __call__(self, tau: FloatArray) -> FloatArray:
        """Return the covariance at distances τ."""
        far = np.abs(np.asarray(tau, np.float64))[..., None]
        wave = self.a * np.cos(self.d * far) + self.b * np.sin(self.d * far)
        return np.asarray((np.exp(-self.c * far) * wave).sum(axis=-1))

    def matrices(
        self, theta: FloatArray, diagonal: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return c, diagonal, U and V: K_ij = U_i e^{−c(θ_i−θ_j)} V_jᵀ below the diagonal."""
        from celerite2 import driver

        plain = self.d == 0.0
        wave = ~plain
        c = np.concatenate([self.c[plain], np.repeat(self.c[wave], 2)])
        n, size = len(theta), len(c)
        room = (np.empty(n), np.empty((n, size)), np.empty((n, size)))
        terms = (self.a[plain], self.a[wave], self.b[wave], self.d[wave])
        return (c, *driver.get_celerite_matrices(*terms, theta, diagonal, *room))

    def columns(self, theta: FloatArray) -> FloatArray:
        """Return terms that forget nothing as columns times random amplitudes of variance one."""
        waves = np.empty((2, len(self.d), len(theta)))
        for k, mode in enumerate(self.d / np.pi):
            cos_sin(theta, mode, waves[0, k], waves[1, k])
        return np.asarray((waves * np.sqrt(self.a)[:, None]).reshape(-1, len(theta)).T)

    def memory_of(self, which: BoolArray) -> BoolArray:
        """Return which of the J columns of U and V belong to some of the terms."""
        plain = self.d == 0.0
        return np.concatenate([which[plain], np.repeat(which[~plain], 2)])

    def turned(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return U and V at θ a quarter of a wave later, for terms that are waves with b = 0."""
        _, _, u, v = self.matrices(theta, np.zeros(len(theta)))
        u, v = (x.reshape(len(theta), -1, 2) for x in (u, v))
        return tuple(np.stack([x[..., 1], -x[..., 0]], -1).reshape(len(theta), -1) for x in (u, v))  # type: ignore[return-value]


def oscillator(frequency: float, quality: float, variance: float) -> Waves:
    """Return the covariance of a damped oscillator driven by white noise.

    Parameters
    ----------
    frequency : float
        Of the oscillator without damping, in radians per θ.
    quality : float
        Half the radians in which a swing falls to 1/e; below 1/2 it creeps back without a swing.
    variance : float

    Examples
    --------
    >>> waves = oscillator(10.0, 0.25, 2.0)
    >>> waves.variance, bool(np.allclose(waves(np.array([1e-6])), 2.0))
    (2.0, True)
    """
    return oscillators(np.array([[frequency, quality, variance]]))


def oscillators(numbers: FloatArray) -> Waves:
    """Return the covariance of oscillators, of frequency, quality and variance, shape (k, 3)."""
    a, b, c, d = oscillator_terms(numbers)
    return Waves(a, b, c, d, np.full(len(a), -1))


@compiled
def oscillator_terms(numbers: Any) -> Any:
    """a, b, c and d of the one or two terms of each damped oscillator."""
    creep = numbers[:, 1] < 0.5
    terms, m = np.zeros((4, len(numbers) + creep.sum())), 0
    for k in range(len(numbers)):
        frequency, quality, variance = numbers[k]
        f = np.sqrt(max(abs(1.0 - 4.0 * quality**2), CLOSEST))
        rate = 0.5 * frequency / quality
        if creep[k]:
            terms[0, m], terms[0, m + 1] = (
                0.5 * variance * (1.0 + 1.0 / f),
                0.5 * variance * (1.0 - 1.0 / f),
            )
            terms[2, m], terms[2, m + 1] = rate * (1.0 - f), rate * (1.0 + f)
            m += 2
        else:
            terms[0, m], terms[1, m] = variance, variance / f
            terms[2, m], terms[3, m] = rate, rate * f
            m += 1
    return terms


def log_likelihood(
    waves: Waves,
    theta: FloatArray,
    values: FloatArray,
    noise: FloatArray,
    columns: FloatArray | None = None,
) -> tuple[float, float]:
    """Return the log-likelihood up to a constant, and the factor of all variances that it is for.

    The factor is the likeliest one. −∞ if the covariance is no covariance.

    Parameters
    ----------
    waves : Waves
    theta : ndarray of shape (n,)
        Sorted.
    values : ndarray of shape (n,)
    noise : ndarray of shape (n,)
        White variance of each sample.
    columns : ndarray of shape (n, m), optional
        Strict waves, a trend or others, each times a normal variable of the factor's size.
    """
    known = np.column_stack([values] if columns is None else [values, columns])
    divided = whitened(waves, theta, noise, known)
    if divided is None:
        return -np.inf, 1.0
    z, root = divided
    value, factor, _ = averaged(z.T @ z, root, len(theta))
    if np.isfinite(value) or len(waves.a):
        return value, factor
    return -0.5 * (len(theta) * np.log(1e-300) + root), 1e-300


def whitened(
    waves: Waves, theta: FloatArray, noise: FloatArray, columns: FloatArray
) -> tuple[FloatArray, float] | None:
    """Columns over the root of the covariance, and its log determinant; None if it is none.

    The columns are overwritten.
    """
    from celerite2 import driver

    if not len(waves.a):
        return columns / np.sqrt(noise)[:, None], float(np.log(noise).sum())
    c, a, u, v = waves.matrices(theta, noise)
    try:
        d, w = driver.factor(theta, c, a, u, v, a, v.copy())
    except driver.LinAlgError:
        return None
    z = np.ascontiguousarray(columns)
    z = driver.solve_lower(theta, c, u, w, z, z)
    return z / np.sqrt(d)[:, None], float(np.log(d).sum())


@dataclass(frozen=True, eq=False)
class Conditioned:
    """A process of which samples are known.

    Parameters
    ----------
    waves : Waves
    theta : ndarray of shape (n,)
        Sorted positions of the samples.
    noise : ndarray of shape (n,)
        White variance of each.
    solved : ndarray of shape (n,)
        The samples, divided by their covariance matrix.
    """

    waves: Waves
    theta: FloatArray
    noise: FloatArray
    solved: FloatArray

    @classmethod
    def on(
        cls, waves: Waves, theta: FloatArray, noise: FloatArray, values: FloatArray
    ) -> Conditioned:
        """Condition on values at θ."""
        blank = cls(waves, theta, noise, np.zeros(len(theta)))
        return replace(blank, solved=blank.divided(values[:, None])[:, 0])

    @cached_property
    def _factored(self) -> tuple[FloatArray, ...]:
        from celerite2 import driver

        c, a, u, v = self.waves.matrices(self.theta, self.noise)
        d, w = driver.factor(self.theta, c, a, u, v, a.copy(), v.copy())
        return c, a, u, v, d, w

    def divided(self, columns: FloatArray) -> FloatArray:
        """Return the covariance matrix of the samples, inverted, times columns of shape (n, r)."""
        from celerite2 import driver

        c, _, u, _, d, w = self._factored
        z = np.array(columns, order="C")
        z = driver.solve_lower(self.theta, c, u, w, z, z)
        z /= d[:, None]
        return np.asarray(driver.solve_upper(self.theta, c, u, w, z, z))

    def mean(self, at: FloatArray, which: BoolArray | None = None) -> FloatArray:
        """Return the conditional mean of the process, or of some of its terms, at θ."""
        return self.across(at, self.solved[:, None], which)[:, 0]

    def across(
        self,
        at: FloatArray,
        solved: FloatArray,
        which: BoolArray | None = None,
        quarter: bool = False,
    ) -> FloatArray:
        """Return the covariance of θ with the samples, times columns of shape (n, r).

        Parameters
        ----------
        at : ndarray of shape (m,)
        solved : ndarray of shape (n, r)
        which : ndarray of bool, optional
            Terms that count; all by default.
        quarter : bool
            Whether to return the waves a quarter later.
        """
        from celerite2 import driver

        waves = self.waves if which is None else self.waves.select(which)
        if not len(waves.a):
            return np.zeros((len(at), solved.shape[1]))
        order = np.argsort(at, kind="stable")
        c, _, u, v = waves.matrices(self.theta, self.noise)
        sorted_at = np.ascontiguousarray(at[order], np.float64)
        _, _, u_at, v_at = waves.matrices(sorted_at, np.zeros(len(at)))
        if quarter:
            u_at, v_at = waves.turned(sorted_at)
        columns, result = np.ascontiguousarray(solved), np.zeros((len(at), solved.shape[1]))
        result = driver.general_matmul_lower(sorted_at, self.theta, c, u_at, v, columns, result)
        result = driver.general_matmul_upper(sorted_at, self.theta, c, v_at, u, columns, result)
        back = np.empty_like(result)
        back[order] = result
        return back

    @cached_property
    def _told(self) -> tuple[FloatArray, FloatArray]:
        """What the samples up to each one tell, and those from each one on, (n, J, J) both."""
        from celerite2 import driver

        c, a, u, v, d, w = self._factored
        back = -self.theta[::-1]
        a, u, v = (np.ascontiguousarray(x[::-1]) for x in (a, u, v))
        # Seen from the other end of time, U and V change their parts.
        reverse = driver.factor(back, c, a, v, u, a.copy(), u.copy())
        return _collected(self.theta, c, d, w), _collected(back, c, *reverse)[::-1]

    def variance(self, at: FloatArray, which: BoolArray | None = None) -> FloatArray:
        """Return the conditional variance of the process, or of some of its terms, at θ."""
        which = np.ones(len(self.waves.a), bool) if which is None else which
        result = np.zeros(len(at))
        rows_at_once = max(1, _NUMBERS // max(1, 4 * len(self.waves.a) ** 2))
        for start in range(0, len(at) if which.any() else 0, rows_at_once):
            rows = slice(start, start + rows_at_once)
            result[rows] = self._variance(np.ascontiguousarray(at[rows], np.float64), which)
        return result

    def _variance(self, at: FloatArray, which: BoolArray) -> FloatArray:
        """Join what the samples before and after each θ tell of it.

        With L the samples before, R those after, A and B their generators at θ, and
        K_LR = A Bᵀ, the blockwise inverse needs S = Aᵀ K_LL⁻¹ A and T = Bᵀ K_RR⁻¹ B alone:
        kᵀK⁻¹k = uᵀSu + gᵀ (1 − T S)⁻¹ T g with g = v − S u.
        """
        c = self._factored[0]
        _, _, u, v = self.waves.matrices(at, np.zeros(len(at)))
        column = self.waves.memory_of(which)
        u, v = u * column, v * column  # other terms have no covariance with those asked for
        before, after = self._told
        right = np.searchsorted(self.theta, at, side="right")
        n = len(self.theta)
        s = _carried(before, right - 1, np.abs(at - self.theta[np.maximum(right - 1, 0)]), c)
        t = _carried(after, right, np.abs(self.theta[np.minimum(right, n - 1)] - at), c)
        s[right == 0] = 0.0
        t[right == n] = 0.0
        su = np.einsum("nij,nj->ni", s, u)
        g = v - su
        tg = np.einsum("nij,nj->ni", t, g)[..., None]
        joined = np.linalg.solve(np.eye(len(c)) - t @ s, tg)[..., 0]
        known = np.einsum("ni,ni->n", u, su) + np.einsum("ni,ni->n", g, joined)
        whole = self.waves.select(which).variance
        return np.clip(whole - known, 0.0, whole)

    def left_out(self) -> tuple[FloatArray, FloatArray]:
        """Return how far each sample is from what the others tell of it, and the variance of that.

        That variance is one over the diagonal of the inverse covariance.
        """
        c, _, u, _, d, w = self._factored
        variance = 1.0 / inverse_diagonal(self.theta, c, u, d, w)
        return self.solved * variance, variance


def _collected(theta: FloatArray, c: FloatArray, d: FloatArray, w: FloatArray) -> FloatArray:
    """Return Vᵀ K⁻¹ V of the samples up to each one, carried to it, shape (n, J, J).

    Each entry is the sum of d w_i w_j of the samples, fading at the rate c_i + c_j.
    """
    from celerite2 import driver

    n, size = w.shape
    own = d[:, None] * (w[:, :, None] * w[:, None, :]).reshape(n, -1)
    rates, which = np.unique(np.add.outer(c, c), return_inverse=True)
    told, one = own.copy(), np.ones((n, 1))
    for k, rate in enumerate(rates):
        entries = np.flatnonzero(which.ravel() == k)
        columns = np.ascontiguousarray(own[:, entries])
        earlier = np.zeros_like(columns)
        told[:, entries] += driver.matmul_lower(theta, np.array([rate]), one, one, columns, earlier)
    return told.reshape(n, size, size)


def _carried(told: FloatArray, index: IntArray, far: FloatArray, c: FloatArray) -> FloatArray:
    """Return what is told at samples, at a distance from them."""
    fading = np.exp(-np.multiply.outer(far, c))
    chosen = told[np.clip(index, 0, len(told) - 1)]
    return np.asarray(fading[:, :, None] * chosen * fading[:, None, :])
