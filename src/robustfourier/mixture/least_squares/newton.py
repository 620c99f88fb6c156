"""What `refine` does in each step, compiled: for the few dozen lines that most series have.

The numbers of a step are few then, and calling for each of them is most of the time. `refine` says
what they are and has the same in terms of whole matrices, which are faster for many lines and bear
lines that coincide on the samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.compiling import compiled
from robustfourier.spectral.kernels import pair_moments, read_filtered, read_sums

MOST_COLUMNS = 60  # trend and two for each line; from here on whole matrices are faster
_UPHILL = 1e-9  # least pivot of a matrix with unit diagonal that points downhill
# Sums are known to 1e-13 of the weight: a sine at the Nyquist mode of an even grid vanishes.
_VANISHES = 1e-11


@compiled
def fill_moments(
    modes: Any,
    weight: Any,
    taps: Any,
    odd: Any,
    steps: Any,
    value: Any,
    before: Any,
    known: Any,
    gram: Any,
    cross: Any,
    bend: Any,
) -> bool:
    """Write the `Moments` at `modes`; those of the trend with itself and the values are there.

    `weight`, `steps` and `value` are sums of shape (2, columns, J), real and imaginary parts. The
    trend is a level, whose sums are those of the weights, columns whose sums follow from these by
    the filters `taps` and `odd`, and `steps`. What is known of lines `before` and whether there is
    more now: see `pair_moments`.
    """
    smooth = 1 + len(taps)
    count, p, q = len(modes), smooth + steps.shape[1], value.shape[1]
    on_trend = np.empty((3, count, p), np.complex128)
    on_value = np.empty((3, count, q), np.complex128)
    read_sums(modes, weight[0], weight[1], on_trend[:, :, :1])
    window = weight[0, 0], weight[1, 0]
    news = pair_moments(modes, *window, before, known, gram[p:, p:])
    read_filtered(modes, taps, odd, *window, on_trend[:, :, 1:smooth])
    read_sums(modes, steps[0], steps[1], on_trend[:, :, smooth:])
    read_sums(modes, value[0], value[1], on_value)
    for power in range(3):
        for i in range(count):
            cosine, sine = 2 * power * count + i, (2 * power + 1) * count + i
            for c in range(p):
                z = on_trend[power, i, c]
                if power == 2:
                    bend[i, c], bend[count + i, c] = z.real, -z.imag
                else:
                    gram[p + cosine, c] = gram[c, p + cosine] = z.real
                    gram[p + sine, c] = gram[c, p + sine] = -z.imag
            for o in range(q):
                z = on_value[power, i, o]
                if power == 2:
                    bend[i, p + o], bend[count + i, p + o] = z.real, -z.imag
                else:
                    cross[p + cosine, o], cross[p + sine, o] = z.real, -z.imag
    for i in range(2 * count):
        other = p + (i + count) % (2 * count)
        if gram[p + i, p + i] < _VANISHES * gram[other, other]:
            _empty(p + i, gram, cross)
            _empty(p + i + 2 * count, gram, cross)
            bend[i] = 0.0
    return bool(news)


@compiled
def _empty(column: int, gram: Any, cross: Any) -> None:
    """Write zeros where a column vanishes on the samples, instead of the rounding of its sums."""
    for i in range(len(gram)):
        gram[i, column] = gram[column, i] = 0.0
    cross[column] = 0.0


@compiled
def solve_linear(
    gram: Any, cross: Any, factor: Any, scale: Any, coefficients: Any, rss: Any
) -> float:
    """Factor the linear part, solve it, and lower `rss` by what it explains; the least pivot."""
    linear = len(factor)
    for i in range(linear):
        for j in range(linear):
            factor[i, j] = gram[i, j]
        for o in range(len(rss)):
            coefficients[i, o] = cross[i, o]
    pivot = _factored(factor, scale)
    if pivot > 0.0:
        _forward(factor, scale, coefficients)
        _backward(factor, scale, coefficients)
        for o in range(len(rss)):
            for i in range(linear):
                left = 2.0 * cross[i, o]
                for j in range(linear):
                    left -= gram[i, j] * coefficients[j, o]
                rss[o] -= coefficients[i, o] * left
    return pivot


@compiled
def project(
    gram: Any, bend: Any, left: Any, coefficients: Any, factor: Any, scale: Any, rss: Any,
    ties: Any, curved: bool, normal: Any, diagonal: Any, gradient: Any,
) -> None:  # fmt: skip
    """Add what `projection.projected_normal` returns to `normal`, `diagonal` and `gradient`."""
    count, n_bases = ties.shape
    linear, q = coefficients.shape
    p = linear - 2 * count
    moved, turned = np.empty((linear, n_bases)), np.empty(linear + 2 * count)
    for o in range(q):
        moved[:] = 0.0
        for k in range(count):
            a, b = np.pi * coefficients[p + k, o], np.pi * coefficients[p + count + k, o]
            cosine, sine = linear + k, linear + count + k
            for i in range(linear + 2 * count):  # EᵀW of the line's derivative: π (b θC − a θS)
                turned[i] = gram[cosine, i] * b - gram[sine, i] * a
            curve = 0.0
            if curved:
                bent = bend.shape[1] - q + o
                on_cosine, on_sine = bend[k, bent], bend[count + k, bent]
                for c in range(p):
                    on_cosine -= bend[k, c] * coefficients[c, o]
                    on_sine -= bend[count + k, c] * coefficients[c, o]
                for j in range(2 * count):
                    on_cosine -= gram[cosine, linear + j] * coefficients[p + j, o]
                    on_sine -= gram[sine, linear + j] * coefficients[p + j, o]
                curve = np.pi * (a * on_cosine + b * on_sine)
            for f in range(n_bases):
                tie = ties[k, f]
                if tie == 0.0:
                    continue
                gradient[f] += tie * (b * left[cosine, o] - a * left[sine, o]) / rss[o]
                for i in range(linear):
                    moved[i, f] += tie * turned[i]
                if curved:
                    moved[p + k, f] += tie * np.pi * left[sine, o]
                    moved[p + count + k, f] -= tie * np.pi * left[cosine, o]
                for g in range(n_bases):
                    normal[g, f] += tie * ties[k, g] * curve / rss[o]
                for m in range(count):
                    square = np.pi * coefficients[p + count + m, o] * turned[linear + m]
                    square -= np.pi * coefficients[p + m, o] * turned[linear + count + m]
                    diagonal[f] += ties[m, f] * tie * square / rss[o]
                    for g in range(n_bases):
                        normal[g, f] += ties[m, g] * tie * square / rss[o]
        _forward(factor, scale, moved)
        for i in range(linear):
            for f in range(n_bases):
                part = moved[i, f] / rss[o]
                for g in range(n_bases):
                    normal[f, g] -= part * moved[i, g]


@compiled
def solve_step(normal: Any, step: Any) -> bool:
    """Replace the gradient in `step`, shape (F, 1), by the solution; False if that is uphill."""
    part, scale = normal.copy(), np.empty(len(normal))
    if _factored(part, scale) <= _UPHILL:
        return False
    _forward(part, scale, step)
    _backward(part, scale, step)
    return True


@compiled
def _factored(matrix: Any, scale: Any) -> float:
    """Turn a matrix into the Cholesky factor of itself with unit diagonal; the least pivot."""
    least, largest = 1.0, 0.0
    for i in range(len(matrix)):
        largest = max(largest, matrix[i, i])
    for i in range(len(matrix)):
        if 0.0 < matrix[i, i] <= 1e-26 * largest:
            return 0.0
        scale[i] = np.sqrt(matrix[i, i]) if matrix[i, i] > 0.0 else 1.0
    for i in range(len(matrix)):
        for j in range(i + 1):
            value = matrix[i, j] / (scale[i] * scale[j])
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            if j < i:
                matrix[i, j] = value / matrix[j, j]
            elif matrix[i, i] == 0.0:  # a column that vanishes gets no coefficient
                matrix[i, i] = 1.0
            elif value <= 0.0:
                return 0.0
            else:
                matrix[i, i], least = np.sqrt(value), min(least, value)
    return least


@compiled
def _forward(factor: Any, scale: Any, right: Any) -> None:
    """Replace `right` by L⁻¹ of it, rows scaled first."""
    for i in range(len(right)):
        for c in range(right.shape[1]):
            right[i, c] /= scale[i]
        for j in range(i):
            part = factor[i, j]
            for c in range(right.shape[1]):
                right[i, c] -= part * right[j, c]
        for c in range(right.shape[1]):
            right[i, c] /= factor[i, i]


@compiled
def _backward(factor: Any, scale: Any, right: Any) -> None:
    """Replace `right` by L⁻ᵀ of it, rows scaled after."""
    for i in range(len(right) - 1, -1, -1):
        for c in range(right.shape[1]):
            right[i, c] /= factor[i, i]
        for j in range(i):
            part = factor[i, j]
            for c in range(right.shape[1]):
                right[j, c] -= part * right[i, c]
    for i in range(len(right)):
        for c in range(right.shape[1]):
            right[i, c] /= scale[i]
