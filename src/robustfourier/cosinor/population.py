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

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.cosinor.design_matrix import Terms
from robustfourier.cosinor.series_fits import Estimates, zero_test


def population_mean(subjects: Sequence[Estimates], terms: Terms) -> Estimates:
    """Join the estimates of subjects, of m series each, to those of the population.

    A series that a subject does not determine counts without that subject.
    """
    beta = np.stack([each.beta for each in subjects])  # (k, m, c)
    there: BoolArray = np.asarray(np.isfinite(beta).all(axis=2))
    k = there.sum(axis=0).astype(np.float64)

    def average(values: Sequence[FloatArray]) -> FloatArray:
        """Mean over the subjects that have a series."""
        stacked = np.stack(values)
        mask = there.reshape(there.shape + (1,) * (stacked.ndim - 2))
        return np.asarray(np.where(mask, stacked, 0.0).sum(axis=0) / mask.sum(axis=0))

    with np.errstate(divide="ignore", invalid="ignore"):
        mean = average(list(beta))
        apart = np.where(there[:, :, None], beta - mean, 0.0)
        spread = np.einsum("kmc,kmd->mcd", apart, apart) / (k - 1.0)[:, None, None]
        few = k < 2
        mean[few], spread[few] = np.nan, np.nan
        own = average([each.covariance for each in subjects])
        noise = np.sqrt(average([each.noise**2 for each in subjects]))
        correlation = average([each.correlation for each in subjects])
    excess = np.trace(spread - own, axis1=1, axis2=2) / terms.count
    covariance = spread / np.maximum(k, 1.0)[:, None, None]
    periods = [terms.of_period(i) for i in range(len(terms.periods))]
    tests = [zero_test(mean[:, at], covariance[:, at, at], k - 1.0, ~few) for at in periods]
    return Estimates(
        *(mean, covariance, np.stack(tests, axis=1)),
        freedom=np.where(few, np.nan, k - 1.0),
        noise=noise,
        correlation=correlation,
        rows=np.sum([each.rows for each in subjects], axis=0),
        lack_of_fit=np.full(len(k), np.nan),
        between=np.sqrt(np.maximum(excess, 0.0)),
    )
