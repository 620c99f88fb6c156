"""Files that were once read wrongly, slowly or with an error of somebody else's."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest

from robustfourier.errors import DataError, InputError, RobustFourierError
from robustfourier.samples import column_names, read_samples, read_times
from robustfourier.samples.columns import speaks_of_time, unit_of_name
from robustfourier.samples.dialect import MAX_COLUMNS
from robustfourier.samples.number_parsing import is_number, split_unit


def column(cells, name="x", value="y"):
    rows = "".join(f"{cell},{i}.5\n" for i, cell in enumerate(cells))
    return f"{name},{value}\n{rows}"


HOURS = pd.date_range("2023-12-30T20:00", periods=40, freq="h")
DAYS = pd.date_range("2023-11-20", periods=60, freq="D")
MONTHS = pd.date_range("2019-05-01", periods=40, freq="MS")
MINUTES = pd.date_range("2024-02-28T23:10", periods=90, freq="min")


class TestCompactDates:
    @pytest.mark.parametrize("name", ["x", "time", "column", "when"])
    @pytest.mark.parametrize(
        ("dates", "form", "words"),
        [
            (MONTHS, "%Y%m", "YYYYMM;"),
            (DAYS, "%Y%m%d", "YYYYMMDD;"),
            (HOURS, "%Y%m%d%H", "YYYYMMDDHH;"),
            (MINUTES, "%Y%m%d%H%M", "YYYYMMDDHHMM;"),
            (MINUTES, "%Y%m%d%H%M%S", "YYYYMMDDHHMMSS;"),
        ],
    )
    def test_they_are_read_in_any_column_and_said(self, write, name, dates, form, words):
        samples = read_samples(write(column(dates.strftime(form), name)))
        np.testing.assert_array_equal(samples.times, dates.to_numpy().astype("datetime64[s]"))
        assert any(words in note for note in samples.notes)

    def test_a_daily_cycle_in_hours_keeps_its_length(self, write):
        samples = read_samples(write(column(HOURS.strftime("%Y%m%d%H"))))
        assert (np.diff(samples.times) == np.timedelta64(1, "h")).all()

    def test_midnight_may_be_hour_24(self, write):
        samples = read_samples(write(column(["2024022823", "2024022824", "2024022901"])))
        assert (np.diff(samples.times) == np.timedelta64(1, "h")).all()

    def test_a_clock_in_a_column_of_its_own_belongs_to_them(self, write):
        rows = "".join(f"{t:%Y%m%d},{t:%H:%M},{i}\n" for i, t in enumerate(HOURS))
        samples = read_samples(write(f"date,clock,level\n{rows}"))
        assert (np.diff(samples.times) == np.timedelta64(1, "h")).all()

    def test_they_are_read_from_parquet_too(self, tmp_path):
        pytest.importorskip("pyarrow")
        path = tmp_path / "data.parquet"
        numbers = HOURS.strftime("%Y%m%d%H").astype(np.int64)
        pd.DataFrame({"x": numbers, "y": np.arange(40.0)}).to_parquet(path)
        times = HOURS.to_numpy().astype("datetime64[s]")
        np.testing.assert_array_equal(read_samples(path).times, times)

    @pytest.mark.parametrize(
        "cells",
        [
            [20240228, 20240229],  # two steps of one say nothing
            range(20240120, 20240220),  # 20240132 is no date
            range(202401, 202501),  # there is no month 13
            range(1704067200, 1704067260),  # seconds since 1970
            [2024010100.5, 2024010200.5],
            range(100000, 100040),
            range(230001, 230012),
        ],
    )
    def test_counters_and_epochs_are_none(self, write, cells):
        samples = read_samples(write(column(cells, "counter")))
        assert not any("YYYY" in note for note in samples.notes)

    def test_numbers_stay_numbers_if_told(self, write):
        path = write(column(DAYS.strftime("%Y%m%d")))
        assert not read_samples(path, time_format="number").dates

    def test_they_can_stand_on_a_local_clock(self, write):
        path = write(column(["2024070100", "2024070101", "2024070200"]))
        samples = read_samples(path, timezone="Europe/Berlin")
        assert samples.times[0] == np.datetime64("2024-06-30T22:00")


class TestSlowOnPurpose:
    def test_many_digits_are_refused_in_one_pass(self):
        assert not is_number("1" * 1_000_000 + "x")
        assert not is_number("1" * 1_000_000 + "..")

    def test_many_brackets_or_blanks_are_read_in_one_pass(self):
        assert not speaks_of_time("(" * 1_000_000)
        assert unit_of_name("(" * 1_000_000) == ""
        assert split_unit("-" + " " * 1_000_000 + "x")[1] == ""

    @pytest.mark.parametrize("line", ["\n", "#\n", ",\n", "1,1\n"])
    def test_a_gzip_bomb_of_short_lines_is_refused(self, write, line):
        bomb = gzip.compress(b"t,v\n1,2\n2,3\n" + line.encode() * (2_500_000 // len(line)), 9)
        with pytest.raises(DataError, match=re.escape("unpack to more than 100 times their size")):
            read_samples(write(bomb, "bomb.csv.gz"))

    def test_a_parquet_of_few_bytes_and_many_rows_is_refused_before_it_is_unpacked(self, tmp_path):
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet as pq

        zeros = pa.array(np.zeros(2_000_000))
        pq.write_table(pa.table({"t": zeros, "v": zeros}), tmp_path / "bomb.parquet")
        assert (tmp_path / "bomb.parquet").stat().st_size < 200_000
        words = "bomb.parquet: the rows unpack to more than 100 times their size"
        for read in (read_samples, column_names):
            with pytest.raises(DataError, match=re.escape(words)):
                read(tmp_path / "bomb.parquet")
        even = pa.array(np.arange(100_000.0))
        pq.write_table(pa.table({"t": even, "v": even}), tmp_path / "even.parquet")
        assert len(read_samples(tmp_path / "even.parquet")) == 100_000

    def test_a_table_that_shrinks_well_is_no_bomb(self, write):
        table = gzip.compress(b"t,v\n" + b"".join(b"%d,1\n" % i for i in range(20_000)))
        assert len(read_samples(write(table, "even.csv.gz"))) == 20_000

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
    def test_too_many_columns_are_refused(self, write, delimiter):
        wide = delimiter.join(["1"] * (MAX_COLUMNS + 1)) + "\n"
        with pytest.raises(DataError, match=re.escape("more than 10,000 columns")):
            read_samples(write(3 * wide))

    def test_many_columns_are_read(self, write):
        names = ",".join(["t", "v", *(f"c{i}" for i in range(3000))])
        rows = "".join(f"{i},{i}.5" + ",0.5" * 3000 + "\n" for i in range(30))
        assert len(read_samples(write(f"{names}\n{rows}"), value="v")) == 30


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("0|1.5\n1|1.234.567\n", {}, "such as '1.234.567'"),
        ("date,clock,v\n2024-01-01,10:00,1\n2024-01-01,11:00,2\n2024-01", {}, "line 4: has 1 col"),
        ("t,v\n1,2\n2,3\n", {"time": "²"}, "no column '²' (--time)"),
        ("t,v\n1,2\n2,3\n", {"time": "9" * 5000}, "(--time)"),
        ("t,v\n1,2\n2,3\n", {"time_format": "%Y%Y"}, "--time-format '%Y%Y'"),
        ("t,v\n1,2\n2,3\n", {"time_format": "%Q"}, "--time-format '%Q'"),
    ],
)
def test_the_error_is_our_own(write, content, options, words):
    path = write(content)
    with pytest.raises(RobustFourierError, match=re.escape(words)):
        read_samples(path, **options)


def test_a_number_of_thousands_of_digits_is_missing_like_infinity(write):
    samples = read_samples(write("t,v\n" + "9" * 5000 + ",2\n2,3\n3,4\n"))
    assert samples.times.tolist() == [2.0, 3.0]


def test_text_in_an_array_of_values_is_refused_by_name():
    from robustfourier.samples import from_arrays

    with pytest.raises(InputError, match=re.escape("values: not all are numbers")):
        from_arrays([1, 2, 3], ["a", "b", "c"])


def test_marks_of_missing_values_count_in_a_column_of_whole_times_too(write):
    samples = read_samples(write("t,v\n1,5\n-999,6\n3,7\n"), na=("-999",))
    assert samples.times.tolist() == [1.0, 3.0]


class TestSeveralSeries:
    LONG = "time,sensor,value\n" + "".join(f"{i},{s},{i}.5\n" for i in range(20) for s in "AB")

    def test_they_are_not_averaged_without_a_word(self, write):
        words = "column 'sensor' holds 2 series ('A', 'B'); choose one, such as --by 'sensor=A'"
        with pytest.raises(DataError, match=re.escape(words)):
            read_samples(write(self.LONG))

    def test_numbers_tell_series_apart_too(self, write):
        long = self.LONG.replace("A", "17").replace("B", "4")
        with pytest.raises(DataError, match=re.escape("such as --by 'sensor=17'")):
            read_samples(write(long), value="value")

    def test_a_word_behind_many_measured_columns_is_found(self, write):
        more = "".join(f",m{i}" for i in range(30))
        head, *rows = self.LONG.replace("time,sensor,value", "time,x").splitlines()
        rows = [row.split(",") for row in rows]
        rows = [",".join([time, value, *["7"] * 30, label]) for time, label, value in rows]
        path = write("\n".join([f"{head}{more},sensor", *rows]) + "\n")
        with pytest.raises(DataError, match=re.escape("column 'sensor' holds 2 series")):
            read_samples(path, value="x")

    def test_one_is_chosen_by_its_label(self, write):
        samples = read_samples(write(self.LONG), by=("sensor=B",))
        assert samples.times.tolist() == list(range(20))
        assert samples.counts.duplicates == 0
        assert "rows with 'B' in column 'sensor' taken, one of 2" in samples.notes

    def test_a_column_without_a_label_is_asked_about(self, write):
        many = self.LONG + "".join(f"99,S{i},1\n" for i in range(30))
        words = "holds 32 series ('A', 'B', 'S0', 'S1', 'S2' …)"
        with pytest.raises(DataError, match=re.escape(words)):
            read_samples(write(many), by=("sensor",))

    def test_a_label_that_is_not_there_is_refused(self, write):
        with pytest.raises(DataError, match=re.escape("no row has 'C' in column 'sensor'")):
            read_samples(write(self.LONG), by=("sensor=C",))

    def test_the_mean_is_taken_if_told(self, write):
        assert len(read_samples(write(self.LONG), duplicates="mean")) == 20

    def test_rows_without_a_time_do_not_hide_them(self, write):
        with pytest.raises(DataError, match=re.escape("20 of 40 rows repeat a time")):
            read_samples(write(self.LONG + "NA,A,1\n" * 9))

    def test_a_few_repeats_and_notes_are_no_series(self, write):
        rows = "".join(f"{i},{'ok' if i % 2 else 'high'},{i}\n" for i in range(30))
        samples = read_samples(write(f"time,flag,value\n{rows}29,low,3\n"))
        assert samples.counts.duplicates == 1

    def test_two_columns_that_tell_series_apart_are_asked_about_in_turn(self, write):
        rows = "".join(f"{i},{a},{b},{i}\n" for i in range(9) for a in "AB" for b in "XYZ")
        path = write(f"time,site,sensor,value\n{rows}")
        with pytest.raises(DataError, match=re.escape("column 'sensor' holds 3 series")):
            read_samples(path)
        with pytest.raises(DataError, match=re.escape("column 'site' holds 2 series")):
            read_samples(path, by=("sensor=Y",))
        assert len(read_samples(path, by=("sensor=Y", "site=A"))) == 9

    @pytest.mark.parametrize("values", [3, 10, 100, 1000])
    def test_a_measured_column_tells_no_series_apart(self, write, values):
        rng = np.random.default_rng(values)
        rows = "".join(f"{i // 3},{rng.integers(values)},{i}\n" for i in range(3000))
        assert len(read_samples(write(f"time,counts,value\n{rows}"), value="value")) == 1000

    def test_parquet_goes_the_same_way(self, tmp_path, write):
        pytest.importorskip("pyarrow")
        path = tmp_path / "long.parquet"
        pd.read_csv(write(self.LONG)).to_parquet(path)
        with pytest.raises(DataError, match=re.escape("holds 2 series ('A', 'B')")):
            read_samples(path)
        assert len(read_samples(path, by=("sensor=A",))) == 20


def local_year(zone, step="h"):
    """A year of local times without their zone, and what a sine of 24 h is at them."""
    times = pd.date_range("2021-01-01", "2021-12-31", freq=step, tz="UTC")
    hours = (times - times[0]) / pd.Timedelta(hours=1)
    return times.tz_convert(zone).tz_localize(None), np.sin(2 * np.pi * hours / 24)


class TestClockChanges:
    @pytest.mark.parametrize("step", ["h", "30min", "15min"])
    @pytest.mark.parametrize(
        ("zone", "missing", "repeated"),
        [
            ("Europe/Berlin", "2021-03-28", "2021-10-31"),
            ("America/New_York", "2021-03-14", "2021-11-07"),
            ("Australia/Sydney", "2021-10-03", "2021-04-04"),
        ],
    )
    def test_a_missing_and_a_repeated_hour_are_noticed(self, write, zone, missing, repeated, step):
        times, values = local_year(zone, step)
        keep = np.random.default_rng(0).random(len(times)) > 0.002  # and some rows are lost
        keep |= times.strftime("%Y-%m-%d").isin([missing, repeated])
        table = pd.DataFrame({"when": times, "level": values})[keep]
        path = write(table.to_csv(index=False))
        words = f"an hour is repeated on {repeated} and one is missing on {missing}"
        assert any(words in n and f"--timezone {zone}" in n for n in read_samples(path).notes)
        told = read_samples(path, timezone=zone)
        assert told.counts.missing == told.counts.duplicates == 0
        assert not any("clock" in note for note in told.notes)

    def test_a_rule_that_we_do_not_know_is_noticed_without_a_name(self, write):
        times, values = local_year("Asia/Tehran")
        path = write(pd.DataFrame({"when": times, "level": values}).to_csv(index=False))
        assert any("--timezone NAME" in note for note in read_samples(path).notes)

    @pytest.mark.parametrize("rows", [1500, 8000])  # a winter, in which no clock is changed
    def test_a_clock_that_is_not_changed_gets_no_note(self, write, rows):
        times, values = local_year("UTC")
        table = pd.DataFrame({"when": times, "level": values})[:rows].drop(index=[100, 900])
        table = pd.concat([table, table.iloc[[777]]])  # a missing and a repeated hour by accident
        assert read_samples(write(table.to_csv(index=False))).notes == ()

    def test_a_daily_pattern_over_the_change_has_24_hours_with_the_zone(self, write):
        from robustfourier.analysis import fit_model

        times, values = local_year("Europe/Berlin")
        values += 0.005 * np.random.default_rng(1).normal(size=len(values))
        table = pd.DataFrame({"when": times, "level": values}).iloc[6900:7700]
        path = write(table.to_csv(index=False))
        with_zone = fit_model(read_samples(path, timezone="Europe/Berlin", unit="hour"))
        without = fit_model(read_samples(path, unit="hour"))
        assert with_zone.components_[0].period == pytest.approx(24.0, abs=0.0005)
        assert without.components_[0].period != pytest.approx(24.0, abs=0.005)


class TestOrdinaryTables:
    @pytest.mark.parametrize("head", ["", "level\n"])
    def test_a_single_column_is_numbered(self, write, head):
        samples = read_samples(write(head + "5.5\n6.5\nNA\n4\n"))
        assert samples.times.tolist() == [1.0, 2.0, 4.0]
        assert samples.values.tolist() == [5.5, 6.5, 4.0]
        assert any("counted from 1" in note for note in samples.notes)
        assert read_times(write(head + "5.5\n6.5\n4\n")).times.tolist() == [4.0, 5.5, 6.5]

    def test_thousands_in_quotes_are_thousands(self, write):
        samples = read_samples(write('day,sales\n1,"6,743"\n2,"12,001"\n3,987\n'))
        assert samples.values.tolist() == [6743.0, 12001.0, 987.0]
        assert "thousands set apart by commas" in samples.notes

    @pytest.mark.parametrize("name", [None, "when"])
    def test_the_index_of_a_parquet_table_is_its_time(self, tmp_path, name):
        pytest.importorskip("pyarrow")
        path = tmp_path / "data.parquet"
        index = pd.DatetimeIndex(HOURS, name=name)
        pd.DataFrame({"level": np.arange(40.0)}, index=index).to_parquet(path)
        samples = read_samples(path)
        np.testing.assert_array_equal(samples.times, HOURS.to_numpy())
        assert samples.time_name == (name or "index")

    @pytest.mark.parametrize(("unit", "span"), [("month", 24.0), ("year", 2.0)])
    def test_periods_of_dates_are_told_in_months_and_years(self, write, unit, span):
        from robustfourier.sampling import check_sampling

        samples = read_samples(write("date,v\n2020-01-01,1\n2021-12-31T12:00,2\n"), unit=unit)
        assert check_sampling(samples).domain.span == pytest.approx(span)
