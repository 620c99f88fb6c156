"""Engines: where batches are fitted. All have one door, and give the same results to the bit.

`serial` fits in this process. `processes` keeps a spawned process for each core, with one thread
each; a process that dies costs its own batch and no other. `dask` is in `on_dask`.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from robustfourier.concurrency import cores, follow_parent, single_threads, without_main_module
from robustfourier.errors import InputError, WorkerError, require_choice
from robustfourier.many.item import Batch
from robustfourier.many.shards import Done, fit_batch

ENGINES = ("processes", "serial", "dask")
_TICK = 1.0  # seconds between looks at what takes too long
_NO_START = 'a worker process ended before it began; use engine="serial"'


@dataclass(frozen=True)
class Lost:
    """A batch that came to no end: its worker died, or there was no progress."""

    why: str  # for the user
    #: whether the engine has tried again by itself, so that the batch itself is to blame
    certain: bool = False


#: A batch, and what became of it.
Ended = tuple[Batch, Done | Lost | Exception]


class Engine(Protocol):
    """Takes batches and gives back what became of them, in any order."""

    @property
    def free(self) -> int:
        """How many more batches it takes now."""

    def start(self, batch: Batch) -> None:
        """Take a batch."""

    def wait(self) -> list[Ended]:
        """Wait for the next batches to end; the empty list now and then."""

    def close(self) -> None:
        """End all work."""


@contextmanager
def open_engine(engine: str, jobs: int | None, address: Any, patience: float) -> Iterator[Engine]:
    """Open one of `ENGINES`, and end it whatever happens.

    `jobs` are processes (all cores if None), `address` is where Dask's scheduler listens, or a
    client; a batch without an end after `patience` seconds is given up.
    """
    require_choice("engine", engine, ENGINES)
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs={jobs!r}: at least one process is needed")
    if not patience > 0:
        raise InputError(f"patience={patience!r} must be a positive number of seconds")
    opened: Engine
    if engine == "dask":
        from robustfourier.many.on_dask import Cluster

        opened = Cluster(address, patience)
    elif engine == "serial":
        opened = _Serial()
    else:
        opened = _Processes(jobs or cores(), patience)
    try:
        yield opened
    finally:
        opened.close()


class _Serial:
    """The reference: one batch after the other, here and now."""

    def __init__(self) -> None:
        self.batch: Batch | None = None

    @property
    def free(self) -> int:
        return int(self.batch is None)

    def start(self, batch: Batch) -> None:
        self.batch = batch

    def wait(self) -> list[Ended]:
        batch, self.batch = self.batch, None
        assert batch is not None
        try:
            return [(batch, fit_batch(batch))]
        except Exception as error:
            return [(batch, error)]

    def close(self) -> None:
        pass


class _Processes:
    """A pool of one process for each job: when it breaks, we know whose batch it was."""

    def __init__(self, jobs: int, patience: float) -> None:
        self.patience = patience
        self.alive: dict[ProcessPoolExecutor, Future[int]] = {}  # a first sign of each process
        self.idle: list[ProcessPoolExecutor | None] = [None] * jobs
        self.busy: dict[Future[Done], tuple[ProcessPoolExecutor, Batch, float]] = {}

    @property
    def free(self) -> int:
        return len(self.idle)

    def start(self, batch: Batch) -> None:
        """Give a batch to a process, which is started if it is new or the last one died."""
        with single_threads():  # the process itself is spawned here
            pool = self.idle.pop() or self._spawned()
            future = pool.submit(fit_batch, batch)
        self.busy[future] = (pool, batch, time.monotonic())

    def wait(self) -> list[Ended]:
        """Wait for the next process to end its batch, or its life."""
        done, _ = wait_for(self.busy, timeout=_TICK, return_when="FIRST_COMPLETED")
        ended: list[Ended] = []
        for future in done:
            pool, batch, _ = self.busy.pop(future)
            try:
                ended.append((batch, future.result()))
                self.idle.append(pool)
            except BrokenProcessPool as error:
                if self.alive[pool].exception() is not None:
                    raise WorkerError(_NO_START) from error
                ended.append((batch, Lost("its worker process was killed or crashed")))
                self._discard(pool)
            except Exception as error:
                ended.append((batch, error))
                self.idle.append(pool)
        now = time.monotonic()
        for future, (pool, batch, began) in list(self.busy.items()):
            if now - began > self.patience:
                del self.busy[future]
                self._discard(pool)
                ended.append((batch, Lost(f"no end within {self.patience:g} s", certain=True)))
        return ended

    def close(self) -> None:
        for pool, _, _ in self.busy.values():
            _kill(pool)
        for idle in self.idle:
            if idle is not None:
                idle.shutdown(wait=True)  # it has nothing to do, and ends at once
        self.busy.clear()
        self.idle.clear()

    def _spawned(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(1, context, follow_parent, (os.getpid(),))
        with without_main_module():
            self.alive[pool] = pool.submit(os.getpid)
        return pool

    def _discard(self, pool: ProcessPoolExecutor) -> None:
        _kill(pool)
        del self.alive[pool]
        self.idle.append(None)


def _kill(pool: ProcessPoolExecutor) -> None:
    """End the process of a pool, which has no public way to do so before Python 3.14."""
    for process in list((getattr(pool, "_processes", None) or {}).values()):
        with suppress(OSError, ValueError):
            process.kill()
    pool.shutdown(wait=False, cancel_futures=True)
