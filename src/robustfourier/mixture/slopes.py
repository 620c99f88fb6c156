"""The likelihood of a process and its slopes in one pass forth and one back, compiled.

Forth is the factorisation of Foreman-Mackey et al. (2017), as celerite2 has it, of which
`log_likelihood` is the reference. Back is its adjoint: each number of the pass forth is told how
much the likelihood rises with it, from the last row to the first. The slopes along all parameters
of all terms cost three likelihoods, however many they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.compiling import compiled
from robustfourier.mixture.process import CLOSEST, Waves, oscillator

__all__ = ["Likelihood", "Slopes", "along_oscillators"]


class Slopes(NamedTuple):
    """How the log-likelihood rises with the numbers a, b, c and d of each term, shape (M,) each."""

    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray

    def last(self, count: int) -> Slopes:
        """Return those of the last terms."""
        first = len(self.a) - count
        return Slopes(*(numbers[first:] for numbers in self))


class Likelihood:
    """The log-likelihood of processes that samples may come from, and its slopes.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Sorted.
    values : ndarray of shape (n,)
    noise : ndarray of shape (n,)
        White variance of each sample.
    """

    def __init__(self, theta: FloatArray, values: FloatArray, noise: FloatArray) -> None:
        self.theta, self.values, self.noise = theta, values, noise
        self._steps = np.diff(theta, prepend=theta[0])[:, None]
        self._carried = np.empty((0, 0, 0))  # kept from one call to the next

    def __call__(self, waves: Waves) -> tuple[float, Slopes]:
        """Return the log-likelihood of at least one term as `log_likelihood` does, and slopes."""
        c, diagonal, u, v = waves.matrices(self.theta, self.noise)
        rates, which = np.unique(c, return_inverse=True)
        fading = np.exp(-self._steps * rates)
        n, size = v.shape
        if self._carried.shape[1] != size:
            self._carried = np.empty((n, size, size))
        forth = (fading, which, u, v, self._carried)
        d, z, w, f = np.empty(n), np.empty(n), np.empty((n, size)), np.empty((n, size))
        nothing = Slopes(*np.zeros((4, len(waves.a))))
        if not _forth(*forth, diagonal, self.values, d, w, z, f):
            return -np.inf, nothing
        factor = float(np.mean(z**2 / d))
        if not (np.isfinite(factor) and factor > 0.0):
            return -np.inf, nothing
        value = -0.5 * (n * np.log(factor) + float(np.log(d).sum()))
        on_d, on_z = 0.5 * (z**2 / (factor * d) - 1.0) / d, -z / (factor * d)
        on_u, on_v, on_c = np.empty((n, size)), np.empty((n, size)), np.zeros(size)
        whole = _back(*forth, self.theta, d, w, z, f, on_d, on_z, on_u, on_v, on_c)
        return value, _of_terms(waves, self.theta, u, v, on_u, on_v, on_c, whole)


def _of_terms(
    waves: Waves,
    theta: FloatArray,
    u: FloatArray,
    v: FloatArray,
    on_u: FloatArray,
    on_v: FloatArray,
    on_c: FloatArray,
    whole: float,
) -> Slopes:
    """Slopes along the numbers of the terms, of those along U, V, c and the diagonal."""
    plain = waves.d == 0.0
    p, n = int(plain.sum()), len(theta)
    slopes = Slopes(*np.zeros((4, len(plain))))
    slopes.a[plain], slopes.c[plain] = on_u[:, :p].sum(axis=0), on_c[:p]
    u, v, on_u, on_v = (x[:, p:].reshape(n, -1, 2) for x in (u, v, on_u, on_v))
    slopes.a[~plain] = np.einsum("nmi,nmi->m", on_u, v)
    slopes.b[~plain] = np.einsum("nm,nm->m", on_u[..., 0], v[..., 1])
    slopes.b[~plain] -= np.einsum("nm,nm->m", on_u[..., 1], v[..., 0])
    slopes.c[~plain] = on_c[p:].reshape(-1, 2).sum(axis=1)
    for on, x in ((on_u, u), (on_v, v)):
        slopes.d[~plain] += theta @ (on[..., 1] * x[..., 0] - on[..., 0] * x[..., 1])
    slopes.a[:] += whole
    return slopes


def along_oscillators(parameters: FloatArray, slopes: Slopes) -> FloatArray:
    """Return the slopes along the logarithms of frequency, quality and variance of oscillators.

    Parameters
    ----------
    parameters : ndarray of shape (3k,)
        These logarithms, as in `oscillators_of`.
    slopes : Slopes
        Along the numbers of their terms.
    """
    result, first = np.empty((len(parameters) // 3, 3)), 0
    for k, (frequency, quality, variance) in enumerate(np.exp(parameters.reshape(-1, 3))):
        waves = oscillator(frequency, quality, variance)
        some = slice(first, first := first + len(waves.a))
        on_a, on_b, on_c, on_d = (numbers[some] for numbers in slopes)
        rate, square = 0.5 * frequency / quality, 4.0 * quality**2
        f = np.sqrt(max(abs(1.0 - square), CLOSEST))
        side = np.array([1.0, -1.0]) if quality < 0.5 else np.ones(1)
        # How f rises with the logarithm of the quality, which is what is special about it.
        rise = (square if quality >= 0.5 else -square) / f
        along = -on_c @ waves.c - on_d @ waves.d
        if quality < 0.5:
            along -= rise * (0.5 * variance / f**2 * on_a + rate * on_c) @ side
        else:
            along += rise * (rate * on_d - variance / f**2 * on_b).sum()
        result[k] = on_c @ waves.c + on_d @ waves.d, along, on_a @ waves.a + on_b @ waves.b
    return result.ravel()


@compiled
def _forth(
    fading: Any,
    which: Any,
    u: Any,
    v: Any,
    carried: Any,
    diagonal: Any,
    y: Any,
    d: Any,
    w: Any,
    z: Any,
    f: Any,
) -> bool:
    """Factor row by row, keeping all that the way back needs; False if no covariance."""
    n, size = v.shape
    for i in range(n):
        s, own = carried[i], w[i]
        if i == 0:
            s[:] = 0.0
            f[0] = 0.0
        else:
            before, last, pivot = carried[i - 1], w[i - 1], d[i - 1]
            for j in range(size):
                fade, lift = fading[i, which[j]], pivot * last[j]
                for k in range(size):
                    s[j, k] = fade * (before[j, k] + lift * last[k])
            for j in range(size):
                f[i, j] = fading[i, which[j]] * (f[i - 1, j] + last[j] * z[i - 1])
            for j in range(size):
                for k in range(size):
                    s[j, k] *= fading[i, which[k]]
        pivot, value = diagonal[i], y[i]
        for j in range(size):
            told = 0.0
            for k in range(size):
                told += s[j, k] * u[i, k]
            own[j] = v[i, j] - told
            pivot -= u[i, j] * told
            value -= u[i, j] * f[i, j]
        if not pivot > 0.0:
            return False
        d[i], z[i] = pivot, value
        for j in range(size):
            own[j] /= pivot
    return True


@compiled
def _back(
    fading: Any,
    which: Any,
    u: Any,
    v: Any,
    carried: Any,
    theta: Any,
    d: Any,
    w: Any,
    z: Any,
    f: Any,
    on_d: Any,
    on_z: Any,
    on_u: Any,
    on_v: Any,
    on_c: Any,
) -> float:
    """Fill the slopes along U, V and c; return that along the whole diagonal."""
    n, size = v.shape
    on_s, on_f, on_w = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    on_told, fade, whole = np.empty(size), np.empty(size), 0.0
    for i in range(n - 1, -1, -1):
        s, own, row = carried[i], w[i], u[i]
        rise, inner = on_z[i], 0.0
        for j in range(size):
            on_u[i, j] = -rise * f[i, j]
            on_f[j] -= rise * row[j]
            inner += own[j] * on_w[j]
        slope = on_d[i] - inner / d[i]
        whole += slope
        for j in range(size):
            on_v[i, j] = on_w[j] / d[i]
            on_told[j] = -on_w[j] / d[i] - slope * row[j]
            # What the samples before tell, S u, is v − d w.
            on_u[i, j] -= slope * (v[i, j] - d[i] * own[j])
        for j in range(size):
            total = 0.0
            for k in range(size):
                total += s[j, k] * on_told[k]
            on_u[i, j] += total
        if i == 0:
            break
        step, last, pivot = theta[i] - theta[i - 1], w[i - 1], d[i - 1]
        for j in range(size):
            fade[j] = fading[i, which[j]]
        value = 0.0
        for j in range(size):
            bent, turned = 0.0, 0.0
            half, other = 0.5 * on_told[j], 0.5 * row[j]
            for k in range(size):
                x = on_s[j, k] + half * row[k] + other * on_told[k]
                bent += x * s[j, k]
                x *= fade[j] * fade[k]
                turned += x * last[k]
                on_s[j, k] = x
            on_c[j] -= step * (2.0 * bent + on_f[j] * f[i, j])
            on_f[j] *= fade[j]
            value += on_f[j] * last[j]
            on_w[j] = 2.0 * pivot * turned + on_f[j] * z[i - 1]
            on_d[i - 1] += turned * last[j]
        on_z[i - 1] += value
    return whole
