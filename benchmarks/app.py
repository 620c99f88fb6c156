"""The app's figures: first picture, cost of watching, many jobs at once, memory when idle.

``python -m benchmarks app``. Seconds are wall time of this machine as it is; the cost of watching
is a ratio of processor times within one run.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import numpy as np
import psutil

from benchmarks.verdicts import Verdict
from robustfourier import PeriodicMixture
from robustfourier.app.progress_frames import Frames
from robustfourier.observers import observed_by

ROWS = 10_000


class App:
    """A server as a user starts it, asked as its page asks it."""

    def __init__(self, folder: str) -> None:
        command = [sys.executable, "-m", "robustfourier.cli", "app", "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--folder", folder], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        found = re.search(r"http://(\S+)/\?token=(\S+)", self.process.stdout.readline())
        if found is None:
            raise RuntimeError("the app did not print its address")
        self.host, token = found.groups()
        with urllib.request.urlopen(f"http://{self.host}/?token={token}", timeout=60) as answer:
            self.token = answer.headers["set-cookie"].partition("=")[2].partition(";")[0]

    def fresh_address(self) -> str:
        """The address that opens the next session; one is printed whenever the last was taken."""
        assert self.process.stdout is not None
        while not (found := re.search(r"http://\S+", self.process.stdout.readline())):
            pass
        return found[0]

    def __enter__(self) -> App:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def open(self, path: str, body: bytes | None = None) -> Any:
        """Return an answer to be read."""
        request = urllib.request.Request(
            f"http://{self.host}{path}", body, {"x-session": self.token}
        )
        return urllib.request.urlopen(request, timeout=60)

    def ask(self, path: str, body: bytes | None = None) -> Any:
        """Return the content of an answer."""
        with self.open(path, body) as answer:
            return json.load(answer)

    def begin(self, content: bytes, name: str = "record.csv") -> str:
        """Drop a file and return the id of its fit."""
        file = self.ask(f"/api/files?name={name}", content)["id"]
        return str(self.ask(f"/api/files/{file}/fits", b"{}")["id"])

    def states(self) -> list[str]:
        """Return the states of all fits, in the order of their files."""
        return [fit["state"] for file in self.ask("/api/state")["files"] for fit in file["fits"]]

    def busy(self) -> bool:
        """Whether a fit runs or waits."""
        return any(state in ("queued", "running") for state in self.states())

    def memory(self) -> tuple[float, float]:
        """Megabytes of the server and of its processes."""
        server = psutil.Process(self.process.pid)
        workers = sum(child.memory_info().rss for child in server.children())
        return server.memory_info().rss / 1e6, workers / 1e6

    def warm(self) -> None:
        """Open the page, and wait until a worker is ready."""
        with self.open("/") as answer:
            answer.read()
        server = psutil.Process(self.process.pid)
        while not server.children():
            time.sleep(0.1)
        worker, before = server.children()[0], -1.0
        while (now := sum(worker.cpu_times()[:2])) != before:  # at rest: it waits for an order
            before = now
            time.sleep(1.5)


@contextmanager
def running() -> Iterator[App]:
    with tempfile.TemporaryDirectory() as folder, App(folder) as app:
        yield app


def record(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0.0, 1000.0, rows))
    return t, 2.0 * (t / 7.0 % 1.0) + np.cos(2 * np.pi * t / 3.1) + 0.5 * rng.normal(size=rows)


def as_csv(t: np.ndarray, y: np.ndarray) -> bytes:
    return (
        "t,y\n" + "\n".join(f"{a!r},{b!r}" for a, b in zip(t.tolist(), y.tolist(), strict=True))
    ).encode()


def first_picture(app: App, seed: int) -> tuple[float, float]:
    """Seconds, and those of the processor, from the upload to the first frame with weights."""
    app.warm()
    (worker,) = psutil.Process(app.process.pid).children()
    content = as_csv(*record(ROWS, seed))
    start, before = time.perf_counter(), sum(worker.cpu_times()[:2])
    fit = app.begin(content)
    with app.open(f"/api/jobs/{fit}/events") as events:
        while b'"t":"weights"' not in events.readline():
            pass
    seconds, work = time.perf_counter() - start, sum(worker.cpu_times()[:2]) - before
    while app.busy():
        time.sleep(0.2)
    return seconds, work


def cost_of_watching(seed: int) -> float:
    """Processor time of a fit that is watched over that of one that is not."""
    t, y = record(3000, seed)

    def seconds(watched: bool) -> float:
        frames: list[str] = []
        start = time.process_time()
        if watched:
            with observed_by(Frames(lambda frame: frames.append(json.dumps(frame)))):
                PeriodicMixture().fit(t, y)
        else:
            PeriodicMixture().fit(t, y)
        return time.process_time() - start

    seconds(True)
    pairs = [(seconds(True), seconds(False)) for _ in range(5)]
    return median(a for a, _ in pairs) / median(b for _, b in pairs)


def main(quick: bool = False) -> list[Verdict]:
    seeds = range(10_000, 10_001 if quick else 10_003)
    jobs = 4 if quick else 20
    verdicts = []
    with running() as app:
        server, _ = app.memory()
        pictures = [first_picture(app, seed) for seed in seeds]
        app.warm()
        later, worker = app.memory()
        small = as_csv(*record(400, 10_000))
        start = time.perf_counter()
        for _ in range(jobs):
            app.begin(small)
        while app.busy():
            time.sleep(0.5)
        seconds, done = time.perf_counter() - start, app.states()[-jobs:].count("done")
    load = psutil.getloadavg()[0]
    wall, work = (median(column) for column in zip(*pictures, strict=True))
    verdicts.append(
        Verdict(
            f"first picture of the diagonal after dropping {ROWS:,} rows, by the processor",
            "≤ 1 s",
            f"median {work:.2f} s of the worker's processor, {wall:.2f} s by the clock at a load "
            f"of {load:.1f} on {psutil.cpu_count()} cores",
            work <= 1.0,
        )
    )
    costs = [cost_of_watching(seed) for seed in seeds]
    verdicts.append(
        Verdict(
            "processor time of a fit that streams its frames, over one that nobody watches",
            "≤ 1.10",
            f"median {median(costs):.3f}",
            median(costs) <= 1.10,
        )
    )
    verdicts.append(
        Verdict(f"{jobs} jobs at once", "all end", f"{done} done in {seconds:.0f} s", done == jobs)
    )
    verdicts.append(
        Verdict(
            "memory when idle",
            "reported",
            f"server {server:.0f} MB at the start, {later:.0f} MB after fits; a ready worker "
            f"{worker:.0f} MB, let go after ten minutes",
            None,
        )
    )
    return verdicts
