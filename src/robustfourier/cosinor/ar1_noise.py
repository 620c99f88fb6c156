"""Noise of many series on one time base: white, or AR(1) of unknown correlation.

The correlation of neighbours ρ(Δ) = exp(-Δ / τ) has a grid of values, white noise among them. Given
one of them, generalised least squares and its F-test are exact; the precision matrix Q of such
noise is tridiagonal, so all values and all series together cost a few products of matrices. What is
not known of the correlation is averaged over, with weights that are its evidence (the restricted
likelihood) times a prior that the series of a survey share and that is learned from all of them.

References
----------
.. [1] D. Harville, Bayesian inference for variance components using only error contrasts,
       Biometrika 61 (1974): the restricted likelihood as an evidence.
.. [2] B. Efron, Large-Scale Inference (2010), chapter 1: a prior learned from many series.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.cosinor.design_matrix import TimeBase

# Steps of atanh ρ at the median gap: power at low frequencies, (1 + ρ) / (1 - ρ), grows by 1.2 with
# each, about what a few hundred samples tell apart; the last is 0.98.
_STEP, _NODES = 0.1, 24
CORRELATIONS = np.tanh(_STEP * np.arange(_NODES + 1))
_ROUNDS = 200  # of the learning of the prior, which rises with each and is then almost still


def first_prior() -> FloatArray:
    """Prior of the correlations where nothing is known: white or not are equally likely."""
    return np.array([0.5, *[0.5 / _NODES] * _NODES])


@dataclass(frozen=True, eq=False)
class Precision:
    """Precision matrices Q of noise of unit variance, one for each of R correlations."""

    order: IndexArray  # rows sorted by chain and time, in which all others are
    diagonal: FloatArray  # Q_ii, shape (R, n)
    beside: FloatArray  # Q_i,i+1, shape (R, n - 1)
    log_determinant: FloatArray  # log |Q|, shape (R,)

    @classmethod
    def of(cls, base: TimeBase, correlations: FloatArray = CORRELATIONS) -> Precision:
        """Matrices of a first-order Markov process in continuous time on each chain."""
        order: IndexArray = np.lexsort((base.times, base.chains)).astype(np.intp)
        gaps = np.diff(base.times[order])
        linked = np.diff(base.chains[order]) == 0
        step = float(np.median(gaps[linked])) if linked.any() else 1.0
        with np.errstate(divide="ignore"):
            exponent = np.where(linked, gaps / step, np.inf)
            phi = np.where(correlations[:, None] > 0, correlations[:, None] ** exponent, 0.0)
        # y_i - φ_i y_(i-1) has variance 1 - φ_i², independently of all before.
        share = 1.0 / np.maximum(1.0 - phi**2, np.finfo(float).eps)
        diagonal = np.ones((len(correlations), len(order)))
        diagonal[:, 1:] = share
        diagonal[:, :-1] += phi**2 * share
        return cls(order, diagonal, -phi * share, np.log(share).sum(axis=1))

    def times(self, columns: FloatArray) -> FloatArray:
        """Q X for each correlation: shape (R, n, p), rows in `order`."""
        product = self.diagonal[:, :, None] * columns
        product[:, :-1] += self.beside[:, :, None] * columns[1:]
        product[:, 1:] += self.beside[:, :, None] * columns[:-1]
        return product

    def forms(self, values: FloatArray) -> FloatArray:
        """Y' Q y for each correlation and series, shape (R, m); rows of `values` in `order`."""
        return self.diagonal @ values**2 + 2.0 * (self.beside @ (values[1:] * values[:-1]))


def weights_of(evidence: FloatArray, prior: FloatArray) -> FloatArray:
    """Weights of the correlations for each series, shape (R, m), from log evidences."""
    with np.errstate(divide="ignore"):
        score = evidence + np.log(prior)[:, None]
    score = score - score.max(axis=0)
    weight = np.exp(score)
    return np.asarray(weight / weight.sum(axis=0))


def learned_prior(evidence: FloatArray) -> FloatArray:
    """Prior that makes the series of a survey most likely, from log evidences of shape (R, m).

    Expectation-maximisation, with the first prior counted as one series more: a single series
    learns little from itself, thousands learn all from each other.
    """
    prior = start = first_prior()
    m = evidence.shape[1]
    if m < 2:
        return start
    likelihood = np.exp(evidence - evidence.max(axis=0))
    for _ in range(_ROUNDS):
        weight = prior[:, None] * likelihood
        weight /= weight.sum(axis=0)
        new = (weight.sum(axis=1) + start) / (m + 1.0)
        if np.abs(new - prior).max() < 1e-6:
            return np.asarray(new)
        prior = new
    return prior
