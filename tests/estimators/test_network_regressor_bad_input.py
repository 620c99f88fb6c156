"""FourierNetworkRegressor: what it refuses, and what it takes as it is."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from tests.estimators.toys import regressor

from robustfourier import FourierNetworkRegressor
from robustfourier import memory_limits as memory
from robustfourier.errors import DivergenceError, InputError, OutOfMemoryError

BAD_FITS = [
    ({}, [[0.0], [np.nan]], [1.0, 2.0], "X contains NaN or infinity (inf): X[1, 0] is nan"),
    ({}, [[0.0], [np.inf]], [1.0, 2.0], "X[1, 0] is inf; remove or fill"),
    ({}, [[0.0], [1.0]], [1.0, np.nan], "y[1] is nan"),
    ({}, [[0.0], [1.0]], [1.0, -np.inf], "y[1] is -inf"),
    ({}, [[0.0]], [1.0], "(n_samples=1); at least two samples"),
    ({}, [[3.0], [3.0]], [1.0, 2.0], "times are all equal; at least two different times"),
    ({}, [[0.0], [1.0]], [1.0, 2.0, 3.0], "y has 3 rows but X has 2"),
    ({}, [[0.0], [1.0]], None, "requires y to be passed"),
    ({}, [[0.0], [1.0]], np.zeros((2, 1, 1)), "y has shape (2, 1, 1)"),
    ({"n_modes": 0}, [[0.0], [1.0]], [1.0, 2.0], "n_modes=0 must be a whole number of at least 1"),
    ({"ridge": -1.0}, [[0.0], [1.0]], [1.0, 2.0], "ridge=-1.0 (λ) must be 0 or positive"),
    ({"diagonal_box": -1.0}, [[0.0], [1.0]], [1.0, 2.0], "diagonal_box=-1.0 is not usable"),
    ({"output_box": "theorem"}, [[0.0], [1.0]], [1.0, 2.0], "belong to training='layerwise'"),
    ({"training": "both"}, [[0.0], [1.0]], [1.0, 2.0], "training='both' is unknown"),
    ({"dtype": "float16"}, [[0.0], [1.0]], [1.0, 2.0], "dtype='float16' is unknown"),
    ({"engine": "gpu"}, [[0.0], [1.0]], [1.0, 2.0], "engine='gpu' is unknown"),
    ({"init": "he"}, [[0.0], [1.0]], [1.0, 2.0], "init='he' is unknown"),
    ({"loss": "l1"}, [[0.0], [1.0]], [1.0, 2.0], "loss='l1' is unknown"),
    ({"embedding": "x"}, [[0.0], [1.0]], [1.0, 2.0], "embedding='x' is unknown"),
    ({"activation": "x"}, [[0.0], [1.0]], [1.0, 2.0], "activation='x' is unknown"),
    ({"learning_rate": 0}, [[0.0], [1.0]], [1.0, 2.0], "learning_rate=0 must be a positive"),
    ({"batch_size": 0}, [[0.0], [1.0]], [1.0, 2.0], "batch_size=0 must be"),
    ({"select": 0.1}, [[0.0], [1.0]], [1.0, 2.0], "select=0.1 is unknown; use one of ebic, None"),
    ({"n_steps": 1.5}, [[0.0], [1.0]], [1.0, 2.0], "n_steps=1.5 must be a whole number"),
    ({"threshold": -1}, [[0.0], [1.0]], [1.0, 2.0], "threshold=-1 must be 0 or positive"),
    ({"random_state": "seed"}, [[0.0], [1.0]], [1.0, 2.0], "random_state='seed' is not usable"),
]


@pytest.mark.parametrize(("options", "X", "y", "message"), BAD_FITS, ids=lambda v: str(v)[:40])
def test_what_cannot_be_used_is_named_and_nothing_is_half_fitted(options, X, y, message):
    model = regressor(**{"n_steps": 5, **options})
    with pytest.raises(InputError, match=re.escape(message)):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        model.predict([[0.0]])


def test_text_objects_and_mixed_timezones_are_refused():
    model = regressor(n_steps=5)
    with pytest.raises(InputError, match="X cannot be used, give numbers or dates: could not con"):
        model.fit(np.array([["a"], ["b"]], dtype=object), [1.0, 2.0])
    mixed = [
        [pd.Timestamp("2024-01-01", tz="UTC").to_pydatetime()],
        [pd.Timestamp("2024-01-02", tz="Europe/Paris").to_pydatetime()],
    ]
    with pytest.raises(InputError, match="mixes time zones"):
        model.fit(np.array(mixed, dtype=object), [1.0, 2.0])
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0, 1.0], "sample_weight has the negative value -1.0"),
        ([1.0, np.nan, 1.0], "sample_weight contains NaN"),
        ([1.0, 1.0], "sample_weight has shape (2,), expected (3,)"),
        ([0.0, 0.0, 0.0], "sample_weight is zero for every row"),
        ([1.0, 0.0, 0.0], "of which 1 count"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weight, message):
    with pytest.raises(InputError, match=re.escape(message)):
        regressor().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0], sample_weight=weight)


def test_a_failed_refit_leaves_the_old_fit(wave):
    model = regressor().fit(*wave)
    before = model.predict(wave[0])
    with pytest.raises(InputError):
        model.fit(np.zeros((3, 2)), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.predict(wave[0]), before)
    assert model.n_features_in_ == 1


@pytest.mark.parametrize(
    "options", [{"learning_rate": 1e4}, {"learning_rate": 1e160, "n_steps": "auto"}]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_divergence_is_an_error_that_leaves_nothing_behind(wave, options):
    model = regressor(**options)
    with pytest.raises(DivergenceError, match="use a smaller learning_rate"):
        model.fit(*wave)
    assert not hasattr(model, "weights_")


def test_more_modes_than_memory_allows_says_the_bytes(wave, monkeypatch):
    with pytest.raises(OutOfMemoryError, match=r"n_modes=1000000000000 needs \d+ bytes"):
        regressor(n_modes=10**12).fit(*wave)
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    with pytest.raises(OutOfMemoryError, match=r"n_modes=100 needs \d+ bytes .* use fewer modes"):
        regressor(n_modes=100, engine="torch").fit(*wave)


def test_predicting_dates_with_a_model_of_numbers_is_refused(wave):
    model = regressor().fit(*wave)
    dates = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=3)})
    with pytest.raises(InputError, match="times are dates, but this domain was made from numbers"):
        model.predict(dates.to_numpy())


def test_rows_that_are_masked_are_not_there(wave):
    X, y = wave
    mask = np.arange(len(y)) % 5 == 0
    model = regressor().fit(X, np.ma.array(np.where(mask, 1e9, y), mask=mask))
    np.testing.assert_array_equal(model.predict(X), regressor().fit(X[~mask], y[~mask]).predict(X))


@pytest.mark.parametrize("size", [2.0**1000, 2.0**-1000])
def test_values_of_any_size_train_the_same_network(wave, size):
    X, y = wave
    one, other = regressor().fit(X, y), regressor().fit(X, size * y)
    np.testing.assert_array_equal(other.predict(X), size * one.predict(X))


@pytest.mark.parametrize("level", [0.0, 1e-9, -1e300])
@pytest.mark.parametrize("make", [regressor, FourierNetworkRegressor])
@pytest.mark.parametrize("loss", ["mean_squared", "huber"])
def test_a_constant_of_any_size_is_predicted_within_its_own_size(wave, level, make, loss):
    X, y = wave
    predicted = make(loss=loss, random_state=0).fit(X, np.full(len(y), level)).predict(X)
    np.testing.assert_allclose(predicted, level, rtol=0.5, atol=1e-12)


def test_pulses_among_values_that_are_all_one_number_are_fitted_by_hubers_loss():
    t = np.arange(400.0)
    y = np.where(t % 20 < 6, 1.0, 0.0)
    model = FourierNetworkRegressor(loss="huber", random_state=0).fit(t, y)
    assert 20 in model.modes_.mode[model.modes_.active]
    assert np.mean((model.predict(t) - y) ** 2) < 0.5 * np.var(y)


@pytest.mark.parametrize("options", [{"learning_rate": 1e-30}, {"init_scale": 1e-300}])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numbers_that_no_training_can_follow_are_refused(wave, options):
    with pytest.raises(InputError, match=r"learning_rate=\S+ with init_scale=\S+ asks for \S+ st"):
        FourierNetworkRegressor(random_state=0, **options).fit(*wave)
