"""The runner: one fit with a limit on its time, and many fits on one or more processes.

A fit that takes more than two minutes of the processor is cut off by a timer of the process
(SIGPROF, which other work on the machine does not move on) and counts as wrong.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.ordinary.catalogue import problem
from benchmarks.ordinary.judge import Pattern, fit, judge, pull
from benchmarks.ordinary.problem import Problem
from benchmarks.ordinary.rows import Row
from benchmarks.processes import spread

LIMIT = 120.0  # seconds of the processor


class TooSlowError(BaseException):
    """Raised by the timer; not an Exception, so that nothing on the way can keep it."""


def run(tasks: Sequence[tuple[str, int]], jobs: int = 1, limit: float = LIMIT) -> Iterator[Row]:
    """Fit the problems of (kind, seed) and yield their rows in order."""
    return spread(partial(_task, limit=limit), tasks, jobs)


def _task(kind: str, seed: int, limit: float) -> Row:
    return measure(problem(kind, seed), limit)


def measure(task: Problem, limit: float = LIMIT, fit: Callable[[Problem], Any] = fit) -> Row:
    """Fit one problem and judge what is reported; a fit that fails or takes too long is wrong."""
    start = time.process_time()
    patterns: tuple[Pattern, ...] = ()
    pulled = 0.0
    try:
        with at_most(limit), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what matters to the user must be in the notes
            found = fit(task)
        reasons = judge(task.truth, found).reasons
        patterns, pulled = found.strong, pull(task.truth, found)
    except TooSlowError:
        reasons = (f"cut off after {limit:g} s",)
    except Exception as error:
        reasons = (f"failed: {type(error).__name__}: {error}"[:120],)
    return Row(
        kind=task.kind,
        seed=task.seed,
        right=not reasons,
        reasons="; ".join(reasons),
        seconds=time.process_time() - start,
        n=len(task.values),
        pull=pulled,
        patterns=" ".join(f"{p.period:.6g}±{p.error:.2g} {p.share:.1%}" for p in patterns),
    )


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooSlowError inside after so many seconds of the processor; main thread only."""

    def stop(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
