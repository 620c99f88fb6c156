"""Compilation by numba at the first call, cached on disk; what trains networks, and the fallback.

Without numba a kernel stays the Python function that it is.

numba compiles a kernel when it is first called and keeps the result beside the source file, or
in the user's cache folder where the source cannot be written, or else in a folder of the user's own
among the temporary files. Where it cannot be kept, as on a full disk, it is compiled anew in each
process. That is once for each machine and version; `announced` says so while it happens. The cache
of a kernel is renewed when its own file changes, not when a kernel that it calls from another file
does: after editing such a file, delete the ``*.nbi`` files in ``__pycache__``.
"""

from __future__ import annotations

import logging
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

njit: Any = None
with suppress(ModuleNotFoundError):
    from numba import njit
    from numba.core import config, event

Function = TypeVar("Function", bound=Callable[..., Any])

NOTICE = "compiling once: this takes some seconds, later trainings start at once"

_LOG = logging.getLogger("robustfourier.training")

# Sums may be reordered and products contracted, which vectorises them. NaN and infinity keep
# their meaning: divergence must be seen.
_ARITHMETIC = {"reassoc", "contract", "nsz"}
_OPTIONS: dict[str, Any] = {
    **{"fastmath": _ARITHMETIC, "nogil": True, "error_model": "numpy"},
    "no_cfunc_wrapper": True,  # nobody calls a kernel from C: a twentieth less to compile
}


def jitted(function: Function) -> Function:
    """Compile with numba, without the GIL, cached where a folder for the cache can be written.

    Examples
    --------
    >>> @jitted
    ... def twice(x):
    ...     return 2 * x
    >>> twice(4)
    8
    """
    if njit is None:
        return function
    try:
        return _lenient(njit(cache=True, **_OPTIONS)(function))
    except RuntimeError:  # numba found no place for a cache
        with _cached_in(_own_folder()):
            try:
                return _lenient(njit(cache=True, **_OPTIONS)(function))
            except RuntimeError:
                return njit(**_OPTIONS)(function)


def _lenient(kernel: Any) -> Any:
    """Let a cache that cannot be written, as on a full disk, be no error of the computation."""
    save = kernel._cache.save_overload

    def attempt(*given: Any) -> None:
        with suppress(OSError):
            save(*given)

    kernel._cache.save_overload = attempt
    return kernel


@contextmanager
def _cached_in(folder: str) -> Iterator[None]:
    """Let numba keep what is compiled in a folder; no folder if it is empty."""
    numba: Any = config
    before, numba.CACHE_DIR = numba.CACHE_DIR, folder
    try:
        yield
    finally:
        numba.CACHE_DIR = before


def _own_folder() -> str:
    """A folder among the temporary files that belongs to the user alone; empty if there is none.

    What is cached there is executed: a folder that another could have made is not taken.
    """
    if not hasattr(os, "getuid"):  # Windows, where the user's cache folder can be written
        return ""
    for base in filter(None, (os.environ.get("TMPDIR"), "/var/tmp", "/tmp")):
        folder = os.path.join(base, f"robustfourier-kernels-{os.getuid()}")
        with suppress(OSError):
            if not os.path.lexists(folder):
                os.mkdir(folder, 0o700)
            found = os.lstat(folder)
            private = stat.S_ISDIR(found.st_mode) and not stat.S_IMODE(found.st_mode) & 0o077
            if private and found.st_uid == os.getuid():
                return folder
    return ""


def inlined(function: Function) -> Function:
    """Compile into the place that calls it, once for each row of an array: no call is left.

    Examples
    --------
    >>> @inlined
    ... def square(x):
    ...     return x * x
    >>> @jitted
    ... def fourth(x):
    ...     return square(square(x))
    >>> fourth(3)
    81
    """
    return function if njit is None else njit(inline="always", **_OPTIONS)(function)


@contextmanager
def announced() -> Iterator[None]:
    """Log "compiling once" if numba compiles anything inside; loading from its cache is silent.

    The message goes to the logger ``robustfourier.training``, as a warning where somebody looks
    at the terminal and as information otherwise.
    """
    if njit is None:
        yield
        return

    class LogOnce(event.Listener):
        logged = False

        def on_start(self, event: Any) -> None:  # noqa: ARG002
            if not self.logged:
                self.logged = True
                _LOG.log(logging.WARNING if sys.stderr.isatty() else logging.INFO, NOTICE)

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", LogOnce()):
        yield
