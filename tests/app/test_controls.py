"""Controls of the page: all that the command line can say of reading, in words of the page."""

import inspect
import json

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.analysis.comparing import compare, in_a_sentence
from robustfourier.app.file_preview import preview, sheet_names
from robustfourier.app.fit_comparison import comparison
from robustfourier.app.reading_controls import CONTROLS, in_controls
from robustfourier.cli.options import reading_options

ERRORS = json.dumps(
    [
        "a.csv: cannot tell which of 'a', 'b' is the value; choose with --value",
        "a.csv, line 3: correct it, choose another column with --value, or say --na '2 V'",
        "a.csv: 12 of 40 rows repeat a time because column 'sensor' tells series apart; choose "
        "one, such as --by 'sensor=A'",
        "a.mat: holds neither times nor a sampling rate; give --rate, such as --rate 20000",
        "a.csv, line 4: is no date; say how dates are written with --time-format",
    ]
)


def test_every_option_of_reading_is_a_control():
    options = set(inspect.signature(reading_options).parameters)
    assert {control.option for control in CONTROLS} - {"magnitudes"} == options


@pytest.mark.parametrize("words", json.loads(ERRORS))
def test_errors_speak_of_controls(words):
    said = in_controls(words)
    assert "--" not in said
    assert "“" in said


def test_a_value_is_kept_beside_its_control():
    assert in_controls("say --rate, such as --rate 20000").endswith("“Samples per second”: 20000")
    assert in_controls("or say --na '2 V'") == "or say “Marks of missing values”: 2 V"


def test_a_file_is_shown_even_where_its_columns_are_not_clear(tmp_path):
    (tmp_path / "a.csv").write_text("t;x;y\n" + "".join(f"{i};{i}.5;{i}\n" for i in range(20)))
    shown = preview(tmp_path / "a.csv", {})
    assert shown["columns"] == ["t", "x", "y"]
    assert shown["rows"][1] == ["1", "1.5", "1"]
    assert len(shown["rows"]) == 6
    other = preview(tmp_path / "a.csv", {"skip": 2, "delimiter": ";"})
    assert other["rows"][0] == ["1", "1.5", "1"]


def test_a_text_that_is_no_table_is_shown_as_its_lines(tmp_path):
    (tmp_path / "a.txt").write_text("hello\n")
    assert preview(tmp_path / "a.txt", {})["rows"] == [["hello"]]


def test_a_picture_is_no_table(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert preview(tmp_path / "a.png", {})["rows"] == []
    assert sheet_names(tmp_path / "a.png") == []


def test_sheets_are_listed(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "north & south"
    book.create_sheet("west")
    book.save(tmp_path / "a.xlsx")
    assert sheet_names(tmp_path / "a.xlsx") == ["north & south", "west"]


class TestComparing:
    T = np.arange(0.0, 120.0, 0.25)

    def model(self, *waves, seed=0):
        noise = 0.2 * np.random.default_rng(seed).normal(size=len(self.T))
        parts = [a * np.cos(2 * np.pi * self.T / p) for p, a in waves]
        return PeriodicMixture(unit="day").fit(self.T, sum(parts, noise))

    def test_what_is_new_gone_or_changed_is_a_sentence(self):
        before, after = self.model((7, 1), (3.1, 0.7)), self.model((7, 2), (11.3, 0.7), seed=1)
        said = in_a_sentence(compare(before, after))
        assert "11.3" in said.split(" is new")[0]
        assert "3.10" in said.split(" is new")[1].split(" is gone")[0]
        assert said.endswith("(amplitude larger) changed.")

    def test_the_same_twice_is_no_change(self):
        one = self.model((7, 1))
        assert in_a_sentence(compare(one, one)).endswith("both find the same pattern.")

    def test_folders_are_compared_with_shares_for_a_picture(self, tmp_path):
        for name, waves in (("a", [(7, 1)]), ("b", [(7, 1), (3.1, 0.7)])):
            (tmp_path / name).mkdir()
            self.model(*waves).save(tmp_path / name / "model.rfm")
        told = comparison(tmp_path / "a", tmp_path / "b")
        by = {p["verdict"]: p for p in told["patterns"]}
        assert by["new"]["shares"][0] == 0.0 < by["new"]["shares"][1]
        assert by["new"]["exact"] == pytest.approx(3.1, rel=1e-2)
