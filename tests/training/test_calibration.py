"""The closed form of growth, and what follows from it."""

import numpy as np
import pytest

from robustfourier import FourierNetworkRegressor
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.fourier_coefficients import network_series
from robustfourier.network.initial_weights import draw_weights
from robustfourier.network.weights import Weights
from robustfourier.training import InverseDecay, Loss, fixed_sample, train_jointly
from robustfourier.training.calibrated_training import train_calibrated, with_both_phases
from robustfourier.training.calibration import (
    Growth,
    largest_curvature,
    noise_gradient,
    rate_for_passes,
    stable_rate,
)
from robustfourier.training.engine_fused import feature_rows, fitted_values

THETA = -1 + 2 * np.arange(400) / 400


@pytest.mark.parametrize("activation", ["identity", "relu"])
@pytest.mark.parametrize("loss", ["mean_squared", "half_squared"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_product_grows_as_the_closed_form_says(activation, loss, n_outputs):
    shape = Architecture(6, n_outputs=n_outputs, activation=activation)
    wave = 0.2 * np.cos(3 * np.pi * THETA)
    y = np.stack([wave] + [0 * wave] * (n_outputs - 1), axis=1)
    start = draw_weights(shape, "even", init_scale=1e-3)
    a, n_steps, rate = start.diagonal[1], 200, 0.05
    end = train_jointly(
        start,
        (THETA, y),
        n_steps=n_steps,
        batch_size=400,
        loss=loss,
        schedule=InverseDecay(rate, 0.0),
    )
    found = network_series(end.weights).cosine[0, 2, 0]
    growth = Growth.of(shape, Loss(loss))
    # steps compound a little slower than the flow
    assert found == pytest.approx(growth.grown(0.1, n_steps * rate, a), rel=0.02)


def test_noise_exceeds_the_gradient_as_often_as_its_level_says():
    rng, n, m, level = np.random.default_rng(0), 400, 50, 0.1
    k = np.arange(1, m + 1)
    wave = np.exp(1j * np.pi * np.outer(k, THETA))
    bound = noise_gradient(2.0, n, m, level)
    over = [np.abs(wave @ rng.normal(0, 2.0, n) / n).max() > bound for _ in range(2000)]
    assert np.mean(over) == pytest.approx(level, abs=0.02)


def test_the_time_is_when_the_gradient_has_grown_to_itself():
    growth = Growth(0.5, 2.0)
    time = growth.time_to(0.03, 0.03, 0.001)
    assert growth.grown(0.03, time, 0.001) == pytest.approx(0.03)
    assert growth.grown(0.015, time, 0.001) < 0.1 * 0.03
    assert np.isfinite(growth.time_to(0.0, 0.0, 0.001))


def test_the_curvature_is_a_half_on_a_grid_and_larger_where_samples_crowd():
    even = fixed_sample(THETA, THETA)
    assert largest_curvature(even, 20) == pytest.approx(0.5, rel=0.01)
    crowded = fixed_sample(0.2 * THETA, THETA)
    design = np.hstack(
        [f(np.pi * np.outer(0.2 * THETA, np.arange(1, 21))) for f in (np.sin, np.cos)]
    )
    exact = np.linalg.eigvalsh(design.T @ design / 400)[-1]
    assert largest_curvature(crowded, 20) == pytest.approx(exact, rel=0.02)


def test_rates_fall_with_curvature_and_leave_time_for_ten_passes():
    growth = Growth(1.0, 4.0)
    assert stable_rate(growth, 1.0, 1.0) == pytest.approx(stable_rate(growth, 0.5, 1.0) / 2)
    rate = rate_for_passes(time=50.0, n_rows=1000, batch_size=100)
    assert 50.0 / rate * 100 == pytest.approx(10 * 1000)


@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_values_from_the_table_are_those_of_the_forward_pass(activation):
    shape = Architecture(7, n_columns=2, n_outputs=2, activation=activation)
    theta = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    weights = draw_weights(shape, "glorot", random_state=0)
    rows = feature_rows(fixed_sample(theta, np.zeros((50, 2))), shape, np.dtype("float64"))
    np.testing.assert_allclose(fitted_values(weights, rows), weights.predict(theta), atol=1e-13)


def test_a_rate_that_diverges_is_halved_until_it_does_not():
    y = np.cos(3 * np.pi * THETA) + 0.1 * np.random.default_rng(0).normal(size=400)
    end = train_calibrated(
        fixed_sample(THETA, y),
        Architecture(10, activation="identity"),
        lambda shape, scale: draw_weights(shape, "even", init_scale=scale),
        loss=Loss(),
        learning_rate=20.0,
        batch_size=100,
        random_state=0,
    )
    assert np.isfinite(end.training.weights.arrays[OUTPUT]).all()
    assert end.noise == pytest.approx(0.1, rel=0.2)


def test_an_even_start_is_equal_everywhere_but_for_the_level_and_says_nothing_yet():
    start = draw_weights(Architecture(5), "even", init_scale=0.1)
    constant = start.architecture.layout().mode == 0
    assert np.ptp(start.arrays[DIAGONAL][~constant]) == 0
    assert np.linalg.norm(start.arrays[DIAGONAL][constant]) == pytest.approx(1.0)
    assert not start.arrays[OUTPUT].any()
    deep = draw_weights(Architecture(5, hidden_layer_sizes=(3,)), "even", random_state=0)
    assert deep.arrays["dense.0.weight"].all()


def test_both_phases_of_an_active_mode_share_one_weight_and_the_function_stays():
    shape = Architecture(n_modes=6, activation="identity", n_outputs=2)
    weights = draw_weights(shape, "glorot", random_state=3)
    strong = dict(weights.arrays)
    strong[OUTPUT] = np.where(shape.layout().mode == 4, 50.0, 1.0) * strong[OUTPUT]
    weights = Weights(shape, strong)
    level = 0.5 * float(np.abs(network_series(weights).cosine[0, 3]).max())
    shared = with_both_phases(weights, level)
    theta = np.linspace(-1.0, 1.0, 50)
    np.testing.assert_allclose(shared.predict(theta), weights.predict(theta), atol=1e-13)
    active = shape.layout().mode == 4
    assert np.ptp(np.abs(shared.arrays[DIAGONAL][active])) == 0.0
    np.testing.assert_array_equal(
        shared.arrays[DIAGONAL][~active], weights.arrays[DIAGONAL][~active]
    )


def test_where_time_begins_does_not_decide_how_well_a_wave_is_fitted():
    t = np.sort(np.random.default_rng(5).uniform(-1.0, 1.0, 1500))
    errors = []
    for phase in (0.0, 0.02, 0.05, np.pi / 2):  # at the first ones the sine is weaker than noise
        truth = np.cos(5 * np.pi * t - phase)
        y = truth + 0.4 * np.random.default_rng(6).normal(size=len(t))
        model = FourierNetworkRegressor(period=2.0, n_modes=20, random_state=0).fit(t, y)
        columns = np.column_stack([np.ones_like(t), np.cos(5 * np.pi * t), np.sin(5 * np.pi * t)])
        best = columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
        errors.append(np.sqrt(np.mean((model.predict(t) - best) ** 2)))
    # 0.4 √(2 / 1500) is the standard error of a coefficient; a phase asleep is worth one or two
    assert max(errors) < 0.5 * 0.4 * np.sqrt(2 / 1500)
