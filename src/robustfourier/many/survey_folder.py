"""The folder of a survey: made beside its place, and at any moment one whole survey.

::

    series.csv  patterns.csv  (both .parquet too)            what was found
    forecasts.csv  forecasts/                                what comes next, if wanted
    index.html  index/                                       the page
    reports/  models/                                        pages and models, named by their series
    shards/  buckets/                                        what each batch found; sorted rows
    survey.json                                              the record, with the list of all files

A survey is worked on in ``.<name>.part``. A run that is killed leaves it there, and the next one
with the same source and parameters goes on from it. What a finished survey holds is taken over by
its key, which is a digest of data and parameters: nothing of other data can come in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from robustfourier.errors import InputError, OutputError
from robustfourier.result_folders import SURVEY, beside, clear, link, names_within, take_place

# Shards come last: a row that counts as done has its page and its model beside it.
_PARTS = ("buckets", "reports", "models", "forecasts", "index", "shards")


def begin(folder: Path, identity: dict[str, Any], overwrite: bool) -> Path:
    """Return the folder to work in, with all that is done already; the survey must be claimed."""
    draft = beside(folder, "part")
    held = None if draft.is_symlink() else SURVEY.read(draft)
    if held is None or held["finished"] or not SURVEY.is_same(held, identity):
        begun = held is not None and not held["finished"] and not overwrite
        if begun and any((draft / "shards").glob("*.parquet")):
            raise OutputError(
                f"{str(folder)!r} has an unfinished survey of another source or other parameters; "
                "say --overwrite to discard it, or choose another folder with --out"
            )
        clear(SURVEY, draft, folder)
        SURVEY.begin(draft, identity)
    for name in _PARTS:
        if (draft / name).is_symlink():
            raise OutputError(f"{str(draft / name)!r} is a symbolic link; move it away")
        (draft / name).mkdir(exist_ok=True)
    for name in list(names_within(draft)):  # what a killed run was writing
        if Path(name).name.startswith(".") and name.endswith(".part"):
            (draft / name).unlink()
    _take_over(folder, draft)
    return draft


def finish(draft: Path, folder: Path, content: dict[str, Any], series: pd.DataFrame) -> None:
    """Let a survey whose tables are written take its place."""
    named = {name for kind in ("report", "model", "picture") for name in series.get(kind, ())}
    for part in ("reports", "models", "forecasts"):
        for path in (draft / part).iterdir():  # of data or parameters before
            if f"{part}/{path.name}" not in named:
                path.unlink()
    SURVEY.finish(draft, content)
    take_place(SURVEY, draft, folder)


def model_files(folder: Path) -> list[tuple[str, Path]]:
    """Names of the series of a finished survey, and their model files."""
    table = pd.read_parquet(folder / "series.parquet", columns=["id", "model"])
    own = set(SURVEY.own(folder) or ())
    pairs = zip(table["id"], table["model"], strict=True)
    found = [(str(name), folder / model) for name, model in pairs if model in own]
    if not found:
        raise InputError(
            f"{str(folder)!r} holds no models; make the survey again with --models, or let it "
            "forecast with --forecast 30d"
        )
    return found


def refuse_other_table(draft: Path, folder: Path, content: str | None, overwrite: bool) -> None:
    """Refuse to replace a survey of another table: in memory it has no name but its content."""
    held = SURVEY.read(folder)
    if content is None or held is None or overwrite or held.get("content") == content:
        return
    clear(SURVEY, draft, folder)
    raise OutputError(
        f"{str(folder)!r} holds the survey of another table; say overwrite=True, or choose another "
        "folder"
    )


def _take_over(folder: Path, draft: Path) -> None:
    own = set(SURVEY.own(folder) or ())
    names = [name for name in names_within(folder) if name in own] if own else []
    for part in _PARTS:
        for name in names:
            within, _, rest = name.partition("/")
            plain = within == part != "index" and "/" not in rest
            if plain and not (draft / name).exists() and not (folder / name).is_symlink():
                link(folder / name, draft / name)
