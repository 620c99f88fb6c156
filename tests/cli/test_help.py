"""Help: options in groups, each on one line of 80 columns; lengths of dates have a unit."""

import re

import pytest


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def options_of(text):
    """The groups of a help text with the lines of their options."""
    parts = re.split(r"^([A-Z][\w ]*):$", text, flags=re.M)[1:]
    bodies = (body.strip("\n").split("\n") for body in parts[1::2])
    return dict(zip(parts[::2], bodies, strict=True))


def test_options_of_a_fit_are_in_groups(run):
    _, out, _ = run("fit", "--help")
    groups = options_of(out)
    assert list(groups)[1:7] == [
        *("Reading", "Search", "Model", "Machines", "Many series", "Output"),
    ]
    assert any("--false-alarm" in line for line in groups["Search"])
    assert any("--time COLUMN" in line for line in groups["Reading"])


@pytest.mark.parametrize(
    "command", ["fit", "fit-many", "rhythm", "predict", "check", "inject", "app"]
)
def test_each_option_has_one_line(run, command):
    _, out, _ = run(command, "--help")
    groups = options_of(out)
    groups.pop("Arguments", None)
    lines = [line for body in groups.values() for line in body if line.strip()]
    assert lines
    assert [line for line in lines if not line.startswith("  -")] == []
    assert max(map(len, lines)) <= 80


def test_no_summary_of_a_command_is_cut(run):
    _, out, _ = run("--help")
    assert "..." not in out.split("Commands:")[1]


def test_a_length_without_unit_is_refused_where_times_are_dates(run, record_of_dates):
    code, _, err = run("fit", record_of_dates, "--no-files", "--period", "24")
    assert code == 2
    assert "--period '24': the times are dates; give a unit, such as 24h or 24d" in err
    assert run("fit", record_of_dates, "--no-files", "--period", "24", "--unit", "hour")[0] == 0


def test_an_empty_band_is_said_to_be_empty(run, record_of_dates):
    code, out, _ = run("fit", record_of_dates, "--no-files", "--shortest-period", "1y")
    assert code == 0
    assert "No period was searched: the band is empty" in out


@pytest.fixture
def record_of_dates(tmp_path):
    import numpy as np
    import pandas as pd

    hours = np.arange(16 * 24)
    y = np.cos(2 * np.pi * hours / 24) + 0.2 * np.random.default_rng(0).normal(size=len(hours))
    table = pd.DataFrame({"date": pd.date_range("2024-03-01", periods=len(y), freq="h"), "y": y})
    path = tmp_path / "hours.csv"
    table.to_csv(path, index=False)
    return path
