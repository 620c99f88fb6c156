"""What the samples up to a row tell of a process after it, in one compiled pass over the rows.

After that row a process needs a few numbers alone: `Told` has them for some rows of a record.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.compiling import compiled
from robustfourier.mixture.factoring import EVEN
from robustfourier.mixture.process import Waves


class Told(NamedTuple):
    """What samples tell, with V the columns of `Waves.matrices` that fade on their way to a row.

    Parameters
    ----------
    values : ndarray of shape (m, J, r)
        Vᵀ K⁻¹ Y of the samples up to each of m rows.
    known : ndarray of shape (m, J, J)
        Vᵀ K⁻¹ V.
    gram : ndarray of shape (r, r)
        Yᵀ K⁻¹ Y of all samples up to the last of these rows.
    """

    values: FloatArray
    known: FloatArray
    gram: FloatArray

    @classmethod
    def after(
        cls, rows: IndexArray, waves: Waves, theta: FloatArray, noise: FloatArray, y: FloatArray
    ) -> Told:
        """Return what the samples up to some rows tell.

        Parameters
        ----------
        rows : ndarray of int of shape (m,)
            In ascending order.
        waves : Waves
        theta, noise : ndarray of shape (n,)
            Sorted positions of the samples; white variance of each.
        y : ndarray of shape (n, r)
            Values and other columns.
        """
        return cls._of(rows, theta, waves.matrices(theta, noise), y)

    @classmethod
    def from_ends(cls, waves: Waves, theta: FloatArray, noise: FloatArray, y: FloatArray) -> Told:
        """Return what all samples tell at the first and at the last row; parameters as in `after`.

        Seen from the other end of time, U and V change their parts.
        """
        c, diagonal, u, v = waves.matrices(theta, noise)
        last = np.array([len(theta) - 1])
        turned = tuple(np.ascontiguousarray(x[::-1]) for x in (diagonal, v, u))
        first = cls._of(last, -theta[::-1], (c, *turned), np.ascontiguousarray(y[::-1]))
        after = cls._of(last, theta, (c, diagonal, u, v), y)
        values = np.concatenate([first.values, after.values])
        return cls(values, np.concatenate([first.known, after.known]), after.gram)

    @classmethod
    def _of(
        cls, rows: IndexArray, theta: FloatArray, matrices: tuple[FloatArray, ...], y: FloatArray
    ) -> Told:
        size, count = len(matrices[0]), y.shape[1]
        room = np.empty((len(rows), size, count)), np.empty((len(rows), size, size))
        told = cls(*room, np.zeros((count, count)))
        _gather(rows, theta, matrices, y, told)
        return told


@compiled
def _gather(rows: Any, theta: Any, matrices: Any, y: Any, told: Any) -> None:
    """Fill in what is told at the rows.

    What the samples before a row tell is f of the values and S, of which the lower half is kept;
    the row adds what they do not tell, z with the variance `pivot`, along w.
    """
    (c, diagonal, u, v), (values, known, gram) = matrices, told
    size, count, last, m = len(c), y.shape[1], -1.0, 0
    s, f, w, fade = np.zeros((size, size)), np.zeros((size, count)), np.zeros(size), np.ones(size)
    z = np.zeros(count)
    for i in range(rows[-1] + 1):
        step = theta[i] - theta[max(i - 1, 0)]
        if abs(step - last) > EVEN * step:
            last, fade = step, np.exp(-c * step)
        z[:] = y[i]
        w[:] = v[i]
        pivot = diagonal[i]
        for j in range(size):
            for k in range(j + 1):
                s[j, k] *= fade[j] * fade[k]
                w[j] -= s[j, k] * u[i, k]
                if k < j:
                    w[k] -= s[j, k] * u[i, j]
            for r in range(count):
                f[j, r] *= fade[j]
                z[r] -= u[i, j] * f[j, r]
        for j in range(size):
            pivot -= u[i, j] * (v[i, j] - w[j])
        for j in range(size):
            w[j] /= pivot
            for k in range(j + 1):
                s[j, k] += pivot * w[j] * w[k]
            for r in range(count):
                f[j, r] += w[j] * z[r]
        for r in range(count):
            for q in range(count):
                gram[r, q] += z[r] * z[q] / pivot
        if i == rows[m]:
            values[m] = f
            for j in range(size):
                for k in range(size):
                    known[m, j, k] = s[max(j, k), min(j, k)]
            m += 1
