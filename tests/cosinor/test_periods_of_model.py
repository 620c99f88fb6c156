"""`model.test`: known periods tested in the data of a fit, or in others."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from robustfourier import PeriodicMixture, load, rhythm
from robustfourier.errors import InputError
from robustfourier.results import summarise
from robustfourier.samples import from_arrays

HOURS = np.arange(0.0, 96.0, 2.0)
NOISE = np.random.default_rng(0).normal(size=48)
VALUES = 5 + 2 * np.cos(2 * np.pi * (HOURS - 14) / 24) + NOISE


def test_the_data_of_the_fit_are_tested_as_arrays_are():
    model = PeriodicMixture(unit="hour").fit(HOURS, VALUES)
    found = model.test(["24h", 7.0], harmonics=2, trend=1)
    same = rhythm(HOURS, VALUES, ["24h", 7.0], harmonics=2, trend=1, unit="hour", names=["value"])
    pd.testing.assert_frame_equal(found.table.drop(columns="id"), same.table.drop(columns="id"))
    assert found.table["p"][0] < 1e-4 < 0.01 < found.table["p"][1]
    assert abs(found.table["acrophase"][0] - 14) < 3 * found.table["acrophase_error"][0]


def test_other_data_need_no_fit():
    series = pd.Series(VALUES, pd.date_range("2024-01-01", periods=48, freq="2h"), name="°C")
    found = PeriodicMixture().test("24h", series)
    assert found.table["id"].tolist() == ["°C"]
    assert found.clock.counted_from(0) == "hours after midnight"
    expected = rhythm(HOURS, VALUES, 24.0).table
    assert_allclose(found.table["p"], expected["p"], rtol=1e-6)
    assert_allclose(found.table["acrophase"], expected["acrophase"], rtol=1e-6)


def test_outputs_are_series_of_one_survey():
    two = pd.DataFrame({"a": VALUES, "b": NOISE}, index=HOURS)
    found = PeriodicMixture().fit(HOURS, two).test(24.0).table
    assert found["id"].tolist() == ["a", "b"]
    assert (found["q"] >= found["p"]).all()


def test_rows_that_lack_a_value_are_left_out():
    frame = pd.DataFrame({"time": HOURS, "value": VALUES})
    frame.loc[3, "value"] = np.nan
    assert PeriodicMixture().fit(frame).test(24.0).table["rows"].tolist() == [47]


def test_what_multiplies_is_tested_by_its_logarithm():
    model = PeriodicMixture(scale="log").fit(HOURS, np.exp(0.1 * VALUES))
    expected = rhythm(HOURS, 0.1 * VALUES, 24.0).table
    assert_allclose(model.test(24.0).table["amplitude"], expected["amplitude"])
    with pytest.raises(InputError, match=re.escape("values must be positive")):
        model.test(24.0, HOURS, VALUES - 5)


def test_a_model_from_a_file_asks_for_the_data(tmp_path):
    PeriodicMixture().fit(HOURS, VALUES).save(tmp_path / "model.rfm")
    loaded = load(tmp_path / "model.rfm")
    with pytest.raises(InputError, match=re.escape("model.test(periods, times, values)")):
        loaded.test(24.0)
    assert loaded.test(24.0, HOURS, VALUES).table["p"][0] < 1e-4


def test_a_given_period_in_noise_is_not_called_real():
    model = PeriodicMixture(periods=["24h"], unit="hour").fit(HOURS, NOISE)
    result = summarise(from_arrays(HOURS, NOISE, unit="hour"), model)
    p = model.modes_.false_alarm[0]
    assert p == pytest.approx(model.test("24h", noise="white").table["p"][0], abs=0.1)
    assert p > 0.05
    assert result.headline.startswith("No repeating pattern stands out from the noise")
    assert re.search(
        r": what was given explains [\d.]+ %, a day \(p = 0\.\d+\)\.$", result.headline
    )
    words = " ".join(result.warnings)
    assert "was given and does not stand out" in words
    assert "real" not in words


def test_a_given_period_that_is_there_is_reported_as_before():
    model = PeriodicMixture(periods=["24h"], unit="hour").fit(HOURS, VALUES)
    result = summarise(from_arrays(HOURS, VALUES, unit="hour"), model)
    assert result.headline.startswith("One repeating pattern explains")
    assert "was given" not in " ".join(result.warnings)


@pytest.mark.filterwarnings("error")
def test_a_given_period_of_a_constant_has_no_amplitude():
    model = PeriodicMixture(periods=[24.0]).fit(HOURS, np.full(48, 2.0))
    assert model.modes_.amplitude.tolist() == [0.0]
    assert model.modes_.false_alarm.tolist() == [1.0]
    assert_allclose(model.predict(HOURS), 2.0)
    table = model.test(24.0).table
    assert table["amplitude"][0] == 0.0
    assert table["p"][0] == pytest.approx(1.0)
