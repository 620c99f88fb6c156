"""Parameters of `PeriodicMixture`, checked and turned from units of time into modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from robustfourier.arrays import FloatArray
from robustfourier.domain import DATE_UNITS, Domain
from robustfourier.errors import InputError, named
from robustfourier.estimators.times import known_periods
from robustfourier.estimators.validation import seed_sequence
from robustfourier.fit_config import FitConfig, is_positive, require_in_reach
from robustfourier.mixture.timeseries import Settings


def settings_of(model: Any, domains: list[Domain]) -> list[Settings]:
    """Check the parameters of a `PeriodicMixture`; one record in modes per column."""
    FitConfig(model.false_alarm, model.loss, model.scale, options=False)
    if not (model.unit is None or (isinstance(model.unit, str) and model.unit.isprintable())):
        raise InputError(f"unit={model.unit!r} must be text, such as 'day', or None")
    seed_sequence(model.random_state, 1)  # nothing is drawn, but what is given must be usable
    return [
        Settings(
            level=model.false_alarm,
            frequencies=model.frequencies,
            loss=model.loss,
            max_mode=_mode(domain, model.max_frequency, "max_frequency"),
            calendar=calendar_modes(domain),
            **(_modes_of_user(domain, model) if column == 0 else {}),
        )
        for column, domain in enumerate(domains)
    ]


def calendar_modes(domain: Domain) -> FloatArray:
    """Modes of the calendar's periods in a dated record; none where times are numbers."""
    if not domain.dates:
        return np.zeros(0)
    periods = np.array([DATE_UNITS[unit] for unit in ("hour", "day", "week", "month", "year")])
    return np.asarray(domain.mode(DATE_UNITS[domain.unit] / periods), np.float64)


def _modes_of_user(domain: Domain, model: Any) -> dict[str, Any]:
    """What `periods`, `min_frequency`, `without`, `split` and `merge` say, in modes."""
    pairs = [] if model.merge is None else list(model.merge)
    merged = [_known_modes(domain, pair, "merge") for pair in pairs]
    for pair, modes in zip(pairs, merged, strict=True):
        if len(modes) != 2:
            raise InputError(f"merge has {pair!r}; give pairs of two periods, such as [(24, 12)]")
    return {
        "modes": _known_modes(domain, model.periods, "periods"),
        "min_mode": _mode(domain, model.min_frequency, "min_frequency"),
        "without": _known_modes(domain, model.without, "without"),
        "split": _known_modes(domain, model.split, "split"),
        "merge": np.array(merged).reshape(-1, 2),
    }


def _known_modes(domain: Domain, periods: Any, name: str) -> FloatArray:
    """Modes of the periods of a parameter, each once."""
    values = known_periods(periods, domain)
    if not all(map(is_positive, values)):
        raise InputError(f"{name}={periods!r} must all be positive finite numbers")
    for value in values.tolist():
        require_in_reach(domain.span / value, f"{name} has {value:g}")
    _, first = np.unique(values, return_index=True)
    return domain.mode(1.0 / values[np.sort(first)])


def _mode(domain: Domain, frequency: Any, name: str) -> float | None:
    """Mode of a limit of the search; None where none is given."""
    if frequency is None:
        return None
    if not is_positive(frequency):
        raise InputError(f"{name}={frequency!r} must be a positive finite number")
    mode = float(domain.mode(frequency))
    if name == "max_frequency":
        require_in_reach(mode, named(name, frequency))
    return mode
