"""Cosinor fits of many series on one time base: one factorisation for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import fdtrc

from robustfourier.arrays import BoolArray, FloatArray, IndexArray
from robustfourier.cosinor.ar1_noise import CORRELATIONS, Precision, weights_of
from robustfourier.cosinor.design_matrix import Terms, TimeBase, is_determined

# Residual that rounding leaves of a series, relative to its size: what is smaller is zero.
_ROUNDING = 64.0 * np.finfo(np.float64).eps
_NEGLIGIBLE = 1e-9  # weight of a correlation at which its test is not worth its time


@dataclass(frozen=True, eq=False)
class Estimates:
    """Coefficients of m series; NaN where a series does not determine them."""

    beta: FloatArray  # coefficients of the columns of `Terms`, shape (m, c)
    covariance: FloatArray  # shape (m, c, c)
    p: FloatArray  # of zero amplitude of each period, all its orders together, shape (m, k)
    freedom: FloatArray  # degrees of freedom of the errors, shape (m,), and so below
    noise: FloatArray  # standard deviation
    correlation: FloatArray  # of the noise one median step apart; 0 for white noise
    rows: FloatArray  # values that are there
    lack_of_fit: FloatArray  # p-value of the shape against replicates; NaN without
    between: FloatArray  # deviation of the coefficients between subjects, rms; NaN without

    @classmethod
    def unknown(cls, m: int, terms: Terms) -> Estimates:
        """Nothing known of m series."""
        c, k = terms.count, len(terms.periods)
        shapes = [(m, c), (m, c, c), (m, k)] + [(m,)] * (len(fields(cls)) - 3)
        return cls(*(np.full(shape, np.nan) for shape in shapes))

    def put(self, at: IndexArray, other: Estimates) -> None:
        """Write the answers for some series in their places."""
        for field in fields(self):
            getattr(self, field.name)[at] = getattr(other, field.name)


class Factorisation:
    """All that a fit needs of the time base and not of the values; `noise` as `rhythm` has it."""

    def __init__(self, base: TimeBase, terms: Terms, noise: str) -> None:
        self.terms, self.noise = terms, noise
        nodes = CORRELATIONS if noise == "auto" else CORRELATIONS[:1]
        self.precision = Precision.of(base, nodes)
        order = self.precision.order
        self.columns = terms.columns(base.times)[order]
        self.n, self.c = self.columns.shape
        self.freedom = self.n - self.c
        orthogonal, triangle = np.linalg.qr(self.columns)
        self.solve = np.linalg.solve(triangle, orthogonal.T)  # (c, n): y to β by least squares
        self.weighted = self.precision.times(self.columns)  # (R, n, c)
        normal = np.einsum("nc,rnd->rcd", self.columns, self.weighted)
        self.inverse = np.linalg.inv(normal)
        self.constant = 0.5 * (self.precision.log_determinant - np.linalg.slogdet(normal)[1])
        self.same = base.replicated[order]
        self.counts = np.bincount(self.same)

    def residual(self, values: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Least-squares coefficients (c, m), residual (n, m), and which series are exact (m,)."""
        left = values[self.precision.order]  # a copy, of which the residual is made in place
        level = left.mean(axis=0)
        left -= level  # so that a large level costs no digits
        beta = self.solve @ left
        size = np.abs(level) + _root_mean_square(left)
        left -= self.columns @ beta
        beta[0] += level
        exact = _root_mean_square(left) <= _ROUNDING * size
        beta[1:][:, exact] *= np.abs(beta[1:][:, exact]) > _ROUNDING * size[exact]
        return beta, left, exact

    def sums(self, left: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Steps δ from least squares (R, c, m), and residual sums of squares (R, m)."""
        r, n, c = self.weighted.shape
        cross = self.weighted.transpose(0, 2, 1).reshape(r * c, n) @ left
        cross = cross.reshape(r, c, -1)
        step = self.inverse @ cross
        total = self.precision.forms(left) - np.einsum("rcm,rcm->rm", cross, step)
        return step, np.maximum(total, 0.0)

    def evidence(self, total: FloatArray) -> FloatArray:
        """Restricted log likelihood with the variance integrated out, shape (R, m)."""
        with np.errstate(divide="ignore"):
            score = -0.5 * self.freedom * np.log(total)
        return np.asarray(np.where(np.isfinite(score), score, 0.0) + self.constant[:, None])

    def estimates(self, values: FloatArray, prior: FloatArray) -> Estimates:
        """Fit all series: complete values of shape (n, m), and the prior of the correlations."""
        beta, left, exact = self.residual(values)
        step, total = self.sums(left)
        total[:, exact], step[:, :, exact] = 0.0, 0.0
        weight = weights_of(self.evidence(total), prior[: len(total)] / prior[: len(total)].sum())
        lack, pure, pure_freedom = self._replicates(left, total[0])
        variance, freedom = total / self.freedom, float(self.freedom)
        if self.noise == "replicates":
            variance, freedom = (pure / max(pure_freedom, 1))[None, :], float(pure_freedom)
        found = beta + step  # (R, c, m)
        mean = np.einsum("rm,rcm->mc", weight, found)
        apart = found.transpose(0, 2, 1) - mean
        scale = weight * variance
        covariance = np.einsum("rm,rcd->mcd", scale, self.inverse)
        covariance += np.einsum("rm,rmc,rmd->mcd", weight, apart, apart)
        periods = range(len(self.terms.periods))
        p = np.stack([self._p(found, variance, weight, k, freedom) for k in periods], axis=1)
        return Estimates(
            *(mean, covariance, p),
            freedom=np.full(len(mean), freedom),
            noise=np.sqrt(scale.sum(axis=0)),
            correlation=weight.T @ CORRELATIONS[: len(weight)],
            rows=np.full(len(mean), float(self.n)),
            lack_of_fit=lack,
            between=np.full(len(mean), np.nan),
        )

    def _p(
        self, found: FloatArray, variance: FloatArray, weight: FloatArray, k: int, freedom: float
    ) -> FloatArray:
        """p-value of zero coefficients of a period, averaged over the correlations."""
        own = self.terms.of_period(k)
        count = own.stop - own.start
        p = np.zeros(weight.shape[1])
        for r, inverse in enumerate(self.inverse):
            at = np.flatnonzero(weight[r] > _NEGLIGIBLE)
            if not len(at):
                continue
            b, v = found[r, own][:, at], variance[r, at]
            gain = np.einsum("cm,cd,dm->m", b, np.linalg.inv(inverse[own, own]), b) / count
            ratio = np.divide(gain, v, out=np.where(gain > 0, np.inf, 0.0), where=v > 0)
            p[at] += weight[r, at] * fdtrc(count, freedom, ratio)
        return np.minimum(p / np.maximum(weight.sum(axis=0), np.finfo(float).tiny), 1.0)

    def _replicates(
        self, left: FloatArray, total: FloatArray
    ) -> tuple[FloatArray, FloatArray, int]:
        """Test of the shape against replicates; sum of squares of replicates, its freedom."""
        different = len(self.counts)
        freedom, misfit = self.n - different, different - self.c
        nan = np.full(left.shape[1], np.nan)
        if freedom < 1:
            return nan, nan, 0
        average = (self.same == np.arange(different)[:, None]) / self.counts[:, None]
        pure = np.sum((left - (average @ left)[self.same]) ** 2, axis=0)
        if misfit < 1:
            return nan, pure, freedom
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.maximum(total - pure, 0.0) / misfit / (pure / freedom)
        return fdtrc(misfit, freedom, np.where(np.isnan(ratio), 0.0, ratio)), pure, freedom


def _root_mean_square(values: FloatArray) -> FloatArray:
    """Root of the mean of the squares of each column."""
    return np.asarray(np.sqrt(np.einsum("nm,nm->m", values, values) / len(values)))


def zero_test(
    beta: FloatArray, covariance: FloatArray, freedom: FloatArray, whole: FloatArray | BoolArray
) -> FloatArray:
    """p-values of zero coefficients (m, d) by F; NaN where the covariance does not allow it.

    Where the `whole` covariance matrix was estimated, not one variance, it is Hotelling's T².
    """
    d = beta.shape[1]
    p, rest = np.full(len(beta), np.nan), np.where(whole, freedom - d + 1.0, freedom)
    sound = np.flatnonzero(np.isfinite(beta).all(axis=1) & (rest > 0))
    sound = sound[np.linalg.matrix_rank(covariance[sound], hermitian=True) == d]
    b = beta[sound]
    square = np.einsum("mc,mc->m", b, np.linalg.solve(covariance[sound], b[:, :, None])[:, :, 0])
    p[sound] = fdtrc(d, rest[sound], square / d * (rest / freedom)[sound])
    return p


def by_missing(values: FloatArray) -> list[tuple[IndexArray, IndexArray]]:
    """Series grouped by their pattern of missing values: rows that are there, and the series.

    Examples
    --------
    >>> nan = np.nan
    >>> groups = by_missing(np.array([[1.0, nan, 2.0], [3.0, 4.0, 5.0]]))
    >>> [(rows.tolist(), series.tolist()) for rows, series in groups]
    [([1], [1]), ([0, 1], [0, 2])]
    """
    there = np.isfinite(values)
    if there.all():
        return [(np.arange(len(values)), np.arange(values.shape[1]))]
    packed = np.ascontiguousarray(np.packbits(there, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(group))[:-1])
    return [(np.flatnonzero(there[:, i]), part) for i, part in zip(first, parts, strict=True)]


class Factorisations:
    """Factorisations of the patterns of missing values that occur, each made once."""

    def __init__(self, base: TimeBase, terms: Terms, noise: str) -> None:
        self.base, self.terms, self.noise = base, terms, noise
        self.last: tuple[bytes, Factorisation | None] = (b"", None)

    def of(self, rows: IndexArray) -> Factorisation | None:
        """That of some rows; None where they do not determine the coefficients."""
        key = rows.tobytes()
        if self.last[0] != key:
            base = self.base.rows(rows)
            enough = len(rows) and is_determined(self.terms.columns(base.times))
            if enough and self.noise == "replicates":
                enough = len(np.unique(base.times)) < len(rows)
            self.last = key, Factorisation(base, self.terms, self.noise) if enough else None
        return self.last[1]

    def _determined(
        self, values: FloatArray
    ) -> Iterator[tuple[IndexArray, Factorisation, FloatArray]]:
        """Series with one pattern of missing values, its factorisation, their complete values."""
        for rows, series in by_missing(values):
            made = self.of(rows)
            if made is not None:
                whole = len(rows) == values.shape[0] and len(series) == values.shape[1]
                yield series, made, values if whole else values[np.ix_(rows, series)]

    def estimates(self, values: FloatArray, prior: FloatArray) -> Estimates:
        """Fit all series of a matrix, shape (n, m), with missing values where there are NaN."""
        found = Estimates.unknown(values.shape[1], self.terms)
        found.rows[:] = np.isfinite(values).sum(axis=0)
        for series, made, complete in self._determined(values):
            found.put(series, made.estimates(complete, prior))
        return found

    def evidence(self, values: FloatArray) -> FloatArray:
        """Log evidence of each correlation for the series that determine it, shape (R, ≤ m)."""
        parts = [np.zeros((len(CORRELATIONS), 0))]
        for _, made, complete in self._determined(values):
            _, left, exact = made.residual(complete)
            parts.append(made.evidence(made.sums(left[:, ~exact])[1]))
        return np.concatenate(parts, axis=1)
