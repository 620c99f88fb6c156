"""FourierNetworkRegressor: what it finds, and what stays the same."""

import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.estimators.toys import regressor

from robustfourier import FourierNetworkRegressor
from robustfourier.errors import InputError
from robustfourier.network.embedding import mode_pair
from robustfourier.synthetic import paper_example, relative_error
from robustfourier.training.engine import ENGINES


def test_a_wave_in_noise_is_found_with_its_mode_period_amplitude_and_phase(wave):
    # five cycles of cos(2π f (t − 5)) with f = 1/2: phase 0 at the middle of the record
    model = FourierNetworkRegressor(random_state=0).fit(*wave)
    found = model.modes_.select(model.modes_.active)
    assert found.mode.tolist() == [5.0]
    assert found.period == pytest.approx([2.0])
    assert found.frequency == pytest.approx([0.5])
    assert found.amplitude == pytest.approx([3.0], abs=0.2)
    assert found.phase == pytest.approx([0.0], abs=0.1)
    assert model.score(*wave) > 0.7


@pytest.mark.parametrize("number", [1, 2])
def test_training_alone_reaches_least_squares_on_the_true_modes(number):
    problem = paper_example(number, random_state=0)
    model = FourierNetworkRegressor(random_state=0).fit(problem.theta, problem.y)
    assert model.modes_.mode[model.modes_.active].tolist() == [5, 29, 61]
    known = np.hstack([mode_pair(problem.theta, mode) for mode in (5, 29, 61)])
    best = known @ np.linalg.lstsq(known, problem.y, rcond=None)[0]
    error = relative_error(model.predict(problem.theta), problem.truth)
    assert error < 1.2 * relative_error(best, problem.truth)
    assert model.noise_ * model.y_scale_[0] == pytest.approx(0.4, rel=0.03)


def test_the_papers_start_rate_and_rectified_units_still_find_its_modes():
    # the paper's size needs 6e4 steps; a faster rate shows the same picture in 8000
    problem = paper_example(1, random_state=0)
    model = FourierNetworkRegressor(
        n_modes=80,
        activation="relu",
        init="symmetric",
        init_scale=1.0,
        n_steps=8000,
        learning_rate=0.02,
        decay_steps=8000,
        random_state=0,
    ).fit(problem.theta[:, None], problem.y)
    assert model.modes_.mode[model.modes_.active].tolist() == [5, 29, 61]
    assert relative_error(model.predict(problem.theta[:, None]), problem.truth) < 0.08


def test_the_band_widens_to_the_modes_that_the_data_ask_for_and_no_further():
    t = np.linspace(-1, 1, 2001)
    rng = np.random.default_rng(0)
    y = np.cos(40 * np.pi * t) + 0.5 * np.sin(350 * np.pi * t) + 0.3 * rng.normal(size=t.size)
    model = FourierNetworkRegressor(random_state=0).fit(t, y)
    assert len(model.modes_.mode) == 350
    assert model.modes_.mode[model.modes_.active].tolist() == [40, 350]
    few = FourierNetworkRegressor(random_state=0).fit(t[::100], y[::100])
    assert len(few.modes_.mode) == 10  # 21 samples tell ten modes apart


def test_one_column_of_times_needs_no_second_dimension(wave):
    X, y = wave
    flat, table = regressor().fit(X[:, 0], y), regressor().fit(X, y)
    np.testing.assert_array_equal(flat.predict(X[:, 0]), table.predict(X))
    assert flat.n_features_in_ == 1


def test_the_size_of_the_start_decides_how_sparse_the_network_ends(wave):
    X, y = wave
    small, large = (
        regressor(init_scale=scale, init="even", n_steps=3000).fit(X, y) for scale in (0.05, 1.0)
    )
    rest = np.arange(1, 13) != 5
    assert small.modes_.amplitude[rest].sum() < 0.5 * large.modes_.amplitude[rest].sum()
    with pytest.raises(InputError, match=re.escape("init_scale=0.0 must be positive")):
        regressor(init_scale=0.0).fit(X, y)


