"""`robustfourier app`: the local page."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from robustfourier.cli import options
from robustfourier.cli.console import Console


@options.expanded
def app(
    *,
    folder: Path = typer.Option(
        Path("robustfourier-app"),
        "--folder",
        "-f",
        help="Where files, results and history are kept.",
    ),
    port: int = typer.Option(0, min=0, max=65535, help="Port; 0 for any that is free."),
    host: str = typer.Option(
        "127.0.0.1", help="Address to listen at; other than 127.0.0.1 lets others in."
    ),
    browser: bool = typer.Option(True, help="Open the page in a browser."),
    jobs: int = typer.Option(0, min=0, help="Fits that run side by side; 0 for one per core."),
    minutes: float = typer.Option(30.0, min=0.001, help="Time that one fit may take."),
    memory: float = typer.Option(4.0, min=0.1, help="Memory of one fit in GB."),
    upload: float = typer.Option(200.0, min=0.001, help="Largest file in MB."),
    rows: int = typer.Option(2_000_000, min=1, help="Most samples of one file."),
    console: Console,
) -> None:
    """Open a page for dropping files on, and the paper's laboratory."""
    from robustfourier.app import serve
    from robustfourier.app.jobs import Limits
    from robustfourier.app.session_folder import way_in

    limits = Limits(
        at_once=jobs or os.cpu_count() or 1,
        seconds=60.0 * minutes,
        memory=int(memory * 2**30),
        upload=int(upload * 1e6),
        rows=rows,
    )

    opened: list[Path] = []

    def ready(address: str) -> None:
        if opened:
            opened[0].unlink(missing_ok=True)  # its token is used up
            console.say(f"For another browser: {address}")
            return
        console.say(f"The app is at {address}")
        console.say(f"Results are kept in {str(folder)!r}. Ctrl-C ends it.")
        opened.append(way_in(folder, address))
        if browser:
            import webbrowser

            # By a file that only the user can read: others see the arguments of a browser.
            webbrowser.open(opened[0].absolute().as_uri())

    serve(folder, limits, host=host, port=port, ready=ready)
