"""scikit-learn's LassoLarsIC (BIC) on the Fourier dictionary."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.peers.dictionary import Dictionary
from benchmarks.peers.method_interface import Fit, FloatArray, Hints

NAME = "LassoLarsIC (scikit-learn)"
PACKAGES = ("scikit-learn",)
HINTS = "the band"


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from sklearn.linear_model import LassoLarsIC

    dictionary = Dictionary.build(t, y, hints)
    # With more columns than samples the criterion must be given the noise: half the first
    # differences would need an even grid, so the user's guess is the spread of the data.
    variance = None if t.size > dictionary.columns.shape[1] + 1 else float(np.var(y)) / 2.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # early stopping of the path is announced as a warning
        model = LassoLarsIC(criterion="bic", noise_variance=variance, max_iter=300)
        model.fit(dictionary.columns, dictionary.target)
    return dictionary.fit(model.coef_, float(model.intercept_))
