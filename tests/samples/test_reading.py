import gzip
import io
import re
import sys

import numpy as np
import pandas as pd
import pytest

from robustfourier.errors import DataError, InputError, MissingDependencyError
from robustfourier.samples import ReadOptions, from_arrays, read_samples, read_times
from robustfourier.samples.partitions import Layout, parts_of

PLAIN = "time,value\n1,2.5\n2,3.5\n4,0.25\n"


WAYS: dict[str, str | bytes] = {
    "comma": PLAIN,
    "semicolon": PLAIN.replace(",", ";"),
    "tab": PLAIN.replace(",", "\t"),
    "bar": PLAIN.replace(",", "|"),
    "blanks": PLAIN.replace(",", "   "),
    "decimal comma": PLAIN.replace(",", ";").replace(".", ","),
    "decimal comma in quotes": 'time,value\n1,"2,5"\n2,"3,5"\n4,"0,25"\n',
    "a comment as header": "# time value\n1 2.5\n2 3.5\n4 0.25\n",
    "a preamble": "Station Nowhere\nserial no 5\n" + PLAIN,
    "blank lines": PLAIN.replace("\n", "\n\n"),
    "Windows line ends": PLAIN.replace("\n", "\r\n"),
    "old Mac line ends": PLAIN.replace("\n", "\r"),
    "no line end at the end": PLAIN.rstrip("\n"),
    "a last delimiter": PLAIN.replace("\n", ",\n"),
    "quotes": PLAIN.replace("2.5", '"2.5"'),
    "Fortran exponents": PLAIN.replace("2.5", "0.25D+01"),
    "UTF-8 with a mark": "\ufeff" + PLAIN,
    "UTF-16": PLAIN.encode("utf-16"),
    "UTF-16 without a mark": PLAIN.encode("utf-16-le"),
    "UTF-16 big-endian without a mark": PLAIN.encode("utf-16-be"),
    "UTF-32": PLAIN.encode("utf-32"),
    "gzip": gzip.compress(PLAIN.encode()),
    "a text column": "station,time,value\na,1,2.5\nb,2,3.5\nc,4,0.25\n",
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_table_is_read_however_it_is_written(write, way):
    samples = read_samples(write(WAYS[way]))
    np.testing.assert_array_equal(samples.times, [1.0, 2.0, 4.0])
    np.testing.assert_array_equal(samples.values, [2.5, 3.5, 0.25])
    assert samples.errors is None


def test_latin_1_names_survive(write):
    samples = read_samples(write("Zeit;Höhe °C\n1;2\n2;3\n".encode("latin-1")))
    assert samples.value_name == "Höhe °C"


def test_standard_input_is_read(monkeypatch):
    fake = io.TextIOWrapper(io.BytesIO(PLAIN.encode()))
    monkeypatch.setattr(sys, "stdin", fake)
    assert read_samples("-").values.tolist() == [2.5, 3.5, 0.25]


@pytest.mark.parametrize(
    ("head", "kind"), [(b"PAR1", "Parquet"), (b"\x89HDF\r", "netCDF"), (b"SIMPLE  = T", "FITS")]
)
def test_what_only_a_file_can_hold_is_named_where_it_comes_packed_or_by_a_pipe(
    write, monkeypatch, head, kind
):
    words = f"is a {kind} file, which is read neither from a pipe nor packed; give the file itself"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(head + b"\n1,2\n")))
    for path in ("-", write(gzip.compress(head + b"\n1,2\n"), "data.csv.gz")):
        with pytest.raises(DataError, match=re.escape(words)):
            read_samples(path)


def test_parquet_gives_the_same_samples_as_text(tmp_path):
    pytest.importorskip("pyarrow")
    table = pd.DataFrame({"time": [1.0, 2.0, 4.0], "value": [2.5, None, 0.25], "note": list("abc")})
    path = tmp_path / "data.parquet"
    table.to_parquet(path)
    samples = read_samples(path)
    assert samples.times.tolist() == [1.0, 4.0]
    assert samples.counts.missing == 1
    assert samples.sha256 is not None


