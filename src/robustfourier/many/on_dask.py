"""The engine `dask`: batches as tasks of a `dask.distributed` cluster; the only home of Dask here.

Dask places tasks, moves those of dead workers, and blames a task that killed several of them
(``distributed.scheduler.allowed-failures``). Workers must have this package installed and see the
survey's folder under the same path.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any, cast

from robustfourier.errors import InputError, MissingDependencyError, WorkerError
from robustfourier.many.engines import Ended, Lost
from robustfourier.many.item import Batch
from robustfourier.many.shards import Done, fit_batch

_AHEAD = 2  # batches per thread: the next one waits where the last one ends
_TICK = 1.0  # seconds between looks at what takes too long
_CONNECT = 30.0  # seconds


class Cluster:
    """A client of a cluster: of the scheduler at an address, one that is given, or that is running.

    The run is given up after `patience` seconds without the end of any batch.
    """

    def __init__(self, address: Any, patience: float) -> None:
        self._distributed = _distributed()
        self._patience, self._last = patience, time.monotonic()
        self._own = isinstance(address, str)
        self._client = self._connected(address)
        self._running: dict[Any, Batch] = {}
        self._number = itertools.count()

    def _connected(self, address: Any) -> Any:
        if address is None:
            try:
                return self._distributed.get_client()
            except ValueError:
                raise InputError(
                    "engine='dask' needs the address of a scheduler, such as tcp://host:8786, or a "
                    "running client"
                ) from None
        if not self._own:
            return address
        try:
            return self._distributed.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"address={address!r}: no scheduler answers there ({error}); start one with "
                "dask scheduler, and workers with dask worker"
            ) from None

    @property
    def free(self) -> int:
        """How many more batches the cluster's threads can have waiting."""
        with self._listening():
            threads = sum(self._client.nthreads().values()) or 1
        return max(_AHEAD * threads - len(self._running), 0)

    def start(self, batch: Batch) -> None:
        """Hand a batch to the cluster."""
        if not self._running:
            self._last = time.monotonic()
        key = f"robustfourier-{batch.name}-{batch.attempt}-{next(self._number)}"
        with self._listening():
            future = self._client.submit(fit_batch, batch, key=key, pure=False)
        self._running[future] = batch

    def wait(self) -> list[Ended]:
        """Wait for the next batches to end."""
        with self._listening(), suppress(TimeoutError), self._client.as_current():
            self._distributed.wait(
                list(self._running), timeout=_TICK, return_when="FIRST_COMPLETED"
            )
        ended: list[Ended] = []
        # What is lost with its worker is on its way to another one.
        for future in [f for f in self._running if f.status not in ("pending", "lost")]:
            batch = self._running.pop(future)
            ended.append((batch, self._outcome(batch, future)))
        if ended:
            self._last = time.monotonic()
        elif not self._alive:
            raise self._gone()
        elif time.monotonic() - self._last > self._patience:
            raise WorkerError(
                f"no batch ended within {self._patience:g} s; at work: {self._at_work()}. What is "
                "done is kept: run the same command again, with more patience or without these"
            )
        return ended

    def _outcome(self, batch: Batch, future: Any) -> Done | Lost | Exception:
        """What came of a batch.

        A result may lie on a worker that dies before it is fetched: the batch then runs once more,
        and its end may be another.
        """
        error: Exception
        if future.status == "error":
            error = future.exception()
        else:
            try:
                return cast(Done, future.result())
            except self._distributed.KilledWorker as died:
                error = died
            except (CancelledError, OSError) as lost:
                if not self._alive:
                    raise self._gone() from lost
                return Lost("its result was lost with its worker", certain=False)
        if not isinstance(error, self._distributed.KilledWorker):
            return error
        # Workers die of other series too: one that is alone gets as many tries as on any engine.
        return Lost("it killed every worker that had it", certain=len(batch.items) > 1)

    @property
    def _alive(self) -> bool:
        """Whether there is a scheduler."""
        return self._client.status in ("running", "newer")

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Talk to the scheduler; its silence is an error of its own."""
        try:
            yield
        except (CancelledError, OSError) as error:
            raise self._gone() from error

    def _gone(self) -> WorkerError:
        return WorkerError(
            "the connection to Dask's scheduler is lost; what is done is kept: run the same "
            "command again when there is one"
        )

    def _at_work(self) -> str:
        keys = {key for tasks in self._client.processing().values() for key in tasks}
        batches = [b for f, b in self._running.items() if f.key in keys]
        names = [repr(item.id) for batch in batches for item in batch.items]
        return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")

    def close(self) -> None:
        """Take back what has not begun; a client of our own is closed."""
        # A client whose scheduler is gone may fail in any way; why the run ends is known already.
        with suppress(Exception):
            if self._running and self._client.status == "running":
                self._client.cancel(list(self._running), force=True)
            self._running.clear()
            if self._own:
                self._client.close(timeout=5)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingDependencyError(
            "engine='dask' needs Dask; install it with: pip install 'robustfourier[dask]'"
        ) from None
    return distributed
