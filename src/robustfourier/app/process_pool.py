"""Processes that wait for a job, loaded beforehand: loading takes longer than most fits."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

_LINE = 1 << 24  # bytes of one frame at most
_IDLE = 600.0  # seconds after which a worker that nobody needed is let go


class Workers:
    """Starts workers, and keeps one ready for as long as somebody looks at the page."""

    def __init__(self, memory: int) -> None:
        self.memory = memory  # bytes that each may take
        self._spare: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._kind = ""
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def warm(self, kind: str) -> None:
        """Have a worker ready for a kind of job, for the next minutes."""
        if self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_IDLE, self.let_go)
        if self._spare is not None and self._kind != kind:
            self.let_go()
        if self._spare is None:
            self._spare, self._kind = loop.create_task(self._spawn(kind)), kind

    async def take(self, kind: str) -> asyncio.subprocess.Process:
        """Return the worker that is ready, or a new one."""
        spare = self._spare if self._kind == kind else None
        if spare is not None:
            self._spare = None
            with suppress(OSError):
                process = await spare
                if process.returncode is None:
                    return process
        return await self._spawn(kind)

    def let_go(self) -> None:
        """End the worker that is ready."""
        if self._spare is not None:
            self._spare.add_done_callback(_end)
        self._spare = None

    async def close(self) -> None:
        """End the worker that is ready, and start no other."""
        self._closed, spare = True, self._spare
        if self._timer is not None:
            self._timer.cancel()
        self.let_go()
        if spare is not None:
            with suppress(OSError):
                await (await spare).wait()

    async def _spawn(self, kind: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "robustfourier.app.job_process", kind, str(self.memory)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LINE,
            start_new_session=True,  # Ctrl-C is for the server, which ends its workers
        )


def kill(process: asyncio.subprocess.Process | None) -> None:
    """End a process, if there is one and it has not ended."""
    if process is not None and process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()


def _end(task: asyncio.Task[asyncio.subprocess.Process]) -> None:
    if not task.cancelled() and task.exception() is None:
        kill(task.result())
