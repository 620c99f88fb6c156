"""Bad input: a clear error that names argument, value and remedy, or the right answer."""

import re

import numpy as np
import pandas as pd
import pytest

from robustfourier.errors import InputError
from robustfourier.estimators.mixture import PeriodicMixture

RNG = np.random.default_rng(0)
T = np.sort(RNG.uniform(0, 50, 250))
Y = np.cos(2 * np.pi * T / 3) + 0.3 * RNG.normal(size=250)


def with_value(array, value):
    return np.concatenate([array[:-1], [value]])


@pytest.mark.parametrize(
    ("t", "y", "message"),
    [
        (with_value(T, np.nan), Y, "X[249, 0] is nan; remove or fill such values first"),
        (T, with_value(Y, np.inf), "y[249] is inf; remove or fill such values first"),
        ([1.0], [2.0], "n_samples=1); at least two samples at different times are needed"),
        ([], [], "Expected 2D array, got 1D array instead"),
        (np.ones(9), np.arange(9.0), "times are all equal; at least two different times"),
        (T, Y[:-1], "y has 249 rows but X has 250"),
        (T, None, "requires y to be passed, but the target y is None"),
        (
            np.array(["a"] * 250, dtype=object),
            Y,
            "X is text that is not read as dates ('a' is neither a number",
        ),
        (T, ["x"] * 250, "Convert your data to numeric values explicitly instead"),
        (T, Y.reshape(250, 1, 1), "y has shape (250, 1, 1); give (n_samples,)"),
    ],
)
def test_data_that_cannot_be_used_are_refused_and_nothing_is_half_fitted(t, y, message):
    model = PeriodicMixture()
    with pytest.raises(InputError, match=re.escape(message)):
        model.fit(t, y)
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"false_alarm": 2.0}, "false_alarm=2.0 must lie between 0 and 1"),
        ({"false_alarm": "a"}, "false_alarm='a' must lie between 0 and 1"),
        ({"frequencies": "x"}, "frequencies='x' is unknown; use one of real, integer"),
        ({"loss": "x"}, "loss='x' is unknown; use one of auto, squared, huber"),
        ({"max_frequency": -1.0}, "max_frequency=-1.0 must be a positive finite number"),
        ({"max_frequency": 1e9}, "at most 2,000,000 can be searched"),
        ({"periods": [3.0, -1.0]}, "periods=[3.0, -1.0] must all be positive finite numbers"),
        ({"periods": [1e-9]}, "periods has 1e-09: would fit"),
        ({"periods": [3.0, 1e-300]}, "periods has 1e-300: would fit"),
        ({"periods": [1e300]}, "times as long as the record; give a shorter period"),
        ({"unit": 3}, "unit=3 must be text, such as 'day', or None"),
        ({"unit": "da\x1b[31my"}, "unit='da\\x1b[31my' must be text, such as 'day', or None"),
        ({"unit": "\u202eday"}, "unit='\\u202eday' must be text, such as 'day', or None"),
        ({"endpoint": "x"}, "endpoint='x' must be 'included' or 'excluded'"),
        ({"random_state": "x"}, "random_state='x' is not usable"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused_by_name(parameters, message):
    with pytest.raises(InputError, match=re.escape(message)):
        PeriodicMixture(**parameters).fit(T, Y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"sample_weight": -np.ones(250)}, "negative value -1.0; weights must be 0 or positive"),
        ({"sample_weight": np.ones(3)}, "sample_weight has shape (3,), expected (250,)"),
        ({"sample_weight": np.zeros(250)}, "sample_weight is zero for every row"),
        ({"sample_weight": "abc"}, "sample_weight='abc' must be numbers, one for each row of X"),
        ({"sample_weight": ["a"] * 250}, "must be numbers, one for each row of X"),
        ({"sample_weight": [[1], [2, 3]]}, "sample_weight=[[1], [2, 3]] must be numbers"),
        ({"y_err": np.zeros(250)}, "y_err[0] is 0.0; errors must be positive and finite"),
        ({"y_err": np.ones(3)}, "y_err has shape (3,), expected (250,): one per row"),
        ({"y_err": ["a"] * 250}, "must be numbers, one per row"),
    ],
)
def test_weights_and_errors_that_cannot_be_used_are_refused(weights, message):
    with pytest.raises(InputError, match=re.escape(message)):
        PeriodicMixture().fit(T, Y, **weights)


def test_two_samples_are_a_level_without_modes():
    model = PeriodicMixture().fit([1.0, 2.0], [3.0, 5.0])
    assert len(model.modes_) == 0
    assert np.isfinite(model.predict([0.0, 1.5, 10.0])).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-310, 1e300])
def test_values_of_any_magnitude_give_the_same_modes(scale):
    plain, scaled = PeriodicMixture().fit(T, Y), PeriodicMixture().fit(T, scale * Y)
    assert scaled.modes_.period == pytest.approx(plain.modes_.period, rel=1e-6)
    assert scaled.components_[0].share == pytest.approx(plain.components_[0].share, rel=1e-6)
    values, errors = scaled.predict(T, return_std=True)
    assert np.isfinite(values).all()
    assert np.isfinite(errors).all()
    assert values / scale == pytest.approx(plain.predict(T), abs=1e-6)


