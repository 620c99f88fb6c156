from dataclasses import replace

import numpy as np
import pytest

from paper.catalogue import Trial
from paper.network_runs import COLUMNS, _records, run_trial
from paper.tests.toys import toy
from robustfourier.network.weights import GridError


def test_every_entry_of_the_catalogue_runs_as_a_toy(toy_results):
    assert len(toy_results.rows) == 26 + 11 + 10 + 5
    for row in toy_results.rows:
        curves = toy_results.curves(row)
        assert np.all(np.isfinite(curves["error"]))
        assert curves["error"][-1] == np.float32(row.final_error)
        assert row.best_error <= row.final_error
        assert ("diagonal" in curves) == row.trial.diagonal
        drawn = row.trial.seed == 0 and row.trial.purpose == "main"
        assert ("prediction" in curves) == drawn
        assert ("sizes" in curves) == (drawn and not row.trial.hidden_layer_sizes)
        assert ("neurons" in curves) == (drawn and row.trial.network == "u1_standard")


def test_the_same_trial_gives_the_same_row_and_another_seed_another():
    trial = toy(Trial("1", "u1_diag", 0))
    (first, _), (again, _) = run_trial(trial), run_trial(trial)
    assert first == again
    assert set(first) == set(COLUMNS)
    other, _ = run_trial(replace(trial, seed=1))
    assert other["final_error"] != first["final_error"]


def test_layerwise_training_has_both_phases_on_the_record():
    _, curves = run_trial(toy(Trial("1", "*u0_diag", 0)))
    assert list(curves["step"]) == list(range(81))
    assert np.ptp(curves["sizes"][:41], axis=0).max() > 0
    assert np.ptp(curves["sizes"][40:], axis=0).max() == 0
    assert np.ptp(curves["error"][40:]) > 0


@pytest.mark.parametrize("network", ["*u0_diag", "u1_diag"])
def test_a_killed_training_goes_on_from_its_checkpoint_to_the_same_row(
    network, tmp_path, monkeypatch
):
    trial, error, calls = toy(Trial("1", network, 0)), GridError.__call__, []

    def killed_at_the_thirtieth(self, weights):
        calls.append(weights)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return error(self, weights)

    whole, curves = run_trial(trial)
    monkeypatch.setattr(GridError, "__call__", killed_at_the_thirtieth)
    with pytest.raises(KeyboardInterrupt):
        run_trial(trial, folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{trial.key}.checkpoint"]
    row, again = run_trial(trial, folder=tmp_path)
    assert len(calls) == 30 + len(curves["step"]) - 29  # steps 0 to 28 were kept
    assert row == whole
    for name, array in curves.items():
        np.testing.assert_array_equal(again[name], array)
    assert list(tmp_path.iterdir()) == []


def test_a_long_training_is_followed_more_closely_at_its_beginning():
    steps = np.array(_records(Trial("1", "*u0_diag", 0, n_steps=300_000)))
    first = steps[steps <= 300_000]
    np.testing.assert_array_equal(steps[len(first) :] - 300_000, first)
    assert np.diff(first[first <= 60_000]).max() == 1500
    assert np.diff(first).max() == 7500
    assert first[-1] == 300_000


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
