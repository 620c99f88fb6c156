import os
import re

import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest

import robustfourier as rf
from robustfourier.errors import CheckpointError, DataError
from robustfourier.large import passes
from robustfourier.large.chunked_fit import _Adder
from robustfourier.samples.partitions import parts_of

FAST = {"max_frequency": 0.5}  # 500 modes: 4300 condensed rows
ROWS = 30_000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0.0, 1000.0, ROWS))
    y = np.cos(2 * np.pi * t / 7.31) + 0.4 * np.cos(4 * np.pi * t / 7.31 + 1.0)
    y += 0.3 * np.sin(2 * np.pi * t / 3.13) + 0.002 * t + rng.normal(size=ROWS)
    return pd.DataFrame({"time": t, "value": y})


@pytest.fixture(scope="module")
def in_memory(table):
    return rf.PeriodicMixture(scale="linear", **FAST).fit(table["time"].to_numpy(), table["value"])


@pytest.fixture(scope="module")
def large(table):
    return rf.fit_large(table, engine="serial", **FAST)


def assert_same(model, reference, within=0.01):
    """Periods, function and errors agree within a part of a standard error."""
    assert len(model.components_) == len(reference.components_)
    for ours, theirs in zip(model.components_, reference.components_, strict=True):
        assert abs(ours.period - theirs.period) < within * theirs.period_error
        assert np.isclose(ours.period_error, theirs.period_error, rtol=0.1)
        assert np.isclose(ours.share, theirs.share, rtol=0.02)
    at = np.linspace(1.0, 999.0, 2000)
    (ours, _), (theirs, std) = (m.predict(at, return_std=True) for m in (model, reference))
    assert np.max(np.abs(ours - theirs) / std) < within
    assert np.isclose(model.noise_, reference.noise_, rtol=0.01)


def test_the_answer_is_that_in_memory(large, in_memory):
    assert_same(large.model, in_memory)
    assert len(large.samples) < ROWS / 5
    # Range, sums, and one look for outliers, which there are none of.
    assert large.passes == 3
    assert large.model.notes_[0].startswith("30,000 rows read 3 times and condensed to")


def test_squared_loss_takes_two_passes(table):
    assert rf.fit_large(table, engine="serial", loss="squared", **FAST).passes == 2


