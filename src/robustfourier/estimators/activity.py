"""Which modes are active: those whose weights stand out from the modes that carry nothing.

The strength of mode k is the size of what its units pass on: s_k² = Σ w_i²·‖A_i‖² over the units
i of its sine and cosine (both signs), with w_i the diagonal weight and A_i the weights behind the
unit. Most modes carry nothing; their strengths scatter around a common level because they were
drawn at random and pushed around by noise. Products of weights scatter by factors, so the scatter
is measured on log s, robustly (median and median absolute deviation), and a mode is active if it
stands above the level by more than the largest of m normal deviates does in 95 of 100 cases:

    log s_k > median(log s) + z·1.4826·MAD(log s),    z = Φ⁻¹(1 − 0.05/m).

Nothing is to be chosen. The upper tail of a product of normal weights, seen in log s, is shorter
than the normal one: with 50 modes and more of pure noise, a false mode appears in at most 3 of
100 trainings, with 20 modes in about 5.

When it fails
-------------
* More than about a third of the modes carry something: the median is no longer the level of
  nothing, and weak modes are missed. Use more modes than the signal has, or a threshold.
* Fewer than 20 modes: level and scatter are guesses; with 10, a false mode in 1 of 10 trainings.
* Training was too short: weak modes have not yet left the crowd and are missed.
* Training was so long that noise was fitted: the crowd's level rises to that of the noise in each
  mode, about σ√(2/n) for n samples; weaker modes cannot be told from it by any rule.
* Without diagonal layer training does not push modes apart; the rule then finds what little
  stands out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from robustfourier.errors import InputError
from robustfourier.network.architecture import DIAGONAL, OUTPUT
from robustfourier.network.weights import Weights

__all__ = ["active_modes", "mode_strengths"]

_FALSE_ALARM = 0.05  # for all modes together
_NORMAL_MAD = 1.4826  # the standard deviation of a normal variable with MAD 1
_EXACT = 1e-12  # relative to the strongest mode: below is rounding, not weight


def mode_strengths(weights: Weights) -> NDArray[np.float64]:
    """Return how strongly each mode of each column enters the network.

    Parameters
    ----------
    weights : Weights

    Returns
    -------
    ndarray, shape (d, m)
        Root of the summed squares over sine and cosine and both signs. Without a diagonal layer
        +φ and −φ act as one input, and the difference of their weights counts.
    """
    architecture, layout = weights.architecture, weights.architecture.layout()
    behind = "dense.0.weight" if architecture.hidden_layer_sizes else OUTPUT
    passed = weights.arrays[behind].astype(np.float64)
    squares = np.zeros(architecture.n_features)
    if architecture.diagonal:
        units = (passed * weights.arrays[DIAGONAL]) ** 2
        np.add.at(squares, layout.feature, units.sum(axis=0))
    else:
        folded = np.zeros((architecture.n_features, len(passed)))
        np.add.at(folded, layout.feature, (passed * layout.sign).T)
        squares += (folded**2).sum(axis=1)
    per_column = squares.reshape(architecture.n_columns, -1)
    return np.sqrt(per_column[:, 1::2] + per_column[:, 2::2])


def active_modes(
    strengths: NDArray[np.float64], threshold: float | None = None
) -> NDArray[np.bool_]:
    """Return which modes stand out; see the module's text for the rule.

    Parameters
    ----------
    strengths : ndarray
        Strengths s ≥ 0 of all modes, any shape; they share one level.
    threshold : float, optional
        Call modes active whose strength is larger than this, instead of the rule.

    Returns
    -------
    ndarray of bool, same shape

    Examples
    --------
    >>> import numpy as np
    >>> strengths = np.random.default_rng(0).rayleigh(0.01, 100)
    >>> strengths[[4, 28]] = 0.5, 0.8
    >>> np.flatnonzero(active_modes(strengths)) + 1
    array([ 5, 29])
    """
    strengths = np.asarray(strengths, dtype=np.float64)
    if threshold is not None:
        if not (np.isfinite(threshold) and threshold >= 0):
            raise InputError(f"threshold={threshold!r} must be 0 or positive, or None for the rule")
        return strengths > threshold
    floor = _EXACT * strengths.max(initial=0.0)
    if np.median(strengths) <= floor:
        return strengths > floor  # exactly sparse: nothing is zero, and everything else is not
    log = np.log(np.maximum(strengths, floor))
    level = np.median(log)
    scatter = _NORMAL_MAD * np.median(np.abs(log - level))
    # a scatter of nothing (all modes but a few exactly equal) must not call rounding active
    z = norm.ppf(1.0 - _FALSE_ALARM / strengths.size)
    return log > level + max(z * scatter, 1e-9)
