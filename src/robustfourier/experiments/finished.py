"""Finished trials, read back for claims and figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.experiments.catalogue import Trial
from robustfourier.experiments.store import ResultStore


@dataclass(frozen=True)
class Row:
    """A finished trial: how it ended, with its curves within reach.

    Attributes
    ----------
    trial : Trial
    final_error, best_error : float
        Relative L² error at the end, and at its smallest.
    best_step : int
    active, missed, false_modes : tuple of int
        Modes; see `robustfourier.experiments.trial`.
    effective_modes, share_above_tenth, diagonal_effective : float
        `diagonal_effective` is NaN without diagonal layer.
    """

    trial: Trial
    final_error: float
    best_error: float
    best_step: int
    active: tuple[int, ...]
    missed: tuple[int, ...]
    false_modes: tuple[int, ...]
    effective_modes: float
    share_above_tenth: float
    diagonal_effective: float


@dataclass(frozen=True)
class Results:
    """All finished trials of a folder.

    Attributes
    ----------
    rows : tuple of Row
        In the order of the catalogue.
    store : ResultStore
        Where the curves are.
    """

    rows: tuple[Row, ...]
    store: ResultStore

    def select(self, **wanted: Any) -> list[Row]:
        """Return the rows whose trials have these fields, such as ``network="u0_diag"``."""
        return [
            row
            for row in self.rows
            if all(getattr(row.trial, name) == value for name, value in wanted.items())
        ]

    def matched(self, *kinds: dict[str, Any]) -> list[tuple[Row, ...]]:
        """Return rows side by side, one of each kind, for the seeds that all kinds have."""
        found = [{row.trial.seed: row for row in self.select(**wanted)} for wanted in kinds]
        seeds = [seed for seed in found[0] if all(seed in rows for rows in found)]
        return [tuple(rows[seed] for rows in found) for seed in seeds]

    def examples(self) -> list[str]:
        """Return the examples that have rows, in order."""
        return list(dict.fromkeys(row.trial.example for row in self.rows))

    def curves(self, row: Row) -> dict[str, NDArray[Any]]:
        """Return the curves of a row."""
        return self.store.curves(row.trial.key)


def load_results(store: ResultStore, trials: Iterable[Trial]) -> Results:
    """Read the rows of the given trials; those that are not finished are left out."""
    found = store.rows()
    rows = (_row(trial, found[trial.key]) for trial in trials if trial.key in found)
    return Results(tuple(rows), store)


def _row(trial: Trial, cells: dict[str, str]) -> Row:
    numbers = ("final_error", "best_error", "effective_modes", "share_above_tenth")
    values: dict[str, Any] = {name: float(cells[name]) for name in numbers}
    values |= {name: _modes(cells[name]) for name in ("active", "missed", "false_modes")}
    values["diagonal_effective"] = float(cells["diagonal_effective"] or np.nan)
    return Row(trial=trial, best_step=int(cells["best_step"]), **values)


def _modes(text: str) -> tuple[int, ...]:
    return tuple(int(mode) for mode in text.split())
