"""Sparse regressions of scikit-learn and skglm on the Fourier dictionary."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.peers.dictionary import Dictionary
from benchmarks.peers.method_interface import Fit, FloatArray, Hints, Method

MOST_COLUMNS = 60  # of orthogonal matching pursuit
PENALTIES = 20  # of MCPRegression, the best chosen on a held-out fifth


def lasso_cv(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from sklearn.linear_model import LassoCV
    from sklearn.model_selection import KFold

    dictionary = Dictionary.build(t, y, hints)
    model = LassoCV(alphas=30, cv=KFold(5, shuffle=True, random_state=0), selection="cyclic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # slow convergence at the smallest penalties
        model.fit(dictionary.columns, dictionary.target)
    return dictionary.fit(model.coef_, float(model.intercept_))


def lasso_lars_ic(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
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


def omp_cv(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
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


def skglm_mcp(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from skglm import MCPRegression

    dictionary = Dictionary.build(t, y, hints)
    X, target = dictionary.columns, dictionary.target
    held = np.random.default_rng(0).random(t.size) < 0.2
    train = np.asfortranarray(X[~held])
    largest = np.abs(train.T @ target[~held]).max() / np.count_nonzero(~held)
    best, best_error = None, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # slow convergence at the smallest penalties
        for alpha in largest * np.geomspace(0.9, 0.01, PENALTIES):
            model = MCPRegression(alpha=alpha, gamma=3.0, max_iter=50).fit(train, target[~held])
            error = float(np.mean((model.predict(X[held]) - target[held]) ** 2))
            if error < best_error:
                best, best_error = alpha, error
            elif error > 1.3 * best_error:
                break  # the path only gets denser and slower from here
        model = MCPRegression(alpha=best, gamma=3.0, max_iter=50).fit(X, target)
    return dictionary.fit(np.asarray(model.coef_), float(model.intercept_))


METHODS = {
    "lasso_cv": Method("LassoCV (scikit-learn)", ("scikit-learn",), lasso_cv, "the band"),
    "lasso_lars_ic": Method(
        "LassoLarsIC (scikit-learn)", ("scikit-learn",), lasso_lars_ic, "the band"
    ),
    "omp_cv": Method("OMP-CV (scikit-learn)", ("scikit-learn",), omp_cv, "the band"),
    "skglm_mcp": Method("MCPRegression (skglm)", ("skglm",), skglm_mcp, "the band"),
}
