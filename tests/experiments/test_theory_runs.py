import numpy as np
import pytest

from robustfourier import theory
from robustfourier.experiments.theory_claims import theory_claims
from robustfourier.experiments.theory_runs import TARGETS, TheoryTask, run_theory_task, theory_tasks


def test_every_sweep_runs_as_a_toy_and_stays_within_the_bound(toy_theory):
    rows, _ = toy_theory
    assert {row.task.sweep for row in rows} == {task.sweep for task in theory_tasks()}
    for row in rows:
        if row.task.target == "odd":
            assert row.deviation < row.bound
    assert all(np.isfinite(row.relative_error) == bool(row.task.n_output_steps) for row in rows)


def test_claims_can_be_made_of_the_toy_runs(toy_theory):
    rows, _ = toy_theory
    claims = theory_claims(rows)
    assert len(claims) >= 10
    assert claims[0].verdict == "yes"


def test_algorithm_one_ends_at_the_prediction():
    row, curves = run_theory_task(TheoryTask("r_c", 0, r_c=0.03, batch_size=1000))
    assert float(row["deviation"]) < 0.05 * float(row["signal"])
    assert float(row["signs_agree"]) == 1.0
    np.testing.assert_allclose(curves["w"], curves["predicted"], atol=0.05 * float(row["signal"]))


def test_an_even_mode_raises_its_half_as_the_leakage_predicts():
    row, curves = run_theory_task(TheoryTask("violation", 0, target="even", r_c=0.03))
    modes = (np.abs(np.arange(-128, 129)) + 1) // 2
    false = curves["alpha"] == 0.0
    assert set(modes[false][np.abs(curves["w"][false]) > 0.3 * np.abs(curves["w"]).max()]) == {14}
    assert float(row["leak_deviation"]) < 0.2 * float(row["deviation"])


def test_nonlinear_links_end_at_the_prediction_too():
    row, curves = run_theory_task(TheoryTask("links", 0, target="links", r_c=0.03, batch_size=2000))
    assert float(row["deviation"]) < 0.06 * float(row["signal"])
    assert float(row["signs_agree"]) == 1.0
    modes = (np.abs(np.arange(-128, 129)) + 1) // 2
    assert set(modes[curves["alpha"] != 0.0]) == {5, 15, 9, 27, 45, 63, 31}


def test_the_even_target_breaks_assumption_two_and_the_others_do_not():
    for name in ("odd", "links"):
        assert theory.check_assumption_1(TARGETS[name].components, 64)
        assert theory.check_assumption_2(TARGETS[name], 64)
    assert not theory.check_assumption_2(TARGETS["even"], 64)


def test_the_second_phase_reaches_lower_risk_with_more_steps():
    risks = [
        float(run_theory_task(TheoryTask("second phase", 0, batch_size=50, n_output_steps=n))[0][
            "empirical_risk"
        ])
        for n in (10, 300)
    ]  # fmt: skip
    assert risks[1] < risks[0]


def test_the_same_task_gives_the_same_row():
    task = TheoryTask("samples", 3, batch_size=5, n_output_steps=20)
    assert run_theory_task(task)[0] == run_theory_task(task)[0]


@pytest.mark.parametrize("large", [True, False])
def test_the_start_decides_what_is_left_after_few_steps(large):
    row, _ = run_theory_task(TheoryTask("T", 0, n_steps=2, large_start=large, batch_size=200))
    assert (float(row["deviation"]) > float(row["signal"])) == large
