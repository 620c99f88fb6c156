"""Verdicts: what was promised, what was measured, and whether the promise was kept."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


def unseen_seeds(count: int) -> range:
    """Seeds to measure with. What is below 1000 belongs to tests and development."""
    return range(1000, 1000 + count)


def fresh_start() -> int:
    """Return the first of seeds that nobody has looked at; the caller prints it."""
    return 1_000_000 + secrets.randbelow(1_000_000_000)


@dataclass(frozen=True)
class Verdict:
    """One line of a benchmark.

    Parameters
    ----------
    case : str
        What was measured, on what.
    bar : str
        The promise in words.
    measured : str
        The figures that came out.
    passed : bool or None
        Whether the promise was kept; None where there is none and the line only reports.
    """

    case: str
    bar: str
    measured: str
    passed: bool | None

    @property
    def word(self) -> str:
        """The verdict as it is printed."""
        return {True: "PASS", False: "FALLS SHORT", None: "reported"}[self.passed]


def judged(passed: bool, trials: int, enough: int = 20) -> bool | None:
    """Return the verdict on a share, or None if it comes from too few trials to mean anything."""
    return bool(passed) if trials >= enough else None


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; bars inside cells become slashes.

    Examples
    --------
    >>> print(markdown(("a", "b"), [(1, "x|y")]))
    | a | b |
    | --- | --- |
    | 1 | x/y |
    """
    cells = [head, ["---"] * len(head), *rows]
    lines = (" | ".join(str(cell).replace("|", "/") for cell in row) for row in cells)
    return "\n".join(f"| {line} |" for line in lines)


def table(what: str, verdicts: Iterable[Verdict]) -> str:
    """Return verdicts as a Markdown table whose first column is called `what`."""
    rows = ((one.case, one.bar, one.measured, one.word) for one in verdicts)
    return markdown((what, "bar", "measured", "verdict"), rows)


def print_verdicts(title: str, verdicts: Sequence[Verdict]) -> int:
    """Print verdicts as a Markdown table; return the exit code, 1 if a bar was missed."""
    print(f"\n## {title}\n\n{table('case', verdicts)}")
    words = [verdict.word for verdict in verdicts]
    kept, missed = words.count("PASS"), words.count("FALLS SHORT")
    print(f"\n{kept} passed, {missed} fall short, {len(verdicts) - kept - missed} reported only")
    return int(missed > 0)
