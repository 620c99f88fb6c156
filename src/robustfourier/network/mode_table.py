"""What a trained network says about its modes, as a table in the user's units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.domain import Domain
from robustfourier.modes import ModeTable
from robustfourier.network.activity import active_modes, mode_strengths
from robustfourier.network.fourier_coefficients import network_series
from robustfourier.network.link_networks import Links
from robustfourier.network.weights import Weights


def network_modes(
    weights: Weights,
    domains: Sequence[Domain],
    scale: FloatArray,
    threshold: float | None,
    kept: BoolArray | None,
    y_ndim: int,
    level: float | None = None,
    links: Links | None = None,
) -> ModeTable:
    """Return all modes of all columns, column after column.

    Parameters
    ----------
    weights : Weights
        The trained network.
    domains : sequence of Domain
        One for each column.
    scale : ndarray, shape (q,)
        What one unit of the network's values is in y.
    threshold : float, optional
        Strength above which a mode is active, instead of the rule of `activity`.
    kept : ndarray of bool, shape (d, m), optional
        Modes that a selection left in: without a threshold, they are the active ones.
    y_ndim : int
        1 gives amplitudes of shape (n_modes,), 2 of shape (n_modes, q).
    level : float, optional
        Amplitude, in units of the network's values, above which a mode is active where neither
        `threshold` nor `kept` says so; from a calibrated training.
    links : Links, optional
        Link networks that add to the network.
    """
    series = network_series(weights, links)
    cosine_weight, sine_weight = _feature_weights(weights)
    if threshold is None and kept is not None:
        active = kept
    elif threshold is None and level is not None:
        active = active_by_level(weights, level, links)
    else:
        active = active_modes(mode_strengths(weights), threshold)
    tables = []
    for j, domain in enumerate(domains):
        cosine, sine = series.cosine[j] * scale, series.sine[j] * scale
        one = slice(0, None) if y_ndim == 2 else 0
        tables.append(
            ModeTable.build(
                mode=np.arange(1, len(cosine) + 1),
                cosine=cosine[:, one],
                sine=sine[:, one],
                span=domain.span,
                unit=domain.unit,
                cosine_weight=cosine_weight[j],
                sine_weight=sine_weight[j],
                active=active[j],
                column=np.full(len(cosine), j) if len(domains) > 1 else None,
            )
        )
    return ModeTable.stack(tables)


def active_by_level(weights: Weights, level: float | None, links: Links | None = None) -> BoolArray:
    """Return which modes of each column have a larger amplitude than `level`, shape (d, m)."""
    series = network_series(weights, links)
    size = np.hypot(series.cosine, series.sine)
    return np.asarray((size > (0.0 if level is None else level)).any(axis=2))


def _feature_weights(weights: Weights) -> tuple[FloatArray, FloatArray]:
    """Root mean square weight of each cosine and each sine over its two signs, shape (d, m)."""
    layout = weights.architecture.layout()
    if weights.diagonal is not None:
        squares = weights.diagonal.astype(np.float64) ** 2
    else:
        squares = (weights.arrays[weights.architecture.reader].astype(np.float64) ** 2).mean(axis=0)
    total = np.bincount(layout.feature, squares) / np.bincount(layout.feature)
    alone = total[: weights.architecture.n_axis_features]
    rms = np.sqrt(alone).reshape(weights.architecture.n_columns, -1)
    return rms[:, 2::2], rms[:, 1::2]
