"""`robustfourier reproduce`: the paper's experiments again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from robustfourier.cli import options
from robustfourier.cli.console import Console


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Of 1, 2, 3, 4, trends, theory; all but trends if none is given."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder of rows, figures and page.")
    ] = Path("reproduction"),
    quick: Annotated[bool, typer.Option(help="A small version, a few minutes in all.")] = False,
    csv: Annotated[
        Path | None, typer.Option(help="Your own Google Trends export, for the trends example.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    rows: Annotated[
        Path | None, typer.Option(help="Folder of finished rows to go on from and to add to.")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Run the paper's experiments; an interrupted run continues where it was."""
    from robustfourier.experiments import reproduce as run

    page = run(
        names or None, out=out, quick=quick, csv=csv, jobs=jobs, rows=rows, progress=not quiet
    )
    Console(-1 if quiet else 0).say(f"Written: {page}")