def test_parquet_dates_keep_their_zone(tmp_path):
    pytest.importorskip("pyarrow")
    times = pd.date_range("2024-03-30", periods=4, freq="12h", tz="Europe/Berlin")
    path = tmp_path / "data.parquet"
    pd.DataFrame({"when": times, "y": range(4)}).to_parquet(path)
    samples = read_samples(path)
    assert samples.timezone == "Europe/Berlin"
    assert (samples.axis == times).all()


def test_a_file_that_is_no_parquet_is_refused(write):
    pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=re.escape("fake.parquet: cannot be read as Parquet")):
        read_samples(write(PLAIN, "fake.parquet"))


def test_without_pyarrow_the_error_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependencyError, match=re.escape("pip install robustfourier[arrow]")):
        read_samples(write(b"PAR1", "a.parquet"))


class TestTimes:
    def read(self, write, *cells, name="time", **options):
        rows = "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells))
        return read_samples(write(f'"{name}",value\n{rows}'), **options)

    @pytest.mark.parametrize(
        ("cells", "expected"),
        [
            (["2024-02-28", "2024-02-29"], ["2024-02-28", "2024-02-29"]),
            (["2024-02-28T10", "2024-02-28T11"], ["2024-02-28T10", "2024-02-28T11"]),
            (["2024-02-28 10:00:00.5", "2024-02-28 10:00:01"],
             ["2024-02-28T10:00:00.5", "2024-02-28T10:00:01"]),
            (["2024-01", "2024-02"], ["2024-01-01", "2024-02-01"]),
            (["28.02.2024", "29.02.2024"], ["2024-02-28", "2024-02-29"]),
            (["28.02.2024 13:45", "29.02.2024 01:00"], ["2024-02-28T13:45", "2024-02-29T01:00"]),
            (["2024/02/28", "2024/02/29"], ["2024-02-28", "2024-02-29"]),
            (["01/02/2024", "13/02/2024"], ["2024-02-01", "2024-02-13"]),
            (["01/02/2024", "01/13/2024"], ["2024-01-02", "2024-01-13"]),
            (["1 Feb 2024", "2 Feb 2024"], ["2024-02-01", "2024-02-02"]),
            (["Feb 1, 2024", "Feb 2, 2024"], ["2024-02-01", "2024-02-02"]),
            (["Feb 1 2024", "Feb 2 2024"], ["2024-02-01", "2024-02-02"]),
            (["Feb-1-2024", "Feb-2-2024"], ["2024-02-01", "2024-02-02"]),
            (["01-Feb-24", "02-Feb-24"], ["2024-02-01", "2024-02-02"]),
            (["Feb 2024", "Mar 2024"], ["2024-02-01", "2024-03-01"]),
            (["February 2024", "March 2024"], ["2024-02-01", "2024-03-01"]),
            (["2024 Feb", "2024 Mar"], ["2024-02-01", "2024-03-01"]),
            (["Feb-24", "Mar-24"], ["2024-02-01", "2024-03-01"]),
            (["1970 Q1", "1970 Q2"], ["1970-01-01", "1970-04-01"]),
            (["1970Q3", "1970Q4"], ["1970-07-01", "1970-10-01"]),
            (["Q4 1970", "Q1 1971"], ["1970-10-01", "1971-01-01"]),
            (["02/01/2024 1:05 PM", "02/13/2024 2:05 AM"],
             ["2024-02-01T13:05", "2024-02-13T02:05"]),
            (["1609-12-31", "1610-01-01"], ["1609-12-31", "1610-01-01"]),
            (["2004-01-04 - 2004-01-10", "2004-01-11 - 2004-01-17"], ["2004-01-04", "2004-01-11"]),
            (["1600000000", "1600000001"], ["2020-09-13T12:26:40", "2020-09-13T12:26:41"]),
            (["1600000000.5", "1600000001"], ["2020-09-13T12:26:40.5", "2020-09-13T12:26:41"]),
            (["1600000000123", "1600000001123"],
             ["2020-09-13T12:26:40.123", "2020-09-13T12:26:41.123"]),
            (["1600000000123456", "1600000001123456"],
             ["2020-09-13T12:26:40.123456", "2020-09-13T12:26:41.123456"]),
            (["1600000000123456789", "1600000001123456789"],
             ["2020-09-13T12:26:40.123456789", "2020-09-13T12:26:41.123456789"]),
        ],
    )  # fmt: skip
    def test_dates_and_epochs_are_read_exactly(self, write, cells, expected):
        samples = self.read(write, *cells)
        wanted = np.array(expected, "datetime64[ns]")
        np.testing.assert_array_equal(samples.times.astype("datetime64[ns]"), wanted)

    def test_compact_dates_are_dates_where_the_name_says_so(self, write):
        assert self.read(write, "20240228", "20240229", name="date").dates
        assert not self.read(write, "20240228", "20240229", name="counter").dates

    def test_julian_dates_stay_numbers_in_days(self, write):
        samples = self.read(write, "2455197.5", "2455198.25", name="HJD")
        assert samples.times.tolist() == [2455197.5, 2455198.25]
        assert samples.unit == "day"

    @pytest.mark.parametrize(
        ("name", "unit"),
        [("t [h]", "hour"), ("time (s)", "second"), ("elapsed_seconds", "second"),
         ("day", "day"), ("year", "year"), ("t", ""), ("MJD", "day")],
    )  # fmt: skip
    def test_the_name_tells_the_unit(self, write, name, unit):
        assert self.read(write, "1", "2", name=name).unit == unit

    def test_offsets_of_summer_and_winter_are_one_clock(self, write):
        samples = self.read(write, "2024-10-27T02:30+02:00", "2024-10-27T02:30+01:00")
        assert np.diff(samples.times) == np.timedelta64(1, "h")
        assert samples.timezone == "UTC"

    def test_a_repeated_hour_is_told_apart_by_its_order(self, write):
        hours = ["01:30", "02:30", "02:30", "03:30"]
        cells = [f"2024-10-27 {hour}" for hour in hours]
        samples = self.read(write, *cells, timezone="Europe/Berlin")
        assert (np.diff(samples.times) == np.timedelta64(1, "h")).all()
        assert samples.counts.duplicates == 0

    def test_hours_that_do_not_exist_are_left_out_and_counted(self, write):
        cells = ["2024-03-31 01:30", "2024-03-31 02:30", "2024-03-31 03:30"]
        samples = self.read(write, *cells, timezone="Europe/Berlin")
        assert len(samples) == 2
        assert samples.counts.missing == 1
        assert any("clocks change" in note for note in samples.notes)

    def test_a_date_and_a_time_column_are_joined(self, write):
        path = write("date,time,level\n2024-01-01,10:00,1\n2024-01-01,11:30,2\n")
        samples = read_samples(path)
        assert np.diff(samples.times) == np.timedelta64(90, "m")
        assert samples.time_name == "date time"

    def test_the_time_format_can_be_told(self, write):
        samples = self.read(write, "3/4/2024", "4/4/2024", time_format="%d/%m/%Y")
        assert samples.times[0] == np.datetime64("2024-04-03")

    def test_a_number_stays_a_number_if_told(self, write):
        samples = self.read(write, "1600000000", "1600000001", time_format="number")
        assert samples.times.tolist() == [1600000000.0, 1600000001.0]


