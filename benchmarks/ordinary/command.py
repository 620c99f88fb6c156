"""The command: choose kinds and seeds, fit, print the table and the verdict."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.ordinary import real
from benchmarks.ordinary.catalogue import QUICK, drawn_kinds, every_kind, new_kinds, old_kinds
from benchmarks.ordinary.rows import Row, changes
from benchmarks.ordinary.runner import run
from benchmarks.rows import read, write
from benchmarks.verdicts import Verdict, fresh_start, markdown, print_verdicts

OVERALL, EACH = 0.90, 0.60  # bars: right on so many of all, and of each kind
SHOWN = 3  # reasons per line


def main(arguments: list[str] | None = None) -> int:
    """Run the truth set; the exit code is 0 when no bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordinary", description=__doc__)
    parser.add_argument(
        "--kinds", default="all", help="new, old, all (default), or names separated by commas"
    )
    parser.add_argument("--seeds", type=int, default=3, help="draws of each kind (default: 3)")
    parser.add_argument("--start", type=int, help="first seed (default: a fresh one, printed; "
                        "below 1000 is for development)")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="a dozen kinds, the first seed alone")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--json", type=Path, help="file for one JSON object per fit and line")
    parser.add_argument("--against", type=Path, help="such a file of another version to compare")
    options = parser.parse_args(arguments)
    try:
        start = fresh_start() if options.start is None else options.start
        tasks = _tasks(options.kinds, range(start, start + options.seeds), options.quick)
    except ValueError as error:
        parser.error(str(error))
    print(f"seeds from {start}", flush=True)
    if not real.shared_kinds() and options.kinds in ("old", "all"):
        print(f"skipped: the star of 1924 and the tide, whose files are not in {real.SHARED}")
    rows = []
    for row in run(tasks, options.jobs):
        rows.append(row)
        if not row.right:
            print(f"{row.kind} {row.seed}: {row.reasons}", flush=True)
        write(options.json, rows)
    print("\n" + table(rows))
    if options.against:
        before = [Row(**row) for row in read(options.against)]
        print("\n".join(["", *changes(before, rows)]))
    return print_verdicts("Verdicts", verdicts(rows))


def _tasks(kinds: str, seeds: Sequence[int], quick: bool) -> list[tuple[str, int]]:
    """Kinds × seeds; real series have no seed and come once."""
    if not seeds:
        raise ValueError("--seeds must be at least 1")
    groups = {"new": new_kinds(), "old": old_kinds(), "all": QUICK if quick else every_kind()}
    chosen = [name for part in kinds.split(",") for name in groups.get(part, (part,))]
    unknown = set(chosen) - set(every_kind())
    if unknown:
        raise ValueError(f"unknown kinds {', '.join(sorted(unknown))}; known: {every_kind()}")
    seeds, drawn = seeds[: 1 if quick else None], drawn_kinds()
    return [(kind, seed) for kind in chosen for seed in (seeds if kind in drawn else seeds[:1])]


def table(rows: Sequence[Row]) -> str:
    """One line per kind: right of n, why the others are wrong, seconds of the processor."""
    lines = []
    for kind, mine in _by_kind(rows).items():
        right = sum(row.right for row in mine)
        reasons = [f"{row.seed}: {row.reasons}"[:110] for row in mine if not row.right]
        more = [f"and {len(reasons) - SHOWN} more"] if len(reasons) > SHOWN else []
        seconds = sum(row.seconds for row in mine) / len(mine)
        why = "<br>".join([*reasons[:SHOWN], *more])
        lines.append((kind, f"{right}/{len(mine)}", why, mine[0].n, f"{seconds:.1f}"))
    right, total = sum(row.right for row in rows), sum(row.seconds for row in rows)
    lines.append(("**all**", f"{right}/{len(rows)}", "", "", f"{total:.0f} in all"))
    return markdown(("kind", "right", "wrong because", "n", "seconds per fit"), lines)


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
