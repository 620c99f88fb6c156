"""Comparisons: us against the best rival, line by line, with a verdict.

A rival that must be given the truth is shown but not counted as beaten or beating.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.peers.catalogue import NOTHING, SIZE, Entry
from benchmarks.peers.methods import METHODS
from benchmarks.peers.rows import OK, Row

OURS = "ours"
INTEGER = "ours_integer"
WINS, LEVEL, LOSES = "wins", "level", "**loses**"
FAIR = ("", "the band", "that modes are whole")  # what a user can know and say
MARGIN = 1.1  # a ratio of medians within this factor either way is level


@dataclass(frozen=True)
class Comparison:
    """One line of the verdict table.

    `case`: what was measured. `ours`, `rival`: medians (or means, for counts) over the seeds.
    `rival_name`: the best rival's. `verdict`: `WINS`, `LEVEL` or `LOSES`. `privileged`: the best
    result of a method that was given the truth, nan if there is none. `privileged_name`: its name.
    """

    case: str
    ours: float
    rival: float
    rival_name: str
    verdict: str
    privileged: float = np.nan
    privileged_name: str = ""


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
        return [key for key in METHODS if key in present]

    def problems(self) -> set[str]:
        """Problems with rows."""
        return {problem for problem, _ in self._rows}


def is_rival(key: str) -> bool:
    """Whether a method counts as a rival: not ours and not given the truth ("the band" is fair)."""
    mine = key.startswith(("ours", "paper"))
    return not mine and METHODS[key].hints in FAIR


def is_privileged(key: str) -> bool:
    """Whether a method is given more than a user can know."""
    return METHODS[key].hints not in FAIR


def smaller_is_better(ours: float, rival: float) -> str:
    """Verdict on two errors or times."""
    if rival / MARGIN <= ours <= rival * MARGIN:
        return LEVEL
    return WINS if ours < rival else LOSES


def larger_is_better(ours: float, rival: float) -> str:
    """Verdict on two shares; level within two percent."""
    if abs(ours - rival) <= 0.02:
        return LEVEL
    return WINS if ours > rival else LOSES


@dataclass(frozen=True)
class Measure:
    """A column of the rows on some problems, and what is made of it over seeds.

    Methods are compared on the problems and seeds that both have: a rival that is too slow for
    all seeds must not be judged on easier ones.
    """

    results: Results
    problems: tuple[str, ...]
    column: str
    kind: str

    @property
    def larger(self) -> bool:
        """Whether more is better."""
        return self.kind == "periods"

    def paired(self, one: str, other: str) -> tuple[float, float]:
        """Both methods' summaries over what both have; nan without anything in common."""
        first, second = self._numbers(one), self._numbers(other)
        common = sorted(first.keys() & second.keys())
        summary = np.median if self.kind in MEDIANS else np.mean
        if not common:
            return np.nan, np.nan
        return (
            float(summary([first[key] for key in common])),
            float(summary([second[key] for key in common])),
        )

    def seeds(self, key: str) -> int:
        """How many numbers there are."""
        return len(self._numbers(key))

    def _numbers(self, method: str) -> dict[tuple[str, int], float]:
        return {
            (problem, row.seed): value
            for problem in self.problems
            for row in self.results.rows(problem, method)
            if row.status == OK and (value := getattr(row, self.column)) is not None
        }


MEDIANS = ("error", "seconds", "memory")


