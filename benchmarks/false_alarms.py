"""False alarms: how often noise without any period is said to have one.

``python -m benchmarks.false_alarms`` draws eight kinds of noise (see `noises`) at n = 60, 200 and
1000 samples on an even grid, at irregular times and in nights, and counts the draws in which
`PeriodicMixture()` reports a pattern. Each cell may be wrong in 1 % of its draws, two standard
errors of the count allowed. ``--cells '60/hump/*,*/white/even'`` runs a part of the table.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from zlib import crc32

import numpy as np

from benchmarks.noises import KINDS, SAMPLINGS
from benchmarks.processes import spread
from benchmarks.rows import write
from benchmarks.verdicts import Verdict, fresh_start, judged, markdown, print_verdicts
from robustfourier import PeriodicMixture

SIZES, LEVEL = (60, 200, 1000), 0.01


@dataclass(frozen=True)
class Cell:
    """One cell of the table: samples, kind of noise, sampling."""

    n: int
    kind: str
    sampling: str

    @property
    def name(self) -> str:
        """As it is asked for."""
        return f"{self.n}/{self.kind}/{self.sampling}"


@dataclass(frozen=True)
class Count:
    """What came out of one cell.

    Parameters
    ----------
    cell : Cell
    draws, wrong, failed : int
        Draws, those in which a period was reported, and those in which the fit raised an error.
    seconds : float
        Of the processor, per fit.
    first : int
        The first seed.
    """

    cell: Cell
    draws: int
    wrong: int
    failed: int
    seconds: float
    first: int


CELLS = tuple(Cell(*cell) for cell in product(SIZES, KINDS, SAMPLINGS))


def patterns(cell: Cell, seed: int) -> int:
    """Return the number of patterns reported in one draw."""
    rng = np.random.default_rng([seed, crc32(cell.name.encode())])
    t = SAMPLINGS[cell.sampling](rng, cell.n)
    y = KINDS[cell.kind](rng, t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the fit's own; what matters is in its notes
        return len(PeriodicMixture().fit(t, y).components_)


def count(cell: Cell, first: int, draws: int) -> Count:
    """Draw a cell; a fit that fails is counted beside those that are wrong."""
    start, wrong, failed = time.process_time(), 0, 0
    for seed in range(first, first + draws):
        try:
            wrong += patterns(cell, seed) > 0
        except Exception:
            failed += 1
    return Count(cell, draws, wrong, failed, (time.process_time() - start) / draws, first)


def run(cells: Sequence[Cell], first: int, draws: int, jobs: int = 1) -> Iterator[Count]:
    """Count all cells, on several processes if asked."""
    return spread(count, [(cell, first, draws) for cell in cells], jobs)


def allowed(draws: int) -> float:
    """Return the bar: the level and two standard errors of a count of that level."""
    return LEVEL + 2.0 * float(np.sqrt(LEVEL * (1.0 - LEVEL) / draws))


def table(counts: Sequence[Count]) -> str:
    """One line per noise and sampling, one column per size; bold where the bar is missed."""
    sizes = sorted({one.cell.n for one in counts})
    found = {(one.cell.kind, one.cell.sampling, one.cell.n): one for one in counts}

    def written(kind: str, sampling: str, n: int) -> str:
        one = found.get((kind, sampling, n))
        if one is None:
            return "–"
        text = f"{one.wrong} of {one.draws}" + (f", {one.failed} failed" if one.failed else "")
        missed = one.wrong / one.draws > allowed(one.draws) or one.failed
        return f"**{text}**" if missed else text

    rows = [
        (kind, sampling, *(written(kind, sampling, n) for n in sizes))
        for kind, sampling in dict.fromkeys((o.cell.kind, o.cell.sampling) for o in counts)
    ]
    return markdown(("noise", "sampling", *(f"n = {n}" for n in sizes)), rows)


def verdicts(counts: Sequence[Count]) -> list[Verdict]:
    """Each cell at its level, all cells of a kind together, and all in all."""
    groups = {kind: [o for o in counts if o.cell.kind == kind] for kind in KINDS}
    groups["all"] = list(counts)
    judgements = []
    for name, mine in groups.items():
        if not mine:
            continue
        draws, wrong = sum(o.draws for o in mine), sum(o.wrong + o.failed for o in mine)
        over = [o.cell.name for o in mine if (o.wrong + o.failed) / o.draws > allowed(o.draws)]
        measured = f"{wrong} of {draws} ({wrong / draws:.2%})"
        measured += f"; above in {', '.join(over)}" if over and name != "all" else ""
        bar = f"≤ {allowed(draws):.2%}: 1 % and two standard errors"
        judgements.append(
            Verdict(name, bar, measured, judged(wrong / draws <= allowed(draws), draws))
        )
    return judgements


def main(quick: bool = False) -> list[Verdict]:
    """Count false alarms as a suite of ``python -m benchmarks``."""
    cells = [cell for cell in CELLS if not quick or cell.n == 60]
    counts = list(run(cells, 1000, 2 if quick else 100))
    print(table(counts))
    return verdicts(counts)


def command(arguments: list[str] | None = None) -> int:
    """Run a part of the table or all; the exit code is 0 when no bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.false_alarms", description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="of each cell (default: 200)")
    parser.add_argument("--start", type=int, help="first seed (default: a fresh one)")
    parser.add_argument("--cells", default="*", help="such as 60/hump/*,*/white/even; default: all")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--json", type=Path, help="file for one JSON object per cell and line")
    options = parser.parse_args(arguments)
    wanted = options.cells.split(",")
    cells = [cell for cell in CELLS if any(fnmatchcase(cell.name, text) for text in wanted)]
    if not cells:
        names = f"{SIZES} / {', '.join(KINDS)} / {', '.join(SAMPLINGS)}"
        parser.error(f"--cells {options.cells!r} names no cell; they are n/noise/sampling: {names}")
    first = fresh_start() if options.start is None else options.start
    print(f"seeds from {first}", flush=True)
    counts = []
    for one in run(cells, first, options.draws, options.jobs):
        counts.append(one)
        print(f"{one.cell.name}: {one.wrong} of {one.draws}, {one.failed} failed, "
              f"{one.seconds:.2f} s", flush=True)  # fmt: skip
        write(options.json, [asdict(one.cell) | asdict(one) for one in counts])
    print("\n" + table(counts))
    return print_verdicts("Verdicts", verdicts(counts))


if __name__ == "__main__":
    sys.exit(command())
