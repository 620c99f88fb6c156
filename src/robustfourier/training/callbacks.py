"""Who watches a training: a progress bar, early stopping, checkpoints.

The loop prints and saves nothing. Every so many steps it calls each observer with a `Progress`;
an observer that returns True ends the training after that step.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from robustfourier.errors import InputError
from robustfourier.network.weights import Weights
from robustfourier.training.checkpoint import Checkpoint, save_checkpoint
from robustfourier.training.history import History

if TYPE_CHECKING:
    from rich.console import Console

_LOG = logging.getLogger("robustfourier.training")


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


class ProgressBar:
    """Show how far a training is, while it runs: step, loss, rate, time left.

    Where the output is not a terminal nothing is shown and nothing is computed. Give it to
    `observers` inside a ``with``; it then also shows the notice that kernels are being compiled.

    Parameters
    ----------
    description : str, default "training"
        What stands before the bar.
    console : rich Console, optional
        Where to draw; standard error if not given. Only a terminal is drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from robustfourier.network.architecture import Architecture
    >>> from robustfourier.network.initial_weights import draw_weights
    >>> from robustfourier.training import train_jointly
    >>> start = draw_weights(Architecture(n_modes=2), random_state=0)
    >>> theta = np.linspace(-1, 1, 50)
    >>> with ProgressBar() as bar:
    ...     end = train_jointly(start, (theta, np.cos(np.pi * theta)), n_steps=20, observers=[bar])
    """

    def __init__(self, description: str = "training", console: Console | None = None) -> None:
        from rich.console import Console

        self._description = description
        # FORCE_COLOR makes no terminal of a file.
        self._console = console or Console(stderr=True, force_terminal=sys.stderr.isatty())
        self._bar: Any = None
        self._task: Any = None
        self._notices = _notices(self._console)

    @property
    def visible(self) -> bool:
        """Whether there is a terminal to draw on."""
        return self._console.is_terminal

    def __enter__(self) -> ProgressBar:
        if self.visible:
            self._bar = _rich_bar(self._console)
            self._task = self._bar.add_task(self._description, total=None, loss="–", rate="–")
            self._bar.start()
            _LOG.addHandler(self._notices)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            _LOG.removeHandler(self._notices)
            self._bar.stop()
            self._bar = None

    def __call__(self, progress: Progress) -> None:
        """Move the bar; outside of a ``with`` or without a terminal, do nothing."""
        if self._bar is not None:
            self._bar.update(
                self._task,
                total=progress.n_steps,
                completed=progress.step,
                loss=f"{progress.loss:.4g}",
                rate=f"{progress.rate:.3g}",
                description=f"{self._description} ({progress.phase})",
            )


def _notices(console: Console) -> logging.Handler:
    """Shows what the training logs, such as "compiling once", above the bar."""
    from rich.highlighter import NullHighlighter
    from rich.logging import RichHandler

    return RichHandler(
        logging.INFO,
        console,
        show_time=False,
        show_level=False,
        show_path=False,
        highlighter=NullHighlighter(),
    )


def _rich_bar(console: Console) -> Any:
    from rich import progress

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("loss {task.fields[loss]}"),
        progress.TextColumn("rate {task.fields[rate]}"),
        progress.TimeRemainingColumn(),
        console=console,
        redirect_stdout=sys.stdout.isatty(),  # what goes to a file stays on its way
        refresh_per_second=4,  # drawn by its own thread: more would take time from the training
    )
