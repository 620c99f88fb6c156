"""Rows: one per fit, which can be compared with those of another version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