def test_outliers_are_pulled_in_as_in_memory(table):
    rng = np.random.default_rng(1)
    dirty = table.copy()
    dirty.loc[rng.choice(ROWS, ROWS // 30, replace=False), "value"] += 12.0 * rng.choice(
        [-1.0, 1.0], ROWS // 30
    )
    found = rf.fit_large(dirty, engine="serial", **FAST)
    model = rf.PeriodicMixture(scale="linear", **FAST)
    model.fit(dirty["time"].to_numpy(), dirty["value"])
    assert found.passes >= 4
    # In memory the noise floor is that of the search; here it is that of each fit.
    assert_same(found.model, model, within=0.05)


def test_files_in_parts_threads_and_dask_arrays_say_the_same(table, large, tmp_path):
    import dask.array as da

    shuffled = table.sample(frac=1.0, random_state=3)
    (tmp_path / "csv").mkdir()
    (tmp_path / "set").mkdir()
    for i, chunk in enumerate(np.array_split(np.arange(ROWS), 4)):
        shuffled.iloc[chunk].to_csv(tmp_path / "csv" / f"{i}.csv", index=False)
        shuffled.iloc[chunk].to_parquet(tmp_path / "set" / f"{i}.parquet", index=False)
    arrays = tuple(da.from_array(shuffled[c].to_numpy(), chunks=8000) for c in ("time", "value"))
    for source in (tmp_path / "csv", tmp_path / "set", arrays):
        found = rf.fit_large(source, loss="squared", jobs=2, **FAST)
        assert_same(found.model, large.model, within=1e-3)
        assert found.used == ROWS


def test_dates_are_told_in_days_and_known_periods_in_words(table):
    dated = table.assign(time=pd.Timestamp("2020-01-01") + pd.to_timedelta(table["time"], "D"))
    found = rf.fit_large(dated, engine="serial", loss="squared", periods=["175.44h", "9D"], **FAST)
    assert found.samples.dates
    assert {9.0, 7.31} <= {round(part.period, 9) for part in found.model.components_}


def break_off(source, place, monkeypatch):
    """Begin a fit, and end it in its third pass."""
    honest = _Adder.__call__

    def breaking(self, work, what):
        if self.passes == 2:
            raise KeyboardInterrupt
        return honest(self, work, what)

    monkeypatch.setattr(_Adder, "__call__", breaking)
    with pytest.raises(KeyboardInterrupt):
        rf.fit_large(source, engine="serial", checkpoint=place, **FAST)
    monkeypatch.undo()
    assert place.exists()


@pytest.mark.parametrize("kind", ["csv", "parquet", "table", "dataset"])
def test_a_checkpoint_of_other_data_under_the_same_name_is_refused(
    table, kind, tmp_path, monkeypatch
):
    path, place = tmp_path / f"part.{kind}", tmp_path / "pass"

    def written(rows):
        if kind == "csv":
            rows.to_csv(path, index=False)
        elif kind != "table":
            rows.to_parquet(path)
        return {"table": rows, "dataset": None}.get(kind, path)

    def source(rows):
        given = written(rows)
        return pyarrow.dataset.dataset(path) if given is None else given

    few = table[::10].round(6)
    break_off(source(few), place, monkeypatch)
    other = few.assign(value=few["value"].to_numpy()[::-1])
    name = "table" if kind == "table" else path.name
    with pytest.raises(CheckpointError, match=re.escape(f"{name}' has changed since")):
        rf.fit_large(source(other), engine="serial", checkpoint=place, **FAST)
    assert place.exists()


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_told_from_it(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    for path, value in ((first, 1), (second, 2)):
        rows = [f"{i},{value if i == 150_000 else 0}\n" for i in range(300_000)]
        path.write_text("".join(["t,y\n", *rows]))  # ends are the same, megabytes of them
        os.utime(path, (1.0, 1.0))
    (one,), (other,) = parts_of(first), parts_of(second)
    assert first.stat().st_size == second.stat().st_size
    assert one.content() != other.content()


def test_a_part_that_is_gone_is_named(table, tmp_path, monkeypatch):
    few = table[::10]
    for i in range(2):
        few[i::2].to_csv(tmp_path / f"{i}.csv", index=False)
    place = tmp_path / "pass"
    break_off([tmp_path / "0.csv", tmp_path / "1.csv"], place, monkeypatch)
    with pytest.raises(CheckpointError, match=re.escape("1.csv' is gone since")):
        rf.fit_large([tmp_path / "0.csv"], engine="serial", checkpoint=place, **FAST)


def test_a_broken_run_goes_on_from_its_checkpoint(table, large, tmp_path, monkeypatch):
    place = tmp_path / "pass"
    break_off(table, place, monkeypatch)
    said = []
    found = rf.fit_large(table, engine="serial", checkpoint=place, observe=said.append, **FAST)
    assert [word for word in said if word.startswith("pass")] == [
        "pass 3: outliers around the fit are pulled in"
    ]
    assert_same(found.model, large.model, within=1e-9)
    assert not place.exists()


def test_memory_does_not_grow_with_the_rows(table):
    facts = passes.Scan(rf.large.chunked_fit.Layout.of(_part(table), _asked(), ["value"], None))
    many = pd.concat([table] * 40, ignore_index=True)
    sample = facts(_part(many)).sample
    assert sum(len(piece[0]) for piece in sample) <= passes._SAMPLE
    # What a column is a view of is kept too: it must not be the rows that were left out.
    kept = [column if column.base is None else column.base for piece in sample for column in piece]
    assert sum(len(column) for column in kept) <= 3 * passes._SAMPLE


def test_a_record_of_one_time_is_refused():
    same = pd.DataFrame({"time": [1.0] * 20, "value": np.arange(20.0)})
    with pytest.raises(DataError, match=re.escape("no two different times")):
        rf.fit_large(same, engine="serial")


def test_the_command_takes_a_folder_of_parts(table, tmp_path, capsys):
    from robustfourier.cli import main

    (tmp_path / "parts").mkdir()
    table.iloc[:4000].to_csv(tmp_path / "parts" / "a.csv", index=False)
    table.iloc[4000:8000].to_csv(tmp_path / "parts" / "b.csv", index=False)
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(tmp_path / "parts"), "--parts", "--no-files", "--loss", "squared"])
    assert stop.value.code == 0
    assert "7.3" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(tmp_path / "parts"), "--parts", "--no-files", "--without", "7.3"])
    assert stop.value.code == 2
    assert "without options that name periods" in capsys.readouterr().err


def _part(table):
    from robustfourier.samples.partitions import parts_of

    return parts_of(table)[0]


def _asked():
    from robustfourier.samples import ReadOptions

    return ReadOptions()
