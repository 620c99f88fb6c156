"""Jobs: one process each, so many at a time, a bounded queue, and a story that can be read again.

A job goes on whether or not anybody looks. Its frames are kept in order; a page that comes back
reads from the frame it saw last. A worker that dies, takes too long or too much memory ends its
own job and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from robustfourier.app.process_pool import Workers, kill

_FRAMES = 20_000  # of one job; a fit has some hundreds
_TURN = 20.0  # seconds of one answer; browsers allow six at a time, and other tabs want theirs


class QueueFullError(Exception):
    """The queue has no more room."""


@dataclass(frozen=True)
class Limits:
    """What jobs may take."""

    at_once: int = 2  # jobs that run side by side …
    waiting: int = 40  # … and in the queue
    seconds: float = 1800.0  # of one job
    memory: int = 4 << 30  # bytes of one job
    upload: int = 200_000_000  # bytes of one file
    rows: int = 2_000_000  # of one file


@dataclass(eq=False)
class Job:
    """One order and its story."""

    id: str
    order: dict[str, Any]  # what the worker is given
    finish: Callable[[Job], None]  # called when the job begins and when it ends
    state: str = "queued"
    words: str = ""
    story: list[str] = field(default_factory=list)
    commands: list[bytes] = field(default_factory=list)
    process: asyncio.subprocess.Process | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False

    def emit(self, line: str | None = None) -> None:
        """Add a frame and wake all who wait for one."""
        if line is not None and len(self.story) < _FRAMES:
            self.story.append(line)
        before, self.changed = self.changed, asyncio.Event()
        before.set()

    def enter(self, state: str, words: str = "") -> None:
        """Move on to another state."""
        self.state, self.words = state, words
        self.ended = state not in ("queued", "running")
        self.finish(self)
        self.emit(json.dumps({"t": "state", "state": state, "words": words}))

    async def follow(self, start: int) -> AsyncIterator[tuple[int, str]]:
        """Yield frames from `start` on, with their numbers, for as long as a turn lasts."""
        end = time.monotonic() + _TURN
        start = min(start, len(self.story))
        while True:
            while start < len(self.story):
                start += 1
                yield start, self.story[start - 1]
            left = end - time.monotonic()
            if self.ended or left <= 0:
                return
            changed = self.changed
            if start == len(self.story) and not self.ended:
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(changed.wait(), left)


class Jobs:
    """Runs jobs in processes."""

    def __init__(self, limits: Limits, workers: Workers) -> None:
        self.limits, self.workers = limits, workers
        self.queue: deque[Job] = deque()
        self.running: list[Job] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, job: Job) -> None:
        """Put a job into the queue, or raise `QueueFullError`."""
        if len(self.queue) >= self.limits.waiting:
            raise QueueFullError
        self.queue.append(job)
        self._begin()

    def cancel(self, job: Job) -> None:
        """End a job, whether it runs or waits."""
        if job in self.queue:
            self.queue.remove(job)
            job.enter("cancelled")
        elif not job.ended:
            job.words = "cancelled"
            kill(job.process)

    def send(self, job: Job, command: dict[str, Any]) -> None:
        """Hand a command to a job; one that has not begun finds it behind its order."""
        line = f"{json.dumps(command)}\n".encode()
        if job.process is None:
            job.commands.append(line)
        elif job.process.stdin is not None and not job.ended:
            job.process.stdin.write(line)

    async def close(self) -> None:
        """End all processes; jobs stay as they were recorded, and begin again another time."""
        self.queue.clear()
        for job in self.running:
            job.finish = lambda _: None
            kill(job.process)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self) -> None:
        while self.queue and len(self.running) < self.limits.at_once:
            job = self.queue.popleft()
            self.running.append(job)
            task = asyncio.get_running_loop().create_task(self._run(job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _run(self, job: Job) -> None:
        try:
            job.enter("running")
            job.process = await self.workers.take(job.order["kind"])
            if job.words != "cancelled":
                await asyncio.wait_for(_read(job), self.limits.seconds)
            state, words = _verdict(job)
        except asyncio.TimeoutError:
            words = f"took longer than {self.limits.seconds / 60:g} minutes; raise --minutes"
            state = "failed"
        except (OSError, ValueError) as error:
            state, words = "failed", f"the worker could not be used ({error})"
        finally:
            kill(job.process)
            self.running.remove(job)
        job.enter(state, words)
        self._begin()
        if not self.running:
            self.workers.warm(job.order["kind"])


async def _read(job: Job) -> None:
    """Give the order and keep what the worker reports until it ends."""
    process = job.process
    assert process is not None
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{json.dumps(job.order)}\n".encode() + b"".join(job.commands))
    while line := await process.stdout.readline():
        job.emit(line.decode("utf-8").strip())
    await process.wait()


def _verdict(job: Job) -> tuple[str, str]:
    """State and words of a job whose worker has ended."""
    if job.words == "cancelled":
        return "cancelled", ""
    last = json.loads(job.story[-1]) if job.story else {}
    if last.get("t") == "failed":
        return "failed", last["words"]
    if last.get("t") == "result":
        return "done", ""
    return "failed", (
        "the worker ended from outside, perhaps for want of memory; thin out the data, or "
        "raise --memory"
    )
