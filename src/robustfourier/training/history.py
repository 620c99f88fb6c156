"""What happened during a training: loss, metrics and diagonal weights over the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray, IntArray
from robustfourier.network.weights import Weights

Metric = Callable[[Weights], float]
"""A number to follow, computed from the weights at the recorded steps."""


@dataclass(frozen=True)
class History:
    """The record of a training.

    Attributes
    ----------
    step : ndarray of int, shape (R,)
        Steps taken when each record was made; 0 is the start.
    loss : ndarray, shape (R,)
        Mean of the batch losses since the record before; NaN at step 0. The penalty λ‖w‖²/2 is
        not in it.
    phase : ndarray of str, shape (R,)
        Name of the training phase that the last step belonged to.
    metrics : dict of str to ndarray, shape (R,)
        The metrics asked for.
    diagonal : ndarray, shape (R, D), or None
        The diagonal weights; None for a network without diagonal layer.
    batch_loss : ndarray, shape (n_steps,)
        The loss of each step's batch before its update.
    engine : str
        The engine that ran, "torch" or "fused".
    """

    step: IntArray
    loss: FloatArray
    phase: NDArray[np.str_]
    metrics: dict[str, FloatArray]
    diagonal: FloatArray | None
    batch_loss: FloatArray
    engine: str

    @property
    def n_steps(self) -> int:
        """Steps taken."""
        return len(self.batch_loss)


def joined(first: History, then: History, phase: str) -> History:
    """Return one record of two trainings, the second under the name of a phase of its own."""
    later = slice(1, None)  # its start is the end of the first

    def both(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([a, b[later]])

    diagonal = None
    if first.diagonal is not None and then.diagonal is not None:
        diagonal = both(first.diagonal, then.diagonal)
    return History(
        step=both(first.step, then.step + first.n_steps),
        loss=both(first.loss, then.loss),
        phase=both(first.phase, np.full(len(then.step), phase)),
        metrics={name: both(first.metrics[name], then.metrics[name]) for name in first.metrics},
        diagonal=diagonal,
        batch_loss=np.concatenate([first.batch_loss, then.batch_loss]),
        engine=first.engine,
    )


class Recorder:
    """Collects a `History` while a training runs: one dictionary for each record."""

    def __init__(self, metrics: Mapping[str, Metric], engine: str, has_diagonal: bool) -> None:
        self._metrics, self._engine = dict(metrics), engine
        self._batch_loss: list[FloatArray] = []
        self._records: list[dict[str, Any]] = []
        self._kinds: dict[str, Any] = {"step": np.int64, "loss": np.float64, "phase": np.str_}
        self._kinds |= {"diagonal": np.float64} if has_diagonal else {}
        self._kinds |= {f"metric.{name}": np.float64 for name in metrics}

    @property
    def last_step(self) -> int:
        """Step of the last record, −1 before the first."""
        return self._records[-1]["step"] if self._records else -1

    def add_losses(self, losses: FloatArray) -> None:
        """Append the batch losses of a block of steps."""
        self._batch_loss.append(np.asarray(losses, dtype=np.float64))

    def mean_loss_since(self, step: int) -> float:
        """Return the mean batch loss of all steps after `step`, NaN if there are none."""
        since = self._all_losses()[max(step, 0) :]
        return float(since.mean()) if len(since) else float("nan")

    def record(self, step: int, phase: str, weights: Weights) -> None:
        """Make a record of the state after `step` steps."""
        loss = self.mean_loss_since(self.last_step)
        record = {"step": step, "loss": loss, "phase": phase, "diagonal": weights.diagonal}
        record |= {f"metric.{name}": float(of(weights)) for name, of in self._metrics.items()}
        self._records.append(record)

    def keep(self, wanted: Callable[[int], bool]) -> None:
        """Forget the records of steps that are not wanted."""
        self._records = [record for record in self._records if wanted(record["step"])]

    def history(self) -> History:
        """Return all records so far."""
        arrays = self.state()
        return History(
            step=arrays["step"],
            loss=arrays["loss"],
            phase=arrays["phase"],
            metrics={name: arrays[f"metric.{name}"] for name in self._metrics},
            diagonal=arrays.get("diagonal"),
            batch_loss=arrays["batch_loss"],
            engine=self._engine,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return everything recorded, as arrays."""
        arrays: dict[str, NDArray[Any]] = {"batch_loss": self._all_losses().copy()}
        for name, kind in self._kinds.items():
            arrays[name] = np.array([record[name] for record in self._records], kind)
        return arrays

    def restore(self, arrays: Mapping[str, NDArray[Any]], step: int) -> None:
        """Go back to what `state` gave after `step` steps."""
        losses = arrays["batch_loss"].astype(np.float64, casting="safe")
        if losses.shape != (step,) or np.any(np.diff(arrays["step"], append=step) < 0):
            raise ValueError(f"its history is not that of {step} steps")
        self._batch_loss = [losses]
        columns = [arrays[name].astype(kind) for name, kind in self._kinds.items()]
        records = zip(*columns, strict=True)
        self._records = [dict(zip(self._kinds, record, strict=True)) for record in records]
        self.history()  # of which all records must be alike

    def _all_losses(self) -> FloatArray:
        if len(self._batch_loss) != 1:
            joined = np.concatenate(self._batch_loss) if self._batch_loss else np.empty(0)
            self._batch_loss = [joined]
        return self._batch_loss[0]
