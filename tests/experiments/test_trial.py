from dataclasses import replace

import numpy as np
import pytest
from tests.experiments.toys import toy

from robustfourier.experiments.catalogue import Trial
from robustfourier.experiments.trial import COLUMNS, GridError, diagonal_strengths, run_trial
from robustfourier.network.architecture import DIAGONAL, OUTPUT, Architecture
from robustfourier.network.initial import draw_weights
from robustfourier.network.weights import Weights
from robustfourier.synthetic import paper_example, relative_error


def test_every_entry_of_the_catalogue_runs_as_a_toy(toy_results):
    assert len(toy_results.rows) == 26 + 11 + 10 + 5
    for row in toy_results.rows:
        curves = toy_results.curves(row)
        assert np.all(np.isfinite(curves["error"]))
        assert curves["error"][-1] == row.final_error
        assert row.best_error <= row.final_error
        assert ("diagonal" in curves) == row.trial.diagonal
        assert ("first_dense" in curves) == (not row.trial.diagonal)


@pytest.mark.parametrize(("sizes", "diagonal"), [((), True), ((5,), True), ((5, 4), False)])
def test_the_followed_error_is_the_relative_error_of_the_prediction(sizes, diagonal):
    problem = paper_example(1, random_state=0)
    weights = draw_weights(
        Architecture(9, hidden_layer_sizes=sizes, diagonal=diagonal), "glorot", random_state=0
    )
    slow = relative_error(weights.predict(problem.theta)[:, 0], problem.truth)
    fast = GridError(problem.theta, problem.truth, 9, "float64")(weights)
    assert fast == pytest.approx(slow, rel=1e-12)


def test_the_same_trial_gives_the_same_row_and_another_seed_another():
    trial = toy(Trial("1", "u1_diag", 0))
    (first, _), (again, _) = run_trial(trial), run_trial(trial)
    assert first == again
    assert set(first) == set(COLUMNS)
    other, _ = run_trial(replace(trial, seed=1))
    assert other["final_error"] != first["final_error"]


def test_layerwise_training_has_both_phases_on_the_record():
    _, curves = run_trial(toy(Trial("1", "*u0_diag", 0)))
    assert set(curves["phase"]) >= {"diagonal", "output"}
    after = curves["diagonal"][curves["step"] >= 40]
    np.testing.assert_array_equal(after[0], after[-1])


def test_a_trained_network_finds_the_modes_of_the_first_example():
    trial = replace(
        Trial("1", "u0_diag", 0), init="symmetric", n_steps=3000, learning_rate=2e-2,
        decay_steps=5e3,
    )  # fmt: skip
    row, _ = run_trial(trial)
    assert row["active"] == "5 29 61"
    assert row["missed"] == ""
    assert row["false_modes"] == ""
    assert float(row["final_error"]) < 0.1


def test_a_network_is_trained_on_the_users_own_google_trends_export(tmp_path):
    path = tmp_path / "multiTimeline.csv"
    hours = [
        f"2024-01-{d:02d}T{h:02d},{50 + (h * 7) % 40}" for d in range(1, 24) for h in range(24)
    ]
    path.write_text("Category: All\n\nTime,S&P500: (World)\n" + "\n".join(hours) + "\n")
    row, curves = run_trial(toy(Trial("trends", "u0_diag", 0)), csv=path)
    assert row["example"] == "trends"
    assert curves["prediction"].size == 16 * 24


def test_diagonal_strengths_join_sine_cosine_and_both_signs():
    architecture = Architecture(2)
    w = np.array([9.0, 3.0, 0.0, 0.0, 1.0, 9.0, 0.0, 4.0, 0.0, 0.0])
    weights = Weights(architecture, {DIAGONAL: w, OUTPUT: np.ones((1, 10))})
    np.testing.assert_allclose(diagonal_strengths(weights), [5.0, 1.0])
    standard = draw_weights(Architecture(2, hidden_layer_sizes=(3,), diagonal=False))
    assert diagonal_strengths(standard) is None
