"""Work beside other work: one thread each, and no worker process outlives its parent."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@contextmanager
def single_threads() -> Iterator[None]:
    """Let child processes use one thread each, as their number already fills the machine."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def follow_parent(parent: int) -> None:
    """End this worker soon after its parent is gone: a killed run must not leave work behind.

    Ctrl-C reaches all processes of a terminal; it is the parent's to answer it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class _OneBlasThread:
    """Pin BLAS to one thread while anybody needs it; the number is the whole process's.

    Fits in several threads overlap: the first one in pins, the last one out restores. If each
    restored what it found, the second to leave would leave BLAS pinned.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._limit: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._limit = _blas().limit(limits=1, user_api="blas")
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._limit.restore_original_limits()


one_blas_thread = _OneBlasThread()


@cache
def _blas() -> Any:
    """Libraries that are loaded; looking for them takes as long as a small fit."""
    import scipy.linalg.cython_blas  # noqa: F401  numba's np.dot calls this library's BLAS
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
