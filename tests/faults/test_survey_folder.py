"""The folder of a survey: whole at any moment, ours alone, and of these data and no others."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import robustfourier as rf
from robustfourier.cli import main
from robustfourier.errors import OutputError

HOW = {"engine": "serial", "scale": "linear"}


def table(path, period=7.3, rows=60, scale=1.0):
    t = np.arange(float(rows))
    y = np.sin(2 * np.pi * t / period) + 0.1 * np.random.default_rng(0).normal(size=rows)
    frame = pd.DataFrame({"t": t, "v": scale * y})
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


def long_table(path, scale=1.0, names=("a", "b")):
    table(path, scale=scale)
    frames = [pd.read_csv(path).assign(sensor=name) for name in names]
    pd.concat(frames).to_csv(path, index=False)
    return path


def by(source, out, **more):
    return rf.fit_many(source, out=out, by="sensor", value="v", reports="none", **HOW, **more)


@pytest.fixture
def survey(tmp_path):
    """A finished survey of two files, with pages."""
    files = [table(tmp_path / "a.csv"), table(tmp_path / "b.csv", 5.1)]
    rf.fit_many(files, out=tmp_path / "S", **HOW)
    return tmp_path / "S"


def again(survey, **more):
    files = [survey.parent / "a.csv", survey.parent / "b.csv"]
    return rf.fit_many(files, out=survey, **{**HOW, **more})


def test_overwrite_deletes_and_replaces_nothing_of_others(survey):
    mine = ["notes.txt", *(f"{part}/mine.txt" for part in
            ("reports", "models", "index", "shards", "buckets", "own"))]  # fmt: skip
    for name in mine:
        (survey / name).parent.mkdir(exist_ok=True)
        (survey / name).write_text("mine")
    again(survey, overwrite=True, false_alarm=0.2)
    assert [(survey / name).read_text() for name in mine] == ["mine"] * len(mine)
    assert not [path.name for path in survey.parent.iterdir() if path.name.startswith(".")]


def test_a_file_of_another_where_a_table_would_go_is_not_overwritten(survey):
    record = json.loads((survey / "survey.json").read_text())
    record["files"].remove("series.parquet")  # so it is not of ours
    (survey / "survey.json").write_text(json.dumps(record))
    before = (survey / "series.parquet").read_bytes()
    with pytest.raises(
        OutputError, match=re.escape("was not written by robustfourier and would be overwritten")
    ):
        again(survey, overwrite=True, false_alarm=0.2)
    assert (survey / "series.parquet").read_bytes() == before


@pytest.mark.parametrize("record", [{}, {"by": None}, {"identity": {}, "finished": True}, [1], 7])
def test_a_record_of_something_else_makes_no_survey(tmp_path, record):
    folder = tmp_path / "thesis"
    (folder / "reports").mkdir(parents=True)
    (folder / "reports" / "chapter.txt").write_text("years of work")
    (folder / "survey.json").write_text(json.dumps(record))
    files = [table(tmp_path / "a.csv"), table(tmp_path / "b.csv")]
    with pytest.raises(
        OutputError, match=re.escape("is not empty and holds no survey of robustfourier")
    ):
        rf.fit_many(files, out=folder, overwrite=True, **HOW)
    assert (folder / "reports" / "chapter.txt").read_text() == "years of work"


def test_an_input_is_never_written_to(survey, capsys):
    place = survey / "series.parquet"
    table(place)
    before = place.read_bytes()
    for more in ([], ["--overwrite"]):
        with pytest.raises(SystemExit) as stop:
            main(["fit-many", str(place), "--out", str(survey), "--engine", "serial", *more])
        assert stop.value.code == 1
        assert "holds the input, which results must not replace" in capsys.readouterr().err
    assert place.read_bytes() == before


def test_another_source_does_not_replace_a_survey_unless_told(survey, tmp_path):
    other = [table(tmp_path / "c.csv"), table(tmp_path / "d.csv")]
    before = (survey / "series.parquet").read_bytes()
    with pytest.raises(OutputError, match=re.escape("holds another survey; say --overwrite")):
        rf.fit_many(other, out=survey, **HOW)
    assert (survey / "series.parquet").read_bytes() == before
    rf.fit_many(other, out=survey, overwrite=True, **HOW)
    assert list(pd.read_parquet(survey / "series.parquet")["id"]) == list(map(str, other))


def test_results_within_the_folder_of_the_input_are_no_input(tmp_path):
    for name in ("a", "b"):
        table(tmp_path / f"{name}.csv")
    for _ in range(2):
        found = rf.fit_many(tmp_path, out=tmp_path / "out", **HOW)
        assert [Path(name).name for name in found.series["id"]] == ["a.csv", "b.csv"]


KILLS = """
import itertools, os, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from test_survey_folder import quick, whole
from killing import kill_at

