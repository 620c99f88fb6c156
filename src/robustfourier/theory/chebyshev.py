"""Chebyshev and Fourier coefficients: of ReLU, of link functions, of the target f.

A link turns a sinusoid into a family of harmonics, g(cos πaθ) = Σ λ_n cos(nπaθ), where λ_n are the
Chebyshev coefficients of g (section 2). All integrals are means over a fine even grid, which is
exact for trigonometric polynomials of degree below half the number of points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.errors import InputError

Function = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class FourierSeries:
    """f(θ) ≈ Σ_k cosine_k cos(πkθ) + sine_k sin(πkθ), k = 0 … m.

    Attributes
    ----------
    cosine, sine : ndarray of shape (m+1,)
        Series coefficients; ``cosine[0]`` is the mean of f and ``sine[0]`` is zero.
    """

    cosine: FloatArray
    sine: FloatArray

    @property
    def amplitude(self) -> FloatArray:
        """Size of each mode, shape (m+1,)."""
        return np.hypot(self.cosine, self.sine)


def relu_coefficients(n_coefficients: int) -> FloatArray:
    """Chebyshev coefficients p_i of ReLU: σ(cos t) = Σ p_i cos(it) (proof of Lemma 1).

    They are 1/π, 1/2, then (2/π) cos(iπ/2)/(1 − i²); exactly zero at the odd i ≥ 3.

    Examples
    --------
    >>> relu_coefficients(5)
    array([ 0.318,  0.5  ,  0.212,  0.   , -0.042])
    """
    i = np.arange(n_coefficients)
    quarter_turns = np.array([1.0, 0.0, -1.0, 0.0])[i % 4]  # cos(iπ/2) without rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2.0 / np.pi * quarter_turns / (1.0 - i.astype(np.float64) ** 2)
    p[:2] = (1.0 / np.pi, 0.5)[:n_coefficients]
    return p


def chebyshev_coefficients(
    link: Function, n_coefficients: int, *, n_points: int = 4096
) -> FloatArray:
    """Chebyshev coefficients λ_n of a link: g(w) = Σ λ_n T_n(w), so g(cos t) = Σ λ_n cos(nt).

    `link` is g on [-1, 1], vectorised; `n_points` of the quadrature must exceed twice the number of
    coefficients, which start at n = 0.

    Examples
    --------
    >>> chebyshev_coefficients(lambda x: x**3, 4).round(6) + 0.0
    array([0.  , 0.75, 0.  , 0.25])
    """

    def wave(theta: FloatArray) -> FloatArray:
        return np.asarray(link(np.cos(np.pi * theta)))

    return fourier_series(wave, n_coefficients - 1, n_points=n_points).cosine


def sine_link_coefficients(
    link: Function, n_coefficients: int, *, n_points: int = 4096
) -> FloatArray:
    """Sine coefficients b_n of an odd link: h(sin t) = Σ b_n sin(nt).

    b_{2n+1} = (−1)^n ζ_{2n+1} with ζ the Chebyshev coefficients of h, since
    T_{2n+1}(sin t) = (−1)^n sin((2n+1)t); the paper prints −sin for every n.

    Examples
    --------
    >>> sine_link_coefficients(lambda x: x**3, 4) + 0.0
    array([ 0.  ,  0.75,  0.  , -0.25])
    """
    zeta = chebyshev_coefficients(link, n_coefficients, n_points=n_points)
    n = np.arange(n_coefficients)
    return zeta * np.array([0.0, 1.0, 0.0, -1.0])[n % 4]


def fourier_series(f: Function, n_modes: int, *, n_points: int | None = None) -> FourierSeries:
    """Fourier coefficients of f, of period 2 and vectorised, up to mode m.

    By default the quadrature has 64 points per mode and at least 2¹⁷, which leaves an aliasing
    error of about 1e-7 for a link with a kink.

    Examples
    --------
    >>> series = fourier_series(lambda theta: np.maximum(np.sin(np.pi * theta), 0), 2)
    >>> series.cosine.round(3) + 0.0, series.sine.round(3) + 0.0
    (array([ 0.318,  0.   , -0.212]), array([0. , 0.5, 0. ]))
    """
    n_points = max(2**17, 64 * n_modes) if n_points is None else n_points
    _check_points(n_modes + 1, n_points)
    theta = midpoints(n_points)
    spectrum = np.fft.rfft(np.asarray(f(theta), dtype=np.float64))[: n_modes + 1] / n_points
    # The grid starts at θ₀ = −1 + 1/n, so the transform carries e^{−iπkθ₀}.
    spectrum *= np.exp(-1j * np.pi * np.arange(n_modes + 1) * theta[0])
    weight = np.where(np.arange(n_modes + 1) == 0, 1.0, 2.0)
    return FourierSeries(weight * spectrum.real, -weight * spectrum.imag)


def even_and_odd_parts(f: Function) -> tuple[Function, Function]:
    """Return the even and the odd part of f (section 2): links of cosines make the first.

    Examples
    --------
    >>> even, odd = even_and_odd_parts(lambda theta: np.cos(np.pi * theta) + theta)
    >>> even(np.array([0.5, 1.0])).round(12) + 0.0, odd(np.array([0.5, 1.0]))
    (array([ 0., -1.]), array([0.5, 1. ]))
    """

    def part(side: float) -> Function:
        def function(theta: FloatArray) -> FloatArray:
            theta = np.asarray(theta, dtype=np.float64)
            return np.asarray((f(theta) + side * f(-theta)) / 2.0)

        return function

    return part(1.0), part(-1.0)


def two_norm(f: Function, n_points: int = 2**17) -> float:
    """Return ‖f‖₂ = √E[f²], which bounds ‖α‖₂ and so ‖α‖_∞ (Bessel's inequality, section 4).

    Examples
    --------
    >>> round(two_norm(lambda theta: np.cos(3 * np.pi * theta)), 6)
    0.707107
    """
    return float(np.sqrt(np.mean(np.asarray(f(midpoints(n_points)), dtype=np.float64) ** 2)))


def truncation_error(f: Function, n_modes: int, n_points: int = 2**16) -> float:
    """Return sup |f − S_m f|, the largest error of f's Fourier sum up to mode m, on a fine grid.

    It falls like m^(−r) if the r-th derivative of f has bounded variation (section 3).

    Examples
    --------
    >>> f = lambda theta: np.cos(3 * np.pi * theta)
    >>> round(truncation_error(f, 2), 6), round(truncation_error(f, 3), 6)
    (1.0, 0.0)
    """
    _check_points(n_modes + 1, n_points)
    spectrum = np.fft.rfft(np.asarray(f(midpoints(n_points)), dtype=np.float64))
    spectrum[: n_modes + 1] = 0.0
    return float(np.abs(np.fft.irfft(spectrum, n_points)).max())


def alpha(f: Function, n_modes: int) -> FloatArray:
    """Return α_j = E[f(θ) x_j] for the symmetrised embedding, j = −2m … 2m.

    That is half the series coefficient for j > 0, the mean of f at j = 0, and α_{−j} = −α_j.

    Examples
    --------
    >>> alpha(lambda theta: 0.8 * np.cos(np.pi * theta), 1).round(6) + 0.0
    array([ 0. , -0.4,  0. ,  0.4,  0. ])
    """
    series = fourier_series(f, n_modes)
    positive = np.empty(2 * n_modes)
    positive[0::2] = series.cosine[1:] / 2.0  # x_{2r−1} = cos πrθ and E[cos²] = 1/2
    positive[1::2] = series.sine[1:] / 2.0  # x_{2r} = sin πrθ
    return np.concatenate([-positive[::-1], series.cosine[:1], positive])


def midpoints(n_points: int) -> FloatArray:
    """Return an even grid that avoids the ends and kinks at 0, where rounding would decide."""
    return -1.0 + 2.0 * (np.arange(n_points) + 0.5) / n_points


def _check_points(n_coefficients: int, n_points: int) -> None:
    if n_coefficients < 1:
        raise InputError(f"the number of coefficients must be at least 1, not {n_coefficients}.")
    if n_points <= 2 * n_coefficients:
        raise InputError(
            f"n_points={n_points!r}: {n_coefficients} coefficients need more than "
            f"{2 * n_coefficients} points."
        )
