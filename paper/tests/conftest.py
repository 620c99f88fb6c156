"""Every entry of the catalogue as a toy, run once."""

from pathlib import Path

import pytest
from tests.conftest import written_figures  # noqa: F401

from paper import theory_runs
from paper.network_runs import COLUMNS, load_results, run_trial
from paper.result_store import ResultStore, run_tasks
from paper.tests.toys import toy_tasks, toy_trials
from paper.theory_runs import load_theory


@pytest.fixture(scope="session")
def toy_results(tmp_path_factory):
    """Every entry of the catalogue in its toy version, run once."""
    listed = toy_trials()
    store = ResultStore(tmp_path_factory.mktemp("networks"), "networks", COLUMNS)
    run_tasks(listed, run_trial, store, jobs=1)
    return load_results(store, listed)


@pytest.fixture(scope="session")
def toy_theory(tmp_path_factory):
    tasks = toy_tasks()
    store = ResultStore(tmp_path_factory.mktemp("theory"), "theory", theory_runs.COLUMNS)
    run_tasks(tasks, theory_runs.run_theory_task, store, jobs=1)
    return load_theory(store, tasks), store


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("end_to_end")
