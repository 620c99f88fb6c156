"""The training loop: phases cut into blocks of steps, with a stop at every record.

The loop draws the batches of a block, hands them to the engine, checks that the training is
healthy, records, and calls the observers. It prints and saves nothing.
"""

from __future__ import annotations

import operator
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from robustfourier.arrays import FloatArray
from robustfourier.errors import CheckpointError, DivergenceError, InputError
from robustfourier.network.weights import Weights
from robustfourier.training.batches import BatchSource, Block, RowBlock
from robustfourier.training.callbacks import Observer, Progress
from robustfourier.training.checkpoint import Checkpoint
from robustfourier.training.engine import Engine, EngineName, Phase, choose_engine, make_engine
from robustfourier.training.history import History, Metric, Recorder
from robustfourier.training.losses import Loss

if TYPE_CHECKING:
    from robustfourier.network.torch_modules import FourierNetwork

_BLOCK_BYTES = 32_000_000  # batches drawn ahead of an engine
_GROWTH = 1e3  # a loss grown by more than this has diverged


@dataclass(frozen=True)
class Training:
    """The outcome of a training.

    Attributes
    ----------
    weights : Weights
        The trained network.
    start : Weights
        What it was before the first step: for Algorithm 1, w⁰ and c⁰.
    history : History
        Loss, metrics and diagonal weights over the steps; which engine ran.
    checkpoint : Checkpoint
        Where the training stands: pass it as `resume` to go on.
    completed : bool
        False if an observer ended the training early.
    """

    weights: Weights
    start: Weights = field(repr=False)
    history: History
    checkpoint: Checkpoint = field(repr=False)
    completed: bool


def _steps(name: str, every: int | Sequence[int], n_steps: int) -> Sequence[int]:
    """Return the steps at which something is due, ascending, 0 among them."""
    if np.min(every, initial=1) < 1:
        raise InputError(f"{name}={every!r} must be at least 1 step")
    return sorted({0, *every}) if isinstance(every, Sequence) else range(0, n_steps + 1, every)


def as_weights(network: Weights | FourierNetwork) -> Weights:
    """Return the numbers of a network, whichever way it is held."""
    return network if isinstance(network, Weights) else network.to_weights()


def run_phases(
    network: Weights | FourierNetwork,
    source: BatchSource,
    phases: Sequence[Phase],
    *,
    loss: Loss | str,
    engine: EngineName = "auto",
    record_every: int | Sequence[int] = 1000,
    metrics: Mapping[str, Metric] | None = None,
    observers: Sequence[Observer] = (),
    observe_every: int = 1000,
    resume: Checkpoint | None = None,
) -> Training:
    """Train through all phases and return the outcome; the options are those of `train_jointly`.

    Raises DivergenceError if the loss is not finite or has grown a thousandfold; it keeps the last
    good weights, which a torch network then gets.
    """
    weights = as_weights(network)
    n_steps = sum(phase.n_steps for phase in phases)
    run = _Run(
        weights,
        source,
        tuple(phases),
        loss if isinstance(loss, Loss) else Loss(loss),  # type: ignore[arg-type]
        choose_engine(engine),
        metrics or {},
        _steps("record_every", record_every, n_steps),
        observers,
        _steps("observe_every", observe_every, n_steps),
        n_steps,
    )
    if resume is not None:
        run.restore(resume)
    try:
        completed = run.to_the_end()
    except DivergenceError as error:
        if not isinstance(network, Weights):
            network.load_weights(Weights(weights.architecture, error.last_good))
        raise
    if not isinstance(network, Weights):
        network.load_weights(run.weights())
    return Training(run.weights(), weights, run.recorder.history(), run.checkpoint(), completed)


