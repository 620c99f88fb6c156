"""Links: components that are a function of one cosine.

g(cos x) = Σ λ_n cos(nx), with λ_n the Chebyshev coefficients of g. So a component is a link of one
cosine if its harmonics are in phase: at some shift φ, every harmonic n is λ_n cos(nx − nφ) with a
real λ_n. One number per harmonic instead of two then suffices, and the noise of the waveform
halves. `phase_lock` finds the shift and says whether the data bear it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike

from robustfourier.arrays import BoolArray, ComplexArray, FloatArray, IntArray, IntVector, Vector
from robustfourier.compiling import compiled
from robustfourier.mixture.components.waveform import InPhase, Smoothing, shrinkage
from robustfourier.mixture.significance import in_phase_p_value
from robustfourier.periodic.uncertainty import lengths

CONTRADICTION = 0.001  # p-value below which harmonics are not in phase, whatever the evidence


@dataclass(frozen=True)
class Link:
    """The function g of a component g(cos(2πf(t − centre) − phase)), without its mean.

    The mean of a component cannot be told from the level of the data, so it is part of the trend;
    g has no constant Chebyshev coefficient. cos is even, so g is known on [-1, 1] only, and
    g(cos x) = h(cos(x + π)) with h(x) = g(−x): the phase is chosen such that g rises on the whole.

    Parameters
    ----------
    coefficients : ndarray of shape (N + 1,)
        Chebyshev coefficients λ_0 = 0, λ_1, …, λ_N.
    phase : float
        Shift φ in radians, in (-π, π].
    p_value : float
        Probability of quadratures at least as large as seen if the harmonics are in phase.
    factor : ndarray of shape (N + 1, r)
        The coefficients have covariance ``factor @ factor.T``.

    Examples
    --------
    >>> link = Link(np.array([0.0, 0.75, 0.0, 0.25]), 0.0, 1.0, np.zeros((4, 1)))  # x³
    >>> float(link(0.5))
    0.125
    """

    coefficients: FloatArray
    phase: float
    p_value: float
    factor: FloatArray

    def __call__(self, x: ArrayLike, return_std: bool = False) -> Any:
        """Return g at x ∈ [-1, 1], with standard errors if asked."""
        x = np.clip(np.asarray(x, np.float64), -1.0, 1.0)
        values = chebyshev.chebval(x, self.coefficients)
        if not return_std:
            return values
        rows = chebyshev.chebvander(x, len(self.coefficients) - 1) @ self.factor
        return values, lengths(rows)


@dataclass(frozen=True)
class PhaseLock:
    """The best common shift of a family's harmonics, and what speaks for it.

    Parameters
    ----------
    phase : float
        Shift φ in radians; an odd reference has a positive coefficient there.
    smoothing : Smoothing
        How to smooth the harmonics above the first, in phase or not as `accepted` says.
    log_odds : float
        Log evidence of "in phase" over "any phases"; −∞ where the p-value contradicts it.
    p_value : float
        Of the quadratures of the given harmonics.
    """

    phase: float
    smoothing: Smoothing
    log_odds: float
    p_value: float

    @property
    def accepted(self) -> bool:
        """Whether the harmonics are taken to be in phase."""
        return self.log_odds > 0.0


def phase_lock(
    order: IntArray, coefficient: ComplexArray, variance: FloatArray, clear: BoolArray
) -> PhaseLock:
    """Test whether the harmonics of a family are in phase.

    Parameters
    ----------
    order : ndarray of int of shape (H,)
        Orders; the first is the reference, which is never shrunk.
    coefficient : ndarray of complex of shape (H,)
        a + ib for the line a cos(nx) + b sin(nx).
    variance : ndarray of shape (H,)
        Sampling variance of a and of b.
    clear : ndarray of bool of shape (H,)
        Harmonics that are significant; they alone decide the p-value.

    Examples
    --------
    Harmonics 1 and 3 of a wave shifted by 0.4 radians:

    >>> order = np.array([1, 3])
    >>> wave = np.array([1.0, -0.3]) * np.exp(1j * order * 0.4)
    >>> lock = phase_lock(order, wave, np.full(2, 1e-4), np.ones(2, bool))
    >>> lock.accepted, lock.phase
    (True, 0.4)
    """
    squares, spread = np.abs(coefficient) ** 2, variance[1:]
    factor, free_evidence = shrinkage(order[1:], squares[1:], spread, parts=2)
    phase = _best_shift(order, coefficient, np.append(1.0, factor) / variance)
    turned = coefficient * np.exp(-1j * order * phase)
    if turned[0].real < 0 and order[0] % 2 == 1:
        phase, turned = phase + np.pi, turned * np.where(order % 2 == 1, -1.0, 1.0)
    # Quadratures are noise if in phase: no evidence beyond it. The shift is fitted to them.
    quadrature = float(np.sum(turned.imag[clear] ** 2 / variance[clear]))
    p_value = in_phase_p_value(quadrature, int(clear.sum()))
    shift, log_odds = float(np.angle(np.exp(1j * phase))), -np.inf
    smoothing = Smoothing(np.diag(factor), np.zeros((len(factor),) * 2), free_evidence)
    if p_value > CONTRADICTION:
        in_phase = InPhase(order[1:], turned.real[1:], spread)
        log_odds = in_phase.log_evidence - free_evidence
        smoothing = in_phase.smoothing() if log_odds > 0.0 else smoothing
    return PhaseLock(shift, smoothing, log_odds, p_value)


def _best_shift(order: IntArray, coefficient: ComplexArray, weight: FloatArray) -> float:
    """Shift that leaves the least weighted quadrature: a grid over half a turn, then Newton.

    The quadrature of order n turns n times faster than the fundamental's, so the grid has sixteen
    points per half turn of the highest order that carries weight.
    """
    power = weight * np.abs(coefficient) ** 2
    used = power > 1e-6 * power.max()
    return float(_least(order[used], power[used], np.angle(coefficient[used])))


@compiled
def _least(n: IntVector, power: Vector, angle: Vector) -> float:
    """The shift at which Σ power · sin²(n · shift − angle) is least."""
    count, best, phase = 0, np.inf, 0.0
    for h in range(len(n)):
        count = max(count, 16 * n[h])
    for i in range(count):
        at, total = np.pi / count * i, 0.0
        for h in range(len(n)):
            total += power[h] * np.sin(n[h] * at - angle[h]) ** 2
        if total < best:
            best, phase = total, at
    for _ in range(8):
        slope = curvature = 0.0
        for h in range(len(n)):
            turn = 2.0 * (n[h] * phase - angle[h])
            slope += power[h] * n[h] * np.sin(turn)
            curvature += power[h] * 2.0 * n[h] ** 2 * np.cos(turn)
        if curvature <= 0.0:
            break
        phase -= slope / curvature
    return phase
