"""Which modes are active: those whose weights stand out from the modes that carry nothing.

The strength of mode k is the size of what its units pass on: s_k² = Σ w_i²·‖A_i‖² over the units
i of its sine and cosine (both signs), with w_i the diagonal weight and A_i the weights behind the
unit. Most modes carry nothing: their weights are what was drawn at random and pushed around by
noise. Such a strength scatters like a product of two normal weights (sine and cosine together),
whose tail is exponential, P(s > xτ) ≈ 1.17·e⁻ˣ, with median 0.876·τ; sums over more units and
layers behind have lighter tails. The median over all modes therefore gives τ, and a mode is active
if nothing would be this strong anywhere among m modes in 95 of 100 trainings:

    s_k > τ·log(1.17·m / 0.05),    τ = median(s) / 0.876,

with the median taken again over the modes not called active until nothing changes. There is no
number to choose. For 100 modes the bound is 8.9 times the median.

Checked on simulated strengths: of modes that carry nothing, one or more is called active in 5 to 9
of 100 cases (10 to 1000 modes; in 0 of 100 if their weights scatter like Gaussians); modes 20
times the median are all found while up to a third of all modes carry something.

When it fails
-------------
* The weights of modes that carry nothing scatter more widely than products of normal weights: with
  log-normal strengths (σ = 0.8) one or more of 100 is called active in about 28 of 100 cases, of
  1000 in 69. Look at the amplitudes, or give a threshold.
* More than about 40 % of the modes carry something: the median is no longer the level of
  nothing. Use more modes than the signal has, or a threshold.
* Training was too short: weak modes have not yet left the crowd and are missed.
* Training was so long that noise was fitted: the crowd's level rises to that of the noise in each
  mode, about σ√(2/n) for n samples; modes below 9 times that are missed.
* ``init="glorot"`` breaks the pairs of half the modes; what is left over shows as a mode at 2k.
* Without diagonal layer training does not push modes apart, and hardly any mode stands out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.errors import InputError
from robustfourier.network.architecture import DIAGONAL
from robustfourier.network.embedding import EmbeddingKind, embedding_layout
from robustfourier.network.weights import Weights

_FALSE_ALARM = 0.05  # for all modes together
_TAIL = 1.17  # P(s > xτ) ≈ 1.17 e⁻ˣ for s = τ·hypot(N₁N₂, N₃N₄), x > 5
_MEDIAN = 0.876  # of s/τ
_EXACT = 1e-12  # relative to the strongest mode: below is rounding, not weight


def diagonal_sizes(
    diagonal: NDArray[Any], n_modes: int, kind: EmbeddingKind = "signed"
) -> FloatArray:
    """Return the size of the diagonal weights of each mode, shape (…, m): what the paper looks at.

    Root of the summed squares over sine and cosine and both signs.

    Examples
    --------
    >>> diagonal_sizes(np.array([9.0, 3.0, 0.0, 9.0, 0.0, 4.0]), 1)
    array([5.])
    """
    mode = embedding_layout(n_modes, kind).mode
    gather = np.equal.outer(mode, np.arange(1, n_modes + 1)).astype(np.float64)
    return np.sqrt(diagonal.astype(np.float64) ** 2 @ gather)


def mode_strengths(weights: Weights) -> FloatArray:
    """Return how strongly each mode of each column enters the network.

    Returns shape (d, m): root of the summed squares over sine and cosine and both signs. Without a
    diagonal layer +φ and −φ act as one input, and the difference of their weights counts.
    """
    architecture, layout = weights.architecture, weights.architecture.layout()
    passed = weights.arrays[architecture.reader].astype(np.float64)
    if architecture.diagonal:
        units = (passed * weights.arrays[DIAGONAL]) ** 2
        squares = layout.per_feature(units.sum(axis=0))
    else:
        squares = (layout.per_feature(passed * layout.sign) ** 2).sum(axis=1)
    alone = squares[: architecture.n_axis_features]  # mixed modes belong to no column
    per_column = alone.reshape(architecture.n_columns, -1)
    return np.sqrt(per_column[:, 1::2] + per_column[:, 2::2])


def active_modes(strengths: FloatArray, threshold: float | None = None) -> BoolArray:
    """Return which modes stand out; see the module's text for the rule.

    `strengths`: strengths s ≥ 0 of all modes, any shape; they share one level. `threshold`: call
    modes active whose strength is larger than this, instead of the rule.

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
    times_tau = np.log(_TAIL * strengths.size / _FALSE_ALARM)
    active = np.zeros(strengths.shape, dtype=bool)
    while not active.all():
        # a median of zero means exact sparsity: then everything that is not rounding is active
        tau = np.median(strengths[~active]) / _MEDIAN
        found = strengths > max(times_tau * tau, floor)
        if not (found & ~active).any():
            break
        active |= found
    return active
