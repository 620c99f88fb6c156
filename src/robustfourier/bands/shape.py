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
    """Moments around the level of each band at F frequencies.

    Parameters
    ----------
    gram : ndarray of shape (F, B, 2H, 2H)
    cross : ndarray of shape (F, B, 2H)
    square : ndarray of shape (B,)
    means : ndarray of shape (F, B, 2H)
        Means of the columns in each band.
    counts, deviation, level, log_weights : ndarray of shape (B,)
    """

    gram: FloatArray
    cross: FloatArray
    square: FloatArray
    means: FloatArray
    counts: FloatArray
    deviation: FloatArray
    level: FloatArray
    log_weights: FloatArray

    @classmethod
    def of(cls, rows: Rows, frequency: FloatArray, harmonics: int = HARMONICS) -> BandMoments:
        """Sums over the rows, at each frequency."""
        orders = np.arange(1, harmonics + 1)
        angle = 2.0 * np.pi * frequency[:, None] * (rows.times - rows.times.mean())
        wave = np.exp(1j * angle)
        powers = np.stack([wave**n for n in orders], axis=-1)  # (F, n, H)
        columns = np.concatenate([powers.real, powers.imag], axis=-1)
        parts = []
        for b in range(len(rows.names)):
            at = rows.of_band(b)
            w, x = rows.weights[at], columns[:, at]
            y = rows.values[at] - rows.level[b]
            mean = np.einsum("n,fnc->fc", w, x) / w.sum()
            centred = x - mean[:, None, :]
            weighted = w[:, None] * centred
            gram = weighted.transpose(0, 2, 1) @ centred
            parts.append((gram, weighted.transpose(0, 2, 1) @ y, float(w @ y**2), mean))
        gram, cross, square, mean = (list(each) for each in zip(*parts, strict=True))
        return cls(
            np.stack(gram, axis=1),
            np.stack(cross, axis=1),
            np.array(square),
            np.stack(mean, axis=1),
            rows.counts.astype(np.float64),
            # A band of equal values, of which there are few, is taken to vary as others do.
            np.where(rows.deviation > 0, rows.deviation, rows.deviation[rows.deviation > 0].mean()),
            rows.level,
            np.array([np.log(rows.weights[rows.of_band(b)]).sum() for b in range(len(rows.names))]),
        )

    @property
    def precision(self) -> FloatArray:
        """Prior precision of the shape, shape (2H,)."""
        orders = np.arange(1, self.gram.shape[-1] // 2 + 1, dtype=np.float64)
        return np.concatenate([orders**2, orders**2])


@dataclass(frozen=True, eq=False)
class BandShape:
    """What was fitted at F frequencies.

    Parameters
    ----------
    evidence : ndarray of shape (F,)
        Log evidence.
    shape : ndarray of shape (F, B, 2H)
        Coefficients of f in each band: cosines, then sines, at the mean time; equal in all bands
        if they share their shape.
    amplitude, noise : ndarray of shape (F, B)
    covariance : ndarray of shape (F, B, 2H, 2H)
        Of the coefficients.
    """

    evidence: FloatArray
    shape: FloatArray
    amplitude: FloatArray
    noise: FloatArray
    covariance: FloatArray


def shared_shape(moments: BandMoments) -> BandShape:
    """Fit one shape for all bands, each with an amplitude of its own."""
    f, bands = moments.cross.shape[:2]
    deviation = moments.deviation
    amplitude = np.broadcast_to(deviation, (f, bands)).copy()
    variance = np.broadcast_to(0.5 * deviation**2, (f, bands)).copy()
    prior = np.diag(moments.precision)
    for _ in range(_TURNS):
        precise = amplitude**2 / variance
        inverse = np.linalg.inv(np.einsum("fb,fbcd->fcd", precise, moments.gram) + prior)
        right = np.einsum("fb,fbc->fc", amplitude / variance, moments.cross)
        shape = np.einsum("fcd,fd->fc", inverse, right)
        spent = precise * np.einsum("fcd,fbcd->fb", inverse, moments.gram)
        power = np.einsum("fc,fbcd,fd->fb", shape, moments.gram, shape)
        cross = np.einsum("fc,fbc->fb", shape, moments.cross)
        narrow = (_RATIO * deviation) ** -2.0
        amplitude = (cross / variance + deviation * narrow) / (power / variance + narrow)
        rest = np.maximum(moments.square - 2 * amplitude * cross + amplitude**2 * power, 0.0)
        variance = _variance(rest, spent, moments)
    normal = np.einsum("fb,fbcd->fcd", amplitude**2 / variance, moments.gram) + prior
    right = np.einsum("fb,fbc->fc", amplitude / variance, moments.cross)
    shape = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
    gain = 0.5 * np.einsum("fc,fc->f", right, shape)
    evidence = _likelihood(variance, moments) + gain - _volume(normal, moments)
    evidence -= 0.5 * np.sum(((amplitude - deviation) / (_RATIO * deviation)) ** 2, axis=1)
    # Width of each amplitude's likelihood over that of its prior (Laplace).
    power = np.einsum("fc,fbcd,fd->fb", shape, moments.gram, shape)
    evidence -= 0.5 * np.log1p(power / variance * (_RATIO * deviation) ** 2).sum(axis=1)
    many = np.repeat(shape[:, None, :], bands, axis=1)
    covariance = np.repeat(np.linalg.inv(normal)[:, None], bands, axis=1)
    return BandShape(evidence, many, amplitude, np.sqrt(variance), covariance)


def own_shapes(moments: BandMoments) -> BandShape:
    """Fit each band alone, with coefficients in units of its deviation."""
    f, bands = moments.cross.shape[:2]
    deviation = moments.deviation
    variance = np.broadcast_to(0.5 * deviation**2, (f, bands)).copy()
    prior = np.diag(moments.precision)
    for _ in range(_TURNS):
        scale = (deviation**2 / variance)[:, :, None, None]
        inverse = np.linalg.inv(scale * moments.gram + prior)
        right = (deviation / variance)[:, :, None] * moments.cross
        shape = np.einsum("fbcd,fbd->fbc", inverse, right)
        spent = scale[:, :, 0, 0] * np.einsum("fbcd,fbcd->fb", inverse, moments.gram)
        cross = np.einsum("fbc,fbc->fb", shape, moments.cross)
        power = np.einsum("fbc,fbcd,fbd->fb", shape, moments.gram, shape)
        rest = np.maximum(moments.square - 2 * deviation * cross + deviation**2 * power, 0.0)
        variance = _variance(rest, spent, moments)
    normal = (deviation**2 / variance)[:, :, None, None] * moments.gram + prior
    right = (deviation / variance)[:, :, None] * moments.cross
    shape = np.linalg.solve(normal, right[..., None])[..., 0]
    gain = 0.5 * np.einsum("fbc,fbc->f", right, shape)
    evidence = _likelihood(variance, moments) + gain - _volume(normal, moments).sum(axis=1)
    amplitude = np.broadcast_to(deviation, (f, bands)).copy()
    spread = np.asarray(np.linalg.inv(normal), np.float64)
    return BandShape(evidence, np.asarray(shape, np.float64), amplitude, np.sqrt(variance), spread)


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
