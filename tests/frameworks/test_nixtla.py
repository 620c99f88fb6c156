"""Frames of ``unique_id, ds, y``: forecasts, intervals, quantiles and cross-validation."""

import re

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture
from robustfourier.errors import InputError
from robustfourier.frameworks.nixtla import PeriodicMixtureForecast


@pytest.fixture(scope="module")
def frame():
    rng, n = np.random.default_rng(0), np.arange(84)
    parts = [
        pd.DataFrame(
            {
                "unique_id": name,
                "ds": pd.date_range("2016-01-01", periods=84, freq="MS"),
                "y": level + 4 * np.cos(2 * np.pi * n / 12) + rng.normal(size=84),
            }
        )
        for name, level in (("b", 30.0), ("a", 10.0))
    ]
    return pd.concat(parts, ignore_index=True)


def test_forecasts_are_those_of_the_estimator(frame):
    ahead = PeriodicMixtureForecast().forecast(frame, h=6, level=[80], quantiles=[0.1, 0.5])
    assert ahead["unique_id"].tolist() == ["a"] * 6 + ["b"] * 6
    own = frame[frame["unique_id"] == "a"]
    model = PeriodicMixture().fit(pd.DatetimeIndex(own["ds"]), own["y"].to_numpy())
    told = model.forecast(6, coverage=0.8)
    first = ahead[ahead["unique_id"] == "a"]
    assert first["PeriodicMixture"].to_numpy() == pytest.approx(told.mean)
    assert first["PeriodicMixture-lo-80"].to_numpy() == pytest.approx(told.lower)
    assert first["PeriodicMixture-hi-80"].to_numpy() == pytest.approx(told.upper)
    assert first["PeriodicMixture-q-0.1"].to_numpy() == pytest.approx(told.lower)
    assert first["PeriodicMixture-q-0.5"].to_numpy() == pytest.approx(told.mean)
    assert first["ds"].tolist() == list(pd.date_range("2023-01-01", periods=6, freq="MS"))


def test_cross_validation_has_the_cutoff_and_what_came(frame):
    table = PeriodicMixtureForecast("mix").cross_validation(frame, h=3, n_windows=2, step_size=2)
    assert list(table) == ["unique_id", "ds", "cutoff", "y", "mix"]
    last = table[table["unique_id"] == "b"]
    assert last["cutoff"].drop_duplicates().tolist() == [
        pd.Timestamp("2022-07-01"),
        pd.Timestamp("2022-09-01"),
    ]
    assert last["ds"].max() == frame["ds"].max()
    truth = frame[frame["unique_id"] == "b"].set_index("ds")["y"]
    assert last["y"].to_numpy() == pytest.approx(truth.loc[last["ds"]].to_numpy())


def test_other_columns_are_regressors_and_future_ones_are_asked_for(frame):
    rng = np.random.default_rng(1)
    price = rng.normal(size=len(frame) + 6)
    one = frame[frame["unique_id"] == "a"].reset_index(drop=True)
    one = one.assign(price=price[:84], y=one["y"] + 5 * price[:84])
    method = PeriodicMixtureForecast().fit(one)
    with pytest.raises(InputError, match=re.escape("the model needs 'price' at the 6 times")):
        method.predict(h=6)
    future = pd.DataFrame(
        {
            "unique_id": "a",
            "ds": pd.date_range("2023-01-01", periods=6, freq="MS"),
            "price": np.arange(6.0),
        }
    )
    ahead = method.predict(h=6, X_df=future)["PeriodicMixture"].to_numpy()
    level = method.predict(h=6, X_df=future.assign(price=0.0))["PeriodicMixture"].to_numpy()
    assert ahead - level == pytest.approx(5 * np.arange(6.0), abs=1.5)
    with pytest.raises(InputError, match=re.escape("X_df lacks 2 of the 6 times")):
        method.predict(h=6, X_df=future[:4])


def test_what_is_missing_is_named(frame):
    with pytest.raises(InputError, match=re.escape("df has no column 'ds'")):
        PeriodicMixtureForecast().fit(frame.drop(columns="ds"))
    with pytest.raises(InputError, match=re.escape("predict needs a fit")):
        PeriodicMixtureForecast().predict(h=2)
    with pytest.raises(InputError, match=re.escape("too few for h=90")):
        PeriodicMixtureForecast().cross_validation(frame, h=90)
