"""Rows: one per fit, in a CSV file that can be compared with that of another version."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """What came out of one fit.

    `reasons`: why not, separated by semicolons. `seconds`: processor time of the fit. `n`: samples.
    `pull`: largest distance of a found fundamental from the truth, in its own standard errors.
    `patterns`: what was reported above 1 %, as ``period±error share``.
    """

    kind: str
    seed: int
    right: bool
    reasons: str
    seconds: float
    n: int
    pull: float
    patterns: str


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write the rows of one run."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        writer.writerows(
            asdict(row) | {"right": int(row.right), "seconds": f"{row.seconds:.2f}",
                           "pull": f"{row.pull:.2f}"} for row in rows
        )  # fmt: skip


def write_json(path: Path, rows: Iterable[Row]) -> None:
    """Write one JSON object per row and line."""
    lines = (json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def read(path: Path) -> list[Row]:
    """Read the rows of an earlier run."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Row(
                kind=record["kind"],
                seed=int(record["seed"]),
                right=record["right"] == "1",
                reasons=record["reasons"],
                seconds=float(record["seconds"]),
                n=int(record["n"]),
                pull=float(record["pull"]),
                patterns=record["patterns"],
            )
            for record in csv.DictReader(file)
        ]


def changes(before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    """Say what became better and worse, fit by fit, and the time of the fits in both runs."""
    old = {(row.kind, row.seed): row for row in before}
    pairs = [(old[key], row) for row in after if (key := (row.kind, row.seed)) in old]
    better = [new for was, new in pairs if new.right and not was.right]
    worse = [new for was, new in pairs if was.right and not new.right]
    lines = [f"better: {row.kind} {row.seed}" for row in better]
    lines += [f"worse:  {row.kind} {row.seed}: {row.reasons}" for row in worse]
    seconds = [sum(rows) for rows in zip(*((a.seconds, b.seconds) for a, b in pairs), strict=True)]
    was, now = seconds or (0.0, 0.0)
    return [
        *lines,
        f"{len(better)} better, {len(worse)} worse of {len(pairs)} fits in both; "
        f"{was:.0f} s then, {now:.0f} s now",
    ]
