"""The passes over the rows of a process, compiled: forth, which factors, and back, its adjoint.

What the samples before a row tell is one matrix S, and one vector f for each column of values;
`slopes` says what for. On the way back both are needed again, from the last row to the first. They
are kept at every `STRETCH`-th row and carried on from there: all of them would not fit into the
processor's own memory. Loops over up to three oscillators, which most processes are, are unrolled:
both ways then take half the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.compiling import compiled, unrolled

STRETCH = 32  # rows: their matrices of 18 numbers squared take 80 kB
# Of a step, by which equal ones may differ: turning 32 times by the first of them is then off by
# less than 1e-7 radians.
EVEN = 1e-9


@compiled
def steps_of(theta: Any) -> Any:
    """Return distances of neighbours, equal ones in a row once, and which is before each row."""
    which, steps, last = np.zeros(len(theta), np.int64), np.zeros(len(theta)), 0
    for i in range(1, len(theta)):
        step = theta[i] - theta[i - 1]
        if i == 1 or abs(step - steps[last]) > EVEN * step:
            last = which[i - 1] + min(i - 1, 1)
            steps[last] = step
        which[i] = last
    return which, steps[: last + 1].copy()


@compiled
def fill(theta: Any, steps: Any, terms: Any, fading: Any, u: Any, v: Any) -> None:
    """Fill in the tables: what fades in each of the `steps`, U and V.

    Where a step is equal to the one before, waves turn by as much again.
    """
    (which, lengths), (a, b, c, d), j = steps, terms, 0
    for m in range(len(a)):
        cosine, sine, x, y, turned = 1.0, 0.0, 1.0, 0.0, -1
        width = 1 if d[m] == 0.0 else 2
        for k in range(len(lengths)):
            fading[k, j] = fading[k, j + width - 1] = np.exp(-c[m] * lengths[k])
        for i in range(len(theta)):
            if width == 1:
                u[i, j], v[i, j] = a[m], 1.0
                continue
            if i % STRETCH and which[i] == which[i - 1]:
                if turned != which[i]:
                    turned, angle = which[i], d[m] * lengths[which[i]]
                    x, y = np.cos(angle), np.sin(angle)
                cosine, sine = cosine * x - sine * y, sine * x + cosine * y
            else:
                cosine, sine = np.cos(d[m] * theta[i]), np.sin(d[m] * theta[i])
            u[i, j], u[i, j + 1] = a[m] * cosine + b[m] * sine, a[m] * sine - b[m] * cosine
            v[i, j], v[i, j + 1] = cosine, sine
        j += width


@compiled
def forth(tables: Any, variance: float, noise: Any, y: Any, rows: Any, kept: Any) -> Any:
    """Products of values over their variances, summed, (r, r), and the log determinant.

    `y` are the values and other columns, (n, r). The first product is ∞ if there is no covariance.
    `rows` are the pivots d, what the rows before do not tell of the values, z, and w, with an empty
    row before the first. With two rows in all they take turns; the way back needs all of them, and
    room for every `STRETCH`-th S, above f, in `kept`.
    """
    size = tables[2].shape[1]
    if size == 2:
        return _forth(2, tables, variance, noise, y, rows, kept)
    if size == 4:
        return _forth(4, tables, variance, noise, y, rows, kept)
    if size == 6:
        return _forth(6, tables, variance, noise, y, rows, kept)
    return _forth(size, tables, variance, noise, y, rows, kept)


@unrolled
def _forth(
    size: int, tables: Any, variance: float, noise: Any, y: Any, rows: Any, kept: Any
) -> Any:
    """Do so for so many columns of U."""
    (which, fading, u, v), (d, z, w) = tables, rows
    n, count = y.shape
    s, told, total = np.zeros((size + count, size)), np.empty(size), np.zeros((count, count))
    d[0], z[0], w[0] = 0.0, 0.0, 0.0
    logs, product, last, here = 0.0, 1.0, 0, 1
    for i in range(n):
        if i % STRETCH == 0 and i // STRETCH < len(kept):
            kept[i // STRETCH] = s
        at = which[i]
        for j in range(size):
            told[j] = 0.0
        for j in range(size):
            own_fade, lift, own = fading[at, j], d[last] * w[last, j], u[i, j]
            for k in range(size):
                x = own_fade * fading[at, k] * (s[j, k] + lift * w[last, k])
                s[j, k] = x
                told[k] += x * own
        pivot = variance + noise[i]
        for j in range(size):
            pivot -= u[i, j] * told[j]
        if not pivot > 0.0:
            total[0, 0] = np.inf
            break
        over, d[here] = 1.0 / pivot, pivot
        for j in range(size):
            w[here, j] = (v[i, j] - told[j]) * over
        for r in range(count):
            left, before = y[i, r], z[last, r]
            for j in range(size):
                x = fading[at, j] * (s[size + r, j] + w[last, j] * before)
                s[size + r, j] = x
                left -= u[i, j] * x
            z[here, r] = left
            for q in range(r + 1):
                total[r, q] += left * over * z[here, q]
        product *= pivot  # a logarithm takes longer
        if not 1e-200 < product < 1e200:
            logs, product = logs + np.log(product), 1.0
        last, here = here, here + 1 if here + 1 < len(d) else 0
    for r in range(count):
        for q in range(r):
            total[q, r] = total[r, q]
    return total, logs + np.log(product)


@compiled
def averaged(gram: Any, logs: float, n: int) -> Any:
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
    swept, size = gram.copy(), len(gram)
    for k in range(1, size):
        # Gauss and Jordan: what is left of the first entry is what the columns do not explain.
        over = 1.0 / (1.0 + swept[k, k])
        logs -= np.log(over)
        swept[k, k] = 1.0
        for j in range(size):
            swept[k, j] *= over
        for i in range(size):
            if i != k:
                part, swept[i, k] = swept[i, k], 0.0
                for j in range(size):
                    swept[i, j] -= part * swept[k, j]
    factor = swept[0, 0] / n
    if not (0.0 < factor < np.inf and np.isfinite(logs)):
        return -np.inf, 1.0, np.zeros((size, size))
    swept[0] /= np.sqrt(factor)  # minus the coefficients of the columns
    swept[0, 0] = 1.0 / np.sqrt(factor)
    slopes = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            inverse = swept[i, j] if i > 0 and j > 0 else 0.0
            slopes[i, j] = -0.5 * (inverse + swept[0, i] * swept[0, j])
    return -0.5 * (n * np.log(factor) + logs), factor, slopes


@compiled
def back(
    tables: Any, theta: Any, wave: Any, rows: Any, kept: Any, on: Any, slopes: Any, first: int
) -> None:
    """Add up the slopes along a, b, c and d of the terms, of those `on` the products, (r, r).

    Only those of terms from the `first` column of U on are right.
    """
    size = tables[2].shape[1]
    if size == 2:
        _back(2, 0, tables, theta, wave, rows, kept, on, slopes)
    elif size == 4:
        _back(4, 0, tables, theta, wave, rows, kept, on, slopes)
    elif size == 6:
        _back(6, 0, tables, theta, wave, rows, kept, on, slopes)
    else:
        _back(size, first, tables, theta, wave, rows, kept, on, slopes)


@unrolled
def _back(
    size: int, first: int, tables: Any, theta: Any, wave: Any, rows: Any, kept: Any, on: Any,
    slopes: Any,
) -> None:  # fmt: skip
    """Do so for so many columns of U."""
    (which, fading, u, v), (d, z, w) = tables, rows
    n, count = len(theta), z.shape[1]
    moving = size - first
    on_s, carried = np.zeros((size, size)), np.empty((STRETCH + 1, moving + count, size))
    on_f, on_w, on_d, on_z = np.zeros((count, size)), np.zeros(size), 0.0, np.zeros(count)
    on_told, on_u, on_v, whole = np.empty(size), np.empty(size), np.empty(size), 0.0
    for i in range(n - 1, -1, -1):
        place, at, here = i % STRETCH, which[i], i + 1
        if i == n - 1 or place == STRETCH - 1:
            _again(size, first, i - place, here, tables, rows, kept, carried)
        over, slope = 1.0 / d[here], on_d - 0.5 / d[here]
        for r in range(count):
            along = 0.0
            for q in range(count):
                along += on[r, q] * z[here, q]
            on_z[r] += 2.0 * over * along
            slope -= over * over * along * z[here, r]
        for j in range(size):
            slope -= w[here, j] * on_w[j] * over
        whole += slope
        for j in range(size):
            on_v[j] = on_w[j] * over
            on_told[j] = -0.5 * (on_v[j] + slope * u[i, j])
            # What the samples before tell, S u, is v − d w.
            on_u[j] = -2.0 * slope * (v[i, j] - d[here] * w[here, j])
            on_w[j] = 0.0
        for r in range(count):
            own, before, more = on_z[r], z[i, r], 0.0
            for j in range(first, size):
                on_u[j] -= own * carried[place + 1, moving + r, j]
            for j in range(size):
                x = fading[at, j] * (on_f[r, j] - own * u[i, j])
                on_f[r, j] = x
                on_w[j] += x * before
                more += x * w[i, j]
            on_z[r] = more
        for j in range(moving):
            total = 0.0
            for k in range(size):
                total += carried[place + 1, j, k] * on_v[k]
            on_u[first + j] -= total
        on_d = 0.0
        for j in range(size):
            half, other, own_fade, turned = on_told[j], u[i, j], fading[at, j], 0.0
            for k in range(size):
                x = own_fade * fading[at, k] * (on_s[j, k] + half * u[i, k] + other * on_told[k])
                on_s[j, k] = x
                turned += x * w[i, k]
            on_w[j] += 2.0 * d[i] * turned
            on_d += turned * w[i, j]
        _gather(i, theta[i], tables, wave, on_u, on_v, slopes)
    slopes[0] += whole  # all variances are on the diagonal


@unrolled
def _again(
    size: int, first: int, start: int, stop: int, tables: Any, rows: Any, kept: Any, carried: Any
) -> None:
    """Carry S, from its `first` row on, and f from before a row through a stretch again."""
    (which, fading, _, _), (d, z, w), moving = tables, rows, size - first
    carried[0] = kept[start // STRETCH, first:]
    for i in range(start, stop):
        at, here = which[i], i - start
        for j in range(moving):
            own_fade, lift = fading[at, first + j], d[i] * w[i, first + j]
            for k in range(size):
                x = carried[here, j, k] + lift * w[i, k]
                carried[here + 1, j, k] = own_fade * fading[at, k] * x
        for r in range(moving, moving + z.shape[1]):
            for j in range(first, size):
                x = carried[here, r, j] + w[i, j] * z[i, r - moving]
                carried[here + 1, r, j] = fading[at, j] * x


@compiled
def _gather(i: int, at: float, tables: Any, wave: Any, on_u: Any, on_v: Any, slopes: Any) -> None:
    """Add what the slopes along U and V of one row are along the numbers of the terms.

    To fade between two rows is to be multiplied by e^{−cθ} in U of the one and by e^{cθ} in V of
    the other.
    """
    (_, _, u, v), j = tables, 0
    for m in range(len(wave)):
        x, p = v[i, j], on_u[j]
        slopes[2, m] += at * (on_v[j] * x - p * u[i, j])
        if not wave[m]:
            slopes[0, m] += p
            j += 1
            continue
        y, q = v[i, j + 1], on_u[j + 1]
        slopes[0, m] += p * x + q * y
        slopes[1, m] += p * y - q * x
        slopes[2, m] += at * (on_v[j + 1] * y - q * u[i, j + 1])
        slopes[3, m] += at * (q * u[i, j] - p * u[i, j + 1] + on_v[j + 1] * x - on_v[j] * y)
        j += 2


@compiled
def inverse_diagonal(theta: Any, c: Any, u: Any, d: Any, w: Any) -> Any:
    """Diagonal of the inverse of a factored covariance, in one pass from the last row to the first.

    A row passes on a vector f to those after it; fᵀ · `after` · f is what that adds to the sum of
    their squares.
    """
    n, size = u.shape
    diagonal, after, along = np.empty(n), np.zeros((size, size)), np.empty(size)
    for i in range(n - 1, -1, -1):
        own = 1.0 / d[i]
        for j in range(size):
            along[j] = 0.0
            for k in range(size):
                along[j] += after[j, k] * w[i, k]
            own += w[i, j] * along[j]
        diagonal[i] = own
        fade = np.exp(-c * (theta[i] - theta[max(i - 1, 0)]))
        for j in range(size):
            for k in range(size):
                passed = after[j, k] - u[i, j] * along[k] - along[j] * u[i, k]
                after[j, k] = fade[j] * fade[k] * (passed + own * u[i, j] * u[i, k])
    return diagonal
