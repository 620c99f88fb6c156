"""abess: the best subset of modes, or of harmonic families, by its own criterion.

A column that belongs to several families is there several times; abess takes disjoint groups only.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers.dictionary import LARGEST, Dictionary
from benchmarks.peers.method_interface import Fit, FloatArray, Hints, Method
from benchmarks.peers.sinusoids import linear_trend, waves

MOST_MODES = 40
HARMONICS = 4
MOST_FAMILIES = 12


def modes(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
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


def families(t: FloatArray, y: FloatArray, hints: Hints) -> Fit:
    from abess import LinearRegression

    span = np.ptp(t)
    bases = np.arange(1.0, hints.highest_mode / HARMONICS * 2.0 + 0.25, 0.5) / span
    if t.size * bases.size * HARMONICS * 16.0 > LARGEST:
        raise MemoryError(f"{bases.size} families × {t.size} samples")
    lines = np.outer(bases, np.arange(1, HARMONICS + 1)).ravel()
    columns = waves(t, lines)
    order = np.arange(2 * lines.size).reshape(2, lines.size).T.ravel()
    group = np.repeat(np.arange(bases.size), 2 * HARMONICS)
    trend = linear_trend(t, y)
    model = LinearRegression(
        support_size=range(min(MOST_FAMILIES, bases.size) + 1), group=group, ic_type="ebic"
    )
    model.fit(columns[:, order], y - trend(t))
    weights = np.empty(2 * lines.size)
    weights[order] = model.coef_
    cosine, sine = weights[: lines.size], weights[lines.size :]
    active = np.flatnonzero((cosine != 0) | (sine != 0))
    kept, constant = np.r_[cosine[active], sine[active]], float(np.ravel(model.intercept_)[0])

    def predict(times: FloatArray) -> FloatArray:
        return trend(times) + constant + waves(times, lines[active]) @ kept

    chosen = bases[np.unique(active // HARMONICS)]
    return Fit(predict, 1.0 / lines[active], 1.0 / chosen)


METHODS = {
    "abess_pairs": Method("abess, groups = modes", ("abess",), modes, "the band"),
    "abess_families": Method("abess, groups = harmonic families", ("abess",), families, "the band"),
}
