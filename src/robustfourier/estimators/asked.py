"""What the user asks of a mixture, checked and turned from units into modes."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import DATE_UNITS, Domain
from robustfourier.errors import InputError
from robustfourier.estimators.times import known_periods
from robustfourier.estimators.validation import seed_sequence
from robustfourier.fit_config import MOST_CYCLES
from robustfourier.mixture.timeseries import Settings

_LEAST_MODE = 1e-3  # of a known period: one that is longer than a thousand records is a level


def require_number(name: str, value: Any) -> None:
    """Refuse what is not a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise InputError(f"{name}={value!r} must be a positive finite number")


def known_modes(domain: Domain, periods: Any, name: str = "periods") -> FloatArray:
    """Modes of the periods of a parameter, each once, or a clear word."""
    values = known_periods(periods, domain)
    if not len(values):
        return values
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(f"{name}={periods!r} must all be positive finite numbers")
    shortest, longest = domain.span / MOST_CYCLES, domain.span / _LEAST_MODE
    for value in values:
        if not shortest <= value <= longest:
            raise InputError(
                f"{name} has {value:g}, but from times that span {domain.span:.6g} only periods "
                f"from {shortest:.3g} to {longest:.3g} can be fitted; check the unit of time"
            )
    _, first = np.unique(values, return_index=True)
    return domain.mode(1.0 / values[np.sort(first)])


def settings_of(asked: Any, domains: list[Domain]) -> list[Settings]:
    """Check the parameters of a `PeriodicMixture`; one record in modes per column."""
    require_number("false_alarm", asked.false_alarm)
    if asked.false_alarm >= 1:
        raise InputError(
            f"false_alarm={asked.false_alarm!r} must lie between 0 and 1; the default is 0.01"
        )
    if asked.max_frequency is not None:
        require_number("max_frequency", asked.max_frequency)
    if not (asked.unit is None or (isinstance(asked.unit, str) and asked.unit.isprintable())):
        raise InputError(f"unit={asked.unit!r} must be text, such as 'day', or None")
    seed_sequence(asked.random_state, 1)  # nothing is drawn, but what is given must be usable
    return [
        Settings(
            level=asked.false_alarm,
            frequencies=asked.frequencies,
            loss=asked.loss,
            modes=known_modes(domain, asked.periods) if column == 0 else np.zeros(0),
            max_mode=highest_mode(domain, asked.max_frequency),
            calendar=calendar_modes(domain),
            **(wished_modes(domain, asked) if column == 0 else {}),
        )
        for column, domain in enumerate(domains)
    ]


def calendar_modes(domain: Domain) -> FloatArray:
    """Modes of the calendar's periods in a dated record; none where times are numbers."""
    if not domain.dates:
        return np.zeros(0)
    periods = np.array([DATE_UNITS[unit] for unit in ("hour", "day", "week", "month", "year")])
    return np.asarray(domain.mode(DATE_UNITS[domain.unit] / periods), np.float64)


def wished_modes(domain: Domain, wishes: Any) -> dict[str, Any]:
    """The wishes of the user about lines and families, in modes.

    Parameters
    ----------
    domain : Domain
    wishes : PeriodicMixture
        Of which `min_frequency`, `without`, `split` and `merge` are read.
    """
    lowest = wishes.min_frequency
    if lowest is not None:
        require_number("min_frequency", lowest)
    pairs = [] if wishes.merge is None else list(wishes.merge)
    merged = [known_modes(domain, pair, "merge") for pair in pairs]
    for pair, modes in zip(pairs, merged, strict=True):
        if len(modes) != 2:
            raise InputError(f"merge has {pair!r}; give pairs of two periods, such as [(24, 12)]")
    return {
        "min_mode": None if lowest is None else float(domain.mode(lowest)),
        "without": known_modes(domain, wishes.without, "without"),
        "split": known_modes(domain, wishes.split, "split"),
        "merge": np.array(merged).reshape(-1, 2),
    }


def highest_mode(domain: Domain, max_frequency: float | None) -> float | None:
    """Mode of the highest frequency to search, or a clear word."""
    if max_frequency is None:
        return None
    mode = float(domain.mode(max_frequency))
    if mode > MOST_CYCLES:
        raise InputError(
            f"max_frequency={max_frequency!r} makes {mode:.3g} cycles over the record; at most "
            f"{MOST_CYCLES} can be searched: lower it"
        )
    return mode
