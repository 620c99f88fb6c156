"""The shape that bands share, or have each for itself, and the evidence of a frequency.

y = m_b + a_b f(t) + noise of variance σ_b² / w, with f(t) = Σ_n [c_n cos 2πnft + d_n sin 2πnft],
c_n, d_n ~ N(0, 1/n²) and a_b ~ N(deviation_b, (deviation_b / 2)²). Levels and shape are integrated
out, amplitudes and noises are at their largest likelihood, by turns: each is a least-squares
problem given the others, and all of them need only the moments of each band. With shapes of their
own, bands have coefficients that share nothing but the frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.bands.band_rows import Rows

HARMONICS = 6  # the prior shrinks those that the rows do not ask for
_TURNS = 12  # of amplitudes, shape and noise; half as many are almost still
_PRIOR_ROWS = 4.0  # that the noise of all bands, in units of their deviations, counts in each band
_RATIO = 0.5  # by which amplitudes scatter around the deviations


@dataclass(frozen=True, eq=False)
class BandMoments:
    """Moments around the level of each of B bands at F frequencies, with H harmonics."""

    gram: FloatArray  # shape (F, B, 2H, 2H)
    cross: FloatArray  # shape (F, B, 2H)
    square: FloatArray  # shape (B,)
    means: FloatArray  # of the columns in each band, shape (F, B, 2H)
    counts: FloatArray  # shape (B,), and so below
    deviation: FloatArray
    log_weights: FloatArray

    @classmethod
    def of(cls, rows: Rows, frequency: FloatArray, harmonics: int = HARMONICS) -> BandMoments:
        """Sums over the rows, at each frequency."""
        orders = np.arange(1, harmonics + 1)
        angle = 2.0 * np.pi * frequency[:, None] * (rows.times - rows.times.mean())
        wave = np.exp(1j * angle)
        powers = np.stack([wave**n for n in orders], axis=-1)  # (F, n, H)
        columns = np.concatenate([powers.real, powers.imag], axis=-1)
        gram, cross, square, means, log_weights = [], [], [], [], []
        for b in range(len(rows.names)):
            at = rows.of_band(b)
            w, x = rows.weights[at], columns[:, at]
            y = rows.values[at] - rows.level[b]
            mean = np.einsum("n,fnc->fc", w, x) / w.sum()
            centred = x - mean[:, None, :]
            weighted = (w[:, None] * centred).transpose(0, 2, 1)
            gram.append(weighted @ centred)
            cross.append(weighted @ y)
            square.append(w @ y**2)
            means.append(mean)
            log_weights.append(np.log(w).sum())
        return cls(
            *(np.stack(gram, axis=1), np.stack(cross, axis=1), np.array(square)),
            np.stack(means, axis=1),
            rows.counts.astype(np.float64),
            # A band of equal values, of which there are few, is taken to vary as others do.
            np.where(rows.deviation > 0, rows.deviation, rows.deviation[rows.deviation > 0].mean()),
            np.array(log_weights),
        )

    @property
    def precision(self) -> FloatArray:
        """Prior precision of the shape, shape (2H,)."""
        orders = np.arange(1, self.gram.shape[-1] // 2 + 1, dtype=np.float64)
        return np.concatenate([orders**2, orders**2])


@dataclass(frozen=True, eq=False)
class BandShape:
    """What was fitted at F frequencies."""

    evidence: FloatArray  # log evidence, shape (F,)
    #: Coefficients of f in each band, shape (F, B, 2H): cosines, then sines, at the mean time.
    shape: FloatArray
    amplitude: FloatArray  # shape (F, B)
    noise: FloatArray  # shape (F, B)


def fitted_shape(moments: BandMoments, shared: bool) -> BandShape:
    """Fit one shape for all bands, each with its amplitude, or a shape of its own for each.

    Own shapes are in units of the band's deviation, which is their amplitude.
    """
    deviation, bands = moments.deviation, moments.cross.shape[:2]
    amplitude = np.broadcast_to(deviation, bands).copy()
    variance = np.broadcast_to(0.5 * deviation**2, bands).copy()
    narrow = (_RATIO * deviation) ** -2.0
    for _ in range(_TURNS):
        normal, right = _normal_equations(moments, amplitude, variance, shared)
        inverse = np.linalg.inv(normal)
        shape = np.einsum("fbcd,fbd->fbc", inverse, right)
        spent = amplitude**2 / variance * np.einsum("fbcd,fbcd->fb", inverse, moments.gram)
        cross, power = _products(moments, shape)
        if shared:
            amplitude = (cross / variance + deviation * narrow) / (power / variance + narrow)
        rest = np.maximum(moments.square - 2 * amplitude * cross + amplitude**2 * power, 0.0)
        variance = _variance(rest, spent, moments)
    normal, right = _normal_equations(moments, amplitude, variance, shared)
    shape = np.asarray(np.linalg.solve(normal, right[..., None])[..., 0], np.float64)
    gain = 0.5 * np.einsum("fbc,fbc->f", right, shape)
    evidence = _likelihood(variance, moments) + gain - _volume(normal, moments).sum(axis=1)
    if shared:
        evidence -= 0.5 * np.sum(((amplitude - deviation) / (_RATIO * deviation)) ** 2, axis=1)
        # Width of each amplitude's likelihood over that of its prior (Laplace).
        power = _products(moments, shape)[1]
        evidence -= 0.5 * np.log1p(power / variance * (_RATIO * deviation) ** 2).sum(axis=1)
    every = np.broadcast_to(shape, moments.cross.shape)
    return BandShape(evidence, every, amplitude, np.sqrt(variance))


def _normal_equations(
    moments: BandMoments, amplitude: FloatArray, variance: FloatArray, shared: bool
) -> tuple[FloatArray, FloatArray]:
    """Matrices (F, B, 2H, 2H) and right sides (F, B, 2H) of the shapes; B is 1 if it is shared."""
    precise, scale, prior = amplitude**2 / variance, amplitude / variance, moments.precision
    if shared:
        gram = np.einsum("fb,fbcd->fcd", precise, moments.gram)[:, None]
        right = np.einsum("fb,fbc->fc", scale, moments.cross)[:, None]
        return gram + np.diag(prior), right
    gram = precise[:, :, None, None] * moments.gram
    return gram + np.diag(prior), scale[:, :, None] * moments.cross


def _products(moments: BandMoments, shape: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of each band's function: sum of products with the values, and of squares, shape (F, B)."""
    cross = np.einsum("fbc,fbc->fb", shape, moments.cross)
    return cross, np.einsum("fbc,fbcd,fbd->fb", shape, moments.gram, shape)


