import json
import re
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from tests.many.toys import NAMES, series

import robustfourier as rf
from robustfourier.atomic_files import locked
from robustfourier.errors import InputError, OutputError, RunLockedError
from robustfourier.many.engines import Lost
from robustfourier.many.shards import fit_batch
from robustfourier.many.survey_tables import q_values

QUICK = {"by": "sensor", "value": "level", "scale": "linear", "reports": "none"}
FACTS = ["seconds", "key"]


def told(survey):
    """All that does not depend on the clock."""
    return survey.series.drop(columns=FACTS), survey.patterns


def same(one, other):
    for a, b in zip(told(one), told(other), strict=True):
        pd.testing.assert_frame_equal(a, b, check_exact=True)


@pytest.fixture(scope="module")
def serial(long_table, tmp_path_factory):
    out = tmp_path_factory.mktemp("survey") / "serial"
    return rf.fit_many(long_table, out=out, engine="serial", **QUICK)


def test_every_series_has_a_row_and_the_short_one_says_why_not(serial):
    rows = serial.series.set_index("id")
    assert set(rows.index) == {*NAMES, *(f"s{i}" for i in range(5)), "short"}
    assert rows.loc["short", "status"] == "DataError"
    assert "3 samples are too few" in rows.loc["short", "message"]
    assert (rows.drop("short")["status"] == "ok").all()
    weekly = [*NAMES[1::2], "s1", "s3"]
    assert (rows.loc[weekly, "patterns"] >= 1).all()
    assert np.allclose(rows.loc[weekly, "period"], 7.3, atol=0.1)


def test_tables_are_files_and_the_patterns_carry_q_values(serial):
    read = pd.read_parquet(serial.folder / "series.parquet")
    assert list(read["id"]) == list(serial.series["id"])
    patterns = pd.read_parquet(serial.folder / "patterns.parquet")
    tests = len(patterns) + int((read["status"] == "ok").sum())
    expected = q_values(patterns["false_alarm"].to_numpy(), tests)
    assert np.array_equal(patterns["q_value"], expected)
    smallest = patterns.groupby("id")["q_value"].min()
    assert np.array_equal(read.set_index("id").loc[smallest.index, "q_value"], smallest)


def test_processes_give_the_same_bits_as_one_process(serial, long_table, tmp_path):
    apart = rf.fit_many(long_table, out=tmp_path / "out", engine="processes", jobs=2, **QUICK)
    same(serial, apart)


def test_the_order_of_rows_and_the_kind_of_table_change_nothing(serial, long_table, tmp_path):
    import polars as pl
    import pyarrow as pa
    import pyarrow.dataset as ds

    table = long_table.sort_values("day", kind="stable")
    table.to_csv(tmp_path / "long.csv", index=False)
    (tmp_path / "set").mkdir()
    half = len(table) // 2
    table.iloc[:half].to_parquet(tmp_path / "set" / "a.parquet")
    table.iloc[half:].to_parquet(tmp_path / "set" / "b.parquet")
    sources = {
        "polars": pl.from_pandas(table),
        "arrow": pa.Table.from_pandas(table),
        "csv": tmp_path / "long.csv",
        "folder": tmp_path / "set",
        "dataset": ds.dataset(tmp_path / "set"),
    }
    for name, source in sources.items():
        other = rf.fit_many(source, out=tmp_path / name, engine="serial", **QUICK)
        for one, two in zip(told(serial), told(other), strict=True):
            drop = [c for c in ("notes",) if c in one]
            pd.testing.assert_frame_equal(
                one.drop(columns=drop), two.drop(columns=drop), check_exact=name != "csv"
            )


def test_a_second_run_fits_only_what_is_missing(long_table, tmp_path):
    out, seen = tmp_path / "out", []
    first = rf.fit_many(long_table, out=out, engine="serial", **QUICK)
    again = rf.fit_many(long_table, out=out, engine="serial", observe=seen.append, **QUICK)
    assert [(p.done, p.total) for p in seen] == [(12, 12)]
    same(first, again)
    shard = sorted((out / "shards").iterdir())[0]
    lost = len(pd.read_parquet(shard))
    shard.write_bytes(shard.read_bytes()[:100])  # what a broken disk leaves
    seen.clear()
    again = rf.fit_many(long_table, out=out, engine="serial", observe=seen.append, **QUICK)
    assert seen[0].done == 12 - lost
    same(first, again)


