"""Objects as fields have them: one wave out of each, units kept and converted."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture, read_samples
from robustfourier.errors import InputError

RNG = np.random.default_rng(1)
T = np.sort(RNG.uniform(0.0, 60.0, 120))
Y = np.cos(2 * np.pi * T / 7.0) + 0.2 * RNG.normal(size=120)
ERROR = np.linspace(0.1, 0.3, 120)
TABLE = pd.DataFrame({"time": T, "value": Y, "error": ERROR})


@pytest.fixture(scope="module")
def plain():
    return PeriodicMixture().fit(T, Y, y_err=ERROR)


@pytest.fixture(scope="module")
def units():
    return pytest.importorskip("astropy.units")


@pytest.fixture(scope="module")
def instants():
    return pytest.importorskip("astropy.time").Time(58_000.0 + T, format="mjd")


def polars_table():
    return pytest.importorskip("polars").DataFrame(TABLE.to_dict("list"))


def arrow_table():
    return pytest.importorskip("pyarrow").table(TABLE.to_dict("list"))


class Stream:
    """All that the Arrow PyCapsule interface asks for."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def duckdb_relation():
    connection = pytest.importorskip("duckdb").connect()
    connection.register("waves", TABLE)
    return connection.sql("select * from waves")


def astropy_table():
    return pytest.importorskip("astropy.table").Table(TABLE.to_dict("list"))


def xarray_dataset():
    xarray = pytest.importorskip("xarray")
    return xarray.Dataset({"value": ("time", Y), "error": ("time", ERROR)}, {"time": T})


