"""`predict` and `info` on a saved model; `check` and `inject` on a record."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd

import robustfourier


class TestModels:
    def test_predictions_on_a_grid_are_the_models(self, finished, run):
        model = finished[1] / "model.rfm"
        code, out, _ = run(
            "predict", model, "--from", "2024-03-02", "--to", "2024-03-02T06:00", "--every", "90min"
        )
        assert code == 0
        rows = list(csv.DictReader(out.splitlines()))
        assert [row["time"][11:16] for row in rows] == ["00:00", "01:30", "03:00", "04:30", "06:00"]
        times = np.array([row["time"] for row in rows], "datetime64[us]")
        wanted = robustfourier.load(model).predict(times)
        np.testing.assert_array_equal([float(row["fitted"]) for row in rows], wanted)

    def test_to_alone_forecasts_from_the_record_on(self, finished, run):
        model = finished[1] / "model.rfm"
        fitted = robustfourier.load(model)
        column, domain = fitted.models_[0], fitted.domains_[0]
        first, stop = domain.from_theta(column.last + column.spacing * np.array([1.0, 10.01]))
        code, out, err = run("predict", model, "--to", str(stop))
        assert code == 0, err
        rows = list(csv.DictReader(out.splitlines()))
        assert len(rows) == 10
        times = np.array([row["time"] for row in rows], "datetime64[us]")
        assert times[0] == first
        ahead = fitted.forecast(times=times)
        for name, values in (("fitted", ahead.mean), ("new_low", ahead.lower)):
            np.testing.assert_allclose([float(row[name]) for row in rows], values)

    def test_predictions_at_the_times_of_a_file(self, finished, record, run, tmp_path):
        out = tmp_path / "there.csv"
        code, said, _ = run(
            "predict", finished[1] / "model.rfm", "--at", record, "--out", out, "--time", "when"
        )
        assert code == 0
        assert "160 predictions" in said
        with out.open(encoding="utf-8") as file, (finished[1] / "fit.csv").open() as fit:
            new, old = ([row["fitted"] for row in csv.DictReader(f)] for f in (file, fit))
        decimals = max(len(text.partition(".")[2]) for text in old)  # those that count
        assert [round(float(text), decimals) for text in new] == [float(text) for text in old]

    def test_info_tells_what_a_file_holds(self, finished, run):
        code, out, _ = run("info", finished[1] / "model.rfm")
        assert code == 0
        assert "PeriodicMixture" in out
        assert re.search(r"12\.[34]\d* ± [\d.]+ h", out)
        told = json.loads(run("info", finished[1] / "model.rfm", "--json")[1])
        assert told["unit"] == "day"

    def test_a_result_folder_stands_for_its_model(self, finished, run):
        assert run("info", finished[1]) == run("info", finished[1] / "model.rfm")

    def test_a_file_that_is_no_model_is_bad_data(self, record, run):
        code, _, err = run("info", record)
        assert code == 3
        assert "is no robustfourier model" in err

    def test_numbers_for_a_model_of_dates_are_refused(self, finished, run):
        code, _, err = run(
            "predict", finished[1] / "model.rfm", "--from", "x", "--to", "2", "--every", "1h"
        )
        assert code == 2
        assert "give a date" in err


class TestSurvey:
    def test_data_of_the_package_are_called_by_name(self, run):
        code, out, _ = run("check", "example:sunspots", "--json")
        assert code == 0
        assert json.loads(out)["unit"] == "year"
        code, _, err = run("check", "example:moon")
        assert code == 2
        assert "example:double_mode_cepheid" in err

    def test_check_tells_what_the_sampling_allows(self, record, run, tmp_path):
        picture = tmp_path / "window.png"
        code, out, _ = run("check", record, "--out", picture)
        assert code == 0
        assert "160 samples on an even grid, one every 30 min" in out
        assert picture.stat().st_size > 1000

    def test_inject_maps_what_would_have_been_found(self, record, run, tmp_path):
        code, out, err = run(
            "inject", record, "--periods", "2", "--trials", "1", "--amplitude", "0.001",
            "--amplitude", "1.0", "--out", tmp_path / "map", "--json",
        )  # fmt: skip
        assert code == 0, err
        told = json.loads(out)
        assert [row[0] for row in told["found"]] == [0.0, 0.0]
        assert [row[1] for row in told["found"]] == [1.0, 1.0]
        assert {p.name for p in (tmp_path / "map").iterdir()} == {
            "completeness.csv", "completeness.png",
        }  # fmt: skip


class TestCalendar:
    def test_months_go_on_to_december_and_step_by_months(self, run, tmp_path):
        months = pd.date_range("2015-01-31", periods=96, freq=pd.offsets.MonthEnd())
        wave = np.cos(2 * np.pi * np.arange(96) / 12)
        noise = np.random.default_rng(0).normal(size=96)
        model = robustfourier.PeriodicMixture().fit(months, 20 + 5 * wave + 0.3 * noise)
        model.save(tmp_path / "model.rfm")
        code, out, _ = run("predict", tmp_path / "model.rfm", "--to", "2023-12")
        assert code == 0
        assert pd.read_csv(io.StringIO(out)).iloc[:, 0].str[:10].tolist() == [
            str(day.date())
            for day in pd.date_range("2023-01-31", periods=12, freq=pd.offsets.MonthEnd())
        ]
        every = ("--from", "2023-01-15", "--to", "2023-04-15", "--every", "1month")
        code, out, _ = run("predict", tmp_path / "model.rfm", *every)
        assert code == 0
        assert pd.read_csv(io.StringIO(out)).iloc[:, 0].str[5:10].tolist() == [
            "01-15", "02-15", "03-15", "04-15",
        ]  # fmt: skip
