import re
from dataclasses import replace

import numpy as np
import pytest

from paper.catalogue import EXAMPLES, SEEDS, STEPS, Trial, trials
from paper.examples import example_data
from robustfourier.errors import InputError

EVERY = ("1", "2", "3", "4", "simulated")


def test_every_example_has_the_papers_networks_with_five_seeds():
    listed = trials(EVERY)
    for example in EVERY:
        found = {
            (t.network, t.seed) for t in listed if t.example == example and t.purpose == "main"
        }
        assert found == {(network, seed) for network in EXAMPLES[example] for seed in SEEDS}
    assert EXAMPLES["3"] == EXAMPLES["4"]
    assert len(EXAMPLES["3"]) == 7


def test_the_main_trials_have_the_papers_hyperparameters():
    for trial in trials(EVERY):
        if trial.purpose == "main":
            rates = (trial.learning_rate, trial.decay_rate, trial.decay_steps, trial.batch_size)
            assert rates == (2e-3, 0.95, 5e4, 201)
            assert trial.init == "glorot"
            assert trial.noise == 0.4


def test_keys_are_unique_and_change_with_every_field():
    listed = trials(EVERY)
    assert len({t.key for t in listed}) == len(listed)
    base = Trial("1", "u0_diag", 0)
    others = [
        replace(base, seed=1),
        replace(base, init="symmetric"),
        replace(base, width=3),
        replace(base, learning_rate=1e-3),
        replace(base, dtype="float64"),
    ]
    assert len({t.key for t in [base, *others]}) == 6


def test_the_quick_form_is_short_and_takes_larger_steps():
    for quick in trials(EVERY, quick=True):
        linear = not quick.hidden_layer_sizes
        assert quick.n_steps <= (10_000 if linear else 6_000)
        assert quick.n_steps * 10 <= STEPS[quick.example][linear]
        assert quick.learning_rate == pytest.approx(2e-2)
        assert quick.decay_steps == 5e3


def test_networks_without_dense_layers_take_more_steps():
    for trial in trials(EVERY):
        if trial.purpose != "sweep":
            assert trial.n_steps == STEPS[trial.example][not trial.hidden_layer_sizes]
    assert STEPS["1"] == STEPS["2"] == STEPS["3"] == (300_000, 500_000)


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match=re.escape("example='9'")):
        Trial("9", "u0_diag", 0)
    with pytest.raises(InputError, match=re.escape("network='u9'")):
        Trial("1", "u9", 0)
    with pytest.raises(InputError, match=re.escape("example='9'")):
        example_data("9", 0)
    with pytest.raises(InputError, match=re.escape("csv=None")):
        example_data("trends", 0)


@pytest.mark.parametrize("example", ["4", "simulated"])
def test_series_are_scaled_to_the_unit_interval_and_get_noise(example):
    data = example_data(example, seed=0)
    assert data.theta[0] == -1
    assert data.theta[-1] == 1
    assert (data.truth.min(), data.truth.max()) == (-1, 1)
    assert np.std(data.y - data.truth) == pytest.approx(0.4, rel=0.15)
    assert not np.array_equal(data.y, example_data(example, seed=1).y)


def test_the_simulated_stand_in_is_labelled():
    data = example_data("simulated", 0)
    assert "SIMULATED" in data.title
    assert "Simulated" in data.note


def test_a_google_trends_export_is_an_example(tmp_path):
    rows = [
        f"2024-01-{day:02d}T{hour:02d},{(day * 7 + hour * 3) % 100}"
        for day in range(1, 24)
        for hour in range(24)
    ]
    path = tmp_path / "multiTimeline.csv"
    path.write_text("Category: All\n\nTime,S&P500: (World)\n" + "\n".join(rows) + "\n")
    data = example_data("trends", 0, csv=path)
    assert data.theta.size == 16 * 24
    assert "S&P500" not in data.title
    assert "multiTimeline.csv" in data.note
