"""The passes over the rows of a process, compiled: forth, which factors, and back, its adjoint.

What the samples before a row tell is one matrix S and one vector f; `slopes` says what for. On the
way back S is needed again, from the last row to the first. It is kept at every `STRETCH`-th row and
carried on from there: all of them would not fit into the processor's own memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.compiling import compiled

__all__ = ["EVEN", "STRETCH", "averaged", "back", "fill", "forth", "summed"]

STRETCH = 32  # rows: their matrices of 18 numbers squared take 80 kB
# Of a step, by which equal ones may differ: turning 32 times by the first of them is then off by
# less than 1e-7 radians.
EVEN = 1e-9


@compiled
def fill(theta: Any, a: Any, b: Any, c: Any, d: Any, fading: Any, u: Any, v: Any) -> None:
    """Fill in the tables; that of fading has one row on an even grid.

    Where a step is equal to the one before, waves turn by as much again.
    """
    n, j = len(theta), 0
    for m in range(len(a)):
        last, fade, x, y = -1.0, 1.0, 1.0, 0.0
        cosine, sine, width = 1.0, 0.0, 1 if d[m] == 0.0 else 2
        for i in range(n):
            step = theta[i] - theta[max(i - 1, 0)]
            same = abs(step - last) <= EVEN * step
            if not same:
                last, fade = step, np.exp(-c[m] * step)
            if i < len(fading) or i == 1:
                at = min(i, len(fading) - 1)
                for k in range(width):
                    fading[at, j + k] = fade
            if width == 1:
                u[i, j], v[i, j] = a[m], 1.0
                continue
            if same and i % STRETCH:
                if x == 1.0:  # the first of equal steps that is turned by
                    x, y = np.cos(d[m] * step), np.sin(d[m] * step)
                cosine, sine = cosine * x - sine * y, sine * x + cosine * y
            else:
                cosine, sine = np.cos(d[m] * theta[i]), np.sin(d[m] * theta[i])
                x = x if same else 1.0
            u[i, j], u[i, j + 1] = a[m] * cosine + b[m] * sine, a[m] * sine - b[m] * cosine
            v[i, j], v[i, j + 1] = cosine, sine
        j += width


@compiled
def _next(
    tables: Any, i: int, s: Any, f: Any, w: Any, z: Any, places: Any, pivot: float, diagonal: float
) -> float:
    """Carry S and f from one row to the next, and return the pivot of that.

    `places` are those of the row before and of this one in f and w, and of both in z, which has the
    values of this row and leaves with what the rows before do not tell of them. Rows are told by
    their numbers: to cut them out of their arrays takes longer than all the rest with few terms.
    """
    (fading, u, v), (last, here, before, own) = tables, places
    size, at, count = v.shape[1], min(i, len(fading) - 1), z.shape[1]
    for j in range(size):
        own_fade, lift, told = fading[at, j], pivot * w[last, j], 0.0
        for k in range(size):
            x = own_fade * fading[at, k] * (s[j, k] + lift * w[last, k])
            s[j, k] = x
            told += x * u[i, k]
        for r in range(count):
            x = own_fade * (f[last, j, r] + w[last, j] * z[before, r])
            f[here, j, r] = x
            z[own, r] -= u[i, j] * x
        w[here, j] = v[i, j] - told
        diagonal -= u[i, j] * told
    over = 1.0 / diagonal
    for j in range(size):
        w[here, j] *= over
    return diagonal


@compiled
def summed(tables: Any, variance: float, noise: Any, y: Any) -> Any:
    """Products of values over their variances, summed, (r, r), and the log determinant.

    `y` are the values and other columns, (n, r). The first is ∞ if there is no covariance.
    """
    (n, size), count = tables[1].shape, y.shape[1]
    s, f, w = np.zeros((size, size)), np.zeros((2, size, count)), np.zeros((2, size))
    z, total = np.zeros((2, count)), np.zeros((count, count))
    pivot, logs, product = 0.0, 0.0, 1.0
    for i in range(n):
        last, here = (i + 1) % 2, i % 2
        for r in range(count):
            z[here, r] = y[i, r]
        places = (last, here, last, here)
        pivot = _next(tables, i, s, f, w, z, places, pivot, variance + noise[i])
        if not pivot > 0.0:
            total[0, 0] = np.inf
            return total, 0.0
        for r in range(count):
            part = z[here, r] / pivot
            for q in range(r + 1):
                total[r, q] += part * z[here, q]
        product *= pivot  # a logarithm takes longer
        if not 1e-200 < product < 1e200:
            logs, product = logs + np.log(product), 1.0
    for r in range(count):
        for q in range(r):
            total[q, r] = total[r, q]
    return total, logs + np.log(product)


@compiled
def forth(tables: Any, variance: float, noise: Any, y: Any, rows: Any, kept: Any) -> bool:
    """Factor row by row, keeping all that the way back needs; False if no covariance.

    `rows` are the pivots d, the values z, and w and f, which have an empty row before the first.
    """
    d, z, w, f = rows
    n, size = tables[1].shape
    s, pivot = np.zeros((size, size)), 0.0
    w[0], f[0] = 0.0, 0.0
    for i in range(n):
        if i % STRETCH == 0:
            kept[i // STRETCH] = s
        for r in range(y.shape[1]):
            z[i, r] = y[i, r]
        places = (i, i + 1, max(i - 1, 0), i)
        pivot = _next(tables, i, s, f, w, z, places, pivot, variance + noise[i])
        if not pivot > 0.0:
            return False
        d[i] = pivot
    return True


def averaged(gram: FloatArray, logs: float, n: int) -> tuple[float, float, FloatArray]:
    """Return the log-likelihood, the factor of all variances it is for, and its slopes.

    Parameters
    ----------
    gram : ndarray of shape (1 + m, 1 + m)
        Products of values and columns, divided by the covariance K. The columns' coefficients are
        averaged over, with the variance one: K + CCᵀ, by the lemma of Woodbury.
    logs : float
        Logarithm of the determinant of K.
    n : int
        Samples.

    Returns
    -------
    value, factor : float
        −∞ and one if there is none.
    slopes : ndarray of shape (1 + m, 1 + m)
        Along the products.
    """
    m = len(gram) - 1
    if not m and np.isfinite(gram[0, 0]) and gram[0, 0] > 0.0:
        factor = float(gram[0, 0]) / n
        return -0.5 * (n * float(np.log(factor)) + logs), factor, np.full((1, 1), -0.5 / factor)
    slopes = np.zeros_like(gram)
    if not np.isfinite(gram).all():
        return -np.inf, 1.0, slopes
    known = np.eye(m) + gram[1:, 1:]
    inverse = np.linalg.inv(known) if m else known
    along = inverse @ gram[1:, 0]
    factor = float(gram[0, 0] - along @ gram[1:, 0]) / n
    if not factor > 0.0:
        return -np.inf, 1.0, slopes
    logs += float(np.linalg.slogdet(known)[1]) if m else 0.0
    ahead = np.append(1.0, -along)
    slopes[1:, 1:] = inverse
    slopes += np.multiply.outer(ahead, ahead) / factor
    return -0.5 * (n * float(np.log(factor)) + logs), factor, -0.5 * slopes


@compiled
def _again(first: int, stop: int, kept: Any, fading: Any, d: Any, w: Any, carried: Any) -> None:
    """Carry S from before the first row through a stretch again."""
    size = w.shape[1]
    carried[0] = kept[first // STRETCH]
    for i in range(first, stop):
        at, here = min(i, len(fading) - 1), i - first
        pivot = d[i - 1] if i else 0.0
        for j in range(size):
            own_fade, lift = fading[at, j], pivot * w[i, j]
            for k in range(size):
                x = carried[here, j, k] + lift * w[i, k]
                carried[here + 1, j, k] = own_fade * fading[at, k] * x


@compiled
def back(tables: Any, theta: Any, wave: Any, rows: Any, kept: Any, on: Any, slopes: Any) -> None:
    """Add up the slopes along a, b, c and d of the terms, of those along d and z of the rows."""
    (fading, u, v), (d, z, w, f), (on_d, on_z) = tables, rows, on
    n, size = v.shape
    on_s, carried = np.zeros((size, size)), np.empty((STRETCH + 1, size, size))
    count = z.shape[1]
    on_f, on_w, on_rate = np.zeros((size, count)), np.zeros(size), np.zeros(size)
    on_told, on_u, on_v, whole = np.empty(size), np.empty(size), np.empty(size), 0.0
    for i in range(n - 1, -1, -1):
        place = i % STRETCH
        if i == n - 1 or place == STRETCH - 1:
            _again(i - place, i + 1, kept, fading, d, w, carried)
        inner, over = 0.0, 1.0 / d[i]
        for j in range(size):
            inner += w[i + 1, j] * on_w[j]
        slope = on_d[i] - inner * over
        whole += slope
        for j in range(size):
            on_v[j] = on_w[j] * over
            on_told[j] = -on_v[j] - slope * u[i, j]
            # What the samples before tell, S u, is v − d w.
            on_u[j] = -slope * (v[i, j] - d[i] * w[i + 1, j])
            for r in range(count):
                on_f[j, r] -= on_z[i, r] * u[i, j]
                on_u[j] -= on_z[i, r] * f[i + 1, j, r]
        at, step = min(i, len(fading) - 1), theta[i] - theta[max(i - 1, 0)]
        before, pivot, more = max(i - 1, 0), d[i - 1] if i else 0.0, 0.0
        for j in range(size):
            bent, turned, total = 0.0, 0.0, 0.0
            half, other, own_fade = 0.5 * on_told[j], 0.5 * u[i, j], fading[at, j]
            for k in range(size):
                x = on_s[j, k] + half * u[i, k] + other * on_told[k]
                told = carried[place + 1, j, k]
                total += told * on_told[k]
                bent += x * told
                x *= own_fade * fading[at, k]
                turned += x * w[i, k]
                on_s[j, k] = x
            on_u[j] += total
            on_rate[j] -= 2.0 * step * bent
            on_w[j] = 2.0 * pivot * turned
            more += turned * w[i, j]
            for r in range(count):
                on_rate[j] -= step * on_f[j, r] * f[i + 1, j, r]
                x = on_f[j, r] * own_fade
                on_f[j, r] = x
                if i:
                    on_z[before, r] += x * w[i, j]
                    on_w[j] += x * z[before, r]
        if i:
            on_d[before] += more
        _gather(i, theta[i], tables, wave, on_u, on_v, slopes)
    _spread(wave, whole, on_rate, slopes)


@compiled
def _gather(i: int, at: float, tables: Any, wave: Any, on_u: Any, on_v: Any, slopes: Any) -> None:
    """Add what the slopes along U and V of one row are along a, b and d of the terms."""
    (_, u, v), (on_a, on_b, _, on_d), j = tables, slopes, 0
    for m in range(len(wave)):
        if not wave[m]:
            on_a[m] += on_u[j]
            j += 1
            continue
        x, y = v[i, j], v[i, j + 1]
        on_a[m] += on_u[j] * x + on_u[j + 1] * y
        on_b[m] += on_u[j] * y - on_u[j + 1] * x
        turned = on_u[j + 1] * u[i, j] - on_u[j] * u[i, j + 1] + on_v[j + 1] * x - on_v[j] * y
        on_d[m] += at * turned
        j += 2


@compiled
def _spread(wave: Any, whole: float, on_rate: Any, slopes: Any) -> None:
    """Add what the slopes along the diagonal and the columns' rates are along a and c."""
    (on_a, _, on_c, _), j = slopes, 0
    for m in range(len(wave)):
        on_a[m] += whole
        on_c[m] = on_rate[j] + on_rate[j + 1] if wave[m] else on_rate[j]
        j += 2 if wave[m] else 1
