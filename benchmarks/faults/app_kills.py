"""The app killed at work: what it has answered for is there when it comes back, and whole."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.app import App

_CLOCKED = ("run.json", "report.html")  # tell seconds and days


def app_work(
    place: Path, tables: list[Path], rng: random.Random
) -> tuple[Callable[[], None], Callable[[], str]]:
    """Return a server with a client that orders fits of two tables, and what looks at the rest.

    Server, client and workers are killed together. All fits that the client was told of must be
    there afterwards, all that are done must be whole, and the others end when the server is back.
    """
    from robustfourier.cli import main

    folder, promised = place / "app", place / "promised.txt"
    digests = {}
    for table in tables:
        reference = place / f"reference-{table.stem}"
        _unless_zero(main, ["fit", str(table), "--quiet", "--out", str(reference)])
        digests[table.name] = _digests(reference)
    done: set[str] = set()

    def work() -> None:
        with App(str(folder)) as app:
            if not app.busy():
                table = rng.choice(tables)
                fit = app.begin(table.read_bytes(), table.name)
                with promised.open("a", encoding="utf-8") as file:
                    file.write(f"{fit} {table.name}\n")
            while app.busy():
                time.sleep(0.05)

    def check() -> str:
        from robustfourier.app.session_folder import Folder

        kept = Folder(folder)
        lines = promised.read_text(encoding="utf-8").splitlines() if promised.exists() else []
        for fit, name in (line.split() for line in lines if line.count(" ") == 1):
            if fit not in kept.fits:
                return "a fit that was ordered is lost"
            if kept.fits[fit].state == "failed" and "twice" not in kept.fits[fit].words:
                return f"a fit failed: {kept.fits[fit].words}"
            new = kept.fits[fit].state == "done" and fit not in done
            if new and _digests(kept.place(fit) / "result") != digests[name]:
                return "a result is torn or another"
        now = {fit.id for fit in kept.fits.values() if fit.state == "done"}
        if done - now:
            return "a fit that was done is lost"
        outcome = "new" if now - done else "old"
        done.update(now)
        return outcome

    return work, check


def _unless_zero(main: Callable[[list[str]], Any], arguments: list[str]) -> None:
    try:
        main(arguments)
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{arguments} ended with {end.code}") from None


def _digests(folder: Path) -> dict[str, str]:
    """Return the contents of a result folder, but for what the clock changes."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.name not in _CLOCKED
    }
