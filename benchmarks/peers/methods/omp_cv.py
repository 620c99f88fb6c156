"""scikit-learn's OrthogonalMatchingPursuitCV on the Fourier dictionary, five folds."""

from __future__ import annotations

import warnings

from benchmarks.peers.dictionary import Dictionary
from benchmarks.peers.method_interface import Fit, FloatArray, Hints

NAME = "OMP-CV (scikit-learn)"
PACKAGES = ("scikit-learn",)
HINTS = "the band"
MOST_COLUMNS = 60


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from sklearn.linear_model import OrthogonalMatchingPursuitCV
    from sklearn.model_selection import KFold

    dictionary = Dictionary.build(t, y, hints)
    most = min(MOST_COLUMNS, dictionary.columns.shape[1], t.size // 2)
    folds = KFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # linear dependence inside OMP ends its path early
        model = OrthogonalMatchingPursuitCV(max_iter=most, cv=folds)
        model.fit(dictionary.columns, dictionary.target)
    return dictionary.fit(model.coef_, float(model.intercept_))