def test_google_trends_is_recognised(write):
    path = write(
        "Category: All categories\n\nTime,tea: (Worldwide)\n"
        "2024-01-01T00,5\n2024-01-01T01,<1\n2024-01-01T01,<1\n2024-01-01T02,7\n"
    )
    samples = read_samples(path)
    assert samples.values.tolist() == [5.0, 0.5, 7.0]
    assert samples.value_name == "tea: (Worldwide)"
    assert samples.counts.duplicates == 1
    assert any("Google Trends" in note for note in samples.notes)


class TestCleaning:
    def test_missing_rows_are_dropped_and_counted(self, write):
        path = write("t,v\n1,5\n2,\n3,NA\n,4\n5,inf\n6,1\n")
        samples = read_samples(path)
        assert samples.times.tolist() == [1.0, 6.0]
        assert samples.counts.missing == 4
        assert samples.counts.rows == 6

    def test_missing_rows_can_be_an_error_that_names_the_line(self, write):
        with pytest.raises(DataError, match=re.escape("data.csv, line 3: a value is missing")):
            read_samples(write("t,v\n1,5\n2,\n"), missing="error")

    def test_own_marks_of_missing_values_are_known(self, write):
        samples = read_samples(write("t,v\n1,5\n2,-999\n3,bad\n4,6\n"), na=("-999", "bad"))
        assert samples.values.tolist() == [5.0, 6.0]

    def test_a_mark_of_missing_values_is_left_out_where_enough_others_show_it(self, write):
        rows = [
            (1, 5.0),
            (2, -999.0),
            (3, -999.0),
            *((t, 5.0 + t % 13 / 100) for t in range(4, 40)),
        ]
        assert read_samples(write("t,v\n1,5\n2,-999\n3,-999\n4,6\n5,5\n")).values.min() == -999
        samples = read_samples(
            write("t,v\n" + "".join(f"{t},{v}\n" for t, v in [*rows, (40, -999)]))
        )
        assert samples.values.min() == 5
        assert samples.counts.missing == 3

    @pytest.mark.parametrize(
        ("rule", "expected"), [("mean", [3.0, 9.0]), ("first", [1.0, 9.0]), ("last", [5.0, 9.0])]
    )
    def test_repeated_times_become_one(self, write, rule, expected):
        samples = read_samples(write("t,v\n1,1\n1,3\n1,5\n2,9\n"), duplicates=rule)
        assert samples.values.tolist() == expected
        assert samples.counts.duplicates == 2

    def test_repeated_times_can_be_kept_or_refused(self, write):
        path = write("t,v\n1,1\n1,3\n2,9\n")
        assert len(read_samples(path, duplicates="keep")) == 3
        with pytest.raises(DataError, match=re.escape("line 3: time 1.0 occurs again")):
            read_samples(path, duplicates="error")

    def test_means_are_weighted_by_errors(self, write):
        samples = read_samples(write("t,v,err\n1,0,1\n1,3,2\n2,9,1\n"))
        assert samples.values[0] == pytest.approx((0 * 1 + 3 / 4) / (1 + 1 / 4))
        assert samples.errors[0] == pytest.approx((1 + 1 / 4) ** -0.5)

    def test_rows_are_sorted_and_the_moved_ones_counted(self, write):
        samples = read_samples(write("t,v\n3,30\n1,10\n2,20\n"))
        assert samples.values.tolist() == [10.0, 20.0, 30.0]
        assert samples.counts.out_of_order == 1

    def test_errors_must_be_positive(self, write):
        with pytest.raises(DataError, match=re.escape("line 3, column 'err': the error 0")):
            read_samples(write("t,v,err\n1,0,1\n2,3,0\n"))

    def test_arrays_go_the_same_way(self):
        samples = from_arrays([3, 1, 2, 2], [1.0, np.nan, 4.0, 6.0])
        assert samples.times.tolist() == [2, 3]
        assert samples.values.tolist() == [5.0, 1.0]

    def test_arrays_of_other_lengths_are_refused(self):
        with pytest.raises(InputError, match=re.escape("values has shape (2,)")):
            from_arrays([1, 2, 3], [1.0, 2.0])