MAKERS = {
    "pandas": lambda: TABLE,
    "pandas, in another order": lambda: TABLE[["error", "value", "time"]],
    "polars": polars_table,
    "polars, lazy": lambda: polars_table().lazy(),
    "pyarrow": arrow_table,
    "an Arrow stream": lambda: Stream(arrow_table()),
    "duckdb": duckdb_relation,
    "astropy": astropy_table,
    "xarray": xarray_dataset,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_table_of_time_value_and_error_gives_the_fit_of_its_columns(kind, plain):
    model = PeriodicMixture().fit(MAKERS[kind]())
    assert model.components_[0].period == plain.components_[0].period


def test_the_errors_of_a_table_count(plain):
    without = PeriodicMixture().fit(T, Y)
    assert without.components_[0].period != plain.components_[0].period


class TestUnits:
    def test_times_in_hours_are_converted_for_a_model_in_days(self, units):
        model = PeriodicMixture().fit(T * units.d, Y * units.Jy)
        assert (model.domains_[0].unit, model.value_unit_) == ("day", "Jy")
        np.testing.assert_allclose(model.predict(24.0 * T * units.h), model.predict(T), atol=1e-9)

    def test_a_unit_that_is_asked_for_is_the_unit_of_the_periods(self, units):
        model = PeriodicMixture(unit="hour").fit(T * units.d, Y)
        assert model.components_[0].period == pytest.approx(24 * 7.0, rel=0.02)

    def test_errors_are_converted_to_the_unit_of_the_values(self, units, plain):
        errors = 1000.0 * ERROR * units.mJy
        model = PeriodicMixture().fit(T, Y * units.Jy, y_err=errors)
        assert model.components_[0].period == pytest.approx(plain.components_[0].period, rel=1e-9)

    def test_errors_that_cannot_be_converted_are_refused(self, units):
        with pytest.raises(InputError, match=re.escape("values in 's' cannot be converted")):
            PeriodicMixture().fit(T, Y * units.Jy, y_err=ERROR * units.s)

    def test_a_model_of_plain_numbers_refuses_times_with_a_unit(self, units, plain):
        with pytest.raises(InputError, match=re.escape("times are in h, but the unit of the")):
            plain.predict(T * units.h)

    def test_what_is_no_unit_of_time_is_refused(self, units):
        with pytest.raises(InputError, match=re.escape("'Jy', which is no unit of time")):
            PeriodicMixture().fit(T * units.Jy, Y)


class TestInstants:
    def test_numbers_of_their_format_are_kept_and_other_formats_converted(self, instants):
        model = PeriodicMixture().fit(instants, Y)
        assert model.domains_[0].clock == "mjd/utc"
        expected = model.predict(58_000.0 + T)
        np.testing.assert_array_equal(model.predict(instants), expected)
        julian = type(instants)(instants.jd, format="jd", scale="utc")
        np.testing.assert_allclose(model.predict(julian), expected, atol=1e-6)
        np.testing.assert_allclose(model.predict(instants.tdb), expected, atol=1e-6)

    def test_dates_stay_dates(self, instants):
        model = PeriodicMixture().fit(type(instants)(instants.isot), Y)
        assert model.domains_[0].dates
        expected = model.predict(instants.datetime64)
        np.testing.assert_allclose(model.predict(instants), expected, atol=1e-6)

    def test_a_model_of_plain_numbers_refuses_them(self, instants, plain):
        with pytest.raises(InputError, match=re.escape("such as times.mjd")):
            plain.predict(instants)

    def test_a_time_series_is_read_with_its_errors(self, instants, plain, units):
        series = pytest.importorskip("astropy.timeseries").TimeSeries(
            time=instants, data={"flux": Y * units.Jy, "flux_err": ERROR * units.Jy}
        )
        model = PeriodicMixture().fit(series)
        assert model.components_[0].period == pytest.approx(plain.components_[0].period, rel=1e-9)

    def test_a_light_curve_is_read_with_its_errors(self, plain):
        lightkurve = pytest.importorskip("lightkurve")
        time = pytest.importorskip("astropy.time").Time(1683.0 + T, format="btjd", scale="tdb")
        curve = lightkurve.LightCurve(time=time, flux=Y, flux_err=ERROR)
        model = PeriodicMixture().fit(curve)
        assert model.components_[0].period == pytest.approx(plain.components_[0].period, rel=1e-6)
        assert model.domains_[0].clock == "btjd/tdb"


class TestXarray:
    def test_an_array_of_dates_is_read(self):
        xarray = pytest.importorskip("xarray")
        dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(T, unit="D")
        model = PeriodicMixture().fit(xarray.DataArray(Y, {"time": dates}, "time"))
        assert model.domains_[0].dates
        assert model.components_[0].period == pytest.approx(7.0, abs=0.1)

    def test_the_unit_of_a_coordinate_is_kept(self):
        xarray = pytest.importorskip("xarray")
        time = ("time", T, {"units": "hours"})
        model = PeriodicMixture().fit(xarray.DataArray(Y, {"time": time}, "time"))
        assert model.domains_[0].unit == "hour"

    def test_more_dimensions_than_time_are_refused_with_a_remedy(self):
        xarray = pytest.importorskip("xarray")
        array = xarray.DataArray(np.stack([Y, Y], 1), {"time": T}, ("time", "x"))
        with pytest.raises(InputError, match=re.escape("robustfourier.fit_cells(X)")):
            PeriodicMixture().fit(array)


class TestMissing:
    @pytest.mark.parametrize("hold", [np.asarray, list, pd.Series])
    def test_rows_without_a_value_are_left_out_with_a_note(self, hold):
        values = Y.copy()
        values[[3, 50]] = np.nan
        kept = np.isfinite(values)
        model = PeriodicMixture().fit(hold(T), hold(values))
        expected = PeriodicMixture().fit(T[kept], Y[kept])
        assert model.components_[0].period == expected.components_[0].period
        assert model.notes_[0] == "2 of 120 rows lack a time, value or error: left out"

    def test_weights_of_missing_rows_go_with_them(self):
        values, weights = Y.copy(), np.linspace(1.0, 2.0, 120)
        values[0] = np.nan
        model = PeriodicMixture().fit(T, values, sample_weight=weights)
        expected = PeriodicMixture().fit(T[1:], Y[1:], sample_weight=weights[1:])
        assert model.components_[0].period == expected.components_[0].period

    def test_missing_times_of_a_table_are_left_out(self):
        table = TABLE.copy()
        table.loc[7, "time"] = np.nan
        notes = PeriodicMixture().fit(table).notes_
        assert notes[0] == "1 of 120 rows lacks a time, value or error: left out"

    def test_nothing_but_missing_values_is_refused(self):
        with pytest.raises(InputError, match=re.escape("none of the 120 rows has")):
            PeriodicMixture().fit(T, np.full(120, np.nan))


def test_a_column_of_text_in_a_table_is_refused_with_a_remedy():
    with pytest.raises(InputError, match=re.escape("fit_many(X, by='sensor', out=…)")):
        PeriodicMixture().fit(TABLE.assign(sensor="a"))


def test_every_cell_of_an_array_is_a_series_of_a_survey(tmp_path):
    from robustfourier import fit_many

    xarray = pytest.importorskip("xarray")
    pytest.importorskip("pyarrow")
    dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(T, unit="D")
    other = np.cos(2 * np.pi * T / 5.0)
    array = xarray.DataArray(
        np.stack([Y, other]), {"lat": [50.5, 51.0], "time": dates}, ("lat", "time")
    )
    survey = fit_many(array, value="all", out=tmp_path / "cells", engine="serial", reports="none")
    found = survey.patterns.groupby("id")["period"].first()
    assert found["lat=50.5"] == pytest.approx(7.0, abs=0.1)
    assert found["lat=51.0"] == pytest.approx(5.0, abs=0.1)


def test_samples_of_a_file_are_fitted_as_they_are(tmp_path):
    (tmp_path / "a.csv").write_text(
        "time [h],V_mag,e_V\n"
        + "".join(f"{h},{y},{e}\n" for h, y, e in zip(T, Y, ERROR, strict=True))
    )
    samples = read_samples(tmp_path / "a.csv")
    model = PeriodicMixture().fit(samples)
    same = PeriodicMixture(unit="hour").fit(samples.axis, samples.values, y_err=samples.errors)
    assert model.components_[0].period == same.components_[0].period
    assert model.domains_[0].unit == "hour"
    down, up = model.components_.to_frame(), same.components_.to_frame()
    assert down["epoch_max"][0] == up["epoch_min"][0]  # the name says that these are magnitudes


def test_a_dict_of_columns_is_a_table(plain):
    found = PeriodicMixture().fit({"time": T, "value": Y, "error": ERROR}).components_[0].period
    assert found == plain.components_[0].period
    with pytest.raises(InputError, match=re.escape("X holds 'time', 'value', which are no table")):
        PeriodicMixture().fit({"time": T, "value": Y[:5]})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("data.csv", "if it is a file, give fit(robustfourier.read_samples('data.csv'))"),
        (Path("data.csv"), "if it is a file, give fit(robustfourier.read_samples('data.csv'))"),
        (None, "X is a NoneType, which holds no times; give a list, an array or a table"),
        ((i for i in range(9)), "X is a generator, which holds no times"),
        (np.arange(9.0), "give fit(times, values), or a table"),
    ],
)
def test_what_holds_no_times_is_refused_by_its_name(given, words):
    with pytest.raises(InputError, match=re.escape(words)):
        PeriodicMixture().fit(given)
