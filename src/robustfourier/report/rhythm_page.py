"""The page of tested periods: what repeats, when it peaks, and what differs between groups."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from robustfourier.cosinor import Rhythms
from robustfourier.formatting import number, probability, with_error
from robustfourier.report.page import asset, template

_ROWS = 200  # shown on the page; the tables beside it have all


def render_rhythm(
    found: Rhythms,
    figures: Mapping[str, Path],
    source: str,
    notes: Sequence[str],
    files: Sequence[str],
) -> str:
    """Render the page; `figures` go by their caption, `files` are tables that stand beside it."""
    return str(
        template("rhythm.html.j2").render(
            headline=found.headline(),
            source=source,
            notes=notes,
            facts=_facts(found),
            figures=[(words, _embedded(path)) for words, path in figures.items()],
            groups="group" in found.table,
            subjects="between" in found.table,
            counted=[(found.clock.words(k), found.clock.counted_from(k))
                     for k in range(len(found.clock.periods))],
            rows=found.in_words(_ROWS),
            shown=_ROWS,
            total=len(found.table),
            differences=_differences(found),
            assumed=found.assumed,
            coverage=f"{100 * found.coverage:g}",
            files=files,
            style=Markup(asset("style.css")),
        )
    )  # fmt: skip


def _facts(found: Rhythms) -> list[tuple[str, str]]:
    table = found.table
    missing = int(table["p"].isna().sum())
    facts = [
        (f"{table['id'].nunique():,}", "series"),
        (number(float(table["rows"].median()), 3), "values per series (median)"),
        (number(float(table["correlation"].median()), 2), "correlation of neighbours (median)"),
    ]
    if missing:
        facts.append((f"{missing:,}", "tests impossible: too few values"))
    return facts


def _differences(found: Rhythms) -> list[dict[str, str]]:
    if found.differences is None:
        return []
    rows = []
    table = found.differences.sort_values("p_rhythm_difference", kind="stable").head(_ROWS)
    for row in table.to_dict("records"):
        cells = {"id": str(row["id"]), "pair": f"{row['second']} − {row['first']}"}
        for name in ("mesor", "amplitude", "acrophase"):
            what = f"{name}_difference"
            cells[name] = with_error(float(row[what]), float(row[f"{what}_error"]))
            cells[f"q_{name}"] = probability(float(row[f"q_{what}"]))
        rows.append(cells | {"q_rhythm": probability(float(row["q_rhythm_difference"]))})
    return rows


def _embedded(path: Path) -> Markup:
    text = base64.b64encode(path.read_bytes()).decode()
    return Markup(f"data:image/png;base64,{text}")