def test_the_second_phase_has_a_rate_of_its_own_and_the_start_is_kept(wave):
    options = {"training": "layerwise", "n_steps": 50, "init": "theory"}
    still = regressor(**options, output_learning_rate=1e-12).fit(*wave)
    moved = regressor(**options).fit(*wave)
    c0 = still.start_weights_.arrays["output.weight"]
    np.testing.assert_allclose(np.abs(c0), 0.1 / np.sqrt(12))
    np.testing.assert_allclose(still.weights_.arrays["output.weight"], c0, rtol=1e-6)
    np.testing.assert_array_equal(still.diagonal_weights_, moved.diagonal_weights_)
    assert np.abs(moved.weights_.arrays["output.weight"] - c0).max() > 0.01


def test_pure_noise_has_no_active_modes():
    t = np.linspace(0, 1, 2000)
    active = 0
    for seed in range(10):
        y = np.random.default_rng(seed).normal(size=t.size)
        active += FourierNetworkRegressor(random_state=0).fit(t, y).modes_.active.sum()
    assert active == 0


def test_a_threshold_replaces_the_rule(wave):
    assert regressor(threshold=0.0, select=None).fit(*wave).modes_.active.all()
    assert not regressor(threshold=1e3).fit(*wave).modes_.active.any()


def test_amplitudes_and_phases_are_those_of_the_prediction(wave):
    model = regressor().fit(*wave)
    t = 10 * np.arange(4096) / 4096
    spectrum = np.fft.rfft(model.predict(t[:, None]))[1:13] * 2 / 4096
    centred = spectrum * np.exp(1j * np.pi * np.arange(1, 13))  # told at the middle of the record
    np.testing.assert_allclose(model.modes_.amplitude, np.abs(centred), atol=1e-5)
    strong = model.modes_.amplitude > 0.05
    np.testing.assert_allclose(model.modes_.phase[strong], -np.angle(centred)[strong], atol=1e-3)


def test_the_prediction_repeats_outside_the_span(wave):
    model = regressor().fit(*wave)
    t = np.linspace(0.1, 9.9, 50)[:, None]
    np.testing.assert_allclose(model.predict(t + 10), model.predict(t), atol=1e-9)


def test_the_prediction_follows_scale_and_shift_of_y_and_of_time(wave):
    X, y = wave
    plain = regressor().fit(X, y)
    scaled = regressor().fit(X * 1000 + 7, 50 * y - 3)
    np.testing.assert_allclose(
        scaled.predict(X * 1000 + 7), 50 * plain.predict(X) - 3, rtol=1e-6, atol=1e-5
    )
    np.testing.assert_allclose(scaled.modes_.period, 1000 * plain.modes_.period)
    np.testing.assert_allclose(scaled.modes_.amplitude, 50 * plain.modes_.amplitude, rtol=1e-5)


def test_without_standardisation_the_network_sees_y_as_it_is(wave):
    model = regressor(standardize=False).fit(*wave)
    assert model.y_offset_.tolist() == [0.0]
    assert model.y_scale_.tolist() == [1.0]
    theta = model.domain_.to_theta(wave[0])
    np.testing.assert_array_equal(model.predict(wave[0]), model.weights_.predict(theta)[:, 0])


def test_the_order_of_rows_does_not_matter(wave):
    X, y = wave
    shuffled = np.random.default_rng(1).permutation(len(y))
    one, other = regressor().fit(X, y), regressor().fit(X[shuffled], y[shuffled])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_weight_two_is_the_row_twice_and_weight_zero_is_no_row(wave):
    X, y = wave
    weight = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = regressor().fit(X, y, sample_weight=weight)
    repeated = regressor().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_rows_of_weight_zero_do_not_stretch_the_domain(wave):
    X, y = wave
    X, y = np.vstack([X, [[1e6]]]), np.append(y, -1e9)
    model = regressor().fit(X, y, sample_weight=np.append(np.ones(len(y) - 1), 0))
    assert model.domain_.span == 10


