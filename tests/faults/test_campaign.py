"""A small slice of the long run against faults: `python -m benchmarks.faults`."""

import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.faults import command, fuzz, page  # noqa: E402
from benchmarks.faults.cases import Case  # noqa: E402

SLICE = {
    **{"tables": 300, "model files": 600, "checkpoints": 600, "command lines": 100},
    **{"survey folders": 60, "app records": 300, "arrays": 400},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SLICE)
def test_whatever_is_given_it_is_read_or_refused_by_an_error_of_ours(name, tmp_path):
    if name == "checkpoints":
        pytest.importorskip("torch")
    target = command.target(name)
    count = fuzz.run_piece(
        target, f"slice/{name}", SLICE[name], tmp_path / "place", tmp_path, tmp_path / "found"
    )
    assert count.found == [], count.found
    assert count.cases == count.read + count.refused >= SLICE[name]
    assert min(count.read, count.refused) > 0
    assert count.lines > 100


class Broken:
    """A reader with a fault of each kind."""

    name = "broken"

    def seeds(self):
        return [Case(b"")]

    def change(self, rng, *_):
        return Case(rng.choice([b"foreign", b"hang", b"wrong", b"read"]))

    def run(self, case, _):
        if case.content == b"foreign":
            raise KeyError("x")
        if case.content == b"wrong":
            raise fuzz.Wrong("damage was read")
        while case.content == b"hang":
            pass
        return True


def test_foreign_errors_hangs_and_wrong_answers_are_counted_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "LIMIT", 0.01)
    count = fuzz.run_piece(Broken(), "0", 30, tmp_path, tmp_path / "kept", tmp_path / "found")
    assert min(count.foreign, count.hangs, count.wrong, count.read) > 0
    kept = [Case.load(path) for path in (tmp_path / "found").glob("broken-*.json")]
    assert {case.content for _, case in kept} >= {b"foreign", b"hang", b"wrong"}


def test_a_changed_input_is_told_unless_it_was_named_to_be_written(tmp_path, monkeypatch):
    from benchmarks.faults import command_lines

    def changing(_line, _given, place):
        (place / "numbers.csv").write_text("gone")
        return 0, "", ""

    monkeypatch.setattr(command_lines, "_run", changing)
    target, where = command_lines.CommandLines(), ["-o", "numbers.csv"]
    assert target.run(Case(b"", {"arguments": ["predict", "model.rfm", *where]}), tmp_path)
    for line in (["check"], ["predict", "--at", "numbers.csv", *where]):
        with pytest.raises(fuzz.Wrong, match=r"numbers\.csv was changed by"):
            target.run(Case(b"", {"arguments": line}), tmp_path)


def test_kills_leave_an_old_or_a_new_model_file():
    from benchmarks.faults.kills import run_kills

    sums = run_kills("save", "slice", 10)
    assert (sums["kills"], sums["bad"]) == (10, 0)


def test_a_torn_file_is_told(monkeypatch):
    from benchmarks.faults import kills

    def torn(place, rng):
        work, check = kills._save(place, rng)

        def cut():
            (place / "folder" / "model.rfm").write_bytes(b"half")
            time.sleep(0.2)  # so that most kills come while the file is torn
            work()

        return cut, check

    monkeypatch.setitem(kills.KINDS, "torn", torn)
    sums = kills.run_kills("torn", "slice", 10)
    assert sums["bad"] > 0
    assert sums["found"] == ["the model file is torn"]


def test_work_that_fails_by_itself_is_told_with_its_trace(monkeypatch):
    from benchmarks.faults import kills

    def failing(place, _):
        tried = place / "tried"

        def work():
            if tried.exists():
                raise ZeroDivisionError("at the second attempt")
            tried.touch()

        return work, lambda: "old"

    monkeypatch.setitem(kills.KINDS, "failing", failing)
    monkeypatch.setattr(kills.random.Random, "uniform", lambda *_: 60.0)  # no kill comes before
    sums = kills.run_kills("failing", "slice", 1)
    assert (sums["kills"], sums["bad"]) == (1, 1)
    assert "ZeroDivisionError: at the second attempt" in sums["found"][0]


def test_the_plan_has_all_cases_and_the_page_all_figures(tmp_path):
    pieces = command.plan(1_000_000, 500)
    assert sum(size for name, _, size in pieces if name in command.TARGETS) == 1_000_000
    assert sum(size for name, _, size in pieces if name in command.KILLED) == 500
    rows = [
        {"name": "tables", "cases": 5, "read": 2, "refused": 3, "foreign": 0, "hangs": 0,
         "wrong": 0, "slowest": 0.5, "bad": 0, "seed": 1, "index": 0},
        {"name": "save", "kills": 25, "old": 10, "new": 15, "bad": 0, "seed": 1, "index": 0},
    ]  # fmt: skip
    told = tmp_path / "page.md"
    told.write_text("a\n<!-- figures -->\nold\n<!-- end -->\nb\n", encoding="utf-8")
    page.write_page(rows, told)
    text = told.read_text(encoding="utf-8")
    assert "| tables | 5 | 2 | 3 | 0 | 0 | 0 | 0.50 s |" in text
    assert "| save | 25 | 10 | 15 | 0 |" in text
    assert "old\n<!--" not in text
