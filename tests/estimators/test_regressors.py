"""Regressors: other columns in the joint fit, tested like lines, and asked for by name."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.errors import InputError, MissingDependencyError
from robustfourier.estimators.regressors import holiday_column


def load_and_temperature(n=504, ahead=48, seed=0):
    """A day of the load, a day of the temperature, weather, and a price that has no effect."""
    rng = np.random.default_rng(seed)
    t = np.arange(n + ahead)
    weather = np.zeros(len(t))
    for i in range(1, len(t)):
        weather[i] = 0.95 * weather[i - 1] + rng.normal()
    temperature = 12 + 4 * np.cos(2 * np.pi * (t - 15) / 24) + weather
    y = 50 + 3 * np.cos(2 * np.pi * t / 24) - 0.8 * temperature + 0.5 * rng.normal(size=len(t))
    dates = pd.date_range("2024-01-01", periods=len(t), freq="h")
    return dates, y, pd.DataFrame({"temp": temperature, "price": rng.normal(size=len(t))}), n


@pytest.fixture(scope="module")
def fitted():
    dates, y, columns, n = load_and_temperature()
    model = PeriodicMixture().fit(dates[:n], y[:n], regressors=columns[:n])
    return model, dates, y, columns, n


def test_the_effect_is_found_beside_a_line_of_the_same_period(fitted):
    model, *_ = fitted
    table = model.regressors_.to_frame()
    assert table.loc["temp", "coefficient"] == pytest.approx(-0.8, abs=0.06)
    assert [round(c.period * 24) for c in model.components_] == [24]
    assert model.modes_.amplitude[0] == pytest.approx(3.0, abs=0.3)


def test_a_column_without_effect_is_left_out_and_said_to_be(fitted):
    model, *_ = fitted
    table = model.regressors_.to_frame()
    assert table.loc["price", "coefficient"] == 0
    assert table.loc["price", "false_alarm"] > 0.01
    assert any("regressor 'price' is left out" in note for note in model.notes_)
    assert any("regressor 'temp': -0.8" in note for note in model.notes_)


def test_a_forecast_with_the_weather_is_as_good_as_least_squares_that_know_all(fitted):
    model, _, y, columns, n = fitted
    ahead = model.forecast(len(y) - n, regressors=columns[n:])
    day = 2 * np.pi * np.arange(len(y)) / 24
    design = np.column_stack([np.ones(len(y)), np.cos(day), np.sin(day), columns["temp"]])
    known = design @ np.linalg.lstsq(design[:n], y[:n], rcond=None)[0]
    oracle = np.mean((known - y)[n:] ** 2)
    assert np.mean((ahead.mean - y[n:]) ** 2) < 1.1**2 * oracle
    assert np.mean((y[n:] > ahead.lower) & (y[n:] < ahead.upper)) > 0.8


def test_only_columns_that_count_are_asked_for_by_name(fitted):
    model, _, _, columns, n = fitted
    words = "the model needs 'temp' at the 48 times; give regressors=…"
    with pytest.raises(InputError, match=re.escape(words)):
        model.forecast(48)
    with pytest.raises(InputError, match=re.escape(words)):
        model.forecast(48, regressors=columns[["price"]][n:])
    model.forecast(48, regressors=columns[["temp"]][n:])


def test_times_and_order_of_columns_do_not_matter(fitted):
    model, _, _, columns, n = fitted
    ahead = model.forecast(48, regressors=columns[n:]).mean
    turned = model.forecast(48, regressors=columns[n:][["price", "temp"]]).mean
    assert turned == pytest.approx(ahead)
    assert model.forecast(48, regressors=columns[n:].to_numpy()).mean == pytest.approx(ahead)


def test_a_model_with_regressors_comes_back_from_its_file(fitted, tmp_path):
    model, _, _, columns, n = fitted
    model.save(tmp_path / "model.rfm")
    again = load(tmp_path / "model.rfm").forecast(48, regressors=columns[n:])
    assert again.to_frame().equals(model.forecast(48, regressors=columns[n:]).to_frame())


def test_what_is_shown_is_the_model_without_the_effects(fitted):
    model, dates, _, _, n = fitted
    bare = model.without_regressors()
    assert bare.regressors_ is None
    assert bare.predict(dates[:n]).std() == pytest.approx(3 / np.sqrt(2), rel=0.2)
    assert "day" in model.result().headline


def test_on_the_scale_of_logarithms_effects_are_factors():
    rng = np.random.default_rng(1)
    t = np.arange(300.0)
    x = np.cumsum(rng.normal(size=300))
    x -= x.mean()
    y = np.exp(3 + 0.5 * np.cos(2 * np.pi * t / 12) + 0.1 * x + 0.05 * rng.normal(size=300))
    model = PeriodicMixture(scale="log").fit(t, y, regressors=x)
    assert model.noise_ == pytest.approx(0.05, rel=0.2)  # what is left has no x in it
    assert model.regressors_.coefficients[0, 0] == pytest.approx(0.1, abs=0.01)
    low, high = (model.predict([350.0], regressors=[value])[0] for value in (0.0, 1.0))
    assert high / low == pytest.approx(np.exp(0.1), rel=0.01)


def test_rows_that_lack_a_regressor_are_left_out():
    dates, y, columns, _ = load_and_temperature(120, 0)
    columns.loc[[3, 7], "temp"] = np.nan
    model = PeriodicMixture().fit(dates, y, regressors=columns)
    assert "2 of 120 rows lack a regressor: left out" in model.notes_


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.zeros(3), "regressors has 3 rows for 100 times; give a row for each time"),
        ({"kind": ["a"] * 100}, "regressors has the column 'kind', which is no number"),
        (np.full(100, np.nan), "regressors has a missing number in every row"),
    ],
)
def test_regressors_that_cannot_be_used_are_named(given, words):
    with pytest.raises(InputError, match=re.escape(words)):
        PeriodicMixture().fit(np.arange(100.0), np.arange(100.0) % 7, regressors=given)


def test_regressors_for_a_model_without_any_are_refused():
    t = np.arange(100.0)
    model = PeriodicMixture().fit(t, np.cos(t))
    with pytest.raises(InputError, match=re.escape("the model was fitted without any")):
        model.predict(t, regressors=t)


def test_holidays_say_which_package_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "holidays", None)
    days = pd.date_range("2024-01-01", periods=3, freq="D")
    words = "holidays='DE' needs the package holidays; install it with: pip install \"robust"
    with pytest.raises(MissingDependencyError, match=re.escape(words)):
        holiday_column(days, "DE")
    with pytest.raises(InputError, match=re.escape("holidays='DE' needs dates")):
        holiday_column(pd.Index([1.0, 2.0]), "DE")


def test_holidays_are_a_regressor_of_the_calendar():
    pytest.importorskip("holidays", reason="the extra holidays is not installed")
    days = pd.date_range("2021-01-01", "2023-12-31", freq="D")
    rng = np.random.default_rng(2)
    off = holiday_column(days, "DE")
    assert off.sum() > 20
    y = 20 + 3 * np.cos(2 * np.pi * np.arange(len(days)) / 7) - 6 * off + rng.normal(size=len(days))
    model = PeriodicMixture(holidays="DE").fit(days, y)
    assert model.regressors_.to_frame().loc["holiday DE", "coefficient"] == pytest.approx(-6, abs=1)
    ahead = model.forecast(days_ahead := 10)
    assert len(ahead.mean) == days_ahead
    assert ahead.mean[0] < ahead.mean[7] - 3  # New Year's Day
