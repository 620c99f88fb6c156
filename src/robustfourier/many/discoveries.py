"""False discoveries over a survey: q-values by Benjamini and Hochberg.

At a false-alarm probability of 0.01, a hundred of ten thousand series of pure noise show a pattern.
The q-value of a pattern is the expected share of false ones among all patterns at least as
significant: keep those up to q = 0.05, and about one in twenty of them is false.
"""

from __future__ import annotations

import numpy as np

from robustfourier.arrays import FloatArray


def q_values(p: FloatArray, tests: int) -> FloatArray:
    """Return q-values of the tests that passed, shape (m,).

    Parameters
    ----------
    p : ndarray of shape (m,)
        False-alarm probabilities of all patterns that were found.
    tests : int
        How many patterns were tested, at least m: each search ends with one that did not pass,
        whose probability is taken as one.

    Examples
    --------
    >>> q_values(np.array([0.001, 0.04, 0.002]), tests=10)
    array([0.01      , 0.13333333, 0.01      ])
    """
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, len(p) + 1)
    steps = np.minimum(p[order] * tests / rank, 1.0)
    found = np.empty(len(p))
    found[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return found
