"""Component: one repeating pattern, with its period, its waveform and, if it has one, its link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.domain import Domain
from robustfourier.mixture.components.links import Link
from robustfourier.mixture.least_squares.error_bands import lengths

__all__ = ["Component"]


@dataclass(frozen=True, eq=False)
class Component:
    """One repeating pattern of a mixture.

    Its value at time t is ``waveform((t - epoch) / period)``. The mean of a pattern cannot be told
    from the level of the data: waveforms have mean zero, the level is part of the trend.

    Parameters
    ----------
    label : str
        ``f1``, ``f2``, … for patterns with a frequency of their own, the strongest first; a sum or
        difference such as ``f1+f2`` for a combination tone.
    mode, mode_error : float
        Cycles over the record, and its standard error.
    frequency, frequency_error : float
        Cycles per unit of time.
    period, period_error : float
        In units of time.
    harmonics : ndarray of int
        Orders that are significant; 1 is the fundamental. The waveform may hold further ones, each
        shrunk by what the data say of it.
    share : float, or ndarray of shape (q,) for several outputs
        Part of the variation around the trend that the pattern explains: its covariance with the
        data over their variance, outliers pulled in. Shares and what is left over add up to one.
    phase : float
        Of the fundamental at the middle of the record (θ = 0), in radians; with several outputs, of
        the one in which it is strongest (relative to the noise).
    link : Link or None
        The function g of ``g(cos(2π (t - epoch) / period))`` if the harmonics are in phase. None if
        they are not, and for several outputs.
    order : ndarray of int of shape (H,)
        Orders of all harmonics of the waveform.
    cosine, sine : ndarray of shape (H, q)
        Their coefficients, relative to `epoch`.
    factor : ndarray of shape (q, 2H, r)
        The coefficients of an output have covariance ``factor @ factor.T``.
    domain : Domain
        Where time and θ meet.
    column : int
        The input column.
    """

    label: str
    mode: float
    mode_error: float
    frequency: float
    frequency_error: float
    period: float
    period_error: float
    harmonics: IntArray
    share: Any
    phase: float
    link: Link | None
    order: IntArray
    cosine: FloatArray
    sine: FloatArray
    factor: FloatArray
    domain: Domain
    column: int = 0

    @property
    def epoch(self) -> Any:
        """Time nearest to the middle of the record at which the phase is zero."""
        return self.domain.from_theta(np.array([self.phase / (np.pi * self.mode)]))[0]

    @property
    def combination(self) -> bool:
        """Whether the frequency is a sum or difference of others."""
        return "+" in self.label or "-" in self.label

    def waveform(self, phase: ArrayLike, return_std: bool = False) -> Any:
        """Return the pattern at a phase in cycles: 0 at the epoch, 1 one period later.

        Parameters
        ----------
        phase : array-like of shape (m,)
            Cycles; any real number.
        return_std : bool
            Whether to return standard errors too.

        Returns
        -------
        ndarray of shape (m,), or (m, q) for several outputs; a pair of them if `return_std`
        """
        angle = 2.0 * np.pi * np.multiply.outer(np.asarray(phase, np.float64), self.order)
        columns = np.concatenate([np.cos(angle), np.sin(angle)], axis=-1)
        values = columns @ np.concatenate([self.cosine, self.sine])
        single = values.shape[-1] == 1
        values = values[..., 0] if single else values
        if not return_std:
            return values
        errors = np.stack([lengths(columns @ part) for part in self.factor], -1)
        return values, errors[..., 0] if single else errors

    def __repr__(self) -> str:
        orders = ", ".join(map(str, self.harmonics))
        share = " ".join(f"{100 * value:.3g} %" for value in np.atleast_1d(self.share))
        return (
            f"<Component {self.label}: period {self.period:.6g} ± {self.period_error:.2g} "
            f"{self.domain.unit}".rstrip()
            + f", harmonics {orders}, {share} of the variance>"
        )
