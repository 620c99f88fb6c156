"""An array of xarray with more than one dimension: a fit for each cell, back as maps."""

import re

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture, fit_cells
from robustfourier.errors import InputError

xarray = pytest.importorskip("xarray")

MONTHS = pd.date_range("2000-01-01", periods=180, freq="MS")


@pytest.fixture(scope="module")
def grid():
    """A season that comes later and grows towards the north; one cell empty, one of noise."""
    rng = np.random.default_rng(0)
    lat, lon = np.array([40.0, 50.0, 60.0]), np.array([5.0, 15.0])
    days = (MONTHS - MONTHS[0]).days.to_numpy()[:, None, None]
    late, size = 10.0 * np.arange(3)[:, None], 1.0 + np.arange(3)[:, None]
    values = size * np.cos(2 * np.pi * (days - 30.0 - late) / 365.25) + np.zeros((1, 1, 2))
    values = values + 0.2 * rng.normal(size=values.shape)
    values[:, 0, 1] = np.nan
    values[:, 1, 1] = rng.normal(size=len(MONTHS))
    coords = {"time": MONTHS, "lat": lat, "lon": lon}
    return xarray.DataArray(values, coords=coords, dims=("time", "lat", "lon"), name="sst")


@pytest.fixture(scope="module")
def maps(grid):
    return fit_cells(grid)


def test_maps_have_the_other_dimensions_and_the_cells_answers(grid, maps):
    assert maps["period"].dims == ("lat", "lon")
    one = grid.isel(lat=2, lon=0)
    row = PeriodicMixture().fit(one).components_.to_frame().iloc[0]
    cell = maps.sel(lat=60.0, lon=5.0)
    for name in ("period", "period_error", "amplitude", "amplitude_error", "share", "snr"):
        assert float(cell[name]) == row[name]
    assert maps["period"].attrs["units"] == row["unit"] == "day"


def test_size_and_delay_of_the_season_are_maps(maps):
    west = maps.sel(lon=5.0)
    assert np.all(np.abs(west["period"] - 365.25) < 4 * west["period_error"])
    assert np.all(np.abs(west["amplitude"] - [1.0, 2.0, 3.0]) < 4 * west["amplitude_error"])
    later = np.diff(west["phase"]) * 365.25 / (2 * np.pi)
    errors = float(west["phase_error"].max()) * 365.25 / (2 * np.pi)
    np.testing.assert_allclose(later, 10.0, atol=4 * errors)


def test_cells_without_data_or_pattern_are_empty_and_say_why(maps):
    east = maps.sel(lon=15.0)
    assert east["status"].values.tolist()[:2] == ["all samples are missing", "none"]
    assert np.isnan(east["period"].values[:2]).all()
    assert east["status"].values[2] == "ok"


def test_the_order_of_dimensions_does_not_matter(grid, maps):
    few = grid.isel(lat=[2])
    turned = fit_cells(few.transpose("lon", "lat", "time"))
    expected = maps.isel(lat=[2]).transpose("lon", "lat")["period"].values
    np.testing.assert_array_equal(turned["period"].values, expected)


def test_what_is_no_array_of_cells_is_named(grid):
    with pytest.raises(InputError, match=re.escape("give one variable as xarray.DataArray")):
        fit_cells(grid.to_dataset())
    with pytest.raises(InputError, match=re.escape("fit it with PeriodicMixture")):
        fit_cells(grid.isel(lat=0, lon=0))
    with pytest.raises(InputError, match=re.escape("robustfourier.fit_cells(X)")):
        PeriodicMixture().fit(grid)