class TestColumns:
    @pytest.mark.parametrize(
        ("header", "taken"),
        [
            ("time,flux,flux_err", ("time", "flux", "flux_err")),
            ("value,time", ("time", "value", None)),
            ("jd,mag,e_mag", ("jd", "mag", "e_mag")),
            ("x,y", ("x", "y", None)),
            ("id,t,y", ("t", "y", None)),
            ("time,sunspot.month", ("time", "sunspot.month", None)),
        ],
    )
    def test_columns_are_found_by_name_where_that_is_clear(self, write, header, taken):
        width = header.count(",") + 1
        rows = "".join(",".join([f"{i}.5"] * width) + "\n" for i in range(1, 5))
        samples = read_samples(write(f"{header}\n{rows}"))
        assert (samples.time_name, samples.value_name, samples.error_name) == taken

    @pytest.mark.parametrize("first", ["", '""', "Unnamed: 0", "index", "rownames"])
    @pytest.mark.parametrize("start", [0, 1])
    def test_row_numbers_that_pandas_and_r_write_are_no_values(self, write, first, start):
        rows = "".join(f"{start + i},{1949 + i / 12:.4f},{100 + i}\n" for i in range(5))
        samples = read_samples(write(f"{first},time,passengers\n{rows}"))
        assert (samples.time_name, samples.value_name) == ("time", "passengers")
        assert samples.values.tolist() == [100, 101, 102, 103, 104]

    @pytest.mark.parametrize("values", [None, "all"])
    def test_nor_are_they_in_a_survey(self, write, values):
        table = write(",day,shop,sales\n0,1,A,5\n1,1,B,7\n2,2,A,6\n3,2,B,9\n")
        layout = Layout.of(parts_of(table)[0], ReadOptions(), values, "shop")
        assert layout.values == ("sales",)

    def test_row_numbers_are_the_time_where_there_is_no_other(self, write):
        samples = read_samples(write(",passengers\n0,7\n1,8\n2,6\n"))
        assert samples.times.tolist() == [0, 1, 2]

    def test_an_unnamed_column_that_does_not_count_rows_may_be_meant(self, write):
        with pytest.raises(DataError, match=re.escape("is the value; choose with --value")):
            read_samples(write(",time,b\n5,1,3\n9,2,4\n7,3,5\n"))

    def test_an_error_lists_the_columns_that_could_be_meant(self, write):
        with pytest.raises(
            DataError, match=re.escape("cannot tell which of 'a', 'b' is the value")
        ):
            read_samples(write("time,a,b\n1,2,3\n2,3,4\n"))

    def test_columns_can_be_given_by_name_case_or_number(self, write):
        path = write("time,a,b\n1,2,3\n2,3,4\n")
        assert read_samples(path, value="b").values.tolist() == [3.0, 4.0]
        assert read_samples(path, value="B").values.tolist() == [3.0, 4.0]
        assert read_samples(path, value="2").values.tolist() == [2.0, 3.0]

    def test_an_unknown_column_is_named_with_those_there_are(self, write):
        with pytest.raises(DataError, match=re.escape("no column 'c' (--value); there are")):
            read_samples(write("time,a\n1,2\n2,3\n"), value="c")

    def test_columns_of_one_name_are_told_apart_by_number(self, write):
        path = write("time,a,a\n1,2,3\n2,3,4\n")
        with pytest.raises(DataError, match=re.escape("2 columns are called 'a'")):
            read_samples(path, value="a")


