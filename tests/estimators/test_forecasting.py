"""Forecasts: patterns go on, trends too, and intervals hold what they promise."""

import re

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture
from robustfourier.errors import InputError


def seasons(n=240, ahead=24, seed=0, memory=0.0):
    rng = np.random.default_rng(seed)
    t = np.arange(n + ahead, dtype=float)
    left = rng.normal(size=len(t))
    for i in range(1, len(t)):
        left[i] += memory * left[i - 1]
    y = 3.0 + 0.01 * t + 2.0 * np.cos(2 * np.pi * t / 12) + 0.5 * left
    return t, y, n


@pytest.mark.parametrize("memory", [0.0, 0.8])
def test_nine_of_ten_new_measurements_lie_in_the_interval(memory):
    inside = []
    for seed in range(12):
        t, y, n = seasons(seed=seed, memory=memory)
        ahead = PeriodicMixture(scale="linear").fit(t[:n], y[:n]).forecast(times=t[n:])
        inside.append(np.mean((y[n:] > ahead.lower) & (y[n:] < ahead.upper)))
    assert 0.82 < np.mean(inside) < 0.97


def test_a_horizon_is_steps_of_the_record_after_its_last_sample():
    t, y, n = seasons()
    ahead = PeriodicMixture().fit(t[:n], y[:n]).forecast(24)
    assert ahead.times == pytest.approx(t[n:])
    assert list(ahead.to_frame()) == ["mean", "std", "lower", "upper"]
    assert (ahead.lower < ahead.mean).all()
    assert (ahead.mean < ahead.upper).all()


def test_a_horizon_of_dates_is_a_duration():
    t, y, n = seasons()
    dates = pd.date_range("2024-01-01", periods=len(t), freq="D")
    model = PeriodicMixture().fit(dates[:n], y[:n])
    ahead = model.forecast("24D")
    assert pd.DatetimeIndex(ahead.times).equals(dates[n:].as_unit("us"))
    assert ahead.mean == pytest.approx(model.predict(dates[n:]))


def test_logarithms_have_intervals_that_are_factors():
    t, y, n = seasons()
    ahead = PeriodicMixture(scale="log").fit(t[:n], np.exp(y[:n])).forecast(24)
    assert ahead.upper / ahead.mean == pytest.approx(ahead.mean / ahead.lower)
    assert ahead.lower.min() > 0


def test_a_bend_goes_on_with_its_recent_slope_and_a_growing_error():
    t = np.arange(300.0)
    y = 1e-3 * (t[:240] - 60) ** 2 + np.random.default_rng(1).normal(size=240)
    model = PeriodicMixture(scale="linear").fit(t[:240], y)
    ahead = model.forecast(60)
    slope = np.polyfit(ahead.times, ahead.mean, 1)[0]
    recent = 1e-3 * 2 * (240 - 36 - 60)  # the mean over the last 30 %
    assert slope == pytest.approx(recent, rel=0.1)
    assert ahead.std[-1] > 3 * ahead.std[0]
    truth = 1e-3 * (ahead.times - 60) ** 2
    assert (np.abs(ahead.mean - truth) < 3 * ahead.std).all()


def test_growth_that_has_ended_does_not_go_on():
    t, off = np.arange(300.0), []
    for seed in (2, 3, 4, 5):
        y = np.minimum(t, 180.0) / 10 + np.random.default_rng(seed).normal(size=300)
        ahead = PeriodicMixture(scale="linear").fit(t[:270], y[:270]).forecast(times=t[270:])
        off.append(ahead.mean - 18.0)
        assert np.mean((y[270:] > ahead.lower) & (y[270:] < ahead.upper)) > 0.8
    assert np.sqrt(np.mean(np.square(off))) < 0.85  # 1.05 where bends go on instead


def test_beyond_the_ends_the_parts_still_add_up():
    t, y, n = seasons(memory=0.8)
    model = PeriodicMixture(scale="linear").fit(t[:n], y[:n])
    assert model.models_[0].extrapolation is not None
    around = np.linspace(-30.0, n + 30.0, 50)
    assert model.decompose(around).total == pytest.approx(model.predict(around))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give either horizon"),
        ({"horizon": 3, "times": [1.0]}, "give either horizon"),
        ({"horizon": -3}, "horizon=-3 must be a number of steps"),
        ({"horizon": "soon"}, "horizon='soon' must be a number of steps"),
        ({"horizon": 3, "coverage": 1.5}, "coverage=1.5 must lie between 0 and 1"),
    ],
)
def test_bad_input_is_named(given, words):
    t, y, n = seasons()
    model = PeriodicMixture().fit(t[:n], y[:n])
    with pytest.raises(InputError, match=re.escape(words)):
        model.forecast(**given)
