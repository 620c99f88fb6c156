"""Modules that others load and we may never need: they wait until somebody asks.

scikit-learn loads scipy.stats for one function that no estimator of ours calls; that takes a
second, a third of a small fit.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["put_off"]


class _Late(ModuleType):
    """Stands in for a module, and gives way to it at the first question."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def put_off(name: str) -> None:
    """Let a module load when something of it is asked for, unless it is there already."""
    sys.modules.setdefault(name, _Late(name))
