"""The Kaiser-Bessel window by which sums are read between samples and samples between grid cells.

Both need a grid twice as dense as the band. The window is then 16 cells wide, and what aliases
through it is below 1e-14.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import i0e

from robustfourier.arrays import FloatArray

HALF = 8  # samples under either half of the window
WIDTH = 2 * HALF  # and under all of it
TERMS = 8  # of the even and of the odd part of each polynomial
_SHAPE = 2.30 * WIDTH  # Kaiser-Bessel shape for samples twice as dense as the band needs
_DEGREE = 15  # of `inverse_transform`: exact to rounding


def window(distance: FloatArray) -> FloatArray:
    """Kaiser-Bessel window, scaled to 1 at its centre; zero beyond half its width."""
    inside = 1.0 - (2.0 * distance / WIDTH) ** 2
    root = np.sqrt(np.maximum(inside, 0.0))
    values = i0e(_SHAPE * root) * np.exp(_SHAPE * (root - 1.0)) / i0e(_SHAPE)
    return np.where(inside >= 0.0, values, 0.0)


@cache
def window_polynomials() -> FloatArray:
    """Return polynomials of the window and two derivatives at its samples, (3, 2, TERMS, HALF).

    Even and odd terms of polynomials in 2x − 1, highest power first, where x in [0, 1) is how far
    the first sample lies inside the window; the window is analytic there, so that they are exact
    to rounding. The samples of the other half are the mirror images.
    """
    nodes = np.cos(np.pi * (np.arange(48) + 0.5) / 48)
    values = window(0.5 * WIDTH - 0.5 * (nodes[:, None] + 1.0) - np.arange(HALF))
    fitted = chebyshev.chebfit(nodes, values, 2 * TERMS - 1)
    monomials = np.eye(2 * TERMS)  # of each Chebyshev polynomial, by T₂ = 2x·T₁ − T₀
    for n in range(2, 2 * TERMS):
        monomials[n] = 2.0 * np.roll(monomials[n - 1], 1) - monomials[n - 2]
    table = np.empty((3, 2, TERMS, HALF))
    for power in range(3):
        terms = monomials[: 2 * TERMS - power].T @ chebyshev.chebder(fitted, power)
        table[power, 0, ::-1], table[power, 1, ::-1] = terms[0::2], terms[1::2]
    return table


@cache
def inverse_transform() -> FloatArray:
    """Return one over the window's transform at π/2·x radians per cell, |x| ≤ 1.

    A polynomial in 2x² − 1, highest power first. It divides the window out again: of a column at
    θ = x before its sums are read between samples, and of sums at a part x of the highest mode
    that the grid can bear.
    """
    nodes = np.cos(np.pi * (np.arange(64) + 0.5) / 64)
    values = 1.0 / _transform(0.5 * np.pi * np.sqrt(0.5 * (nodes + 1.0)))
    fitted = chebyshev.cheb2poly(chebyshev.chebfit(nodes, values, _DEGREE))
    return np.ascontiguousarray(fitted[::-1])


def _transform(angle: FloatArray) -> FloatArray:
    """Fourier transform of the window at `angle` radians per sample."""
    root = np.sqrt(_SHAPE**2 - (0.5 * WIDTH * angle) ** 2)
    decay = np.exp(root - _SHAPE) - np.exp(-root - _SHAPE)
    return WIDTH * decay / (2.0 * root * i0e(_SHAPE))
