"""The runner: every fit in a forked child, so that it can be timed, weighed and stopped.

A method is warmed up once in this process (imports, compilation), then each fit runs in a fork of
it. Peak memory is the growth of the child's peak resident set during the fit. Rows that are there
already are not made again.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import measures, rows
from benchmarks.peers.catalogue import (
    NETWORK_GLIMPSES,
    NETWORK_PROBLEMS,
    REAL,
    SIZE,
    SIZES,
    Entry,
)
from benchmarks.peers.method_interface import Fit, Hints, Method, NotApplicableError
from benchmarks.peers.methods import METHODS, versions
from benchmarks.peers.problems import Task
from benchmarks.peers.rows import OK, Row
from benchmarks.processes import TOO_LARGE, TOO_SLOW, in_child

UNEVEN = "needs even samples"
NOT_AGAIN = "not tried again"
LIMIT = 30.0  # processor seconds for one fit
WARM_UP = 200  # samples
WARM_UP_LIMIT = 120.0  # seconds


@dataclass(frozen=True)
class Plan:
    """What is to run.

    Attributes
    ----------
    entries : list of Entry
        Problems.
    methods : list of str
        Keys in `METHODS`.
    seeds, real_seeds, network_seeds : int
        Number of seeds; real series (whose seeds only move the held-out blocks) and networks get
        fewer.
    own_seeds : int
        Number of seeds of our own methods, which are the ones that change.
    limit : float
        Processor seconds after which a fit is stopped.
    networks : set of str
        Problems the networks run on with all their seeds.
    glimpses : set of str
        Problems the networks run on with the first seed only.
    effort : float
        Share of their steps that the networks take.
    first_seed : int
        The seeds are this one and those after it.
    """

    entries: list[Entry]
    methods: list[str]
    seeds: int
    real_seeds: int
    network_seeds: int
    limit: float
    networks: frozenset[str] = NETWORK_PROBLEMS
    glimpses: frozenset[str] = NETWORK_GLIMPSES
    effort: float = 1.0
    first_seed: int = 0
    own_seeds: int = 0


def run(plan: Plan, path: Path, say: Callable[[str], None] = print) -> list[Row]:
    """Run what is missing in the file of rows at `path` and return all its rows.

    Seed by seed, so that a run that is stopped early has whole rounds; the size curve comes last.
    """
    done = {row.key: row for row in rows.read(path)}
    trouble: dict[str, str] = {}
    for number, jobs in enumerate(_rounds(plan)):
        for key in plan.methods:
            method = METHODS[key]
            missing = [
                (entry, seed)
                for entry, seed in jobs
                if _runs_on(plan, method, entry, seed) and (entry.name, key, seed) not in done
            ]
            if not missing:
                continue
            if key not in trouble:
                trouble[key] = _missing(method) or _warm_up(method)
            start = time.perf_counter()
            for entry, seed in missing:
                known = [row for row in done.values() if row.method == key]
                row = _row(entry, key, method, seed, trouble[key], known, plan)
                rows.append(path, row)
                done[row.key] = row
            took = time.perf_counter() - start
            say(f"round {number}, {key}: {len(missing)} fits, {took:.0f} s {trouble[key]}")
    return list(done.values())


def _rounds(plan: Plan) -> Iterable[list[tuple[Entry, int]]]:
    """Problems and seeds, one seed at a time."""
    for seed in range(max(plan.seeds, plan.network_seeds, plan.own_seeds)):
        yield [(e, plan.first_seed + seed) for e in plan.entries if e.group != SIZE]
    # One seed says enough about seconds.
    yield [(e, plan.first_seed) for e in plan.entries if e.group == SIZE]


def _runs_on(plan: Plan, method: Method, entry: Entry, seed: int) -> bool:
    """Whether the plan has a method on a problem with a seed."""
    seeds = max(plan.seeds, plan.own_seeds) if method.budget == "own" else plan.seeds
    if method.budget == "subset":
        everywhere, once = entry.name in plan.networks, entry.name in plan.glimpses
        seeds = plan.network_seeds if everywhere else int(once)
    if entry.group == REAL:
        seeds = min(seeds, plan.real_seeds)
    return seed - plan.first_seed < seeds


def _missing(method: Method) -> str:
    lacking = [name for name in method.packages if name not in versions(method)]
    return f"not installed: {', '.join(lacking)}" if lacking else ""


def _row(
    entry: Entry,
    key: str,
    method: Method,
    seed: int,
    trouble: str,
    known: list[Row],
    plan: Plan,
) -> Row:
    """Make one row; a method too slow once on a problem or size is not tried on it again."""
    if trouble:
        return Row(entry.name, key, seed, trouble)
    if any(row.status in (TOO_SLOW, TOO_LARGE) and _no_easier(entry, row) for row in known):
        return Row(entry.name, key, seed, TOO_SLOW, note=NOT_AGAIN)
    task = entry.draw(seed)
    if method.even_only and not task.even:
        return Row(entry.name, key, seed, UNEVEN)
    task = replace(task, hints=replace(task.hints, effort=plan.effort))
    answer = in_child(lambda: judged(method, task), plan.limit)
    return Row(entry.name, key, seed, **answer)


def _no_easier(entry: Entry, row: Row) -> bool:
    """Whether the entry is the row's problem again or a larger one of the size curve."""
    if row.problem == entry.name:
        return True
    return entry.size is not None and row.problem in smaller(entry.size)


def smaller(size: int) -> set[str]:
    """Names of the problems of the size curve below `size`."""
    return {f"n = {other}" for other in SIZES if other < size}


def judged(method: Method, task: Task) -> dict[str, Any]:
    """Fit, measure and score; in the child."""
    before = _resident()
    start = _processor_seconds()
    try:
        fit = method.fit(task.t, task.y, task.hints)
    except NotApplicableError as reason:
        return {"status": str(reason)}
    seconds = _processor_seconds() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    # Prophet works in a program of its own.
    helper = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    scores = _scores(fit, task)
    return {
        "status": OK,
        **{name: value for name, value in scores.items() if np.isfinite(value)},
        "seconds": seconds,
        "megabytes": max(0.0, peak - before, helper) / 1e6,
        "note": fit.note,
    }


def _scores(fit: Fit, task: Task) -> dict[str, float]:
    measured = task.scored == "measured" or fit.function is None
    prediction = np.asarray((fit.predict if measured else fit.function)(task.t_test), np.float64)
    return {
        "error": measures.function_error(prediction, task),
        **measures.period_scores(fit, task),
    }


def _processor_seconds() -> float:
    """Time on the processor, of helpers too: with one thread it is wall time on an idle machine."""
    helpers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + helpers.ru_utime + helpers.ru_stime


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * resource.getpagesize()


def _warm_up(method: Method) -> str:
    """Fit a cosine, for imports and compilers; return what is wrong, if anything.

    Methods that take seconds on anything have a shorter `warm_up` of their own.
    """
    if method.warm_up is not None:
        method.warm_up()
        return ""
    t = np.linspace(0.0, 1.0, WARM_UP)
    y = np.cos(2 * np.pi * 5 * t) + 0.1 * np.random.default_rng(0).standard_normal(WARM_UP)
    hints = Hints(np.array([0.2]), 20.0, True, 20.0, "2010-01-01", span=1.0, lines=np.array([0.2]))

    def once() -> dict[str, Any]:
        method.fit(t, y, hints)
        return {"status": OK, "note": ""}

    # First in a child: compiled code that crashes must not take the run with it.
    answer = in_child(once, WARM_UP_LIMIT)
    if answer["status"] != OK:
        return f"fails on a cosine: {answer['note']}"
    once()
    return ""
