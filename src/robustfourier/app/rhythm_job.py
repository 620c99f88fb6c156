"""A test of known periods in every series of a file, as a job of the page."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from robustfourier.analysis.rhythm import RhythmAnalysis, analyse_rhythm
from robustfourier.app.pages import report_policy
from robustfourier.app.preview import preview
from robustfourier.atomic_files import write_text
from robustfourier.errors import DataError
from robustfourier.fit_config import reading_words
from robustfourier.report.rhythm_page import headline


def run_rhythm(order: dict[str, Any], send: Callable[[dict[str, Any]], Any]) -> None:
    """Test, and write the result folder; an order has the settings of `checked_fit`."""
    path, name, asked = Path(order["path"]), order["name"], dict(order["rhythm"])
    periods, reading = asked.pop("periods"), dict(order["reading"])
    send({"t": "columns", **preview(path, reading)})
    reading.pop("by", None)  # of a fit of one series
    one, chosen = "by" in asked, reading.pop("value", None)
    try:
        found = analyse_rhythm(
            str(path),
            periods,
            out=Path(order["out"]),
            value=[chosen] if chosen else None if one else "all",
            reading=reading,
            tables=("csv", "excel") if find_spec("openpyxl") else ("csv",),
            overwrite=True,
            name=name,
            observe=lambda done, of: send({"t": "tested", "done": done, "of": of}),
            **asked,
        )
    except DataError as error:
        raise DataError(str(error).replace(path.name, name)) from None
    write_text(Path(order["out"]).with_name("policy.txt"), report_policy())
    send(_result_frame(found, order))


def _result_frame(found: RhythmAnalysis, order: dict[str, Any]) -> dict[str, Any]:
    """The last frame: what was found, the tables, and the command that gives the same."""
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
        "t": "result",
        "headline": headline(found.found),
        "tables": tables,
        "command": shlex.join([*file, *words]),
    }
