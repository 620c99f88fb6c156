"""Wide tables: rows are series, columns are times; and tables that only look like one."""

import re

import numpy as np
import pandas as pd
import pytest

from robustfourier.errors import DataError
from robustfourier.samples import read_samples, series_column

HOURS = list(range(0, 48, 4))
NUMBERS = np.random.default_rng(0).normal(8.0, 1.0, (3, 24)).round(3)


def table(header, numbers=NUMBERS, names=("Arntl", "Dbp", "Per2")):
    rows = [",".join([name, *map(str, row)]) for name, row in zip(names, numbers, strict=True)]
    return "\n".join([",".join(header), *rows]) + "\n"


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ([f"ZT{h:02d}_{r}" for h in HOURS for r in (1, 2)], "time [hour]"),
        ([f"CT{h}.rep{r}" for h in HOURS for r in (1, 2)], "time [hour]"),
        ([f"{h}h_{r}" for h in HOURS for r in "AB"], "time [hour]"),
        ([f"X{h}{r}" for h in HOURS for r in ("", ".1")], "time"),
        ([f"T{h} {r}" for h in HOURS for r in (1, 2)], "time"),
    ],
)
def test_replicates_are_samples_of_the_time_that_their_columns_name(write, columns, name):
    samples = read_samples(write(table(["gene", *columns])), by=("gene=Dbp",))
    np.testing.assert_array_equal(samples.times, np.repeat(HOURS, 2))
    np.testing.assert_array_equal(np.sort(samples.values), np.sort(NUMBERS[1]))
    assert samples.time_name == name
    assert "12 times with 2 replicates each" in samples.notes[0]


def test_years_and_dates_are_times_too(write):
    years = read_samples(write(table(["land", *map(str, range(1990, 2014))])), by=("land=Dbp",))
    assert (years.unit, years.times[0], years.times[-1]) == ("year", 1990.0, 2013.0)
    days = pd.date_range("2024-01-01", periods=24).strftime("%Y-%m-%d")
    dated = read_samples(write(table(["shop", *days])), by=("shop=Dbp",))
    assert dated.times[0] == np.datetime64("2024-01-01")
    np.testing.assert_array_equal(dated.values, NUMBERS[1])


def test_columns_of_two_groups_are_told_apart(write):
    columns = [f"{group}_ZT{h:02d}" for group in ("WT", "KO") for h in HOURS]
    samples = read_samples(
        write(table(["gene", *columns])), by=("gene=Dbp", "group=KO"), duplicates="error"
    )
    np.testing.assert_array_equal(samples.values, NUMBERS[1, 12:])


def test_a_wrong_number_is_named_by_its_line(write):
    text = table(["gene", *(f"ZT{h:02d}_{r}" for h in HOURS for r in (1, 2))])
    text = text.replace(str(NUMBERS[2, 5]), "high")
    with pytest.raises(DataError, match=re.escape("line 4, column 'value': 'high' is no number")):
        read_samples(write(text), by=("gene=Per2",))


@pytest.mark.parametrize(
    "text",
    [
        "time,T1,T2,T3,T4,T5,T6\n" + "".join(f"{i},1,2,3,4,5,6\n" for i in range(9)),
        "date,1,2,3,4,5,6\n" + "".join(f"2024-01-0{i},1,2,3,4,5,6\n" for i in range(1, 9)),
        "site,sensor1,sensor2,sensor3,sensor4,sensor5\n" + "a,1,2,3,4,5\n" * 4,
        "".join(f"{i},1.5,2.5,3.5,4.5,5.5,6.5\n" for i in range(9)),
    ],
)
def test_a_table_with_a_column_of_times_or_numbered_sensors_is_no_wide_one(write, text):
    assert series_column(write(text)) is None


@pytest.mark.end_to_end
def test_a_wide_table_is_fitted_as_many_series(run, write, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    hours = np.repeat(np.arange(0, 96, 2), 2)
    noise = np.random.default_rng(1).normal(size=(2, len(hours)))
    numbers = np.stack([8 + 2 * np.cos(2 * np.pi * hours / 24), 8 + 0 * hours]) + 0.3 * noise
    header = ["gene", *(f"ZT{h:02d}_{i % 2 + 1}" for i, h in enumerate(hours))]
    path = write(table(header, numbers.round(3), ("Arntl", "flat")), "genes.csv")
    code, out, err = run("fit", path, "--jobs", "1")
    assert code == 0, err
    assert "a wide table: each row is a series, each column a time" in out
    patterns = pd.read_parquet(tmp_path / "genes-results" / "patterns.parquet")
    assert patterns["id"].tolist() == ["Arntl"]
    assert patterns["period"][0] == pytest.approx(24.0, abs=0.5)
