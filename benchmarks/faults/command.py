"""The command: plan the pieces, run those that are missing, print the table, write the page.

Every piece runs in a process of its own and leaves one line in ``rows.jsonl``; an interrupted run
goes on with the pieces that have none.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.faults.cases import Case

ROOT = Path(__file__).parents[2]
#: Parts of all cases, cases of one piece, and the class that runs them. A thousand tables, model
#: files or checkpoints take a second, and so do 30 survey folders or 60 arrays: a million of this
#: mixture take 45 minutes.
TARGETS = {
    "tables": (0.30, 10_000, "tables:Tables"),
    "model files": (0.25, 25_000, "containers:Models"),
    "checkpoints": (0.20, 25_000, "containers:Checkpoints"),
    "checkpoints of passes": (0.04, 4_000, "passes:LargeCheckpoints"),
    "survey folders": (0.02, 1_000, "folders:Surveys"),
    "app records": (0.12, 10_000, "folders:AppRecords"),
    "arrays": (0.02, 1_000, "arrays:OddArrays"),
    "command lines": (0.05, 5_000, "command_lines:CommandLines"),
}
#: Parts of all kills.
KILLED = {
    "fit": 0.2,
    "save": 0.4,
    "reproduce": 0.05,
    "many series": 0.15,
    "survey over another": 0.1,
    "app": 0.1,
}
KILLS = 25  # of one piece
MEMORY = 4 * 2**30  # bytes of address space that a piece may take beyond what it starts with


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; the exit code is 0 when nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000, help="fuzz cases in all")
    parser.add_argument("--kills", type=int, default=500, help="processes killed in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=[*TARGETS, *KILLED], help="some of the parts")
    parser.add_argument("--pieces", type=int, default=10**9, help="run no more than so many now")
    parser.add_argument("--out", type=Path, default=Path("out/faults"))
    parser.add_argument("--page", type=Path, help="write the figures into this page")
    parser.add_argument("--replay", type=Path, help="run one case that was found, and nothing else")
    parser.add_argument(
        "--piece", nargs=3, metavar=("NAME", "INDEX", "SIZE"), help=argparse.SUPPRESS
    )
    options = parser.parse_args(arguments)
    if options.replay:
        return _replay(options.replay)
    if options.piece:
        name, index, size = options.piece
        print(json.dumps(run_piece(name, options.seed, int(index), int(size), options.out)))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    _run_missing(options)
    from benchmarks.faults.page import table, write_page

    rows = read_rows(options.out)
    print(table(rows))
    if options.page:
        write_page(rows, options.page)
    return int(any(row.get("bad") for row in rows))


def plan(cases: int, kills: int) -> list[tuple[str, int, int]]:
    """Return name, index and size of all pieces, the targets in turn."""
    pieces = []
    for whole, parts in (
        (cases, {name: (part, size) for name, (part, size, _) in TARGETS.items()}),
        (kills, {name: (part, KILLS) for name, part in KILLED.items()}),
    ):
        for name, (part, size) in parts.items():
            left, index = round(whole * part), 0
            while left > 0:
                pieces.append((name, index, min(left, size)))
                left, index = left - size, index + 1
    return sorted(pieces, key=lambda piece: piece[1])


def read_rows(out: Path) -> list[dict[str, Any]]:
    """Return the figures of all pieces that were run."""
    path = out / "rows.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def _run_missing(options: argparse.Namespace) -> None:
    done = {(row["name"], row["seed"], row["index"]) for row in read_rows(options.out)}
    pieces = [
        piece
        for piece in plan(options.cases, options.kills)
        if (not options.only or piece[0] in options.only)
        and (piece[0], options.seed, piece[1]) not in done
    ]
    for name, index, size in pieces[: options.pieces]:
        command = [sys.executable, "-m", "benchmarks.faults", "--seed", str(options.seed)]
        command += ["--out", str(options.out), "--piece", name, str(index), str(size)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        row = {"name": name, "seed": options.seed, "index": index}
        if ended.returncode:  # the process itself broke down: that is a find too
            why = f"code {ended.returncode}: {ended.stderr[-1500:]}"
            row |= {"target": name, "cases": size, "bad": 1, "found": [why]}
        else:
            row |= json.loads(ended.stdout.splitlines()[-1])
        with (options.out / "rows.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        told = f"bad {row['bad']}: {row['found']}" if row["bad"] else "clean"
        print(f"{name} {index}: {row['cases']} cases, {told}", flush=True)


def run_piece(name: str, seed: int, index: int, size: int, out: Path) -> dict[str, Any]:
    """Run one piece in this process and return its figures."""
    if name in KILLED:
        from benchmarks.faults.kills import run_kills

        return run_kills(name, f"{seed}/{name}/{index}", size)
    from benchmarks.faults.fuzz import run_piece as run

    chosen = target(name)  # what it fits and compiles is not limited
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    kept, found = out / "kept" / name.replace(" ", "-"), out / "found"
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        count = run(chosen, f"{seed}/{name}/{index}", size, Path(place), kept, found)
    bad = count.foreign + count.hangs + count.wrong
    return {**count.record(), "bad": bad, "seconds": round(time.process_time())}


def target(name: str) -> Any:
    """Return one of the targets by its name."""
    module, cls = TARGETS[name][2].split(":")
    return getattr(import_module(f"benchmarks.faults.{module}"), cls)()


def _replay(path: Path) -> int:
    name, case = Case.load(path)
    with tempfile.TemporaryDirectory() as place:
        print(case.options, case.content[:2000], sep="\n")
        print("read" if target(name).run(case, Path(place)) else "refused")
    return 0