def test_times_in_nanoseconds_since_1970_lose_nothing():
    stamps = np.round(T * 1e9).astype(np.int64) + 1_700_000_000_000_000_000
    model = PeriodicMixture().fit(stamps, Y)
    assert model.modes_.period == pytest.approx(PeriodicMixture().fit(T, Y).modes_.period * 1e9)


def test_duplicate_times_with_different_values_are_samples_like_others():
    again = np.cos(2 * np.pi * T / 3) + 0.3 * np.random.default_rng(5).normal(size=250)
    model = PeriodicMixture().fit(np.concatenate([T, T]), np.concatenate([Y, again]))
    assert model.modes_.period == pytest.approx([3.0], rel=2e-3)


@pytest.mark.parametrize("size", [1e3, 1e9, 1e150, -1e300])
def test_a_single_huge_outlier_changes_little(size):
    y = Y.copy()
    y[17] = size
    plain, hit = PeriodicMixture().fit(T, Y), PeriodicMixture().fit(T, y)
    assert hit.modes_.period == pytest.approx(plain.modes_.period, rel=1e-3)
    assert hit.predict(T) == pytest.approx(plain.predict(T), abs=0.1)


def test_a_tenth_of_the_rows_beyond_all_bounds_is_signal():
    y = np.where(np.arange(250) % 5 == 0, 1.0 + Y, 1e-150 * Y)
    model = PeriodicMixture(scale="linear", loss="squared").fit(T, y)
    assert model.noise_ > 0.1


@pytest.mark.parametrize("where", ["X", "y", "sample_weight", "y_err"])
def test_rows_that_are_masked_anywhere_are_not_there(where):
    mask = np.arange(250) % 5 == 0
    rows = {"X": T, "y": Y, "sample_weight": np.ones(250), "y_err": np.ones(250)}
    rows[where] = np.ma.array(np.where(mask, np.nan, rows[where]), mask=mask)
    plain = PeriodicMixture().fit(T[~mask], Y[~mask])
    assert np.array_equal(PeriodicMixture().fit(**rows).predict(T), plain.predict(T))


def test_masked_rows_go_from_lists_tables_and_several_outputs_too():
    y = np.ma.array(np.column_stack([Y, Y]), mask=np.zeros((250, 2), bool))
    y[3, 1] = np.ma.masked
    rows = np.delete(np.arange(250), 3)
    plain = PeriodicMixture().fit(T[rows], y.data[rows]).predict(T)
    for times in (T.tolist(), pd.DataFrame({"t": T}), pd.Series(T)):
        model = PeriodicMixture().fit(times, y)
        assert np.array_equal(model.predict(times), plain)


def test_masked_times_cannot_be_predicted_and_other_lengths_are_still_refused():
    masked = np.ma.array(T, mask=np.arange(250) == 7)
    with pytest.raises(InputError, match=re.escape("X is masked in row 7; leave out the masked")):
        PeriodicMixture().fit(T, Y).predict(masked)
    with pytest.raises(InputError, match=re.escape("y has 249 rows but X has 250")):
        PeriodicMixture().fit(np.ma.array(T), Y[:-1])


def test_a_known_period_given_twice_is_one_period():
    once, twice = PeriodicMixture(periods=[3.0]), PeriodicMixture(periods=[3.0, 3.0])
    assert np.array_equal(twice.fit(T, Y).predict(T), once.fit(T, Y).predict(T))
    assert len(twice.modes_) == 1
    assert twice.noise_ == once.noise_


def test_a_bad_prediction_input_is_refused_and_the_model_stays_usable():
    model = PeriodicMixture().fit(T, Y)
    with pytest.raises(InputError, match=re.escape("X[1, 0] is nan")):
        model.predict([1.0, np.nan])
    with pytest.raises(InputError, match=re.escape("X has 2 features")):
        model.predict(np.ones((3, 2)))
    assert np.isfinite(model.predict(T)).all()


@pytest.mark.parametrize("size", [1e306, 1e308])
def test_values_whose_sums_would_overflow_are_refused(size):
    t = np.arange(60.0)
    with pytest.raises(InputError, match=re.escape("so divide y by a constant")):
        PeriodicMixture().fit(t, size * np.cos(np.pi * t))


def test_a_lone_sample_beside_a_gap_is_a_sample_like_others():
    t = np.r_[np.arange(199.0), 208.0]
    y = np.sin(2 * np.pi * t / 17) + 0.3 * np.random.default_rng(0).normal(size=200)
    (component,) = PeriodicMixture().fit(t, y).components_
    assert component.period == pytest.approx(17.0, abs=4 * component.period_error)
    assert component.period_error < 0.1


def test_one_date_of_1970_among_130_days_does_not_end_the_fit():
    t = pd.date_range("2024-01-01", periods=130).to_series().reset_index(drop=True)
    y = np.sin(2 * np.pi * np.arange(130) / 7) + 0.3 * np.random.default_rng(0).normal(size=130)
    t[129] = pd.Timestamp("1970-01-01")
    periods = [component.period for component in PeriodicMixture().fit(t, y).components_]
    assert periods == pytest.approx([7.0], abs=0.05)
