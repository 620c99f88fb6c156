"""The Fourier coefficients of the function that a network computes, and the table of its modes.

A network without dense layers is a sum of c·σ(w x), and its series is known in closed form:
c·σ(w x) = ½(c w x + c|w| |x|), the first part is mode k itself, and the second spreads over the
even harmonics of k. With dense layers the function is sampled and transformed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray
from robustfourier.modes import ModeTable
from robustfourier.network.active_modes import active_modes, mode_strengths
from robustfourier.network.architecture import DIAGONAL, OUTPUT
from robustfourier.network.embedding import lattice_modes
from robustfourier.network.link_networks import Links
from robustfourier.network.weights import Weights

if TYPE_CHECKING:
    from robustfourier.domain import Domain

_OVERSAMPLING = 16  # points per cycle of the highest mode; kinks alias, but weakly


@dataclass(frozen=True)
class NetworkSeries:
    """Coefficients of cos(πkθ) and sin(πkθ), k = 1 … m, of each column, the others at θ = 0."""

    cosine: FloatArray  # (d, m, q)
    sine: FloatArray


def network_series(weights: Weights, links: Links | None = None) -> NetworkSeries:
    """Return the Fourier coefficients of a network's function up to its highest mode.

    With `links`, of the sum of both.

    With several columns and dense layers the function is not a sum over columns: then these are
    the coefficients along each axis, the other columns at the middle of their range.
    """
    shape = weights.architecture
    if shape.hidden_layer_sizes:
        series = _sampled(weights.predict, shape.n_modes, shape.n_columns, shape.n_outputs)
    else:
        series = _exact_series(weights)
    if links is None:
        return series
    added = _sampled(links.predict, shape.n_modes, 1, shape.n_outputs)
    return NetworkSeries(series.cosine + added.cosine, series.sine + added.sine)


@dataclass(frozen=True)
class MixedModes:
    """Waves across several columns, amplitude · cos(π(k·θ) − phase)."""

    mode: FloatArray  # the vectors k, in cycles over the span of each column, (L, d)
    amplitude: FloatArray  # (L,) or (L, q), and so below
    phase: FloatArray
    active: BoolArray  # (L,)


def mixed_modes(weights: Weights, scale: FloatArray, level: float, y_ndim: int) -> MixedModes:
    """Return the mixed modes of a network without dense layers, of which those above are active.

    `scale` (q,): what one unit of the network's values is in y. `level`: amplitude of active modes,
    in units of the network's values. `y_ndim`: 1 gives amplitudes of shape (L,), 2 of shape (L, q).
    """
    shape, layout = weights.architecture, weights.architecture.layout()
    unit = weights.arrays[OUTPUT] * weights.arrays[DIAGONAL] * layout.sign
    total = layout.per_feature(unit)[shape.n_axis_features :]
    total = total * (0.5 if shape.activation == "relu" else 1.0)
    sine, cosine = total[::2], total[1::2]
    size, phase = np.hypot(sine, cosine), np.arctan2(sine, cosine)
    one = slice(0, None) if y_ndim == 2 else 0
    return MixedModes(
        lattice_modes(shape.n_columns, shape.mixed_modes),
        (scale * size)[:, one],
        phase[:, one],
        np.asarray((size > level).any(axis=1)),
    )


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

    `scale` (q,): what one unit of the network's values is in y. Active are modes above the
    strength `threshold`, or those `kept` (d, m) by a selection, or those above the amplitude
    `level` of a calibrated training, or those of the rule of `active_modes`: what is given first.
    `y_ndim`: 1 gives amplitudes of shape (n_modes,), 2 of shape (n_modes, q).
    """
    series = network_series(weights, links)
    cosine_weight, sine_weight = _feature_weights(weights)
    if threshold is not None or (kept is None and level is None):
        kept = active_modes(mode_strengths(weights), threshold)
    active = active_by_level(weights, level, links) if kept is None else kept
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
    shape = weights.architecture
    if weights.diagonal is not None:
        squares = weights.diagonal.astype(np.float64) ** 2
    else:
        squares = (weights.arrays[shape.reader].astype(np.float64) ** 2).mean(axis=0)
    feature = shape.layout().feature
    total = np.bincount(feature, squares) / np.bincount(feature)
    rms = np.sqrt(total[: shape.n_axis_features]).reshape(shape.n_columns, -1)
    return rms[:, 2::2], rms[:, 1::2]


def _exact_series(weights: Weights) -> NetworkSeries:
    architecture, layout = weights.architecture, weights.architecture.layout()
    c = weights.arrays[OUTPUT].astype(np.float64)
    diagonal = weights.diagonal
    w = np.ones(c.shape[1]) if diagonal is None else diagonal.astype(np.float64)
    rectified = architecture.diagonal and architecture.activation == "relu"

    def per_feature(unit: FloatArray) -> FloatArray:
        alone = layout.per_feature(unit)[: architecture.n_axis_features]
        return alone.reshape(architecture.n_columns, -1, architecture.n_outputs)

    linear = per_feature(c * w * layout.sign) * (0.5 if rectified else 1.0)
    sine, cosine = linear[:, 1::2], linear[:, 2::2]
    if rectified:
        absolute = 0.5 * per_feature(c * np.abs(w))
        cosine = cosine + _harmonics_of_absolute(absolute[:, 1::2], absolute[:, 2::2])
    return NetworkSeries(cosine, sine)


def _harmonics_of_absolute(sine: FloatArray, cosine: FloatArray) -> FloatArray:
    """Cosine coefficients of Σ_k sine_k |sin πkθ| + cosine_k |cos πkθ|, shape (d, m, q).

    |cos x| = 2/π − (4/π) Σ_n (−1)ⁿ cos(2nx)/(4n²−1), and without (−1)ⁿ for |sin x|.
    """
    total = np.zeros_like(cosine)
    n_modes = cosine.shape[1]
    for n in range(1, n_modes // 2 + 1):
        reached = n_modes // (2 * n)  # the modes k with 2nk ≤ m
        share = -4.0 / np.pi / (4 * n**2 - 1)
        source = sine[:, :reached] + (-1) ** n * cosine[:, :reached]
        total[:, 2 * n - 1 : 2 * n * reached : 2 * n] += share * source
    return total


def _sampled(
    function: Callable[[FloatArray], FloatArray], m: int, n_columns: int, n_outputs: int
) -> NetworkSeries:
    n_points = _OVERSAMPLING * m
    grid = -1.0 + 2.0 * np.arange(n_points) / n_points
    alternating = (-1.0) ** np.arange(1, m + 1)  # the grid starts at θ = −1, the transform at 0
    cosine = np.empty((n_columns, m, n_outputs))
    sine = np.empty_like(cosine)
    for column in range(n_columns):
        theta = np.zeros((n_points, n_columns))
        theta[:, column] = grid
        spectrum = np.fft.rfft(function(theta), axis=0)[1 : m + 1]
        spectrum *= 2.0 / n_points * alternating[:, None]
        cosine[column], sine[column] = spectrum.real, -spectrum.imag
    return NetworkSeries(cosine, sine)
