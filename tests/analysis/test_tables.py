import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.altered import altered

from robustfourier.analysis.predicting import grid_samples
from robustfourier.analysis.table_files import fit_table, write_csv, write_fit
from robustfourier.domain import Domain
from robustfourier.errors import InputError, OutputError
from robustfourier.report import render
from robustfourier.report.next_steps import Place
from robustfourier.result_folders import RUN, claimed, exchanged
from robustfourier.results import result_tables as tables
from robustfourier.results.patterns import pattern_columns
from robustfourier.results.result_tables import fit_file, modes_columns, neutral


@given(st.text())
def test_no_text_is_left_that_a_spreadsheet_would_run(text):
    safe = neutral(text)
    assert not safe.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert "\n" not in safe


def test_formulas_in_names_and_cells_are_neutral_in_the_file(tmp_path):
    table = pd.DataFrame({"=cmd()": ["@SUM(A1)", "fine", None], "x": [-1.5, 0.1, 1e-300]})
    write_csv(table, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["'=cmd()", "x"]
    assert [row[0] for row in rows[1:]] == ["'@SUM(A1)", "fine", ""]
    assert [float(row[1]) for row in rows[1:]] == [-1.5, 0.1, 1e-300]


def test_the_fit_is_rounded_to_a_hundredth_of_its_error_and_the_data_are_not(
    small_result, tmp_path
):
    write_fit(small_result, tmp_path)
    with (tmp_path / "fit.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_array_equal(
        [float(row["value"]) for row in rows], small_result.samples.values
    )
    bound = 0.005 * small_result.std.min()
    for name, exact in [("fitted", small_result.fitted), ("component_A", small_result.parts[0])]:
        told = np.array([float(row[name]) for row in rows])
        assert 0.0 < np.max(np.abs(told - exact)) <= bound
        assert max(len(row[name]) for row in rows) <= 8


def test_what_the_table_alone_needs_is_not_computed_for_a_page(small_result):
    fresh, model = altered(small_result), small_result.model
    render(fresh, {})
    assert not {"std", "predicted"} & vars(fresh).keys()
    fit_table(fresh)
    times = fresh.samples.axis
    np.testing.assert_array_equal(fresh.predicted, model.predict(times))
    std = model.predict(times, return_std=True, remainder=False)[1]
    np.testing.assert_array_equal(fresh.std, std)


def test_without_errors_the_fit_keeps_all_its_digits(small_result):
    exact = altered(small_result, std=np.zeros(len(small_result.samples)))
    np.testing.assert_array_equal(fit_table(exact)["fitted"], small_result.fitted)


def test_many_rows_go_into_a_parquet_file(small_result, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_LONG", len(small_result.samples) - 1)
    assert fit_file(small_result) == "fit.parquet"
    write_fit(small_result, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["fit.parquet"]
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "fit.parquet"), fit_table(small_result)
    )
    assert "fit.parquet" in render(small_result, {}, Place("a.csv", "out"))
    monkeypatch.setattr(tables, "find_spec", lambda _: None)  # pyarrow is optional
    assert fit_file(small_result) == "fit.csv"


def test_tables_have_a_row_for_each_mode_and_pattern(small_result, noise_result):
    assert len(modes_columns(small_result)["mode"]) == len(small_result.modes)
    assert pattern_columns(small_result.patterns)["label"] == ["A", "B"]
    for columns in (pattern_columns(noise_result.patterns), modes_columns(noise_result)):
        assert len(columns["label"]) == 0


IDENTITY = {"sha256": "1"}


def finish(folder, identity, **options):
    """Go through a run that writes nothing but its record."""
    record = {"identity": identity, "input": {"file": "a.csv"}}
    with claimed(RUN, folder, identity, [Path("-")], **options), exchanged(RUN, folder, record):
        pass


class TestFolder:
    def test_a_new_folder_is_made(self, tmp_path):
        finish(tmp_path / "a" / "b", IDENTITY)
        assert RUN.read(tmp_path / "a" / "b")["finished"]

    def test_an_empty_folder_is_taken(self, tmp_path):
        (tmp_path / "a").mkdir()
        finish(tmp_path / "a", IDENTITY)

    def test_the_same_run_may_come_again(self, tmp_path):
        finish(tmp_path / "a", IDENTITY)
        finish(tmp_path / "a", IDENTITY)

    def test_another_run_is_kept_unless_told(self, tmp_path):
        finish(tmp_path / "a", IDENTITY)
        with pytest.raises(OutputError, match=re.escape("holds another run (of 'a.csv')")):
            finish(tmp_path / "a", {"sha256": "2"})
        finish(tmp_path / "a", {"sha256": "2"}, overwrite=True)

    def test_a_file_in_the_way_is_an_output_error(self, tmp_path):
        (tmp_path / "file").write_text("x")
        with pytest.raises(OutputError, match=re.escape("choose another place with --out")):
            finish(tmp_path / "file", IDENTITY)

    @pytest.mark.parametrize("content", ["", "[]", "{", "[" * 10_000, "\udcff"])
    def test_a_damaged_record_counts_as_none(self, tmp_path, content):
        (tmp_path / "run.json").write_text(content, encoding="utf-8", errors="surrogateescape")
        assert RUN.read(tmp_path) is None


class TestGrid:
    def test_both_ends_are_included(self):
        grid = grid_samples(0.0, 1.0, 0.1, Domain(0.0, 5.0), 100)
        assert len(grid) == 11
        assert grid.times[-1] == pytest.approx(1.0)

    def test_too_many_points_are_refused(self):
        with pytest.raises(InputError, match=re.escape("more than 10")):
            grid_samples(0.0, 1.0, 0.01, Domain(0.0, 5.0), 10)

    def test_ends_in_the_wrong_order_are_refused(self):
        with pytest.raises(InputError, match=re.escape("lies before --from")):
            grid_samples(1.0, 0.0, 0.1, Domain(0.0, 5.0), 10)
