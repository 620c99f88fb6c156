"""Run tasks that are not done yet, in worker processes, and keep each result as it comes.

A task is anything with a `key` that a worker can pickle; `work(task)` returns its row and curves.
The workers compute, the one process that holds the folder's lock writes. Interrupt it and start it
again: tasks with a row are skipped.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol, TypeAlias, TypeVar

from numpy.typing import NDArray

from robustfourier.errors import InputError, WorkerError
from robustfourier.experiments.store import ResultStore
from robustfourier.workers import follow_parent, single_threads

Outcome: TypeAlias = tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]
"""A row and its curves."""

Report: TypeAlias = Callable[[str], None]
"""Told about progress, one line at a time."""


class Task(Protocol):
    """Something to run once."""

    @property
    def key(self) -> str:
        """The name of its row."""


T = TypeVar("T", bound=Task)


def run_tasks(
    tasks: Sequence[T],
    work: Callable[[T], Outcome],
    store: ResultStore,
    *,
    jobs: int = 2,
    report: Report | None = None,
) -> None:
    """Run all tasks that have no row yet.

    Parameters
    ----------
    tasks : sequence of tasks
        In the order in which they should be started.
    work : callable
        A function of a module's top level, so that workers can import it.
    store : ResultStore
        Where rows and curves go.
    jobs : int
        Worker processes, with one thread each; 1 works in this process.
    report : callable, optional
        Called with a line of text after each task.

    Raises
    ------
    RunLockedError
        If another run uses the folder.
    """
    if jobs < 1:
        raise InputError(f"jobs={jobs!r}: at least one worker is needed.")
    say = report or (lambda _: None)
    with store.locked():
        done = store.rows()
        todo = [task for task in tasks if task.key not in done]
        say(f"{len(tasks) - len(todo)} of {len(tasks)} tasks are done already.")
        started = time.monotonic()
        for number, (row, curves) in enumerate(_outcomes(todo, work, jobs), start=1):
            key = str(row[store.columns[0]])
            store.save_curves(key, curves)
            store.add(row)
            minutes = (time.monotonic() - started) / 60.0
            left = minutes / number * (len(todo) - number)
            say(f"[{number}/{len(todo)}] {key}  {minutes:.1f} min, about {left:.0f} min left")


def _outcomes(todo: Sequence[T], work: Callable[[T], Outcome], jobs: int) -> Iterator[Outcome]:
    if jobs == 1 or len(todo) < 2:
        yield from map(work, todo)
        return
    context = multiprocessing.get_context("spawn")
    with (
        single_threads(),
        ProcessPoolExecutor(jobs, context, follow_parent, (os.getpid(),)) as pool,
    ):
        futures = [pool.submit(work, task) for task in todo]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process was ended from outside, perhaps for lack of memory; start again "
                "with fewer --jobs, finished tasks are kept"
            ) from None
        except BaseException:
            # After a failure or Ctrl-C, do not start what is still waiting.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