place = Path(sys.argv[1])
seen = []
for step in itertools.count(1, 3):  # every third, which takes a third of the time
    quick(place, "old", overwrite=True)
    (place / "S" / "reports" / "mine.txt").write_text("mine")
    child = os.fork()
    if child == 0:
        kill_at(step)
        quick(place, "new", overwrite=True)
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
    seen.append(whole(place))
    assert (place / "S" / "reports" / "mine.txt").read_text() == "mine"
    if not killed:
        break
print(seen.count("old"), seen.count("new"))
"""


def quick(place, mark, **more):
    """A survey of two files whose fits take no time and whose pages hold a mark."""
    from robustfourier.atomic_files import write_text
    from robustfourier.many import shards
    from robustfourier.many.survey_items import files_of

    def rows_of(item, task, _):
        key = task.key(item)
        report = files_of(item.id, key)["report"]
        write_text(Path(task.folder) / report, mark)
        row = {"key": key, "id": item.id, "status": "ok", "message": "", "headline": mark}
        return [{**row, "notes": [], "patterns": [], "seconds": 0.0, "unit": mark,
                 "report": report}]  # fmt: skip

    for name in ("a", "b"):
        path = place / f"{name}.csv"
        if not path.exists():
            table(path, rows=8)
    shards.rows_of = rows_of
    files = [place / "a.csv", place / "b.csv"]
    return rf.fit_many(
        files, out=place / "S", false_alarm=0.1 if mark == "old" else 0.2, **HOW, **more
    )


def whole(place):
    """The mark of all that a survey holds; its record, tables, index and pages must agree."""
    folder = place / "S"
    record = json.loads((folder / "survey.json").read_text())
    series = pd.read_parquet(folder / "series.parquet")
    (mark,) = {*series["headline"], *((folder / page).read_text() for page in series["report"])}
    assert record["finished"]
    assert record["identity"]["parameters"]["false_alarm"] == (0.1 if mark == "old" else 0.2)
    assert all((folder / name).exists() for name in record["files"])
    columns = (folder / "index" / "columns.js").read_text()
    assert all(page in columns for page in series["report"])
    return mark


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_killed_at_any_step_the_old_survey_or_the_new_one_is_there_whole(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLS, str(tmp_path), str(Path(__file__).parent)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    old, new = map(int, done.stdout.split())
    assert old > 20, "steps before the exchange"
    assert new > 3, "steps after it"


def interrupted(survey, **more):
    def stop(progress):
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        again(survey, overwrite=True, observe=stop, **more)


def test_the_work_of_an_unfinished_survey_is_discarded_only_if_told(survey):
    before = (survey / "series.parquet").read_bytes()
    interrupted(survey, false_alarm=0.2)
    assert (survey / "series.parquet").read_bytes() == before
    words = "has an unfinished survey of another source or other parameters; say --overwrite"
    with pytest.raises(OutputError, match=re.escape(words)):
        again(survey)
    again(survey, overwrite=True)


def test_what_a_killed_run_was_writing_is_not_carried_on(survey):
    interrupted(survey, false_alarm=0.2)
    torn = [".survey.json.part", "shards/.x.parquet.part", "reports/.x.html.part"]
    for name in torn:
        (survey.with_name(".S.part") / name).write_text("half")
    again(survey, false_alarm=0.2, overwrite=True)
    listed = json.loads((survey / "survey.json").read_text())["files"]
    assert sorted(str(p.relative_to(survey)) for p in survey.rglob("*") if p.is_file()) == listed


def test_a_page_that_was_lost_is_made_again(survey):
    page = next((survey / "reports").iterdir())
    page.unlink()
    again(survey)
    assert page.exists()


class TestContent:
    """Shards, buckets and files are known by what they hold."""

    def test_an_altered_shard_is_not_believed(self, survey):
        import pyarrow.parquet as pq

        shard = next((survey / "shards").iterdir())
        rows = pq.read_table(shard)
        at = rows.schema.get_field_index("headline")
        told = rows.set_column(at, rows.schema.field(at), [["something false"] * len(rows)])
        pq.write_table(told, shard)
        found = again(survey)
        assert "something false" not in " ".join(found.series["headline"])

    @pytest.mark.parametrize("harm", ["cut", "altered"])
    def test_a_damaged_bucket_is_written_anew(self, tmp_path, harm):
        import pyarrow.parquet as pq

        source = long_table(tmp_path / "long.csv")
        first = by(source, tmp_path / "S")
        for shard in (tmp_path / "S" / "shards").iterdir():
            shard.write_bytes(b"")
        for bucket in (tmp_path / "S" / "buckets").glob("*.parquet"):
            if harm == "cut":
                bucket.write_bytes(bucket.read_bytes()[:-20])
                continue
            rows = pq.read_table(bucket)
            at = rows.schema.get_field_index("value_0")
            pq.write_table(rows.set_column(at, "value_0", [np.zeros(len(rows))]), bucket)
        found = by(source, tmp_path / "S")
        assert list(found.series["status"]) == ["ok", "ok"]
        assert np.array_equal(found.series["noise"], first.series["noise"])

    def test_a_bucket_that_is_damaged_while_it_is_used_is_told_and_tried_again(
        self, tmp_path, monkeypatch
    ):
        from robustfourier.many import survey_run as run

        planned = run.plan

        def damaged(source, selection, folder):
            found = planned(source, selection, folder)
            for bucket in (folder / "buckets").glob("*.parquet"):
                bucket.write_bytes(bucket.read_bytes()[:-20])
            return found

        source = long_table(tmp_path / "long.csv")
        monkeypatch.setattr(run, "plan", damaged)
        found = by(source, tmp_path / "S")
        assert set(found.series["status"]) == {"OutputError"}
        assert "is damaged; run the same command again" in found.series["message"][0]
        monkeypatch.undo()
        assert list(by(source, tmp_path / "S").series["status"]) == ["ok", "ok"]

    def test_a_table_replaced_under_its_name_size_and_time_is_read_again(self, tmp_path):
        source = long_table(tmp_path / "long.csv")
        first = by(source, tmp_path / "S")
        before = source.stat()
        text = source.read_text()
        source.write_text(text.replace("0.9", "0.1"))
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert source.stat().st_size == before.st_size
        found = by(source, tmp_path / "S")
        assert not np.array_equal(found.series["noise"], first.series["noise"])

    def test_a_file_that_changes_between_plan_and_fit_is_told(self, tmp_path, monkeypatch):
        from robustfourier.many import survey_run as run

        planned = run.plan

        def late(*given, **how):
            found = planned(*given, **how)
            table(tmp_path / "a.csv", scale=2.0)
            return found

        files = [table(tmp_path / "a.csv"), table(tmp_path / "b.csv")]
        monkeypatch.setattr(run, "plan", late)
        found = rf.fit_many(files, out=tmp_path / "S", **HOW)
        assert list(found.series["status"]) == ["DataError", "ok"]
        assert "has changed since the survey began" in found.series["message"][0]
