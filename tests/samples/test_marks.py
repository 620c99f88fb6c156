"""Marks of missing values are known by what they do; measurements are left alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustfourier.datasets import load_sunspots
from robustfourier.errors import DataError
from robustfourier.samples import from_arrays, read_samples
from robustfourier.samples.samples import marks_of

RNG = np.random.default_rng(0)
MAGNITUDES = np.round(15.0 + 0.3 * np.sin(np.arange(200) / 3.0) + 0.05 * RNG.normal(size=200), 3)
OLD = [-9.0, -99.0, -999.0, -9999.0, -99999.0, 999.0, 9999.0, 99999.0, -999.25, 99.99]


@pytest.mark.parametrize("mark", [99.999, 9.999, -999.9, -99.9, 1e20, -32768.0, 32767.0, *OLD])
@pytest.mark.parametrize("times", [2, 5, 60])
def test_a_value_far_from_all_others_and_repeated_is_a_mark(mark, times):
    values = np.r_[MAGNITUDES, np.full(times, mark)]
    np.testing.assert_array_equal(marks_of(RNG.permutation(values)), [mark])


def test_marks_at_both_ends_are_found_together():
    values = np.r_[MAGNITUDES, [99.999] * 4, [-99.9] * 3, [-999.0] * 2]
    np.testing.assert_array_equal(marks_of(values), [-999.0, -99.9, 99.999])


def rain():
    return np.where(RNG.random(400) < 0.6, 0.0, np.round(RNG.gamma(0.7, 6.0, 400), 1))


MEASUREMENTS = {
    "rain": rain(),
    "rain in negative units": -rain(),
    "intermittent demand far from nothing": np.where(
        RNG.random(300) < 0.4, 0.0, np.round(RNG.normal(50.0, 3.0, 300))
    ),
    "a machine that is off now and then": np.where(
        RNG.random(300) < 0.2, 0.0, RNG.normal(1500.0, 20.0, 300)
    ),
    "counts": RNG.poisson(2.0, 300).astype(float),
    "counts with a weekly delivery": np.where(
        np.arange(300) % 7 == 0, 12.0, RNG.poisson(1.0, 300).clip(0, 4)
    ),
    "a saturated sensor": np.minimum(RNG.normal(0.0, 1.0, 300), 1.0),
    "a sensor cut at both ends": np.clip(RNG.normal(0.0, 1.0, 300), -0.5, 0.5),
    "two states": np.where(np.arange(300) % 20 < 10, 0.0, 5.0),
    "two states and noise": np.where(np.arange(300) % 20 < 10, 1.0, 5.0) + RNG.normal(0, 0.1, 300),
    "one outlier": np.r_[RNG.normal(size=300), 99.999],
    "outliers of one size, nearly": np.r_[RNG.normal(size=300), 50.0, 50.001, 49.98],
    "rounded temperatures with two alike": np.r_[np.round(RNG.normal(15.0, 3.0, 300)), 60.0, 60.0],
    "an alternation": np.arange(300) % 2.0,
    "heavy tails": np.round(RNG.standard_cauchy(500), 1),
    "sunspots": load_sunspots().values,
}


@pytest.mark.parametrize("kind", MEASUREMENTS)
def test_measurements_are_no_marks(kind):
    assert len(marks_of(MEASUREMENTS[kind])) == 0


@given(st.integers(0, 2**32 - 1), st.floats(-8, 8), st.floats(-1e3, 1e3))
def test_marks_do_not_depend_on_unit_and_origin(seed, power, shift):
    rng = np.random.default_rng(seed)
    values = np.r_[rng.normal(size=60), [30.0] * 3]
    moved = 10.0**power * (values + shift)
    assert (len(marks_of(moved)) == 1) or np.any(moved[-1:] == 0)


def test_marks_in_a_file_are_said_and_left_out(tmp_path):
    path = tmp_path / "star.csv"
    magnitude = np.where(np.arange(200) % 9 == 4, 99.999, MAGNITUDES)
    rows = zip(np.arange(200.0), magnitude, strict=True)
    path.write_text("t,mag\n" + "".join(f"{t},{m}\n" for t, m in rows))
    samples = read_samples(path)
    assert samples.values.max() < 20
    assert len(samples) == 178
    assert samples.counts.missing == 22
    assert any("99.999 occurs 22 times, far from all other" in note for note in samples.notes)
    with pytest.raises(DataError, match="line 6: a value is missing"):
        read_samples(path, missing="error")


def test_rows_whose_error_is_a_mark_are_left_out():
    errors = np.where(np.arange(200) < 5, -99.0, 0.05 + 0.001 * RNG.random(200))
    samples = from_arrays(np.arange(200.0), MAGNITUDES, errors)
    assert len(samples) == 195
    assert samples.errors.min() > 0