@dataclass
class _Run:
    """The moving parts of one training."""

    first: Weights
    source: BatchSource
    phases: tuple[Phase, ...]
    loss: Loss
    engine_name: str
    metrics: Mapping[str, Metric]
    records: Sequence[int]  # steps at which they are made
    observers: Sequence[Observer]
    shows: Sequence[int]  # steps at which observers are called
    n_steps: int
    step: int = 0
    observed: int = 0  # step of the last call of the observers
    reference: float | None = None  # the loss that growth is measured against

    def __post_init__(self) -> None:
        has_diagonal = self.first.diagonal is not None
        self.recorder = Recorder(self.metrics, self.engine_name, has_diagonal)
        self.architecture, self.dtype = self.first.architecture, self.first.dtype
        self.engine = self._engine(self.first)

    def _engine(self, weights: Weights) -> Engine:
        return make_engine(self.engine_name, weights, self.source.sample, self.loss)

    def weights(self) -> Weights:
        return Weights(self.architecture, self.engine.arrays())

    def to_the_end(self) -> bool:
        """Run block after block; return False if an observer ended it."""
        if self.recorder.last_step < self.step == 0:
            self.recorder.record(0, self.phases[0].name, self.weights())
        for phase, offset, size in self._blocks():
            rate = self._run_block(phase, offset, size)
            if self.step in self.records or self.step == self.n_steps:
                self.recorder.record(self.step, phase.name, self.weights())
            if self._observers_stop(phase, rate):
                if self.recorder.last_step < self.step:
                    self.recorder.record(self.step, phase.name, self.weights())
                return False
        return True

    def _blocks(self) -> Iterator[tuple[Phase, int, int]]:
        """Yield (phase, steps of the phase before the block, steps of the block)."""
        begin, longest = 0, max(1, _BLOCK_BYTES // (16 * self.source.batch_size))
        for phase in self.phases:
            end = begin + phase.n_steps
            while begin <= self.step < end:
                due = [self.records, self.shows] if self.observers else [self.records]
                stops = [steps[i] for steps in due if (i := bisect(steps, self.step)) < len(steps)]
                stop = min(end, self.step + longest, *stops)
                yield phase, self.step - begin, stop - self.step
            begin = end

    def _run_block(self, phase: Phase, offset: int, size: int) -> float:
        rates = phase.schedule.rates(offset, size)
        block = self.source.next(size)
        last_good = self.engine.arrays()
        losses = self.engine.run(phase, rates, block)
        if self.reference is None:
            self.reference = max(losses[0], self._loss_of_zero(block))
        self._require_health(losses, last_good)
        self.recorder.add_losses(losses)
        self.step += size
        return float(rates[-1])

    def _loss_of_zero(self, block: Block) -> float:
        """Loss of predicting 0: a floor, so that a start at the solution may move a bit.

        Of all rows where there are rows: the first batch may be one row whose y is nearly 0.
        """
        if isinstance(block, RowBlock):
            assert self.source.sample is not None
            y = self.source.sample.y
        else:
            y = block.y[0]
        return float(self.loss.value(y).mean())

    def _require_health(self, losses: FloatArray, last_good: dict[str, NDArray[Any]]) -> None:
        assert self.reference is not None
        healthy = np.isfinite(losses) & (losses <= _GROWTH * self.reference)
        now = self.engine.arrays().values()
        if healthy.all() and all(np.isfinite(array).all() for array in now):
            return
        bad = len(losses) - 1 if healthy.all() else int(np.argmin(healthy))
        raise DivergenceError(
            f"training diverged at step {self.step + bad}: the batch loss went from "
            f"{self.reference:.4g} to {losses[bad]:.4g}; use a smaller learning_rate, a larger "
            "batch_size, or scale y (the error's last_good keeps the weights of step "
            f"{self.step})",
            step=self.step + bad,
            last_good=last_good,
        )

    def _observers_stop(self, phase: Phase, rate: float) -> bool:
        if not self.observers or not (self.step in self.shows or self.step == self.n_steps):
            return False
        progress = Progress(
            step=self.step,
            n_steps=self.n_steps,
            phase=phase.name,
            loss=self.recorder.mean_loss_since(self.observed),
            rate=rate,
            engine=self.engine_name,
            weights=self.weights,
            history=self.recorder.history,
            checkpoint=self.checkpoint,
        )
        self.observed = self.step
        # every observer is called, even when an earlier one ended the training
        answers = [observer(progress) for observer in self.observers]
        return any(answers)

    def describe(self) -> dict[str, Any]:
        """Return what makes this training different from another.

        The number of steps of the last phase is left out: a training may be prolonged.
        """
        return {
            "architecture": self.architecture.to_dict(),
            "dtype": str(self.dtype),
            "engine": self.engine_name,
            "loss": [self.loss.name, self.loss.delta],
            "phases": [phase.describe() for phase in self.phases],
            "earlier_steps": [phase.n_steps for phase in self.phases[:-1]],
            "batches": self.source.describe(),
            "metrics": list(self.metrics),
        }

    def checkpoint(self) -> Checkpoint:
        values, arrays = self.source.state()
        groups = {
            "parameters": self.engine.arrays(),
            "batches": arrays,
            "history": self.recorder.state(),
        }
        return Checkpoint(
            step=self.step,
            training=self.describe(),
            state={"batches": values, "reference": self.reference, "observed": self.observed},
            arrays={f"{g}/{name}": a for g, group in groups.items() for name, a in group.items()},
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint, or refuse one whose parts do not fit together."""
        checkpoint.require_same(self.describe())
        try:
            self._restore(checkpoint)
        except Exception as error:  # whatever foreign values lead to
            raise CheckpointError(
                f"the parts of the checkpoint do not fit together ({error}); start anew"
            ) from error

    def _restore(self, checkpoint: Checkpoint) -> None:
        state, history = checkpoint.state, checkpoint.group("history")
        self.step = operator.index(checkpoint.step)
        self.observed = operator.index(state["observed"])
        self.reference = None if state["reference"] is None else float(state["reference"])
        weights = Weights(self.architecture, checkpoint.group("parameters"))
        arrays = weights.arrays.values()
        if any(array.dtype != self.dtype or not np.isfinite(array).all() for array in arrays):
            raise ValueError(f"its parameters are not finite numbers of type {self.dtype}")
        width = () if weights.diagonal is None else weights.diagonal.shape
        if len(history["step"]) and history.get("diagonal", np.zeros(1)).shape[1:] != width:
            raise ValueError("its history is that of another diagonal")
        self.source.restore(state["batches"], checkpoint.group("batches"))
        self.recorder.restore(history, self.step)
        if self.step < self.n_steps:
            # the record of a premature end is not one that the uninterrupted training makes
            self.recorder.keep(self.records.__contains__)
        self.engine = self._engine(weights)
