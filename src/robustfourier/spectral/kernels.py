"""Compiled loops over Fourier sums at real modes; `realmodes` says what they compute.

All loops of one stage stand in one file: the cache of a compiled loop is renewed when its own file
changes.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from robustfourier.compiling import compiled
from robustfourier.spectral.window import HALF, TERMS, window_polynomials

SPACING = 0.5  # modes between two samples
STEP = 1024  # of a table of turns: any turn is the product of a coarse and of a fine one
# The window and its derivatives; as constants, which nothing that is written could change, several
# rows are done at once: spreading takes two thirds of the time.
(_EVENS, _ODDS), (_EVENS1, _ODDS1), (_EVENS2, _ODDS2) = (
    tuple(np.ascontiguousarray(part) for part in parts) for parts in window_polynomials()
)
_FIRST, _SECOND = 4.0 / np.pi, -16.0 / np.pi**2  # from derivatives in the offset to powers of θ
# Taylor series of cos(πx) and sin(πx)/x in x², highest power first: to 1e-16 for |x| ≤ ½.
_COSINE = np.array([(-1.0) ** n * np.pi ** (2 * n) / factorial(2 * n) for n in range(11, -1, -1)])
_SINE = np.array(
    [(-1.0) ** n * np.pi ** (2 * n + 1) / factorial(2 * n + 1) for n in range(11, -1, -1)]
)
_TOGETHER = 8  # columns of a matrix, so that what the cache fetches is used at once
_FEW = 64  # rows whose 16 weights each stay in the nearest cache
_AT_ONCE = 1024  # rows whose cosines and sines stay in the cache


@compiled
def turns(theta: Any, mode: float, cosine: Any, sine: Any) -> None:
    """Write cos(πkθ) and sin(πkθ) of one mode k; several at once, other than those of libraries."""
    for i in range(len(theta)):
        turn = mode * theta[i]
        whole = np.rint(turn)
        x, half = turn - whole, 0.5 * whole
        sign = 1.0 - 4.0 * abs(half - np.rint(half))  # half a turn more changes the sign
        square = x * x
        c, s = _COSINE[0], _SINE[0]
        for n in range(1, len(_COSINE)):
            c, s = c * square + _COSINE[n], s * square + _SINE[n]
        cosine[i], sine[i] = sign * c, sign * x * s


@compiled
def add_lines(theta: Any, modes: Any, cosine: Any, sine: Any, values: Any) -> None:
    """Add Σ a cos(πkθ) + b sin(πkθ) to `values`, shape (outputs, n)."""
    c, s = np.empty(_AT_ONCE), np.empty(_AT_ONCE)
    for start in range(0, len(theta), _AT_ONCE):
        rows = theta[start : start + _AT_ONCE]
        for k in range(len(modes)):
            turns(rows, modes[k], c, s)
            for o in range(len(values)):
                a, b, out = cosine[k, o], sine[k, o], values[o, start : start + _AT_ONCE]
                for i in range(len(rows)):
                    out[i] += a * c[i] + b * s[i]


@compiled
def spread(theta: Any, column: Any, factor: Any, scale: float, middle: int, cells: Any) -> None:
    """Add column times factor to the cells around each position, weighted by the window.

    θ = 0 lies on the cell `middle`, and θ = 1 `scale` cells farther; `factor` are the coefficients
    of a polynomial in 2θ² − 1.
    """
    first, x = np.empty(_FEW, np.int64), np.empty(_FEW)
    values, taps = np.empty(_FEW), np.empty((_FEW, 2 * HALF))
    for begin in range(0, len(theta), _FEW):
        rows, part = theta[begin : begin + _FEW], column[begin : begin + _FEW]
        for i in range(len(rows)):
            position = rows[i] * scale
            before = np.ceil(position - HALF)
            first[i], x[i] = int(before) + middle, 2.0 * (before - position) + (2.0 * HALF - 1.0)
            values[i] = part[i] * _polynomial(factor, 2.0 * rows[i] * rows[i] - 1.0)
        for i in range(len(rows)):
            square, value, turned = x[i] * x[i], values[i], values[i] * x[i]
            for w in range(HALF):
                even, odd = _EVENS[0, w], _ODDS[0, w]
                for n in range(1, TERMS):
                    even, odd = even * square + _EVENS[n, w], odd * square + _ODDS[n, w]
                taps[i, w] = value * even + turned * odd
                taps[i, 2 * HALF - 1 - w] = value * even - turned * odd
        for i in range(len(rows)):
            for w in range(2 * HALF):
                cells[first[i] + w] += taps[i, w]


@compiled
def _polynomial(coefficients: Any, x: float) -> float:
    """Return a polynomial at x; highest power first."""
    value = coefficients[0]
    for n in range(1, len(coefficients)):
        value = value * x + coefficients[n]
    return float(value)


@compiled
def twist(matrix: Any, fine: Any, coarse: Any) -> None:
    """Turn row i and column j by 2ij of the circle: between the FFTs of columns and of rows."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            turn = 2 * i * j
            matrix[i, j] *= fine[turn % STEP] * coarse[turn // STEP]


@compiled
def deal_out(matrix: Any, fine: Any, coarse: Any, inverse: Any, real: Any, imag: Any) -> None:
    """Write the sums of a real grid from the FFT of its pairs, the window divided out.

    The FFT stands in `matrix` column by column. Even cells are the real parts of the pairs and odd
    ones the imaginary parts; the middle of the grid, not its first cell, is θ = 0.
    """
    rows, columns = matrix.shape
    size, factor, square = rows * columns, np.empty(_TOGETHER * rows), np.empty(_TOGETHER * rows)
    for start in range(0, -(-len(real) // rows), _TOGETHER):
        for i in range(len(factor)):  # the polynomials of all of them, term by term
            x = 2.0 / size * (rows * start + i)
            factor[i], square[i] = inverse[0], 2.0 * x * x - 1.0
        for n in range(1, len(inverse)):
            for i in range(len(factor)):
                factor[i] = factor[i] * square[i] + inverse[n]
        for row in range(rows):
            for c in range(min(_TOGETHER, columns - start)):
                k = row + rows * (start + c)
                if k >= len(real):
                    break
                one = matrix[row, start + c]
                other = columns - start - c  # of the mirror image, size - k
                two = matrix[rows - row if row else 0, other - 1 if row else other % columns]
                turn = fine[k % STEP] * coarse[k // STEP]
                both = 0.5 * (one + two.conjugate()) - 0.5j * turn * (one - two.conjugate())
                scale = -factor[row + rows * c] if k % 2 else factor[row + rows * c]
                real[k], imag[k] = scale * both.real, scale * both.imag


@compiled
def _read(modes: Any, real: Any, imag: Any, sums: Any, powers: int) -> None:
    """Write Σ u θ^j e^{-iπκθ} at all |κ| for one column: real parts of j = 0, 1, 2, then imaginary.

    All modes at once: a call for each would take longer than what it does.
    """
    if powers > 1:
        _read_powers(modes, real, imag, sums)
        return
    for m in range(len(modes)):
        position = abs(modes[m]) / SPACING
        first = np.ceil(position - HALF)
        x = 2.0 * (first - position) + (2.0 * HALF - 1.0)
        start, square = int(first) + HALF, x * x
        end, a, b = start + 2 * HALF - 1, 0.0, 0.0
        for w in range(HALF):
            even, odd = _EVENS[0, w], _ODDS[0, w]
            for n in range(1, TERMS):
                even, odd = even * square + _EVENS[n, w], odd * square + _ODDS[n, w]
            near, far = even + odd * x, even - odd * x
            a += near * real[start + w] + far * real[end - w]
            b += near * imag[start + w] + far * imag[end - w]
        sums[m, 0], sums[m, 3] = a, b


@compiled
def _read_powers(modes: Any, real: Any, imag: Any, sums: Any) -> None:
    """Do so for j = 0, 1 and 2, all in one loop.

    The window is the same seen from either end: with even and odd parts of its polynomials half of
    them do, and samples at like distance from both ends are added and subtracted first.
    """
    for m in range(len(modes)):
        position = abs(modes[m]) / SPACING
        first = np.ceil(position - HALF)
        x = 2.0 * (first - position) + (2.0 * HALF - 1.0)
        start, square = int(first) + HALF, x * x
        end, a, b, c, d, e, f = start + 2 * HALF - 1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for w in range(HALF):
            even, odd, even1, odd1 = _EVENS[0, w], _ODDS[0, w], _EVENS1[0, w], _ODDS1[0, w]
            even2, odd2 = _EVENS2[0, w], _ODDS2[0, w]
            for n in range(1, TERMS):
                even, odd = even * square + _EVENS[n, w], odd * square + _ODDS[n, w]
                even1, odd1 = even1 * square + _EVENS1[n, w], odd1 * square + _ODDS1[n, w]
                even2, odd2 = even2 * square + _EVENS2[n, w], odd2 * square + _ODDS2[n, w]
            odd, odd1, odd2 = odd * x, odd1 * x, odd2 * x
            both, apart = real[start + w] + real[end - w], real[start + w] - real[end - w]
            a += even * both + odd * apart
            c += even1 * apart + odd1 * both
            e += even2 * both + odd2 * apart
            both, apart = imag[start + w] + imag[end - w], imag[start + w] - imag[end - w]
            b += even * both + odd * apart
            d += even1 * apart + odd1 * both
            f += even2 * both + odd2 * apart
        sums[m, 0], sums[m, 1], sums[m, 2] = a, _FIRST * d, _SECOND * e
        sums[m, 3], sums[m, 4], sums[m, 5] = b, -_FIRST * c, _SECOND * f


@compiled
def read_sums(modes: Any, real: Any, imag: Any, sums: Any) -> None:
    """Write the sums of all columns at all modes into `sums`, shape (powers, modes, columns)."""
    powers, n_modes, n_columns = sums.shape
    one = np.empty((n_modes, 6))
    for c in range(n_columns):
        _read(modes, real[c], imag[c], one, powers)
        for m in range(n_modes):
            # Below zero the sums of real columns are the conjugates of their mirror images.
            sign = -1.0 if modes[m] < 0.0 else 1.0
            for power in range(powers):
                sums[power, m, c] = complex(one[m, power], sign * one[m, 3 + power])


@compiled
def read_around(lines: Any, real: Any, imag: Any, sums: Any) -> None:
    """Write the sums of one column at whole distances from each line, (K, 2m − 1).

    From m − 1 modes below the line to m − 1 above. There are whole samples between them: all have
    the window of the first at the same places.
    """
    farthest, taps = sums.shape[1] // 2, np.empty(2 * HALF)
    per_mode = int(1.0 / SPACING)
    for i in range(len(lines)):
        position = lines[i] / SPACING
        first = np.ceil(position - HALF)
        x = 2.0 * (first - position) + (2.0 * HALF - 1.0)
        for w in range(HALF):
            even, odd = _EVENS[0, w], _ODDS[0, w]
            for n in range(1, TERMS):
                even, odd = even * x * x + _EVENS[n, w], odd * x * x + _ODDS[n, w]
            taps[w], taps[2 * HALF - 1 - w] = even + odd * x, even - odd * x
        for j in range(-farthest, farthest + 1):
            a = b = 0.0
            for w in range(2 * HALF):
                k = int(first) + per_mode * j + w  # below zero are conjugates of mirror images
                a += taps[w] * real[HALF + abs(k)]
                b += taps[w] * (imag[HALF + k] if k >= 0 else -imag[HALF - k])
            sums[i, farthest + j] = complex(a, b)


@compiled
def read_filtered(modes: Any, taps: Any, odd: Any, real: Any, imag: Any, sums: Any) -> None:
    """Write the sums of filtered samples of one column into `sums`, (powers, modes, filters).

    A sample g_k becomes Σ h_m g_{k+m}; h_m = h_{-m} is `taps` at m, or i times it, and h_{-m} its
    opposite, if `odd`.
    """
    powers, n_modes, n_filters = sums.shape
    n = taps.shape[1] - 1
    x, y = np.empty(2 * (HALF + n)), np.empty(2 * (HALF + n))
    both = np.empty((n_filters, 2 * n + 1))
    for c in range(n_filters):  # h at all places, from the lowest on
        for t in range(n + 1):
            both[c, n + t], both[c, n - t] = taps[c, t], -taps[c, t] if odd[c] and t else taps[c, t]
    a, b, one, place = np.zeros(3 * HALF), np.zeros(3 * HALF), np.empty((1, 6)), np.empty(1)
    for m in range(n_modes):
        position = abs(modes[m]) / SPACING
        first = np.ceil(position - HALF)
        for i in range(len(x)):  # below zero are the conjugates of the mirror images
            k = int(first) - n + i
            x[i], y[i] = real[HALF + abs(k)], imag[HALF + abs(k)] * (1.0 if k >= 0 else -1.0)
        sign = -1.0 if modes[m] < 0.0 else 1.0
        place[0] = SPACING * (position - first)  # as far behind a first sample of zero
        for c in range(n_filters):
            for i in range(2 * HALF):
                re = im = 0.0
                for t in range(2 * n + 1):
                    re += both[c, t] * x[i + t]
                    im += both[c, t] * y[i + t]
                a[HALF + i], b[HALF + i] = (-im, re) if odd[c] else (re, im)
            _read(place, a, b, one, powers)
            for power in range(powers):
                sums[power, m, c] = complex(one[0, power], sign * one[0, 3 + power])


@compiled
def read_evenly(taps: Any, real: Any, imag: Any, sums: Any) -> None:
    """Write the sums of one column into `sums`, at zero and so many places to each sample.

    The places repeat relative to the samples: `taps` has the window at each, (places, 2·HALF).
    """
    places = len(taps)
    a, b = np.empty(_AT_ONCE), np.empty(_AT_ONCE)
    for start in range(0, (len(sums) + places - 1) // places, _AT_ONCE):
        for place in range(places):
            count = (len(sums) - place + places - 1) // places
            size, first = min(_AT_ONCE, count - start), start + (place > 0)
            a[:], b[:] = 0.0, 0.0
            for w in range(0, 2 * HALF, 4):  # four at a time, so that less is fetched and stored
                p, q, r, s = (
                    taps[place, w],
                    taps[place, w + 1],
                    taps[place, w + 2],
                    taps[place, w + 3],
                )
                x, y = real[first + w :], imag[first + w :]
                for m in range(size):
                    a[m] += p * x[m] + q * x[m + 1] + r * x[m + 2] + s * x[m + 3]
                    b[m] += p * y[m] + q * y[m + 1] + r * y[m + 2] + s * y[m + 3]
            for m in range(size):
                sums[place + (start + m) * places] = complex(a[m], b[m])


@compiled
def pair_moments(modes: Any, real: Any, imag: Any, before: Any, known: Any, gram: Any) -> bool:
    """Write the Gram matrix of [C, S, θC, θS] at all modes into `gram`, from the weights' sums.

    Products of cosines and sines are those of the differences and of the sums of their modes. Pairs
    of modes that were there `before` are copied from the end of `known`, their matrix; whether
    there are others is returned.
    """
    count, place, news = len(modes), np.full(len(modes), -1), False
    _copy_pairs(modes, before, known, place, gram)
    others, pair, sums = np.empty(count, np.int64), np.empty(2 * count), np.empty((2 * count, 6))
    for i in range(count):
        size = 0
        for j in range(i + 1):
            if place[i] < 0 or place[j] < 0:
                pair[2 * size], pair[2 * size + 1] = modes[i] - modes[j], modes[i] + modes[j]
                others[size], size, news = j, size + 1, True
        _read_powers(pair[: 2 * size], real, imag, sums)
        for m in range(size):
            j, sign = others[m], -1.0 if pair[2 * m] < 0.0 else 1.0
            for a in range(2):
                for b in range(2):
                    near, far = sums[2 * m, a + b], sums[2 * m + 1, a + b]
                    turned, folded = sign * sums[2 * m, 3 + a + b], sums[2 * m + 1, 3 + a + b]
                    cos_i, cos_j = 2 * a * count + i, 2 * b * count + j
                    sin_i, sin_j = cos_i + count, cos_j + count
                    gram[cos_i, cos_j] = gram[cos_j, cos_i] = 0.5 * (near + far)
                    gram[sin_i, sin_j] = gram[sin_j, sin_i] = 0.5 * (near - far)
                    gram[sin_i, cos_j] = gram[cos_j, sin_i] = -0.5 * (folded + turned)
                    gram[cos_i, sin_j] = gram[sin_j, cos_i] = -0.5 * (folded - turned)
    return news


@compiled
def _copy_pairs(modes: Any, before: Any, known: Any, place: Any, gram: Any) -> None:
    """Write where each mode was `before`, if it was, and copy what pairs of such modes have."""
    count, size = len(modes), len(before)
    for i in range(count):
        for j in range(size):
            if before[j] == modes[i]:
                place[i] = j
    for a in range(4):
        for b in range(4):
            row, column = len(known) - (4 - a) * size, len(known) - (4 - b) * size
            for i in range(count if size else 0):
                for j in range(count if place[i] >= 0 else 0):
                    if place[j] >= 0:
                        value = known[row + place[i], column + place[j]]
                        gram[a * count + i, b * count + j] = value


@compiled
def take_lines_out(modes: Any, lines: Any, z: Any, real: Any, imag: Any, sums: Any) -> None:
    """Subtract the sums of w Re Σ z_k e^{iπkθ} at `modes` from `sums`, shape (modes, outputs)."""
    size = len(lines)
    pair, one = np.empty(2 * size), np.empty((2 * size, 6))
    for m in range(len(modes)):
        for k in range(size):
            pair[k], pair[size + k] = modes[m] - lines[k], modes[m] + lines[k]
        _read(pair, real, imag, one, 1)
        for k in range(size):
            near = complex(one[k, 0], one[k, 3] if pair[k] >= 0.0 else -one[k, 3])
            far = complex(one[size + k, 0], one[size + k, 3])
            for o in range(sums.shape[1]):
                sums[m, o] -= 0.5 * (z[k, o] * near + z[k, o].conjugate() * far)
