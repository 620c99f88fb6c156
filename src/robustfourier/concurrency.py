"""Work beside other work: one thread each, interruptions, no worker outlives its parent."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from types import ModuleType
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


@contextmanager
def without_main_module() -> Iterator[None]:
    """Let processes that are spawned here load what they are sent, and not the user's script.

    By default each would run the script's top level anew, and with it the call that spawned it.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


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


@contextmanager
def interruption_as_such() -> Iterator[None]:
    """Raise Ctrl-C as `KeyboardInterrupt`, even where compiled code has made a `SystemError` of it.

    If the signal comes while a library in C calls back into Python, that may return a result and
    leave the exception set, which the interpreter reports as an error of the library.
    """
    try:
        yield
    except SystemError as error:
        first: BaseException | None = error
        while isinstance(first, SystemError):  # one for each such call on the way
            first = first.__cause__ or first.__context__
        if isinstance(first, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


class _OneBlasThread:
    """Pin BLAS to one thread while anybody needs it.

    Fits in several threads overlap. Most libraries have one number for the whole process: the first
    one in pins, the last one out restores; if each restored what it found, the first to leave would
    set the others free. Those built on OpenMP have a number for each thread, which each sets and
    restores for itself. `threadpoolctl` lets only the thread that came first set the number of the
    process, for as long as that lives, and ignores others without a word; hence it is let go of
    before each change.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._before: list[int] = []

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            shared, own = _blas()
            before = [library.get_num_threads() for library in own]
            if self._inside == 0:
                self._before = [library.get_num_threads() for library in shared]
            self._inside += 1
            _set([*shared, *own], [1] * (len(shared) + len(own)))
        try:
            yield
        finally:
            with self._lock:
                _set(own, before)
                self._inside -= 1
                if self._inside == 0:
                    _set(shared, self._before)

    def forget(self) -> None:
        """Forget the threads of a parent process: none of them is here to leave."""
        self._lock, self._inside = threading.Lock(), 0


one_blas_thread = _OneBlasThread()


def _after_fork() -> None:
    """Open the locks that threads of the parent held: none of these threads is in the child.

    Up to Python 3.11 each `cached_property` has one lock for all objects of its class.
    """
    one_blas_thread.forget()
    for name, module in list(sys.modules.items()):
        if name.startswith("robustfourier"):
            for cls in [each for each in vars(module).values() if isinstance(each, type)]:
                for one in vars(cls).values():
                    if isinstance(one, cached_property) and hasattr(one, "lock"):
                        one.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _set(libraries: list[Any], numbers: list[int]) -> None:
    from threadpoolctl import OpenBLASController  # type: ignore[import-untyped]

    let_go = getattr(OpenBLASController, "clear_controlling_thread", None)  # since 3.7
    for library, number in zip(libraries, numbers, strict=True):
        if let_go is not None:
            let_go(force=True)
        library.set_num_threads(number)
    if let_go is not None:
        let_go(force=True)


@cache
def _blas() -> tuple[list[Any], list[Any]]:
    """Libraries with a number for the process, and for each thread; looking for them takes long."""
    import scipy.linalg.cython_blas  # noqa: F401  numba's np.dot calls this library's BLAS
    from threadpoolctl import ThreadpoolController

    found = [c for c in ThreadpoolController().lib_controllers if c.user_api == "blas"]
    own = [c for c in found if getattr(c, "threading_layer", None) == "openmp"]
    return [c for c in found if c not in own], own
