"""What a user types on an ordinary day, each line as it is meant."""

import inspect
import json
import os
import re
import subprocess
from typing import get_origin

import numpy as np
import pandas as pd
import pytest
from tests.program import PROGRAM

from robustfourier import PeriodicMixture
from robustfourier.analysis.comparing import compare
from robustfourier.cli.program import _COMMANDS
from robustfourier.errors import InputError

T = np.arange(200.0)


def wave(period, seed=0, height=1.0, phase=0.0):
    noise = 0.2 * np.random.default_rng(seed).normal(size=len(T))
    return height * np.cos(2 * np.pi * T / period + phase) + noise


@pytest.fixture
def run(run, tmp_path, monkeypatch):
    """The program in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return run


def test_parquet_with_an_index_as_its_time(run):
    index = pd.date_range("2024-01-01", periods=200, freq="D")
    pd.DataFrame({"sales": wave(7)}, index=index).to_parquet("sales.parquet")
    code, out, _ = run("fit", "sales.parquet", "--no-files")
    assert code == 0
    assert "time 'index', value 'sales'" in out
    assert ": a week." in out


def test_quoted_thousands(run, tmp_path):
    rows = "\n".join(f'{i},"{6743 + 100 * v:,.0f}"' for i, v in enumerate(wave(7)))
    (tmp_path / "count.csv").write_text(f"day,count\n{rows}\n")
    code, out, _ = run("fit", "count.csv", "--no-files")
    assert code == 0
    assert re.search(r"7\.00", out)


def test_one_column_is_numbered_and_told(run, tmp_path):
    (tmp_path / "y.csv").write_text("y\n" + "\n".join(f"{v:.4f}" for v in wave(7)))
    code, out, _ = run("fit", "y.csv", "--no-files")
    assert code == 0
    assert "its rows, counted from 1, are taken as times" in out


def test_a_constant_series_is_called_so(run, tmp_path):
    (tmp_path / "c.csv").write_text("t,v\n" + "\n".join(f"{i},5" for i in range(30)))
    code, out, _ = run("fit", "c.csv", "--no-files")
    assert code == 0
    assert "The series is constant: all 30 values are 5." in out


def test_a_value_given_twice_means_both(run, tmp_path):
    table = pd.DataFrame({"t": T, "v": wave(7), "w": wave(11, seed=1), "x": T})
    table.to_csv(tmp_path / "two.csv", index=False)
    code, *_ = run("fit", "two.csv", "--value", "v", "--value", "w", "--out", "both", "-q")
    assert code == 0
    series = pd.read_parquet(tmp_path / "both" / "series.parquet")
    assert len(series) == 2


@pytest.mark.parametrize(
    ("unit", "told"), [("month", r"1[12]\.\S+ ± \S+ mo"), ("year", r"\S+ ± \S+ yr")]
)
def test_months_and_years_are_units(run, tmp_path, unit, told):
    dates = pd.date_range("2004-01-01", periods=200, freq="MS")
    pd.DataFrame({"date": dates, "v": wave(12)}).to_csv(tmp_path / "v.csv", index=False)
    code, out, _ = run("fit", "v.csv", "--no-files", "--unit", unit)
    assert code == 0
    assert re.search(rf"^ A +{told}", out, re.M), out
    assert ": a year." in out


@pytest.mark.parametrize("option", [(), ("--magnitudes",)])
def test_magnitudes_are_drawn_with_the_bright_ones_on_top(run, tmp_path, option):
    pd.DataFrame({"t": T, "flux": wave(7)}).to_csv(tmp_path / "star.csv", index=False)
    assert run("fit", "star.csv", "--out", "out", "--figures", "png", "-q", *option)[0] == 0
    assert ('"down":true' in (tmp_path / "out" / "report.html").read_text()) is bool(option)


@pytest.mark.parametrize("command", ["fit", "fit-many"])
def test_an_empty_name_is_not_this_folder(run, command):
    code, _, told = run(command, "")
    assert code == 2
    assert "name of a file is empty" in told


def test_types_of_callbacks_are_plain_classes_which_every_python_tells_apart():
    """Python 3.10 takes ``list[str]`` for a class, and typer then fails on every command."""
    for name, command in _COMMANDS.items():
        for parameter in inspect.signature(command).parameters.values():
            for option in getattr(parameter.annotation, "__metadata__", ()):
                if option.callback is not None:
                    types = inspect.get_annotations(option.callback, eval_str=True).values()
                    assert all(get_origin(kind) is None for kind in types), name


def test_a_folder_means_the_files_in_it(run, tmp_path):
    for name in "ab":
        pd.DataFrame({"t": T, "v": wave(7)}).to_csv(tmp_path / f"{name}.csv", index=False)
    code, _, err = run("fit", ".", "-q")
    assert (code, err) == (0, "")
    (folder,) = tmp_path.glob("*-results")
    assert len(pd.read_parquet(folder / "series.parquet")) == 2


def test_a_narrow_terminal_keeps_the_letters_of_the_patterns(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")  # taken for a terminal
    pd.DataFrame({"t": T, "v": wave(7)}).to_csv(tmp_path / "n.csv", index=False)
    _, out, _ = run("fit", "n.csv", "--no-files")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert re.search(r"^ A +7\.00", plain, re.M)
    assert max(len(line) for line in plain.splitlines() if re.match(r"^ [A─]", line)) <= 60
    assert "a wider terminal also shows" in plain


def test_without_a_word_help_and_exit_codes_are_told(run):
    code, out, _ = run()
    assert code == 0
    assert "Exit codes: 0 ok, 1 failure, 2 usage, 3 bad data" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["fit"], 2), (["fit", "none.csv"], 3), (["info", "none.rfm"], 3), (["nonsense"], 2),
     (["fit", "none.csv", "--false-alarm", "7"], 2), (["compare", "none.rfm", "none.rfm"], 3)],
)  # fmt: skip
def test_exit_codes_are_as_documented(run, arguments, code):
    assert run(*arguments)[0] == code


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(shell):
    words = {"bash": "robustfourier co", "zsh": "robustfourier co", "fish": "robustfourier co"}
    asked = {
        "_ROBUSTFOURIER_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words[shell],
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_ARGS": words[shell],
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    told = subprocess.run(
        PROGRAM,
        env={**os.environ, **asked}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "compare" in told.stdout


class TestCompare:
    def model(self, *waves):
        return PeriodicMixture(unit="day").fit(T, sum(waves))

    def verdicts(self, first, second):
        return sorted(match.verdict for match in compare(first, second))

    def test_the_same_pattern_in_other_noise_agrees(self):
        assert self.verdicts(self.model(wave(7, 0)), self.model(wave(7, 1))) == ["agrees"]

    def test_another_period_or_height_has_drifted(self):
        first = self.model(wave(7, 0))
        assert self.verdicts(first, self.model(wave(7.05, 1))) == ["drifted"]
        assert self.verdicts(first, self.model(wave(7, 1, height=1.5))) == ["drifted"]

    def test_patterns_come_and_go(self):
        first, second = self.model(wave(7), wave(23, 2)), self.model(wave(7), wave(11, 2))
        assert self.verdicts(first, second) == ["agrees", "gone", "new"]

    def test_units_are_converted_or_refused(self):
        days, hours = self.model(wave(7)), PeriodicMixture(unit="hour").fit(24 * T, wave(7))
        assert self.verdicts(days, hours) == ["agrees"]
        with pytest.raises(InputError, match=re.escape("units 'day' and 'parsec' cannot be")):
            compare(days, PeriodicMixture(unit="parsec").fit(T, wave(7)))

    def test_the_command_says_it_in_a_sentence_and_a_table(self, run, tmp_path):
        self.model(wave(7, 0), wave(23, 2)).save(tmp_path / "a.rfm")
        self.model(wave(7, 1)).save(tmp_path / "b.rfm")
        code, out, _ = run("compare", "a.rfm", "b.rfm")
        assert code == 0
        assert out.startswith("One pattern agrees and one pattern gone.")
        code, out, _ = run("compare", "a.rfm", "b.rfm", "--json")
        assert sorted(match["verdict"] for match in json.loads(out)) == ["agrees", "gone"]


class TestFrequencies:
    def signal(self, write):
        t = np.arange(2000) / 2000.0
        noise = np.random.default_rng(0).normal(size=2000)
        values = np.cos(2 * np.pi * 117.78 * t) + 0.3 * noise
        return write("ax\n" + "".join(f"{v:.5f}\n" for v in values))

    def test_a_signal_is_told_in_hertz(self, run, write):
        code, out, err = run("fit", self.signal(write), "--rate", "2000", "--no-files")
        assert code == 0, err
        assert re.search(r"Frequency +Amplitude", out)
        assert len(re.findall(r"117\.[78]\d* ± 0\.0\d+ Hz", out)) == 2  # the sentence, the table
        assert re.search(r"^One repeating pattern explains .*: 117\.\S+ ± \S+ Hz\.$", out, re.M)

    def test_who_asks_for_periods_gets_periods(self, run, write):
        asked = ("--rate", "2000", "--no-files", "--show", "period")
        out = run("fit", self.signal(write), *asked)[1]
        assert " Hz" not in out.split("Frequency")[0]
        assert re.search(r"Period +Amplitude", out)

    def test_an_unknown_way_to_show_is_refused(self, run, write):
        code, _, err = run("fit", self.signal(write), "--show", "modes")
        assert code == 2
        assert "--show 'modes' is unknown; use one of auto, period, frequency" in err
