"""One family of errors.

Every error that a user can cause derives from `RobustFourierError` and from the standard
exception that fits, so both ``except ValueError`` and ``except RobustFourierError`` work.
A message names the argument, the value that was given and the remedy.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

__all__ = [
    "CheckpointError",
    "DataError",
    "DivergenceError",
    "InputError",
    "InputKindError",
    "MissingDependencyError",
    "ModelFormatError",
    "OutOfMemoryError",
    "OutputError",
    "RobustFourierError",
    "RunLockedError",
    "WorkerError",
    "require_choice",
    "require_count",
    "require_number",
    "require_text",
    "require_texts",
]

_TEXT = 200  # characters of one text of a request
_MANY = 50  # entries of one list of a request


class RobustFourierError(Exception):
    """Base of all errors raised on purpose by this package."""


class InputError(RobustFourierError, ValueError):
    """An argument has a value that cannot be used."""


class InputKindError(InputError, TypeError):
    """An argument is of a kind that cannot be used."""


class DataError(InputError):
    """A file or table cannot be read as samples; the message says where and why."""


class OutOfMemoryError(RobustFourierError, MemoryError):
    """The work would need more memory than is allowed; the message says how many bytes."""


class MissingDependencyError(RobustFourierError, ImportError):
    """An optional library is needed and not installed; the message says how to install it."""


class ModelFormatError(RobustFourierError, ValueError):
    """A model file is damaged, foreign or from a newer version."""


class CheckpointError(RobustFourierError, ValueError):
    """A training checkpoint is damaged or belongs to another training."""


class OutputError(RobustFourierError, OSError):
    """Results cannot be written where the user asked."""


class RunLockedError(RobustFourierError, RuntimeError):
    """Another run is using the same folder."""


class WorkerError(RobustFourierError, RuntimeError):
    """A worker process was ended from outside, such as for lack of memory."""


class DivergenceError(RobustFourierError, ArithmeticError):
    """Training diverged; `last_good` keeps the weights of the last healthy step.

    Parameters
    ----------
    message : str
        What happened and what to change.
    step : int
        The step at which the loss was no longer finite or had grown out of bounds.
    last_good : mapping of str to ndarray
        Parameters by name, as they were at the last check that passed.
    """

    def __init__(self, message: str, *, step: int, last_good: dict[str, Any]) -> None:
        super().__init__(message)
        self.step = step
        self.last_good = last_good


def named(name: str, value: Any) -> str:
    """An argument or an option of the command line with its value, as its user writes them.

    >>> named("loss", "cubic"), named("--loss", "cubic")
    ("loss='cubic'", "--loss 'cubic'")
    """
    return f"{name} {value!r}" if name.startswith("--") else f"{name}={value!r}"


def require_choice(name: str, value: Any, choices: Iterable[Any]) -> None:
    """Raise `InputError` unless an argument or option is one of its choices.

    >>> require_choice("loss", "cubic", ("squared", "huber"))
    Traceback (most recent call last):
    robustfourier.errors.InputError: loss='cubic' is unknown; use one of squared, huber
    """
    listed = tuple(choices)
    if value not in listed:
        words = ", ".join(map(str, listed))
        raise InputError(f"{named(name, value)} is unknown; use one of {words}")


def require_count(name: str, value: Any, at_least: int = 1) -> int:
    """Return an argument that is a whole number and large enough, or raise `InputError`."""
    try:
        count = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = -1
    if count < at_least:
        raise InputError(f"{name}={value!r} must be a whole number of at least {at_least}")
    return count


def require_number(name: str, value: Any, low: float, high: float) -> float:
    """Return a number of a request that lies within its limits, or raise `InputError`."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (known and low <= value <= high):
        raise InputError(f"{name}={value!r} must be a number from {low:.10g} to {high:.10g}")
    return float(value)


def require_text(name: str, value: Any) -> str:
    """Return a text of a request that is neither empty nor long, or raise `InputError`."""
    if not isinstance(value, str) or not value.strip() or len(value) > _TEXT:
        raise InputError(f"{name}={value!r} must be a short text")
    return value


def require_texts(name: str, value: Any) -> list[str]:
    """Return a list of a request that holds a few such texts, or raise `InputError`."""
    if not isinstance(value, list) or len(value) > _MANY:
        raise InputError(f"{name}={value!r} must be a list of short texts")
    return [require_text(name, one) for one in value]