def test_an_interrupted_run_goes_on(serial, long_table, tmp_path):
    def interrupt(progress):
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rf.fit_many(long_table, out=tmp_path / "out", engine="serial", observe=interrupt, **QUICK)
    seen = []
    survey = rf.fit_many(
        long_table, out=tmp_path / "out", engine="serial", observe=seen.append, **QUICK
    )
    assert 0 < seen[0].done < 12
    same(serial, survey)


def test_other_data_under_the_same_name_are_fitted_again(tmp_path):
    first = rf.fit_many(series("x", 1), out=tmp_path / "out", engine="serial", **QUICK)
    other = series("x", 1)
    other["level"] *= 2.0
    words = "holds the survey of another table; say overwrite=True"
    with pytest.raises(OutputError, match=re.escape(words)):
        rf.fit_many(other, out=tmp_path / "out", engine="serial", **QUICK)
    second = rf.fit_many(other, out=tmp_path / "out", engine="serial", overwrite=True, **QUICK)
    assert len(second.series) == 1
    assert np.isclose(second.series["noise"][0], 2.0 * first.series["noise"][0])


@pytest.mark.usefixtures("poison")
def test_a_series_that_kills_its_worker_is_named_and_costs_no_other(tmp_path):
    table = pd.concat([series(name, 1) for name in ("one", "poison", "two", "three")])
    survey = rf.fit_many(table, out=tmp_path / "out", engine="processes", jobs=2, **QUICK)
    rows = survey.series.set_index("id")
    assert rows.loc["poison", "status"] == "WorkerError"
    assert "killed or crashed" in rows.loc["poison", "message"]
    assert (rows.drop("poison")["status"] == "ok").all()


class _SharedFate:
    """An engine of four places in one process: when a poison dies, all that it holds is lost."""

    free = property(lambda self: 4 - len(self.held))

    def __init__(self):
        self.held = []

    def start(self, batch):
        self.held.append(batch)

    def wait(self):
        held, self.held = self.held, []
        if any(item.id == "poison" for batch in held for item in batch.items):
            return [(batch, Lost("its process died")) for batch in held]
        return [(batch, fit_batch(batch)) for batch in held]


def test_a_series_is_blamed_only_for_a_death_that_it_was_alone_with(tmp_path, monkeypatch):
    @contextmanager
    def shared(*_):
        yield _SharedFate()

    monkeypatch.setattr("robustfourier.many.survey_run.open_engine", shared)
    table = pd.concat([series(name, 1) for name in ("one", "poison", "two")])
    rows = rf.fit_many(table, out=tmp_path / "out", **QUICK).series.set_index("id")
    assert rows["status"].to_dict() == {"one": "ok", "poison": "WorkerError", "two": "ok"}


def test_a_plain_script_needs_no_guard_around_the_call(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import pandas as pd, robustfourier as rf\n"
        "print('top level')\n"
        "table = pd.DataFrame({'id': ['a'] * 40 + ['b'] * 40, 't': [*range(40)] * 2})\n"
        "table['y'] = [0.0, 1.0] * 40\n"
        "survey = rf.fit_many(table, by='id', out='out', unit='hour', reports='none', jobs=2)\n"
        "print(*survey.series['status'], *survey.series['unit'])\n"
    )
    run = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.splitlines() == ["top level", "ok ok hour hour"]
    assert run.stderr == ""
    assert run.returncode == 0


def test_two_runs_on_one_folder_are_refused(tmp_path):
    rf.fit_many(series("x", 1), out=tmp_path / "out", engine="serial", **QUICK)
    with (
        locked(tmp_path / ".out.lock", ""),
        pytest.raises(RunLockedError, match=re.escape("another run is writing")),
    ):
        rf.fit_many(series("x", 1), out=tmp_path / "out", engine="serial", **QUICK)


def test_folders_of_others_and_other_parameters_are_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    with pytest.raises(OutputError, match=re.escape("holds no survey of robustfourier")):
        rf.fit_many(series("x", 1), out=tmp_path / "mine", engine="serial", **QUICK)
    rf.fit_many(series("x", 1), out=tmp_path / "out", engine="serial", **QUICK)
    with pytest.raises(OutputError, match=re.escape("holds another survey")):
        rf.fit_many(series("x", 1), out=tmp_path / "out", engine="serial", false_alarm=0.1, **QUICK)
    with pytest.raises(InputError, match=re.escape("'levle' is no parameter")):
        rf.fit_many(series("x", 1), out=tmp_path / "new", levle=0.1, **QUICK)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=re.escape("cannot write results to")):
        rf.fit_many(series("x", 1), out=tmp_path / "file", engine="serial", **QUICK)


