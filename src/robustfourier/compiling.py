"""Compilation of the kernels: once, cached on disk, and not in silence.

numba compiles a kernel when it is first called and keeps the result beside the source file, or
in the user's cache folder where the source cannot be written. Compiling takes some seconds, once
for each machine and version; `announced` says so while it happens. The cache of a kernel is renewed
when its own file changes, not when a kernel that it calls from another file does: after editing
such a file, delete the ``*.nbi`` files in ``__pycache__``.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from numba import njit
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

NOTICE = "compiling once: this takes some seconds, later trainings start at once"

_LOG = logging.getLogger("robustfourier.training")

# Sums may be reordered and products contracted, which vectorises them. NaN and infinity keep
# their meaning: divergence must be seen.
_ARITHMETIC = {"reassoc", "contract", "nsz"}
_OPTIONS: dict[str, Any] = {"fastmath": _ARITHMETIC, "nogil": True, "error_model": "numpy"}


def compiled(function: Function) -> Function:
    """Compile with numba, without the GIL, cached where a folder for the cache can be written.

    Examples
    --------
    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(4)
    8
    """
    try:
        return njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba found no place for a cache: compile anew in each process
        return njit(**_OPTIONS)(function)


def inlined(function: Function) -> Function:
    """Compile into the place that calls it, once for each row of an array: no call is left.

    Examples
    --------
    >>> @inlined
    ... def square(x):
    ...     return x * x
    >>> @compiled
    ... def fourth(x):
    ...     return square(square(x))
    >>> fourth(3)
    81
    """
    return njit(inline="always", **_OPTIONS)(function)


class _Announce(event.Listener):
    """Says once that a compilation has begun; kernels inside kernels are part of it."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, _: event.Event) -> None:
        if not self.said:
            self.said = True
            level = logging.WARNING if sys.stderr.isatty() else logging.INFO
            _LOG.log(level, NOTICE)

    def on_end(self, _: event.Event) -> None:
        pass


@contextmanager
def announced() -> Iterator[None]:
    """Log "compiling once" if numba compiles anything inside; loading from its cache is silent.

    The message goes to the logger ``robustfourier.training``, as a warning where somebody looks
    at the terminal and as information otherwise.
    """
    with event.install_listener("numba:compile", _Announce()):
        yield
