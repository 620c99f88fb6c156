import time
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.peers import rows, runner
from benchmarks.peers.catalogue import MIXTURES, SIZE, Entry
from benchmarks.peers.method_interface import Fit, Method
from benchmarks.peers.methods import METHODS
from benchmarks.peers.rows import Row
from benchmarks.peers.runner import Plan, run
from benchmarks.processes import in_child


def method(fit, **options):
    return Method("a method", (), fit, **options)


def honest(_t, _y, hints):
    return Fit(np.zeros_like, hints.periods)


@pytest.fixture
def plan(task):
    def make(count=2, **options):
        entries = [Entry(f"problem {i}", MIXTURES, lambda _seed: task) for i in range(count)]
        few = {"seeds": 2, "real_seeds": 1, "network_seeds": 2, "limit": 20.0, "first_seed": 0}
        return Plan(entries, ["it"], **{**few, **options})

    return make


@pytest.fixture
def use(monkeypatch):
    def put(chosen):
        monkeypatch.setitem(METHODS, "it", chosen)

    return put


def quiet(text):
    pass


def test_every_problem_and_seed_gives_a_row_seed_by_seed(use, plan, tmp_path):
    use(method(honest))
    made = run(plan(), tmp_path / "rows.jsonl", quiet)
    assert [(row.problem, row.seed) for row in made] == [
        ("problem 0", 0), ("problem 1", 0), ("problem 0", 1), ("problem 1", 1),
    ]  # fmt: skip
    assert all(row.status == "ok" and row.error == 1.0 and row.recall == 1.0 for row in made)


def test_a_run_resumes_where_it_was_stopped(use, plan, tmp_path):
    use(method(honest))
    path = tmp_path / "rows.jsonl"
    run(plan(count=1), path, quiet)
    lines = path.read_text().splitlines()
    run(plan(count=2), path, quiet)
    assert path.read_text().splitlines()[: len(lines)] == lines
    assert len(path.read_text().splitlines()) == 4

    use(method(lambda *_: pytest.fail("nothing is left to do")))
    assert len(run(plan(count=2), path, quiet)) == 4


def test_a_method_that_fails_gets_its_word_in_the_row(use, plan, tmp_path):
    def broken(t, y, hints):
        if t.size < runner.WARM_UP:
            raise ZeroDivisionError("no luck")
        return honest(t, y, hints)

    use(method(broken))
    made = run(plan(), tmp_path / "rows.jsonl", quiet)
    assert {row.status for row in made} == {"failed"}
    assert made[0].note == "ZeroDivisionError: no luck"


def test_uneven_samples_are_not_given_to_methods_for_even_ones(use, task, tmp_path):
    use(method(honest, even_only=True))
    uneven = Entry("uneven", MIXTURES, lambda _seed: replace(task, even=False))
    made = run(Plan([uneven], ["it"], 1, 1, 1, 20.0), tmp_path / "rows.jsonl", quiet)
    assert made[0].status == "needs even samples"


def test_too_slow_is_a_matter_of_processor_seconds():
    def busy():
        while True:
            pass

    start = time.process_time()
    assert in_child(busy, 1.0)["status"] == "too slow"
    assert time.process_time() - start < 1.0  # the child's time is not ours


def test_a_size_that_was_too_slow_spares_the_larger_ones(use, task, tmp_path):
    use(method(honest))
    entries = [Entry(f"n = {n}", SIZE, lambda _seed: task, size=n) for n in (1000, 3000, 10000)]
    path = tmp_path / "rows.jsonl"
    rows.append(path, Row("n = 3000", "it", 0, "too slow"))
    made = {
        row.problem: row.status for row in run(Plan(entries, ["it"], 1, 1, 1, 9.0), path, quiet)
    }
    assert made == {"n = 1000": "ok", "n = 3000": "too slow", "n = 10000": "too slow"}


def test_networks_have_all_seeds_on_some_problems_one_on_others_none_on_the_rest(
    use, plan, tmp_path
):
    use(method(honest, budget="subset"))
    chosen = plan(
        count=3, networks=frozenset({"problem 0"}), glimpses=frozenset({"problem 1"}), first_seed=7
    )
    made = run(chosen, tmp_path / "rows.jsonl", quiet)
    assert [(row.problem, row.seed) for row in made] == [
        ("problem 0", 7), ("problem 1", 7), ("problem 0", 8),
    ]  # fmt: skip


def test_memory_is_that_of_the_fit_alone(use, plan, tmp_path):
    def greedy(t, y, hints):
        np.ones(5_000_000 if t.size < runner.WARM_UP else 1)
        return honest(t, y, hints)

    use(method(greedy))
    made = run(plan(), tmp_path / "rows.jsonl", quiet)
    assert 38.0 < made[0].megabytes < 60.0


def test_our_own_methods_have_more_seeds(use, plan, tmp_path):
    use(method(honest, budget="own"))
    made = run(plan(1, own_seeds=4), tmp_path / "rows.jsonl", quiet)
    assert [row.seed for row in made] == [0, 1, 2, 3]
