"""Work in other processes: on several at a time, or in a fork that can be timed and stopped."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import starmap
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NoReturn, TypeVar

TOO_SLOW, TOO_LARGE, FAILED = "too slow", "too large", "failed"
PATIENCE = 12.0  # times the limit, by the clock, after which a child is stopped too

Outcome = TypeVar("Outcome")


def spread(
    work: Callable[..., Outcome], tasks: Sequence[tuple[Any, ...]], jobs: int
) -> Iterator[Outcome]:
    """Yield ``work(*task)`` in the order of the tasks, on so many processes."""
    if jobs == 1:
        yield from starmap(work, tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, *zip(*tasks, strict=True))


def in_child(work: Callable[[], dict[str, Any]], limit: float) -> dict[str, Any]:
    """Run `work` in a fork and return its answer, or a status if it is too slow or fails.

    The limit is in processor seconds, so that a busy machine does not decide.
    """
    context = get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(work, writer, limit))
    child.start()
    writer.close()
    slow = {"status": TOO_SLOW, "note": f"more than {limit:g} s"}
    try:
        return reader.recv() if reader.poll(PATIENCE * limit) else slow
    except EOFError:
        child.join()
        died = {"status": FAILED, "note": "the process died"}
        return slow if child.exitcode == -signal.SIGXCPU else died
    finally:
        reader.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(str(child.pid)), signal.SIGKILL)
        child.kill()
        child.join()


def _answer(work: Callable[[], dict[str, Any]], writer: Connection, limit: float) -> NoReturn:
    """Child: do the work, send the answer and leave without any clean-up."""
    try:
        os.setsid()  # so that helpers of the method can be stopped with it
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
        try:
            answer = work()
        except MemoryError as reason:
            answer = {"status": TOO_LARGE, "note": str(reason)}
        except BaseException as reason:
            answer = {"status": FAILED, "note": f"{type(reason).__name__}: {reason}"[:160]}
        writer.send(answer)
    finally:
        os._exit(0)