def compare(case: str, measure: Measure, keys: Sequence[str], us: str = OURS) -> Comparison | None:
    """Compare us with the rival that is best relative to us, on the seeds both have."""
    pairs = {key: measure.paired(us, key) for key in keys if key != us}
    pairs = {key: pair for key, pair in pairs.items() if np.isfinite(pair).all()}
    rivals = {key: pair for key, pair in pairs.items() if is_rival(key)}
    if measure.seeds(us) == 0:
        return _no_show(case, measure, [key for key in keys if is_rival(key)], us)
    if not rivals:
        return None
    # A single seed decides only where nobody has more.
    most = max(measure.seeds(key) for key in rivals)
    rivals = {key: pair for key, pair in rivals.items() if 2 * measure.seeds(key) > most}
    best = max(rivals, key=lambda key: _advantage(*rivals[key], measure.larger))
    ours, rival = rivals[best]
    verdict = (larger_is_better if measure.larger else smaller_is_better)(ours, rival)
    privileged = {
        key: pair for key, pair in pairs.items() if is_privileged(key) and not measure.larger
    }
    least, name = np.nan, ""
    if privileged:
        key = max(privileged, key=lambda key: _advantage(*privileged[key], False))
        least, name = privileged[key][1], plain_name(key)
    return Comparison(case, ours, rival, plain_name(best), verdict, least, name)


def _advantage(ours: float, rival: float, larger: bool) -> float:
    """How much better the rival is than we are: a difference of shares, a ratio of errors."""
    if larger:
        return rival - ours
    return ours / rival if rival > 0 else (np.inf if ours > 0 else 1.0)


def _no_show(case: str, measure: Measure, rivals: list[str], us: str) -> Comparison | None:
    """A line on which we ran and have no number is lost to anyone who has one."""
    ran = any(measure.results.rows(problem, us) for problem in measure.problems)
    able = {key: measure.paired(key, key)[0] for key in rivals if measure.seeds(key)}
    if not ran or not able or us != OURS:
        return None
    best = min(able, key=lambda key: able[key])
    name = plain_name(best)
    return Comparison(case, np.nan, able[best], name, LOSES)


def error_lines(results: Results, entries: Iterable[Entry]) -> list[Comparison]:
    """Error of the function, one line per problem; pure noise: error and false periods."""
    lines = []
    keys = results.methods()
    for entry in entries:
        name, group = entry.name, entry.group
        if group == SIZE or name not in results.problems():
            continue
        error = Measure(results, (name,), "error", "error")
        lines.append(compare(f"{name}: error", error, keys))
        if results.values(name, INTEGER, "error"):
            lines.append(compare(f"{name}: error, whole modes given", error, keys, INTEGER))
        if group == NOTHING:
            count = Measure(results, (name,), "n_found", "false periods")
            lines.append(compare(f"{name}: false periods per series", count, keys))
    return [line for line in lines if line is not None]


@dataclass(frozen=True)
class Duel:
    """Us against one rival over all problems it ran on; `ratio` is ours over theirs."""

    wins: int
    level: int
    losses: int
    ratio: float


def duels(results: Results, entries: Sequence[Entry]) -> dict[str, Duel]:
    """Compare the median errors with every other method, on the seeds both have."""
    entries = [entry for entry in entries if entry.group not in (SIZE, NOTHING)]
    found: dict[str, Duel] = {}
    for key in results.methods():
        pairs = [
            Measure(results, (entry.name,), "error", "error").paired(OURS, key) for entry in entries
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
    names = tuple(e.name for e in entries if e.group == group and e.name in results.problems())
    whole = [
        key for key in results.methods() if all(results.values(p, key, "error") for p in names)
    ]
    lines = [
        compare(f"{group}: {words}", Measure(results, names, column, "periods"), whole)
        for column, words in PERIOD_COLUMNS.items()
    ]
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
            words = "seconds" if column == "seconds" else "peak memory in MB"
            cost = Measure(results, (entry.name,), column, kind)
            lines.append(compare(f"{entry.name}: {words}", cost, able))
    return [line for line in lines if line is not None]


def plain_name(key: str) -> str:
    """Name of a method without the markup of the tables."""
    return METHODS[key].name.replace("*", "")


def number(value: float) -> str:
    """Three digits; a dash for what is not there."""
    if not np.isfinite(value):
        return "–"
    if value != 0 and (abs(value) >= 1000 or abs(value) < 0.001):
        return f"{value:.2g}" if abs(value) < 1 else f"{value:.0f}"
    return f"{value:.3g}"
