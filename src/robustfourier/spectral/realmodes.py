"""Fourier sums at real-valued modes, from one pass through the data.

S(κ) = Σ u e^{-iπκθ} is band-limited in κ because θ lies in [-1, 1]. Sampled every half mode and
interpolated with a Kaiser-Bessel window whose transform is divided out beforehand, it is known at
every real κ to about 1e-12 of Σ|u|. A search over frequencies then costs nothing that depends on
the number of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray
from robustfourier.errors import InputError
from robustfourier.spectral.kernels import (
    SPACING,
    read_evenly,
    read_filtered,
    read_sums,
    take_lines_out,
)
from robustfourier.spectral.sums import SumsAt
from robustfourier.spectral.window import (
    HALF,
    WIDTH,
    inverse_transform,
    window,
)

_REACH = 18  # samples to each side that make Σ u p(θ) e^{-iπκθ} out of Σ u e^{-iπκθ}, to 2e-14
FARTHER = _REACH * SPACING  # modes that these are


class RealModePlan:
    """Makes `RealModeSums` for fixed positions; what does not depend on the columns is done once.

    Parameters
    ----------
    theta : ndarray of shape (n,)
    max_mode : float
        Largest mode that will be read.
    """

    def __init__(self, theta: FloatArray, max_mode: float) -> None:
        self.max_mode = float(max_mode)
        count = int(np.ceil(max_mode / SPACING)) + WIDTH + 1
        self._sums = SumsAt(theta, count, SPACING, inverse_transform())

    def __call__(self, columns: FloatArray) -> RealModeSums:
        """Sum `columns` of shape (n, c)."""
        parts = np.empty((2, columns.shape[1], self._sums.count + HALF))
        for column, real, imag in zip(columns.T, *parts, strict=True):
            self._sums.write(column, real[HALF:], imag[HALF:])
            real[:HALF], imag[:HALF] = real[2 * HALF : HALF : -1], -imag[2 * HALF : HALF : -1]
        return RealModeSums(parts, self.max_mode)


@dataclass(frozen=True)
class PolynomialSums:
    """Sums of a column times polynomials in θ, read off the sums of the column itself.

    Multiplied by θ, sums become their slopes; between samples twice as dense as the band needs, a
    short filter gives those, and the same for any smooth factor. Nothing is summed or kept.

    Parameters
    ----------
    window : RealModeSums
        Of the column, the first one, and `FARTHER` modes farther than what will be read.
    taps : ndarray of shape (c, _REACH + 1)
        Of the filters, one for each polynomial; see `kernels.read_filtered`.
    odd : ndarray of bool, shape (c,)
        Whether each polynomial is odd.
    """

    window: RealModeSums
    taps: FloatArray
    odd: BoolArray

    @classmethod
    def of(cls, window: RealModeSums, polynomials: FloatArray, max_mode: float) -> PolynomialSums:
        """Make the filters of polynomials for reading up to `max_mode`.

        `polynomials`, shape (c, d + 1), are coefficients by ascending power, those of even or those
        of odd powers alone.
        """
        if len(polynomials) and window.max_mode < max_mode + FARTHER:
            raise InputError(
                f"sums of the weights up to mode {window.max_mode:g} do not reach; sum them up to "
                f"{max_mode + FARTHER:g}"
            )
        made = [_filter(tuple(polynomial)) for polynomial in polynomials]
        taps = np.array([one for one, _ in made]).reshape(len(made), _REACH + 1)
        return cls(window, taps, np.array([odd for _, odd in made], dtype=bool))

    def at(self, modes: FloatArray) -> ComplexArray:
        """Return the sums at real `modes` of either sign, shape (len(modes), c)."""
        modes = np.ascontiguousarray(modes, dtype=np.float64)
        sums = np.empty((1, len(modes), len(self.taps)), dtype=np.complex128)
        real, imag = self.window.parts
        given = self.taps, self.odd, real[0], imag[0]
        read_filtered(modes, *given, sums)
        return sums[0]


@cache
def _filter(polynomial: tuple[float, ...]) -> tuple[FloatArray, bool]:
    """Return the taps of a polynomial at 0, 1, … `_REACH` samples, and whether it is odd.

    Their transform is the polynomial on [-1, 1]; on the rest of [-2, 2] it may be anything, which
    lets it converge as fast as 5.8 to the power of the taps.
    """
    odd = any(polynomial[1::2])
    theta = np.sin(0.5 * np.pi * (np.arange(400) + 0.5) / 400) ** 2
    angle = np.pi * SPACING * np.outer(theta, np.arange(_REACH + 1))
    basis = 2.0 * np.sin(angle) if odd else 2.0 * np.cos(angle)
    basis[:, 0] *= 0.5
    wanted = np.polynomial.polynomial.polyval(theta, polynomial)
    taps = np.linalg.lstsq(basis, wanted, rcond=1e-15)[0]
    return np.ascontiguousarray(taps), odd


@cache
def _taps(spacing: float) -> FloatArray:
    """Return the window at all places of modes so far apart between samples, (places, WIDTH)."""
    place = np.arange(0.0, 1.0, spacing / SPACING)[:, None]
    return window(place - np.ceil(place - HALF) - np.arange(WIDTH))


@dataclass(frozen=True)
class RealModeSums:
    """Sums Σ u e^{-iπκθ} of c columns u, to be read at any real κ with |κ| ≤ max_mode.

    Parameters
    ----------
    parts : ndarray of shape (2, c, HALF + J)
        Real and imaginary parts of the sums of u over the window's transform at κ = 0, ½, 1, …,
        from half a window below zero on.
    max_mode : float
        Largest |κ| that can be read.

    Examples
    --------
    >>> import numpy as np
    >>> theta = np.array([-0.5, 0.25])
    >>> sums = RealModeSums.of(theta, np.ones((2, 1)), max_mode=10)
    >>> direct = np.exp(-1j * np.pi * 7.3 * theta).sum()
    >>> bool(abs(sums.at(np.array([7.3]))[0, 0] - direct) < 1e-11)
    True
    """

    parts: FloatArray
    max_mode: float

    @classmethod
    def of(cls, theta: FloatArray, columns: FloatArray, max_mode: float) -> RealModeSums:
        """Sum `columns` of shape (n, c) at positions `theta`."""
        return RealModePlan(theta, max_mode)(columns)

    def at(self, modes: FloatArray) -> ComplexArray:
        """Return the sums at real `modes` of either sign, shape (len(modes), c)."""
        return self.powers_at(modes, 1)[0]

    def powers_at(self, modes: FloatArray, powers: int = 3) -> ComplexArray:
        """Return Σ u θ^j e^{-iπκθ} for j = 0, or j = 0, 1, 2, shape (powers, len(modes), c).

        Powers of θ are derivatives in κ, and those of the window are known.
        """
        modes = np.ascontiguousarray(modes, dtype=np.float64)
        powers = 3 if powers > 1 else 1
        sums = np.empty((powers, len(modes), self.parts.shape[1]), dtype=np.complex128)
        read_sums(modes, self.parts[0], self.parts[1], sums)
        return sums

    def every(self, spacing: float, count: int) -> ComplexArray:
        """Return the sums at κ = 0, spacing, 2·spacing, …, shape (count, c)."""
        if spacing in (2.0 * SPACING, 4.0 * SPACING):
            hop = int(spacing / SPACING)
            return self.every(SPACING, hop * (count - 1) + 1)[::hop]
        if spacing not in (SPACING, 0.5 * SPACING, 0.25 * SPACING):
            return self.at(spacing * np.arange(count, dtype=np.float64))
        sums = np.empty((self.parts.shape[1], count), dtype=np.complex128)
        for real, imag, out in zip(*self.parts, sums, strict=True):
            read_evenly(_taps(spacing), real, imag, out)
        return sums.T

    def take_lines_out(
        self, modes: FloatArray, lines: FloatArray, z: ComplexArray, sums: ComplexArray
    ) -> None:
        """Subtract the sums at `modes` of Re Σ z e^{iπkθ} times the first column from `sums`."""
        real, imag = self.parts
        take_lines_out(modes, lines, z, real[0], imag[0], sums)
