"""`robustfourier app`: the local page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from robustfourier.cli import options
from robustfourier.cli.console import Console


@options.expanded
def app(
    *,
    folder: Annotated[
        Path, typer.Option("--folder", "-f", help="Where files, results and history are kept.")
    ] = Path("robustfourier-app"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any that is free.")] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen at; other than 127.0.0.1 lets others in.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    jobs: Annotated[
        int, typer.Option(min=0, help="Fits that run side by side; 0 for one per core.")
    ] = 0,
    minutes: Annotated[float, typer.Option(min=0.001, help="Time that one fit may take.")] = 30.0,
    memory: Annotated[float, typer.Option(min=0.1, help="Memory of one fit in GB.")] = 4.0,
    upload: Annotated[float, typer.Option(min=0.001, help="Largest file in MB.")] = 200.0,
    rows: Annotated[int, typer.Option(min=1, help="Most samples of one file.")] = 2_000_000,
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