def test_huber_loss_shrugs_off_outliers(wave):
    X, y = wave
    broken = y.copy()
    broken[::15] += 200
    clean = regressor().fit(X, y).predict(X)
    squared = regressor().fit(X, broken).predict(X)
    huber = regressor(loss="huber", delta=0.5).fit(X, broken).predict(X)
    assert relative_error(huber, clean) < 0.3 * relative_error(squared, clean)


def test_several_outputs_share_one_diagonal(wave):
    X, y = wave
    Y = np.column_stack([y, -2 * y, y**2])
    model = regressor().fit(X, Y)
    assert model.predict(X).shape == (300, 3)
    assert model.diagonal_weights_.shape == (50,)
    assert model.modes_.amplitude.shape == (12, 3)
    assert model.score(X, Y[:, :3]) > 0.3
    assert "amplitude_2" in model.modes_.to_frame()


def test_a_column_y_gives_a_column_back(wave):
    X, y = wave
    assert regressor().fit(X, y[:, None]).predict(X).shape == (300, 1)


def test_columns_add_up():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (800, 2))
    y = np.cos(2 * np.pi * 3 * X[:, 0]) + np.sin(2 * np.pi * 7 * X[:, 1])
    y += 0.3 * rng.normal(size=800)
    model = FourierNetworkRegressor(mixed_modes=0, random_state=0).fit(X, y)
    found = model.modes_.select(model.modes_.active)
    assert list(zip(found.column, found.mode, strict=True)) == [(0, 3), (1, 7)]
    a, b = X[:1], X[1:2]
    mixed = np.array([[a[0, 0], b[0, 1]], [b[0, 0], a[0, 1]]])
    total = model.predict(a) + model.predict(b)
    np.testing.assert_allclose(model.predict(mixed).sum(), total[0], rtol=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {"hidden_layer_sizes": (8,)},
        {"hidden_layer_sizes": (8,), "diagonal": False},
        {"diagonal": False},
        {"activation": "identity", "init": "glorot"},
        {"training": "layerwise", "init": "theory", "r_c": 0.5, "ridge": 0.01},
        {
            "training": "layerwise",
            "init": "theory",
            "ridge": 0.5,
            "diagonal_box": "theorem",
            "output_box": "theorem",
        },
        {"dtype": "float32"},
        {"embedding": "symmetrised", "engine": "torch"},
    ],
)
def test_every_kind_of_network_fits_and_reports(wave, options):
    model = regressor(**options).fit(*wave)
    assert np.isfinite(model.predict(wave[0])).all()
    assert len(model.modes_) == 12
    assert model.modes_.cosine_weight.shape == (12,)
    assert (model.diagonal_weights_ is None) == (options.get("diagonal") is False)
    assert model.history_.engine in ENGINES[1:]
    frame = model.modes_.to_frame()
    assert {"mode", "period", "amplitude", "phase", "cosine_weight", "active"} <= set(frame)


def test_cosine_and_sine_weights_are_those_of_the_diagonal(wave):
    model = regressor(init="glorot").fit(*wave)
    w = model.diagonal_weights_.reshape(2, 25)  # +φ and −φ; φ = 1, sin, cos, sin, cos, …
    rms = np.sqrt((w**2).mean(axis=0))
    np.testing.assert_allclose(model.modes_.sine_weight, rms[1::2])
    np.testing.assert_allclose(model.modes_.cosine_weight, rms[2::2])


