"""Calendar words, the headline made of them, and weeks seen through months."""

import numpy as np
import pytest

from robustfourier.domain import Domain
from robustfourier.results.calendar_patterns import alias_notes, calendar_word, with_calendar
from robustfourier.results.patterns import Curve, Pattern
from robustfourier.results.sentences import headline
from robustfourier.samples import from_arrays

NOTHING = Curve(np.zeros(1), np.zeros(1))
YEAR = Domain(0, 365.25, "day", dates=True)


def pattern(period, share=0.5, *, error=1e-4, label="A", beat=1, combination=False, domain=YEAR):
    return Pattern(
        domain=domain,
        label="A+B" if combination else label,
        combination=combination,
        frequency=1.0 / period,
        frequency_error=error / period**2,
        period=period,
        period_error=error,
        amplitude=1.0,
        share=share,
        harmonics=(1,),
        false_alarm=1e-9,
        waveform=NOTHING,
        folded=NOTHING,
        beat=beat,
    )


def said(*patterns, trend="level", time_name=""):
    return headline(with_calendar(patterns), trend, time_name)


@pytest.mark.parametrize(
    ("period", "error", "unit", "span", "word"),
    [
        (7.00042, 1e-5, "day", 56.0, "week"),
        (1.0, np.nan, "day", 30.0, "day"),
        (168.0, 0.01, "hour", 1000.0, "week"),
        (1.004, 1e-4, "year", 30.0, "year"),
        (370.0, 3.0, "day", 1500.0, "year"),
        (30.5, 0.05, "day", 365.0, "month"),
        (60.0, 0.01, "second", 900.0, "minute"),
        # The moon's month, the sidereal day of the tides, and a vague period are none.
        (29.53, 0.5, "day", 365.0, ""),
        (0.99727, 1e-5, "day", 365.25, ""),
        (330.0, 30.0, "day", 1500.0, ""),
        (7.0, 1e-4, "", 56.0, ""),
        (7.0, 1e-4, "parsec", 56.0, ""),
    ],
)
def test_a_period_has_a_calendar_word_where_it_agrees(period, error, unit, span, word):
    assert calendar_word(period, error, Domain(0.0, span, unit)) == word


def test_a_week_that_is_strongest_every_day_has_a_daily_shape():
    week = pattern(7.0004, 0.98, beat=14)
    assert said(week) == (
        "One repeating pattern explains 98.0 % of the variation: a week with a strong daily shape."
    )


def test_a_year_of_days_has_a_daily_shape_too():
    assert "a year with a strong daily shape" in said(pattern(365.0, error=0.3, beat=730))


def test_a_strongest_harmonic_without_calendar_word_is_named_with_its_period():
    words = "strongest in harmonic 2 (every 5 d)"
    assert said(pattern(10.0, beat=2)).endswith(f"10.00 days, {words}.")
    both = said(pattern(10.0, beat=2), pattern(365.25, 0.3, beat=4))
    assert both.endswith(f"10.00 days (50 %, {words}) and a year (30 %).")


def test_patterns_below_one_percent_are_told_together():
    weak = [pattern(p, 0.001, label="X") for p in (3.1, 4.3, 5.9)]
    tone = pattern(0.8, 0.001, label="Y", combination=True)
    assert said(pattern(7.0, 0.98, beat=7), *weak, tone) == (
        "Repeating patterns explain 98.4 % of the variation: a week (98.0 %) with a strong daily "
        "shape and four weaker ones (0.4 % together)."
    )


def test_at_most_three_patterns_are_named():
    five = [pattern(p, 0.1) for p in (1.0, 365.25, 0.5, 3.3, 4.7)]
    assert said(*five) == (
        "Repeating patterns explain 50 % of the variation: a day (10 %), a year (10 %), "
        "12.00 hours (10 %) and two weaker ones (20 % together)."
    )


def test_combinations_are_counted_apart_where_they_matter():
    words = said(pattern(1.35, 0.7), pattern(1.84, 0.2), pattern(0.78, 0.05, combination=True))
    assert words == (
        "Two repeating patterns and their combinations explain 95.0 % of the variation: "
        "32.40 hours (70 %) and 44.16 hours (20 %)."
    )


def test_a_calendar_word_is_given_once_and_to_the_strongest():
    assert "a day (60 %) and 24.05 hours (20 %)" in said(
        pattern(1.0, 0.6), pattern(1.002, 0.2, error=1e-3)
    )


def test_numbers_without_a_unit_keep_the_name_of_their_column():
    words = said(pattern(7.0, domain=Domain(0.0, 56.0)), time_name="step")
    assert words.endswith("of the variation: a period of 7.000 (in units of column 'step').")


def monthly(first="2005-01", count=240):
    months = np.datetime64(first) + np.arange(count)
    return from_arrays(months.astype("M8[D]"), np.zeros(count))


@pytest.mark.parametrize(("period", "warned"), [(87.4, True), (70.5, True), (91.31, False)])
def test_a_week_seen_through_monthly_sums_is_called_so(period, warned):
    samples = monthly()
    domain = Domain.from_times(samples.axis)
    notes = alias_notes([pattern(period, error=0.02, domain=domain)], samples)
    words = "may be the weekly rhythm seen through monthly sums: the number of weekends in a month."
    assert [note.endswith(words) for note in notes] == [True] * warned


def test_a_month_seen_through_weekly_sums_is_called_so():
    days = np.datetime64("2015-01-05") + 7 * np.arange(300)
    samples = from_arrays(days, np.zeros(300))
    domain = Domain.from_times(samples.axis)
    notes = alias_notes(
        [pattern(22.58, error=0.01, domain=domain), pattern(30.44, domain=domain)], samples
    )
    assert len(notes) == 1
    assert "the monthly rhythm seen through weekly sums" in notes[0]


def test_daily_samples_and_unknown_units_get_no_note():
    daily = from_arrays(np.datetime64("2015-01-05") + np.arange(300), np.zeros(300))
    numbers = from_arrays(30.4 * np.arange(100), np.zeros(100))
    for samples in (daily, numbers):
        domain = Domain.from_times(samples.axis, unit=samples.unit or None)
        assert alias_notes([pattern(87.4, error=0.1, domain=domain)], samples) == []


def test_the_whole_way_from_monthly_sums_to_the_warning():
    from robustfourier.analysis import fit_model
    from robustfourier.results import summarise

    days = np.arange(np.datetime64("2005-01-01"), np.datetime64("2020-01-01"))
    months, at = np.unique(days.astype("M8[M]"), return_inverse=True)
    weekend = (days.astype(int) + 3) % 7 >= 5
    sales = np.bincount(at, weekend) / np.bincount(at)
    samples = from_arrays(months.astype("M8[D]"), sales + 1.0)
    result = summarise(samples, fit_model(samples))
    assert any("weekly rhythm seen through monthly sums" in words for words in result.warnings)
