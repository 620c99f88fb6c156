"""Figures of what wanders and what comes next."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import num2date

from robustfourier import FourierNetworkRegressor, PeriodicMixture, plots
from robustfourier.errors import InputError


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    dates = np.datetime64("2024-01-01") + np.arange(200).astype("timedelta64[D]")
    left = np.convolve(rng.normal(size=230), 0.8 ** np.arange(30), "valid")[:200]
    return PeriodicMixture().fit(dates, 5 * np.cos(2 * np.pi * np.arange(200) / 7) + left)


def test_a_forecast_shows_its_interval_after_the_record(model):
    ax = plots.plot_forecast(model, "30D")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "90 % of new measurements",
        "forecast",
    ]
    assert len(ax.lines) == 2


@pytest.mark.parametrize("what", ["amplitude", "phase"])
def test_a_strict_pattern_is_drawn_as_strict(model, what):
    ax = plots.plot_life(model, what=what)
    assert ax.get_title(loc="left") == "A is strictly periodic"
    assert np.ptp(ax.lines[0].get_ydata()) == pytest.approx(0.0)


def test_the_remainder_is_what_predictions_add_to_patterns(model):
    ax = plots.plot_remainder(model)
    assert ax.get_title(loc="left") == "correlated noise"
    assert np.ptp(ax.lines[0].get_ydata()) > 0.5


def test_what_is_not_drawn_is_named(model):
    with pytest.raises(InputError, match=re.escape("what='colour' is unknown; use one of")):
        plots.plot_life(model, what="colour")


@pytest.mark.parametrize("draw", [plots.plot_life, plots.plot_remainder, plots.plot_forecast])
def test_a_model_without_memory_is_named(draw):
    words = "model is a FourierNetworkRegressor; give a fitted PeriodicMixture"
    with pytest.raises(InputError, match=re.escape(words)):
        draw(FourierNetworkRegressor())


def test_the_fit_is_drawn_with_what_neighbours_tell(model):
    fit, known = model.plot().lines[:2]
    times = known.get_xdata()
    exact = model.predict(times)
    drawn = known.get_ydata()
    assert np.abs(drawn - exact).max() < 0.02 * np.ptp(exact)
    assert np.abs(drawn - fit.get_ydata()).max() > 0.1 * np.ptp(exact)


@pytest.mark.parametrize("draw", [plots.plot_fit, plots.plot_life, plots.plot_remainder])
def test_dates_of_a_zone_stand_where_its_clock_says_in_every_figure(draw):
    dates = pd.date_range("2024-06-01", periods=240, freq="h", tz="Asia/Tokyo")
    model = PeriodicMixture().fit(dates, 5 * np.cos(2 * np.pi * np.arange(240) / 24))
    ax = draw(model)
    first = num2date(ax.lines[0].get_xdata(orig=False)[0])
    assert ax.get_xlabel() == "time (Asia/Tokyo)"
    assert first.strftime("%Y-%m-%d %H:%M") == "2024-06-01 00:00"
