"""The page `docs/truth.md`, drawn from rows and nothing else: ``python -m benchmarks.truth``.

Each command of the referee writes its rows into ``benchmarks/results/truth``; this one reads them
and writes the page. It computes no fit.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks import ablation, dense_tones, false_alarms
from benchmarks.ordinary import command as ordinary
from benchmarks.ordinary.catalogue import new_kinds
from benchmarks.ordinary.rows import Row
from benchmarks.protocols import forecasts, periods, stars
from benchmarks.rows import read
from benchmarks.verdicts import markdown, table

ROWS = Path(__file__).parent / "results" / "truth"
PAGE = Path(__file__).parents[1] / "docs" / "truth.md"

HEAD = """# The referee

What is right and what is not, on records whose truth is known or published. Every table comes from
one command, with rivals in the same run; `python -m benchmarks.truth` writes this page from rows
in `benchmarks/results/truth`. Seeds below 1000 are for development; of those here only the dense
tones' are, which are the draws that were first seen to fail, and both halves of the forecasts and
the stars were seen while methods were made. Rivals' rows are of the same versions and draws,
measured earlier than ours. Truth set, dense tones, false alarms, stars and our forecasts are of
this state, but for two mends for values without noise. RobustPeriod's protocol is of an earlier
one, and so is what each stage earns: by it stages were deleted, and those that are gone
(subharmonics, lines that gaps let grow, twin lines) still stand there. Seconds were taken on a busy
machine.
"""


def kinds(rows: list[dict[str, Any]]) -> str:
    """The truth set: both halves, and the kinds that are not always right."""
    fits = [Row(**row) for row in rows]
    halves = []
    easier = {row.kind for row in fits} - set(new_kinds())  # some read files that are not shipped
    for name, group in (("harder kinds", new_kinds()), ("easier kinds", easier)):
        mine = [row for row in fits if row.kind in group]
        by_kind = {kind: [row.right for row in mine if row.kind == kind] for kind in group}
        good = sum(sum(right) >= ordinary.EACH * len(right) for right in by_kind.values() if right)
        present = sum(bool(right) for right in by_kind.values())
        right = sum(row.right for row in mine)
        halves.append((
            name, f"{right} of {len(mine)} ({right / len(mine):.0%})", f"{good} of {present}",
            f"{sum(row.seconds for row in mine):.0f}",
        ))  # fmt: skip
    wrong = {row.kind for row in fits if not row.right}
    seeds = sorted({row.seed for row in fits})
    return "\n\n".join([
        "## The truth set",
        f"`python -m benchmarks.ordinary --kinds all --seeds {len(seeds)} --start {seeds[0]}`. "
        "A fit is right if every true period is found and no other above 1 % of the variance, each "
        "within four of its own errors, shares within 0.1 of what is really explained, the error "
        "on the samples not above that of the trend, and, where the end was held out, an interval "
        "that has a width and holds 60 % of it (90 % are promised). A kind counts as right at "
        f"{ordinary.EACH:.0%} of its draws.",
        markdown(("", "fits that are right", "kinds that are right", "seconds"), halves),
        "Kinds of which a draw is wrong:",
        ordinary.table([row for row in fits if row.kind in wrong]),
    ])  # fmt: skip


def tones(ours: list[dict[str, Any]], rival: list[dict[str, Any]]) -> str:
    """Dense tones, ours and naive prewhitening."""
    lines = []
    for name, rows in (("PeriodicMixture", ours), ("naive prewhitening", rival)):
        draws = [dense_tones.Draw(**row) for row in rows]
        lines += [(name, one.case, one.measured, one.word) for one in dense_tones.verdicts(draws)]
    first = min(row["seed"] for row in ours)
    return "\n\n".join([
        "## Dense tones, the paper's own model",
        f"`python -m benchmarks.dense_tones --start {first}` and the same with `--rival`. Tones "
        "five modes apart on average, 1500 samples with gaps, noise 0.5.",
        markdown(("method", "tones", "found", "verdict"), lines),
    ])  # fmt: skip


def alarms(rows: list[dict[str, Any]]) -> str:
    """False alarms."""
    counts = [
        false_alarms.Count(**{
            key: value for key, value in row.items() if key not in ("n", "kind", "sampling", "cell")
        } | {"cell": false_alarms.Cell(row["n"], row["kind"], row["sampling"])})
        for row in rows
    ]  # fmt: skip
    draws, first = counts[0].draws, counts[0].first
    return "\n\n".join([
        "## False alarms",
        f"`python -m benchmarks.false_alarms --draws {draws} --start {first}`. Draws of noise "
        f"without any period in which one is reported; bold above "
        f"{false_alarms.allowed(draws):.1%} (1 % and two standard errors).",
        false_alarms.table(counts),
        table("case", false_alarms.verdicts(counts)),
    ])  # fmt: skip


def _said(module: Any) -> str:
    """The paragraphs of a module's docstring after the first line, as the page has them."""
    text = str(module.__doc__).replace("``", "`").split("\n\n", 1)[1]
    return text.strip()


def _draws(rows: list[dict[str, Any]]) -> str:
    """How a protocol was called, as its options say it."""
    calls: dict[str, dict[str, int]] = {}
    for row in rows:
        calls.setdefault(f"`--draws {row['draws']} --start {row['start']}`", {})[row["method"]] = 1
    first, *others = calls
    return ", ".join([first, *(f"{call} ({', '.join(calls[call])})" for call in others)])


def ablations(rows: list[dict[str, Any]]) -> str:
    """What each stage earns."""
    first, *others = rows
    outcomes = [ablation.Outcome(**row) for row in others]
    base = [Row("", 0, True, "", first["seconds"], 0, 0.0, "")]
    return "\n\n".join([
        "## What each stage earns",
        f"`python -m benchmarks.ablation --kinds new --start {first['start']}`: "
        f"{first['right']} of {first['fits']} fits are right as it is. With one stage off at a "
        "time: fits that are right only with it (earns), only without it (costs), and the seconds "
        "that it takes. "
        "Rules that overlap hide each other; a zero says that the stage alone is not missed.",
        ablation.table(outcomes, base),
    ])  # fmt: skip


def page(folder: Path = ROWS) -> str:
    """Return the page from the rows in a folder."""
    rows = {path.stem: read(path) for path in sorted(folder.glob("*.jsonl"))}
    parts = [
        HEAD.strip(),
        kinds(rows["kinds"]),
        tones(rows["dense_tones"], rows["dense_tones_rival"]),
        alarms(rows["false_alarms"]),
        "## RobustPeriod's synthetic protocol\n\n" + _said(periods),
        f"Here with {_draws(rows['periods'])}. Precision / recall / F1 at ±2 %, then F1 over all "
        "cells at ±2 % and ±0:",
        periods.table(rows["periods"]),
        "## Stars with catalogue periods\n\n" + _said(stars),
        stars.table(rows["stars"]),
        "## Forecasts\n\n" + _said(forecasts),
        forecasts.table(rows["forecasts"]),
        ablations(rows["ablation"]),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=__doc__)
    parser.add_argument("--rows", type=Path, default=ROWS, help=f"default: {ROWS.name}")
    parser.add_argument("--page", type=Path, default=PAGE, help="default: docs/truth.md")
    options = parser.parse_args(arguments)
    options.page.write_text(page(options.rows), encoding="utf-8")
    print(f"wrote {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
