"""The command: choose what runs, run it, draw the page."""

from __future__ import annotations

import argparse
import functools
import os
import time
from pathlib import Path

from benchmarks.peers.catalogue import catalogue
from benchmarks.peers.methods import METHODS, versions
from benchmarks.peers.page import write_page
from benchmarks.peers.rows import forget, note_versions, read
from benchmarks.peers.runner import LIMIT, Plan, run

RESULTS = Path("benchmarks/results/peers")
OWN_SEEDS = 100
QUICK_PROBLEMS = {
    "example 4 (electricity)", "3 tones, even", "5 tones, gappy", "3 links, irregular",
    "4 tones, irregular, outliers", "ar1 noise, even", "double-mode Cepheid", "n = 1000",
    "n = 3000",
}  # fmt: skip
QUICK_EFFORT = 0.15
QUICK_NETWORKS = frozenset({"5 tones, gappy"})


def plan(
    *,
    quick: bool,
    data: Path | None,
    only: list[str],
    first_seed: int = 0,
    own_seeds: int = OWN_SEEDS,
) -> Plan:
    """Everything, or what ends within three minutes."""
    entries = catalogue(data)
    chosen = only or list(METHODS)
    if not quick:
        seeds = {"seeds": 5, "real_seeds": 3, "network_seeds": 5, "first_seed": first_seed}
        return Plan(entries, chosen, **seeds, limit=LIMIT, own_seeds=own_seeds)
    entries = [entry for entry in entries if entry.name in QUICK_PROBLEMS]
    few = {"seeds": 1, "real_seeds": 1, "network_seeds": 1}
    return Plan(
        entries,
        chosen,
        **few,
        limit=8.0,
        networks=QUICK_NETWORKS,
        glimpses=frozenset(),
        effort=QUICK_EFFORT,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=", ".join(METHODS))
    parser.add_argument("--quick", action="store_true", help="few problems, one seed")
    parser.add_argument("--out", type=Path, help=f"folder for the rows (default: {RESULTS})")
    parser.add_argument("--data", type=Path, help="folder with real series that are not shipped")
    parser.add_argument("--first-seed", type=int, default=0, help="of a full run; the page has 0")
    parser.add_argument("--own-seeds", type=int, default=OWN_SEEDS, help="of PeriodicMixture")
    parser.add_argument("--page-only", action="store_true", help="draw the page from the rows")
    parser.add_argument(
        "--again",
        action="store_true",
        help="forget the rows of the METHODs first; when interrupted, go on without it",
    )
    options = parser.parse_args(arguments)
    unknown = set(options.methods) - set(METHODS)
    if unknown:
        parser.error(f"unknown method {', '.join(sorted(unknown))}")
    out = options.out or (RESULTS / "quick" if options.quick else RESULTS)
    out.mkdir(parents=True, exist_ok=True)
    if options.again:
        needed = {row.problem for row in read(out / "rows.jsonl") if row.method in options.methods}
        if gone := needed - {entry.name for entry in catalogue(options.data)}:
            parser.error(f"rows of {', '.join(sorted(gone))} would be lost; give --data")
        forget(out / "rows.jsonl", options.methods)
    elif options.quick and not options.page_only:
        forget(out / "rows.jsonl", options.methods or METHODS)  # it shows what runs today
    start = time.perf_counter()
    if not options.page_only:
        chosen = plan(
            quick=options.quick,
            data=options.data,
            only=options.methods,
            first_seed=options.first_seed,
            own_seeds=options.own_seeds,
        )
        run(chosen, out / "rows.jsonl", say=functools.partial(print, flush=True))
        for key in chosen.methods:
            note_versions(out / "rows.jsonl", versions(METHODS[key]))
        minutes = (time.perf_counter() - start) / 60.0
        print(f"ran for {minutes:.1f} minutes, {sum(os.times()[:4]):.0f} s of the processor")
    # A quick run shows that everything works; the page in docs/ is drawn from full runs only.
    docs = Path("docs") if out == RESULTS else out / "page"
    print(f"wrote {write_page(out / 'rows.jsonl', docs)}")
    return 0
