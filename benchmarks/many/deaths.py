"""Deaths at random moments: workers, scheduler and client, and what they cost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.many.cluster import Cluster
from benchmarks.verdicts import Verdict
from robustfourier import fit_many
from robustfourier.errors import WorkerError

QUICK = {"by": "sensor", "value": "level", "scale": "linear", "reports": "none"}


def small_series(count: int, seed: int) -> pd.DataFrame:
    """Daily values of two months, every other with a weekly pattern."""
    rng, frames = np.random.default_rng(seed), []
    day = np.arange(60.0)
    for i in range(count):
        level = rng.normal(size=60) + 3.0 * (i % 2) * np.cos(2 * np.pi * day / 7.3)
        frames.append(pd.DataFrame({"sensor": f"s{i:04d}", "day": day, "level": level}))
    return pd.concat(frames, ignore_index=True)


def tables(folder: Path) -> list[pd.DataFrame]:
    """Series and patterns of a survey without what depends on the clock."""
    series, patterns = (pd.read_parquet(folder / f"{n}.parquet") for n in ("series", "patterns"))
    return [series.drop(columns=["seconds", "key"]), patterns]


def same(one: Path, other: Path) -> bool:
    """Whether the surveys in two folders agree to the bit."""
    try:
        for a, b in zip(tables(one), tables(other), strict=True):
            pd.testing.assert_frame_equal(a, b, check_exact=True)
    except AssertionError as error:
        print(error)
        return False
    return True


def deaths(folder: Path, count: int, kills: int, seed: int) -> list[Verdict]:
    """Run all campaigns; `count` series each."""
    table = small_series(count, seed)
    serial = fit_many(table, out=folder / "serial", engine="serial", **QUICK)
    verdicts = [_engines(folder, table, serial)]
    verdicts += [_workers(folder, table, serial, seed), _chaos(folder, table, serial)]
    verdicts += [_scheduler(folder, table, serial), _client(folder, table, kills, seed)]
    return verdicts


def _engines(folder: Path, table: pd.DataFrame, serial: Any) -> Verdict:
    apart = fit_many(table, out=folder / "processes", jobs=2, **QUICK)
    with Cluster(folder / "cluster") as cluster:
        dask = fit_many(table, out=folder / "dask", engine="dask", address=cluster.address, **QUICK)
    equal = same(serial.folder, apart.folder) and same(serial.folder, dask.folder)
    words = f"{len(serial.series)} series " + ("equal" if equal else "differ")
    return Verdict("serial, processes, Dask", "equal to the bit", words, equal)


def _survived(case: str, serial: Any, survey: Any, killed: int) -> Verdict:
    whole = same(serial.folder, survey.folder) and not survey.series["id"].duplicated().any()
    right = int((survey.series["status"] == "ok").sum())
    words = f"{right} of {len(serial.series)} results, nothing twice, {killed} deaths"
    return Verdict(case, "all results, equal to an unbroken run", words, whole)


def _workers(folder: Path, table: pd.DataFrame, serial: Any, seed: int) -> Verdict:
    rng, stop, killed = random.Random(seed), threading.Event(), []
    with Cluster(folder / "killed-cluster") as cluster:

        def kill() -> None:
            while not stop.wait(rng.uniform(2.0, 8.0)):
                pid = rng.choice(cluster.worker_pids())
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        thread = threading.Thread(target=kill)
        thread.start()
        try:
            survey = fit_many(
                table, out=folder / "killed", engine="dask", address=cluster.address, **QUICK
            )
        finally:
            stop.set()
            thread.join()
    return _survived("workers killed at random moments", serial, survey, len(killed))


def _chaos(folder: Path, table: pd.DataFrame, serial: Any) -> Verdict:
    from distributed.chaos import KillWorker

    with Cluster(folder / "chaos-cluster") as cluster, cluster.client() as client:
        first = set(cluster.worker_pids())
        client.register_plugin(KillWorker("8 s", "segfault"))
        survey = fit_many(
            table, out=folder / "chaos", engine="dask", address=cluster.address, **QUICK
        )
        gone = len(first - set(cluster.worker_pids()))
    return _survived("distributed.chaos, segfaults", serial, survey, gone)


def _scheduler(folder: Path, table: pd.DataFrame, serial: Any) -> Verdict:
    with Cluster(folder / "lost-cluster") as cluster:

        def kill(progress: Any) -> None:
            if progress.done >= progress.total // 3 and cluster.scheduler.poll() is None:
                cluster.kill_scheduler()

        said = ""
        try:
            fit_many(
                table,
                out=folder / "lost",
                engine="dask",
                address=cluster.address,
                observe=kill,
                **QUICK,
            )
        except WorkerError as error:
            said = str(error)
    survey = fit_many(table, out=folder / "lost", engine="serial", **QUICK)
    verdict = _survived("scheduler killed, run again", serial, survey, 1)
    return verdict if said else Verdict(verdict.case, verdict.bar, "was not told", False)


def _client(folder: Path, table: pd.DataFrame, kills: int, seed: int) -> Verdict:
    rng, place = random.Random(seed), folder / "table.parquet"
    table.to_parquet(place)
    out = folder / "resumed"
    command = [sys.executable, "-m", "robustfourier.cli", "fit-many", str(place), "--by", "sensor"]
    command += ["--value", "level", "--scale", "linear", "--reports", "none", "-o", str(out)]
    died = 0
    for _ in range(kills):
        process = subprocess.Popen([*command, "--jobs", "2", "-q"])
        try:
            process.wait(timeout=rng.uniform(3.0, 12.0))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            died += 1
            time.sleep(0.2)
    subprocess.run([*command, "--jobs", "2", "-q"], check=True)
    equal = same(folder / "serial", out)
    words = f"{died} kills, {len(table['sensor'].unique())} series "
    words += "equal" if equal else "differ"
    return Verdict("client killed at random moments", "equal to an unbroken run", words, equal)
