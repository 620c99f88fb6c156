"""Comparisons: us against the best rival, line by line, with a verdict.

A rival that must be told the truth is shown but not counted as beaten or beating.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.peers import methods
from benchmarks.peers.catalogue import NOTHING, SIZE, Entry
from benchmarks.peers.rows import OK, Row

OURS = "ours"
INTEGER = "ours_integer"
WINS, LEVEL, LOSES = "wins", "level", "**loses**"
FAIR = ("", "the band", "that modes are whole")  # what a user can know and say
MARGIN = 1.1  # a ratio of medians within this factor either way is level


@dataclass(frozen=True)
class Comparison:
    """One line of the verdict table.

    Attributes
    ----------
    case : str
        What was measured.
    ours, rival : float
        Medians (or means, for counts) over the seeds.
    rival_name : str
        The best rival's.
    verdict : str
        `WINS`, `LEVEL` or `LOSES`.
    kind : str
        "error", "false periods", "periods", "seconds" or "memory".
    group : str
        Of the problem.
    told : float
        The best result of a method that was told the truth, nan if there is none.
    told_name : str
        Its name.
    """

    case: str
    ours: float
    rival: float
    rival_name: str
    verdict: str
    kind: str
    group: str
    told: float = np.nan
    told_name: str = ""

    @property
    def factor(self) -> float:
        """By how much the better one is better; infinite where the worse one has nothing."""
        low, high = sorted((self.ours, self.rival))
        return high / low if low > 0 else np.inf


class Results:
    """Rows by problem and method, and medians over seeds."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in rows:
            self._rows[row.problem, row.method].append(row)

    def rows(self, problem: str, method: str) -> list[Row]:
        """All rows of a problem and a method, with numbers or without."""
        return self._rows.get((problem, method), [])

    def values(self, problem: str, method: str, column: str) -> list[float]:
        """Numbers of a column over the seeds; [] where there are none."""
        found = (getattr(row, column) for row in self.rows(problem, method) if row.status == OK)
        return [value for value in found if value is not None]

    def median(self, problem: str, method: str, column: str) -> float:
        """Median over the seeds, nan without numbers."""
        values = self.values(problem, method, column)
        return float(np.median(values)) if values else np.nan

    def mean(self, problems: Iterable[str], method: str, column: str) -> float:
        """Mean over problems and seeds, nan without numbers."""
        values = [value for p in problems for value in self.values(p, method, column)]
        return float(np.mean(values)) if values else np.nan

    def methods(self) -> list[str]:
        """Methods with rows, in the order of the tables."""
        present = {method for _, method in self._rows}
        return [key for key in methods.ALL if key in present]

    def problems(self) -> set[str]:
        """Problems with rows."""
        return {problem for problem, _ in self._rows}


def is_rival(key: str) -> bool:
    """Whether a method counts as a rival: not ours and not told the truth ("the band" is fair)."""
    mine = key.startswith(("ours", "paper"))
    return not mine and methods.load(key).TOLD in FAIR


def is_told(key: str) -> bool:
    """Whether a method is told more than a user can know."""
    return methods.load(key).TOLD not in FAIR


def smaller_is_better(ours: float, rival: float) -> str:
    """Verdict on two errors or times."""
    if ours <= rival / MARGIN:
        return WINS
    return LEVEL if ours <= rival * MARGIN else LOSES


def larger_is_better(ours: float, rival: float) -> str:
    """Verdict on two shares; level within two percent."""
    if ours >= rival + 0.02:
        return WINS
    return LEVEL if ours >= rival - 0.02 else LOSES


def compare(
    case: str,
    score: Callable[[str], float],
    keys: Sequence[str],
    *,
    kind: str,
    group: str,
    us: str = OURS,
) -> Comparison | None:
    """Compare us with the best rival by `score`, a function of the method's key."""
    larger = kind == "periods"
    ours = score(us)
    rivals = {key: score(key) for key in keys if is_rival(key)}
    rivals = {key: value for key, value in rivals.items() if np.isfinite(value)}
    if not np.isfinite(ours) or not rivals:
        return None
    best = (max if larger else min)(rivals, key=lambda key: rivals[key])
    verdict = (larger_is_better if larger else smaller_is_better)(ours, rivals[best])
    told = {key: score(key) for key in keys if is_told(key)}
    told = {key: value for key, value in told.items() if np.isfinite(value)}
    least, name = np.nan, ""
    if told and not larger:
        key = min(told, key=lambda key: told[key])
        least, name = told[key], plain_name(key)
    return Comparison(case, ours, rivals[best], plain_name(best), verdict, kind, group, least, name)


