"""Days, weeks and years as turns of the calendar, and when they peak in words."""

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture

RNG = np.random.default_rng(0)


def peaks(times, values):
    model = PeriodicMixture().fit(pd.Series(values, index=times))
    frame = model.components_.to_frame()
    result = model.result()
    assert [p.peak for p in result.patterns] == frame["peak"].tolist()
    return dict(zip(frame["calendar"], frame["peak"], strict=True)), result


@pytest.mark.parametrize("weekday", range(7))
@pytest.mark.parametrize("clock", ["00:00", "18:00"])
def test_a_daily_sample_stands_for_its_whole_day(weekday, clock):
    days = pd.date_range(f"2023-01-01 {clock}", periods=400)
    # The days before and after are alike: the wave is even about the samples of one weekday.
    away = np.minimum((days.day_of_week - weekday) % 7, (weekday - days.day_of_week) % 7)
    said, _ = peaks(days, 10.0 - 2.0 * away + 0.5 * RNG.normal(size=len(days)))
    assert said["week"] == f"on {days[days.day_of_week == weekday][0]:%A}s"


def test_a_monthly_sample_stands_for_its_month():
    months = pd.date_range("2005-01-01", periods=180, freq="MS")
    values = np.cos(2 * np.pi * (months.month - 8) / 12) + 0.2 * RNG.normal(size=len(months))
    assert peaks(months, values)[0]["year"] == "in August"


def test_a_day_peaks_at_its_local_hour():
    hours = pd.date_range("2023-06-01", periods=24 * 20, freq="h", tz="Asia/Tokyo")
    wave = np.cos(2 * np.pi * (hours.hour - 15) / 24)
    said, result = peaks(hours, wave + 0.1 * RNG.normal(size=len(hours)))
    assert abs((pd.Timestamp(said["day"].split()[1]) - pd.Timestamp("15:00")).total_seconds()) < 900
    ax = result.model.plot_components().ravel()[0]
    assert [tick.get_text() for tick in ax.get_xticklabels()][::4] == ["00:00", "12:00", "24:00"]
    assert ax.get_lines()[-1].get_xdata()[np.argmax(ax.get_lines()[-1].get_ydata())] == (
        pytest.approx(15 / 24, abs=0.02)
    )


@pytest.mark.parametrize(("period", "word", "peak"), [(24, "day", "at 6."), (168, "week", "")])
def test_numbers_have_hours_of_the_day_but_no_weekdays(period, word, peak):
    hours = np.arange(0.0, 24 * 42)
    values = np.cos(2 * np.pi * (hours - 6) / period) + 0.1 * RNG.normal(size=len(hours))
    model = PeriodicMixture(unit="hour").fit(hours, values)
    row = model.components_.to_frame().iloc[0]
    assert (row["calendar"], row["peak"][:5]) == (word, peak)
