"""The table of components in words, the same for terminal, page and app.

It has the columns of `robustfourier.estimators.components`: a number and its standard error are
one cell, and what nothing is known of is empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from robustfourier.domain import Domain
from robustfourier.formatting import (
    number,
    order_ranges,
    percent,
    probability,
    readable_frequency,
    with_error,
)
from robustfourier.results.record import Pattern, Result

#: Heading of each column.
HEADINGS = (
    *("Component", "Period", "Frequency", "Amplitude", "Share", "Harmonics", "False alarm", "SNR"),
    *("Maximum", "Minimum", "Highest", "Coherence", "Name"),
)


def component_words(
    result: Result, patterns: Sequence[Pattern] | None = None
) -> list[dict[str, str]]:
    """One row of words for each component, or for some of them."""
    told = result.patterns if patterns is None else patterns
    return [_row(result, pattern) for pattern in told]


def is_signal(domain: Domain, period: float) -> bool:
    """Whether people tell a pattern by its frequency: in seconds, they count cycles in each."""
    return not domain.dates and domain.unit == "second" and period < 1.0


def _row(result: Result, p: Pattern) -> dict[str, str]:
    domain = result.domain
    cells = (
        p.label,
        domain.period_words(p.period, p.period_error, spread=True),
        readable_frequency(p.frequency, domain.unit, p.frequency_error),
        with_error(p.amplitude, p.amplitude_error),
        percent(p.share),
        order_ranges(p.harmonics, most=6),
        probability(p.false_alarm),
        number(p.snr, 3) if p.snr < 1e4 else "",
        _moment(result, p.epoch, p.epoch_error),
        _moment(result, p.epoch_min, p.epoch_min_error),
        p.peak,
        domain.period_words(p.coherence) if math.isfinite(p.coherence) else "",
        p.name or p.calendar,
    )
    return dict(zip(HEADINGS, cells, strict=True))


def _moment(result: Result, time: Any, error: float) -> str:
    return "" if time is None else result.axis.moment(time, error)
