"""The population-mean cosinor: subjects fitted one by one, their coefficients tested together.

With β_i the coefficients of subject i of k, the mean over subjects has covariance S / k, where S is
the covariance between the β_i: it holds what each subject's own noise does and what subjects differ
by. Zero amplitude is tested by Hotelling's T² [1]_, exact where subjects are drawn alike.

References
----------
.. [1] C. Bingham, B. Arbogast, G. Cornélissen Guillaume, J. K. Lee, F. Halberg, Inferential
       statistical methods for estimating and comparing cosinor parameters, Chronobiologia 9 (1982).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import fdtrc

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.cosinor.design import Terms
from robustfourier.cosinor.series_fits import Estimates


def population_mean(subjects: Sequence[Estimates], terms: Terms) -> Estimates:
    """Join the estimates of subjects, of m series each, to those of the population.

    Parameters
    ----------
    subjects : sequence of Estimates
        One for each subject. A series that a subject does not determine counts without that
        subject.
    terms : Terms
    """
    beta = np.stack([each.beta for each in subjects])  # (k, m, c)
    there: BoolArray = np.asarray(np.isfinite(beta).all(axis=2))
    k = there.sum(axis=0).astype(np.float64)
    known = np.where(there[:, :, None], beta, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = known.sum(axis=0) / k[:, None]
        apart = np.where(there[:, :, None], beta - mean, 0.0)
        spread = np.einsum("kmc,kmd->mcd", apart, apart) / (k - 1.0)[:, None, None]
    p = np.stack(
        [_zero(mean, spread, k, terms.of_period(i)) for i in range(len(terms.periods))], axis=1
    )
    few = k < 2
    mean[few], spread[few] = np.nan, np.nan
    own = _mean_of([each.covariance for each in subjects], there)
    excess = np.trace(spread - own, axis1=1, axis2=2) / terms.count
    return Estimates(
        mean,
        spread / np.maximum(k, 1.0)[:, None, None],
        np.where(few, np.nan, k - 1.0),
        p,
        np.sqrt(_mean_of([each.noise**2 for each in subjects], there)),
        _mean_of([each.correlation for each in subjects], there),
        sum((each.rows for each in subjects), np.zeros(len(k))),
        np.full(len(k), np.nan),
        np.sqrt(np.maximum(excess, 0.0)),
    )


def _mean_of(values: Sequence[FloatArray], there: BoolArray) -> FloatArray:
    """Mean over the subjects that have a series."""
    stacked = np.stack(values)
    mask = there.reshape(there.shape + (1,) * (stacked.ndim - 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(mask, stacked, 0.0).sum(axis=0) / mask.sum(axis=0))


def _zero(mean: FloatArray, spread: FloatArray, k: FloatArray, own: slice) -> FloatArray:
    """p-value of Hotelling's T² for zero coefficients; NaN with too few subjects."""
    d = own.stop - own.start
    p = np.full(len(k), np.nan)
    able = np.flatnonzero(k > d)
    b, s = mean[able, own], spread[able, own, own]
    sound = np.linalg.cond(s) < 1.0 / np.finfo(np.float64).eps if len(able) else np.zeros(0, bool)
    able, b, s = able[sound], b[sound], s[sound]
    square = np.einsum("mc,mc->m", b, np.linalg.solve(s, b[:, :, None])[:, :, 0]) * k[able]
    p[able] = fdtrc(d, k[able] - d, square * (k[able] - d) / (d * (k[able] - 1.0)))
    return p
