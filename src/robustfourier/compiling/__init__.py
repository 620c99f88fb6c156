"""Kernels: loops over arrays, written as Python functions and run as machine code.

The build of the package translates them to C++ and compiles them (``packaging/kernels``). Where no
compiler was at hand, numba compiles the same functions when they are first called, if it is
installed; else they run as Python, which is right and slow, and a warning says so. The variable
``ROBUSTFOURIER_KERNELS`` set to "numba" or "python" asks for one of these.
"""

from __future__ import annotations

import json
import os
import warnings
import zlib
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

SLOW = (
    "the kernels of robustfourier are not compiled: fits take some hundred times as long. Install "
    "numba (pip install 'robustfourier[numba]'), or a C++ compiler and robustfourier again"
)

_PYTHON: dict[Any, Callable[..., Any]] = {}


def _extension() -> ModuleType | None:
    """Return the kernels that were built with the package, if they were and are wanted."""
    if os.environ.get("ROBUSTFOURIER_KERNELS"):
        return None
    try:
        return import_module("robustfourier._kernels")
    except ModuleNotFoundError:
        return None


def _numba() -> bool:
    """Return whether numba compiles what was not built."""
    wanted = os.environ.get("ROBUSTFOURIER_KERNELS", "numba")
    return wanted == "numba" and find_spec("numba") is not None


_BUILT = _extension()
_RECORDS: dict[str, dict[str, Any]] = {} if _BUILT is None else json.loads(_BUILT.KERNELS)
HOW = "C++" if _BUILT is not None else "numba" if _numba() else "Python"


def compiled(function: Function) -> Function:
    """Return the machine code of a kernel, which runs without the GIL.

    Examples
    --------
    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(4)
    8
    """
    return _kernel(function, inline=False)


def inlined(function: Function) -> Function:
    """Do the same; numba compiles it into each place that calls it, so that no call is left."""
    return _kernel(function, inline=True)


def reference(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function that a kernel was made of.

    Examples
    --------
    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> reference(twice).__name__
    'twice'
    """
    return _PYTHON[kernel]


def kernels() -> list[Callable[..., Any]]:
    """Return all kernels of the modules that were imported."""
    return list(_PYTHON)


def _kernel(function: Function, *, inline: bool) -> Any:
    kernel: Any = _built(function) or _jitted(function, inline=inline)
    _PYTHON[kernel] = function
    return kernel


def _built(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return what was built of a function, with the arrays of its module; None if nothing was."""
    record = _RECORDS.get(f"{function.__module__}.{function.__qualname__}")
    ours = function.__module__.startswith("robustfourier.") and function.__module__ != __name__
    if _BUILT is None or not ours:
        return None
    known = function.__globals__
    if (
        record is None
        or digest(function.__code__) != record["digest"]
        or any(known[name] != value for name, value in record["numbers"].items())
    ):
        raise ImportError(
            f"the kernel {function.__name__} of {function.__module__} is not the one that was "
            "compiled: build it again by `make kernels`"
        )
    for name in record["arrays"]:
        _BUILT.bind(symbol(function.__module__, name), known[name])
    kernel: Callable[..., Any] = getattr(_BUILT, symbol(function.__module__, function.__name__))
    return kernel


def _jitted(function: Function, *, inline: bool) -> Function:
    """Return what numba makes of a function, or itself without numba."""
    if not _numba():
        if HOW == "Python" and not _PYTHON:  # the first one: one warning is enough
            warnings.warn(SLOW, RuntimeWarning, stacklevel=4)
        return function
    from robustfourier.compiling import numba_jit

    return numba_jit.inlined(function) if inline else numba_jit.jitted(function)


def symbol(module: str, name: str) -> str:
    """Return the name of a kernel, or of an array that it reads, in the extension.

    Examples
    --------
    >>> symbol("robustfourier.periodic.nufft", "_read")
    'periodic_nufft__read'
    """
    return "_".join([*module.split(".")[1:], name])


def digest(code: CodeType) -> int:
    """Return a number that changes with what a function does, not with its words or place."""
    constants = [value for value in code.co_consts if not isinstance(value, str)]
    parts = (code.co_code, code.co_names, code.co_varnames, constants)
    return zlib.crc32(repr(parts).encode())
