import os
import re
import signal
from dataclasses import dataclass

import pytest

from paper.result_store import ResultStore, run_tasks
from robustfourier.errors import WorkerError


@dataclass(frozen=True)
class Numbered:
    number: int

    @property
    def key(self):
        return f"task-{self.number}"


def work(task):
    if task.number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"key": task.key}, {}


def test_a_killed_worker_is_reported_and_costs_no_finished_task(tmp_path):
    store = ResultStore(tmp_path, "tasks", ("key",))
    run_tasks([Numbered(0)], work, store, jobs=1)
    with pytest.raises(WorkerError, match=re.escape("a worker process was ended from outside")):
        run_tasks([Numbered(n) for n in range(3)], work, store, jobs=2)
    assert "task-0" in store.rows()
    run_tasks([Numbered(0), Numbered(2)], work, store, jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"tasks", "tasks.csv"}
