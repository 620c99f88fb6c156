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
    frame = pd.DataFrame({"time": times, "load": load, "temp": temp})
    frame[:336].to_csv(folder / "load.csv", index=False)
    frame[336:][["time", "temp"]].to_csv(folder / "next.csv", index=False)
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
        "fit", folder / "load.csv", "--value", "load", "--with", "temp", "--out", out
    )
    assert code == 0, err
    assert re.search(r"Regressor 'temp': -0\.(7[5-9]|8[0-5])", said)
    code, _, err = run("predict", out, "--at", folder / "next.csv", "--out", ahead)
    assert code == 0, err
    told = pd.read_csv(ahead)["fitted"].to_numpy()
    assert np.sqrt(np.mean((told - came) ** 2)) < 0.8
    code, _, err = run("predict", out, "--to", "2024-01-16")
    assert code != 0
    assert "the model needs temp; give --at FILE with a column of times and these" in err


def test_a_horizon_with_other_columns_says_what_to_do(load_file, run):
    folder, _ = load_file
    code, _, err = run(
        "fit", folder / "load.csv", "--value", "load", "--with", "temp", "--horizon", "24"
    )
    assert code != 0
    assert "--horizon 24 needs temp after the record" in err


def test_one_series_alone_takes_a_horizon(load_file, run, tmp_path):
    folder, _ = load_file
    code, _, err = run("fit", folder / "load.csv", "--method", "network", "--horizon", "24",
                       "--value", "load", "--out", tmp_path / "out")  # fmt: skip
    assert code != 0
    assert "--with, --holidays and --horizon go with one series" in err
