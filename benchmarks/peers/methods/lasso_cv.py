"""scikit-learn's LassoCV on the Fourier dictionary, five folds."""

from __future__ import annotations

import warnings

from benchmarks.peers.dictionary import Dictionary
from benchmarks.peers.method_interface import Fit, FloatArray, Hints

NAME = "LassoCV (scikit-learn)"
PACKAGES = ("scikit-learn",)
HINTS = "the band"


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from sklearn.linear_model import LassoCV
    from sklearn.model_selection import KFold

    dictionary = Dictionary.build(t, y, hints)
    model = LassoCV(alphas=30, cv=KFold(5, shuffle=True, random_state=0), selection="cyclic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # slow convergence at the smallest penalties
        model.fit(dictionary.columns, dictionary.target)
    return dictionary.fit(model.coef_, float(model.intercept_))
