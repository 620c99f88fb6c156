"""Trainings of networks: build data and network of a trial, train, measure, read back.

The row says how it ended, in numbers and in modes; the curves hold what the figures need.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from paper.catalogue import SEEDS, Trial
from paper.examples import ExampleData, example_data
from paper.result_store import Outcome, ResultStore
from robustfourier.arrays import FloatArray, IndexArray
from robustfourier.network.active_modes import active_modes, diagonal_sizes, mode_strengths
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial_weights import draw_weights
from robustfourier.network.weights import GridError
from robustfourier.training import (
    InverseDecay,
    SaveCheckpoint,
    Training,
    load_checkpoint,
    train_jointly,
    train_layerwise,
)

N_RECORDS = 40  # points of an error curve, for each phase
EARLY = 60_000  # steps that are followed as closely again: there standard networks have their best

COLUMNS = (
    "key",
    *(field.name for field in fields(Trial)),
    "engine",
    "final_error",
    "best_error",
    "best_step",
    "final_loss",
    "active",
    "missed",
    "false_modes",
    "effective_modes",
    "share_above_tenth",
    "diagonal_active",
    "diagonal_effective",
)


def run_trial(trial: Trial, csv: Path | None = None, folder: Path | None = None) -> Outcome:
    """Train the network of a trial and measure it; return its row, of `COLUMNS`, and its curves.

    `csv` is the Google Trends export of the example "trends". In `folder` the training leaves a
    checkpoint every tenth of its steps, and goes on from one.
    """
    data = example_data(trial.example, trial.seed, noise=trial.noise, csv=csv)
    follow = GridError(data.theta, data.truth, trial.n_modes, trial.dtype)
    # With two threads BLAS adds in another order, and the errors differ in their last bits.
    with threadpool_limits(limits=1):
        training = _train(trial, data, follow, folder)
    strengths = mode_strengths(training.weights)[0]
    w = training.weights.diagonal
    diagonal = None if w is None else diagonal_sizes(w, trial.n_modes)
    active = _standing_out(strengths)
    error = training.history.metrics["error"]
    row = {
        "key": trial.key,
        **asdict(trial),
        "engine": training.history.engine,
        "final_error": _digits(error[-1]),
        "best_error": _digits(error.min()),
        "best_step": int(training.history.step[error.argmin()]),
        "final_loss": _digits(training.history.loss[-1]),
        "active": _listed(active),
        "missed": _listed(np.setdiff1d(data.targets, active)),
        "false_modes": _listed(_false(active, trial.example, data.targets)),
        "effective_modes": _digits(effective_number(strengths)),
        "share_above_tenth": _digits(np.mean(strengths > 0.1 * strengths.max())),
        "diagonal_active": "" if diagonal is None else _listed(_standing_out(diagonal)),
        "diagonal_effective": "" if diagonal is None else _digits(effective_number(diagonal)),
    }
    return row, _curves(trial, training, follow)


def _standing_out(strengths: FloatArray) -> IndexArray:
    return np.flatnonzero(active_modes(strengths)) + 1


def effective_number(strengths: FloatArray) -> float:
    """Participation ratio (Σ s²)²/Σ s⁴: how many modes carry the weight, without a threshold.

    Examples
    --------
    >>> effective_number(np.array([1.0, 1.0, 1.0, 0.0, 0.0]))
    3.0
    """
    squares = np.asarray(strengths, dtype=np.float64) ** 2
    return float(squares.sum() ** 2 / (squares**2).sum())


def _train(trial: Trial, data: ExampleData, follow: GridError, folder: Path | None) -> Training:
    architecture = Architecture(
        trial.n_modes, hidden_layer_sizes=trial.hidden_layer_sizes, diagonal=trial.diagonal
    )
    start_seed, batch_seed = np.random.SeedSequence([trial.seed, 1]).spawn(2)
    start = draw_weights(
        architecture,
        trial.init,  # type: ignore[arg-type]
        random_state=np.random.default_rng(start_seed),
        dtype=trial.dtype,
    )
    train = train_layerwise if trial.layerwise else train_jointly
    file = None if folder is None else folder / f"{trial.key}.checkpoint"
    training = train(
        start,
        (data.theta, data.y),
        n_steps=trial.n_steps,
        batch_size=trial.batch_size,
        schedule=InverseDecay(trial.learning_rate, trial.decay_rate, trial.decay_steps),
        loss="mean_squared",
        random_state=np.random.default_rng(batch_seed),
        record_every=_records(trial),
        metrics={"error": follow},
        observers=() if file is None else (SaveCheckpoint(file),),
        observe_every=max(1, trial.n_steps // 10),
        resume=load_checkpoint(file) if file is not None and file.exists() else None,
    )
    if file is not None:
        file.unlink()
    return training


def _records(trial: Trial) -> list[int]:
    """Steps at which the error is measured: evenly, and more often early in each phase."""
    n, early = trial.n_steps, min(trial.n_steps, EARLY)
    once = {end * i // N_RECORDS for end in (n, early) for i in range(1, N_RECORDS + 1)} - {0}
    return sorted(once | {n + step for step in once if trial.layerwise})


def _curves(trial: Trial, training: Training, follow: GridError) -> dict[str, NDArray[Any]]:
    """What the figures need, small: numbers that are only looked at have three digits (float16).

    Of the first seed, whose networks are drawn: the prediction, thinned as `thinned` says, the size
    of each mode in the diagonal over the steps, and in the neurons of one dense layer.
    """
    history, weights = training.history, training.weights
    curves: dict[str, NDArray[Any]] = {
        "step": history.step.astype(np.int32),
        "error": history.metrics["error"].astype(np.float32),
    }
    if weights.diagonal is not None:
        curves["diagonal"] = weights.diagonal.astype(np.float16)
    if trial.seed != SEEDS[0] or trial.purpose != "main":
        return curves
    curves["prediction"] = follow.predict(weights)[thinned(len(follow.truth))].astype(np.float16)
    if history.diagonal is not None and not trial.hidden_layer_sizes:
        curves["sizes"] = diagonal_sizes(history.diagonal, trial.n_modes).astype(np.float16)
    elif not trial.diagonal and len(trial.hidden_layer_sizes) == 1:
        curves["neurons"] = _neurons(weights.arrays["dense.0.weight"]).astype(np.float16)
    return curves


def thinned(n: int) -> slice:
    """Which points of a prediction are kept: at least 2000, all of a short series."""
    return slice(None, None, max(1, n // 2000))


def _neurons(first_dense: NDArray[Any]) -> FloatArray:
    """First dense layer → size of the weights of each mode and neuron, strongest neuron last."""
    n = first_dense.shape[1] // 2
    folded = (first_dense[:, :n] - first_dense[:, n:]).astype(np.float64)
    size = np.hypot(folded[:, 1::2], folded[:, 2::2])
    return size[np.argsort((size**2).sum(axis=1))]


def _false(active: IndexArray, example: str, targets: tuple[int, ...]) -> IndexArray:
    """Active modes that the truth does not contain.

    In examples 1 and 2 everything but a target is false; in example 3 the links make harmonics,
    so multiples of a target are true; of a real series nobody knows all modes.
    """
    if example in ("1", "2"):
        return np.setdiff1d(active, targets)
    if example == "3":
        multiple = [any(mode % target == 0 for target in targets) for mode in active]
        return active[~np.array(multiple, dtype=bool)]
    return active[:0]


def _listed(modes: IndexArray) -> str:
    return " ".join(str(int(mode)) for mode in modes)


def _digits(value: float) -> str:
    """Enough digits to compare rows exactly, in a form that reads back as the same number."""
    return repr(float(value))


@dataclass(frozen=True)
class Row:
    """A finished trial and how it ended."""

    trial: Trial
    final_error: float  # relative L² error at the end
    best_error: float  # and at its smallest
    best_step: int
    active: tuple[int, ...]  # modes, by `robustfourier.network.active_modes`
    missed: tuple[int, ...]
    false_modes: tuple[int, ...]
    effective_modes: float
    share_above_tenth: float
    diagonal_effective: float  # NaN without diagonal layer


@dataclass(frozen=True)
class Results:
    """All finished trials of a folder."""

    rows: tuple[Row, ...]  # in the order of the catalogue
    store: ResultStore  # where the curves are

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
