"""FourierNetworkRegressor: several columns, links, torch, and selection after the training."""

import re

import numpy as np
import pytest
from tests.estimators.toys import regressor

import robustfourier
from robustfourier import FourierNetworkRegressor
from robustfourier.errors import InputError
from robustfourier.synthetic import paper_example, relative_error

PLANES = {
    "product": lambda z: np.cos(3 * np.pi * z[:, 0]) * np.sin(5 * np.pi * z[:, 1]),
    "plane wave": lambda z: np.cos(np.pi * (3 * z[:, 0] + 5 * z[:, 1])),
}


@pytest.mark.parametrize("name", PLANES)
def test_waves_across_two_columns_are_found_by_mixed_modes(name):
    rng = np.random.default_rng(0)
    z, new = rng.uniform(-1, 1, (2, 3000, 2))
    y = PLANES[name](z) + 0.4 * rng.normal(size=3000)
    model = FourierNetworkRegressor(period=[2.0, 2.0], mixed_modes=6, n_modes=10, random_state=0)
    model.fit(z, y)
    found = model.mixed_modes_.mode[model.mixed_modes_.active].tolist()
    assert found == ([[3, -5], [3, 5]] if name == "product" else [[3, 5]])
    assert relative_error(model.predict(new), PLANES[name](new)) < 0.05
    assert not model.modes_.active.any()


def test_columns_that_explain_nothing_one_by_one_are_told():
    rng = np.random.default_rng(0)
    z = rng.uniform(-1, 1, (2000, 2))
    y = PLANES["product"](z) + 0.1 * rng.normal(size=2000)
    with pytest.warns(UserWarning, match=re.escape("none of the 2 columns explains anything")):
        FourierNetworkRegressor(mixed_modes=0, n_modes=10, random_state=0).fit(z, y)


@pytest.mark.statistical
def test_links_are_fitted_as_small_networks_and_linear_ones_stay_linear():
    problem = paper_example(3, random_state=2)
    model = FourierNetworkRegressor(links="network", random_state=0)
    model.fit(problem.theta, problem.y)
    assert [link.mode for link in model.links_] == [5, 29, 61]
    assert model.links_[0].is_linear
    assert not model.links_[1].is_linear
    assert relative_error(model.predict(problem.theta), problem.truth) < 0.02
    parts = model.decompose(problem.theta)
    assert list(parts) == [0, 5, 29, 61]
    np.testing.assert_allclose(sum(parts.values()), model.predict(problem.theta), atol=1e-12)
    for component in problem.components[1:]:
        truth = component.function(problem.theta)
        part = parts[int(component.mode)]
        assert relative_error(part - part.mean(), truth - truth.mean()) < 0.03


def test_links_that_fit_exactly_leave_nothing_to_the_network():
    t = np.linspace(0, 10, 300)
    y = np.sign(np.cos(2 * np.pi * t))
    model = FourierNetworkRegressor(links="network", random_state=0).fit(t, y)
    np.testing.assert_allclose(model.predict(t), y, atol=1e-6)


def test_links_that_are_no_use_are_refused(wave):
    for options in ({"hidden_layer_sizes": (4,)}, {"n_steps": 10}, {"training": "layerwise"}):
        with pytest.raises(InputError, match=re.escape("links='network' needs a diagonal")):
            FourierNetworkRegressor(links="network", **options).fit(*wave)
    with pytest.raises(InputError, match=re.escape("links='network' is for one column; X has 2")):
        FourierNetworkRegressor(links="network").fit(np.hstack([wave[0]] * 2), wave[1])


def test_without_links_everything_is_the_rest(wave):
    model = regressor().fit(*wave)
    parts = model.decompose(wave[0])
    np.testing.assert_array_equal(parts[0], model.predict(wave[0]))
    assert list(parts) == [0]


def test_an_estimator_becomes_a_module_and_comes_back(wave):
    torch = pytest.importorskip("torch")
    from robustfourier.nn import FourierNetwork

    model = regressor().fit(*wave)
    network = FourierNetwork.from_estimator(model)
    theta = torch.tensor(model.domain_.to_theta(wave[0][:, 0]))[:, None]
    values = model.y_offset_ + model.y_scale_ * network(theta).detach().numpy()
    np.testing.assert_allclose(values[:, 0], model.predict(wave[0]), atol=1e-12)
    with torch.no_grad():
        network.output.weight *= 2.0
    model.weights_ = network.to_weights()
    np.testing.assert_allclose(
        model.predict(wave[0]), 2 * values[:, 0] - model.y_offset_[0], atol=1e-12
    )


