"""One table of patterns: true times of maximum and minimum, and the same columns everywhere."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.estimators.components import COLUMNS
from robustfourier.results.patterns import pattern_columns
from robustfourier.results.result_tables import csv_text

RNG = np.random.default_rng(4)
DAYS = 60
START = pd.Timestamp("2024-03-01", tz="UTC")
HOURS = np.arange(0.0, 24.0 * DAYS)
# Highest at 15:00; its two equal minima are not half a cycle away.
PHASE = 2 * np.pi * (HOURS - 15.0) / 24.0
WAVE = np.cos(PHASE) + 0.3 * np.cos(2 * PHASE)
VALUES = 10.0 + WAVE + 0.05 * RNG.normal(size=len(HOURS))


@pytest.fixture(scope="module")
def model():
    index = START + pd.to_timedelta(HOURS, unit="h")
    return PeriodicMixture().fit(pd.Series(VALUES, index=index))


@pytest.fixture(scope="module")
def row(model):
    return model.components_.to_frame().iloc[0]


def test_the_maximum_is_reported_with_its_time_and_clock(row):
    assert abs(row["acrophase"] - 15.0) < 5 * 24 * row["epoch_max_error"]
    assert abs(row["acrophase"] - 15.0) < 0.1
    assert row["epoch_max"].hour in (14, 15)
    assert row["calendar"] == "day"


def test_the_minimum_is_reported_where_the_wave_is_lowest(row):
    fine = np.linspace(0.0, 24.0, 24_001)
    angle = 2 * np.pi * (fine - 15.0) / 24.0
    true = fine[np.argmin(np.cos(angle) + 0.3 * np.cos(2 * angle))]
    mirrored = (30.0 - true) % 24.0  # an even wave has two equal minima
    stamp = row["epoch_min"]
    hour = (stamp - stamp.normalize()) / pd.Timedelta(hours=1)
    assert min(abs(hour - true), abs(hour - mirrored)) < 0.2


def test_the_amplitude_is_half_the_range_with_an_error_that_covers(row):
    angle = np.linspace(0, 2 * np.pi, 10_001)
    true = 0.5 * np.ptp(np.cos(angle) + 0.3 * np.cos(2 * angle))
    assert 0 < row["amplitude_error"] < 0.01
    assert abs(row["amplitude"] - true) < 5 * row["amplitude_error"]


def test_of_magnitudes_the_smallest_is_the_maximum(model):
    plain = model.components_.to_frame().iloc[0]
    turned = model.components_.to_frame(magnitudes=True).iloc[0]
    assert turned["epoch_max"] == plain["epoch_min"]
    assert turned["epoch_min"] == plain["epoch_max"]


def test_the_false_alarm_survives_a_file(model, row, tmp_path):
    model.save(tmp_path / "model.rfm")
    again = load(tmp_path / "model.rfm").components_.to_frame().iloc[0]
    assert 0.0 <= row["false_alarm"] < 1e-10
    assert again["false_alarm"] == row["false_alarm"]
    assert row["snr"] > 50


def test_python_and_files_have_the_same_columns_and_numbers(model):
    frame = model.components_.to_frame()
    columns = pattern_columns(model.result().patterns)
    assert tuple(frame.columns) == tuple(columns) == COLUMNS
    for name in COLUMNS:
        ours, theirs = frame[name].tolist(), list(columns[name])
        if isinstance(ours[0], float):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)
        else:
            assert ours == theirs, name
    header = next(csv.reader(csv_text(columns).splitlines()))
    assert tuple(header) == COLUMNS


def test_the_answer_for_scripts_has_the_same_columns(run, write):
    rows = "".join(f"{h},{v}\n" for h, v in zip(HOURS[:240], VALUES[:240], strict=True))
    code, out, _ = run("fit", write("time [h],value\n" + rows), "--no-files", "--json")
    answer = json.loads(out)
    assert (code, answer["schema"]) == (0, 4)
    assert set(COLUMNS) <= set(answer["components"][0])
    assert answer["components"][0]["acrophase"] == pytest.approx(15.0, abs=0.2)


def test_the_table_is_one_of_astropy_and_of_xarray(model):
    pytest.importorskip("astropy")
    pytest.importorskip("xarray")
    table = model.components_.to_table()
    assert table.colnames == list(COLUMNS)
    assert str(table["period"].unit) == "d"
    data = model.components_.to_xarray()
    assert float(data["period"].sel(label="A")) == table["period"][0]


def test_one_cycle_of_each_pattern_is_a_table_that_begins_at_its_maximum(model, row):
    table = model.components_.waveforms(240)
    assert table["value"].idxmax() == 0
    angle = 2 * np.pi * table["phase"]
    true = np.cos(angle) + 0.3 * np.cos(2 * angle)
    assert np.abs(table["value"] - true).max() < 5 * table["value_error"].max() + 0.01
    assert table["time"].iloc[-1] == pytest.approx(239 / 240 * row["period"])
    assert 0.5 * np.ptp(table["value"]) == pytest.approx(row["amplitude"], rel=1e-3)


def test_a_model_without_patterns_has_an_empty_table():
    quiet = PeriodicMixture().fit(np.arange(40.0), RNG.normal(size=40))
    assert len(quiet.components_.to_frame()) == len(quiet.components_.waveforms()) == 0
    assert tuple(quiet.components_.to_frame().columns) == COLUMNS
