"""Who watches a fit: a bar, a page, a log. The fit prints nothing; it emits events.

Observers are callables, as in `robustfourier.training.callbacks`; here each is given an `Event`.
They are set for a block of code, so that no stage has to hand them on::

    with observed_by(print):
        PeriodicMixture().fit(t, y)

Without an observer `emit` looks at one empty tuple and returns; facts that are costly to collect
are collected only if `listening`. Events carry copies or numbers that nobody changes later, so a
fit gives the same bits with observers and without. An observer that raises ends the fit with its
error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

#: Stages of an analysis in their order; "training" is the network's, in place of the four before
#: it. A second column goes through "sums" to "patterns" once more; so does a second scale, from
#: "sums" to "lines" before patterns are made on one or both.
STAGES = (
    *("reading", "sums", "diagonal", "lines", "patterns", "training"),
    *("summing up", "drawing", "report"),
)


@dataclass(frozen=True)
class Event:
    """Something that happened in a fit.

    Parameters
    ----------
    stage : str
        One of `STAGES`.
    what : str
        ``began`` for all stages; the others, with their facts, are

        ============  ===========================================================================
        read          `samples`: the `Samples` of a file
        sums began    `domain`, `n_samples`, `max_mode`
        weights       of the diagonal layer on the way: `modes`, `weight` (J,), `trained`: the part
                      that has passed of the time that the false-alarm level gives
        proposed      `modes` about to be fitted
        refined       `modes`, `amplitudes` of all lines in the fit, in units of y
        tested        `modes`, `false_alarm` of all lines in the fit
        dropped       `modes`, `reason` in words
        kept          `modes`, `amplitudes`: all lines that stay, until the next round
        trend         `bends`: columns of the smooth trend; `breaks`: θ of breakpoints
        grouped       `modes`, `components`, `orders` of all lines
        composed      `components`: a `Component` for each pattern of the column
        done          `seconds` of each step of an analysis
        ============  ===========================================================================
    facts : mapping
        As above; modes are cycles over the record.
    """

    stage: str
    what: str
    facts: Mapping[str, Any] = field(default_factory=dict)


Observer: TypeAlias = Callable[[Event], Any]

_OBSERVERS: ContextVar[tuple[Observer, ...]] = ContextVar("observers", default=())


@contextmanager
def observed_by(*observers: Observer) -> Iterator[None]:
    """Call these observers, besides those already there, on all events of fits in the block.

    >>> import numpy as np
    >>> from robustfourier import PeriodicMixture
    >>> t, seen = np.arange(60.0), []
    >>> with observed_by(seen.append):
    ...     model = PeriodicMixture().fit(t, np.sin(t))
    >>> [event.stage for event in seen if event.what == "began"]
    ['sums', 'diagonal', 'lines', 'patterns']
    """
    token = _OBSERVERS.set((*_OBSERVERS.get(), *observers))
    try:
        yield
    finally:
        _OBSERVERS.reset(token)


def listening() -> bool:
    """Whether anybody would hear an event."""
    return bool(_OBSERVERS.get())


def emit(stage: str, what: str = "began", **facts: Any) -> None:
    """Call all observers with an event."""
    if observers := _OBSERVERS.get():
        event = Event(stage, what, facts)
        for observer in observers:
            observer(event)
