"""skglm's MCPRegression on the Fourier dictionary, the penalty chosen on a held-out fifth."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.peers.dictionary import Dictionary
from benchmarks.peers.method_interface import Fit, FloatArray, Hints

NAME = "MCPRegression (skglm)"
PACKAGES = ("skglm",)
HINTS = "the band"
PENALTIES = 20


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
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
