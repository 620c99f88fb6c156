"""`robustfourier app`: the local page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from robustfourier.cli import help_groups as groups
from robustfourier.cli import options
from robustfourier.cli.console import Console


@options.expanded
def app(
    *,
    folder: Annotated[
        Path,
        groups.output(
            "--folder", "-f", metavar="FOLDER", help="Files and results (robustfourier-app)."
        ),
    ] = Path("robustfourier-app"),
    port: Annotated[
        int, groups.server(metavar="PORT", min=0, max=65535, help="0 (usual): any free one.")
    ] = 0,
    host: Annotated[
        str, groups.server(metavar="HOST", help="Other than 127.0.0.1 (usual) lets others in.")
    ] = "127.0.0.1",
    browser: Annotated[bool, groups.server(help="Open the page in a browser (yes).")] = True,
    jobs: Annotated[
        int, groups.limits(metavar="COUNT", min=0, help="Fits side by side; 0: one per core.")
    ] = 0,
    minutes: Annotated[
        float, groups.limits(metavar="MINUTES", min=0.001, help="For one fit (30).")
    ] = 30.0,
    memory: Annotated[float, groups.limits(metavar="GB", min=0.1, help="For one fit (4).")] = 4.0,
    upload: Annotated[
        float, groups.limits(metavar="MB", min=0.001, help="Largest file (200).")
    ] = 200.0,
    rows: Annotated[
        int, groups.limits(metavar="COUNT", min=1, help="Samples of one file (2,000,000).")
    ] = 2_000_000,
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
