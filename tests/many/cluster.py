"""A Dask cluster of separate processes on this machine: a scheduler and workers, by address."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_QUIET = {
    "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "0.95",
    "OMP_NUM_THREADS": "1",
}


class Cluster:
    """A scheduler and its workers, started as a user would.

    Parameters
    ----------
    folder : Path
        For the scheduler's file and the logs.
    workers : int
    environment : dict, optional
        Further variables of all processes.
    """

    def __init__(
        self, folder: Path, workers: int = 2, environment: dict[str, str] | None = None
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, **_QUIET, **(environment or {})}
        self.processes: list[subprocess.Popen[bytes]] = []
        self.start_scheduler()
        for _ in range(workers):
            self.start_worker()

    def start_scheduler(self) -> None:
        """Start a scheduler and wait for its address."""
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        self.scheduler = self._run("scheduler", "--port", "0", "--no-dashboard", file=file)
        deadline = time.monotonic() + 120.0
        while time.monotonic() < deadline:
            try:
                self.address = str(json.loads(file.read_text())["address"])
                return
            except (OSError, ValueError):
                time.sleep(0.05)
        raise TimeoutError("no scheduler within two minutes")

    def start_worker(self, *options: str) -> None:
        """Start a worker of one thread under a nanny, which starts another when it dies."""
        at = ("--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        self._run("worker", *at, *options, file=self.folder / "scheduler.json")

    def _run(self, kind: str, *options: str, file: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(file), *options]
        with (self.folder / f"{kind}.log").open("ab") as log:
            process = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        self.processes.append(process)
        return process

    def client(self) -> Any:
        """A client of our own, to ask the cluster who works for it."""
        from distributed import Client

        return Client(self.address, set_as_default=False, timeout=60)

    def worker_pids(self) -> list[int]:
        """Process ids of the workers, which change when they die."""
        with self.client() as client:
            client.wait_for_workers(1, timeout=120)
            return list(client.run(os.getpid, on_error="ignore").values())

    def kill_scheduler(self) -> None:
        """Kill the scheduler at once."""
        self.scheduler.kill()
        self.scheduler.wait()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        for process in self.processes:
            process.wait()
