"""Several bands with one period: found together, each with its own level, amplitude and noise."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from benchmarks.bands import star
from scipy import stats

from robustfourier import MultibandMixture
from robustfourier.bands.band_rows import Rows
from robustfourier.bands.band_shapes import BandMoments, fitted_shape
from robustfourier.bands.joint_periodogram import joint_periodogram
from robustfourier.errors import InputError

PERIOD = 0.613


def drawn(rng, n=90, noise=(0.2, 0.5, 0.3), heights=(2.0, 1.0, 0.5), shift=(0.0, 0.0, 0.0)):
    """A sawtooth-like shape in three bands at times of their own."""
    times, band = rng.uniform(0, 40, n), rng.integers(0, 3, n)
    phase = times / PERIOD + np.array(shift)[band]
    wave = np.cos(2 * np.pi * phase) + 0.5 * np.cos(4 * np.pi * phase + 1.0)
    values = 10.0 * band + np.array(heights)[band] * wave
    values += np.array(noise)[band] * rng.normal(size=n)
    return times, values, np.array(["g", "r", "i"])[band]


@pytest.mark.statistical
def test_bands_at_times_of_their_own_share_a_period():
    rng = np.random.default_rng(0)
    off = []
    for _ in range(4):
        times, values, band = drawn(rng)
        model = MultibandMixture(max_frequency=5.0).fit(times, values, band=band)
        assert model.false_alarm_ < 1e-4
        off.append((model.period_ - PERIOD) / model.period_error_)
    assert np.max(np.abs(off)) < 4.0
    table = model.bands_.set_index("band")
    np.testing.assert_allclose(table.loc[["g", "r", "i"], "level"], [0, 10, 20], atol=0.4)
    assert table["amplitude"].idxmax() == "g"


def test_a_shift_or_scale_of_a_band_moves_its_level_and_amplitude_alone():
    times, values, band = drawn(np.random.default_rng(1))
    one = MultibandMixture(max_frequency=5.0).fit(times, values, band=band)
    moved = np.where(band == "r", 100.0 + 7.0 * values, values)
    other = MultibandMixture(max_frequency=5.0).fit(times, moved, band=band)
    np.testing.assert_allclose(other.period_, one.period_, rtol=1e-6)
    np.testing.assert_allclose(other.false_alarm_, one.false_alarm_, rtol=1e-6)
    first, second = (m.bands_.set_index("band").loc["r"] for m in (one, other))
    np.testing.assert_allclose(second["amplitude"], 7.0 * first["amplitude"], rtol=1e-3)
    np.testing.assert_allclose(second["level"], 100.0 + 7.0 * first["level"], rtol=1e-3)


def test_the_shape_is_shared_unless_bands_say_otherwise():
    rng = np.random.default_rng(2)
    times, values, band = drawn(rng, 300)
    alike = MultibandMixture(max_frequency=5.0).fit(times, values, band=band)
    assert alike.shape_ == "shared"
    times, values, band = drawn(rng, 300, noise=(0.1, 0.1, 0.05), shift=(0.0, 0.25, 0.5))
    apart = MultibandMixture(max_frequency=5.0).fit(times, values, band=band)
    assert apart.shape_ == "own"
    left = values - apart.predict(times, band)
    assert np.std(left[band == "r"]) < 0.15


@pytest.mark.statistical
def test_noise_alone_has_no_period():
    rng = np.random.default_rng(3)
    alarms = []
    for _ in range(150):
        times, band = np.sort(rng.uniform(0, 60, 60)), rng.choice(["u", "g", "r"], 60)
        rows = Rows.of(times, rng.normal(size=60) * (1 + (band == "u")), band)
        alarms.append(joint_periodogram(rows, max_frequency=3.0).false_alarm)
    assert np.mean(np.array(alarms) < 0.05) < 0.1
    model = MultibandMixture(max_frequency=3.0).fit(times, rng.normal(size=60), band=band)
    assert np.isnan(model.period_)
    assert model.shape_ == "none"
    assert model.summary().startswith("No period common to g, r, u")
    np.testing.assert_allclose(model.predict([1.0], "g"), model.bands_["level"][0])


def test_the_strength_of_noise_in_a_band_is_exponential():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(400):
        rows = Rows.of(np.sort(rng.uniform(0, 10, 12)), rng.normal(size=12), np.repeat("g", 12))
        found.append(joint_periodogram(rows, max_frequency=0.5).own[5])
    assert stats.kstest(found, "expon").pvalue > 0.01


def test_moments_give_the_least_squares_of_one_band():
    rng = np.random.default_rng(5)
    times, values = rng.uniform(0, 20, 40), 5 + rng.normal(size=40)
    rows = Rows.of(times, values, np.repeat("g", 40))
    moments = BandMoments.of(rows, np.array([0.7]), 2)
    angle = 2 * np.pi * 0.7 * (rows.times - rows.times.mean())
    x = np.stack([np.cos(angle), np.cos(2 * angle), np.sin(angle), np.sin(2 * angle)], axis=1)
    full = np.column_stack([np.ones(40), x])
    expected = np.linalg.lstsq(full, rows.values, rcond=None)[0][1:]
    found = np.linalg.solve(moments.gram[0, 0], moments.cross[0, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    for fitted in (fitted_shape(moments, True), fitted_shape(moments, False)):
        assert np.isfinite(fitted.evidence).all()


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [980136770, 980136857])
def test_candidates_are_compared_at_the_tops_of_their_peaks(seed):
    # Peaks are far sharper than the grid: on it, twice the period may seem the better one.
    times, values, errors, band, period = star(np.random.default_rng(seed), sparse=False)
    model = MultibandMixture(unit="day").fit(times, values, band=band, y_err=errors)
    assert abs(model.period_ - period) < 4 * model.period_error_
    assert model.alternatives_["period"].round(6).tolist() == [round(2 * model.period_, 6)]
    assert model.alternatives_["probability"][0] < 0.1


def test_a_band_of_three_rows_leans_on_the_others():
    times, values, band = drawn(np.random.default_rng(6), 120)
    extra = PERIOD * np.array([10.0, 25.33, 40.67])
    wave = np.cos(2 * np.pi * extra / PERIOD) + 0.5 * np.cos(4 * np.pi * extra / PERIOD + 1.0)
    joined = np.concatenate([times, extra]), np.concatenate([values, 50.0 + wave])
    model = MultibandMixture(max_frequency=5.0).fit(*joined, band=[*band, "z", "z", "z"])
    assert abs(model.period_ - PERIOD) < 5 * model.period_error_
    assert any(note.startswith("z: too few rows") for note in model.notes_)
    assert abs(model.bands_.set_index("band").loc["z", "level"] - 50.0) < 1.0


def test_a_band_that_never_changes_is_left_out_and_said_so():
    times, values, band = drawn(np.random.default_rng(11), 120)
    band, flat = np.array(band), np.array(band) == "i"
    kept = MultibandMixture(max_frequency=5.0).fit(times[~flat], values[~flat], band=band[~flat])
    values[flat] = 0.1
    model = MultibandMixture(max_frequency=5.0).fit(times, values, band=band)
    assert "i: left out, the value never changes" in model.notes_
    pd.testing.assert_frame_equal(model.bands_, kept.bands_, rtol=1e-6)
    values[flat] = np.nan
    assert list(MultibandMixture(max_frequency=5.0).fit(times, values, band=band).bands_["band"]) \
        == list(kept.bands_["band"])  # fmt: skip


def test_a_band_of_one_row_does_not_depend_on_the_unit_of_values():
    times, values, band = drawn(np.random.default_rng(12), 120)
    joined, names = np.append(times, 7.0), [*band, "z"]
    one = MultibandMixture(periods=PERIOD).fit(joined, np.append(values, 5.0), band=names)
    far = MultibandMixture(periods=PERIOD).fit(joined, 1e3 * np.append(values, 5.0), band=names)
    numbers = ["level", "amplitude", "noise"]
    np.testing.assert_allclose(far.bands_[numbers], 1e3 * one.bands_[numbers], rtol=1e-6)


def test_rows_that_lack_something_are_left_out():
    times, values, band = drawn(np.random.default_rng(7))
    errors = np.full(len(times), 0.3)
    values[3], errors[4] = np.nan, 0.0
    model = MultibandMixture(max_frequency=5.0).fit(times, values, band=band, y_err=errors)
    assert model.bands_["rows"].sum() == len(times) - 2


def test_a_known_period_is_kept():
    times, values, band = drawn(np.random.default_rng(8))
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(times, unit="D")
    model = MultibandMixture(periods="14.712h").fit(days, values, band=band)
    np.testing.assert_allclose(model.period_, 0.613)
    assert np.isnan(model.false_alarm_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"band": None}, "band is missing"),
        ({"band": ["g"]}, "band has shape (1,); give one for each of 20 times"),
        ({"band": [str(i // 5) for i in range(20)]}, "no band has 6 rows"),
        ({"y": np.ones(20)}, "no band has 6 rows that differ"),
        ({"y": np.ones(3)}, "y has shape (3,)"),
    ],
)
def test_what_cannot_be_fitted_is_refused(given, message):
    asked = {"y": np.arange(20.0) % 7, "band": ["g"] * 20, **given}
    with pytest.raises(InputError, match=re.escape(message)):
        MultibandMixture().fit(np.arange(20.0), asked["y"], band=asked["band"])


def test_an_unknown_band_is_refused():
    times, values, band = drawn(np.random.default_rng(9))
    model = MultibandMixture(periods=PERIOD).fit(times, values, band=band)
    with pytest.raises(InputError, match=re.escape("band 'K' was not fitted; there are g, i, r")):
        model.predict([1.0], "K")


@pytest.mark.end_to_end
def test_bands_from_the_command_line(run, write, tmp_path):
    times, values, band = drawn(np.random.default_rng(10))
    frame = pd.DataFrame({"mjd": 52000 + times, "mag": values, "mag_err": 0.3, "filter": band})
    file, out = write(frame.to_csv(index=False)), tmp_path / "out"
    code, shown, _ = run("fit", file, "--band", "filter", "--out", str(out))
    assert code == 0
    assert "g, i, r repeat every 0.61" in shown
    assert {p.name for p in out.iterdir()} >= {"bands.csv", "periods.csv", "bands.png"}
    code, shown, _ = run("fit", file, "--band", "filter", "--no-files", "--json")
    assert abs(json.loads(shown)["period"] - PERIOD) < 1e-3
    code, _, error = run("fit", file, "--band", "colour")
    assert code == 3
    assert "'colour'" in error
