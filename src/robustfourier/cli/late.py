"""Modules that are loaded and may never be needed: they wait until somebody asks.

scikit-learn loads scipy.stats for one function that no estimator of ours calls; that takes a
second, a third of a small fit. pandas takes a quarter of a second, and is asked about dates and
tables alone.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _Late(ModuleType):
    """Stands in for a module, and gives way to it at the first question."""

    def __getattr__(self, name: str) -> Any:
        # Whoever looks through all modules asks for such names; packages need their path, and
        # older scikit-learn the version.
        if name.startswith("__") and name not in ("__path__", "__version__"):
            raise AttributeError(name)
        _give_way(self)
        return getattr(import_module(self.__name__), name)


def put_off(name: str) -> None:
    """Let a module load when something of it is asked for, unless it is there already."""
    sys.modules.setdefault(name, _Late(name))


@contextmanager
def waiting(name: str) -> Iterator[None]:
    """Put a module off for those that load meanwhile; others then see that it is not loaded."""
    put_off(name)
    try:
        yield
    finally:
        _give_way(sys.modules[name])


@contextmanager
def undisturbed() -> Iterator[None]:
    """Look for no garbage while libraries load, nor later among what they made.

    They leave none, and looking takes a tenth of a small fit.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _give_way(module: ModuleType) -> None:
    if isinstance(module, _Late) and sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]
