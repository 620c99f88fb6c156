"""Forecasts from the command line: a horizon, other columns, and what is asked for by name."""

import csv
import re

import numpy as np
import pandas as pd
import pytest

import robustfourier


@pytest.fixture(scope="module")
def load_file(tmp_path_factory):
    """Hours of load and temperature, and the temperature of the next two days."""
    rng, n = np.random.default_rng(0), 384
    folder, t = tmp_path_factory.mktemp("load"), np.arange(n)
    temp = 12 + 4 * np.cos(2 * np.pi * (t - 15) / 24) + np.cumsum(0.5 * rng.normal(size=n))
    load = 50 + 3 * np.cos(2 * np.pi * t / 24) - 0.8 * temp + 0.5 * rng.normal(size=n)
    times = pd.date_range("2024-01-01", periods=n, freq="h")
    sky = np.where(temp > temp[0] - 1, "warm", "cold")
    frame = pd.DataFrame({"time": times, "load": load, "Temp": temp, "sky": sky})
    frame[:336].to_csv(folder / "load.csv", index=False)
    frame[336:][["time", "Temp"]].to_csv(folder / "next.csv", index=False)
    return folder, load[336:]


def test_a_horizon_writes_the_forecast_and_its_figure(record, run, tmp_path):
    out = tmp_path / "results"
    code, _, err = run("fit", record, "--horizon", "12", "--out", out, "--figures", "png")
    assert code == 0, err
    with (out / "forecast.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ahead = robustfourier.load(out / "model.rfm").forecast(12)
    assert [float(row["fitted"]) for row in rows] == pytest.approx(ahead.mean)
    assert [float(row["new_high"]) for row in rows] == pytest.approx(ahead.upper)
    assert rows[0]["time"].startswith("2024-03-04T08:00")
    assert (out / "figures" / "forecast.png").stat().st_size > 5_000


def test_other_columns_are_part_of_the_fit_and_of_predictions(load_file, run, tmp_path):
    folder, came = load_file
    out, ahead = tmp_path / "results", tmp_path / "ahead.csv"
    code, said, err = run(
        "fit", folder / "load.csv", "--value", "load", "--with", "Temp", "--out", out
    )
    assert code == 0, err
    assert re.search(r"Regressor 'Temp': -0\.(7[5-9]|8[0-5])", said)
    code, _, err = run("predict", out, "--at", folder / "next.csv", "--out", ahead)
    assert code == 0, err
    told = pd.read_csv(ahead)["fitted"].to_numpy()
    assert np.sqrt(np.mean((told - came) ** 2)) < 0.8
    code, _, err = run("predict", out, "--to", "2024-01-16")
    assert code != 0
    assert "fitted --with Temp and needs their values at each time; give --at FILE" in err


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("wind", "--with 'wind': load.csv: no column 'wind' (--with); there are 'time', 'load'"),
        ("sky", "'warm' is no number; correct it, choose another column with --with"),
        ("load", "--with 'load' is the time or the value of the fit; name another column"),
    ],
)
def test_a_column_that_cannot_explain_is_named_with_its_option(load_file, run, column, words):
    folder, _ = load_file
    code, _, err = run(
        "fit", folder / "load.csv", "--value", "load", "--with", column, "--no-files"
    )
    assert code != 0
    assert words in err
    assert "--value" not in err


def test_a_value_that_is_missing_after_the_record_is_named_with_its_time(load_file, run, tmp_path):
    folder, _ = load_file
    out = tmp_path / "results"
    run("fit", folder / "load.csv", "--value", "load", "--with", "Temp", "--out", out)
    ahead = pd.read_csv(folder / "next.csv")
    ahead.loc[3, "Temp"] = np.nan
    ahead.to_csv(tmp_path / "gap.csv", index=False)
    code, _, err = run("predict", out, "--at", tmp_path / "gap.csv")
    assert code != 0
    assert "column 'Temp' has no number at 1 of 48 times, the first 2024-01-15 03:00:00" in err
    ahead[["time"]].assign(wind=1.0).to_csv(tmp_path / "other.csv", index=False)
    code, _, err = run("predict", out, "--at", tmp_path / "other.csv")
    assert code != 0
    assert "--with 'Temp': other.csv: no column 'Temp'" in err
    assert "the model was fitted --with Temp: --at needs their values at each time" in err


def test_a_horizon_with_other_columns_says_what_to_do(load_file, run):
    folder, _ = load_file
    code, _, err = run(
        "fit", folder / "load.csv", "--value", "load", "--with", "Temp", "--horizon", "24"
    )
    assert code != 0
    assert "--horizon 24 needs Temp after the record" in err


def test_one_series_alone_takes_a_horizon(load_file, run, tmp_path):
    folder, _ = load_file
    code, _, err = run("fit", folder / "load.csv", "--method", "network", "--horizon", "24",
                       "--value", "load", "--out", tmp_path / "out")  # fmt: skip
    assert code != 0
    assert "--with, --holidays and --horizon go with one series" in err