def test_models_with_links_and_mixed_modes_are_saved_and_loaded(wave, tmp_path):
    linked = FourierNetworkRegressor(links="network", random_state=0).fit(*wave)
    both = np.column_stack([wave[0], np.sin(wave[0])])
    mixed = FourierNetworkRegressor(mixed_modes=2, n_modes=5, random_state=0).fit(both, wave[1])
    for model, X in ((linked, wave[0]), (mixed, both)):
        model.save(tmp_path / "model.rfm")
        loaded = robustfourier.load(tmp_path / "model.rfm")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def least_squares(wave):
    t, y = wave
    columns = [np.ones(len(y)), np.cos(np.pi * t[:, 0]), np.sin(np.pi * t[:, 0])]
    design = np.stack(columns, axis=1)
    return design @ np.linalg.lstsq(design, y, rcond=None)[0]


@pytest.mark.parametrize(
    "options", [{}, {"training": "layerwise"}, {"activation": "relu"}, {"n_steps": "auto"}]
)
def test_selection_ends_at_least_squares_on_the_modes_that_are_there(wave, options):
    model = regressor(select="ebic", **options).fit(*wave)
    assert np.flatnonzero(model.kept_modes_[0]).tolist() == [4]
    np.testing.assert_allclose(model.predict(wave[0]), least_squares(wave), atol=1e-9)
    np.testing.assert_array_equal(model.modes_.active, model.kept_modes_[0])


def test_selection_with_hubers_loss_shrugs_off_outliers(wave):
    t, y = wave[0], wave[1].copy()
    y[::15] += 60.0
    model = regressor(loss="huber", select="ebic").fit(t, y)
    assert np.flatnonzero(model.kept_modes_[0]).tolist() == [4]
    assert np.abs(model.predict(t) - least_squares(wave)).max() < 0.5
    # at the least of Huber's loss its slope is orthogonal to what was fitted
    slope = np.clip((y - model.predict(t)) / model.y_scale_[0], -1.345, 1.345)
    for column in (np.ones(len(y)), np.cos(np.pi * t[:, 0]), np.sin(np.pi * t[:, 0])):
        assert abs(slope @ column) / len(y) < 1e-6


def test_a_selected_network_with_dense_layers_goes_on_and_its_dropped_units_stay_zero(wave):
    model = regressor(hidden_layer_sizes=(8,), n_steps=300, select="ebic").fit(*wave)
    assert model.history_.step.tolist() == [0, 300, 600]
    assert model.history_.phase.tolist() == ["joint"] * 2 + ["selected"]
    dropped = ~np.isin(model.weights_.architecture.layout().mode - 1, [-1, *np.flatnonzero(
        model.kept_modes_[0])])  # fmt: skip
    assert 0 < dropped.sum() < len(dropped)
    assert not model.diagonal_weights_[dropped].any()
    assert not model.weights_.arrays["dense.0.weight"][:, dropped].any()
    plain = regressor(hidden_layer_sizes=(8,), n_steps=300).fit(*wave)
    truth = 2 + 3 * np.cos(np.pi * (wave[0][:, 0] - 5))
    errors = [relative_error(each.predict(wave[0]), truth) for each in (model, plain)]
    assert errors[0] < errors[1]


@pytest.mark.parametrize(
    "options",
    [
        {"select": None},
        {"diagonal": False},
        {"ridge": 0.01},
        {"output_box": 5.0},
        {"observers": [lambda _: True], "n_steps": 2000},
    ],
)
def test_nothing_is_selected_where_it_was_not_asked_for(wave, options):
    assert regressor(**{"select": "ebic", **options}).fit(*wave).kept_modes_ is None


def test_several_columns_are_selected_without_dense_layers_only():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (400, 2))
    y = np.cos(2 * np.pi * 3 * X[:, 0]) * np.cos(2 * np.pi * 2 * X[:, 1])
    assert (
        regressor(hidden_layer_sizes=(4,), n_steps=20, select="ebic").fit(X, y).kept_modes_ is None
    )


def test_modes_between_whole_numbers_leave_the_network_as_trained(wave):
    t = wave[0]
    y = np.cos(2 * np.pi * 0.55 * t[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=len(t))
    selected, plain = (regressor(select=select).fit(t, y) for select in ("ebic", None))
    assert selected.kept_modes_ is None
    np.testing.assert_array_equal(selected.predict(t), plain.predict(t))
