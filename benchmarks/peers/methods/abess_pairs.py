"""abess on the Fourier dictionary: best subset of modes, sine and cosine being one group."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.dictionary import Dictionary
from benchmarks.peers.method_interface import Fit, FloatArray, Hints

NAME = "abess, groups = modes"
PACKAGES = ("abess",)
HINTS = "the band"
MOST_MODES = 40


def fit(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from abess import LinearRegression

    dictionary = Dictionary.build(t, y, hints)
    modes = dictionary.frequencies.size
    # abess wants the columns of a group side by side.
    order = np.arange(2 * modes).reshape(2, modes).T.ravel()
    columns = dictionary.columns[:, order]
    model = LinearRegression(
        support_size=range(min(MOST_MODES, modes) + 1),
        group=np.repeat(np.arange(modes), 2),
        ic_type="ebic",
    )
    model.fit(columns, dictionary.target)
    coefficients = np.empty(2 * modes)
    coefficients[order] = model.coef_
    return dictionary.fit(coefficients, float(np.ravel(model.intercept_)[0]))
