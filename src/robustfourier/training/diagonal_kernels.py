"""The fused step of networks without dense layers, compiled.

Units come in pairs on +φ and −φ with weights (w₀, c₀) and (w₁, c₁). For a ReLU,

    c₀σ(w₀φ) + c₁σ(−w₁φ) = A φ + C |φ|,   A = (c₀w₀ − c₁w₁)/2,   C = (c₀|w₀| + c₁|w₁|)/2,

so the pair needs φ alone and −φ is never stored. With T = Σ g φ and U = Σ g |φ| over the batch the
accumulators of the two units are S₀ = (T + sgn(w₀) U)/2 and S₁ = (−T + sgn(w₁) U)/2, zero where
w = 0; then ∂c = w S and ∂w = c S. A row's prediction, its residual and its share of T and U are
computed while the row is in the nearest cache: a step reads its batch from memory once.

Features are ordered [1, cos 1…m, sin 1…m] for each column, zeros behind them up to a whole number
of vectors: which order they have is nobody else's business.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.compiling.numba_jit import jitted

Array = NDArray[Any]

GROUP = 4  # rows that share each load of A, C, T and U


@jitted
def wrap(x: float) -> float:
    """Reduce to [−1, 1)."""
    return x - 2.0 * math.floor((x + 1.0) / 2.0)


@jitted
def embed_row(theta: Array, n_modes: int, cosine: Array, sine: Array, out: Array) -> None:
    """Write the features of one row, θ of shape (d,), to `out`; float64 until they are written.

    Modes n+1 … 2n follow from modes 1 … n by one multiplication with e^{iπnθ}, itself exact, so
    mode k carries the rounding of log₂ k products only.
    """
    width = 2 * n_modes + 1
    for column in range(theta.size):
        turn = wrap(theta[column])
        cosine[0], sine[0] = math.cos(math.pi * turn), math.sin(math.pi * turn)
        known = 1
        while known < n_modes:
            phase = math.pi * wrap(known * turn)
            re, im = math.cos(phase), math.sin(phase)
            for j in range(min(known, n_modes - known)):
                cosine[known + j] = cosine[j] * re - sine[j] * im
                sine[known + j] = cosine[j] * im + sine[j] * re
            known *= 2
        first = column * width
        out[first] = 1.0
        for k in range(n_modes):
            out[first + 1 + k] = cosine[k]
            out[first + 1 + n_modes + k] = sine[k]


@jitted
def embed_rows(theta: Array, n_modes: int, out: Array) -> None:
    """Write the features of all rows, θ of shape (n, d), to `out` (n, ≥ d(2m+1))."""
    cosine, sine = np.empty(n_modes), np.empty(n_modes)
    for row in range(len(theta)):
        embed_row(theta[row], n_modes, cosine, sine, out[row])


@jitted
def value(loss: int, delta: float, r: float) -> float:
    """Cost of a residual: 0 is r², 1 is ½r², 2 is Huber's."""
    if loss == 0:
        return r * r
    if loss == 1:
        return r * r / 2
    inside = min(abs(r), delta)
    return inside * (abs(r) - inside / 2)


@jitted
def slope(loss: int, delta: float, r: float) -> float:
    """Return the derivative of `value`."""
    if loss == 0:
        return r + r
    if loss == 1:
        return r
    return min(max(r, -delta), delta)


@jitted
def _dot4(a: Array, c: Array, x0: Array, x1: Array, x2: Array, x3: Array) -> Any:
    """Σ a x + c |x| of four rows."""
    zero = a.dtype.type(0)
    s0 = s1 = s2 = s3 = zero
    for f in range(a.size):
        s0 += a[f] * x0[f] + c[f] * abs(x0[f])
        s1 += a[f] * x1[f] + c[f] * abs(x1[f])
        s2 += a[f] * x2[f] + c[f] * abs(x2[f])
        s3 += a[f] * x3[f] + c[f] * abs(x3[f])
    return s0, s1, s2, s3


@jitted
def _plain_dot4(a: Array, x0: Array, x1: Array, x2: Array, x3: Array) -> Any:
    """Σ a x of four rows."""
    zero = a.dtype.type(0)
    s0 = s1 = s2 = s3 = zero
    for f in range(a.size):
        s0 += a[f] * x0[f]
        s1 += a[f] * x1[f]
        s2 += a[f] * x2[f]
        s3 += a[f] * x3[f]
    return s0, s1, s2, s3


@jitted
def _add4(t: Array, u: Array, g: Any, x0: Array, x1: Array, x2: Array, x3: Array) -> None:
    """Add Σ g x to t and Σ g |x| to u for four rows."""
    g0, g1, g2, g3 = g
    for f in range(t.size):
        t[f] += g0 * x0[f] + g1 * x1[f] + g2 * x2[f] + g3 * x3[f]
        u[f] += g0 * abs(x0[f]) + g1 * abs(x1[f]) + g2 * abs(x2[f]) + g3 * abs(x3[f])


@jitted
def _plain_add4(t: Array, g: Any, x0: Array, x1: Array, x2: Array, x3: Array) -> None:
    """Add Σ g x to t for four rows."""
    g0, g1, g2, g3 = g
    for f in range(t.size):
        t[f] += g0 * x0[f] + g1 * x1[f] + g2 * x2[f] + g3 * x3[f]


@jitted
def _combine(w: Array, c: Array, relu: bool, a: Array, b: Array) -> None:
    """Write the coefficients A of φ and C of |φ|, shape (q, F), from w (2, F) and c (2, q, F)."""
    half = w.dtype.type(0.5)
    for o in range(a.shape[0]):
        for f in range(a.shape[1]):
            odd = c[0, o, f] * w[0, f] - c[1, o, f] * w[1, f]
            a[o, f] = half * odd if relu else odd
        if relu:
            for f in range(a.shape[1]):
                even = c[0, o, f] * abs(w[0, f]) + c[1, o, f] * abs(w[1, f])
                b[o, f] = half * even


