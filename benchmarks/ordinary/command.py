"""The command: choose kinds and seeds, fit, print the table and the verdict."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.ordinary import real
from benchmarks.ordinary.catalogue import QUICK, drawn_kinds, every_kind
from benchmarks.ordinary.rows import Row, changes, read, write
from benchmarks.ordinary.runner import run
from benchmarks.verdicts import Verdict, print_verdicts

OVERALL, EACH = 0.90, 0.60  # bars: right on so many of all, and of each kind
SHOWN = 3  # reasons per line


def main(arguments: list[str] | None = None) -> int:
    """Run the truth set; the exit code is 0 when no bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordinary", description=__doc__)
    parser.add_argument("--seeds", default="1000-1004", help="such as 1000-1004 or 0,3 (default: "
                        "1000-1004; below 1000 is for development)")  # fmt: skip
    parser.add_argument("--kinds", default="", help="names separated by commas; default: all")
    parser.add_argument("--quick", action="store_true", help="a dozen kinds, the first seed alone")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--out", type=Path, help="CSV file for one row per fit")
    parser.add_argument("--against", type=Path, help="CSV file of another version to compare with")
    options = parser.parse_args(arguments)
    try:
        tasks = _tasks(options.kinds, options.seeds, options.quick)
    except ValueError as error:
        parser.error(str(error))
    if not real.shared_kinds() and not options.kinds:
        print(f"skipped: the star of 1924 and the tide, whose files are not in {real.SHARED}")
    rows = []
    for row in run(tasks, options.jobs):
        rows.append(row)
        if not row.right:
            print(f"{row.kind} {row.seed}: {row.reasons}", flush=True)
        if options.out:
            write(options.out, rows)
    print(table(rows))
    if options.against:
        print("\n".join(["", *changes(read(options.against), rows)]))
    judged = verdicts(rows)
    print_verdicts("Verdicts", judged)
    return int(any(verdict.passed is False for verdict in judged))


def _tasks(kinds: str, seeds: str, quick: bool) -> list[tuple[str, int]]:
    """Kinds × seeds; real series have no seed and come once."""
    chosen = [name for name in kinds.split(",") if name] or (QUICK if quick else every_kind())
    unknown = set(chosen) - set(every_kind())
    if unknown:
        raise ValueError(f"unknown kinds {', '.join(sorted(unknown))}; known: {every_kind()}")
    numbers = _seeds(seeds)[: 1 if quick else None]
    drawn = drawn_kinds()
    return [(kind, seed) for kind in chosen for seed in (numbers if kind in drawn else numbers[:1])]


def _seeds(text: str) -> list[int]:
    """Read ``0-4`` or ``1,7``."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not (first.isdigit() and (last or first).isdigit()):
            raise ValueError(f"--seeds {text!r} must look like 1000-1004 or 0,3")
        seeds += range(int(first), int(last or first) + 1)
    if not seeds:
        raise ValueError(f"--seeds {text!r} names no seed")
    return seeds


def table(rows: Sequence[Row]) -> str:
    """One line per kind: right of n, why the others are wrong, seconds of the processor."""
    lines = ["", "| kind | right | wrong because | n | seconds per fit |", "|---|---|---|---|---|"]
    for kind, mine in _by_kind(rows).items():
        right = sum(row.right for row in mine)
        reasons = [f"{row.seed}: {row.reasons}"[:110] for row in mine if not row.right]
        more = [f"and {len(reasons) - SHOWN} more"] if len(reasons) > SHOWN else []
        seconds = sum(row.seconds for row in mine) / len(mine)
        why = "<br>".join([*reasons[:SHOWN], *more]).replace("|", "/")
        lines.append(f"| {kind} | {right}/{len(mine)} | {why} | {mine[0].n} | {seconds:.1f} |")
    right, seconds = sum(row.right for row in rows), sum(row.seconds for row in rows)
    return "\n".join([*lines, f"| **all** | {right}/{len(rows)} | | | {seconds:.0f} in all |"])


def verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """The two bars: right on 90 % of all fits, and on 60 % of each kind."""
    right = sum(row.right for row in rows) / len(rows)
    shares = {k: sum(row.right for row in mine) / len(mine) for k, mine in _by_kind(rows).items()}
    low = sorted(kind for kind, share in shares.items() if share < EACH)
    return [
        Verdict("all kinds", f"right on ≥ {OVERALL:.0%}", f"{right:.1%} of {len(rows)}",
                right >= OVERALL),
        Verdict("each kind", f"right on ≥ {EACH:.0%}",
                f"below: {', '.join(low)}" if low else "none below", not low),
    ]  # fmt: skip


def _by_kind(rows: Sequence[Row]) -> dict[str, list[Row]]:
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row.kind, []).append(row)
    return kinds