def _variance(rest: FloatArray, spent: FloatArray, moments: BandMoments) -> FloatArray:
    """Noise of each band, to which that of all bands counts as a few rows.

    `spent` is what the shape takes of a band's rows: as many as coefficients, less what the prior
    holds [1]_.

    References
    ----------
    .. [1] D. MacKay, Bayesian interpolation, Neural Computation 4 (1992), section 4.4.
    """
    relative = rest / moments.deviation**2
    freedom = np.maximum(moments.counts - 1.0 - spent, 0.0)
    total = np.maximum(freedom.sum(axis=1, keepdims=True), 1.0)
    common = relative.sum(axis=1, keepdims=True) / total
    least = 1e-12 * moments.deviation**2  # a series without noise still has rounding errors
    pooled = (relative + _PRIOR_ROWS * common) / (freedom + _PRIOR_ROWS)
    return np.maximum(pooled * moments.deviation**2, least)


def _likelihood(variance: FloatArray, moments: BandMoments) -> FloatArray:
    """Log likelihood of the levels alone, which are integrated out."""
    freedom = np.maximum(moments.counts - 1.0, 0.0)
    total = -0.5 * freedom * np.log(variance) - 0.5 * moments.square / variance
    return np.asarray(np.sum(total + 0.5 * moments.log_weights, axis=1))


def _volume(normal: FloatArray, moments: BandMoments) -> FloatArray:
    """Half the logarithm of posterior over prior precision of a shape."""
    own = np.linalg.slogdet(normal)[1]
    return np.asarray(0.5 * (own - np.log(moments.precision).sum()))
