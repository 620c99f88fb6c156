from dataclasses import replace

import numpy as np
import pytest

from paper.risks import NOISE_PSI1, FirstPhase, measured_risks
from paper.theory_claims import theory_claims
from paper.theory_runs import (
    COLUMNS,
    TARGETS,
    TheoryTask,
    run_theory_task,
    theory_tasks,
)
from robustfourier import theory
from robustfourier.network.embedding import embed


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
    assert len(claims) >= 15
    assert claims[0].verdict == "yes"
    verdicts = {claim.text: claim.verdict for claim in claims}
    for begin in ("Corollary 3", "Section 3", "Lemma 2", "Rademacher lemma", "Main theorem"):
        assert any(text.startswith(begin) for text in verdicts)
    assert all(
        verdicts[text] == "yes" for text in verdicts if text.startswith(("Section 3", "Lemma 2"))
    )


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


def test_the_third_corollarys_step_leaves_less_than_one_in_t_of_the_start():
    def left(n_steps):
        step = theory.step_size_for(n_steps, 0.5)
        task = TheoryTask("step", 0, n_steps=n_steps, step_size=step, large_start=True)
        return float(run_theory_task(replace(task, batch_size=200))[0]["trace"])

    for n_steps in (25, 50):
        # what is left is (1 − ηλ)^T, up to the network's own output
        expected = (1.0 - 0.5 * theory.step_size_for(n_steps, 0.5)) ** n_steps
        assert left(n_steps) == pytest.approx(expected, rel=0.1)
        assert left(n_steps) < 1.0 / n_steps


@pytest.fixture(scope="module")
def second_phases():
    tasks = [
        TheoryTask("samples", 0, target=target, r_c=0.3, batch_size=size, n_output_steps=20)
        for target, size in (("odd", 12), ("odd", 108), ("links", 2000))
    ]
    return [
        {name: float(row[name]) for name in COLUMNS[-6:-1]}
        for row in (run_theory_task(task)[0] for task in tasks)
    ]


def test_the_risk_at_the_existing_weights_is_that_of_the_noise(second_phases):
    few, many, links = second_phases
    # c̃ gives the Fourier sum of f: all of f for "odd", all but sup|f − S_m f| for "links"
    for row, tolerance in ((few, 0.1), (many, 0.03)):
        assert row["existing_risk"] == pytest.approx(0.16, rel=tolerance)
    rest = theory.truncation_error(TARGETS["links"], 64) ** 2
    assert rest > 1e-4
    sampling = np.sqrt(NOISE_PSI1 / 400_000)
    assert links["existing_bound"] == pytest.approx(rest + sampling + 0.32)
    for row in second_phases:
        assert row["existing_risk"] <= row["existing_bound"]


def test_the_rademacher_complexity_is_of_its_order_and_within_its_bound(second_phases):
    for row in second_phases:
        assert row["rademacher_exponent"] == pytest.approx(-0.5, abs=0.06)
        assert 0.005 < row["rademacher"] < 1.0
    assert second_phases[1]["main_bound"] < second_phases[0]["main_bound"]


def test_the_rademacher_complexity_is_the_largest_correlation_with_random_signs():
    rng = np.random.default_rng(0)
    theta, w = rng.uniform(-1, 1, 60), rng.normal(size=17)
    learnt = FirstPhase(TARGETS["odd"], 4, np.zeros(17), np.ones(17), 0.7, w, theta, theta)
    measured = measured_risks(learnt, np.ones(17), 2.0, 5, 0.1, np.random.default_rng(5))
    signs = np.random.default_rng(5).choice([-1.0, 1.0], (64, 60))
    units = np.maximum(embed(theta[:, None], 4, "symmetrised") * w, 0.0)
    corners = [2.0 * np.sign(s @ units) for s in signs]  # the best c in the box |c_j| ≤ 2
    sums = [s @ (units @ c) / 60 for s, c in zip(signs, corners, strict=True)]
    assert measured["rademacher"] * 0.7 * 2.0 * 17 / np.sqrt(60) == pytest.approx(np.mean(sums))


def test_the_same_task_gives_the_same_row():
    task = TheoryTask("samples", 3, batch_size=5, n_output_steps=20)
    assert run_theory_task(task)[0] == run_theory_task(task)[0]


@pytest.mark.parametrize("large", [True, False])
def test_the_start_decides_what_is_left_after_few_steps(large):
    row, _ = run_theory_task(TheoryTask("T", 0, n_steps=2, large_start=large, batch_size=200))
    assert (float(row["deviation"]) > float(row["signal"])) == large
