"""The step of networks with dense layers, compiled: a backward pass by hand around BLAS.

The first dense layer reads a diagonal of rectified units, W σ(w ⊙ x). As σ(w x) = |w| σ(±x), that
is V X with *fixed* features X = [max(φ, 0), max(−φ, 0)] and V = W diag|w|, columns swapped where
w < 0. One accumulator G = Σ_b δ_b X_bᵀ then gives both ∂W = G diag|w| and ∂w = sgn(w) Σ_h W G: the
gradient with respect to the layer's input, a third of its arithmetic, is never formed. Without
ReLU on the diagonal, or without diagonal, the mirror images fold: X = φ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.compiling.numba_jit import jitted
from robustfourier.training.diagonal_kernels import clip, embed_row, slope, value

Array = NDArray[Any]


@jitted
def _gather(features: Array, relu: bool, out: Array) -> None:
    """Write X of one row: both rectified halves of φ, or φ itself."""
    zero = out.dtype.type(0)
    n = out.size // 2 if relu else out.size
    if relu:
        for f in range(n):
            out[f] = max(features[f], zero)
            out[n + f] = max(-features[f], zero)
    else:
        for f in range(n):
            out[f] = features[f]


@jitted
def _add_row(scale: float, row: Array, out: Array) -> None:
    for h in range(row.size):
        out[h] += scale * row[h]


@jitted
def _dot(a: Array, b: Array) -> Any:
    total = a.dtype.type(0)
    for h in range(a.size):
        total += a[h] * b[h]
    return total


@jitted
def _fold_feature(f: int, w: Array, first: Array, relu: bool, folded: Array) -> None:
    """Write the rows of V that belong to feature f, from W (2F, H) and w (2, F)."""
    n, zero = w.shape[1], w.dtype.type(0)
    if not relu:
        for h in range(first.shape[1]):
            folded[f, h] = w[0, f] * first[f, h] - w[1, f] * first[n + f, h]
        return
    # the unit on +φ reads max(φ, 0) if its w > 0, the unit on −φ if its w < 0
    p0, n0 = max(w[0, f], zero), max(-w[0, f], zero)
    p1, n1 = max(w[1, f], zero), max(-w[1, f], zero)
    for h in range(first.shape[1]):
        folded[f, h] = p0 * first[f, h] + n1 * first[n + f, h]
        folded[n + f, h] = n0 * first[f, h] + p1 * first[n + f, h]


@jitted
def _update_unit(
    side: int,
    f: int,
    w: Array,
    first: Array,
    g: Array,
    relu: bool,
    moves: Any,
    rate: float,
    ridge: float,
    boxes: Any,
) -> None:
    """Move one diagonal weight and the row of W behind it, both from the old values of both."""
    n, zero, one = w.shape[1], w.dtype.type(0), w.dtype.type(1)
    d, row = w[side, f], first[side * n + f]
    if relu:
        positive = d > zero
        s = g[f + n * (side if positive else 1 - side)]
        # derivative of |w|, which is 0 at 0 as that of ReLU is
        direction = one if positive else (-one if d < zero else zero)
        scale = abs(d)
    else:
        s = g[f]
        direction = one if side == 0 else -one
        scale = direction * d
    descent = direction * _dot(row, s) + ridge * d
    if moves[1]:
        _descend(row, s, rate * scale, boxes[1])
    if moves[0]:
        w[side, f] = clip(d - rate * descent, boxes[0])


@jitted
def _descend(x: Array, gradient: Array, rate: float, box: float) -> None:
    for h in range(x.size):
        x[h] = clip(x[h] - rate * gradient[h], box)


@jitted
def _add_bias_and_rectify(z: Array, bias: Array, relu: bool) -> None:
    zero = z.dtype.type(0)
    for b in range(z.shape[0]):
        if relu:
            for h in range(z.shape[1]):
                z[b, h] = max(z[b, h] + bias[h], zero)
        else:
            for h in range(z.shape[1]):
                z[b, h] += bias[h]


@jitted
def _mask(delta: Array, h: Array) -> None:
    zero = h.dtype.type(0)
    for b in range(h.shape[0]):
        for j in range(h.shape[1]):
            delta[b, j] = delta[b, j] if h[b, j] > zero else zero


@jitted
def _column_sums(x: Array, out: Array) -> None:
    out[:] = out.dtype.type(0)
    for b in range(x.shape[0]):
        _add_row(out.dtype.type(1), x[b], out)


@jitted
def _residuals(rows: Array, z: Array, y: Array, weight: Array, loss: Any, g: Array) -> float:
    """Turn predictions z (B, q) into g = ω slope(r) / (B q); return the batch loss."""
    (kind, delta), total, terms = loss, 0.0, z.dtype.type(z.size)
    for b in range(z.shape[0]):
        for o in range(z.shape[1]):
            r = z[b, o] - y[rows[b], o]
            total += weight[rows[b]] * value(kind, delta, r)
            g[b, o] = weight[rows[b]] * slope(kind, delta, r) / terms
    return total / terms


@jitted
def _matrix(flat: Array, start: int, n_rows: int, n_columns: int) -> Array:
    return flat[start : start + n_rows * n_columns].reshape((n_rows, n_columns))


@jitted
def _forward(x: Array, folded: Array, hidden: Array, flat: Array, sizes: Array, relu: bool) -> Any:
    """Fill `hidden` with the values of every layer; return the last one's and its bias' place."""
    batch, at, start = len(x), 0, 0
    z = _matrix(hidden, 0, batch, sizes[0])
    np.dot(x, folded, z)
    for layer in range(1, len(sizes)):
        before = _matrix(hidden, start, batch, sizes[layer - 1])
        _add_bias_and_rectify(before, flat[at : at + sizes[layer - 1]], relu)
        at += sizes[layer - 1]
        start += batch * sizes[layer - 1]
        z = _matrix(hidden, start, batch, sizes[layer])
        np.dot(before, _matrix(flat, at, sizes[layer - 1], sizes[layer]), z)
        at += sizes[layer - 1] * sizes[layer]
    _add_bias_and_rectify(z, flat[at : at + sizes[len(sizes) - 1]], False)
    return z, at


@jitted
def _backward(
    errors: Array,
    hidden: Array,
    flat: Array,
    sizes: Array,
    relu: bool,
    moves: Array,
    boxes: Array,
    rate: float,
    at: int,
    work: Any,
) -> Array:
    """Move the layers behind the first, last to second; return the first layer's errors."""
    gradient, bias_gradient = work
    batch, here = errors.shape[1] // max(sizes), 0
    error = _matrix(errors[0], 0, batch, sizes[len(sizes) - 1])
    start = batch * sizes[: len(sizes) - 1].sum()
    for layer in range(len(sizes) - 1, 0, -1):
        size, size_before = sizes[layer], sizes[layer - 1]
        bias = flat[at : at + size]
        at -= size_before * size
        start -= batch * size_before
        matrix = _matrix(flat, at, size_before, size)
        before = _matrix(hidden, start, batch, size_before)
        error_before = _matrix(errors[1 - here], 0, batch, size_before)
        np.dot(error, matrix.T, error_before)
        if relu:
            _mask(error_before, before)
        if moves[1 + 2 * layer]:
            g = _matrix(gradient, 0, size_before, size)
            np.dot(before.T, error, g)
            _descend(flat[at : at + g.size], gradient[: g.size], rate, boxes[1 + 2 * layer])
        if moves[2 + 2 * layer]:
            _column_sums(error, bias_gradient[:size])
            _descend(bias, bias_gradient[:size], rate, boxes[2 + 2 * layer])
        error, here = error_before, 1 - here
        at -= size_before
    return error


