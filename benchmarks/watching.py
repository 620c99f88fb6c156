"""What it costs to watch a training: history and progress bar, in processor time."""

from __future__ import annotations

import contextlib
import functools
import io
import time
from collections.abc import Callable
from statistics import median
from typing import Any
from unittest import mock

from rich.console import Console

from benchmarks.verdicts import Verdict
from robustfourier.network.architecture import Architecture
from robustfourier.network.initial import draw_weights
from robustfourier.training import ProgressBar, train_jointly
from robustfourier.training.batches import FixedSample
from robustfourier.training.history import Recorder


class Spent:
    """Processor time inside some calls, on the thread that makes them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def inside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time added up."""

        @functools.wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.thread_time() - start

        return timed


def watching_shares(sample: FixedSample, n_steps: int, repeats: int) -> list[float]:
    """Return what history and bar cost, over what the training costs without them, run by run.

    Both are clocked in the same run. The difference of a watched and an unwatched run would be
    lost in the noise of a busy machine, where equal runs differ by a fifth.
    """
    start = draw_weights(Architecture(100), random_state=0, dtype="float32")

    def watched() -> float:
        spent = Spent()
        console = Console(file=io.StringIO(), force_terminal=True)
        whole, mine, clock = time.process_time(), time.thread_time(), time.perf_counter()
        with contextlib.ExitStack() as patches:
            for owner, name in (
                (Recorder, "record"),
                (ProgressBar, "__enter__"),
                (ProgressBar, "__call__"),
                (ProgressBar, "__exit__"),
            ):
                timed = spent.inside(getattr(owner, name))
                patches.enter_context(mock.patch.object(owner, name, timed))
            with ProgressBar(console=console) as bar:
                train_jointly(
                    start,
                    sample,
                    n_steps=n_steps,
                    random_state=0,
                    engine="fused",
                    record_every=1000,
                    observers=[bar],
                    observe_every=1000,
                )
        whole, mine = time.process_time() - whole, time.thread_time() - mine
        # The bar draws itself on a thread of its own, so often per second of the clock: where
        # others keep the processor busy, more often per second of training than it would alone.
        drawing = whole - mine
        idle = whole / (time.perf_counter() - clock)
        return (spent.seconds + drawing * min(1.0, idle)) / (mine - spent.seconds)

    watched()
    return [watched() for _ in range(repeats)]


def cost_of_watching(sample: FixedSample, n_steps: int, repeats: int) -> Verdict:
    """Judge what a user pays for a history and a progress bar."""
    shares = watching_shares(sample, n_steps, repeats)
    cost = median(shares)
    return Verdict(
        f"history and progress bar every 1000 of {n_steps} steps, u0_diag, m = 100",
        "cost below 3 %",
        f"{100 * cost:+.1f} % processor time ({100 * min(shares):.1f} to {100 * max(shares):.1f} "
        f"in {repeats} runs)",
        cost < 0.03,
    )
