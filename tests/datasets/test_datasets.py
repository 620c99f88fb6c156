import re

import numpy as np
import pytest

from robustfourier import datasets
from robustfourier.errors import DataError, InputError

EXPORT = """Category: All categories

Time,S&P500: (United States)
2024-01-04T22,10
2024-01-04T23,<1
2024-01-05T00,30
2024-01-06T00,99
2024-01-08T00,40
"""

LOADERS = [
    datasets.load_electricity_demand,
    datasets.load_double_mode_cepheid,
    datasets.load_sunspots,
    datasets.simulate_trends,
]


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "multiTimeline.csv"
    path.write_text(EXPORT)
    return path


@pytest.mark.parametrize("load", LOADERS)
def test_every_data_set_is_finite_ascending_sourced_and_read_only(load):
    data = load()
    assert data.times.shape == data.values.shape
    assert np.all(np.diff(data.times) > 0)
    assert np.all(np.isfinite(data.values))
    assert data.source
    assert data.licence
    with pytest.raises(ValueError, match=re.escape("read-only")):
        data.values[0] = 0


def test_sixteen_weekdays_are_three_weeks_and_a_monday_without_weekends():
    everything = datasets.load_electricity_demand().values.reshape(-1, 48)
    weekdays = datasets.load_electricity_demand(weekdays=16).values.reshape(-1, 48)
    np.testing.assert_array_equal(weekdays[:5], everything[:5])
    np.testing.assert_array_equal(weekdays[5:10], everything[7:12])
    np.testing.assert_array_equal(weekdays[15], everything[21])
    # Weekends are quiet: cutting them out raises the mean.
    assert weekdays.mean() > everything[:21].mean()


def test_the_cepheids_stated_periods_are_in_its_light_curve():
    star = datasets.load_double_mode_cepheid()
    assert star.errors is not None

    def unexplained(period):
        angle = 2 * np.pi * np.outer(star.times - star.times[0], [1, 2]) / period
        basis = np.column_stack([np.ones(star.times.size), np.cos(angle), np.sin(angle)])
        fit = basis @ np.linalg.lstsq(basis, star.values, rcond=None)[0]
        return np.var(star.values - fit)

    for period in star.periods:
        assert unexplained(period) < 0.9 * min(unexplained(0.99 * period), np.var(star.values))


def test_simulated_data_says_that_it_is_simulated():
    data = datasets.simulate_trends()
    assert data.simulated
    assert "simulated" in data.name
    assert "simulated" in data.source
    assert not datasets.load_sunspots().simulated


def test_an_export_is_read_with_its_keyword_and_less_than_one(export):
    data = datasets.read_trends(export)
    assert data.name == "Google Trends, S&P500: (United States)"
    np.testing.assert_array_equal(data.values, [10, 0.5, 30, 99, 40])
    np.testing.assert_allclose(data.times[:3] * 24, [0, 1, 2])
    assert data.notes == ()


def test_weekends_are_cut_out_and_weekdays_joined(export):
    data = datasets.read_trends(export, weekdays=3)
    np.testing.assert_array_equal(data.values, [10, 0.5, 30, 40])
    np.testing.assert_allclose(np.diff(data.times) * 24, 1)


def test_overlapping_downloads_are_noticed_and_said(tmp_path, export):
    second = tmp_path / "second.csv"
    second.write_text(EXPORT.replace("2024-01-08T00,40", "2024-01-08T00,44\n2024-01-09T00,7"))
    data = datasets.read_trends([export, second])
    assert "5 times occur more than once" in data.notes[0]
    assert "1 of them with different values, by up to 4" in data.notes[0]
    np.testing.assert_array_equal(data.values, [10, 0.5, 30, 99, 42, 7])


def test_several_exports_pasted_into_one_file_are_read_as_one(tmp_path):
    path = tmp_path / "pasted.csv"
    path.write_text(EXPORT + EXPORT.replace("2024-01", "2024-02"))
    data = datasets.read_trends(path)
    assert data.values.size == 10
    assert data.notes == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2024-01-01T00,5\n", "line 1: expected a header"),
        (EXPORT + "yesterday,5\n", "line 9, column 1: 'yesterday' is not a time"),
        (EXPORT + "2024-02-01T00,many\n", "line 9, column 2: 'many' is not a number"),
        (EXPORT + "2024-02-01T00\n", "line 9: expected 'time,value'"),
        ("Category: All\n\nTime,x\n", "no values found"),
    ],
)
def test_a_bad_export_is_refused_with_the_place(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=re.escape(message)):
        datasets.read_trends(path)


def test_bad_arguments_are_named(tmp_path, export):
    with pytest.raises(DataError, match=re.escape("absent.csv: no such file")):
        datasets.read_trends(tmp_path / "absent.csv")
    with pytest.raises(InputError, match=re.escape("holds 3 weekdays")):
        datasets.read_trends(export, weekdays=16)
    with pytest.raises(InputError, match=re.escape("weekdays=61")):
        datasets.load_electricity_demand(weekdays=61)
    with pytest.raises(InputError, match=re.escape("weekdays=1")):
        datasets.simulate_trends(weekdays=1)
