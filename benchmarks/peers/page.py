"""The page `docs/benchmarks.md`, drawn from rows and nothing else."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.forecasts import section as forecast_section
from benchmarks.peers.catalogue import (
    HARD,
    LINKED,
    MIXTURES,
    NOISE,
    NOTHING,
    PAPER,
    REAL,
    SIZE,
    Entry,
    catalogue,
)
from benchmarks.peers.comparisons import (
    LEVEL,
    LOSES,
    MARGIN,
    OURS,
    PERIOD_COLUMNS,
    WINS,
    Comparison,
    Results,
    duels,
    error_lines,
    is_privileged,
    number,
    period_lines,
    size_lines,
)
from benchmarks.peers.figures import draw
from benchmarks.peers.methods import METHODS
from benchmarks.peers.rows import OK, VERSIONS, Row, read
from benchmarks.peers.runner import LIMIT, NOT_AGAIN
from benchmarks.verdicts import markdown

NOT_SHIPPED = {
    "tide at Honolulu": "a year of hourly sea level, 2010, from the tests of the UTide project",
    "variable star": "600 nights from Whittaker and Robinson, The Calculus of Observations, 1924",
}

GROUPS = (PAPER, MIXTURES, LINKED, HARD, NOISE, REAL)
PERIOD_GROUPS = (MIXTURES, LINKED, HARD, NOISE)


def write_page(path: Path, docs: Path) -> Path:
    """Draw the page and its figures from the rows at `path` into the folder `docs`."""
    rows = read(path)
    entries = every_entry(rows)
    results = Results(of_shared_seeds(rows))
    docs.mkdir(parents=True, exist_ok=True)
    figures = draw(results, entries, docs / "figures" / "benchmarks")
    page = docs / "benchmarks.md"
    sections = [
        _introduction(rows, results, path, docs),
        *_sections(results, entries, [figure.name for figure in figures], Results(rows)),
    ]
    text = "\n\n".join(sections)
    page.write_text(text + "\n", encoding="utf-8")
    return page


def of_shared_seeds(rows: Sequence[Row]) -> list[Row]:
    """The rows of seeds that others have, too: ours have more, which have a table of their own."""
    shared = {row.seed for row in rows if not row.method.startswith("ours")}
    return [row for row in rows if row.seed in shared or not shared]


def every_entry(rows: Iterable[Row]) -> list[Entry]:
    """The catalogue with the real series that rows exist for, whether or not they are at hand."""
    known = catalogue()
    names = {entry.name for entry in known}
    extra = {row.problem: None for row in rows if row.problem not in names}
    return known + [Entry(name, REAL, _not_at_hand) for name in extra]


def _not_at_hand(seed: int) -> None:  # type: ignore[misc]
    raise RuntimeError(f"this series is not shipped (seed {seed})")


def comparisons(results: Results, entries: Sequence[Entry]) -> list[Comparison]:
    """Every line of the verdict table."""
    lines = error_lines(results, entries)
    for group in PERIOD_GROUPS:
        lines += period_lines(results, entries, group)
    return lines + size_lines(results, entries)


def _sections(
    results: Results, entries: list[Entry], figures: list[str], every_seed: Results
) -> Iterable[str]:
    lines = comparisons(results, entries)
    if "rivals.png" in figures:
        yield "![Our error over that of the best rival](figures/benchmarks/rivals.png)"
    yield _verdicts(lines)
    yield _duels(results, entries)
    yield "## Errors"
    yield (
        "Median over the seeds of ‖f̂ − f‖₂ / ‖f‖₂ against the noiseless truth, over the whole "
        "record with its gaps; on real series (and on example 4, whose truth is a real series) the "
        "root-mean-square error over the standard deviation. † is given what no user knows. A "
        "dash: not run on it, or not made for it (see the last table)."
    )
    for group in GROUPS:
        names = _names(results, entries, group)
        if names:
            yield f"### {_capital(group)}"
            yield _error_table(results, names)
    if "noise.png" in figures:
        yield "![Error, recall and precision against noise](figures/benchmarks/noise.png)"
    yield _period_section(results, entries)
    if own := _own_section(every_seed, results, entries):
        yield own
    yield _noise_section(results, entries)
    yield _cost_section(results, entries, figures)
    if forecasts := forecast_section():
        yield forecasts.rstrip()
    yield _trouble_section(results, entries)


def _introduction(rows: list[Row], results: Results, source: Path, docs: Path) -> str:
    counted = sum(row.status == OK for row in rows)
    extra = sorted({row.problem for row in rows} & set(NOT_SHIPPED))
    notes = [
        f"- *{_capital(name)}*: {NOT_SHIPPED[name]}; not shipped, given by `--data`."
        for name in extra
    ]
    template = Path(__file__).with_name("introduction.md").read_text(encoding="utf-8")
    return (
        template.format(
            methods=len(results.methods()),
            problems=len({row.problem for row in rows if not row.problem.startswith("n = ")}),
            seeds=len({row.seed for row in of_shared_seeds(rows)}),
            ended=counted,
            rest=len(rows) - counted,
            rows=os.path.relpath(source, docs),
            **_networks(rows),
            limit=LIMIT,
            extra="\n".join(notes),
            versions=_versions(source),
            machine=_machine(),
        )
        .replace("\n\n\n", "\n\n")
        .rstrip()
    )


def _machine() -> str:
    return f"{platform.system()}, {platform.machine()}, Python {platform.python_version()}."


def _networks(rows: list[Row]) -> dict[str, int]:
    """How many problems and seeds the networks have: most seeds on some, one on others."""
    seeds: dict[str, set[int]] = {}
    for row in rows:
        if METHODS[row.method].budget == "subset":
            seeds.setdefault(row.problem, set()).add(row.seed)
    most = max((len(each) for each in seeds.values()), default=0)
    often = sum(len(each) == most for each in seeds.values())
    return {
        "network_problems": often,
        "network_seeds": most,
        "glimpses": len(seeds) - often,
    }


def _versions(rows: Path) -> str:
    """Of the packages at the time that their rows were made."""
    kept = rows.with_name(VERSIONS)
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    return f"Versions: {', '.join(f'{name} {found[name]}' for name in sorted(found))}."


def _verdicts(lines: list[Comparison]) -> str:
    count = {word: sum(line.verdict == word for line in lines) for word in (WINS, LEVEL, LOSES)}
    table = markdown(
        ["case", "ours", "best rival", "", "ours / rival", "verdict", "privileged †"],
        (
            [line.case, number(line.ours), number(line.rival), line.rival_name,
             number(line.ours / line.rival) if line.rival else "–", line.verdict, _privileged(line)]
            for line in lines
        ),
    )  # fmt: skip
    words = (
        'Ours is `PeriodicMixture()` with defaults; *whole modes* is `frequencies="integer"`, '
        "which is given what the dictionaries are given. *Level* means within a factor of "
        f"{MARGIN:g} (shares: within 0.02) of the best rival on that line, which may differ from "
        "line to line: "
        f"{count[WINS]} lines won, {count[LEVEL]} level, {count[LOSES]} lost."
    )
    return f"## Verdicts\n\n{words}\n\n{table}"


def _privileged(line: Comparison) -> str:
    return f"{number(line.privileged)} ({line.privileged_name})" if line.privileged_name else ""


def _duels(results: Results, entries: Sequence[Entry]) -> str:
    body = [
        [_name(key), str(duel.wins), str(duel.level), str(duel.losses), number(duel.ratio)]
        for key, duel in duels(results, entries).items()
    ]
    return (
        "### Rival by rival\n\nProblems on which the median error of ours is smaller, level or "
        "larger, and the geometric mean of its ratio to the rival's, over the problems the rival "
        "ran on (without pure noise).\n\n"
        + markdown(["rival", "ours wins", "level", "ours loses", "ours / rival"], body)
    )


def _names(results: Results, entries: Sequence[Entry], group: str) -> list[str]:
    present = results.problems()
    return [entry.name for entry in entries if entry.group == group and entry.name in present]


def _by_method(
    results: Results, head: Sequence[str], cells: Callable[[str], Sequence[str] | None]
) -> str:
    """Return a table with a line for each method that has cells; empty without any."""
    lines = [(key, cells(key)) for key in results.methods()]
    body = [[_name(key), *line] for key, line in lines if line is not None]
    return markdown(["method", *head], body) if body else ""


def _error_table(results: Results, names: list[str]) -> str:
    best = {
        name: min(
            (
                results.median(name, key, "error")
                for key in results.methods()
                if not is_privileged(key)
            ),
            key=lambda value: value if np.isfinite(value) else np.inf,
        )
        for name in names
    }

    def cells(key: str) -> list[str] | None:
        values = [results.median(name, key, "error") for name in names]
        if not np.isfinite(values).any():
            return None
        return [_bold(value, best[name]) for value, name in zip(values, names, strict=True)]

    return _by_method(results, names, cells)


def _bold(value: float, best: float) -> str:
    text = number(value)
    return f"**{text}**" if np.isfinite(value) and value <= best * 1.02 else text


def _period_section(results: Results, entries: Sequence[Entry]) -> str:
    parts = ["## Periods"]
    head = "problems|periods|precision|recall|precision, 3 s.e.|recall, 3 s.e.|components right"
    columns = ("n_found", *PERIOD_COLUMNS, "own_3se")
    for group in PERIOD_GROUPS:
        names = _names(results, entries, group)

        def cells(key: str, names: list[str] = names) -> list[str] | None:
            on = [name for name in names if results.values(name, key, "recall")]
            means = [number(results.mean(on, key, column)) for column in columns]
            return [f"{len(on)} of {len(names)}", *means] if on else None

        if text := _by_method(results, [*head.split("|"), "own 3 s.e. hold"], cells):
            parts += [f"### {_capital(group)}", text]
    return "\n\n".join(parts)


def _own_section(results: Results, shared: Results, entries: Sequence[Entry]) -> str:
    """Ours on all its seeds, where it has more than those of the tables before."""
    names = [entry.name for entry in entries if entry.group not in (SIZE, REAL)]
    body = []
    for name in names:
        errors = results.values(name, OURS, "error")
        if len(errors) <= len(shared.values(name, OURS, "error")):
            continue
        found = [results.values(name, OURS, c) for c in ("recall", "components_right", "own_3se")]
        means = [number(float(np.mean(values))) if values else "–" for values in found]
        spread = [number(float(q)) for q in np.quantile(errors, [0.5, 0.05, 0.95])]
        body.append([name, str(len(errors)), spread[0], f"{spread[1]} to {spread[2]}", *means])
    if not body:
        return ""
    words = (
        "`PeriodicMixture()` alone, on all its seeds, of which the tables above have the first; "
        "errors and shares as there."
    )
    heads = ["problem", "seeds", "median error", "inner 90 %", "recall", "components right"]
    table = markdown([*heads, "own 3 s.e. hold"], body)
    return f"## Ours on more seeds\n\n{words}\n\n{table}"


def _noise_section(results: Results, entries: Sequence[Entry]) -> str:
    names = _names(results, entries, NOTHING)

    def cells(key: str) -> list[str] | None:
        there = any(results.values(name, key, "n_found") for name in names)
        return [number(results.mean([name], key, "n_found")) for name in names] if there else None

    words = "Periods reported per series of 1000 samples in which there is none."
    return f"## Pure noise\n\n{words}\n\n{_by_method(results, names, cells)}"


def _cost_section(results: Results, entries: Sequence[Entry], figures: list[str]) -> str:
    parts = ["## Seconds and memory"]
    if "size.png" in figures:
        parts.append("![Seconds and memory against size](figures/benchmarks/size.png)")
    sizes, groups = _names(results, entries, SIZE), (PAPER, MIXTURES, LINKED, HARD, REAL)

    def costs(key: str) -> list[str] | None:
        there = any(results.values(name, key, "seconds") for name in sizes)
        return [_cost(results, name, key) for name in sizes] if there else None

    def medians(key: str) -> list[str] | None:
        seconds = [
            [v for name in _names(results, entries, group)
             for v in results.values(name, key, "seconds")] for group in groups
        ]  # fmt: skip
        there = any(seconds)
        return [number(float(np.median(v)) if v else np.nan) for v in seconds] if there else None

    parts.append(
        "Seconds / megabytes, three tones at irregular times; the band of the dictionaries stays, "
        "periodograms search half a mode per sample, ours five (at most 50 000)."
    )
    parts.append(_by_method(results, sizes, costs))
    parts += _ends(results, sizes)
    parts += ["Median seconds by group:", _by_method(results, groups, medians)]
    return "\n\n".join(parts)


def _cost(results: Results, problem: str, key: str) -> str:
    seconds = results.median(problem, key, "seconds")
    if np.isfinite(seconds):
        return f"{number(seconds)} / {results.median(problem, key, 'megabytes'):.0f}"
    words = {"not tried" if row.note == NOT_AGAIN else row.note or row.status
             for row in results.rows(problem, key)}  # fmt: skip
    return ", ".join(sorted(words)) or "–"


def _ends(results: Results, sizes: Sequence[str]) -> list[str]:
    """Say where each curve of sizes ends, and why."""
    ends: dict[str, list[str]] = {}
    for key in results.methods():
        done = [i for i, name in enumerate(sizes) if results.values(name, key, "seconds")]
        if not done or done[-1] + 1 == len(sizes):
            continue
        here, after = sizes[done[-1]], sizes[done[-1] + 1]
        tried = [row.note or row.status for row in results.rows(after, key)]
        reason = f"{after}: {tried[0]}" if tried else f"{after} was not run"
        ends.setdefault(f"after {here} ({reason})", []).append(_name(key))
    if not ends:
        return []
    words = "; ".join(f"{', '.join(names)} {where}" for where, names in ends.items())
    return [f"Where they end: {words}."]


def _trouble_section(results: Results, entries: Sequence[Entry]) -> str:
    """What did not run, and why, in the words of the rows."""
    body = []
    for key in results.methods():
        reasons: dict[str, list[str]] = {}
        for entry in entries:
            for row in results.rows(entry.name, key):
                if row.status != OK and row.note != NOT_AGAIN:
                    detail = f"{row.status} ({row.note})" if row.note else row.status
                    where = reasons.setdefault(detail, [])
                    if entry.name not in where:
                        where.append(entry.name)
        hints = METHODS[key].hints
        if hints:
            body.append([_name(key), f"is given {hints}", "everywhere"])
        for reason, where in reasons.items():
            places = ", ".join(where) if len(where) <= 4 else f"{len(where)} problems"
            body.append([_name(key), reason.replace("|", "/").replace("\n", " "), places])
    return "## What did not run, and what was given\n\n" + markdown(["method", "", "where"], body)


def _name(key: str) -> str:
    name = METHODS[key].name
    return f"{name} †" if is_privileged(key) else name


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
