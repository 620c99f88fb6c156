import pytest
from benchmarks.peers import command, methods, rows
from benchmarks.peers.catalogue import SIZES, catalogue
from benchmarks.peers.rows import Row


@pytest.fixture
def dry(monkeypatch):
    """Nothing is run and nothing is drawn; returns the plans asked for and the folders drawn to."""
    plans, drawn = [], []
    monkeypatch.setattr(command, "run", lambda plan, *_, **__: plans.append(plan))
    monkeypatch.setattr(command, "write_page", lambda _, docs: drawn.append(docs))
    return plans, drawn


def test_a_quick_run_starts_afresh_with_every_method(dry, tmp_path):
    rows.append(tmp_path / "rows.csv", Row("3 tones, even", "limit", 0, "ok", error=1.0))
    command.main(["--quick", "--out", str(tmp_path)])
    assert rows.read(tmp_path / "rows.csv") == []
    [plan] = dry[0]
    assert plan.methods == list(methods.ALL)
    assert plan.effort < 1.0
    assert {entry.name for entry in plan.entries} == command.QUICK_PROBLEMS


def test_a_full_run_keeps_its_rows_and_may_start_at_another_seed(dry, tmp_path):
    rows.append(tmp_path / "rows.csv", Row("3 tones, even", "limit", 0, "ok", error=1.0))
    command.main(["--first-seed", "100", "--out", str(tmp_path)])
    assert len(rows.read(tmp_path / "rows.csv")) == 1
    [plan] = dry[0]
    assert (plan.first_seed, plan.seeds, plan.effort) == (100, 5, 1.0)
    assert len(plan.networks | plan.glimpses) >= 20
    names = {entry.name for entry in catalogue()}
    assert plan.networks | plan.glimpses | {f"n = {size}" for size in SIZES} <= names


def test_only_the_rows_of_the_project_draw_the_page_of_the_project(dry, tmp_path):
    command.main(["--page-only", "--out", str(tmp_path)])
    assert dry[1] == [tmp_path / "page"]