def test_times_alone_can_be_read(write):
    assert read_times(write("when\n3\n1\n2\n")).times.tolist() == [1.0, 2.0, 3.0]
    assert read_times(write("1\n2\n2\n")).times.tolist() == [1.0, 2.0, 2.0]


def test_times_alone_can_be_read_from_parquet(tmp_path):
    path = tmp_path / "times.parquet"
    pd.DataFrame({"name": ["a", "b", "c"], "when": [3.0, 1.0, 1.0]}).to_parquet(path)
    assert read_times(path).times.tolist() == [1.0, 1.0, 3.0]


def test_blocks_join_without_a_seam(write, monkeypatch):
    from robustfourier.samples import text_tables as table

    rows = "".join(f"{i},{i % 7}\n" for i in range(1000))
    whole = read_samples(write(f"t,v\n{rows}"))
    monkeypatch.setattr(table, "BLOCK", 17)
    parts = read_samples(write(f"t,v\n{rows}"))
    np.testing.assert_array_equal(whole.times, parts.times)
    np.testing.assert_array_equal(whole.values, parts.values)


def test_an_error_far_down_still_names_its_line(write, monkeypatch):
    from robustfourier.samples import text_tables as table

    monkeypatch.setattr(table, "BLOCK", 100)
    rows = "".join(f"{i},{i}\n" for i in range(5000)) + "5000,oops\n"
    with pytest.raises(DataError, match=re.escape("line 5002, column 'v': 'oops' is no number")):
        read_samples(write(f"t,v\n{rows}"))


def test_memory_stays_bounded_while_a_long_file_is_read(write, monkeypatch):
    import tracemalloc

    from robustfourier.samples import text_tables as table

    monkeypatch.setattr(table, "BLOCK", 1000)
    n = 20_000
    rows = "".join(f"{i},{i % 97}.25,some text that is not needed at all\n" for i in range(n))
    path = write(f"t,v,note\n{rows}")
    tracemalloc.start()
    samples = read_samples(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(samples) == n
    # What is kept (time, value, line number), twice while blocks are joined and once more while it
    # is cleaned, and 2 MB for the first lines and one block; the file itself has 1.1 MB.
    assert peak < 9 * 8 * n + 2e6
