"""What the user asks of a mixture, checked and turned from units into modes."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.estimators.times import known_periods

__all__ = ["MOST_MODES", "highest_mode", "known_modes", "require_number"]

MOST_MODES = 2_000_000  # a periodogram of more would not fit into memory
_LEAST_MODE = 1e-3  # of a known period: one that is longer than a thousand records is a level


def require_number(name: str, value: Any) -> None:
    """Refuse what is not a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise InputError(f"{name}={value!r} must be a positive finite number")


def known_modes(domain: Domain, periods: Any) -> FloatArray:
    """Modes of the known periods, each once, or a clear word."""
    values = known_periods(periods, domain)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"periods={periods!r} must all be positive finite numbers")
    shortest, longest = domain.span / MOST_MODES, domain.span / _LEAST_MODE
    for value in values:
        if not shortest <= value <= longest:
            raise InputError(
                f"periods has {value:g}, but from times that span {domain.span:.6g} only periods "
                f"from {shortest:.3g} to {longest:.3g} can be fitted; check the unit of time"
            )
    _, first = np.unique(values, return_index=True)
    return domain.mode(1.0 / values[np.sort(first)])


def highest_mode(domain: Domain, max_frequency: float | None) -> float | None:
    """Mode of the highest frequency to search, or a clear word."""
    if max_frequency is None:
        return None
    mode = float(domain.mode(max_frequency))
    if mode > MOST_MODES:
        raise InputError(
            f"max_frequency={max_frequency!r} makes {mode:.3g} cycles over the record; at most "
            f"{MOST_MODES} can be searched: lower it"
        )
    return mode
