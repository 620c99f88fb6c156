"""`robustfourier rhythm`: known periods tested in all series of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustfourier.cli import help_groups as groups
from robustfourier.cli import options
from robustfourier.cli.console import Console
from robustfourier.errors import InputError, require_choice

if TYPE_CHECKING:
    from robustfourier.analysis.rhythm_analysis import RhythmAnalysis
    from robustfourier.cosinor import Rhythms

_SHOWN = 15  # rows on the screen; all are in the tables


@options.with_options
def rhythm(
    file: options.File,
    *,
    reading: dict[str, Any],
    period: options.Texts = groups.model(
        None, "PERIOD", "A known period, as 24h; may be repeated."
    ),
    harmonics: int = groups.model(1, "COUNT", "Of each period (1).", min=1, max=50),
    trend: int = groups.model(0, "DEGREE", "Polynomial trend (0).", min=0, max=4),
    group: options.Text = groups.model(None, "COLUMN", "Groups to compare, as genotype."),
    subject: options.Text = groups.model(None, "COLUMN", "Subjects, a sample of a population."),
    noise: str = groups.model("auto", "WORD", "white, replicates, or auto (white or AR(1))."),
    coverage: float = groups.model(0.95, "P", "Coverage of the intervals (0.95)."),
    out: Path | None = groups.output(
        None, "FOLDER", "For tables, figures and a page.", *groups.OUT
    ),
    table: options.Texts = groups.output(
        None, "WORD", "csv (usual), excel or parquet; may be repeated."
    ),
    overwrite: bool = options.OVERWRITE,
    console: Console,
) -> None:
    """Test known periods in many series (cosinor)."""
    if not period:
        raise InputError("--period is missing; give at least one, such as --period 24h")
    require_choice("--noise", noise, ("auto", "white", "replicates"))
    for kind in table or ():
        require_choice("--table", kind, ("csv", "excel", "parquet"))
    from robustfourier.analysis.rhythm_analysis import analyse_rhythm

    asked: dict[str, Any] = {"harmonics": harmonics, "trend": trend, "coverage": coverage}
    asked |= {"noise": noise, "group": group, "subject": subject, **options.series_options(reading)}
    asked |= {"out": out, "tables": tuple(table or ("csv",)), "overwrite": overwrite}
    with console.progress("series") as bar:
        answer = analyse_rhythm(options.located(file), period, observe=bar, **asked)
    if console.as_json:
        console.json(_answer(answer))
        return
    _print(console, answer)


def _answer(answer: RhythmAnalysis) -> dict[str, Any]:
    """The answer for scripts."""
    found = answer.found
    content: dict[str, Any] = {
        "folder": None if answer.folder is None else str(answer.folder),
        "unit": found.clock.unit,
        "assumed": found.assumed,
        "acrophase": [found.clock.counted_from(k) for k in range(len(found.clock.periods))],
        "rhythm": found.table.to_dict("records"),
    }
    if found.differences is not None:
        content["differences"] = found.differences.to_dict("records")
    return content


def _print(console: Console, answer: RhythmAnalysis) -> None:
    found = answer.found
    for note in answer.table.notes:
        console.print(f"{answer.table.source}: {note}")
    console.print(found.headline(), style="bold")
    _print_rows(console, found)
    for k in range(len(found.clock.periods)):
        console.print(f"Acrophase of {found.clock.words(k)}: {found.clock.counted_from(k)}")
    console.print(found.assumed)
    if answer.folder is not None:
        console.print(f"Page: {answer.folder / 'report.html'}")


def _print_rows(console: Console, found: Rhythms) -> None:
    rows, grouped = found.in_words(_SHOWN), "group" in found.table
    names = (["group"] if grouped else []) + ["period", "mesor", "amplitude", "acrophase", "p", "q"]
    heads = [("Series", "left"), *([("Group", "left")] if grouped else [])]
    heads += [(head, "right") for head in ("Period", "Mesor", "Amplitude", "Acrophase", "p", "q")]
    console.table(heads, [(row["id"][:40], *(row[name] for name in names)) for row in rows])
    if len(found.table) > _SHOWN:
        console.print(f"(the first {_SHOWN} of {len(found.table):,})")
