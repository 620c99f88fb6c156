"""Forecasts step as the record does: months, quarters, years and business days on the calendar."""

import re

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture, load
from robustfourier.errors import InputError
from robustfourier.estimators.calendar_steps import CalendarStep


def fitted(index, period=12.0, seed=0):
    n = np.arange(len(index))
    y = (
        10
        + 3 * np.cos(2 * np.pi * n / period)
        + 0.3 * np.random.default_rng(seed).normal(size=len(n))
    )
    return PeriodicMixture().fit(pd.Series(y, index=index))


@pytest.mark.parametrize("frequency", ["MS", "ME", "QS", "QE", "YS", "B"])
def test_a_number_of_steps_goes_on_as_the_record_does(frequency):
    every = pd.date_range("2001-01-01", periods=72, freq=frequency)
    ahead = fitted(every[:60]).forecast(12)
    assert pd.DatetimeIndex(ahead.times).equals(every[60:].as_unit("us"))


def test_hours_step_by_the_hour_and_gaps_do_not_matter():
    hours = pd.date_range("2024-01-01", periods=224, freq="h")
    known = hours[:200].delete([5, 6, 90])
    ahead = fitted(known, 24.0).forecast(24)
    assert pd.DatetimeIndex(ahead.times).equals(hours[200:].as_unit("us"))
    months = pd.date_range("2001-01-01", periods=72, freq="MS")
    assert CalendarStep.of(months.delete([7, 30])) == CalendarStep(1, 1)


def test_periods_come_back_as_periods_also_from_a_file(tmp_path):
    months = pd.period_range("2015-01", periods=84, freq="M")
    model = fitted(months[:72])
    model.save(tmp_path / "model.rfm")
    for one in (model, load(tmp_path / "model.rfm")):
        assert one.forecast(12).to_frame().index.equals(months[72:])


def test_a_year_of_months_is_twelve_of_them():
    model = fitted(pd.date_range("2015-03-01", periods=72, freq="MS"))
    assert len(model.forecast("1 year").times) == 12
    assert len(model.forecast("6 months").times) == 6


def test_dates_of_a_zone_keep_its_clock():
    months = pd.date_range("2015-03-01", periods=72, freq="MS", tz="Europe/Berlin")
    assert fitted(months[:66]).forecast(6).times.equals(months[66:].as_unit("us"))


def test_counts_stay_above_zero_and_shares_within_one():
    rng, t = np.random.default_rng(0), np.arange(200.0)
    wave = 1.0 + np.cos(2 * np.pi * t / 10)
    model = PeriodicMixture(scale="linear").fit(t, rng.poisson(0.8 * wave).astype(float))
    counts = model.forecast(20)
    assert counts.lower.min() == 0.0
    assert counts.mean.min() >= 0.0
    assert model.forecast(20, bounds=None).lower.min() < 0.0
    assert model.forecast(20, bounds=(None, 1.5)).upper.max() == 1.5
    shares = np.clip(0.5 * wave + 0.1 * rng.normal(size=200), 0.0, 1.0)
    ahead = PeriodicMixture(scale="linear").fit(t, shares).forecast(20)
    assert (ahead.lower.min(), ahead.upper.max()) == (0.0, 1.0)
    with pytest.raises(InputError, match=re.escape("bounds=(1, 0) must be")):
        model.forecast(20, bounds=(1, 0))


def test_an_interval_has_a_width_where_most_counts_are_equal():
    t = np.arange(120.0)
    y = np.where(t % 10 == 0, 3.0, 0.0)
    y[[33, 77]] = 1.0
    ahead = PeriodicMixture().fit(t, y).forecast(10)
    assert (ahead.upper - ahead.lower).min() > 0.1