@jitted
def clip(x: float, half_width: float) -> float:
    """Return the nearest point of [−Q, Q]."""
    return min(max(x, -half_width), half_width)


@jitted
def _update(
    w: Array,
    c: Array,
    t: Array,
    u: Array,
    slopes: Array,
    relu: bool,
    moves: Any,
    rate: float,
    ridge: float,
    boxes: Any,
) -> None:
    """Move w (2, F) and c (2, q, F) down the gradient, both from the old values of both."""
    zero, one, half = w.dtype.type(0), w.dtype.type(1), w.dtype.type(0.5)
    for side in range(2):
        sign = one if side == 0 else -one
        for f in range(w.shape[1]):
            slopes[f] = ridge * w[side, f]
        for o in range(t.shape[0]):
            for f in range(w.shape[1]):
                d = w[side, f]
                s = sign * t[o, f]
                if relu:
                    s = half * (s + (u[o, f] if d > zero else -u[o, f]))
                    s = zero if d == zero else s
                slopes[f] += c[side, o, f] * s
                if moves[1]:
                    c[side, o, f] = clip(c[side, o, f] - rate * d * s, boxes[1])
        if moves[0]:
            for f in range(w.shape[1]):
                w[side, f] = clip(w[side, f] - rate * slopes[f], boxes[0])


@jitted
def _accumulate(
    rows: Array, data: Any, relu: bool, loss: Any, a: Array, b: Array, t: Array, u: Array, work: Any
) -> float:
    """Add a batch's Σ g φ to t and Σ g |φ| to u; return the sum of its losses."""
    table, theta, n_modes, y, weight = data
    fresh, cosine, sine, at, share = work
    kind, delta = loss
    zero, batch, total = a.dtype.type(0), rows.size, 0.0
    for first in range(0, batch, GROUP):
        for i in range(GROUP):
            # the last group is filled up with rows that count for nothing
            inside = first + i < batch
            at[i] = rows[first + i if inside else batch - 1]
            share[i] = weight[at[i]] if inside else zero
            if len(table) == 0:
                embed_row(theta[at[i]], n_modes, cosine, sine, fresh[i])
        if len(table) == 0:
            x0, x1, x2, x3 = fresh[0], fresh[1], fresh[2], fresh[3]
        else:
            x0, x1, x2, x3 = table[at[0]], table[at[1]], table[at[2]], table[at[3]]
        for o in range(a.shape[0]):
            if relu:
                p0, p1, p2, p3 = _dot4(a[o], b[o], x0, x1, x2, x3)
            else:
                p0, p1, p2, p3 = _plain_dot4(a[o], x0, x1, x2, x3)
            r0, r1 = p0 - y[at[0], o], p1 - y[at[1], o]
            r2, r3 = p2 - y[at[2], o], p3 - y[at[3], o]
            total += share[0] * value(kind, delta, r0) + share[1] * value(kind, delta, r1)
            total += share[2] * value(kind, delta, r2) + share[3] * value(kind, delta, r3)
            g = (
                share[0] * slope(kind, delta, r0),
                share[1] * slope(kind, delta, r1),
                share[2] * slope(kind, delta, r2),
                share[3] * slope(kind, delta, r3),
            )
            if relu:
                _add4(t[o], u[o], g, x0, x1, x2, x3)
            else:
                _plain_add4(t[o], g, x0, x1, x2, x3)
    return total


@jitted
def run_pairs(
    rows: Array,
    rates: Array,
    data: Any,
    w: Array,
    c: Array,
    relu: bool,
    loss: Any,
    rule: Any,
    losses: Array,
) -> None:
    """Take one SGD step for each row of `rows`, in place.

    Parameters
    ----------
    rows : int64, shape (S, B)
        The batches, as rows of theta, y and weight.
    rates : shape (S,)
    data : (table, theta, n_modes, y, weight)
        Features of all rows, shape (n, F), or (0, F) to compute them whenever a row is needed;
        then arrays of shapes (n, d), (n, q) and (n,).
    w, c : shapes (2, F), (2, q, F)
        The weights of the units on +φ and on −φ.
    relu : bool
    loss : (int, float)
        See `value`.
    rule : (moves, ridge, boxes)
        Whether w and c are trained, λ, and the half-widths for w and c, infinite for none.
    losses : float64, shape (S,)
        Filled with the batch losses.
    """
    n_steps, batch = rows.shape
    _, n_outputs, width = c.shape
    number, n_modes = w.dtype.type, data[2]
    moves, ridge, boxes = rule
    a, b = np.zeros((n_outputs, width), w.dtype), np.zeros((n_outputs, width), w.dtype)
    t, u = np.zeros((n_outputs, width), w.dtype), np.zeros((n_outputs, width), w.dtype)
    slopes, fresh = np.zeros(width, w.dtype), np.zeros((GROUP, width), w.dtype)
    at, share = np.empty(GROUP, np.int64), np.empty(GROUP, w.dtype)
    work = (fresh, np.empty(n_modes), np.empty(n_modes), at, share)
    for step in range(n_steps):
        _combine(w, c, relu, a, b)
        t[:] = number(0)
        u[:] = number(0)
        total = _accumulate(rows[step], data, relu, loss, a, b, t, u, work)
        terms = batch * n_outputs
        losses[step] = total / terms
        t /= number(terms)
        u /= number(terms)
        _update(w, c, t, u, slopes, relu, moves, number(rates[step]), ridge, boxes)
