"""A component: one repeating pattern of a mixture, as a user reads it, and its label.

Letters name components, the strongest first; 3B, A+B, 2A-B are integer combinations of their
frequencies, with a plain hyphen, so that labels can be typed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.domain import Domain
from robustfourier.formatting import number
from robustfourier.mixture.components.links import Link
from robustfourier.periodic.harmonic_families import nested_orders
from robustfourier.periodic.uncertainty import lengths


def letter(i: int) -> str:
    """Return the label of the i-th component: A to Z, then AA, AB and so on."""
    return (letter(i // 26 - 1) if i >= 26 else "") + ascii_uppercase[i % 26]


def label(row: Iterable[int]) -> str:
    """Name an integer combination of frequencies.

    Examples
    --------
    >>> label([1, 0]), label([0, 3]), label([1, 1]), label([-1, 2])
    ('A', '3B', 'A+B', '2B-A')
    """
    terms = [(int(factor), letter(j)) for j, factor in enumerate(row) if factor]
    # A leading term with a plus sign reads better than -A+2B.
    terms.sort(key=lambda term: term[0] < 0)
    text = ""
    for factor, name in terms:
        sign = "-" if factor < 0 else "+" if text else ""
        text += f"{sign}{'' if abs(factor) == 1 else abs(factor)}{name}"
    return text


@dataclass(frozen=True, eq=False)
class QuasiPeriodicTrace:
    """How a quasi-periodic pattern wanders.

    Parameters
    ----------
    coherence : float
        Time after which amplitude, phase and shape are forgotten (to 1/e), in units of time.
    modulation : float
        Deviation of the quasi-periodic part over that of the whole pattern: 0 for a strict pattern,
        1 for one that keeps nothing.
    order : int
        The strongest harmonic, whose amplitude and phase are followed.
    theta : ndarray of shape (G,)
        Where they are told.
    cosine, sine, error : ndarray of shape (G,)
        Its coefficients there, relative to the strict period and epoch, and their standard error.
    """

    coherence: float
    modulation: float
    order: int
    theta: FloatArray
    cosine: FloatArray
    sine: FloatArray
    error: FloatArray

    def amplitude(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the amplitude of the harmonic at θ, and its standard error."""
        return np.interp(theta, self.theta, np.hypot(self.cosine, self.sine)), self._error(theta)

    def phase(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return by how many radians of the fundamental the pattern is late at θ, and its error."""
        late = np.unwrap(np.arctan2(self.sine, self.cosine)) / self.order
        size = np.interp(theta, self.theta, np.hypot(self.cosine, self.sine))
        error = self._error(theta) / np.maximum(size, 1e-300)
        return np.interp(theta, self.theta, late), np.minimum(error, np.pi) / self.order

    def _error(self, theta: FloatArray) -> FloatArray:
        return np.interp(theta, self.theta, self.error)


@dataclass(frozen=True, eq=False)
class Component:
    """One repeating pattern of a mixture.

    Its value at time t is ``waveform((t - epoch) / period)``. The mean of a pattern cannot be told
    from the level of the data: waveforms have mean zero, the level is part of the trend.

    Parameters
    ----------
    label : str
        ``A``, ``B``, … for patterns with a frequency of their own, the strongest first; a sum or
        difference such as ``A+B`` for a combination tone.
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
        data over their variance, outliers left out. Shares and what is left over add up to one.
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
    quasi_periodic : QuasiPeriodicTrace or None
        How it wanders; None if it is strict.
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
    quasi_periodic: QuasiPeriodicTrace | None = None

    @property
    def coherence(self) -> float:
        """Time after which the pattern forgets amplitude, phase and shape; infinite if strict."""
        return np.inf if self.quasi_periodic is None else self.quasi_periodic.coherence

    @property
    def modulation(self) -> float:
        """Part of its deviation that wanders: 0 if strict, 1 if nothing is kept for ever."""
        return 0.0 if self.quasi_periodic is None else self.quasi_periodic.modulation

    def amplitude_at(self, times: Any, return_std: bool = False) -> Any:
        """Return the amplitude of the strongest harmonic at times, with standard errors if asked.

        A strict pattern has the same at all times.
        """
        theta = self.domain.to_theta(times)
        if self.quasi_periodic is not None:
            value, std = self.quasi_periodic.amplitude(theta)
            return (value, std) if return_std else value
        size = np.hypot(self.cosine, self.sine)
        at = int(np.argmax(size[:, 0]))
        cosine, sine = self.factor[0, at], self.factor[0, len(self.order) + at]
        length = max(size[at, 0], 1e-300)
        along = self.cosine[at, 0] / length * cosine + self.sine[at, 0] / length * sine
        value = np.full(len(theta), size[at, 0])
        return (value, np.full(len(theta), lengths(along))) if return_std else value

    def phase_at(self, times: Any, return_std: bool = False) -> Any:
        """Return by how many radians of a cycle the pattern is late at times; 0 if it is strict.

        Relative to ``waveform((t - epoch) / period)``; with standard errors if asked.
        """
        theta = self.domain.to_theta(times)
        if self.quasi_periodic is not None:
            value, std = self.quasi_periodic.phase(theta)
            return (value, std) if return_std else value
        zero = np.zeros(len(theta))
        # The error of the period adds up from the epoch on.
        error = np.pi * self.mode_error * np.abs(theta - self.phase / (np.pi * self.mode))
        return (zero, error) if return_std else zero

    @property
    def wandering(self) -> str:
        """In words how it wanders; empty if it is strict.

        Of a coherence longer than the record nobody has seen the end: what is said is by how much
        the pattern changes from one end to the other, a deviation of √(2 (1 − e^{−T/L})) of what
        wanders.
        """
        if self.quasi_periodic is None:
            return ""
        count, over = number(self.coherence / self.period, 2), self.domain.span / self.coherence
        if over < 1.0:
            change = self.modulation * np.sqrt(-2.0 * np.expm1(-over))
            return f"changes by {100 * change:.0f} % of its size over the record (quasi-periodic)"
        if self.modulation > 0.95:
            return f"drifts out of step after about {count} cycles (quasi-periodic)"
        return (
            f"changes by {100 * self.modulation:.0f} % of its size within about {count} cycles "
            "(quasi-periodic)"
        )

    @property
    def epoch(self) -> Any:
        """Time nearest to the middle of the record at which the phase is zero."""
        return self.domain.from_theta(np.array([self.phase / (np.pi * self.mode)]))[0]

    @property
    def nested(self) -> tuple[float, ...]:
        """Periods that repeat within this one, such as 50 and 20 within 100, longest first.

        Patterns of periods P and P/n cannot be told from one pattern of P: a strong order n is the
        only sign of the second.
        """
        found = np.isin(self.order, self.harmonics)
        size = np.hypot.reduce(np.hypot(self.cosine[found], self.sine[found]), axis=1)
        return tuple(self.period / int(n) for n in nested_orders(self.order[found], size))

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
            + f", harmonics {orders}, {share} of the variance"
            + (f", containing {', '.join(f'{p:.6g}' for p in self.nested)}" if self.nested else "")
            + (f"; {self.wandering}>" if self.wandering else ">")
        )
