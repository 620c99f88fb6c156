"""Who watches a training: progress, early stopping, checkpoints.

The loop prints and saves nothing. Every so many steps it calls each observer with a `Progress`;
an observer that returns True ends the training after that step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from typing import TypeAlias

import numpy as np

from robustfourier.errors import InputError
from robustfourier.network.weights import Weights
from robustfourier.training.checkpoint import Checkpoint, save_checkpoint
from robustfourier.training.history import History


@dataclass(frozen=True)
class Progress:
    """The state of a training between two steps.

    Attributes
    ----------
    step, n_steps : int
        Steps taken and steps asked for, all phases together.
    phase : str
        Name of the phase that the last step belonged to.
    loss : float
        Mean batch loss since the observers were last called.
    rate : float
        Learning rate of the last step.
    engine : str
        The engine that runs.
    weights, history, checkpoint : callables without arguments
        Give the current `Weights`, `History` and `Checkpoint`; the work is done when called.
    """

    step: int
    n_steps: int
    phase: str
    loss: float
    rate: float
    engine: str
    weights: Callable[[], Weights] = field(repr=False)
    history: Callable[[], History] = field(repr=False)
    checkpoint: Callable[[], Checkpoint] = field(repr=False)


Observer: TypeAlias = Callable[[Progress], bool | None]


@dataclass(frozen=True)
class SaveCheckpoint:
    """Write a checkpoint each time it is called.

    Parameters
    ----------
    path : path
        The file, replaced as a whole each time.
    """

    path: str | PathLike[str]

    def __call__(self, progress: Progress) -> None:
        """Save the state."""
        save_checkpoint(self.path, progress.checkpoint())


@dataclass(frozen=True)
class StopWhenStalled:
    """Stop when a metric, or the loss, has not fallen for a while.

    It looks at the recorded history only, so a resumed training stops where the uninterrupted
    one would.

    Parameters
    ----------
    patience : int, default 10
        Records without a new minimum that are allowed.
    metric : str, optional
        Name of a recorded metric to follow; the training loss if None.
    improvement : float, default 0.0
        Relative decrease that counts as a new minimum.
    """

    patience: int = 10
    metric: str | None = None
    improvement: float = 0.0

    def __post_init__(self) -> None:
        if self.patience < 1:
            raise InputError(f"patience={self.patience!r} must be at least 1 record")

    def __call__(self, progress: Progress) -> bool:
        """Return True when the last `patience` records brought nothing."""
        history = progress.history()
        values = history.loss if self.metric is None else history.metrics[self.metric]
        values = values[~np.isnan(values)]
        if len(values) <= self.patience:
            return False
        before, recent = values[: -self.patience], values[-self.patience :]
        return bool(recent.min() >= before.min() * (1.0 - self.improvement))
