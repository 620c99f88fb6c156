"""Connections that are held open for nothing are closed, and there are only so many.

Anybody on this machine can connect before it is known who asks. A client that sends no whole
request, or none after the last, is let go after some seconds.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 200  # connections at a time; a browser opens six for each page
IDLE = 15.0  # seconds without a whole request; a page asks within milliseconds


class Connection(H11Protocol):
    """One connection, with a limit on idleness."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST:
            transport.close()
        else:
            self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Count from here on."""
        super().on_response_complete()
        self._look_again()

    def _look_again(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(IDLE, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
