"""Verdicts: what was promised, what was measured, and whether the promise was kept."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np


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


def print_verdicts(title: str, verdicts: Sequence[Verdict]) -> None:
    """Print verdicts as a Markdown table."""
    print(f"\n## {title}\n")
    rows = [(verdict.case, verdict.bar, verdict.measured, verdict.word) for verdict in verdicts]
    print(markdown(("case", "bar", "measured", "verdict"), rows))
    words = [verdict.word for verdict in verdicts]
    kept, missed = words.count("PASS"), words.count("FALLS SHORT")
    print(f"\n{kept} passed, {missed} fall short, {len(verdicts) - kept - missed} reported only")


def spread(values: np.ndarray) -> np.ndarray:
    """How far the smallest and the largest of the last axis are from its median, for error bars.

    Examples
    --------
    >>> spread(np.array([[1.0, 2.0, 5.0]])).ravel()
    array([1., 3.])
    """
    middle = np.median(values, axis=-1)
    return np.stack([middle - values.min(axis=-1), values.max(axis=-1) - middle])


def timed(
    work: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds of each of `repeats` calls, after one to warm up."""
    work()
    seconds = []
    for _ in range(repeats):
        start = clock()
        work()
        seconds.append(clock() - start)
    return seconds
