"""`robustfourier app`: the local page."""

from __future__ import annotations

import os
from pathlib import Path

from robustfourier.cli import help_groups as groups
from robustfourier.cli import options
from robustfourier.cli.console import Console


@options.with_options
def app(
    *,
    folder: Path = groups.output(
        "robustfourier-app", "FOLDER", "Files and results (robustfourier-app).", "--folder", "-f"
    ),
    port: int = groups.server(0, "PORT", "0 (usual): any free one.", min=0, max=65535),
    host: str = groups.server("127.0.0.1", "HOST", "Other than 127.0.0.1 (usual) lets others in."),
    browser: bool = groups.server(True, None, "Open the page in a browser (yes)."),
    jobs: int = groups.limits(0, "COUNT", "Fits side by side; 0: one per core.", min=0),
    minutes: float = groups.limits(30.0, "MINUTES", "For one fit (30).", min=0.001),
    memory: float = groups.limits(4.0, "GB", "For one fit (4).", min=0.1),
    upload: float = groups.limits(200.0, "MB", "Largest file (200).", min=0.001),
    rows: int = groups.limits(2_000_000, "COUNT", "Samples of one file (2,000,000).", min=1),
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
            console.print(f"For another browser: {address}")
            return
        console.print(f"The app is at {address}")
        console.print(f"Results are kept in {str(folder)!r}. Ctrl-C ends it.")
        opened.append(way_in(folder, address))
        if browser:
            import webbrowser

            # By a file that only the user can read: others see the arguments of a browser.
            webbrowser.open(opened[0].absolute().as_uri())

    serve(folder, limits, host=host, port=port, ready=ready)
