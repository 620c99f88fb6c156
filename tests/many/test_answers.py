"""What a survey answers: forecasts, pictures, tables for everybody, names that can be read."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.many.toys import NAMES

import robustfourier as rf
from robustfourier.errors import InputError
from robustfourier.many.survey_items import files_of

pytest.importorskip("pyarrow")


def shops(names, days=150):
    rng = np.random.default_rng(0)
    n = np.arange(days)
    dates = pd.date_range("2024-01-01", periods=days, freq="D")
    frames = [
        pd.DataFrame({"shop": name, "date": dates, "sales": 50 + 9 * np.cos(2 * np.pi * n / 7)})
        for name in names
    ]
    table = pd.concat(frames, ignore_index=True)
    return table.assign(sales=table["sales"] + rng.normal(size=len(table)))


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    out = tmp_path_factory.mktemp("survey") / "out"
    table = shops(["a/b", "=1+1", "ünïcode"])
    how = {"engine": "serial", "scale": "linear", "reports": "none", "models": True}
    return rf.fit_many(table, by="shop", out=out, forecast="14d", **how)


def test_forecasts_of_all_series_are_one_table(survey):
    table = pd.read_csv(survey.folder / "forecasts.csv")
    assert list(table.columns) == ["id", "time", "mean", "low", "high"]
    assert table.groupby("id").size().tolist() == [14, 14, 14]
    own = survey.forecasts[survey.forecasts["id"] == "a/b"]
    assert own["time"].iloc[0] == "2024-05-30"
    truth = 50 + 9 * np.cos(2 * np.pi * np.arange(150, 164) / 7)
    assert np.abs(own["mean"] - truth).max() < 1.5
    assert (own["low"] < own["mean"]).all()
    assert (own["mean"] < own["high"]).all()


def test_every_series_has_a_picture_that_its_name_finds(survey):
    rows = survey.series.set_index("id")
    for name, shown in (("a/b", "a_b"), ("=1+1", "1_1"), ("ünïcode", "ünïcode")):
        picture = survey.folder / rows.loc[name, "picture"]
        assert re.fullmatch(rf"{shown}-[0-9a-f]{{8}}\.png", picture.name)
        assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("name", [*NAMES, "..", "", ".hidden", "x" * 500, "con", "a\nb", "ä" * 300])
def test_names_of_files_are_safe_and_never_meet(name):
    page, other = (files_of(name, mark * 32)["report"].removeprefix("reports/") for mark in "01")
    assert page != other
    assert re.fullmatch(r"[\w.-]+", page)
    assert not page.startswith((".", "-"))
    assert len(page.encode()) < 255


def test_tables_are_csv_too_and_formulas_are_text(survey):
    series = pd.read_csv(survey.folder / "series.csv")
    assert set(series["id"]) == {"a/b", "'=1+1", "ünïcode"}
    assert (series["calendar"] == "week").all()
    patterns = pd.read_csv(survey.folder / "patterns.csv")
    np.testing.assert_allclose(patterns["period"], survey.patterns["period"])
    assert "shape" not in patterns


def test_the_index_speaks_the_calendar_and_offers_the_tables(survey):
    page = (survey.folder / "index.html").read_text("utf-8")
    for name in ("series.csv", "patterns.csv", "forecasts.csv", "series.parquet"):
        assert f'<a href="{name}" download>' in page
    columns = (survey.folder / "index" / "columns.js").read_text("utf-8")
    assert '"a week (' in columns
    assert "forecasts/a_b-" in columns


def test_a_survey_is_predicted_as_a_whole(survey, run):
    code, shown, _ = run("predict", survey.folder, "--to", "2024-06-02")
    assert code == 0
    lines = shown.splitlines()
    assert lines[0].startswith("id,time,fitted")
    assert len(lines) == 1 + 3 * 4
    mean = survey.forecasts["mean"].iloc[0]
    assert float(lines[1].split(",")[2]) == pytest.approx(mean)


def test_a_survey_without_models_says_how_to_get_them(run, tmp_path):
    how = {"engine": "serial", "scale": "linear", "reports": "none"}
    made = rf.fit_many(shops(["one"], 40), by="shop", out=tmp_path / "S", **how)
    code, _, error = run("predict", made.folder, "--to", "2024-06-02")
    assert code == 2
    assert "make the survey again with --models" in error
    assert not (made.folder / "forecasts.csv").exists()


def test_periods_and_units_are_told_once_for_all(run, write, tmp_path):
    table = shops(["one", "two"], 60)
    table["date"] = (table["date"] - table["date"].min()) / pd.Timedelta("1h")
    how = {"engine": "serial", "scale": "linear", "reports": "none"}
    made = rf.fit_many(table, by="shop", out=tmp_path / "S", unit="hour", period="7d", **how)
    assert made.series["period"].tolist() == [168.0, 168.0]
    assert set(made.series["unit"]) == {"hour"}
    file = write(shops(["one", "two"], 60).to_csv(index=False))
    asked = ("--by", "shop", "--period", "7d", "--forecast", "5", "--engine", "serial")
    assert run("fit-many", file, *asked, "--out", tmp_path / "T", "--reports", "none")[0] == 0
    assert (pd.read_csv(tmp_path / "T" / "series.csv")["period"] == 7.0).all()
    assert len(pd.read_csv(tmp_path / "T" / "forecasts.csv")) == 10


def test_columns_fitted_together_are_not_forecast(tmp_path):
    with pytest.raises(InputError, match=re.escape("forecast goes with series that are fitted")):
        rf.fit_many(shops(["one"]), value="all", together=True, forecast="7d", out=tmp_path / "S")
