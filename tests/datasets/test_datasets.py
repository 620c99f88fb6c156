import re

import numpy as np
import pytest

from robustfourier import datasets
from robustfourier.errors import InputError

LOADERS = [
    datasets.load_electricity_demand,
    datasets.load_double_mode_cepheid,
    datasets.load_sunspots,
]


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


def test_more_weekdays_than_there_are_are_refused():
    with pytest.raises(InputError, match=re.escape("weekdays=61")):
        datasets.load_electricity_demand(weekdays=61)