def error_lines(results: Results, entries: Iterable[Entry]) -> list[Comparison]:
    """Error of the function, one line per problem; pure noise: error and false periods."""
    lines = []
    for entry in entries:
        if entry.group == SIZE or entry.name not in results.problems():
            continue
        error = _median_of(results, entry.name, "error")
        keys, kind = results.methods(), {"kind": "error", "group": entry.group}
        lines.append(compare(f"{entry.name}: error", error, keys, **kind))
        if results.values(entry.name, INTEGER, "error"):
            case = f"{entry.name}: error, whole modes"
            lines.append(compare(case, error, keys, **kind, us=INTEGER))
        if entry.group == NOTHING:
            count = _mean_of(results, [entry.name], "n_found")
            kind = {"kind": "false periods", "group": entry.group}
            lines.append(compare(f"{entry.name}: false periods per series", count, keys, **kind))
    return [line for line in lines if line is not None]


@dataclass(frozen=True)
class Duel:
    """Us against one rival over all problems it ran on; `ratio` is ours over theirs."""

    wins: int
    level: int
    losses: int
    ratio: float


def duels(results: Results, entries: Sequence[Entry]) -> dict[str, Duel]:
    """Compare the median errors with every other method."""
    names = [entry.name for entry in entries if entry.group not in (SIZE, NOTHING)]
    found: dict[str, Duel] = {}
    for key in results.methods():
        pairs = [
            (results.median(name, OURS, "error"), results.median(name, key, "error"))
            for name in names
        ]
        pairs = [pair for pair in pairs if np.isfinite(pair).all()]
        if key == OURS or not pairs:
            continue
        words = [smaller_is_better(*pair) for pair in pairs]
        ratio = float(np.exp(np.mean([np.log(ours / theirs) for ours, theirs in pairs])))
        found[key] = Duel(words.count(WINS), words.count(LEVEL), words.count(LOSES), ratio)
    return found


def period_lines(results: Results, entries: Sequence[Entry], group: str) -> list[Comparison]:
    """Precision, recall and components over a group of problems.

    Rivals that run on part of the group only are not compared: theirs may be the easy part.
    """
    names = [e.name for e in entries if e.group == group and e.name in results.problems()]
    whole = [
        key for key in results.methods() if all(results.values(p, key, "error") for p in names)
    ]
    lines = []
    for column, words in PERIOD_COLUMNS.items():
        share = _mean_of(results, names, column)
        lines.append(compare(f"{group}: {words}", share, whole, kind="periods", group=group))
    both = lambda key: _harmonic_mean(  # noqa: E731
        results.mean(names, key, "precision"), results.mean(names, key, "recall")
    )
    case = f"{group}: F-score of the periods"
    lines.append(compare(case, both, whole, kind="periods", group=group))
    return [line for line in lines if line is not None]


PERIOD_COLUMNS = {
    "precision": "precision of the periods",
    "recall": "recall of the fundamentals",
    "precision_3se": "precision within 3 standard errors",
    "recall_3se": "recall within 3 standard errors",
    "components_right": "components all right",
}


def size_lines(results: Results, entries: Iterable[Entry]) -> list[Comparison]:
    """Seconds and memory against the number of samples, among methods that find the tones."""
    lines = []
    for entry in entries:
        if entry.size is None or entry.name not in results.problems():
            continue
        able = [
            key
            for key in results.methods()
            if results.median(entry.name, key, "recall") == 1.0 or key == OURS
        ]
        for column, kind in (("seconds", "seconds"), ("megabytes", "memory")):
            score = _median_of(results, entry.name, column)
            words = "seconds" if column == "seconds" else "peak memory in MB"
            case = f"{entry.name}: {words}"
            lines.append(compare(case, score, able, kind=kind, group=SIZE))
    return [line for line in lines if line is not None]


def plain_name(key: str) -> str:
    """Name of a method without the markup of the tables."""
    return methods.load(key).NAME.replace("*", "")


def number(value: float) -> str:
    """Three digits; a dash for what is not there."""
    if not np.isfinite(value):
        return "–"
    if value != 0 and (abs(value) >= 1000 or abs(value) < 0.001):
        return f"{value:.2g}" if abs(value) < 1 else f"{value:.0f}"
    return f"{value:.3g}"


def _median_of(results: Results, problem: str, column: str) -> Callable[[str], float]:
    return lambda key: results.median(problem, key, column)


def _mean_of(results: Results, problems: list[str], column: str) -> Callable[[str], float]:
    return lambda key: results.mean(problems, key, column)


def _harmonic_mean(a: float, b: float) -> float:
    return 2.0 * a * b / (a + b) if a + b != 0 else 0.0
