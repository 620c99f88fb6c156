"""Processes killed at work: what they leave is the old result or the new one, whole.

A parent that has loaded everything forks a child for each attempt and kills it after a random part
of the time that the work usually takes. Then it looks at what is there.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

Check = Callable[[], str]  # "old", "new", or what is wrong


def run_kills(kind: str, seed: str, kills: int) -> dict[str, Any]:
    """Kill one kind of work so many times and count what was left."""
    rng = random.Random(seed)
    sums: dict[str, Any] = {"cases": kills, "kills": 0, "old": 0, "new": 0, "bad": 0, "found": []}
    with tempfile.TemporaryDirectory() as place:
        work, check = KINDS[kind](Path(place), rng)
        usual = _seconds(work)
        check()
        while sums["kills"] < kills:
            killed, seconds, trace = _killed(work, rng.uniform(0.0, 1.1 * usual))
            # Longer after each kill: on a machine that gets busier it would never come to an end.
            usual = 1.05 * usual if killed else 0.7 * usual + 0.3 * seconds
            outcome = trace or check()
            if killed or outcome not in ("old", "new"):
                sums["kills"] += 1
                sums[outcome if outcome in ("old", "new") else "bad"] += 1
            if outcome not in ("old", "new") and outcome not in sums["found"]:
                sums["found"].append(outcome)
    return sums


def _forked(work: Callable[[], None], errors: BinaryIO) -> int:
    child = os.fork()
    if child:
        return child
    code = 0
    try:
        os.setsid()  # so that its own workers can be killed with it
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(errors.fileno(), 2)
        work()
    except SystemExit as stop:
        code = int(stop.code not in (None, 0))
    except BaseException:
        os.write(2, traceback.format_exc().encode())
        code = 1
    os._exit(code)


def _trace(status: int, errors: BinaryIO) -> str:
    """What a child wrote that ended by itself with an error; "" if it ended well."""
    errors.seek(0)
    return f"it fails: {errors.read().decode(errors='replace')[-1500:]}" if status else ""


def _seconds(work: Callable[[], None]) -> float:
    with tempfile.TemporaryFile() as errors:
        start, child = time.perf_counter(), _forked(work, errors)
        if trace := _trace(os.waitpid(child, 0)[1], errors):
            sys.exit(f"without any kill {trace}")
        return time.perf_counter() - start


def _killed(work: Callable[[], None], after: float) -> tuple[bool, float, str]:
    """Whether a child was killed before its end, how long it took, and its trace if it failed."""
    with tempfile.TemporaryFile() as errors:
        start, child = time.perf_counter(), _forked(work, errors)
        while time.perf_counter() - start < after:
            time.sleep(min(0.002, after))
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                return False, time.perf_counter() - start, _trace(status, errors)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:  # before it had a group of its own
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    return os.WIFSIGNALED(status), time.perf_counter() - start, ""


def _table(path: Path, period: float, name: str, rows: int = 60) -> Path:
    t = np.arange(float(rows))
    y = np.sin(2.0 * np.pi * t / period) + 0.1 * np.random.default_rng(0).normal(size=rows)
    path.write_text(f"t,{name}\n" + "".join(f"{a},{b}\n" for a, b in zip(t, y, strict=True)))
    return path


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


# -- one result folder -----------------------------------------------------------------------


def _fit(place: Path, rng: random.Random) -> tuple[Callable[[], None], Check]:
    """`robustfourier fit --overwrite`, of one of two tables into one folder."""
    from robustfourier.cli import main
    from robustfourier.result_folders import RUN

    tables = [_table(place / "alpha.csv", 7.3, "alpha"), _table(place / "beta.csv", 5.1, "beta")]
    out, wanted = place / "results", [1]
    command = ["fit", "--overwrite", "--quiet", "--out"]
    references = []
    for i, table in enumerate(tables):
        reference = place / f"reference-{i}"
        _seconds(partial(main, [*command, str(reference), str(table)]))
        references.append(reference)
    shutil.copytree(references[0], out)
    (out / "notes.txt").write_text("mine")
    (out / "figures" / "mine.png").write_text("mine")

    def work() -> None:
        main([*command, str(out), str(tables[wanted[0]])])

    def check() -> str:
        run = RUN.read(out)
        if run is None:
            return "no record of a run"
        now = [t.name for t in tables].index(Path(run["input"]["file"]).name)
        told = _whole(out, references[now], run, ("alpha", "beta")[1 - now])
        if told:
            return told
        outcome = "new" if now == wanted[0] else "old"
        wanted[0] = rng.randrange(2) if now == wanted[0] else wanted[0]
        return outcome

    return work, check


def _whole(out: Path, reference: Path, run: dict[str, Any], other: str) -> str:
    """What is wrong with a result, compared with one that was not disturbed; "" if nothing."""
    ours = {str(p.relative_to(reference)) for p in reference.rglob("*") if p.is_file()}
    there = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
    if there != ours | {"notes.txt", "figures/mine.png"} or set(run["files"]) != ours:
        return f"files {sorted(there ^ ours)}"
    for name in sorted(ours - {"run.json", "report.html"}):  # which tell seconds
        if _digest(out / name) != _digest(reference / name):
            return f"{name} is torn or of another run"
    page = (out / "report.html").read_text(encoding="utf-8")
    if f">{other}<" in page or not page.rstrip().endswith("</html>"):
        return "report.html is torn or of another run"
    return ""


# -- one model file --------------------------------------------------------------------------


def _save(place: Path, rng: random.Random) -> tuple[Callable[[], None], Check]:
    """`model.save` of one of two models over the other."""
    from robustfourier import PeriodicMixture, load

    t = np.arange(100.0)
    models = [PeriodicMixture().fit(t, np.sin(2.0 * np.pi * t / p) + t % 2) for p in (7.3, 5.1)]
    path, wanted, contents = place / "folder" / "model.rfm", [1], []
    path.parent.mkdir()
    for model in (models[1], models[0]):
        model.save(path)
        contents.insert(0, path.read_bytes())

    def work() -> None:
        models[wanted[0]].save(path)

    def check() -> str:
        content = path.read_bytes() if path.exists() else b""
        if content not in contents:
            return "the model file is torn"
        load(path)
        if len(list(path.parent.iterdir())) > 2:
            return "more than one temporary file is left"
        now = contents.index(content)
        outcome = "new" if now == wanted[0] else "old"
        wanted[0] = rng.randrange(2) if outcome == "new" else wanted[0]
        return outcome

    return work, check


# -- runs that go on -------------------------------------------------------------------------


def _resumed(
    out: Path, work: Callable[[], None], rows: Callable[[Path], Any], reference: Path
) -> tuple[Callable[[], None], Check]:
    """A run that is killed and goes on until it is done: then its rows are those undisturbed.

    Before its end a part of the rows may be there, each whole ("old"); at its end all ("new").
    """
    whole = rows(reference)

    def check() -> str:
        try:
            now = rows(out)
        except Exception as error:  # whatever a torn file leads to
            return f"rows cannot be read: {type(error).__name__}: {error}"
        if any(whole.get(key) != row for key, row in now.items()):
            return "a row is torn or another"
        if len(now) < len(whole):
            return "old"
        shutil.rmtree(out)
        return "new"

    return work, check


def _reproduce(place: Path, rng: random.Random) -> tuple[Callable[[], None], Check]:  # noqa: ARG001
    """`python -m paper theory --quick`, killed and resumed until it is done."""
    import csv

    from paper.reproduction import reproduce

    def rows(folder: Path) -> dict[str, Any]:
        path = folder / "theory_quick.csv"
        with path.open(encoding="utf-8") if path.exists() else open(os.devnull) as file:
            told = {row["key"]: {k: v for k, v in row.items() if "seconds" not in k}
                    for row in csv.DictReader(file)}  # fmt: skip
        return told

    run = partial(reproduce, ["theory"], quick=True, jobs=1)
    _seconds(lambda: run(out=place / "reference"))
    return _resumed(place / "out", lambda: run(out=place / "out"), rows, place / "reference")


def _many(place: Path, rng: random.Random) -> tuple[Callable[[], None], Check]:  # noqa: ARG001
    """`fit_many` of twenty series, killed and resumed until it is done."""
    import pandas as pd

    from robustfourier.many import fit_many

    source = place / "series"
    source.mkdir()
    for i in range(20):
        _table(source / f"s{i:02}.csv", 4.0 + i / 3.0, "v")

    def rows(folder: Path) -> dict[str, Any]:
        path = folder / "patterns.parquet"
        table = pd.read_parquet(path) if path.exists() else pd.DataFrame()
        return {str(i): row for i, row in enumerate(table.astype(str).to_dict("records"))}

    files = sorted(map(str, source.iterdir()))
    run = partial(fit_many, files, engine="serial", reports="none")
    _seconds(lambda: _ignored(run(out=place / "reference")))
    out = place / "out"
    return _resumed(out, lambda: _ignored(run(out=out)), rows, place / "reference")


def _over(place: Path, rng: random.Random) -> tuple[Callable[[], None], Check]:
    """`fit_many(overwrite=True)` of the same files with one of two levels, into one folder."""
    import json

    import pandas as pd

    from robustfourier.many import fit_many

    files = [str(_table(place / f"s{i}.csv", 4.0 + i, "v")) for i in range(4)]
    out, wanted, levels = place / "out", [1], (0.01, 0.2)
    run = partial(fit_many, files, engine="serial", out=out, overwrite=True)
    _seconds(lambda: _ignored(run(false_alarm=levels[0])))
    (out / "reports" / "mine.txt").write_text("mine")

    def check() -> str:
        record = json.loads((out / "survey.json").read_text(encoding="utf-8"))
        now = levels.index(record["identity"]["parameters"]["false_alarm"])
        pages = pd.read_parquet(out / "series.parquet")["report"]
        linked = (out / "index" / "columns.js").read_text(encoding="utf-8")
        there = {str(p.relative_to(out)) for p in out.rglob("*") if p.is_file()}
        if there != {*record["files"], "reports/mine.txt"}:
            return f"files {sorted(there ^ {*record['files']})[:3]}"
        if not all((out / page).exists() and page in linked for page in pages):
            return "tables, index and pages are of two surveys"
        outcome = "new" if now == wanted[0] else "old"
        wanted[0] = rng.randrange(2) if outcome == "new" else wanted[0]
        return outcome

    return lambda: _ignored(run(false_alarm=levels[wanted[0]])), check


def _ignored(_: object) -> None:
    """A work returns nothing."""


def _app(place: Path, rng: random.Random) -> tuple[Callable[[], None], Check]:
    """A fit ordered in the app, whose server is killed and started again."""
    from benchmarks.faults.app_kills import app_work

    tables = [_table(place / "alpha.csv", 7.3, "alpha"), _table(place / "beta.csv", 5.1, "beta")]
    return app_work(place, tables, rng)


KINDS = {
    "fit": _fit,
    "save": _save,
    "reproduce": _reproduce,
    "many series": _many,
    "survey over another": _over,
    "app": _app,
}
