"""The report shows what wanders, what comes next and what is left over with a memory."""

import re

import numpy as np
import pytest

from robustfourier import PeriodicMixture
from robustfourier.datasets import load_sunspots
from robustfourier.report import render
from robustfourier.results.tables import fit_table


@pytest.fixture(scope="module")
def sunspots():
    data = load_sunspots()
    model = PeriodicMixture().fit(data.times, data.values)
    return model, model.result()


def test_a_living_pattern_is_drawn_and_told_in_words(sunspots):
    _, result = sunspots
    page = render(result, {})
    assert re.search(r"Pattern A wanders: forgets its phase after about \d+ cycles\.", page)
    for title in ("Amplitude of pattern A", "Phase of pattern A", "Forecast", "Remainder with"):
        assert title in page


def test_the_table_has_the_prediction_that_neighbours_tell(sunspots):
    model, result = sunspots
    table = fit_table(result)
    exact, std = model.predict(table["time"].to_numpy(), return_std=True)
    assert np.max(np.abs(table["predicted"] - exact)) <= 0.02 * std.min()
    known = np.std(table["value"] - table["predicted"])
    assert known < 0.6 * np.std(table["residual"])


def test_a_strict_pattern_in_white_noise_has_a_forecast_alone():
    t = np.arange(120.0)
    y = np.cos(2 * np.pi * t / 12) + 0.1 * np.random.default_rng(0).normal(size=120)
    result = PeriodicMixture(scale="linear").fit(t, y).result()
    page = render(result, {})
    assert "Amplitude of pattern" not in page
    assert "Remainder with" not in page
    assert "90 % of new measurements" in page
    table = fit_table(result)
    assert np.array_equal(table["predicted"], table["fitted"])
