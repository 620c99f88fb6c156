"""`analyse_rhythm`: known periods tested in a file's series, and a folder with what came out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from robustfourier.analysis.table_files import write_csv, write_parquet
from robustfourier.atomic_files import plain, replacing, write_text
from robustfourier.cosinor import Rhythms, rhythm
from robustfourier.cosinor.heat_map import heat_map, shown_rows
from robustfourier.cosinor.series_tables import Table, read_table
from robustfourier.errors import MissingDependencyError, require_choice
from robustfourier.result_folders import RHYTHM, claimed, exchanged
from robustfourier.results.result_tables import neutral

TABLES = ("csv", "excel", "parquet")
_GROUPS = 4  # with a heat map of their own on the page


@dataclass(frozen=True, eq=False)
class RhythmAnalysis:
    """What came out: answers, the table that was read, the folder if one was written."""

    found: Rhythms
    table: Table
    folder: Path | None


def analyse_rhythm(
    path: str,
    periods: Sequence[str],
    *,
    out: Path | None = None,
    by: str | None = None,
    group: str | None = None,
    subject: str | None = None,
    value: Sequence[str] | str | None = None,
    reading: dict[str, Any] | None = None,
    tables: Sequence[str] = ("csv",),
    overwrite: bool = False,
    name: str | None = None,
    observe: Callable[[int, int], Any] | None = None,
    **testing: Any,
) -> RhythmAnalysis:
    """Read a file, test periods such as "24h" in its series, and write a folder if `out` is given.

    `by`, `group`, `subject`, `value` and `reading` are those of `cosinor.series_tables.read_table`,
    `tables` the kinds of tables that are written, of `TABLES`; `name` is what the page calls the
    file; `testing` are harmonics, trend, noise and coverage of `rhythm`.
    """
    for kind in tables:
        require_choice("tables", kind, TABLES)
    table = read_table(path, by=by, group=group, subject=subject, value=value, reading=reading)
    table = replace(table, source=name or table.source)
    given = {"groups": table.groups, "subjects": table.subjects, "names": table.names}
    given["unit"] = (reading or {}).get("unit") or table.unit or None
    identity = plain(
        {"source": str(Path(path).resolve()), "periods": list(periods), "asked": testing}
        | {"by": by, "group": group, "subject": subject, "value": value, "reading": reading or {}}
    )
    with claimed(RHYTHM, out, identity, [Path(path)], overwrite=overwrite):
        found = rhythm(
            table.times, table.matrix, list(periods), observe=observe, **given, **testing
        )
        if out is not None:
            record = {"identity": identity, "notes": list(table.notes)}
            with exchanged(RHYTHM, out, record) as draft:
                write_rhythm(found, table, draft, tables)
    return RhythmAnalysis(found, table, out)


def write_rhythm(
    found: Rhythms, table: Table, folder: Path, tables: Sequence[str] = ("csv",)
) -> None:
    """Write tables, figures and the page of tested periods into a folder."""
    from robustfourier.report.rhythm_page import render_rhythm

    sheets = {"rhythm": found.table}
    if found.differences is not None:
        sheets["differences"] = found.differences
    files = [name for kind in tables for name in _write_tables(sheets, folder, kind)]
    figures = _figures(found, table, folder)
    page = render_rhythm(found, figures, table.source, table.notes, files)
    write_text(folder / "report.html", page)


def _write_tables(sheets: dict[str, pd.DataFrame], folder: Path, kind: str) -> list[str]:
    """Write all tables in one kind of file; the names of the files."""
    if kind == "excel":
        with replacing(folder / "rhythm.xlsx") as file:
            _write_workbook(sheets, file)
        return ["rhythm.xlsx"]
    write = write_csv if kind == "csv" else write_parquet
    for name, sheet in sheets.items():
        write(sheet, folder / f"{name}.{kind}")
    return [f"{name}.{kind}" for name in sheets]


def _write_workbook(sheets: dict[str, pd.DataFrame], file: Any) -> None:
    """A sheet for each table; text that looks like a formula is neutralised."""
    try:
        with pd.ExcelWriter(file, engine="openpyxl") as book:
            for name, sheet in sheets.items():
                text = sheet.select_dtypes(exclude="number").columns
                safe = sheet.assign(**{c: sheet[c].map(lambda x: neutral(str(x))) for c in text})
                safe.to_excel(book, sheet_name=name, index=False)
    except ImportError:
        raise MissingDependencyError(
            "Excel files need openpyxl; install it with: pip install openpyxl, or write csv"
        ) from None


def _on_axes(draw: Callable[..., Any], figure: Any) -> None:
    draw(ax=figure.add_subplot())


def _figures(found: Rhythms, table: Table, folder: Path) -> dict[str, Path]:
    """Draw the heat maps and the dial; caption to file, nothing where nothing repeats."""
    from robustfourier.plots.figure_files import save_figure
    from robustfourier.plots.rhythm_figures import plot_acrophases, plot_heat_map

    clock, drawn, shown = found.clock, {}, []
    grouped = "group" in found.table
    groups = list(dict.fromkeys(found.table["group"]))[:_GROUPS] if grouped else [None]
    for i, group in enumerate(groups):
        rows = shown_rows(found, group=group)
        shown.append(rows)
        if len(rows):
            kept = None if group is None else table.groups == group
            title = f"{len(rows):,} series, {clock.words(0)}" + (f", {group}" if group else "")
            path = folder / ("heatmap.png" if group is None else f"heatmap-{i + 1}.png")
            picture = heat_map(found, table.matrix, rows, kept)
            draw = partial(plot_heat_map, picture, unit=clock.unit, title=title)
            save_figure(path, (7.5, 5.0), partial(_on_axes, draw))
            drawn[f"Series by acrophase, the earliest on top: {title}"] = path
    rows = pd.concat(shown)
    if len(rows):
        cycle, unit = clock.cycle(0)[0], clock.shown(0)[1]
        drawn["Acrophases of one cycle, clockwise from the top"] = save_figure(
            folder / "acrophases.png",
            (5.5, 5.5),
            lambda f: plot_acrophases(rows, cycle, unit=unit, ax=f.add_subplot(projection="polar")),
        )
    return drawn