def test_dates_are_times(wave):
    X, y = wave
    seconds = (X[:, 0] * 86_400).round().astype("timedelta64[s]")
    dates = np.datetime64("2024-01-01T00:00:00") + seconds
    plain = regressor().fit(seconds.astype(float)[:, None] / 86_400, y)
    zoned = pd.Series(dates).dt.tz_localize("Europe/Paris")
    for table in (
        pd.DataFrame({"when": dates}),
        pl.DataFrame({"when": dates.astype("datetime64[us]")}),
        dates[:, None],
        pd.DataFrame({"when": zoned}),
        np.array(dates.astype(object))[:, None],
    ):
        model = regressor().fit(table, y)
        assert model.domain_.unit == "day"
        np.testing.assert_allclose(model.modes_.period, plain.modes_.period, rtol=1e-12)
        np.testing.assert_allclose(model.predict(table), plain.predict(X), atol=1e-3)


def test_dates_and_numbers_may_stand_side_by_side(wave):
    X, y = wave
    dates = np.datetime64("2024-01-01") + (X[:, 0] * 86_400).astype("timedelta64[s]")
    table = pd.DataFrame({"when": dates, "angle": np.linspace(0, 1, len(y))})
    model = regressor().fit(table, y)
    assert [domain.dates for domain in model.domains_] == [True, False]
    assert model.feature_names_in_.tolist() == ["when", "angle"]


def test_unix_nanoseconds_lose_nothing(wave):
    X, y = wave
    nanoseconds = 1_700_000_000_000_000_000 + (X * 1e9).astype(np.int64)
    small, large = regressor().fit(X, y), regressor().fit(nanoseconds, y)
    np.testing.assert_allclose(large.predict(nanoseconds), small.predict(X), atol=1e-5)


def test_a_known_period_sets_the_domain(wave):
    X, y = wave
    model = regressor(period=20.0).fit(X, y)
    assert model.domain_.span == 20
    assert model.modes_.period[0] == 20
    with pytest.raises(InputError, match=re.escape("period has 2 entries but X has 1 columns")):
        regressor(period=[1.0, 2.0]).fit(X, y)


def test_the_end_of_a_full_period_can_be_excluded():
    X = np.arange(24.0)[:, None]
    model = regressor(endpoint="excluded").fit(X, np.cos(2 * np.pi * X[:, 0] / 24))
    assert model.domain_.span == pytest.approx(24)


def test_the_same_seed_gives_the_same_model_and_another_seed_another(wave):
    one, same, other = (regressor(random_state=s, select=None).fit(*wave) for s in (4, 4, 5))
    np.testing.assert_array_equal(one.diagonal_weights_, same.diagonal_weights_)
    assert (one.diagonal_weights_ != other.diagonal_weights_).any()
    for random_state in (np.random.RandomState(0), np.random.default_rng(0), None):
        assert np.isfinite(regressor(random_state=random_state).fit(*wave).predict(wave[0])).all()


def test_clone_pickle_pipeline_and_grid_search(wave):
    X, y = wave
    model = regressor().fit(X, y)
    assert clone(model).get_params() == model.get_params()
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    pipeline = make_pipeline(FunctionTransformer(lambda t: 2 * t), regressor()).fit(X, y)
    np.testing.assert_allclose(pipeline.predict(X), model.predict(X), atol=1e-6)
    search = GridSearchCV(regressor(n_steps=100), {"n_modes": [3, 6]}, cv=2).fit(X, y)
    assert search.best_params_["n_modes"] in (3, 6)


def test_observers_can_stop_the_fit(wave):
    model = regressor(n_steps=5000, observers=[lambda p: p.step >= 1000]).fit(*wave)
    assert model.history_.n_steps == 1000


def test_prediction_without_dense_layers_loads_no_torch(wave, tmp_path):
    path = tmp_path / "model.pickle"
    path.write_bytes(pickle.dumps(regressor().fit(*wave)))
    code = (
        f"import pickle, sys; model = pickle.load(open({str(path)!r}, 'rb')); "
        "model.predict([[1.0]]); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