@jitted
def run_dense(
    rows: Array,
    rates: Array,
    data: Any,
    w: Array,
    first: Array,
    flat: Array,
    sizes: Array,
    rectified: Any,
    loss: Any,
    rule: Any,
    losses: Array,
) -> None:
    """Take one SGD step for each row of `rows`, in place.

    Parameters
    ----------
    rows, rates, data, loss, losses
        As for `kernels.run_pairs`; a row of the table begins with the F features.
    w : shape (2, F)
        The diagonal weights of the units on +φ and on −φ; ones without diagonal.
    first : shape (2F, H)
        Transposed weights of the first dense layer, units on +φ before those on −φ.
    flat : shape (P,)
        All other parameters one after the other: bias of the first layer, then transposed
        weights and bias of each layer.
    sizes : int64, shape (L + 1,)
        Widths of the dense layers, and q.
    rectified : (bool, bool)
        Whether diagonal and dense units are rectified.
    rule : (moves, ridge, boxes)
        λ, and for w, then for weights and bias of each layer, shape (1 + 2(L + 1),): whether it
        is trained, and its half-width.
    """
    table, theta, n_modes, y, weight = data
    (diagonal_relu, relu), (moves, ridge, boxes) = rectified, rule
    batch, n, dtype = rows.shape[1], w.shape[1], w.dtype
    width, widest = 2 * n if diagonal_relu else n, max(sizes)
    x = np.empty((batch, width), dtype)
    folded, g_first = np.empty((width, sizes[0]), dtype), np.empty((width, sizes[0]), dtype)
    hidden, errors = np.empty(batch * sizes.sum(), dtype), np.empty((2, batch * widest), dtype)
    bias_gradient = np.empty(widest, dtype)
    work = (np.empty(widest * widest, dtype), bias_gradient)
    cosine, sine, fresh = np.empty(n_modes), np.empty(n_modes), np.empty(table.shape[1], dtype)
    for f in range(n):
        _fold_feature(f, w, first, diagonal_relu, folded)
    for step in range(len(rows)):
        rate = dtype.type(rates[step])
        for b in range(batch):
            row = rows[step, b]
            if len(table) == 0:
                embed_row(theta[row], n_modes, cosine, sine, fresh)
                _gather(fresh, diagonal_relu, x[b])
            else:
                _gather(table[row], diagonal_relu, x[b])
        z, at = _forward(x, folded, hidden, flat, sizes, relu)
        error = _matrix(errors[0], 0, batch, z.shape[1])
        losses[step] = _residuals(rows[step], z, y, weight, loss, error)
        error = _backward(errors, hidden, flat, sizes, relu, moves, boxes, rate, at, work)
        np.dot(x.T, error, g_first)
        if moves[2]:
            _column_sums(error, bias_gradient[: sizes[0]])
            _descend(flat[: sizes[0]], bias_gradient[: sizes[0]], rate, boxes[2])
        pair_moves, pair_boxes = (moves[0], moves[1]), (boxes[0], boxes[1])
        for f in range(n):
            for side in range(2):
                _update_unit(
                    side, f, w, first, g_first, diagonal_relu, pair_moves, rate, ridge, pair_boxes
                )
            _fold_feature(f, w, first, diagonal_relu, folded)
