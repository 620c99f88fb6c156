"""Folders of surveys that somebody has tampered with: refused or taken, never believed blindly."""

import json
import os
import re
import shutil

import pytest
from tests.faults.test_survey_folder import by, long_table, table

import robustfourier as rf
from robustfourier.errors import OutputError, RobustFourierError


def _gone(path):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _fifo(path):
    _gone(path)
    os.mkfifo(path)


def _folder(path):
    if path.is_file():
        path.unlink()
    path.mkdir(exist_ok=True)


def _text(content):
    def write(path):
        _gone(path)
        path.write_bytes(content)

    return write


def _link(path):
    _gone(path)
    path.symlink_to("/nowhere")


WAYS = [
    *((name, way) for name in ("survey.json", "buckets/buckets.json")
      for way in (_fifo, _folder, _link, _text(b""), _text(b"[" * 100_000), _text(b"\xff"),
                  _text(b'{"finished": true}'), _text(b'{"a": 1e999}'))),
    *((name, way) for name in ("shards", "buckets", "reports", "index", "index.html",
                               "series.parquet", "shards/x.parquet", "buckets/000.parquet",
                               "index/mine.js", "index/9.js")
      for way in (_fifo, _link, _folder, _text(b"PAR1"))),
]  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_crafted_folders_are_refused_or_taken_and_never_hang(tmp_path):
    source = long_table(tmp_path / "long.csv")
    by(source, tmp_path / "whole")
    taken, refused = 0, []
    record = json.loads((tmp_path / "whole" / "survey.json").read_text())
    shutil.copytree(tmp_path / "whole", tmp_path / "begun")
    (tmp_path / "begun" / "survey.json").write_text(json.dumps({**record, "finished": False}))
    for name, way in WAYS:
        for origin, place in (("whole", "S"), ("whole", ".S.part"), ("begun", ".S.part")):
            for old in (tmp_path / "S", tmp_path / ".S.part"):
                shutil.rmtree(old, ignore_errors=True)
            shutil.copytree(tmp_path / origin, tmp_path / place)
            way(tmp_path / place / name)
            try:
                by(source, tmp_path / "S")
                taken += 1
            except RobustFourierError as error:
                refused.append(str(error))
    assert all(str(tmp_path) in words for words in refused)
    assert min(taken, len(refused)) > 10


@pytest.mark.parametrize("finished", [None, 1, "", []])
@pytest.mark.parametrize("place", ["S", ".S.part"])
def test_a_record_that_does_not_say_whether_it_is_finished_makes_no_survey(
    tmp_path, place, finished
):
    source = long_table(tmp_path / "long.csv")
    by(source, tmp_path / "S")
    if place != "S":
        (tmp_path / "S").rename(tmp_path / place)
    record = json.loads((tmp_path / place / "survey.json").read_text())
    record |= {"finished": finished}
    if finished is None:
        del record["finished"]
    (tmp_path / place / "survey.json").write_text(json.dumps(record))
    with pytest.raises(OutputError, match=re.escape(str(tmp_path / place))):
        by(source, tmp_path / "S")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.parametrize("values", [{}, {"value": "v"}, {"value": "all"}])
def test_a_pipe_among_the_files_of_a_survey_is_told_and_nobody_waits_for_it(tmp_path, values):
    files = [table(tmp_path / "a.csv"), tmp_path / "pipe"]
    os.mkfifo(files[1])
    found = rf.fit_many(files, out=tmp_path / "S", engine="serial", reports="none", **values)
    assert list(found.series["status"]) == ["ok", "DataError"]
    assert "is no regular file" in found.series["message"][1]


CRAFTED = [
    {"labels": []}, {"labels": {"../../x.parquet": ["a"]}}, {"digests": {}},
    {"unread": [1]}, {"unread": "abc"}, {"labels": {"000.parquet": [1]}},
    {"labels": {"000.parquet": 7}},
    {"labels": None},  # stands for labels exchanged between buckets
]  # fmt: skip


@pytest.mark.parametrize("change", CRAFTED)
def test_a_crafted_record_of_buckets_is_not_believed(tmp_path, change):
    source = long_table(tmp_path / "long.csv")
    first = by(source, tmp_path / "S")
    record = tmp_path / "S" / "buckets" / "buckets.json"
    held = json.loads(record.read_text())
    if change == {"labels": None}:
        change = {"labels": {name: ["another"] for name in held["labels"]}}
    record.write_text(json.dumps({**held, **change}))
    found = by(source, tmp_path / "S")
    assert list(found.series["id"]) == list(first.series["id"])
    assert set(found.series["status"]) == {"ok"}


def test_a_crafted_row_leads_nowhere(tmp_path):
    from robustfourier.many.shards import read_shards, write_shard

    survey = tmp_path / "S"
    source = long_table(tmp_path / "long.csv")
    by(source, survey)
    (row, *_) = next(read_shards(survey))
    for change in ({"report": "javascript:alert(1)"}, {"report": "../../etc/passwd"},
                   {"model": "models/mine.rfm"}, {"id": None}, {"patterns": [None]}):  # fmt: skip
        write_shard(survey, "crafted", [{**row, "headline": "crafted", **change}])
    assert "crafted" not in " ".join(by(source, survey).series["headline"])
