"""Tides: lines named as constituents, with the phase at Greenwich; ellipses of currents."""

import numpy as np
import pandas as pd
import pytest

from robustfourier import PeriodicMixture
from robustfourier.domain import Domain
from robustfourier.errors import InputError
from robustfourier.fields import constituent_named, ellipses, harmonic_constants
from robustfourier.fields.tides import NAMES, SPEEDS, constituents_of, equilibrium_argument

TRUE = {"M2": (0.60, 77.0), "S2": (0.22, 103.0), "K1": (0.20, 224.0), "O1": (0.14, 310.0)}


def tide(times, constants):
    """A tide from harmonic constants, by the definition: H f cos(V + u - g) at each instant."""
    middle = times[0] + (times[-1] - times[0]) / 2
    total = np.zeros(len(times))
    for name, (height, lag) in constants.items():
        nodal = equilibrium_argument(name, middle)
        shift = nodal.degrees - equilibrium_argument(name, middle, nodal=False).degrees
        for i, time in enumerate(times):
            v = equilibrium_argument(name, time, nodal=False).degrees
            total[i] += height * nodal.factor * np.cos(np.deg2rad(v + shift - lag))
    return total


@pytest.fixture(scope="module")
def gauge():
    times = pd.date_range("2023-04-01", periods=1200, freq="90min")
    noise = 0.02 * np.random.default_rng(0).normal(size=len(times))
    return PeriodicMixture().fit(times, tide(times, TRUE) + noise)


@pytest.mark.parametrize(
    ("name", "speed"),
    [("M2", 28.9841042), ("K1", 15.0410686), ("O1", 13.9430356), ("N2", 28.4397295),
     ("nu2", 28.5125831), ("T2", 29.9589333), ("Mf", 1.0980331), ("M6", 86.9523127)],
)  # fmt: skip
def test_speeds_are_those_of_the_tables(name, speed):
    assert SPEEDS[NAMES.index(name)] == pytest.approx(speed, abs=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_an_argument_turns_with_the_speed_of_its_constituent(name):
    start, hours = pd.Timestamp("2011-05-03T07:00"), 31.0
    first, last = (
        equilibrium_argument(name, start + pd.Timedelta(hours=h), nodal=False).degrees
        for h in (0.0, hours)
    )
    turned = (last - first - hours * SPEEDS[NAMES.index(name)] + 180.0) % 360.0 - 180.0
    assert turned == pytest.approx(0.0, abs=1e-3)


def test_an_instant_is_the_same_in_every_zone():
    stamp = pd.Timestamp("2024-06-01T12:00", tz="Europe/Berlin")
    assert equilibrium_argument("M2", stamp) == equilibrium_argument("M2", "2024-06-01T10:00")


def test_harmonic_constants_are_recovered(gauge):
    table = harmonic_constants(gauge).set_index("constituent")
    assert set(TRUE) <= set(table.index)
    for name, (height, lag) in TRUE.items():
        row = table.loc[name]
        assert abs(row["amplitude"] - height) < 4 * row["amplitude_error"] + 1e-3
        assert abs((row["phase"] - lag + 180) % 360 - 180) < 4 * row["phase_error"] + 0.5


def test_components_have_the_names_of_their_constituents(gauge):
    assert "M2" in gauge.components_.to_frame()["name"].tolist()


def test_a_day_and_its_half_alone_are_no_tide():
    domain = Domain(0.0, 90.0, "day")
    parts = [type("Part", (), {"frequency": f, "frequency_error": 1e-5})() for f in (1.0, 2.0)]
    assert constituent_named(2.0, 1e-5, domain) == "S2"
    assert constituents_of(parts, domain) == ["", ""]


def test_of_constituents_that_a_short_record_cannot_separate_the_strongest_is_named():
    t2 = 29.9589333 / 360.0  # cycles per hour, a year from S2
    assert constituent_named(t2, 1e-6, Domain(0.0, 720.0, "hour")) == "S2"
    assert constituent_named(t2, 1e-9, Domain(0.0, 1e5, "hour")) == "T2"


def test_a_circle_and_a_line_are_ellipses():
    times = pd.date_range("2023-04-01", periods=900, freq="90min")
    noise = 0.005 * np.random.default_rng(1).normal(size=(len(times), 2))
    east = tide(times, {"M2": (1.0, 40.0), "K1": (0.5, 10.0)})
    north = tide(times, {"M2": (1.0, 40.0), "K1": (0.5, 100.0)})
    table = ellipses(PeriodicMixture().fit(times, np.column_stack([east, north]) + noise))
    table = table.set_index("constituent")
    assert table.loc["M2", "major"] == pytest.approx(2**0.5, rel=0.01)
    assert table.loc["M2", "minor"] == pytest.approx(0.0, abs=0.01)
    assert table.loc["M2", "inclination"] == pytest.approx(45.0, abs=1.0)
    assert table.loc["M2", "phase"] == pytest.approx(40.0, abs=1.5)
    assert table.loc["K1", "minor"] == pytest.approx(
        0.5, rel=0.02
    )  # north after east: anticlockwise


def test_numbers_without_a_unit_are_refused():
    t = np.arange(200.0)
    model = PeriodicMixture().fit(t, np.cos(t))
    with pytest.raises(InputError, match="unit of time is unknown"):
        harmonic_constants(model)
