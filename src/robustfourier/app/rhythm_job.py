"""A test of known periods in every series of a file, as a job of the page."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from robustfourier.analysis.rhythm_analysis import RhythmAnalysis, analyse_rhythm
from robustfourier.app.progress_frames import Send
from robustfourier.fit_config import reading_words


def run_rhythm(order: dict[str, Any], send: Send) -> dict[str, Any]:
    """Test as an order says, with frames on the way; return the answer for the page."""
    asked, reading = dict(order["rhythm"]), dict(order["reading"])
    periods = asked.pop("periods")
    reading.pop("by", None)  # of a fit of one series
    one, chosen = "by" in asked, reading.pop("value", None)
    found = analyse_rhythm(
        order["path"],
        periods,
        out=Path(order["out"]),
        value=[chosen] if chosen else None if one else "all",
        reading=reading,
        tables=("csv", "excel") if find_spec("openpyxl") else ("csv",),
        overwrite=True,
        name=order["name"],
        observe=lambda done, of: send({"t": "tested", "done": done, "of": of}),
        **asked,
    )
    return _answer(found, order)


def _answer(found: RhythmAnalysis, order: dict[str, Any]) -> dict[str, Any]:
    """What was found, the tables, and the command that gives the same."""
    asked = dict(order["rhythm"])
    words = [word for period in asked.pop("periods") for word in ("--period", period)]
    words += [word for name, value in asked.items() for word in (f"--{name}", str(value))]
    reading = {name: value for name, value in order["reading"].items() if name != "by"}
    if "by" not in asked and "value" not in reading:
        reading["value"] = "all"
    file = ["robustfourier", "rhythm", order["name"], *reading_words(reading)]
    assert found.folder is not None
    tables = sorted(p.name for p in found.folder.iterdir() if p.suffix in (".csv", ".xlsx"))
    return {
        "headline": found.found.headline(),
        "tables": tables,
        "command": shlex.join([*file, *words]),
    }
