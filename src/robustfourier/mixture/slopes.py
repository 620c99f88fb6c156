"""The likelihood of a process and its slopes in one pass forth and one back, compiled.

Forth is the factorisation of Foreman-Mackey et al. (2017), as celerite2 has it, of which
`log_likelihood` is the reference. Back is its adjoint: each number of the pass forth is told how
much the likelihood rises with it, from the last row to the first. The slopes along all parameters
of all terms cost three likelihoods, however many they are. Both ways are in `factoring`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.arrays import BoolArray, FloatArray, IntArray
from robustfourier.compiling import compiled
from robustfourier.mixture.abreast import each_summed
from robustfourier.mixture.factoring import STRETCH, averaged, back, fill, forth, steps_of
from robustfourier.mixture.process import CLOSEST, Waves, oscillator_terms

_Tables = tuple[IntArray, FloatArray, FloatArray, FloatArray]


class Likelihood:
    """The log-likelihood of processes that samples may come from, and its slopes.

    Parameters
    ----------
    theta : ndarray of shape (n,)
        Sorted.
    values : ndarray of shape (n,)
    noise : ndarray of shape (n,)
        White variance of each sample.
    columns : ndarray of shape (n, m), optional
        Strict waves, trends or others that are in the values too, as in `log_likelihood`.
    """

    def __init__(
        self,
        theta: FloatArray,
        values: FloatArray,
        noise: FloatArray,
        columns: FloatArray | None = None,
    ) -> None:
        self.theta, self.values, self.noise = (
            np.ascontiguousarray(x) for x in (theta, values, noise)
        )
        known = [values] if columns is None else [values, columns]
        self._known = np.ascontiguousarray(np.column_stack(known))
        self._steps = steps_of(self.theta)
        self._kept: dict[str, FloatArray] = {}  # room for numbers, from one call to the next

    def value(self, waves: Waves) -> tuple[float, float]:
        """Return what `log_likelihood` does: the log-likelihood, and the factor it is for."""
        if len(waves.a):
            tables, count = self._tables(waves)[1], self._known.shape[1]
            rows = (np.empty(2), np.empty((2, count)), np.empty((2, tables[2].shape[1])))
            none = np.empty((0, 0, 0))  # no way back
            gram, logs = forth(tables, waves.variance, self.noise, self._known, rows, none)
        else:
            gram = self._known.T @ (self._known / self.noise[:, None])
            logs = float(np.log(self.noise).sum())
        value, factor, _ = averaged(gram, logs, len(self.theta))
        if np.isfinite(value) or len(waves.a):
            return value, factor
        return -0.5 * (len(self.theta) * np.log(1e-300) + logs), 1e-300

    def of_each(self, present: Waves, waves: Waves, count: int) -> FloatArray:
        """Return the log-likelihoods of `count` processes, shape (count,).

        Each is what is `present`, and its part of the terms of `waves`, of like kinds in each.
        """
        samples = (self.theta, self.noise, self._known)
        pairs = zip(*each_summed(*samples, present, waves, count), strict=True)
        return np.array([averaged(*pair, len(self.theta))[0] for pair in pairs])

    def __call__(self, waves: Waves, still: int = 0) -> tuple[float, FloatArray]:
        """Return the log-likelihood of at least one term as `log_likelihood` does, and slopes.

        The slopes are those along a, b, c and d of the terms, shape (4, M). Where the first few
        terms stand still, theirs are not asked for, and not right.
        """
        wave, tables = self._tables(waves)
        (n, count), size = self._known.shape, tables[2].shape[1]
        rows = (self._room("d", n + 1), self._room("z", n + 1, count), self._room("w", n + 1, size))
        kept, slopes = (
            self._room("kept", -(-n // STRETCH), size + count, size),
            np.zeros((4, len(wave))),
        )
        gram, logs = forth(tables, waves.variance, self.noise, self._known, rows, kept)
        value, _, along = averaged(gram, logs, n)
        if np.isfinite(value):
            first = still + int(np.count_nonzero(wave[:still]))
            back(tables, self.theta, wave, rows, kept, along, slopes, first)
        return value, slopes

    def _tables(self, waves: Waves) -> tuple[BoolArray, _Tables]:
        """Which terms are waves; the step before each row, what fades in each step; U and V.

        U and V are those of `Waves.matrices`, but for the order of the columns, which is that of
        the terms.
        """
        (which, lengths), wave = self._steps, waves.d != 0.0
        n, size = len(self.theta), len(wave) + int(np.count_nonzero(wave))
        fading = self._room("fading", len(lengths), size)
        u, v = self._room("u", n, size), self._room("v", n, size)
        fill(self.theta, self._steps, (waves.a, waves.b, waves.c, waves.d), fading, u, v)
        return wave, (which, fading, u, v)

    def _room(self, name: str, *shape: int) -> FloatArray:
        """Room that was taken before, if it has this shape."""
        if name not in self._kept or self._kept[name].shape != shape:
            self._kept[name] = np.empty(shape)
        return self._kept[name]


def along_oscillators(parameters: FloatArray, slopes: FloatArray) -> FloatArray:
    """Return the slopes along the logarithms of frequency, quality and variance of oscillators.

    Parameters
    ----------
    parameters : ndarray of shape (3k,)
        These logarithms, as in `oscillators_of`.
    slopes : ndarray of shape (4, M)
        Along the numbers a, b, c and d of terms, of which theirs are the last.
    """
    return np.asarray(_along(np.exp(parameters).reshape(-1, 3), slopes).ravel())


@compiled
def _along(oscillators: Any, slopes: Any) -> Any:
    """Slopes along the logarithms, of those along a, b, c and d of the terms."""
    terms, result = oscillator_terms(oscillators), np.zeros(oscillators.shape)
    m, last = 0, slopes.shape[1] - terms.shape[1]
    for k in range(len(oscillators)):
        frequency, quality, variance = oscillators[k]
        rate, square = 0.5 * frequency / quality, 4.0 * quality**2
        f = np.sqrt(max(abs(1.0 - square), CLOSEST))
        # How f rises with the logarithm of the quality, which is what is special about it.
        rise, count = (square / f, 1) if quality >= 0.5 else (-square / f, 2)
        for i in range(count):
            (a, b, c, d), (on_a, on_b, on_c, on_d) = terms[:, m], slopes[:, last + m]
            side = 1.0 - 2.0 * i
            result[k, 0] += on_c * c + on_d * d
            result[k, 1] -= on_c * c + on_d * d
            result[k, 2] += on_a * a + on_b * b
            if count == 2:
                result[k, 1] -= side * rise * (0.5 * variance / f**2 * on_a + rate * on_c)
            else:
                result[k, 1] += rise * (rate * on_d - variance / f**2 * on_b)
            m += 1
    return result
