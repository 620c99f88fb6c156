import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from paper.network_runs import COLUMNS, run_trial
from paper.result_store import ResultStore, run_tasks
from paper.tests.toys import toy_trials
from robustfourier.errors import DataError, InputError, OutputError, RunLockedError

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Square:
    number: int

    @property
    def key(self):
        return f"square-{self.number}"


def square(task):
    return {"key": task.key, "value": task.number**2}, {"x": np.arange(task.number)}


def squares(folder):
    return ResultStore(folder, "squares", ("key", "value"))


TASKS = [Square(n) for n in range(6)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_gets_one_row_and_its_curves(tmp_path, jobs):
    store = squares(tmp_path)
    run_tasks(TASKS, square, store, jobs=jobs)
    rows = {key: row["value"] for key, row in store.rows().items()}
    assert rows == {task.key: str(task.number**2) for task in TASKS}
    assert len(store.rows()) == 6
    np.testing.assert_array_equal(store.curves("square-3")["x"], [0, 1, 2])


def test_finished_tasks_are_not_run_again(tmp_path):
    store, run = squares(tmp_path), []

    def counted(task):
        run.append(task.number)
        return square(task)

    run_tasks(TASKS[:4], counted, store, jobs=1)
    run_tasks(TASKS, counted, store, jobs=1)
    assert run == [0, 1, 2, 3, 4, 5]


def test_kept_results_are_small_files_that_count_as_done(tmp_path):
    first = squares(tmp_path / "first")
    run_tasks(TASKS[:4], square, first, jobs=1)
    first.keep(tmp_path / "kept", [task.key for task in reversed(TASKS[1:])])
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert names == ["squares.csv", "squares.curves.gz"]
    store = ResultStore(tmp_path / "next", "squares", ("key", "value"), tmp_path / "kept")
    assert list(store.rows()) == ["square-3", "square-2", "square-1"]
    run = []

    def counted(task):
        run.append(task.number)
        return square(task)

    run_tasks(TASKS, counted, store, jobs=1)
    assert run == [0, 4, 5]
    for task in TASKS:
        np.testing.assert_array_equal(store.curves(task.key)["x"], np.arange(task.number))
    before = [path.read_bytes() for path in sorted((tmp_path / "kept").iterdir())]
    store.keep(tmp_path / "again", [task.key for task in reversed(TASKS[1:4])])
    assert [path.read_bytes() for path in sorted((tmp_path / "again").iterdir())] == before


def test_kept_rows_of_another_format_are_refused_by_name(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "squares.csv").write_text("key,worth\nsquare-1,1\n")
    store = ResultStore(tmp_path, "squares", ("key", "value"), tmp_path / "kept")
    with pytest.raises(DataError, match=r"kept.squares\.csv: its columns"):
        run_tasks(TASKS, square, store, jobs=1)


def test_a_failing_task_keeps_what_was_done_before(tmp_path):
    store = squares(tmp_path)

    def fails_at_three(task):
        if task.number == 3:
            raise ZeroDivisionError
        return square(task)

    with pytest.raises(ZeroDivisionError):
        run_tasks(TASKS, fails_at_three, store, jobs=1)
    assert [row["value"] for row in store.rows().values()] == ["0", "1", "4"]


def test_a_torn_last_line_is_cut_off_and_its_task_run_again(tmp_path):
    store = squares(tmp_path)
    run_tasks(TASKS[:3], square, store, jobs=1)
    whole = store.rows_file.read_bytes()
    store.rows_file.write_bytes(whole[:-3])
    assert len(store.rows()) == 2
    run_tasks(TASKS[:3], square, store, jobs=1)
    assert store.rows_file.read_bytes() == whole


def test_two_runs_in_one_folder_are_refused_and_the_lock_ends_with_the_run(tmp_path):
    store = squares(tmp_path)
    with (
        store.locked(),
        pytest.raises(RunLockedError, match=re.escape("another run is using this folder")),
    ):
        run_tasks(TASKS, square, squares(tmp_path), jobs=1)
    run_tasks(TASKS, square, store, jobs=1)
    assert len(store.rows()) == 6


def test_progress_is_reported_line_by_line(tmp_path):
    lines = []
    run_tasks(TASKS[:2], square, squares(tmp_path), jobs=1, report=lines.append)
    assert lines[0] == "0 of 2 tasks are done already."
    assert lines[1].startswith("[1/2] square-0")


def test_rows_of_another_version_are_refused(tmp_path):
    run_tasks(TASKS[:1], square, squares(tmp_path), jobs=1)
    with pytest.raises(DataError, match=re.escape("its columns are not those of this version")):
        ResultStore(tmp_path, "squares", ("key", "other")).rows()


def test_bad_arguments_are_named(tmp_path):
    with pytest.raises(InputError, match=re.escape("jobs=0")):
        run_tasks(TASKS, square, squares(tmp_path), jobs=0)
    with pytest.raises(DataError, match=re.escape("['value']")):
        squares(tmp_path).add({"key": "a"})
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=re.escape("cannot be made")):
        run_tasks(TASKS, square, squares(tmp_path / "file" / "folder"), jobs=1)


KILLED = """
from pathlib import Path
import sys

from paper.result_store import ResultStore, run_tasks
from paper.network_runs import COLUMNS, run_trial
from paper.tests.toys import toy_trials
if __name__ == "__main__":
    store = ResultStore(Path(sys.argv[1]), "networks", COLUMNS)
    run_tasks(toy_trials(["1"]), run_trial, store, jobs=1)
"""


def test_a_killed_run_resumes_to_the_identical_rows(tmp_path):
    listed = toy_trials(["1"])
    whole = ResultStore(tmp_path / "whole", "networks", COLUMNS)
    run_tasks(listed, run_trial, whole, jobs=1)
    killed = ResultStore(tmp_path / "killed", "networks", COLUMNS)
    script = tmp_path / "run.py"
    script.write_text(KILLED)
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "killed")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )
    while process.poll() is None and not (killed.rows_file.exists() and killed.rows()):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(killed.rows())
    assert 1 <= done < len(listed), "the run was not caught in the middle"
    run_tasks(listed, run_trial, killed, jobs=1)
    assert killed.rows_file.read_bytes() == whole.rows_file.read_bytes()
    for trial in listed:
        for name, array in whole.curves(trial.key).items():
            np.testing.assert_array_equal(killed.curves(trial.key)[name], array)
