"""`serve`: the app on an address of this machine, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustfourier.app.session_folder import Folder, private_folder
from robustfourier.atomic_files import locked
from robustfourier.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from robustfourier.app.jobs import Limits

_MISSING = "the app needs starlette and uvicorn; install it with: pip install robustfourier[app]"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def application(
    folder: Path, limits: Limits, hosts: frozenset[str], announce: Callable[[str], None]
) -> Any:
    """Return the guarded ASGI application, which keeps files and results in a folder.

    `hosts` are names with port under which it may be asked for; `announce` is given each token that
    opens a session.
    """
    try:
        from robustfourier.app.access_guard import Guard
        from robustfourier.app.routes import Site
    except ModuleNotFoundError:
        raise MissingDependencyError(_MISSING) from None
    return Guard(Site(Folder(folder), limits).application(), hosts, announce)


def serve(
    folder: Path,
    limits: Limits,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the app until it is interrupted.

    Parameters
    ----------
    folder : Path
        Where files and results are kept; one server at a time may use it.
    limits : Limits
    host : str
        Address to bind to; anything but the loopback lets others in who know a token.
    port : int
        0: any that is free.
    ready : callable, optional
        Given the address once it answers, and a new one whenever a browser has taken the last: each
        opens one session.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingDependencyError(_MISSING) from None
    listener = _listen(host, port)
    port = listener.getsockname()[1]
    names = {host} | (set(_LOOPBACK) if host in _LOOPBACK else set())
    hosts = frozenset(f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names)
    shown = f"[{host}]" if ":" in host else host
    private_folder(folder)
    busy = f"another app keeps its results in {str(folder)!r}; choose another with --folder"
    tokens: list[str] = []

    def announce(token: str) -> None:
        tokens.append(token)
        if len(tokens) > 1 and ready is not None:
            ready(f"http://{shown}:{port}/?token={token}")

    with locked(folder / ".lock", busy), listener:
        app = application(folder, limits, hosts, announce)
        from robustfourier.app.idle_connections import Connection

        config = uvicorn.Config(
            app,
            http=Connection,
            log_level="error",
            lifespan="on",
            timeout_graceful_shutdown=2,
            server_header=False,
        )

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets=sockets)
                if ready is not None and self.started:
                    ready(f"http://{shown}:{port}/?token={tokens[0]}")

        Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    """Bind before anything else, so that a busy port is reported at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen at {host}:{port} ({error.strerror}); choose another --port"
        ) from None
    return listener
