import pytest
from tests.experiments.toys import toy_tasks, toy_trials

from robustfourier.experiments import theory_runs
from robustfourier.experiments.finished import load_results
from robustfourier.experiments.runner import run_tasks
from robustfourier.experiments.store import ResultStore
from robustfourier.experiments.theory_runs import load_theory
from robustfourier.experiments.trial import COLUMNS, run_trial


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
