"""A progress bar for the terminal, as an observer: step, loss, rate, time left.

The training knows nothing of it. Where the output is not a terminal nothing is shown and nothing
is computed.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

from robustfourier.training.callbacks import Progress

if TYPE_CHECKING:
    from rich.console import Console

_LOG = logging.getLogger("robustfourier.training")


class ProgressBar:
    """Show how far a training is, while it runs.

    Give it to `observers` inside a ``with``; it then also shows the notice that kernels are being
    compiled.

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
    >>> from robustfourier.network.initial import draw_weights
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
        self._notice = _Notice(self)

    @property
    def visible(self) -> bool:
        """Whether there is a terminal to draw on."""
        return self._console.is_terminal

    def __enter__(self) -> ProgressBar:
        if self.visible:
            self._bar = _rich_bar(self._console)
            self._task = self._bar.add_task(self._description, total=None, loss="–", rate="–")
            self._bar.start()
            _LOG.addHandler(self._notice)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            _LOG.removeHandler(self._notice)
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

    def say(self, text: str) -> None:
        """Show a line above the bar."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)


class _Notice(logging.Handler):
    """Shows what the training logs, such as "compiling once", above the bar."""

    def __init__(self, bar: ProgressBar) -> None:
        super().__init__(level=logging.INFO)
        self._bar = bar

    def emit(self, record: logging.LogRecord) -> None:
        self._bar.say(record.getMessage())


def _rich_bar(console: Console) -> Any:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]}"),
        TextColumn("rate {task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        redirect_stdout=sys.stdout.isatty(),  # what goes to a file stays on its way
        refresh_per_second=4,  # drawn by its own thread: more would take time from the training
    )
