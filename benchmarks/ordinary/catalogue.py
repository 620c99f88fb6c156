"""The catalogue: every kind by name, and the problem that a kind and a seed make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from zlib import crc32

import numpy as np
from numpy.random import Generator

from benchmarks.ordinary import (
    calendars,
    changing,
    few_cycles,
    forecastable,
    machines,
    nature,
    partly_seen,
    plain,
    real,
    robust_period,
    stars,
    surveys,
    tones,
)
from benchmarks.ordinary.problem import Problem

# Kinds whose first seed is right and quick; they run with the tests.
QUICK = (
    "white", "red", "constant", "ramp", "heavy_tails", "quiet_star", "rounded", "few_samples",
    "irregular_tones", "tone_in_red", "counts", "close_hums",
)  # fmt: skip
Kind = Callable[[Generator], Problem]


def _kinds(*modules: ModuleType) -> dict[str, Kind]:
    """Functions of a generator alone that return a `Problem`, and `VARIANTS` of the others."""
    found: dict[str, Kind] = {}
    for module in modules:
        for name, part in vars(module).items():
            if getattr(part, "__annotations__", {}) == {"rng": "Generator", "return": "Problem"}:
                found[name] = part
        found |= vars(module).get("VARIANTS", {})
    return found


_OLD = _kinds(stars, calendars, machines, nature, plain)
_NEW = _kinds(tones, surveys, few_cycles, partly_seen, changing, robust_period, forecastable)
_DRAWN = _OLD | _NEW


def drawn_kinds() -> tuple[str, ...]:
    """Names of the kinds that are drawn from seeds."""
    return tuple(_DRAWN)


def new_kinds() -> tuple[str, ...]:
    """Names of the harder kinds."""
    return tuple(_NEW)


def old_kinds() -> tuple[str, ...]:
    """Names of the easier kinds, the real series last."""
    return (*_OLD, *real.KINDS, *real.shared_kinds())


def every_kind() -> tuple[str, ...]:
    """Names of all kinds."""
    return (*old_kinds(), *new_kinds())


def problem(kind: str, seed: int) -> Problem:
    """Return the problem of a kind; each kind has its own stream of random numbers.

    Examples
    --------
    >>> task = problem("ramp", 0)
    >>> task.kind, len(task.values), task.truth.fundamentals
    ('ramp', 300, ())
    """
    fixed = real.KINDS | real.shared_kinds()
    if kind in fixed:
        drawn = fixed[kind]()
    else:
        drawn = _DRAWN[kind](np.random.default_rng([seed, crc32(kind.encode())]))
    return replace(drawn, kind=kind, seed=seed)
