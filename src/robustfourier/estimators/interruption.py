"""A fit that does not come to its end leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from robustfourier.concurrency import interruption_as_such

Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Let a method `fit` work on a twin, whose attributes are taken over in one step at the end.

    Whatever ends it before, an error or Ctrl-C, no attribute has changed. An interruption within
    compiled code is told as such, see `interruption_as_such`.
    """

    @wraps(fit)
    def fitted(self: Any, *given: Any, **named: Any) -> Any:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        with interruption_as_such():
            fit(twin, *given, **named)
        vars(self).update(vars(twin))  # one step of the interpreter
        return self

    return fitted  # type: ignore[return-value]