def test_a_full_disk_is_told_and_what_is_done_is_kept(tmp_path, monkeypatch):
    import robustfourier.many.shards as shards

    table = pd.concat([series(f"s{i}", 1) for i in range(12)])
    honest, left = shards.write_shard, [1]

    def full(folder, name, rows):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        honest(folder, name, rows)

    monkeypatch.setattr(shards, "write_shard", full)
    with pytest.raises(OutputError, match=re.escape("(No space left on device); what is done")):
        rf.fit_many(table, out=tmp_path / "out", engine="serial", **QUICK)
    monkeypatch.undo()
    seen = []
    survey = rf.fit_many(table, out=tmp_path / "out", engine="serial", observe=seen.append, **QUICK)
    assert 0 < seen[0].done < 12
    assert (survey.series["status"] == "ok").all()


def test_columns_fitted_together_share_their_periods(tmp_path):
    day = np.arange(120.0)
    rng = np.random.default_rng(0)
    wave = np.cos(2 * np.pi * day / 7.3)
    table = pd.DataFrame({"day": day, "a": 2.0 * wave, "b": -wave, "c": 0.3 * wave})
    table[["a", "b", "c"]] += 0.5 * rng.normal(size=(120, 3))
    how = {"engine": "serial", "scale": "linear", "reports": "none"}
    apart = rf.fit_many(table, value="all", out=tmp_path / "apart", **how)
    assert list(apart.series["id"]) == ["a", "b", "c"]
    joint = rf.fit_many(table, value="all", together=True, out=tmp_path / "together", **how)
    assert list(joint.series["id"]) == ["all:a", "all:b", "all:c"]
    assert joint.series["period"].nunique() == 1
    assert np.allclose(joint.series["amplitude"], [2.0, 1.0, 0.3], atol=0.2)


def test_a_bad_file_among_good_ones_is_named_and_the_others_are_fitted(tmp_path):
    for name in ("one", "two"):
        series(name, 1)[["day", "level"]].to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    pd.DataFrame({"what": ["a"], "ever": ["b"]}).to_csv(tmp_path / "words.csv", index=False)
    paths = [tmp_path / f for f in ("one.csv", "broken.parquet", "words.csv", "two.csv", "no.csv")]
    survey = rf.fit_many(paths, out=tmp_path / "out", engine="serial", scale="linear")
    assert list(survey.series["status"] == "ok") == [True, False, False, True, False]
    assert set(survey.failed["status"]) == {"DataError"}
    messages = " ".join(survey.failed["message"])
    assert "broken.parquet" in messages
    assert "words.csv" in messages
    assert "no such file" in messages
    pages = survey.series["report"].dropna()
    assert len(pages) == 2
    assert all((survey.folder / page).stat().st_size > 1e5 for page in pages)


def test_a_part_of_another_schema_is_named_and_the_others_are_fitted(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    series("x", 1).to_parquet(folder / "a.parquet")
    series("y", 1).rename(columns={"level": "height"}).to_parquet(folder / "b.parquet")
    survey = rf.fit_many(folder, out=tmp_path / "out", engine="serial", **QUICK)
    assert dict(zip(survey.series["id"], survey.series["status"], strict=True)) == {
        "x": "ok",
        "b.parquet": "DataError",
    }
    assert "has no column 'level'" in survey.failed["message"].iloc[0]


@pytest.mark.parametrize("seed", range(20))
def test_q_values_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    p, tests = rng.uniform(size=12) ** 3, 30
    everything = np.concatenate([p, np.ones(tests - len(p))])
    expected = [
        min(
            min(tests * other / np.sum(everything <= other), 1.0)
            for other in everything
            if other >= mine
        )
        for mine in p
    ]
    assert np.allclose(q_values(p, tests), expected)


def test_data_scripts_cannot_end_a_script(serial):
    for script in (serial.folder / "index").glob("*.js"):
        text = script.read_text(encoding="utf-8")
        assert "<" not in text
        json.loads(re.fullmatch(r"rf\.\w+\((?:\d+, )?(.*)\);\n", text, re.S)[1])
