"""The joint search: one period in all bands, each with its own level and noise.

With R_b² the share of a band's variance that a cosine and a sine of frequency f explain beside its
level, z_b = -(n_b - 3)/2 · log(1 - R_b²) is exactly exponential under white noise, so their sum
over B bands is a gamma variable, and its largest value over the range has the false-alarm
probability of B outputs (`robustfourier.mixture.significance`). Where bands have few rows each, one
cosine for all of them, each band scaled by its deviation, sees more: both sums are searched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.bands.band_rows import Rows
from robustfourier.mixture.significance import false_alarm, search_width
from robustfourier.periodic.frequency_limits import highest_mode
from robustfourier.periodic.nufft import RealModeSums

_SPACING = 0.25  # modes: a peak has lost 5 % of its height at most
_LOWEST = 1.5  # cycles over the record


@dataclass(frozen=True, eq=False)
class JointPeriodogram:
    """Both sums on a grid of F frequencies."""

    frequency: FloatArray  # in cycles per unit of time
    own: FloatArray  # sum over bands of z_b
    shared: FloatArray  # z of one cosine for all bands
    width: float  # range searched, in units of independence
    bands: int  # that are summed in `own`
    rule: str  # why the search ended where it did

    @property
    def false_alarm(self) -> float:
        """How often noise alone shows a peak as high in either sum."""
        own = false_alarm(self.own.max(keepdims=True), width=self.width, n_outputs=self.bands)
        shared = false_alarm(self.shared.max(keepdims=True), width=self.width)
        return float(min(2.0 * min(own[0], shared[0]), 1.0))

    def peaks(self, count: int) -> FloatArray:
        """Frequencies of the highest peaks of both sums, and of those of half and twice them."""
        found = []
        for power in (self.own, self.shared):
            inner = power[1:-1]
            top = np.flatnonzero((inner >= power[:-2]) & (inner >= power[2:])) + 1
            found.append(self.frequency[top[np.argsort(-power[top])[:count]]])
        each = np.unique(np.concatenate(found))
        strongest = np.concatenate([part[: count // 8] for part in found])
        near = np.concatenate([each, 0.5 * strongest, 2.0 * strongest])
        inside = (near >= self.frequency[0]) & (near <= self.frequency[-1])
        return np.unique(near[inside])


def joint_periodogram(rows: Rows, max_frequency: float | None = None) -> JointPeriodogram:
    """Search all frequencies from one and a half cycles over the record on.

    They end at `max_frequency`, or by the rule of `highest_mode` for all times together.
    """
    first, span = float(rows.times.min()), float(np.ptp(rows.times))
    theta = 2.0 * (rows.times - first) / span - 1.0
    limit = highest_mode(np.sort(theta), None if max_frequency is None else max_frequency * span)
    highest = limit.max_mode if limit.beyond is None else limit.beyond
    modes = np.arange(_LOWEST, max(highest, 2.0 * _LOWEST), _SPACING)
    own, shared = _strengths(rows, theta, len(modes))
    weights = rows.weights / rows.counts[rows.band]
    width = search_width(theta, weights, float(modes[0]), float(modes[-1]))
    return JointPeriodogram(modes / span, own, shared, width, len(rows.searched), limit.rule)


def _strengths(rows: Rows, theta: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Both sums at `count` modes."""
    own, joint = np.zeros(count), np.zeros((5, count))
    total, n = 0.0, 0
    for b in rows.searched:
        moments, square = _moments(rows, theta, b, count)
        own += _strength(moments, square, int(rows.counts[b]) - 3)
        joint += moments
        total, n = total + square, n + int(rows.counts[b])
    return own, _strength(joint, total, n - len(rows.searched) - 2)


def _moments(rows: Rows, theta: FloatArray, b: int, count: int) -> tuple[FloatArray, float]:
    """Sums CC, SS, CS, YC, YS around the level (5, count), and YY, of a band in its deviations."""
    at = rows.of_band(b)
    w = rows.weights[at] / rows.weights[at].sum()
    y = (rows.values[at] - rows.level[b]) / rows.deviation[b]
    first = round(_LOWEST / _SPACING)
    end = first + count
    sums = RealModeSums.of(theta[at], np.stack([w, w * y], axis=1), 2.0 * _SPACING * end)
    window, data = sums.on_grid(_SPACING, 2 * end).T.conj()
    one, two, data = window[first:end], window[2 * first : 2 * end : 2], data[first:end]
    c, s = one.real, one.imag
    products = [0.5 * (1 + two.real) - c**2, 0.5 * (1 - two.real) - s**2, 0.5 * two.imag - c * s]
    n = float(rows.counts[b])
    return n * np.stack([*products, data.real, data.imag]), n * float(w @ y**2)


def _strength(moments: FloatArray, square: float, freedom: int) -> FloatArray:
    """Z = -freedom/2 · log(1 - R²), exponential under white noise."""
    cc, ss, cs, yc, ys = moments
    determinant = cc * ss - cs**2
    gain = (ss * yc**2 - 2.0 * cs * yc * ys + cc * ys**2) / np.maximum(determinant, 1e-300)
    parallel = determinant < 1e-3 * (0.5 * (cc + ss)) ** 2  # as in `PeriodogramGrid`
    gain = np.where(parallel, (yc**2 + ys**2) / np.maximum(cc + ss, 1e-300), gain)
    share = np.clip(gain / square, 0.0, 1.0 - 1e-12)
    return np.asarray(-0.5 * freedom * np.log1p(-share))
