"""User time ⇄ θ, and modes ⇄ frequencies and periods."""

import re
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustfourier.domain import Domain
from robustfourier.errors import InputError

HOURS = pd.date_range("2024-03-30", periods=49, freq="h")


def test_the_ends_of_the_data_are_minus_one_and_one():
    np.testing.assert_array_equal(
        Domain.from_times([3.0, 7.0, 5.0]).to_theta([3, 5, 7, 9]), [-1, 0, 1, 2]
    )


@given(
    st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=20, unique=True).filter(
        lambda t: max(t) - min(t) > 1e-3
    )
)
def test_theta_and_time_are_inverse(times):
    domain = Domain.from_times(times)
    np.testing.assert_allclose(
        domain.from_theta(domain.to_theta(times)), times, rtol=1e-15, atol=1e-12 * domain.span
    )


@given(st.floats(0.01, 1e6), st.floats(1e-6, 1e6))
def test_mode_frequency_and_period_agree(mode, span):
    domain = Domain(start=0.0, span=span)
    assert domain.mode(domain.frequency(mode)) == pytest.approx(mode)
    assert domain.period(mode) * domain.frequency(mode) == pytest.approx(1)


def test_mode_zero_has_an_infinite_period():
    assert Domain(0.0, 1.0).period(0) == np.inf


@pytest.mark.parametrize("offset", [0, 1_700_000_000_000_000_000])
def test_unix_nanoseconds_lose_nothing(offset):
    steps = np.array([0, 1, 2, 3, 4])
    theta = Domain.from_times(offset + steps).to_theta(offset + steps)
    np.testing.assert_array_equal(theta, [-1, -0.5, 0, 0.5, 1])


def test_julian_dates_keep_every_bit_of_the_difference():
    times = 2_460_000.5 + np.array([0.0, 0.25, 0.5, 1.0])
    np.testing.assert_array_equal(Domain.from_times(times).offsets(times), [0, 0.25, 0.5, 1])


@pytest.mark.parametrize(
    "times",
    [
        HOURS,
        HOURS.to_series(),
        HOURS.to_numpy(),
        HOURS.to_numpy().astype("datetime64[s]"),
        HOURS.to_numpy().astype("datetime64[h]"),
        list(HOURS.to_pydatetime()),
        pl.Series(list(HOURS.to_pydatetime())),
        HOURS.to_numpy()[:, None],
    ],
    ids=["index", "series", "ns", "s", "h", "datetime", "polars", "column"],
)
def test_dates_of_every_library_mean_the_same(times):
    domain = Domain.from_times(times, unit="hour")
    assert (domain.span, domain.unit, domain.timezone) == (48.0, "hour", None)
    np.testing.assert_allclose(domain.offsets(times), np.arange(49), rtol=1e-15)


def test_days_are_the_default_unit_of_dates():
    assert Domain.from_times(HOURS).period(1.0) == 2.0


def test_a_timezone_is_kept_and_daylight_saving_is_no_gap():
    local = pd.date_range("2024-03-30", periods=49, freq="h", tz="Europe/Paris")  # clocks change
    domain = Domain.from_times(local, unit="hour")
    np.testing.assert_allclose(np.diff(domain.offsets(local)), 1.0, rtol=1e-12)
    assert domain.from_theta([-1.0, 1.0])[1] == local[-1]
    as_polars = pl.Series(list(local.tz_convert("UTC").to_pydatetime()))
    np.testing.assert_allclose(domain.offsets(as_polars), np.arange(49), rtol=1e-12)
    as_datetimes = [t.to_pydatetime() for t in local]
    np.testing.assert_allclose(domain.offsets(as_datetimes), np.arange(49), rtol=1e-12)


def test_dates_come_back_from_theta():
    domain = Domain.from_times(HOURS)
    np.testing.assert_array_equal(
        domain.from_theta(domain.to_theta(HOURS)), HOURS.to_numpy().astype("datetime64[us]")
    )


def test_dates_far_outside_the_nanosecond_range_work():
    times = np.array(["0001-01-01", "9999-01-01"], "datetime64[D]")
    domain = Domain.from_times(times)
    np.testing.assert_array_equal(domain.to_theta(times), [-1, 1])
    np.testing.assert_array_equal(domain.from_theta([-1, 1]), times)


def test_an_excluded_end_point_makes_the_interval_one_step_longer():
    assert Domain.from_times(np.arange(24.0), endpoint="excluded").span == 24.0
    assert Domain.from_times(np.arange(24.0)).span == 23.0


@pytest.mark.parametrize("period", [12.0, timedelta(hours=12), np.timedelta64(12, "h")])
def test_a_known_period_replaces_the_extent(period):
    domain = Domain.from_times(HOURS, period=period, unit="hour")
    theta = domain.to_theta(HOURS)
    np.testing.assert_allclose(theta[12:] - theta[:-12], 2.0, rtol=1e-14)
    assert domain.span == 12.0


BERLIN, UTC = ZoneInfo("Europe/Berlin"), timezone.utc


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([], "times is empty"),
        ([1.0], "times are all equal"),
        ([2, 2, 2], "times are all equal"),
        ([0.0, np.nan], "times[1] is nan; drop or fill missing times first"),
        ([0.0, np.inf], "times[1] is inf"),
        (np.array(["2020", "NaT"], "datetime64[D]"), "times[1] is NaT"),
        (["a", "b"], "give numbers or dates"),
        (np.array([1, None, "x"], object), "times has dtype object"),
        ([[1.0, 2.0], [3.0, 4.0]], "times has shape (2, 2)"),
        ([True, False], "times has dtype bool"),
        ([-1e308, 1e308], "times span more than float64 can hold"),
        (
            [datetime(2020, 1, 1, tzinfo=BERLIN), datetime(2020, 1, 2, tzinfo=UTC)],
            "times mixes time zones (Europe/Berlin, UTC)",
        ),
        (
            [datetime(2020, 1, 1), datetime(2020, 1, 2, tzinfo=UTC)],
            "times mixes time zones (None, UTC)",
        ),
        ([datetime(2020, 1, 1), 3.0], "times mixes dates with other values"),
    ],
)
def test_bad_times_are_named(times, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Domain.from_times(times)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"period": -1.0}, "period=-1.0 must be a positive finite number"),
        ({"period": "long"}, "period='long' must be a positive finite number"),
        ({"period": timedelta(1)}, "is a duration, but times are numbers"),
        ({"endpoint": "maybe"}, "endpoint='maybe' must be 'included' or 'excluded'"),
        ({"endpoint": "excluded"}, "needs evenly spaced times"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Domain.from_times([0.0, 1.0, 5.0], **arguments)


def test_an_unknown_unit_for_dates_is_refused():
    with pytest.raises(InputError, match=re.escape("unit='fortnight' must be one of second")):
        Domain.from_times(HOURS, unit="fortnight")


def test_times_of_another_kind_are_refused():
    with pytest.raises(InputError, match=re.escape("times are numbers, but this domain was made")):
        Domain.from_times(HOURS).to_theta([0.0, 1.0])
    with pytest.raises(InputError, match=re.escape("times have timezone UTC, but this domain")):
        Domain.from_times(HOURS).to_theta(HOURS.tz_localize("UTC"))
