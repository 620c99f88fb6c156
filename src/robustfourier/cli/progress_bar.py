"""The bar of a fit: which stage it is in, and what it has found so far."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from robustfourier.observers import STAGES, Event

_PATIENCE = 2.0  # seconds; a bar that flashes by is of no use
_WORDS = {
    "reading": "reading the file",
    "sums": "Fourier sums",
    "diagonal": "weights of the diagonal",
    "lines": "lines: propose, refine, test",
    "patterns": "grouping lines into patterns",
    "training": "training the network",
    "summing up": "summing up",
    "drawing": "drawing figures",
    "report": "writing the report",
}


class StageBar:
    """An observer that draws a bar once the work has taken two seconds."""

    def __init__(self, console: Any, patience: float = _PATIENCE) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        words = TextColumn("{task.description}", markup=False)
        self._bar = Progress(
            *(words, BarColumn(), TimeElapsedColumn()),
            console=console,
            transient=True,
            redirect_stdout=False,  # whose words are the answer
        )
        self._task = self._bar.add_task(_WORDS["reading"], total=len(STAGES))
        self._lock = threading.Lock()
        self._timer = threading.Timer(patience, self._draw)
        self._timer.daemon = True

    def __enter__(self) -> StageBar:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._timer.join()  # it may be about to draw
        self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Move the bar to the stage of an event."""
        if event.what in ("began", "kept"):
            found = f", {len(event.facts['modes'])} found" if event.what == "kept" else ""
            words, place = f"{_WORDS[event.stage]}{found} …", STAGES.index(event.stage)
            self._bar.update(self._task, description=words, completed=place)

    def _draw(self) -> None:
        with self._lock:
            self._bar.start()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Take the bar off the screen while something else is written there."""
        with self._lock:
            drawn = self._bar.live.is_started
            self._bar.stop()
            yield
            if drawn:
                self._bar.start()
